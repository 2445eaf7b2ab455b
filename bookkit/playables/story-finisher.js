/* A story that the reader finishes with a small language model, which story-model.js computes. */
import { CONTROLS, SAID, button, h, num, panel, select } from "./kit.js";
import { chancesAfter } from "./story-model.js";

const PAUSE = 250; // milliseconds between two words that the model writes by itself

export const lines = [2, 3];

const BEGIN = "<bos>";
const FINISH = "<eos>";

const idsOf = ({ words, beginnings }, { place, written }) => [BEGIN, ...beginnings[place].split(" ")].map((word) => words.indexOf(word)).concat(written);
const hasEnded = ({ words }, written) => words[written.at(-1)] === FINISH;
const isFull = (data, at) => hasEnded(data, at.written) || idsOf(data, at).length - 1 >= data.longest;
const nameOf = ({ words, end }, id) => (words[id] === FINISH ? end : words[id]);

/* The chances of all words, and their places, the likeliest first; nothing where the story is over. */
export function model(data, at) {
  const chances = isFull(data, at) ? [] : chancesAfter(data, idsOf(data, at));
  return { chances, order: chances.map((_, id) => id).sort((one, other) => chances[other] - chances[one]) };
}

export function start(data) {
  let at = { place: 0, written: [], run: 0 };
  for (let step = 0; step < data.written; step += 1) at = { ...at, ...write(at, model(data, at).order[0]) };
  return at;
}

/* What is written by hand ends a run of words that the model writes by itself. */
const write = ({ written }, id) => ({ written: [...written, id], run: 0 });

/* Draw a word by the chances: a random number falls into the share of one of them. */
function drawn(data, at) {
  const { chances, order } = model(data, at);
  let left = Math.random();
  const found = chances.findIndex((chance) => {
    left -= chance;
    return left < 0;
  });
  return found < 0 ? order[0] : found;
}

function finish({ run }, event, { data, set }) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const mine = run + 1;
  const next = (begins) => {
    let goesOn = false;
    set((at) => {
      if (!begins && at.run !== mine) return {};
      const after = { ...at, ...write(at, drawn(data, at)), run: mine };
      goesOn = !isFull(data, after);
      return after;
    }, true);
    if (!goesOn) set();
    else if (still) next(false);
    else setTimeout(next, PAUSE, false);
  };
  next(true);
}

const short = (words) => (words.length > 40 ? `\u2026 ${words.slice(-36).replace(/^\S* /, "")}` : words);

export const controls = ({ beginnings }, at) => panel(at, "Choose a beginning",
  select("place", "Beginning", beginnings.map(short), { then: { written: [], run: 0 }, grows: true }));

export function view({ chances, order }, at, data) {
  const { written, place } = at;
  const over = isFull(data, at);
  const more = { "data-grows": true };
  const row = (id, line) => h("li", {},
    h("button", { type: "button", class: "am-play-button am-finisher-word", "data-cell": `${line} 0`, onclick: (now) => write(now, id) }, nameOf(data, id)),
    h("svg", { class: "am-finisher-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, h("rect", { class: "am-bar", width: 100 * chances[id], height: 10 })),
    h("span", { class: "am-finisher-chance" }, num(chances[id])));
  return [
    CONTROLS,
    h("p", { class: "am-finisher-story" }, h("span", { class: "am-finisher-given" }, data.beginnings[place]), " ", h("b", {}, written.map((id) => nameOf(data, id)).join(" "))),
    h("ol", { class: "am-finisher-next am-rove", rove: true, ...more }, order.slice(0, data.shown).map(row)),
    panel(at, "Continue the story",
      button("take the likeliest", (now) => write(now, order[0]), { off: over, ...more }),
      button("draw a word", (now) => write(now, drawn(data, now)), { off: over, ...more }),
      button("finish the story", finish, { off: over, ...more }),
      button("one word back", (now) => ({ written: now.written.slice(0, -1), run: 0 }), { off: written.length === 0, ...more }),
      button("start again", { written: [], run: 0 }, more)),
    SAID,
  ];
}

export function said({ chances, order }, { place, written }, data) {
  if (hasEnded(data, written)) return "The story has ended.";
  if (order.length === 0) return "The story is as long as it may get.";
  const last = written.length ? nameOf(data, written.at(-1)) : data.beginnings[place].split(" ").pop();
  return `After \u201c${last}\u201d the model expects \u201c${nameOf(data, order[0])}\u201d most, with a chance of ${num(chances[order[0]])}.`;
}
