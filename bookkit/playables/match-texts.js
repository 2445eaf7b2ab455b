/* Texts that a model wrote with mistakes in its attention: which mistake wrote which? */
import { CONTROLS, SAID, button, choice, h, panel, steps } from "./kit.js";

export const lines = [3, 5];

export const start = () => ({ round: 0, text: 0, picked: {} });

const key = (round, text) => `${round} ${text}`;

export const controls = ({ rounds }, at) => panel(at, "Choose a round and a text",
  choice("round", "Round", rounds.map(({ name }) => name), { then: { text: 0 }, grows: true }),
  steps("text", rounds[at.round].texts.length - 1),
  button("Begin again", ({ round }) => ({ ...start(), round }), { "data-grows": true }));

/* `texts` has a line for every text of the round: what wrote it, what was picked (-1 for nothing yet),
   and whether this is right; the same text may have been written with several mistakes. */
export function model({ rounds }, { round, picked }) {
  const { texts, names } = rounds[round];
  const of = (name) => texts.find(({ by }) => by === name)?.text;
  const lines = texts.map(({ text, by }, place) => {
    const pick = picked[key(round, place)] ?? -1;
    return { by: names.indexOf(by), pick, right: pick >= 0 && (names[pick] === by || of(names[pick]) === text) };
  });
  return { lines, done: lines.filter(({ pick }) => pick >= 0).length, score: lines.filter(({ right }) => right).length };
}

export function view(m, at, { rounds }) {
  const { round, text } = at;
  const { question, texts, names } = rounds[round];
  const { pick, right, by } = m.lines[text];
  const told = pick >= 0;
  return [
    CONTROLS,
    h("p", { class: "am-match-asked" }, `Text ${text + 1} of ${texts.length}. The question was: \u201c${question}\u201d`),
    h("blockquote", { class: "am-match-text" }, texts[text].text),
    panel(at, "Which mistake wrote it?", names.map((name, place) => button(name, { picked: { ...at.picked, [key(round, text)]: place } }, {
      off: told, "aria-pressed": place === pick,
      class: ["am-play-button", told && place === by && "am-match-right", told && place === pick && !right && "am-match-wrong"],
    }))),
    SAID,
    h("p", { class: "am-match-score" }, `${m.score} right of ${m.done} in this round`),
  ];
}

export function said({ lines }, { round, text }, { rounds, reasons }) {
  const { names } = rounds[round];
  const { by, pick, right } = lines[text];
  if (pick < 0) return "Which mistake wrote this text?";
  const same = right && pick !== by ? ` (The text is the same as with \u201c${names[by]}\u201d.)` : "";
  return `${right ? "Right." : `No: this is \u201c${names[by]}\u201d.`} ${reasons[names[right ? pick : by]]}${same}`;
}
