/* A summary whose words the reader puts in another order: what ROUGE says, and how many facts are in place. */
import { CONTROLS, SAID, button, h, num, panel, range, reset, table } from "./kit.js";

export const lines = [2, 4];

export const start = ({ words }) => ({ order: range(words.length), chosen: 0 });

/* On paper no word is chosen. */
export const still = (data) => ({ ...start(data), chosen: -1 });

const moved = (order, from, to) => order.toSpliced(from, 1).toSpliced(to, 0, order[from]);

/* The length of a longest common subsequence. */
function common(one, other) {
  let row = new Array(other.length + 1).fill(0);
  for (const word of one) {
    const next = [0];
    other.forEach((same, at) => next.push(word === same ? row[at] + 1 : Math.max(next[at], row[at + 1])));
    row = next;
  }
  return row.at(-1);
}

const pairs = (words) => words.slice(1).map((word, at) => `${words[at]} ${word}`);

/* How many of a list are in another one, each of them at most once. */
function shared(one, other) {
  const left = [...other];
  return one.filter((item) => {
    const at = left.indexOf(item);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  }).length;
}

/* The three ROUGEs in percent, which facts are right, and whether it tells the opposite: "ours beat theirs"
   the other way round. Here both texts have the same length, so recall, precision and F are the same. */
export function model({ words, facts, beat }, { order }) {
  const said = order.map((at) => words[at]);
  const [winner, loser] = [words[beat - 1], words[beat + 1]];
  const verb = said.indexOf(words[beat]);
  return {
    said,
    rouge: [shared(said, words) / words.length, shared(pairs(said), pairs(words)) / (words.length - 1), common(said, words) / words.length].map((share) => 100 * share),
    right: facts.map((at) => said[at] === words[at]),
    opposite: said[verb - 1] === loser && said[verb + 1] === winner,
  };
}

export const controls = (data, at) => panel(at, "Move a word",
  button("Move left", ({ order, chosen }) => ({ order: moved(order, chosen, chosen - 1), chosen: chosen - 1 }), { off: at.chosen === 0, "data-grows": true }),
  button("Move right", ({ order, chosen }) => ({ order: moved(order, chosen, chosen + 1), chosen: chosen + 1 }), { off: at.chosen === data.words.length - 1, "data-grows": true }),
  reset());

/* Words are pressed, or dragged to another place. */
const dragging = (place) => ({
  onpointerdown(at, event, play) {
    play.held = { from: place, moved: false };
    event.currentTarget.setPointerCapture(event.pointerId);
    return { chosen: place };
  },
  onpointermove({ order }, event, play) {
    if (!play.held || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const boxes = [...event.currentTarget.parentElement.children].map((one) => one.getBoundingClientRect());
    const to = boxes.findIndex(({ left, right, top, bottom }) => left <= event.clientX && event.clientX < right && top <= event.clientY && event.clientY < bottom);
    if (to < 0 || to === play.held.from) return;
    play.set({ order: moved(order, play.held.from, to), chosen: to }, true);
    play.held = { from: to, moved: true };
    event.currentTarget.parentElement.children[to].setPointerCapture(event.pointerId);
  },
  onlostpointercapture: () => ({}),
  onclick: () => ({ chosen: place }),
});

export const view = ({ said, rouge, right }, { chosen }, { words, facts }) => [
  h("p", {}, `The right summary: ${words.join(" ")}`),
  h("div", { class: "am-bend-words", role: "group", "aria-label": "The words of the summary" }, said.map((word, place) => h("button", {
    type: "button", class: ["am-play-button", facts.includes(place) && !right[facts.indexOf(place)] && "am-bend-wrong"], "aria-pressed": place === chosen, ...dragging(place),
  }, word))),
  CONTROLS,
  table(["ROUGE-1", "ROUGE-2", "ROUGE-L", "facts in place"], [[...rouge.map((share) => num(share, 0)), `${right.filter(Boolean).length} of ${right.length}`]]),
  SAID,
];

export function said({ said: words, rouge, opposite, right }) {
  const told = right.every(Boolean) ? "Every fact is right" : opposite ? "The loser has won: it tells the opposite" : "It is wrong, or no sentence any more";
  return `${words.join(" ")}. ${told}. ROUGE-1 ${num(rouge[0], 0)}, ROUGE-2 ${num(rouge[1], 0)}, ROUGE-L ${num(rouge[2], 0)}.`;
}
