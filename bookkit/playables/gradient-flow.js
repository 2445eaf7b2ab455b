/* One query's attention with numbers to edit, and the gradient of the loss under each of them. */
import { CONTROLS, button, capital, clamp, dot, h, num, panel, reset, slider, softmax, sum, unseen } from "./kit.js";

const ORDINALS = ["first", "second", "third", "fourth"];
const MOST_SCORE = 30; // how large a score can be made by itself
const FULL = 0.15; // the gradient at a score that fills half of its bar

/* The numbers that can be edited, in the order of the table: fields of the state, and scores. */
function edits({ words, query }) {
  const vector = (kind, place, name) => query.map((_, at) => ({ kind, place: [...place, at], name: `${name}, ${ORDINALS[at]} number` }));
  const rows = words.flatMap((word, row) => [...vector("memory", [row], word), { kind: "score", place: [row], name: `score of ${word}` }]);
  return [...vector("query", [], "query"), ...rows, ...vector("wanted", [], "wanted")];
}

const put = (list, [place, inner], value) => list.map((one, at) => (at !== place ? one : inner === undefined ? value : put(one, [inner], value)));
const own = ({ query, memory, nudges }, row) => dot(query, memory[row]) + nudges[row];
const read = (at, { kind, place: [row, inner] }) => (kind === "score" ? own(at, row) : inner === undefined ? at[kind][row] : at[kind][row][inner]);
const limit = ({ kind }, { most }) => (kind === "score" ? MOST_SCORE : most);

/* The changes of the state that give a number a value: a score is moved by a nudge of its own. */
function write(at, edit, value, data) {
  const { kind, place } = edit;
  const kept = clamp(value, -limit(edit, data), limit(edit, data));
  return kind === "score" ? { nudges: put(at.nudges, place, at.nudges[place[0]] + kept - own(at, place[0])) } : { [kind]: put(at[kind], place, kept) };
}

export const lines = [4, 5];

/* `typed` is what stands in the chosen field while somebody types. */
export const start = (data) => ({
  query: data.query, memory: data.memory, wanted: data.wanted, nudges: data.words.map(() => 0), typed: null,
  chosen: edits(data).findIndex(({ name }) => name === `score of ${data.words.at(-1)}`),
});

/* Without a script the fields are boxes of text, in which letters may stand a pixel higher. */
export function still(data) {
  return { ...start(data), still: true };
}

export const controls = (data, at) => {
  const edit = edits(data)[at.chosen];
  const most = limit(edit, data);
  return panel(at, "Change the numbers",
    slider("aim", edit.name, { min: -most, max: most, step: 0.1, show: (value) => num(value, 1), then: ({ aim, ...now }) => ({ aim: null, typed: null, ...write(now, edit, aim, data) }) })({ aim: read(at, edit) }),
    button("One step downhill", (now) => ({ typed: null, nudges: now.nudges.map((nudge, row) => nudge - flow(now).atScores[row]) })),
    reset());
};

const blend = (weights, rows) => rows[0].map((_, at) => dot(weights, rows.map((row) => row[at])));

/* Forward, then backward: what the six lines of the page do, for one query. */
function flow(at) {
  const { query, memory, wanted } = at;
  const scores = memory.map((_, row) => own(at, row));
  const weights = softmax(scores);
  const context = blend(weights, memory);
  const atContext = context.map((number, axis) => number - wanted[axis]);
  const atWeights = memory.map((row) => dot(atContext, row));
  const mean = dot(weights, atWeights);
  const atScores = weights.map((weight, row) => weight * (atWeights[row] - mean));
  const atMemory = memory.map((numbers, row) => numbers.map((_, axis) => weights[row] * atContext[axis] + atScores[row] * query[axis]));
  return { scores, weights, context, loss: dot(atContext, atContext) / 2, atContext, atWeights, atScores, atQuery: blend(atScores, memory), atMemory };
}

/* All numbers and gradients; `slope` is that of the chosen number, null for one that is wanted, and
   `change` what becomes of the loss if the number is raised by 0.1. */
export function model(data, at) {
  const edit = edits(data)[at.chosen];
  const [m, { kind, place: [row, inner] }] = [flow(at), edit];
  const slope = { query: m.atQuery[row], memory: m.atMemory[row]?.[inner], score: m.atScores[row], wanted: null }[kind];
  const raised = write(at, edit, read(at, edit) + 0.1, { most: Infinity });
  return { ...m, slope, change: flow({ ...at, ...raised }).loss - m.loss };
}

