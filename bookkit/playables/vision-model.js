/* A Vision Transformer, as companion/models/vision/vit.py computes it, for one picture at a time. Every
   weight is a list of rows; a vector is one row. */
import { range, softmax, sum } from "./kit.js";
import { add, layerNorm } from "./layers.js";

const vector = (weights, name) => weights[name][0];

const linear = (weights, name, x) => weights[`${name}.weight`].map((row, out) => {
  let total = vector(weights, `${name}.bias`)[out];
  for (let at = 0; at < x.length; at += 1) total += row[at] * x[at];
  return total;
});

const norm = (weights, name, x) => layerNorm(vector(weights, `${name}.weight`), vector(weights, `${name}.bias`), x, 1e-5);

/* GELU, with the error function of Abramowitz and Stegun, 7.1.26: wrong by 2e-7 at most. */
function gelu(x) {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * z);
  const rest = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-z * z);
  return (x / 2) * (1 + Math.sign(x) * (1 - rest));
}

/* Read a picture's patches, those of them that are kept: the chances of the classes, and where the class
   token looks in the last block, as a mean over the heads. */
export function read(weights, patches, kept = patches.map(() => true), heads = 4) {
  const open = [true, ...kept];
  let tokens = [vector(weights, "class_token"), ...patches.map((patch) => linear(weights, "embed", patch))];
  if (weights.places) tokens = tokens.map((token, place) => add(token, weights.places[place]));
  const blocks = range(tokens.length).filter((number) => `encoder.blocks.${number}.self_residual.norm.weight` in weights);
  let looks = null;
  for (const number of blocks) {
    const name = `encoder.blocks.${number}`;
    const normed = tokens.map((token) => norm(weights, `${name}.self_residual.norm`, token));
    const [queries, keys, values] = ["query", "key", "value"].map((part) => normed.map((x) => linear(weights, `${name}.self_attention.${part}_proj`, x)));
    const width = queries[0].length / heads;
    // Of the last block only what the class token becomes is read.
    const asking = number === blocks.at(-1) ? [0] : range(tokens.length);
    looks = open.map(() => 0);
    tokens = asking.map((place) => {
      const joined = range(heads).flatMap((head) => {
        const [from, to] = [head * width, (head + 1) * width];
        const scores = keys.map((key) => {
          let total = 0;
          for (let at = from; at < to; at += 1) total += queries[place][at] * key[at];
          return total / Math.sqrt(width);
        });
        const row = softmax(scores, open);
        if (place === 0) looks = looks.map((look, at) => look + row[at] / heads);
        return range(width, from).map((at) => sum(row.map((weight, other) => weight * values[other][at])));
      });
      const x = add(tokens[place], linear(weights, `${name}.self_attention.output_proj`, joined));
      const inside = linear(weights, `${name}.feed_forward.up_proj`, norm(weights, `${name}.feed_forward_residual.norm`, x)).map(gelu);
      return add(x, linear(weights, `${name}.feed_forward.down_proj`, inside));
    });
  }
  return { chances: softmax(linear(weights, "output", norm(weights, "encoder.norm", tokens[0]))), looks: looks.slice(1) };
}
