/* A pointer-generator, as companion/models/pointer.py computes it, for one report at a time. */
import { argmax, dot, range, softmax, sum } from "./kit.js";
import { encode, linear, recur, rowOf, sigmoid, weightsOf } from "./seq2seq.js";

const [BEGIN, END, UNKNOWN] = [1, 2, 3];

/* Sum up a report: {written, rows, speaks}, the words, for each of them a weight on every word of the
   report, and the probability with which it is spoken and not pointed at. */
export function sumUp({ words, weights: given }, report, longest = 12) {
  const weights = weightsOf(given);
  const all = [...words, ...new Set(report.filter((word) => !words.includes(word)))];
  const own = report.map((word) => all.indexOf(word));
  const known = (id) => (id < words.length ? id : UNKNOWN);
  const { memory, start } = encode({ weights, config: {} }, own.map(known));
  const keys = memory.map((word) => linear(weights["attention.weight"], word));
  const [written, rows, speaks] = [[], [], []];
  let [state, last] = [start, BEGIN];
  while (written.length < longest) {
    const before = rowOf(weights["target_embedding.weight"], known(last));
    state = recur(weights, "decoder.*_l0", before, state);
    const [query] = state;
    const row = softmax(keys.map((key) => dot(query, key)));
    const context = range(memory[0].length).map((at) => sum(memory.map((word, place) => row[place] * word[at])));
    const joined = [...context, ...query];
    const p = softmax(linear(weights["output.weight"], linear(weights["combine.weight"], joined).map(Math.tanh), weights["output.bias"]));
    const speak = sigmoid(linear(weights["switch.weight"], [...joined, ...before], weights["switch.bias"])[0]);
    const final = all.map((_, id) => speak * (p[id] ?? 0));
    row.forEach((weight, place) => { final[own[place]] += (1 - speak) * weight; });
    last = argmax(final);
    if (last === END) break;
    written.push(all[last]);
    rows.push(row);
    speaks.push(speak);
  }
  return { written, rows, speaks };
}