/* A gradient with its sign, which says where the loss goes. */
const signed = (value, places) => (value > 0 && Number(value.toFixed(places)) !== 0 ? "+" : "") + num(value, places);

/* One digit after the point where that is all there is. */
function written({ kind }, value) {
  const plain = kind !== "score" && Math.abs(10 * value - Math.round(10 * value)) < 1e-9;
  return (value === 0 ? 0 : value).toFixed(plain ? 1 : 2);
}

const STEPS = { ArrowUp: 0.1, ArrowDown: -0.1, PageUp: 1, PageDown: -1 };

function field(data, at, edit, which) {
  const kind = ["am-gradient-number am-gradient-field", which === at.chosen && "am-gradient-chosen"];
  const value = written(edit, read(at, edit));
  if (at.still) return h("span", { class: kind }, value);
  return h("input", {
    type: "number", step: "any", inputmode: "decimal", "aria-label": edit.name, class: kind, value: which === at.chosen ? at.typed ?? value : value,
    onfocus: () => ({ chosen: which, typed: null }),
    onkeydown(now, event) {
      const size = STEPS[event.key];
      if (!size || event.ctrlKey || event.altKey || event.metaKey) return null;
      event.preventDefault();
      return { typed: null, ...write(now, edit, Math.round(1e6 * (read(now, edit) + size)) / 1e6, data) };
    },
    oninput(now, event, play) {
      const { value: typed, valueAsNumber: number } = event.target;
      play.set({ typed, ...(Number.isFinite(number) ? write(now, edit, number, data) : {}) }, true);
    },
    onchange: () => ({ typed: null }),
  });
}

export function view(m, at, data) {
  const { words, query, memory, wanted } = data;
  const all = edits(data);
  const side = (value) => (value > 0 ? "am-gradient-up" : "am-gradient-down");
  const slope = (value) => [unseen(" gradient "), h("span", { class: ["am-gradient-slope", side(value)] }, signed(value, 3))];
  const shown = (value, places) => h("span", { class: "am-gradient-number" }, num(value, places));
  const given = (kind, ...place) => {
    const which = all.findIndex((edit) => edit.kind === kind && edit.place.join() === place.join());
    return field(data, at, all[which], which);
  };
  const bar = (value) => {
    const wide = 50 * Math.min(1, Math.abs(value) / FULL);
    return h("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      h("rect", { class: side(value), x: value > 0 ? 50 : 50 - wide, y: 1, width: wide, height: 6 }), h("line", { x1: 50, x2: 50, y1: 0, y2: 8 }));
  };
  const row = (name, ...cells) => h("tr", {}, h("th", { scope: "row" }, name), cells);
  const cell = (...parts) => h("td", {}, parts);
  return [
    h("table", { class: "am-table am-gradient-table" },
      h("thead", {}, h("tr", {}, h("td"), h("th", { scope: "colgroup", colspan: query.length }, "vector"), h("th", { scope: "col" }, "score"), h("th", { scope: "col" }, "weight"))),
      h("tbody", {},
        row("query", query.map((_, axis) => cell(given("query", axis), slope(m.atQuery[axis]))), cell(), cell()),
        words.map((word, place) => row(word,
          memory[place].map((_, axis) => cell(given("memory", place, axis), slope(m.atMemory[place][axis]))),
          cell(given("score", place), slope(m.atScores[place]), bar(m.atScores[place])),
          cell(shown(m.weights[place], 3), slope(m.atWeights[place])))),
        row("blend", m.context.map((number, axis) => cell(shown(number, 2), slope(m.atContext[axis]))),
          h("td", { class: "am-gradient-loss", colspan: 2, rowspan: 2 }, "loss ", shown(m.loss, 4))),
        row("wanted", wanted.map((_, axis) => cell(given("wanted", axis)))))),
    CONTROLS,
  ];
}

/* What the gradient foretells of the chosen number, and what becomes of the loss in truth. */
export function said({ loss, slope, change, atScores }, { chosen }, data) {
  const foretold = slope === null ? "This number is part of what was wanted. Training does not change it, so it needs no gradient."
    : `${capital(edits(data)[chosen].name)}: gradient ${signed(slope, 3)}. Raise this number by 0.1, and the loss should ` +
      `change by about ${signed(slope / 10, 4)}; it would change by ${signed(change, 4)}.`;
  return `Loss ${num(loss, 4)}. ${foretold} The gradients at the scores sum to ${signed(sum(atScores), 3)}.`;
}
