/* The online softmax (Milakov & Gimelshein, 2018), one block at a time. */
import { SAID, bar, chart, label, levels, line, num, panel, range, reset, select, stepKeys, steps, sum, table, tick } from "./kit.js";

const [LEFT, BASE, WIDE, TALL] = [56, 164, 480, 134]; // of the plot, in its units
const ORDERS = ["as read", "backwards", "shuffled"];

export const lines = [3, 4];

export const start = ({ block }) => ({ size: block - 1, order: 0, forget: false, step: 0 });

/* Paper shows the block at which the bars before it shrink most. */
export function still(data) {
  const { steps: all } = model(data, start(data));
  const factors = all.map(({ factor }, at) => (at ? factor : 1));
  return { ...start(data), step: factors.indexOf(Math.min(...factors)) };
}

export const controls = ({ words }, at) => panel(at, "Take the blocks in",
  steps("step", blocks(words, at)),
  select("size", "words per block", range(words.length, 1), { then: { step: 0 }, grows: true }),
  select("order", "order", ORDERS, { then: { step: 0 } }),
  tick("forget", "forget to rescale"),
  reset());

export const keys = (at, { words }) => stepKeys(at, "step", blocks(words, at));

const blocks = (words, { size }) => Math.ceil(words.length / (size + 1));

