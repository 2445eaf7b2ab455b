/* A softmax that the reader computes in narrow numbers, until it overflows or vanishes. */
import { chart, choice, h, label, line, num, panel, slider, tick } from "./kit.js";

const [WIDE, ROW, TOP] = [504, 29, 28];
const [SCORE, EXPONENT, POWER, LEFT, BAR] = [128, 205, 296, 312, 118]; // where numbers end and bars begin
const LEAST = 0.01; // in per cent: smaller errors of a weight are not told apart

export const lines = [3, 5];

export const start = ({ shift, kind, safe }) => ({ shift, kind, safe });

const signed = (number) => (number < 0 ? num(number, 0) : `+${number}`);

export const controls = ({ shifts, kinds }, at) => panel(at, "Change the scores and the type",
  slider("shift", "add to every score", { max: shifts.length - 1, show: (place) => signed(shifts[place]) }),
  choice("kind", "Numbers", kinds.map(({ name }) => name)), tick("safe", "subtract the largest score first"));

/* Round to the nearest number of a type, ties to even, as a processor does. */
function rounded(value, { digits, lowest, largest }) {
  const size = Math.abs(value);
  if (size === 0 || !Number.isFinite(size)) return value;
  let power = Math.floor(Math.log2(size));
  if (2 ** power > size) power -= 1;
  else if (2 ** (power + 1) <= size) power += 1;
  const unit = 2 ** (Math.max(power, lowest) - digits + 1);
  const whole = Math.floor(size / unit);
  const rest = size / unit - whole;
  const near = (whole + Number(rest > 0.5 || (rest === 0.5 && whole % 2 === 1))) * unit;
  return Math.sign(value) * (near > largest ? Infinity : near);
}

/* The steps of a softmax, the result of each one rounded; what is no finite number is its name, as in JSON. */
export function model({ scores, exact, shifts, kinds }, { shift, kind, safe }) {
  const round = (value) => rounded(value, kinds[kind]);
  const stored = scores.map((score) => round(score + shifts[shift]));
  const highest = Math.max(...stored);
  const exponents = safe ? stored.map((score) => round(score - highest)) : stored;
  const powers = exponents.map((exponent) => round(Math.exp(exponent)));
  const total = powers.reduce((before, power) => round(before + power), 0);
  const weights = powers.map((power) => round(power / total));
  const worst = 100 * Math.max(...weights.map((weight, at) => Math.abs(weight - exact[at]) / exact[at]));
  const named = (value) => (Array.isArray(value) ? value.map(named) : Number.isFinite(value) ? value : String(value));
  const found = { stored, exponents, powers, total, weights, worst };
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, named(value)]));
}

/* Write a number of any size in a few letters: NaN, inf, 0, 2.718, 1.65e38. */
function short(value) {
  if (typeof value === "string") return value === "NaN" ? value : "inf";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 0.001 && size < 100000) return num(value, Math.max(0, 3 - Math.max(0, Math.floor(Math.log10(size)))));
  return value.toExponential(2).replace("e+", "e").replaceAll("-", "\u2212");
}

export function view({ stored, exponents, powers, total, weights }, at, { names, exact }) {
  const foot = TOP + ROW * names.length;
  const number = (value, x, y, kind) => label(x, y + 21, short(value), `am-end ${typeof value === "string" ? "am-bold am-wine" : kind ?? ""}`);
  const heads = [["score", SCORE], ["into exp", EXPONENT], ["exp", POWER], ["weight", WIDE - 4]];
  return chart(WIDE, foot + 32, {},
    heads.map(([title, x]) => label(x, 18, title, "am-end am-pale")),
    names.map((name, row) => {
      const y = TOP + ROW * row;
      const long = (weight) => BAR * Math.min(weight, 1) || 0;
      return [
        label(0, y + 21, name, "am-narrow-word"), number(stored[row], SCORE, y), number(exponents[row], EXPONENT, y), number(powers[row], POWER, y),
        h("rect", { class: "am-bar", x: LEFT, y: y + 7, height: 16, width: long(weights[row]) }),
        h("rect", { class: "am-outline", x: LEFT, y: y + 4, height: 22, width: long(exact[row]) }),
        number(weights[row], WIDE - 4, y, "am-bold"),
      ];
    }),
    line(EXPONENT + 20, foot + 1, POWER, foot + 1, "am-level"), label(0, foot + 22, "sum", "am-pale"), number(total, POWER, foot, "am-bold"));
}

function finding({ powers, total, worst }) {
  if (powers.includes("Infinity")) return "exp is too large for this type: inf / inf is NaN.";
  if (total === "Infinity") return "Every exp still fits, but their sum does not: all weights are 0, and nothing warns you.";
  if (total === 0) return "Every exp is rounded to 0, and 0 / 0 is NaN.";
  return `All weights are numbers; the worst one is off by ${worst > LEAST ? `${short(worst)} %` : `less than ${LEAST} %`}.`;
}

export const said = (m, { shift, kind, safe }, { shifts, kinds }) =>
  `${kinds[kind].name}, ${signed(shifts[shift])} on every score, ${safe ? "the largest score subtracted first" : "nothing subtracted"}. ${finding(m)}`;
