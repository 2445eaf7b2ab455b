/* What the layers of a model keep and compute, read from its config.json.

   A reader says of every layer how tokens are mixed and what is computed at each position. Readers
   count what the specifications of the package count; tests hold the two to each other. */

/* Refuse what is not there by its name, as the package does. */
function field(config, name) {
  if (config[name] === undefined || config[name] === null) throw new Error(`The file has no ${name}.`);
  return config[name];
}

const headsOf = (config) => field(config, "num_attention_heads");
const keysOf = (config) => config.num_key_value_heads || headsOf(config);
const widthOf = (config) => config.head_dim || Math.floor(field(config, "hidden_size") / headsOf(config));

function kindsOf(config) {
  return config.layer_types || Array(field(config, "num_hidden_layers")).fill("full_attention");
}

function keep(what, numbers, more = {}) {
  return { what, numbers, tokens: 1, limit: null, itemsize: null, read: 0, readLimit: null, beyond: null, ...more };
}

/* Softmax attention: heads h, heads of keys g, their widths, and how many tokens it keeps. */
function attention(config, kind, more = {}) {
  const given = { h: headsOf(config), g: keysOf(config), d: widthOf(config), limit: null, gate: 0, ...more };
  const v = given.v || given.d;
  if (kind === "sliding_attention" && given.limit === null) given.limit = field(config, "sliding_window") - 1;
  const { h, g, d, limit } = given;
  const projections = h * d + g * d + (given.keyIsValue ? 0 : g * v) + h * v + given.gate;
  const part = keep("keys and values", g * (d + v), { limit, read: 2 * h * (d + v) });
  return { weights: field(config, "hidden_size") * projections, keeps: [part], reads: [part] };
}

/* Latent attention: a latent of c numbers a token, and r numbers of a key that all heads share. */
function latent(config, { indexer = null } = {}) {
  const [e, h] = [field(config, "hidden_size"), headsOf(config)];
  const [c, r] = [field(config, "kv_lora_rank"), field(config, "qk_rope_head_dim")];
  const [d, v] = [field(config, "qk_nope_head_dim"), field(config, "v_head_dim")];
  const q = config.q_lora_rank;
  const queries = q ? e * q + q * h * (d + r) : e * h * (d + r);
  const readLimit = indexer ? indexer.count : null;
  const parts = [
    keep("latent", c, { read: 4 * h * c, readLimit }),
    keep("rotary key", r, { read: 2 * h * r, readLimit }),
  ];
  let weights = queries + e * (c + r) + h * c * (d + v) + h * v * e;
  if (!indexer) return { weights, keeps: parts, reads: parts };
  if (indexer.own) {
    parts.push(keep("indexer keys", indexer.width, { read: 2 * indexer.heads * indexer.width }));
    weights += q * indexer.heads * indexer.width + e * (indexer.width + indexer.heads);
  }
  return { weights, keeps: parts, reads: parts };
}

function indexed(config, own = true) {
  const [heads, width] = [field(config, "index_n_heads"), field(config, "index_head_dim")];
  return latent(config, { indexer: { heads, width, own, count: field(config, "index_topk") } });
}

const whole = (what, numbers, more) => keep(what, numbers, { tokens: null, ...more });

/* A state in float32, and the inputs of a short convolution. */
const stateAnd = (state, read, inputs) => [
  whole("state", state, { itemsize: 4, read }), whole("inputs of the convolution", inputs),
];

/* Gated DeltaNet: a state of d x v numbers a head, and the inputs of a short convolution. */
function gatedDelta(config) {
  const e = field(config, "hidden_size");
  const [keys, h] = [field(config, "linear_num_key_heads"), field(config, "linear_num_value_heads")];
  const [d, v] = [field(config, "linear_key_head_dim"), field(config, "linear_value_head_dim")];
  const w = field(config, "linear_conv_kernel_dim");
  const channels = 2 * keys * d + h * v;
  const state = h * d * v;
  const parts = stateAnd(state, 6 * state, channels * w);
  return { weights: e * (channels + 2 * h + 2 * h * v) + channels * w, keeps: parts, reads: parts };
}

