/* How many bytes of a text stay: the one count behind the calculator and the lesson on which attention to take. */
import { sum } from "./kit.js";

/* The bytes of a part that a layer keeps, of so many tokens. */
export function bytesOf({ numbers, tokens, limit, itemsize: own, beyond }, length, itemsize) {
  const seen = beyond === null ? length : length % beyond;
  return Math.min(tokens === null ? 1 : Math.floor(seen / tokens), limit ?? Infinity) * numbers * (own || itemsize);
}

/* The sum of a value over all parts that all layers keep. */
export const overParts = (layers, value) => sum(layers.map(({ count, keeps }) => count * sum(keeps.map(value))));
