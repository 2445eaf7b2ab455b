/* A softmax to touch: what the width of the vectors and the temperature do to its weights and derivatives. */
import { argmax, chart, h, label, line, num, panel, reset, slider, softmax, sum, table, tick } from "./kit.js";

const [ROW, TOP, LETTER, ROOM] = [28, 26, 9, 46]; // as wide as a letter, and as a number
const BARS = { weight: { long: 120, most: 1 }, derivative: { long: 90, most: 1 / 4 } };
const READINGS = [
  ["variance of the scores", "variance"], ["entropy, in nats", "entropy"],
  ["largest derivative", "steepest"], ["trace of the Jacobian", "trace"],
];

export const lines = [2, 4];

export const start = ({ width, temperature, divided }) => ({ width, temperature, divided });

export const controls = ({ widths, temperatures }, at) => panel(at, "Change the softmax",
  slider("width", "width d", { max: widths.length - 1, show: widths }),
  slider("temperature", "temperature", { max: temperatures.length - 1, show: temperatures }),
  tick("divided", "divide by the square root of d"), reset());

/* What softmax makes of scores, with the derivative of each weight by its own score. */
function made(scores) {
  const weights = softmax(scores);
  const derivatives = weights.map((weight) => weight * (1 - weight));
  const mean = sum(scores) / scores.length;
  return {
    scores, weights, derivatives,
    variance: sum(scores.map((score) => (score - mean) ** 2)) / scores.length,
    entropy: -sum(weights.map((weight) => (weight > 0 ? weight * Math.log(weight) : 0))),
    steepest: Math.max(...derivatives), trace: sum(derivatives),
  };
}

/* Filled is what the reader has set; dotted stays where the scores, divided, have their weights at temperature 1. */
export function model({ scores, widths, temperatures }, { width, temperature, divided }) {
  const scale = (divided ? 1 : Math.sqrt(widths[width])) / temperatures[temperature];
  return { filled: made(scores.map((score) => score * scale)), dotted: made(scores) };
}

/* Write a number that may be very small: 64, 0.038, 0.00012. */
function short(number) {
  if (number >= 10) return num(number, 0);
  if (number >= 0.01) return num(number, number >= 0.9995 ? 2 : 3);
  return number < 1e-6 ? "< 0.000001" : num(number, 1 - Math.floor(Math.log10(number)));
}

export function view({ filled, dotted }, at, { names }) {
  const edge = LETTER * Math.max(...names.map((name) => name.length)) + 4;
  const starts = { weight: edge + ROOM + 8, derivative: edge + 2 * ROOM + BARS.weight.long + 26 };
  const high = TOP + ROW * names.length + 2;
  const lying = (kind, y, value, outline) => {
    const { long, most } = BARS[kind];
    const wide = (one) => (long * one) / most;
    return [
      h("rect", { class: `am-bar am-softmax-${kind}`, x: starts[kind], y: y + 6, height: 16, width: wide(value) }),
      h("rect", { class: "am-outline", x: starts[kind], y: y + 2, height: 24, width: wide(outline) }),
      label(starts[kind] + long + ROOM, y + 19, num(value, 3), "am-end"),
    ];
  };
  return [
    chart(starts.derivative + BARS.derivative.long + ROOM, high, { class: "am-softmax-chart" },
      [["score", starts.weight - 8], ["weight α", starts.weight + 62], ["derivative", starts.derivative + 72]]
        .map(([title, x]) => label(x, 16, title, "am-end am-bold")),
      Object.values(starts).map((x) => line(x, TOP, x, high, "am-softmax-axis")),
      names.map((name, row) => {
        const y = TOP + ROW * row;
        return [
          label(edge, y + 19, name, "am-end"), label(starts.weight - 8, y + 19, num(filled.scores[row], 1), "am-end am-pale"),
          lying("weight", y, filled.weights[row], dotted.weights[row]), lying("derivative", y, filled.derivatives[row], dotted.derivatives[row]),
        ];
      })),
    table(["in numbers", "filled", "dotted"], READINGS.map(([name, key]) => [name, h("b", {}, short(filled[key])), short(dotted[key])])),
  ];
}

export function said({ filled }, { width, temperature, divided }, { names, widths, temperatures }) {
  const best = argmax(filled.weights);
  return `Width ${widths[width]}, scores ${divided ? "divided" : "not divided"} by its square root, temperature ${temperatures[temperature]}: ` +
    `most weight on ${names[best]}, ${num(filled.weights[best], 3)}. Entropy ${short(filled.entropy)}, largest derivative ${short(filled.steepest)}.`;
}