/* Kimi Delta Attention: a state of d x d numbers a head; decays and gates may pass through few numbers. */
function kimiDelta(config, rank) {
  const e = field(config, "hidden_size");
  const [h, d] = [field(config, "linear_num_heads"), field(config, "linear_head_dim")];
  const [w, all] = [field(config, "linear_conv_kernel_dim"), h * d];
  const narrow = rank ? rank * (e + all) : e * all;
  const parts = stateAnd(all * d, 6 * all * d, 3 * all * w);
  return { weights: e * (3 * all + h + all) + 2 * narrow + 3 * all * w, keeps: parts, reads: parts };
}

/* Mamba-2: a state of d x v numbers a head, and the inputs of a short convolution. */
function mamba2(config, { h, d, groups, n, w }) {
  const [inner, e] = [h * d, field(config, "hidden_size")];
  const channels = inner + 2 * groups * n;
  const state = inner * n;
  const parts = stateAnd(state, 4 * state, channels * w);
  return { weights: e * (2 * inner + channels + h) + channels * w, keeps: parts, reads: parts };
}

const mamba = (config) =>
  mamba2(config, {
    h: field(config, "mamba_n_heads"), d: field(config, "mamba_d_head"), groups: field(config, "mamba_n_groups"),
    n: field(config, "mamba_d_state"), w: field(config, "mamba_d_conv"),
  });

/* Lightning attention: a state of d x d numbers a head, in the model's own precision. */
function lightning(config) {
  const [h, d] = [headsOf(config), widthOf(config)];
  const parts = [whole("state", h * d * d, { read: 4 * h * d * d })];
  return { weights: 5 * field(config, "hidden_size") * h * d, keeps: parts, reads: parts };
}

/* LFM's gated short convolution. */
function shortConvolution(config) {
  const [e, w] = [field(config, "hidden_size"), field(config, "conv_L_cache")];
  const parts = [whole("inputs of the convolution", e * w)];
  return { weights: 4 * e * e + e * w, keeps: parts, reads: parts };
}

/* A feed-forward layer for all tokens: three matrices with a gate, two without. */
function dense(config, width = field(config, "intermediate_size"), matrices = 3) {
  return matrices * field(config, "hidden_size") * width;
}

/* Experts, of which a token uses some, with their router and what all tokens use. */
function experts(config, { shared = 0, gate = false, width, narrow, matrices = 3 } = {}) {
  const count =
    config.num_local_experts || config.num_experts || config.moe_num_experts || field(config, "n_routed_experts");
  const inner = width || config.moe_intermediate_size || field(config, "intermediate_size");
  const used = config.moe_topk || config.moe_k || field(config, "num_experts_per_tok");
  const e = field(config, "hidden_size");
  // To experts that read fewer features, and back.
  const between = narrow ? 2 * e * narrow : 0;
  return e * (count + matrices * shared + (gate ? 1 : 0)) + matrices * used * inner * (narrow || e) + between;
}

/* Put what mixes and what computes together, for every layer. */
function layersOf(config, mixer, computes) {
  return kindsOf(config).map((kind, at) => {
    const mixed = mixer(kind, at);
    return { ...mixed, weights: mixed.weights + computes(at) };
  });
}

/* A reader of models whose layers are alike but for their windows: `mixer` and `computes` give, for
   a config and a layer, what is not softmax attention and one dense feed-forward layer. */
function reader({ mixer = attention, computes = (config) => dense(config) } = {}) {
  return (config) => layersOf(config, (kind, at) => mixer(config, kind, at), (at) => computes(config, at));
}

const ungated = (config) => dense(config, config.intermediate_size, 2);

/* Attention whose layers all have the window, if there is one. */
function windowed(config) {
  return attention(config, "full_attention", { limit: config.sliding_window ? config.sliding_window - 1 : null });
}

/* Attention with a gate for every feature that a head gathers. */
function gatedByFeature(config, kind) {
  return attention(config, kind, { gate: headsOf(config) * widthOf(config) });
}

const named = (config, at) => field(config, "mlp_layer_types")[at] === "sparse";
const stepped = (config, at) =>
  !(config.mlp_only_layers || []).includes(at) && (at + 1) % (config.decoder_sparse_step || 1) === 0;
