/* A small language model of Llama's kind, in plain JavaScript.

   It computes what companion/models/transformer/language_model.py computes, one word at a time. A
   matrix is a list of rows, as torch's linear layers store it. */
import { dot, range, softmax } from "./kit.js";
import { add, inHeads, look, rotate } from "./layers.js";

export const linear = (matrix, x) => matrix.map((row) => dot(row, x));
const silu = (x) => x / (1 + Math.exp(-x));

/* RMSNorm: divide by the root of the mean square, then multiply by the learned weights. */
function rmsNorm(gains, x, eps) {
  const size = Math.sqrt(dot(x, x) / x.length + eps);
  return x.map((part, at) => (part / size) * gains[at]);
}

/* What a new word reads through one block's attention: the words so far, its own among them. */
function attention(weights, name, x, { heads, groups, base }, cache) {
  const project = (part) => linear(weights[`${name}.${part}_proj.weight`], x);
  const place = cache.keys.length;
  cache.keys.push(inHeads(project("key"), groups).map((head) => rotate(head, place, base)));
  cache.values.push(inHeads(project("value"), groups));
  const queries = inHeads(project("query"), heads).map((head) => rotate(head, place, base));
  return linear(weights[`${name}.output_proj.weight`], look(queries, cache).joined);
}

/* SwiGLU: one projection is the gate of another. */
function feedForward(weights, name, x) {
  const gate = linear(weights[`${name}.gate_proj.weight`], x).map(silu);
  const up = linear(weights[`${name}.up_proj.weight`], x);
  return linear(weights[`${name}.down_proj.weight`], gate.map((part, at) => part * up[at]));
}

/* Read one more word; return the chances of the next one. The caches hold keys and values of the
   words before: no causal mask is needed, since nothing later has been read yet. */
function readWord({ weights, shape }, id, caches) {
  const table = weights["embedding.words.weight"];
  let x = table[id];
  caches.forEach((cache, number) => {
    const block = `decoder.blocks.${number}`;
    const normed = (part) => rmsNorm(weights[`${block}.${part}_residual.norm.weight`], x, shape.eps);
    x = add(x, attention(weights, `${block}.self_attention`, normed("self"), shape, cache));
    x = add(x, feedForward(weights, `${block}.feed_forward`, normed("feed_forward")));
  });
  return softmax(linear(table, rmsNorm(weights["decoder.norm.weight"], x, shape.eps)));
}

/* A function that reads one word after the other, each once, and returns the chances of the next one. */
export function reader(model) {
  const caches = range(model.shape.layers).map(() => ({ keys: [], values: [] }));
  return (id) => readWord(model, id, caches);
}

/* Read a text from its beginning, which has an id of its own; return the chances of the next word. */
export function chancesAfter(model, ids) {
  const read = reader(model);
  return ids.map((id) => read(id)).pop();
}