/* Fisher and Yates, with a generator that every browser has alike. */
function shuffled(list) {
  const order = [...list];
  let state = 2;
  for (let last = order.length - 1; last > 0; last -= 1) {
    state = (state * 1664525 + 1013904223) % 4294967296;
    const other = Math.floor((state / 4294967296) * (last + 1));
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

/* Of the blocks before, three numbers are kept: maximum, sum and blend. The heights are what each word
   has contributed to the sum so far: they are drawn, and never read. */
function takeIn(scores, values, size, forget) {
  const all = [];
  let [highest, total, blend, heights] = [-Infinity, 0, 0, scores.map(() => 0)];
  for (let first = 0; first < scores.length; first += size) {
    const [before, oldTotal, oldBlend, old] = [highest, total, blend, heights];
    const block = scores.slice(first, first + size);
    highest = Math.max(before, ...block);
    const due = Math.exp(before - highest);
    const factor = forget && first ? 1 : due;
    const powers = block.map((score) => Math.exp(score - highest));
    const [more, moreBlend] = [sum(powers), sum(powers.map((power, at) => power * values[first + at]))];
    [total, blend] = [oldTotal * factor + more, oldBlend * factor + moreBlend];
    heights = old.map((height, at) => powers[at - first] ?? height * factor);
    all.push({ first, last: first + block.length, before: first ? before : null, highest, due, factor, old, heights, oldTotal, oldBlend, more, moreBlend, total, blend, answer: blend / total });
  }
  return all;
}

export function model({ scores, values, words }, { size, order, forget }) {
  const places = range(words.length);
  const read = [places, [...places].reverse(), shuffled(places)][order];
  const [mine, theirs] = [read.map((at) => scores[at]), read.map((at) => values[at])];
  const [whole] = takeIn(mine, theirs, words.length, false);
  return { read, steps: takeIn(mine, theirs, size + 1, forget), whole, weights: whole.heights.map((height) => height / whole.total) };
}

const far = (one, other) => Math.abs(one - other) > 1e-9;

export function view({ read, steps: all, whole, weights }, { step: place }, { words, scores, values }) {
  const done = place === all.length;
  const step = all[done ? place - 1 : place];
  const room = (WIDE - LEFT) / words.length;
  const short = (number) => num(number, Number.isInteger(number) ? 0 : 1);
  const slot = (word, at) => {
    const [left, width, middle] = [LEFT + room * (at + 0.1), room * 0.8, LEFT + room * (at + 0.5)];
    const [seen, height] = [at < step.last, step.heights[at]];
    const stale = seen && far(height, Math.exp(scores[word] - step.highest));
    const kind = ["am-bar am-moves", !done && seen && at >= step.first && "am-new", stale && "am-false"];
    const before = done ? height : step.factor < 1 ? step.old[at] : 0;
    const y = BASE - TALL * weights[at];
    const below = (words_, down, bold) => label(middle, BASE + down, words_, ["am-middle", bold && "am-bold", !seen && "am-pale"]);
    return [
      bar(left, width, BASE, TALL * (done ? height / step.total : height), kind),
      bar(left, width, BASE, TALL * before, ["am-outline am-moves", before === 0 && "am-none"]),
      line(left - 2, y, left + width + 2, y, ["am-mark", !done && "am-none"]),
      below(words[word], 19), below(short(scores[word]), 39), below(short(values[word]), 59),
    ];
  };
  const title = done ? `weight = exp(score \u2212 \u03bc) / Z, Z = ${num(step.total)}` : `exp(score \u2212 \u03bc), \u03bc = ${num(step.highest, 1)}`;
  const [from, to] = [LEFT + room * step.first + 3, LEFT + room * step.last - 3];
  const cells = ({ highest, factor, due, total, blend, answer }, row) => [
    num(highest, 1), row ? { words: num(factor), class: factor !== due && "am-wrong" } : "\u2013", num(total), num(blend), num(answer),
  ];
  const state = (row) => ({ class: [row > place && "am-later", row === place && "am-now"] });
  return [
    chart(WIDE, 252, {},
      label(0, 15, title, "am-bold"),
      levels([[0, "0"], [0.5, "\u00bd"], [1, "1"]], (level) => BASE - TALL * level, LEFT, WIDE),
      label(LEFT - 12, BASE + 39, "score", "am-axis am-end"), label(LEFT - 12, BASE + 59, "value", "am-axis am-end"),
      read.map(slot),
      line(from, BASE + 67, to, BASE + 67, ["am-mark", done && "am-none"]),
      label((from + to) / 2, BASE + 84, `block ${place + 1}`, ["am-middle", done && "am-none"])),
    SAID,
    table(["block", "\u03bc", "factor", "sum Z", "blend b", "b / Z"],
      all.map((one, row) => ({ ...state(row), cells: [row + 1, ...cells(one, row)] })),
      { foot: [{ ...state(all.length), cells: ["all at once", ...cells(whole, 0)] }] }),
  ];
}

export function said({ steps: all, whole }, { step: place, forget }) {
  if (place === all.length) {
    const { answer } = all[place - 1];
    const both = `Block by block the answer is ${num(answer)}, and all at once ${num(whole.answer)}`;
    if (far(answer, whole.answer)) return `${both}: wrong, because earlier bars were not rescaled.`;
    const lucky = forget ? ", because no later block had a larger score" : "";
    return `${both}: the same${lucky}. The gold marks are the weights, all at once.`;
  }
  const { before, highest, due, factor, total, blend, oldTotal, oldBlend, more, moreBlend } = all[place];
  const name = `Block ${place + 1} of ${all.length}`;
  if (place === 0) return `${name}. The largest score is \u03bc = ${num(highest, 1)}. Z = ${num(total)}, b = ${num(blend)}.`;
  const grown = (old, plus, end) => `${num(old)} \u00d7 ${num(factor)} ${plus < 0 ? "\u2212" : "+"} ${num(Math.abs(plus))} = ${num(end)}`;
  const numbers = `Z = ${grown(oldTotal, more, total)}, b = ${grown(oldBlend, moreBlend, blend)}.`;
  if (due === 1) return `${name}. No score is above \u03bc = ${num(before, 1)}: the factor is 1. ${numbers}`;
  const rises = `${name}. \u03bc rises from ${num(before, 1)} to ${num(highest, 1)}`;
  return `${rises}${factor === 1 ? `, but the factor ${num(due)} is forgotten` : `: the factor is ${num(factor)}`}. ${numbers}`;
}
