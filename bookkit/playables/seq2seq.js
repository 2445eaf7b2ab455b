/* A recurrent translator with Bahdanau's attention, or without any, in plain JavaScript.

   It computes what companion/models/seq2seq.py computes, for one sentence at a time. A vector is an
   array of numbers. A matrix is {shape: [rows, columns], values}, with one row after another in
   values. Nothing in this file touches the page, so it can be read, and tested, by itself. */

import { argmax, range, softmax, sum } from "./kit.js";

/* The first ids of a vocabulary are not words: padding, begin, end and unknown. */
const [PAD, BEGIN, END, UNKNOWN] = [0, 1, 2, 3];
const SPECIAL = ["<pad>", "<bos>", "<eos>", "<unk>"];

/* Read a file in the format of safetensors, as bookkit/playables/weights.py writes it: the
   length of a header, the header as JSON, and then all the numbers. A matrix of eight bits is
   multiplied by the scales of its rows. */
export function readTranslator(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const numbersOf = ({ dtype, data_offsets: [first, end] }) => {
    const bytes = buffer.slice(8 + length + first, 8 + length + end);
    return dtype === "I8" ? new Int8Array(bytes) : new Float32Array(bytes);
  };
  const weights = {};
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__" || name.endsWith(".scale")) continue;
    const values = Float32Array.from(numbersOf(entry));
    const scale = header[`${name}.scale`];
    if (scale) {
      const columns = entry.shape[1];
      numbersOf(scale).forEach((factor, row) => {
        for (let at = row * columns; at < (row + 1) * columns; at += 1) values[at] *= factor;
      });
    }
    weights[name] = { shape: entry.shape, values };
  }
  const { config, source, target, gloss, merges } = JSON.parse(header.__metadata__.translator);
  const ids = new Map(source.map((word, place) => [word, SPECIAL.length + place]));
  const meanings = Object.fromEntries((gloss ?? []).map((meaning, place) => [target[place], meaning]));
  return { weights, config, ids, target: [...SPECIAL, ...target], gloss: meanings, merges };
}

const read = new WeakMap();

/* Matrices that came with a page, lists of rows, as {shape, values}; each model is turned once. */
export function weightsOf(given) {
  if (!read.has(given)) {
    read.set(given, Object.fromEntries(Object.entries(given).map(([name, weight]) => [
      name, { shape: [weight.length, weight[0].length], values: Float64Array.from(weight.flat()) },
    ])));
  }
  return read.get(given);
}

/* W x + b, with one row of W for every number that comes out, as torch's linear layers store it. */
export function linear({ shape: [rows, columns], values }, x, bias = null) {
  const totals = bias ? Array.from(bias.values) : new Array(rows).fill(0);
  for (let row = 0, at = 0; row < rows; row += 1) {
    let total = totals[row];
    for (let column = 0; column < columns; column += 1, at += 1) total += values[at] * x[column];
    totals[row] = total;
  }
  return totals;
}

/* x W, with one row of W for every number that goes in, as the formulas of attention write it. */
export function times(x, { shape: [rows, columns], values }) {
  return range(columns).map((column) => {
    let total = 0;
    for (let row = 0; row < rows; row += 1) total += x[row] * values[row * columns + column];
    return total;
  });
}

export function rowOf({ shape: [, columns], values }, row) {
  return [...values.subarray(row * columns, (row + 1) * columns)];
}

export function sigmoid(x) {
  return 1 / (1 + Math.exp(-x));
}

/* One step of a recurrent cell: the state after it has read one more vector. The state of a gated
   recurrent unit is one vector in a list, that of an LSTM two: what it shows and what it keeps. */
export function recur(weights, name, input, [before, kept]) {
  const part = (kind) => weights[name.replace("*", kind)];
  const width = before.length;
  const fromInput = linear(part("weight_ih"), input, part("bias_ih"));
  const fromState = linear(part("weight_hh"), before, part("bias_hh"));
  const both = (gate, at) => fromInput[gate * width + at] + fromState[gate * width + at];
  if (kept) {
    const next = kept.map((cell, at) => sigmoid(both(1, at)) * cell + sigmoid(both(0, at)) * Math.tanh(both(2, at)));
    return [next.map((cell, at) => sigmoid(both(3, at)) * Math.tanh(cell)), next];
  }
  return [before.map((old, at) => {
    const [reset, update] = [sigmoid(both(0, at)), sigmoid(both(1, at))];
    const fresh = Math.tanh(fromInput[2 * width + at] + reset * fromState[2 * width + at]);
    return (1 - update) * fresh + update * old;
  })];
}

