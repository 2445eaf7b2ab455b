/* A query to drag over memories in the plane: scores, weights and context follow. */
import { argmax, arrow, arrowKeys, chart, choice, clamp, CONTROLS, dot, drag, h, hint, label, line, num, panel, pointIn, range, reset, slider, softmax, sum, table } from "./kit.js";

const RULES = ["dot product", "Gaussian"];
const [WIDE, EDGE] = [288, 22]; // of the drawing

export const lines = [2, 4];

/* The query and the length of a key are kept in tenths. */
export const start = ({ query, asked, heat, long }) => ({ query, asked, heat, long, rule: 0 });

export const controls = ({ words, queries, temperatures, stretched, gaussian }, at) => panel(at, "Move the query, and what the weights depend on",
  queries.length > 0 && choice("asked", "to write", queries.map(({ name }) => name), { then: ({ asked }) => ({ query: queries[asked].query }) }),
  temperatures.length > 1 && slider("heat", "temperature", { max: temperatures.length - 1, show: temperatures }),
  stretched !== null && slider("long", `length of ${words[stretched]}`, { min: 5, max: 35, show: (tenths) => (tenths / 10).toFixed(1) }),
  gaussian && choice("rule", "score", RULES),
  reset(), hint("Drag q, or press the arrow keys on it."));

export function model({ memories, temperatures, stretched }, { query: tenths, heat, long, rule }) {
  const query = tenths.map((tenth) => tenth / 10);
  const keys = memories.map((memory, at) => memory.map((number) => (at === stretched ? (number * long) / 10 / Math.hypot(...memory) : number)));
  const scores = keys.map((key) => (rule ? -sum(key.map((number, axis) => (query[axis] - number) ** 2)) / 2 : dot(query, key)));
  const weights = softmax(scores.map((score) => score / temperatures[heat]));
  return { query, keys, scores, weights, context: [0, 1].map((axis) => dot(weights, memories.map((memory) => memory[axis]))) };
}

const vector = (numbers, places) => `(${numbers.map((number) => num(number, places)).join(", ")})`;
const tidy = (numbers) => vector(numbers, numbers.every(Number.isInteger) ? 0 : 2);

export function view(m, at, data) {
  const { query, keys, scores, weights, context } = m;
  const { words, memories, hull, reach: [[left, right], [low, high]], best, fixed } = data;
  const unit = WIDE / (right - left);
  const place = ([x, y]) => [EDGE + unit * (x - left), EDGE + unit * (high - y)];
  const mark = (point, words, kind, [right, down] = [0, 5]) => label(place(point)[0] + right, place(point)[1] + down, words, ["am-halo", kind].flat());
  const dotted = (point, r, kind) => h("circle", { class: kind, cx: place(point)[0], cy: place(point)[1], r });
  const move = (tenths) => ({ asked: -1, query: tenths.map((tenth, axis) => clamp(Math.round(tenth), 10 * data.reach[axis][0], 10 * data.reach[axis][1])) });
  const follow = ([right, down]) => move([10 * ((right - EDGE) / unit + left), 10 * (high - (down - EDGE) / unit)]);
  const ruled = (from, to, value) => line(...place(from), ...place(to), value === 0 ? "am-query-axis" : "am-level");
  const beyond = (point, words, kind = "") => {
    const far = point.map((number) => number / (Math.hypot(...point) || 1));
    return mark(point, words, [kind, far[0] > 0.5 ? "" : far[0] < -0.5 ? "am-end" : "am-middle"], [12 * far[0], 5 - 15 * far[1]]);
  };
  const handle = h("g", {
    class: "am-handle", tabindex: 0, role: "slider", "aria-roledescription": "arrow in the plane", "aria-label": "Tip of the query: arrow keys move it",
    "aria-valuemin": left, "aria-valuemax": right, "aria-valuenow": query[0], "aria-valuetext": query.map((number) => num(number, 1)).join(", "),
    ...drag(follow), ...arrowKeys(([right, up], { query: [one, other] }) => move([one + right, other + up])),
  }, dotted(query, 18, "am-hit"), dotted(query, 11, "am-knob"), label(place(query)[0], place(query)[1] + 5, "q"));
  const plane = chart(WIDE + 2 * EDGE, unit * (high - low) + 2 * EDGE, {
    role: "group", "aria-label": said(m, at, data), onclick: (_, event) => !event.target.closest(".am-handle") && follow(pointIn(event)),
  },
  range(right - left + 1, left).map((x) => [ruled([x, low], [x, high], x), mark([x, low], num(x, 0), "am-pale am-middle", [0, 19])]),
  range(high - low + 1, low).map((y) => [ruled([left, y], [right, y], y), y > low && mark([left, y], num(y, 0), "am-pale am-end", [-6, 5])]),
  h("polygon", { class: "am-query-hull", points: hull.map((point) => place(point).join()).join(" ") }),
  keys.map((key, which) => h("path", { class: "am-arrow", d: arrow(place([0, 0]), place(key)), "stroke-width": 1.5 + 6 * weights[which] })),
  memories.map((memory) => dotted(memory, 3.5, "am-query-memory")),
  best && dotted(memories[argmax(scores)], 9, "am-query-best"),
  keys.map((key, which) => beyond(key, words[which])),
  fixed && [dotted(fixed.at, 6, "am-query-fixed"), mark(fixed.at, fixed.name, "am-end", [-10, 5])],
  h("path", { class: "am-arrow am-query-asked", d: arrow(place([0, 0]), place(query)) }),
  h("path", { class: "am-arrow am-query-context", d: arrow(place([0, 0]), place(context)) }),
  beyond(context, "c", "am-bold am-wine"), handle);
  const share = (weight) => h("svg", { class: "am-query-share", viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" }, h("rect", { class: "am-bar", width: 100 * weight, height: 12 }));
  return [h("div", { class: "am-query" }, plane, h("div", { class: "am-query-side" },
    table(["word", "score", { words: "weight", scope: "colgroup", colspan: 2 }], words.map((name, which) => [name, num(scores[which]), share(weights[which]), num(weights[which])])),
    h("p", { class: "am-query-sum" }, `c = ${memories.map((memory, which) => `${num(weights[which])} \u00b7 ${tidy(memory)}`.replaceAll(" ", "\u00a0")).join(" + ")}`, h("b", {}, `= ${vector(context)}`)))), CONTROLS];
}

export function said({ query, scores, weights, context }, { rule, heat, long }, { words, memories, temperatures, stretched, gaussian, best, fixed }) {
  const most = Math.max(...weights);
  const first = words.filter((_, at) => most - weights[at] < 1e-9);
  return [
    `Query ${vector(query, 1)}`, gaussian && RULES[rule], temperatures.length > 1 && `temperature ${temperatures[heat]}`,
    stretched !== null && `${words[stretched]} has length ${(long / 10).toFixed(1)}`,
  ].filter(Boolean).join(", ") + `: ${first.join(" and ")} ${first.length > 1 ? "have" : "has"} the largest weight, ${num(most)}, ` +
    `and the context is ${vector(context)}.${best ? ` The best word alone would give ${tidy(memories[argmax(scores)])}.` : ""}` +
    (fixed ? ` The ${fixed.name} is ${vector(fixed.at)}, whatever the query.` : "");
}
