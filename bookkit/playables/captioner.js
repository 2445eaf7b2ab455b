/* A captioner, as companion/models/vision/captioner.py computes it, for one picture at a time. */
import { argmax, range, softmax, sum } from "./kit.js";
import { linear, recur, rowOf, times, weightsOf } from "./seq2seq.js";

const [BEGIN, END] = [1, 2];
/* A rectified convolution of 3 x 3 cells: of square maps, one a channel, one a row of the weights. */
function convolve(maps, { shape: [channels], values }, bias, stride) {
  const side = Math.sqrt(maps[0].length);
  const wide = side / stride;
  return range(channels).map((channel) => range(wide * wide).map((cell) => {
    const [top, left] = [stride * Math.floor(cell / wide) - 1, stride * (cell % wide) - 1];
    let total = bias.values[channel];
    let at = channel * maps.length * 9;
    for (const map of maps) {
      for (let row = top; row < top + 3; row += 1) {
        for (let column = left; column < left + 3; column += 1, at += 1) {
          if (row >= 0 && row < side && column >= 0 && column < side) total += values[at] * map[row * side + column];
        }
      }
    }
    return Math.max(total, 0);
  }));
}

/* What a picture is to the decoder: an annotation of every cell, and its key. */
function see(weights, image) {
  let maps = image.map((channel) => channel.map((value) => 4 * value - 2));
  [2, 1, 2].forEach((stride, at) => {
    maps = convolve(maps, weights[`encoder.${2 * at}.weight`], weights[`encoder.${2 * at}.bias`], stride);
  });
  const memory = range(maps[0].length).map((cell) => rowOf(weights.places, cell).map((place, at) => place + maps[at][cell]));
  return { memory, keys: memory.map((one) => times(one, weights["attention.key_weight"])) };
}

/* Describe a picture of three channels: {ids, rows, chances}, the words, and before each of them a
   weight on every cell and the probability of every word. `said` has an id for every word that is put
   into its mouth, and null where it says what is most probable. */
export function describe(given, image, said, longest) {
  const weights = weightsOf(given);
  const { memory, keys } = see(weights, image);
  const blend = (row) => memory[0].map((_, at) => sum(memory.map((one, cell) => row[cell] * one[at])));
  const [ids, rows, chances] = [[], [], []];
  let state = [linear(weights["bridge.weight"], blend(memory.map(() => 1 / memory.length)), weights["bridge.bias"]).map(Math.tanh)];
  let last = BEGIN;
  while (ids.length < longest) {
    const asked = times(state[0], weights["attention.query_weight"]);
    const row = softmax(keys.map((key) => sum(key.map((part, at) => weights["attention.vector"].values[at] * Math.tanh(asked[at] + part)))));
    const context = blend(row);
    const word = rowOf(weights["embedding.weight"], last);
    state = recur(weights, "cell.*", [...word, ...context], state);
    const [ofState, ofContext] = [linear(weights["from_state.weight"], state[0], weights["from_state.bias"]), linear(weights["from_context.weight"], context)];
    const joined = word.map((part, at) => Math.tanh(part + ofState[at] + ofContext[at]));
    const chance = softmax(linear(weights["output.weight"], joined, weights["output.bias"]));
    last = said[ids.length] ?? argmax(chance);
    if (last === END) break;
    ids.push(last);
    rows.push(row);
    chances.push(chance);
  }
  return { ids, rows, chances };
}
