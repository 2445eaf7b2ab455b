/* The weights of one target word through a window around a position that the reader sets. */
import { bar, chart, choice, CONTROLS, h, label, line, num, panel, range, reset, scale, slider, softmax, sum } from "./kit.js";

const EDGES = ["hard edge", "Gaussian"];
const [COLUMN, BAR, TOP, BASE, HIGH] = [100, 44, 14, 184, 262]; // of the plot, in its units
const x = (place) => COLUMN * (place + 0.5);
const y = scale([0, 1], [BASE, TOP]);

export const lines = [3, 5];

/* The position is kept in tenths, the half width as a place in `halves`. */
export const start = ({ row, tenths, half, soft }) => ({ row, tenths, half, soft });

export const controls = ({ source, target, halves }, at) => panel(at, "Move the window",
  choice("row", "about to write", target),
  slider("tenths", "position p", { max: 10 * (source.length - 1), show: (tenths) => (tenths / 10).toFixed(1) }),
  slider("half", "half width D", { max: halves.length - 1, show: halves }),
  choice("soft", "window", EDGES),
  reset());

const bell = (distance, half) => Math.exp(-(distance ** 2) / (2 * (half / 2) ** 2));

export function model({ scores, links, halves }, { row, tenths, half: place, soft }) {
  const [position, half, wanted] = [tenths / 10, halves[place], links[row]];
  const distances = scores[row].map((_, at) => at - position);
  const inside = softmax(scores[row], distances.map((distance) => Math.abs(distance) <= half));
  const weights = inside.map((weight, at) => (soft ? weight * bell(distances[at], half) : weight));
  const slope = soft ? (weights[wanted] * distances[wanted]) / (half / 2) ** 2 : 0;
  return { position, half, wanted, weights, whole: softmax(scores[row]), total: sum(weights), slope };
}

export function view({ position, half, wanted, weights, whole, total, slope }, { soft }, { source }) {
  const column = (word, place) => [
    bar(x(place) - BAR / 2, BAR, BASE, BASE - y(weights[place])),
    bar(x(place) - BAR / 2, BAR, BASE, BASE - y(whole[place]), "am-outline am-window-whole"),
    label(x(place), BASE + 21, place, "am-middle am-pale"),
    label(x(place), BASE + 46, word, ["am-middle am-window-word", place === wanted && "am-bold am-window-wanted"]),
    label(x(place), BASE + 71, num(weights[place]), "am-middle am-bold am-window-weight"),
  ];
  const factor = range(41).map((step) => half * (step / 20 - 1))
    .map((far) => `${x(position + far).toFixed(1)} ${y(soft ? bell(far, half) : 1).toFixed(1)}`);
  const readings = [
    [`weight of ${source[wanted]}`, weights[wanted]], [`weight of ${source[wanted]} without a window`, whole[wanted]],
    ["all weights together", total], [`slope of the weight of ${source[wanted]} along p`, slope],
  ];
  return [
    chart(COLUMN * source.length, HIGH, { class: "am-window-chart" },
      bar(x(position - half), 2 * half * COLUMN, BASE, BASE - TOP, "am-window-sight"),
      line(0, BASE, COLUMN * source.length, BASE, "am-window-axis"),
      source.map(column),
      h("path", { class: "am-window-bell", d: `M${factor.join("L")}` }),
      line(x(position), TOP, x(position), BASE, "am-window-aim")),
    h("table", { class: "am-table am-window-readings" },
      h("tbody", {}, readings.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, num(value)))))),
    CONTROLS,
  ];
}

export function said({ position, half, wanted, weights, whole, total, slope }, { row, soft }, { source, target }) {
  const word = source[wanted];
  return `Writing ${target[row]} with p = ${position.toFixed(1)} and D = ${half}, ${EDGES[soft]}: ${word} has weight ` +
    `${num(weights[wanted])}, without a window ${num(whole[wanted])}. All weights add up to ${num(total)}. Moving p by a whole ` +
    `word would change the weight of ${word} by ${num(slope)}, if it went on as it begins.`;
}
