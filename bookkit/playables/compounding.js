/* Whole sentences by length, and what words that fail one by one would give. */
import { CONTROLS, chart, choice, h, label, levels, panel, range, reset, scale, slider } from "./kit.js";

const [LEFT, RIGHT, TOP, BASE, WIDE, HIGH] = [40, 506, 34, 216, 520, 262]; // of the drawing's plot, in its units
const MEASURES = ["whole sentences right", "BLEU"];
const NAMED_AT = 0.55; // the share of sentences at which the curve has its name
const MARKS = ["M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z", "M-5 -5L5 5M-5 5L5 -5"]; // a disc, a cross

export const lines = [2, 3];

export const start = ({ chance }) => ({ chance, measure: 0 });

export const controls = ({ chances }, at) => panel(at, "Change the chance of a word, or the measure",
  slider("chance", "chance of a word", { max: chances.length - 1, show: (place) => `${chances[place]} %`, off: at.measure === 1 }),
  choice("measure", "show", MEASURES),
  reset());

/* The axis ends at the next ten beyond the longest group; `curve` has a point for every half word. */
export function model({ bins, chances, values }, at) {
  const share = chances[at.chance] / 100;
  const whole = (words) => 100 * share ** words;
  const middles = bins.map(([low, high]) => (low + high) / 2);
  const last = 10 * Math.ceil(bins.at(-1)[1] / 10);
  const named = Math.min(0.7 * last, share === 1 ? last : Math.log(NAMED_AT) / Math.log(share));
  const curve = range(2 * last + 1).map((half) => whole(half / 2));
  return { middles, last, whole: middles.map(whole), curve, named: [named, whole(named)], values: values[at.measure] };
}

export function view({ middles, last, whole, curve, named, values }, { chance, measure }, { bins, names, longest, chances, values: both }) {
  const [x, y] = [scale([0, last], [LEFT, RIGHT]), scale([0, 100], [BASE, TOP])];
  const path = (points) => `M${points.map(([words, percent]) => `${x(words).toFixed(1)} ${y(percent).toFixed(1)}`).join("L")}`;
  const unseen = x(Math.min(longest + 0.5, last));
  const series = (name, kind) => {
    const points = values[kind].map((value, at) => [middles[at], value]);
    const [words, percent] = points[Math.floor(points.length / [4, 2][kind])];
    return h("g", { class: ["am-compounding-series", kind === 1 && "am-compounding-other"] },
      h("path", { class: "am-compounding-line", d: path(points) }),
      points.map(([right, up]) => h("path", { class: "am-compounding-mark", d: MARKS[kind], transform: `translate(${x(right).toFixed(1)} ${y(up).toFixed(1)})` })),
      label(x(words), y(percent) + [24, -11][kind], name, "am-bold"));
  };
  return [
    chart(WIDE, HIGH, {},
      unseen < RIGHT && [
        h("rect", { class: "am-compounding-beyond", x: unseen, y: TOP, width: RIGHT - unseen, height: BASE - TOP }),
        label((unseen + RIGHT) / 2, y(40), "unseen lengths", "am-axis am-middle"),
      ],
      levels([[0, "0"], [50, "50"], [100, "100"]], y, LEFT, RIGHT),
      range(last / 10, 1).map((tens) => label(x(10 * tens), BASE + 20, 10 * tens, "am-axis am-middle")),
      label(0, 16, measure ? MEASURES[1] : `${MEASURES[0]} (%)`, "am-bold"),
      label(RIGHT, BASE + 40, "words in the sentence", "am-axis am-end"),
      h("g", { class: ["am-compounding-chance", measure === 1 && "am-none"] },
        h("path", { d: path(curve.map((percent, half) => [half / 2, percent])) }),
        label(x(named[0]) + 7, y(named[1]) - 7, `${chances[chance]} % a word`, "am-bold")),
      names.map(series)),
    h("table", { class: "am-table am-compounding-table" },
      h("thead", {},
        h("tr", {}, h("th", { rowspan: 2, scope: "col" }, "words"), h("th", { colspan: 3, scope: "colgroup" }, "whole sentences, %"), h("th", { colspan: 2, scope: "colgroup" }, "BLEU")),
        h("tr", {}, h("th", { scope: "col", class: "am-compounding-whole" }, `at ${chances[chance]}\u00a0%`, h("br"), "a\u00a0word"), [...names, ...names].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, bins.map(([low, high], at) => h("tr", {}, h("th", { scope: "row" }, `${low}\u2013${high}`),
        h("td", { class: "am-compounding-whole" }, whole[at].toFixed(0)), both.flat().map((list) => h("td", {}, list[at].toFixed(0))))))),
    CONTROLS,
  ];
}

export function said({ middles, whole }, { chance, measure }, { chances }) {
  if (measure) return "BLEU gives credit for every right stretch of up to four words.";
  const share = (at) => `${whole.at(at).toFixed(0)} of 100 sentences of ${middles.at(at)} words`;
  return `If each word is right with ${chances[chance]} % chance, then ${share(0)} are right, and ${share(-1)}.`;
}
