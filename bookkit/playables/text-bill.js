/* The bill of a text: what projections, feed-forward layers and pairs of tokens cost, by its length. */
import { arrowKeys, chart, clamp, drag, h, label, levels, line, num, panel, pointIn, range, reset, scale, select, slider, sum, table, tick, whole } from "./kit.js";

const [WIDE, HIGH, LEFT, RIGHT, TOP, BASE] = [504, 262, 56, 484, 34, 216]; // of the curves
const UNIT = 108; // of the bars: the width of this text's
const PARTS = ["projections", "feed-forward", "scores and blend"];
const TONES = ["am-bill-projections", "am-bill-feed", "am-bill-pairs"];
const FAR = 2 ** 40; // tokens, more than any text has

export const lines = [3, 6];

export const start = ({ width, length }) => ({ which: 0, width, length, allowed: false });

export const controls = ({ models, lengths, widths }, at) => panel(at, "Choose a model, and the length of the text",
  select("which", "model", models.map(({ name }) => name)),
  slider("width", "width e", { max: widths.length - 1, show: (place) => whole(widths[place]), off: models[at.which].layers !== null }),
  slider("length", "tokens", { max: lengths.length - 1, show: (place) => whole(lengths[place]) }),
  tick("allowed", "count only the pairs that the masks allow"), reset());

/* Layers that cost alike: how many, operations of a token in its products with weights, and of a pair. */
const layersOf = ({ models, widths }, { which, width }) =>
  models[which].layers ?? [{ count: 1, projections: 8 * widths[width] ** 2, feed: 16 * widths[width] ** 2, pair: 4 * widths[width], window: null }];

/* Pairs of a query and a key: all, or those that a causal mask and a window allow. */
function pairs(n, window, allowed) {
  const full = Math.min(n, window ?? n);
  return allowed ? (full * (full + 1)) / 2 + (n - full) * full : n * n;
}

const bill = (layers, n, allowed) => ["projections", "feed", "pair"].map((part) =>
  sum(layers.map((one) => one.count * one[part] * (part === "pair" ? pairs(n, one.window, allowed) : n))));

/* The least length at which the pairs cost as much as all the rest. */
function half(layers, allowed) {
  let [low, high] = [0, FAR];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const [projections, feed, pair] = bill(layers, middle, allowed);
    if (pair < projections + feed) low = middle;
    else high = middle;
  }
  return high;
}

export function model(data, at) {
  const [layers, n] = [layersOf(data, at), data.lengths[at.length]];
  const shares = (parts) => parts.map((part) => part / sum(parts));
  const [now, twice] = [bill(layers, n, at.allowed), bill(layers, 2 * n, at.allowed)];
  return {
    tokens: n, now, twice, shares: shares(now), factor: sum(twice) / sum(now), half: half(layers, at.allowed),
    curves: data.lengths.map((length) => shares(bill(layers, length, at.allowed))),
  };
}

function operations(count) {
  const thousands = clamp(Math.floor(Math.log10(count) / 3), 0, 6);
  return `${Number((count / 1000 ** thousands).toPrecision(3))} ${["", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion"][thousands]}`.trim();
}

const percent = (share) => (share < 0.001 ? "under 0.1 %" : `${num(100 * share, share < 0.0995 ? 1 : 0)} %`);

export function view({ tokens, now, twice, shares, factor, half: middle, curves }, at, { lengths }) {
  const [log, y] = [scale([lengths[0], lengths.at(-1)].map(Math.log), [LEFT, RIGHT]), scale([0, 1], [BASE, TOP])];
  const x = (n) => log(Math.log(n));
  const nearest = ([across]) => {
    const far = lengths.map((n) => Math.abs(x(n) - across));
    return { length: far.indexOf(Math.min(...far)) };
  };
  const curve = (part) => h("path", { class: ["am-bill-line", TONES[part]], d: `M${lengths.map((n, place) => `${x(n).toFixed(1)} ${y(curves[place][part]).toFixed(1)}`).join("L")}` });
  const row = (parts, top, name, words) => [
    label(0, top, name, ""),
    parts.map((part, place) => h("rect", { class: ["am-bill-bar", TONES[place]], x: (UNIT * sum(parts.slice(0, place))) / sum(now), width: (UNIT * part) / sum(now), y: top + 7, height: 22 })),
    label((UNIT * sum(parts)) / sum(now) + 8, top + 23, words, "am-bold"),
  ];
  return [
    chart(WIDE, HIGH, { role: "group", "aria-label": "The shares of the bill by the length of the text", onclick: (_, event) => nearest(pointIn(event)) },
      label(0, 16, "share of the work", "am-bold"),
      levels([[0, "0"], [0.5, "50 %"], [1, "100 %"]], y, LEFT, RIGHT),
      range(5, 2).map((power) => label(x(10 ** power), BASE + 20, power < 6 ? whole(10 ** power) : "million", "am-axis am-middle")),
      label(RIGHT, BASE + 40, "tokens in the text", "am-axis am-end"),
      PARTS.map((_, part) => curve(part)),
      [0, 1].map((part) => label(LEFT + 6, y(curves[0][part]) - 8, PARTS[part], ["am-bold", TONES[part]])),
      label(RIGHT, y(curves.at(-1)[2]) - 9, PARTS[2], ["am-bold am-end", TONES[2]]),
      middle <= lengths.at(-1) && h("circle", { class: "am-bill-half", cx: x(middle), cy: y(0.5), r: 5 }),
      line(x(tokens), TOP, x(tokens), BASE, "am-mark"),
      h("g", {
        class: "am-handle", tabindex: 0, role: "slider", "aria-label": "tokens in the text", "aria-orientation": "horizontal",
        "aria-valuemin": lengths[0], "aria-valuemax": lengths.at(-1), "aria-valuenow": tokens, ...drag(nearest),
        ...arrowKeys(([right, up], { length }) => ({ length: clamp(length + (right || up), 0, lengths.length - 1) })),
      },
      h("circle", { class: "am-hit", cx: x(tokens), cy: BASE, r: 18 }), h("circle", { class: "am-knob", cx: x(tokens), cy: BASE, r: 8 }))),
    chart(WIDE, 92, { "aria-hidden": "true" }, row(now, 12, "this text", ""), row(twice, 58, "a text twice as long", `\u00d7 ${num(factor)}`)),
    table(["part", "operations", "share"], PARTS.map((name, part) => [name, operations(now[part]), percent(shares[part])]), { foot: [["together", operations(sum(now)), ""]] }),
  ];
}

export function said({ tokens, shares, factor, half: middle }, at, { models, page }) {
  const pages = (n) => (n < page ? "" : `, about ${whole(Math.round(n / page))} page${n < 1.5 * page ? "" : "s"}`);
  const where = `They are at least half of it from ${whole(middle)} tokens on${pages(middle)}.`;
  return `${models[at.which].name}, ${whole(tokens)} tokens${pages(tokens)}: scores and blend are ${percent(shares[2])} of the work. ${where} Twice this length makes ${num(factor)} times the work.`;
}
