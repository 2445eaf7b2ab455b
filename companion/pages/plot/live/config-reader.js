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
  return { what, numbers, tokens: 1, limit: null, itemsize: null, read: 0, readLimit: null, ...more };
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

/* A feed-forward layer for all tokens: three matrices with a gate, two without. */
function dense(config, width = field(config, "intermediate_size"), matrices = 3) {
  return matrices * field(config, "hidden_size") * width;
}

/* Experts, of which a token uses some, with their router and what all tokens use. */
function experts(config, { shared = 0, gate = false, width } = {}) {
  const count = config.num_local_experts || config.num_experts || field(config, "n_routed_experts");
  const inner = width || config.moe_intermediate_size || field(config, "intermediate_size");
  const used = field(config, "num_experts_per_tok");
  return field(config, "hidden_size") * (count + 3 * used * inner + 3 * shared + (gate ? 1 : 0));
}

/* Put what mixes and what computes together, for every layer. */
function layersOf(config, mixer, computes) {
  return kindsOf(config).map((kind, at) => {
    const mixed = mixer(kind, at);
    return { ...mixed, weights: mixed.weights + computes(at) };
  });
}

const plain = (config) => layersOf(config, (kind) => attention(config, kind), () => dense(config));

const READERS = {
  llama: plain,
  ministral3: plain,
  qwen2: plain,
  qwen3: plain,
  smollm3: plain,
  olmo2: plain,
  olmo3: plain,
  exaone4: plain,
  granite: plain,
  cohere2: plain,
  gemma2: plain,
  gemma3_text: plain,
  mistral: (config) => layersOf(config, () => windowed(config), () => dense(config)),
  mixtral: (config) =>
    layersOf(config, () => windowed(config), () => experts(config, { width: config.intermediate_size })),
  qwen3_moe: (config) => layersOf(config, (kind) => attention(config, kind), qwenExperts(config)),
  gpt_oss: (config) =>
    layersOf(config, (kind) => attention(config, kind), () => experts(config, { width: config.intermediate_size })),
};

/* Attention whose layers all have the window, if there is one. */
function windowed(config) {
  return attention(config, "full_attention", { limit: config.sliding_window ? config.sliding_window - 1 : null });
}

function qwenExperts(config) {
  const step = config.decoder_sparse_step || 1;
  const plainLayers = config.mlp_only_layers || [];
  return (at) => (plainLayers.includes(at) || (at + 1) % step ? dense(config) : experts(config));
}

/* Read the fields of a config.json: {title, outer, layers}, equal layers counted together. */
function readConfig(config) {
  const reader = READERS[config.model_type];
  if (!reader) {
    const known = Object.keys(READERS).sort().join(", ");
    throw new Error(`model_type is ${JSON.stringify(config.model_type)}, and this reads only ${known}.`);
  }
  const counted = new Map();
  for (const layer of reader(config)) {
    const key = JSON.stringify(layer);
    if (!counted.has(key)) counted.set(key, { count: 0, ...layer });
    counted.get(key).count += 1;
  }
  return {
    title: config.model_type,
    outer: field(config, "vocab_size") * field(config, "hidden_size"),
    layers: [...counted.values()],
  };
}
