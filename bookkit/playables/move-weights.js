/* The attention weights of a sentence, which a reader drags; what the model says follows from them. */
import { argmax, arrowKeys, bar, button, chart, choice, clamp, CONTROLS, dot, drag, h, hint, label, line, num, panel, pointIn, range, softmax, sum, table } from "./kit.js";

const [WIDE, TOP, TALL] = [504, 30, 150]; // of the drawing
const BASE = TOP + TALL;
const STEP = 0.05; // of a weight, for an arrow key

export const lines = [3, 5];

export const start = ({ cases }) => ({ which: 0, weights: cases[0].own });

/* Give one word a weight; the others share what is left as before, or evenly if they had nothing. */
function given(weights, place, weight) {
  const now = clamp(weight, 0, 1);
  const rest = 1 - weights[place];
  return weights.map((one, at) => (at === place ? now : (1 - now) * (rest > 1e-9 ? one / rest : 1 / (weights.length - 1))));
}

export function controls({ cases }, at) {
  const { own, found } = cases[at.which];
  return panel(at, "Choose a model and a sentence, and change its weights",
    choice("which", "Model", cases.map(({ name }) => name), { then: ({ which }) => ({ weights: cases[which].own }) }),
    button("take the largest away", ({ weights }) => ({ weights: given(weights, argmax(weights), 0) })),
    button("level", { weights: own.map(() => 1 / own.length) }),
    button("shift by one", ({ weights }) => ({ weights: weights.map((_, place) => weights.at(place - 1)) })),
    button("find others", { weights: found ?? own }, { off: !found }),
    button("its own", { weights: own }), hint("Drag a bar, or press the arrow keys on it."));
}

function answer({ parts, matrix, bias }, weights) {
  const blend = parts[0].map((_, number) => Math.tanh(sum(weights.map((weight, place) => weight * parts[place][number]))));
  return softmax(matrix.map((row, which) => dot(row, blend) + bias[which]));
}

const distance = (one, other) => sum(one.map((number, at) => Math.abs(number - other[at]))) / 2;

/* What the model says by its own weights and by the reader's, how far that moved, and how much weight did. */
export function model({ cases }, { which, weights }) {
  const { own } = cases[which];
  const [before, now] = [own, weights].map((one) => answer(cases[which], one));
  return { before, now, changed: argmax(before) !== argmax(now), moved: distance(before, now), taken: distance(own, weights) };
}

const named = (word) => (word === "\u00b7" ? "a dot" : word);
const percent = (share) => (share > 0.9995 ? "over 99.9 %" : `${num(100 * share, share < 0.0995 ? 1 : 0)} %`);

export function view({ before, now, changed }, { which, weights }, { cases }) {
  const { words, deciding, answers, own } = cases[which];
  const each = WIDE / words.length;
  const middle = (place) => (place + 0.5) * each;
  const follow = (place) => ([, y], at) => ({ weights: given(at.weights, place, (BASE - y) / TALL) });
  const bars = words.map((word, place) => {
    const [x, y] = [middle(place), BASE - TALL * weights[place]];
    return h("g", {
      class: "am-handle", tabindex: 0, role: "slider", "aria-label": `weight of word ${place + 1}, ${named(word)}`, "aria-orientation": "vertical",
      "aria-valuemin": 0, "aria-valuemax": 1, "aria-valuenow": num(weights[place]), ...drag(follow(place)),
      ...arrowKeys(([right, up], at) => ({ weights: given(at.weights, place, at.weights[place] + STEP * (up || right)) })),
    },
    bar(x - 14, 28, BASE, TALL * own[place], "am-outline"), bar(x - 11, 22, BASE, TALL * weights[place]),
    h("circle", { class: "am-hit", cx: x, cy: y, r: 18 }), h("circle", { class: "am-knob", cx: x, cy: y, r: 8 }));
  });
  const [first, then] = [argmax(before), argmax(now)];
  return [CONTROLS, chart(WIDE, BASE + 46, {
    role: "group", "aria-label": "The weights of the words, as bars to drag",
    onclick: (at, event) => {
      const [x, y] = pointIn(event);
      return event.target.closest(".am-handle") || y > BASE ? null : follow(clamp(Math.floor(x / each), 0, words.length - 1))([x, y], at);
    },
  },
  line(0, BASE, WIDE, BASE, "am-level"),
  range(words.length).map((place) => [
    label(middle(place), BASE + 21, words[place], ["am-middle", deciding.includes(place) && "am-bold"]),
    label(middle(place), BASE + 41, num(weights[place]), "am-middle am-pale"),
  ]), bars),
  table([cases[which].asked, "answer", "probability"], [
    ["with its own weights", answers[first], percent(before[first])],
    ["with yours", { words: answers[then], class: changed && "am-wrong" }, percent(now[then])],
  ])];
}

export function said({ before, now, changed, moved, taken }, { which, weights }, { cases }) {
  const { words, answers } = cases[which];
  const most = argmax(weights);
  const where = `The largest weight, ${num(weights[most])}, is on word ${most + 1}, ${named(words[most])}.`;
  if (taken < 0.005) return `${where} These are the model's own weights, and it says ${answers[argmax(before)]}.`;
  const far = `You have moved ${num(100 * taken, 0)} % of the weight`;
  return `${where} ${far}, and the answer ${changed ? `changes to ${answers[argmax(now)]}` : `is still ${answers[argmax(before)]}`}. The probabilities have moved by ${num(moved)}.`;
}
