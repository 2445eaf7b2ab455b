/* A memory, any vector of which a reader exchanges for that of another sentence, and what is then written. */
import { CONTROLS, SAID, button, h, panel, reset, sum } from "./kit.js";

export const lines = [2, 3];

export const start = ({ words }) => ({ taken: words.map(() => false) });

export const controls = ({ words }, at) => panel(at, "Exchange vectors", words.map((word, place) => button(word,
  ({ taken }) => ({ taken: taken.with(place, !taken[place]) }), { "aria-pressed": at.taken[place] })), reset());

export const model = ({ written }, { taken }) => ({ written: written[sum(taken.map((one, place) => one * 2 ** place))] });

export const view = ({ written }, at, data) => [CONTROLS, h("p", { class: "am-swap" }, written.split(" ").map((word, place) => [
  " ", h(word === data.written[0].split(" ")[place] ? "span" : "mark", {}, word)])), SAID];

export function said({ written }, { taken }, { words, other }) {
  const list = words.filter((_, place) => taken[place]).join(", ");
  return list ? `Exchanged for the vector in “${other}”: ${list}. The decoder writes: ${written}.` : `Nothing is exchanged. The decoder writes: ${written}.`;
}