const behind = (config, at) => at >= field(config, "first_k_dense_replace");
const later = (config, at) => at >= field(config, "num_dense_layers");
const everywhere = () => true;

/* What all tokens use, in DeepSeek-V3's way of writing it. */
const shared = (config) => ({
  shared: (config.n_shared_experts || config.num_shared_experts || 0) * (config.moe_intermediate_size || 0),
});

const own = (config) => ({ width: field(config, "intermediate_size") });
const sharing = (name, more) => (config) => ({ shared: config[name] || 0, ...more });
const gatedShared = sharing("shared_expert_intermediate_size", { gate: true });

/* Experts where `where` says so, with these choices, and elsewhere a dense layer of some width. */
const expertsIn = (where = everywhere, choices = () => ({}), width = () => undefined) => (config, at) =>
  where(config, at) ? experts(config, choices(config)) : dense(config, width(config));
const balanced = (where) => ({ computes: expertsIn(where, shared) });

const sparseOrBehind = (config, at) => (config.mlp_layer_types ? named : behind)(config, at);
const latentModel = (mixer = (config) => latent(config)) => reader({ mixer, ...balanced(sparseOrBehind) });

/* Hunyuan 4: gates on what heads gather, and several residual streams, whose blends are weighed. */
function hunyuan4(config, kind, at) {
  const mixed = indexedOrShared(config, kind, at);
  const gates = config.hidden_size * headsOf(config) * field(config, "v_head_dim");
  return { ...mixed, weights: mixed.weights + gates + 4 * config.hidden_size * field(config, "hc_mult") ** 2 };
}

/* MiniMax M3: in some layers every head of keys chooses blocks by keys of another width. */
function minimaxM3(config, kind) {
  const mixed = attention(config, "full_attention");
  if (kind !== "minimax_m3_sparse") return mixed;
  const [g, width] = [keysOf(config), field(config, "index_head_dim")];
  const readLimit = field(config, "index_block_size") * field(config, "index_topk_blocks");
  const parts = [{ ...mixed.keeps[0], readLimit }, keep("indexer keys", width, { read: 2 * g * width })];
  return { weights: mixed.weights + config.hidden_size * (g + 1) * width, keeps: parts, reads: parts };
}

/* DeepSeek-V4: keys that are values, near ones in a window and far ones pooled in blocks. */
function compressed(config, kind) {
  const [e, h, d] = [field(config, "hidden_size"), headsOf(config), field(config, "head_dim")];
  const [q, groups, inner] = [field(config, "q_lora_rank"), field(config, "o_groups"), field(config, "o_lora_rank")];
  const read = 4 * h * d;
  const parts = [keep("keys that are values", d, { limit: field(config, "sliding_window") - 1, read })];
  const n = field(config, "hc_mult");
  let weights = e * q + q * h * d + e * d + h * d * inner + groups * inner * e + 2 * n * e * (2 * n + n * n);
  if (kind === "sliding_attention") return { weights, keeps: parts, reads: parts };
  const size = field(config, "compress_rates")[kind];
  const overlap = kind === "compressed_sparse_attention";
  const times = overlap ? 2 : 1;
  const unpooled = (width) => [
    keep("tokens of an unfinished block", 2 * times * width, { beyond: size }),
    ...(overlap ? [keep("latest block", 2 * width * size, { tokens: size, limit: 1 })] : []),
  ];
  const readLimit = overlap ? field(config, "index_topk") : null;
  parts.push(keep("pooled keys", d, { tokens: size, read, readLimit }), ...unpooled(d));
  weights += 2 * times * e * d;
  if (overlap) {
    const [heads, width] = [field(config, "index_n_heads"), field(config, "index_head_dim")];
    parts.push(keep("indexer keys", width, { tokens: size, read: 2 * heads * width }), ...unpooled(width));
    weights += 2 * times * e * width + q * heads * width + e * heads;
  }
  return { weights, keeps: parts, reads: parts };
}

