/* Width and scale: the weights of one query, and the gradient that reaches many of them. */
import { bar, chart, clamp, h, label, levels, line, num, panel, range, reset, scale, slider, softmax, table, tick } from "./kit.js";

const [WIDE, HIGH, LEFT, RIGHT, AXIS, LANES] = [460, 284, 30, 446, 258, 9];
const DECADES = [-4, 1]; // of the axis; what is shorter or longer stands at its ends

export const lines = [2, 3];

export const start = ({ width, divided }) => ({ width, divided });

export const controls = ({ widths }, at) => panel(at, "Change width and scale",
  slider("width", "width d", { max: widths.length - 1, show: widths }), tick("divided", "divide by the square root of d"), reset());

function median(numbers) {
  const sorted = numbers.toSorted((one, other) => one - other);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

export function model({ widths, scores, lengths }, { width, divided }) {
  const factor = divided ? 1 / Math.sqrt(widths[width]) : 1;
  const weights = softmax(scores[width].map((score) => score * factor));
  const [now, scaled] = [lengths[Number(divided)][width], median(lengths[1][width])];
  return { weights, lengths: now, largest: Math.max(...weights), typical: median(now), scaled, fewer: now.filter((one) => one < scaled).length };
}

export function view({ weights, lengths, largest, typical, scaled, fewer }, at, { marked }) {
  const y = scale([0, 1], [124, 30]);
  const logged = scale(DECADES, [LEFT, RIGHT]);
  const x = (length) => logged(clamp(Math.log10(length), ...DECADES));
  const step = (RIGHT - LEFT) / weights.length;
  return [
    chart(WIDE, HIGH, {},
      label(LEFT, 18, `weights of the marked query for its ${weights.length} keys`, "am-bold"),
      levels([[1, "1"], [0, "0"]], y, LEFT, RIGHT),
      weights.map((weight, key) => bar(LEFT + step * (key + 0.12), 0.76 * step, y(0), y(0) - y(weight))),
      label(LEFT, 160, `length of the gradient at each of ${lengths.length} queries`, "am-bold"),
      line(LEFT, AXIS, RIGHT, AXIS, "am-level"),
      range(DECADES[1] - DECADES[0] + 1, DECADES[0]).map((power) => [
        label(logged(power), AXIS + 20, String(10 ** power), "am-axis am-middle"), line(logged(power), AXIS, logged(power), AXIS + 5, "am-level"),
      ]),
      line(x(scaled), 170, x(scaled), AXIS, "am-width-scaled"), line(x(typical), 170, x(typical), AXIS, "am-width-typical"),
      lengths.map((length, one) => h("circle", {
        class: ["am-width-dot", one === marked && "am-width-marked"], cx: x(length), cy: 182 + 8 * ((7 * one) % LANES), r: one === marked ? 6 : 4.5,
      }))),
    table(["in numbers", ""], [
      ["largest weight of the marked query", num(largest, 3)], ["gradient at the typical query", num(typical, 3)],
      ["the same if scores are divided by √d (dotted line)", num(scaled, 3)], ["queries to the left of the dotted line", fewer],
    ].map(([name, number]) => [name, h("b", {}, number)])),
  ];
}

export const said = ({ largest, typical, scaled }, { width, divided }, { widths }) =>
  `Width ${widths[width]}, scores ${divided ? "" : "not "}divided by √d: largest weight of the marked query ${num(largest, 3)}, gradient at the ` +
  `typical query ${num(typical, 3)}, with scores divided by √d ${num(scaled, 3)}.`;