/* The states of the encoder at every word, when it reads in one direction. */
function readThrough({ weights, config }, name, words) {
  const width = weights[name.replace("*", "weight_hh")].shape[1];
  let state = range(config.cell === "lstm" ? 2 : 1).map(() => new Array(width).fill(0));
  return words.map((word) => {
    state = recur(weights, name, word, state);
    return state;
  });
}

/* Read a sentence in both directions: a memory of every word, and the decoder's first state. */
export function encode(translator, ids) {
  const { weights, config } = translator;
  const words = ids.map((id) => rowOf(weights["source_embedding.weight"], id));
  const forward = readThrough(translator, "encoder.*_l0", words);
  const backward = readThrough(translator, "encoder.*_l0_reverse", [...words].reverse()).reverse();
  const memory = forward.map(([state], place) => [...state, ...backward[place][0]]);
  const start = forward.at(-1).map((end, part) =>
    linear(weights[`bridge.${part}.weight`], [...end, ...backward[0][part]], weights[`bridge.${part}.bias`]).map(Math.tanh));
  const looks = config.attention === "additive";
  const keys = looks ? memory.map((word) => times(word, weights["attention.key_weight"])) : null;
  return { memory, keys, start };
}

/* Look at the words: score each, turn the scores into weights, and blend the memories with them. */
function look(weights, query, { memory, keys }, change) {
  const asked = times(query, weights["attention.query_weight"]);
  const vector = weights["attention.vector"].values;
  const scores = keys.map((key) => sum(key.map((part, at) => vector[at] * Math.tanh(asked[at] + part))));
  const row = change(softmax(scores));
  const context = query.map((_, at) => sum(memory.map((word, place) => row[place] * word[at])));
  return { row, context };
}

/* Write the most probable word at every step, until the sentence ends. read(word) gives for an id
   that was written where the translator looks, and a number for every word that may come next. */
export function write(target, read, longest) {
  const [written, rows] = [[], []];
  let last = BEGIN;
  for (let step = 0; step < longest; step += 1) {
    const { row, logits } = read(last);
    last = argmax(logits);
    if (last === END) break;
    if (last !== PAD && last !== BEGIN) {
      written.push(target[last]);
      rows.push(row);
    }
  }
  return { written, rows };
}

export const idsOf = ({ ids }, words) => words.map((word) => ids.get(word) ?? UNKNOWN);

/* Translate a sentence: at every step the most probable word, until the sentence ends.

   change(row) may put other weights in the place of those that attention gives; longest is the
   number of steps after which a sentence is cut. Returns {written, rows}: the Spanish words, and
   for each of them a weight on every English word (or null, for a translator without attention).
   A word that the translator does not know is read as <unk>. */
export function translate(translator, words, { change = (row) => row, longest = 100 } = {}) {
  const { weights, config, target } = translator;
  const encoded = encode(translator, idsOf(translator, words));
  let state = encoded.start;
  return write(target, (last) => {
    const word = rowOf(weights["target_embedding.weight"], last);
    let [row, context, input] = [null, encoded.start[0], word];
    if (config.attention === "additive") {
      ({ row, context } = look(weights, state[0], encoded, change));
      input = [...word, ...context];
    }
    state = recur(weights, "decoder.*_l0", input, state);
    const joined = linear(weights["combine.weight"], [...context, ...state[0]]).map(Math.tanh);
    return { row, logits: linear(weights["output.weight"], joined, weights["output.bias"]) };
  }, longest);
}

/* Take a share of the largest weight away; what is left is scaled so that it sums to 1 again. */
export function cutLargest(row, share) {
  const largest = argmax(row);
  const cut = row.map((weight, place) => (place === largest ? weight * (1 - share) : weight));
  const total = sum(cut);
  return cut.map((weight) => (total > 0 ? weight / total : 0));
}

/* Let the two largest weights change places, for a share of the way. */
export function swapLargest(row, share) {
  const [first, second] = row.map((_, place) => place).sort((one, other) => row[other] - row[one]);
  if (second === undefined) return row;
  const move = share * (row[first] - row[second]);
  return row.map((weight, place) => weight - (place === first ? move : 0) + (place === second ? move : 0));
}