/* The fields of Kimi Linear and Ling under the names that most files have for them. */
const known = (config) => ({
  ...config,
  num_experts_per_tok: config.num_experts_per_tok || config.num_experts_per_token,
  n_shared_experts: config.n_shared_experts || config.num_shared_experts,
});

const kimi = (delta, attends) => (config) => reader({
  mixer: (given, kind) => (kind === "linear_attention" ? delta(given) : attends(given)), ...balanced(named),
})(known(config));

const kimiLinear = kimi((given) => kimiDelta(given, field(given, "linear_head_dim")), (given) => latent(given));

const ling = kimi((given) => kimiDelta(given), (given) => {
  const mixed = latent({ ...given, q_lora_rank: null });
  return { ...mixed, weights: mixed.weights + given.hidden_size * headsOf(given) };
});

function mambaAlone(config) {
  const sizes = { h: config.num_heads, d: config.head_dim, groups: config.n_groups, n: config.state_size, w: config.conv_kernel };
  return Array.from({ length: field(config, "num_hidden_layers") }, () => mamba2(config, sizes));
}

/* A layer that takes over the keys which an earlier one has chosen has no indexer of its own. */
function indexedOrShared(config, kind, at) {
  return indexed(config, (config.indexer_types || [])[at] !== "shared");
}

const recurrent = (mixer, attends = attention) => (config, kind, at) =>
  kind === "linear_attention" || kind === "mamba" ? mixer(config) : attends(config, kind, at);

const convolved = (attends) => (config, kind) => (kind === "conv" ? shortConvolution(config) : attends(config, kind));

/* The width that LFM2 makes of three fields. */
function liquidWidth(config) {
  const width = field(config, "intermediate_size");
  if (config.block_auto_adjust_ff_dim === false) return width;
  const less = Math.trunc((2 * width) / 3);
  const factor = config.block_ffn_dim_multiplier;
  if (factor === undefined || factor === null) return less;
  const step = field(config, "block_multiple_of");
  return Math.ceil(Math.trunc(factor * less) / step) * step;
}

/* Nemotron-H, whose layers have one part each. */
function nemotron(config) {
  const mixers = {
    linear_attention: () =>
      mamba2(config, {
        h: config.mamba_num_heads, d: config.mamba_head_dim, groups: config.n_groups, n: config.ssm_state_size,
        w: config.conv_kernel,
      }),
    full_attention: () => attention(config, "full_attention"),
  };
  return field(config, "layers_block_type").map((kind) => {
    if (mixers[kind]) return mixers[kind]();
    const choices = {
      shared: config.moe_shared_expert_intermediate_size, narrow: config.moe_latent_size, matrices: 2,
    };
    return { weights: kind === "mlp" ? ungated(config) : experts(config, choices), keeps: [], reads: [] };
  });
}

function falcon(config) {
  const [first, second] = [mamba(config), attention(config, "full_attention")];
  const parts = [...first.keeps, ...second.keeps];
  const layer = { weights: first.weights + second.weights + dense(config), keeps: parts, reads: parts };
  return kindsOf(config).map(() => layer);
}

/* What a file says of one layer, under a number with or without a leading zero. */
const ofLayer = (layers, at) => layers[String(at).padStart(2, "0")] || layers[at];

function gemma4(config) {
  const all = kindsOf(config);
  const fresh = all.length - config.num_kv_shared_layers;
  const p = config.hidden_size_per_layer_input || 0;
  return all.map((kind, at) => {
    const layer = ofLayer(config.per_layer_config || {}, at) || {};
    const keyIsValue = kind === "full_attention" && config.attention_k_eq_v;
    const d = layer.head_dim || config.head_dim;
    const mixed = attention(config, kind, { d, v: d, g: layer.num_key_value_heads || keysOf(config), keyIsValue });
    const wide = config.use_double_wide_mlp && at >= fresh ? 2 : 1;
    const weights = dense(config, wide * config.intermediate_size) + 2 * p * config.hidden_size;
    if (at < fresh) return { ...mixed, weights: mixed.weights + weights };
    const g = layer.num_key_value_heads || keysOf(config);
    const unused = config.hidden_size * (keyIsValue ? 1 : 2) * g * d;
    return { weights: mixed.weights - unused + weights, keeps: [], reads: mixed.reads };
  });
}

