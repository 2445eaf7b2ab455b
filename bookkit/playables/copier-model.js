/* The small model that copies: two layers of attention with one head each, and no feed-forward layers. */
import { dot, range, softmax, sum } from "./kit.js";
import { layerNorm, rotate } from "./layers.js";
import { linear } from "./story-model.js";

/* Return where both heads look, what they add to every letter, and the chances of the next letters. A layer
   that is not `on` adds nothing; `cut` lists looks that are forbidden, as [layer, from, to]; `notes` are what
   the first layer adds to some letters instead, by their places. */
export function run(weights, base, tokens, { on = [true, true], cut = [], notes = {} } = {}) {
  const norm = (name, x) => layerNorm(weights[`${name}.weight`], weights[`${name}.bias`], x, 1e-5);
  const attend = (layer, stream) => {
    const of = (part) => weights[`decoder.blocks.${layer}.self_attention.${part}_proj.weight`];
    const read = stream.map((x) => norm(`decoder.blocks.${layer}.self_residual.norm`, x));
    const [queries, keys] = ["query", "key"].map((part) => read.map((x, i) => rotate(linear(of(part), x), i, base)));
    const values = read.map((x) => linear(of("value"), x));
    const open = (i, j) => j <= i && !cut.some(([at, from, to]) => at === layer && from === i && to === j);
    const looks = queries.map((query, i) => softmax(keys.map((key) => dot(query, key) / Math.sqrt(query.length)), keys.map((_, j) => open(i, j))));
    return { looks, outputs: looks.map((row) => linear(of("output"), values[0].map((_, c) => sum(row.map((weight, j) => weight * values[j][c]))))) };
  };
  let stream = tokens.map((token) => weights["embedding.words.weight"][token]);
  const [seen, added] = [[], []];
  for (const layer of range(2)) {
    const { looks, outputs } = attend(layer, stream);
    seen.push(on[layer] ? looks : looks.map((row) => row.map(() => 0)));
    added.push(outputs.map((one, i) => (layer === 0 && notes[i]) || one));
    if (on[layer]) stream = stream.map((x, i) => x.map((value, c) => value + added[layer][i][c]));
  }
  return { seen, added, chances: stream.map((x) => softmax(linear(weights["output.vectors.weight"], norm("decoder.norm", x)))) };
}
