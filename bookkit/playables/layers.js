/* Parts of Transformers, in plain JavaScript, for one vector at a time. */
import { dot, range, softmax, sum } from "./kit.js";

export const add = (x, more) => x.map((part, at) => part + more[at]);

/* LayerNorm: take the mean away, divide by the spread, then multiply and add what was learned. */
export function layerNorm(gains, biases, x, eps) {
  const mean = sum(x) / x.length;
  const spread = Math.sqrt(sum(x.map((part) => (part - mean) ** 2)) / x.length + eps);
  return x.map((part, at) => ((part - mean) / spread) * gains[at] + biases[at]);
}

/* Rotary positions: turn the pairs (i, i + half) of a head by angles that grow with its place. */
export function rotate(head, place, base) {
  const half = head.length / 2;
  return head.map((part, at) => {
    const pair = at % half;
    const angle = place * base ** (-pair / half);
    const other = at < half ? -head[pair + half] : head[pair];
    return part * Math.cos(angle) + other * Math.sin(angle);
  });
}

export function inHeads(x, count) {
  const width = x.length / count;
  return range(count).map((at) => x.slice(at * width, (at + 1) * width));
}

/* Let every head of a query look at all places, whose keys and values are lists of heads: where each
   looks, and what they read, joined. Where a place has fewer heads, several of the query share one. */
export function look(queries, { keys, values }, change = (row) => row) {
  const shared = queries.length / keys[0].length;
  const rows = queries.map((query, head) => {
    const group = Math.floor(head / shared);
    return change(softmax(keys.map((key) => dot(query, key[group]) / Math.sqrt(query.length))));
  });
  const joined = rows.flatMap((row, head) => {
    const group = Math.floor(head / shared);
    return queries[head].map((_, at) => sum(row.map((weight, place) => weight * values[place][group][at])));
  });
  return { rows, joined };
}