const all = (names, read) => Object.fromEntries(names.split(" ").map((name) => [name, read]));
const ownAndShared = (name) => (config) => ({ ...own(config), ...sharing(name)(config) });

const READERS = {
  ...all(
    "llama ministral ministral3 qwen2 qwen3 smollm3 olmo olmo2 olmo3 exaone4 granite granite_swa seed_oss " +
      "hunyuan_v1_dense ernie4_5 cwm internlm3 iquestcoder hyperclovax cohere cohere2 helium glm glm4 stablelm " +
      "gemma gemma2 gemma3_text vaultgemma cohere_compass_text",
    reader(),
  ),
  ...all("arcee apertus nemotron jais2 gpt_neox nanochat phi", reader({ computes: ungated })),
  ...all("deepseek_v2 deepseek_v3 kimi_k25 mistral4 glm4_moe_lite axk1", latentModel()),
  deepseek_v32: latentModel((config) => indexed(config)),
  glm_moe_dsa: latentModel(indexedOrShared),
  hy_v4: latentModel(hunyuan4),
  deepseek_v4: reader({
    mixer: compressed,
    computes: expertsIn(everywhere, (config) => ({ shared: field(config, "moe_intermediate_size") })),
  }),
  kimi_linear: kimiLinear,
  bailing_hybrid: ling,
  mamba2: mambaAlone,
  minimax_m3_vl_text: reader({
    mixer: minimaxM3,
    computes: expertsIn(named, ownAndShared("shared_intermediate_size"), (config) => field(config, "dense_intermediate_size")),
  }),
  ...all("youtu minicpm3", reader({ mixer: (config) => latent(config) })),
  qwen3_next: reader({ mixer: recurrent(gatedDelta, gatedByFeature), computes: expertsIn(stepped, gatedShared) }),
  ...all("qwen3_5 qwen3_5_text", reader({ mixer: recurrent(gatedDelta, gatedByFeature) })),
  ...all("qwen3_5_moe qwen3_5_moe_text", reader({
    mixer: recurrent(gatedDelta, gatedByFeature), computes: expertsIn(everywhere, gatedShared),
  })),
  olmo_hybrid: reader({ mixer: recurrent(gatedDelta) }),
  minimax: reader({ mixer: recurrent(lightning, windowed), computes: expertsIn() }),
  lfm2: reader({ mixer: convolved(attention), computes: (config) => dense(config, liquidWidth(config)) }),
  lfm2_moe: reader({ mixer: convolved(attention), computes: expertsIn(later) }),
  lfm3: reader({
    mixer: convolved((config, kind) =>
      attention(config, kind, { gate: config.use_attention_gate === false ? 0 : headsOf(config) }),
    ),
  }),
  nemotron_h: nemotron,
  granitemoehybrid: reader({
    mixer: recurrent(mamba),
    computes: expertsIn(
      (config) => config.num_local_experts, sharing("shared_intermediate_size"), (config) => config.shared_intermediate_size,
    ),
  }),
  bamba: reader({
    mixer: (config, kind, at) =>
      (config.attn_layer_indices || []).includes(at) ? attention(config, "full_attention") : mamba(config),
  }),
  falcon_h1: falcon,
  ...all("mistral phi3", reader({ mixer: windowed })),
  starcoder2: reader({ mixer: windowed, computes: ungated }),
  ...all("gemma4_text gemma4_unified_text", gemma4),
  mixtral: reader({ mixer: windowed, computes: expertsIn(everywhere, own) }),
  gpt_oss: reader({ computes: expertsIn(everywhere, own) }),
  qwen3_moe: reader({ computes: expertsIn(stepped) }),
  qwen2_moe: reader({ computes: expertsIn(stepped, gatedShared) }),
  flint: reader({ computes: expertsIn(stepped, sharing("shared_expert_intermediate_size")) }),
  mellum: reader({ computes: expertsIn(named) }),
  ...all("olmoe flex_olmo granitemoe", reader({ computes: expertsIn() })),
  ...all("granitemoeshared granitemoe_swa", reader({ computes: expertsIn(everywhere, sharing("shared_intermediate_size")) })),
  hunyuan_v1_moe: reader({ computes: expertsIn(everywhere, sharing("intermediate_size")) }),
  kolibri1: reader({ computes: expertsIn(everywhere, sharing("shared_expert_intermediate_size")) }),
  ...all("minimax_m2 solar_open", reader(balanced(everywhere))),
  ...all("dots1 glm4_moe", reader(balanced(behind))),
  ...all("hy_v3 exaone_moe", reader(balanced(named))),
  afmoe: reader({ mixer: gatedByFeature, ...balanced(later) }),
  laguna: reader({
    mixer: (config, kind, at) => {
      const h = field(config, "num_attention_heads_per_layer")[at];
      const byHead = config.gating === true || config.gating === "per-head";
      return attention(config, kind, { h, gate: byHead ? h : h * widthOf(config) });
    },
    computes: expertsIn(named, sharing("shared_expert_intermediate_size")),
  }),
  diffllama: reader({
    mixer: (config, kind) => {
      const mixed = attention(config, kind);
      const read = 2 * headsOf(config) * 3 * widthOf(config);
      return { ...mixed, reads: [{ ...mixed.reads[0], read }], keeps: [{ ...mixed.keeps[0], read }] };
    },
  }),
  step3p7: reader({
    mixer: (config, kind, at) => {
      const h = (ofLayer(field(config, "per_layer_config"), at) || config).num_attention_heads || headsOf(config);
      return attention(config, kind, { h, gate: h });
    },
    computes: expertsIn(named, sharing("share_expert_dim")),
  }),
  muse_glimmer: reader({ mixer: gatedByFeature }),
  beam: reader({ mixer: gatedByFeature, ...balanced(named) }),
  muse_spark: reader({
    mixer: gatedByFeature,
    computes: expertsIn(named, (config) => ({ ...shared(config), narrow: field(config, "moe_hidden_size") })),
  }),
  mimo_v2_flash: reader({
    mixer: (config, kind) =>
      attention(config, kind, { v: field(config, "v_head_dim"), g: keysOf(config) * (kind === "sliding_attention" ? 2 : 1) }),
    ...balanced(named),
  }),
  llama4_text: reader({
    mixer: (config, kind) =>
      attention(config, kind, { limit: kind === "chunked_attention" ? field(config, "attention_chunk_size") - 1 : null }),
    computes: expertsIn(
      (config, at) => field(config, "moe_layers").includes(at), ownAndShared("intermediate_size"),
      (config) => field(config, "intermediate_size_mlp"),
    ),
  }),
  cohere2_moe: reader({
    computes: expertsIn(
      named, (config) => ({ ...own(config), shared: (config.num_shared_experts || 0) * config.intermediate_size }),
      (config) => config.prefix_dense_intermediate_size || config.intermediate_size,
    ),
  }),
  ernie4_5_moe: reader({
    computes: expertsIn(
      (config, at) =>
        (at + 1) % config.moe_layer_interval === 0 && config.moe_layer_start_index <= at && at <= config.moe_layer_end_index,
      (config) => ({ shared: config.moe_num_shared_experts * config.moe_intermediate_size }),
    ),
  }),
};

/* Read the fields of a config.json: {title, outer, layers}, equal layers counted together. */
export function readConfig(file) {
  const reader = READERS[file.model_type];
  if (!reader) {
    const known = Object.keys(READERS).sort().join(", ");
    throw new Error(`model_type is ${JSON.stringify(file.model_type)}, and this reads only ${known}.`);
  }
  // A model that reads pictures, too, describes its decoder inside.
  const config = file.text_config || file;
  const inputs = (config.hidden_size_per_layer_input || 0) * (config.num_hidden_layers || 0);
  const counted = new Map();
  for (const layer of reader(config)) {
    const key = JSON.stringify(layer);
    if (!counted.has(key)) counted.set(key, { count: 0, ...layer });
    counted.get(key).count += 1;
  }
  return {
    title: file.model_type,
    outer: (field(config, "vocab_size") + inputs + (config.hc_mult || 0) ** 2) * field(config, "hidden_size"),
    layers: [...counted.values()],
  };
}
