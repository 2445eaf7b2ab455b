/* A Transformer that translates, in plain JavaScript, for one sentence at a time.

   It computes what companion/models/transformer/encoder_decoder.py computes with rotary positions,
   norms before the sub-layers, and one table of words for all. Matrices are those of seq2seq.js. */
import { range, sum } from "./kit.js";
import { add, inHeads, layerNorm, look, rotate } from "./layers.js";
import { idsOf, linear, rowOf, write } from "./seq2seq.js";

/* The parts of a model, each a function of a name and of one vector. */
function partsOf({ weights, config }) {
  const project = (name, x) => linear(weights[`${name}.weight`], x, weights[`${name}.bias`]);
  const norm = (name, x) => layerNorm(weights[`${name}.weight`].values, weights[`${name}.bias`].values, x, config.norm_eps);
  const heads = (name, x) => inHeads(project(name, x), config.num_heads);
  return {
    project, norm, heads,
    turned: (name, x, place) => heads(name, x).map((head) => rotate(head, place, config.rotary_base)),
    feedForward: (name, x) => {
      const inside = project(`${name}.feed_forward.up_proj`, norm(`${name}.feed_forward_residual.norm`, x));
      return add(x, project(`${name}.feed_forward.down_proj`, inside.map((part) => Math.max(part, 0))));
    },
  };
}

/* Read a sentence: a vector for every word. */
function encode({ config }, { project, norm, heads, turned, feedForward }, words) {
  let all = words;
  for (const block of range(config.encoder_layers ?? config.num_layers)) {
    const name = `encoder.blocks.${block}`;
    const attention = `${name}.self_attention`;
    const read = all.map((x) => norm(`${name}.self_residual.norm`, x));
    const memory = { keys: read.map((x, place) => turned(`${attention}.key_proj`, x, place)), values: read.map((x) => heads(`${attention}.value_proj`, x)) };
    all = all.map((x, place) => {
      const { joined } = look(turned(`${attention}.query_proj`, read[place], place), memory);
      return feedForward(name, add(x, project(`${attention}.output_proj`, joined)));
    });
  }
  return all.map((x) => norm("encoder.norm", x));
}

/* Translate a sentence, as `translate` in seq2seq.js does. change(row) may put other weights in the place
   of those that every head of every cross-attention gives. The rows are the means over the heads of one
   block, the one whose map the model was made to show. Keys and values of what was written are kept. */
export function translate(translator, words, { change = (row) => row, longest = 100 } = {}) {
  const { weights, config, target } = translator;
  const parts = partsOf(translator);
  const { project, norm, heads, turned, feedForward } = parts;
  const table = weights["target_embedding.words.weight"];
  const embed = (id) => rowOf(table, id).map((part) => part * Math.sqrt(config.embed_dim));
  const memory = encode(translator, parts, idsOf(translator, words).map(embed));
  const blocks = range(config.num_layers).map((block) => {
    const name = `decoder.blocks.${block}`;
    const [keys, values] = ["key", "value"].map((part) => memory.map((x) => heads(`${name}.cross_attention.${part}_proj`, x)));
    return { name, kept: { keys: [], values: [] }, source: { keys, values } };
  });
  const shown = blocks.at(config.alignment_layer % config.num_layers);
  let place = -1;
  return write(target, (last) => {
    let [x, row] = [embed(last), null];
    place += 1;
    for (const block of blocks) {
      const { name, kept, source } = block;
      const [own, cross] = [`${name}.self_attention`, `${name}.cross_attention`];
      const read = norm(`${name}.self_residual.norm`, x);
      kept.keys.push(turned(`${own}.key_proj`, read, place));
      kept.values.push(heads(`${own}.value_proj`, read));
      x = add(x, project(`${own}.output_proj`, look(turned(`${own}.query_proj`, read, place), kept).joined));
      const { rows, joined } = look(heads(`${cross}.query_proj`, norm(`${name}.cross_residual.norm`, x)), source, change);
      x = feedForward(name, add(x, project(`${cross}.output_proj`, joined)));
      if (block === shown) row = words.map((_, at) => sum(rows.map((one) => one[at])) / rows.length);
    }
    return { row, logits: linear(table, norm("decoder.norm", x)) };
  }, longest);
}
