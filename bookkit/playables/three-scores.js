/* One query and three scores: the reader drags the query, and each score says which word it finds. */
import { argmax, arrow, arrowKeys, chart, CONTROLS, dot, drag, grid, h, label, line, num, panel, pointIn, reset, softmax, sum } from "./kit.js";

const RULES = ["dot", "general", "concat"];
const [UNIT, LEFT, TOP, WIDE, HIGH] = [58, -2.75, 2.75, 319, 319]; // of the drawing
const x = (point) => UNIT * (point[0] - LEFT);
const y = (point) => UNIT * (TOP - point[1]);
const place = (point) => [x(point), y(point)];

export const lines = [2, 3];

/* The query is kept in tenths, and is never longer than `reach`. */
export const start = ({ query }) => ({ query });

export const controls = (data, at) => panel(at, "Go back", reset());

export function model({ memory, turn, counts }, { query: tenths }) {
  const query = tenths.map((tenth) => tenth / 10);
  const turned = [0, 1].map((column) => sum(query.map((number, row) => number * turn[row][column])));
  const scores = [
    memory.map((one) => dot(query, one)), memory.map((one) => dot(turned, one)),
    memory.map((one) => dot(counts, one.map((number, axis) => Math.tanh(query[axis] + number)))),
  ];
  return { query, turned, scores, weights: scores.map((row) => softmax(row)), best: scores.map(argmax) };
}

export function view(m, at, data) {
  const { query, turned, weights } = m;
  const { words, memory, reach } = data;
  const move = (tenths) => {
    const shrink = Math.min(1, (10 * reach) / (Math.hypot(...tenths) || 1));
    return { query: tenths.map((tenth) => Math.round(tenth * shrink)) };
  };
  const follow = ([right, down]) => move([10 * (right / UNIT + LEFT), 10 * (TOP - down / UNIT)].map(Math.round));
  const zero = place([0, 0]);
  const handle = h("g", {
    class: "am-handle", tabindex: 0, role: "slider", "aria-roledescription": "arrow in the plane", "aria-label": "Tip of the query: arrow keys move it",
    "aria-valuemin": -reach, "aria-valuemax": reach, "aria-valuenow": query[0], "aria-valuetext": query.map((number) => num(number, 1)).join(", "),
    ...drag(follow), ...arrowKeys(([right, up], { query: [one, other] }) => move([one + right, other + up])),
  },
  h("circle", { class: "am-hit", cx: x(query), cy: y(query), r: 18 }), h("circle", { class: "am-knob", cx: x(query), cy: y(query), r: 11 }),
  label(x(query), y(query) + 5, "q"));
  const plane = chart(WIDE, HIGH, {
    role: "group", "aria-label": said(m, at, data), onclick: (_, event) => !event.target.closest(".am-handle") && follow(pointIn(event)),
  },
  line(0, zero[1], WIDE, zero[1], "am-level"), line(zero[0], 0, zero[0], HIGH, "am-level"),
  memory.map((one) => h("path", { class: "am-arrow", d: arrow(zero, place(one)), "stroke-width": 2.5 })),
  memory.map((one, which) => label(x(one) + (one[0] > 1.5 ? 3 : 8), y(one) - 9, words[which], ["am-halo", one[0] > 1.5 && "am-end"])),
  h("path", { class: "am-arrow am-scores-turned", d: arrow(zero, place(turned)) }),
  h("path", { class: "am-arrow am-scores-query", d: arrow(zero, place(query)) }), handle);
  return [h("div", { class: "am-scores" }, plane, grid({
    rows: RULES, columns: words, corner: "score", kind: "am-read",
    cell: (row, column) => ({ weight: weights[row][column], words: num(weights[row][column]) }),
  })), CONTROLS];
}

export const said = ({ query, best }, at, { words }) => `With the query (${query.map((number) => num(number, 1)).join(", ")}), ` +
  `dot gives the largest weight to ${words[best[0]]}, general to ${words[best[1]]}, and concat to ${words[best[2]]}.`;
