/* Query, keys and blend as arrows in the plane: a soft lookup that the reader turns by hand. */
import { arrow, arrowKeys, chart, choice, clamp, CONTROLS, dot, drag, h, label, line, num, panel, pointIn, reset, slider, softmax, sum, table } from "./kit.js";

const RULES = ["dot product", "Gaussian"];
const [UNIT, LEFT, TOP, WIDE, HIGH] = [50, -2.2, 2.5, 350, 250]; // of the drawing
const x = (point) => UNIT * (point[0] - LEFT);
const y = (point) => UNIT * (TOP - point[1]);
const place = (point) => [x(point), y(point)];

export const lines = [3, 4];

/* The query and the length of a key are kept in tenths. */
export const start = ({ query, temperature, length, score }) => ({ query, heat: temperature, long: length, rule: score });

export const controls = ({ words, stretched, temperatures, lengths: [min, max] }, at) => panel(at, "Turn what the weights depend on",
  slider("heat", "temperature", { max: temperatures.length - 1, show: temperatures }),
  slider("long", `length of ${words[stretched]}`, { min, max, show: (tenths) => (tenths / 10).toFixed(1) }),
  choice("rule", "score", RULES),
  reset());

export function model({ values, stretched, temperatures }, { query: tenths, heat, long, rule }) {
  const query = tenths.map((tenth) => tenth / 10);
  const keys = values.map((value, at) => value.map((number) => (at === stretched ? (number * long) / 10 / Math.hypot(...value) : number)));
  const scores = keys.map((key) => (rule ? -sum(key.map((number, axis) => (query[axis] - number) ** 2)) / 2 : dot(query, key)));
  const weights = softmax(scores.map((score) => score / temperatures[heat]));
  return { query, keys, scores, weights, blend: [0, 1].map((axis) => dot(weights, values.map((value) => value[axis]))) };
}

/* The corners of the convex hull, in order: Andrew's chains. */
function hull(points) {
  const sorted = [...points].sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const turn = ([a, b], [c, d], [e, f]) => (c - a) * (f - b) - (d - b) * (e - a);
  const chain = (list) => list.reduce((found, point) => {
    while (found.length > 1 && turn(found.at(-2), found.at(-1), point) <= 0) found.pop();
    return [...found, point];
  }, []).slice(0, -1);
  return [...chain(sorted), ...chain([...sorted].reverse())];
}

export function view(m, at, data) {
  const { query, keys, scores, weights, blend } = m;
  const { words, values, reach } = data;
  const move = (tenths) => ({ query: tenths.map((tenth, axis) => clamp(Math.round(tenth), 10 * reach[axis][0], 10 * reach[axis][1])) });
  const follow = ([right, down]) => move([10 * (right / UNIT + LEFT), 10 * (TOP - down / UNIT)]);
  const zero = place([0, 0]);
  const word = (key, which) => {
    const far = key.map((number) => number / Math.hypot(...key));
    const anchor = far[0] > 0.5 ? "start" : far[0] < -0.5 ? "end" : "middle";
    return label(x(key) + 20 * far[0], y(key) - 20 * far[1] + 5, words[which], "am-halo", { "text-anchor": anchor });
  };
  const handle = h("g", {
    class: "am-handle", tabindex: 0, role: "slider", "aria-roledescription": "arrow in the plane", "aria-label": "Tip of the query: arrow keys move it",
    "aria-valuemin": reach[0][0], "aria-valuemax": reach[0][1], "aria-valuenow": query[0], "aria-valuetext": query.map((number) => num(number, 1)).join(", "),
    ...drag(follow), ...arrowKeys(([right, up], { query: [one, other] }) => move([one + right, other + up])),
  },
  h("circle", { class: "am-hit", cx: x(query), cy: y(query), r: 18 }), h("circle", { class: "am-knob", cx: x(query), cy: y(query), r: 11 }),
  label(x(query), y(query) + 5, "q"));
  const plane = chart(WIDE, HIGH, {
    role: "group", "aria-label": said(m, at, data), onclick: (_, event) => !event.target.closest(".am-handle") && follow(pointIn(event)),
  },
  line(0, zero[1], WIDE, zero[1], "am-level"), line(zero[0], 0, zero[0], HIGH, "am-level"),
  h("polygon", { class: "am-arrows-hull", points: hull(values).map((point) => place(point).map((number) => number.toFixed(1)).join()).join(" ") }),
  keys.map((key, which) => h("path", { class: "am-arrow", d: arrow(zero, place(key)), "stroke-width": 1.5 + 6 * weights[which] })),
  values.map((value) => h("circle", { class: "am-arrows-value", cx: x(value), cy: y(value), r: 3.5 })),
  keys.map(word),
  h("path", { class: "am-arrow am-arrows-query", d: arrow(zero, place(query)) }),
  h("path", { class: "am-arrow am-arrows-blend", d: arrow(zero, place(blend)) }),
  label(x(blend), y(blend) + 18, "blend", "am-halo am-middle am-bold am-wine"),
  handle);
  const share = (weight) => h("svg", { class: "am-arrows-room", viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" }, h("rect", { class: "am-bar", width: 100 * weight, height: 12 }));
  return [h("div", { class: "am-arrows" }, plane, h("div", { class: "am-arrows-side" },
    table(["key", "score", { words: "weight", scope: "colgroup", colspan: 2 }], words.map((name, which) => [name, num(scores[which]), share(weights[which]), num(weights[which])])),
    h("p", { class: "am-arrows-sum" }, `blend (${blend.map((number) => num(number)).join(", ")})`))), CONTROLS];
}

export function said({ query, weights, blend }, { heat, long, rule }, { words, stretched, temperatures }) {
  const most = Math.max(...weights);
  const best = words.filter((_, at) => most - weights[at] < 1e-9);
  return `Query (${query.map((number) => num(number, 1)).join(", ")}), ${RULES[rule]}, temperature ${temperatures[heat]}, ` +
    `${words[stretched]} has length ${(long / 10).toFixed(1)}: ${best.join(" and ")} ${best.length === 1 ? "has" : "have"} ` +
    `the largest weight, ${num(most)}. The blend is (${blend.map((number) => num(number)).join(", ")}).`;
}
