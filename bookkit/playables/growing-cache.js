/* Two layers of attention that read a prompt and then one word at a time, with a cache and without. */
import { choice, CONTROLS, dot, h, num, panel, range, reset, softmax, sum, table } from "./kit.js";

const LAYERS = 2;
const SAME = 1e-9; // closer numbers are the same, up to rounding

/* Who may look at whom, by rule: the word at position i at that at j, in a piece that begins at `first`. */
const near = (i, j, window) => j <= i && j > i - window;
const SEES = [
  (i, j) => j <= i,
  near,
  (i, j, window) => near(i, j, window) || j === 0,
  () => true,
  (i, j, window, first) => j <= i - first,
];
const [WINDOW, WINDOW_AND_FIRST] = [1, 2];

export const lines = [4, 6];

export const start = ({ step, rule, cached }) => ({ step, rule, cache: cached ? 0 : 1 });

export const controls = ({ words, prompt, rules }, at) => panel(at, "Let the cache grow",
  choice("step", "read", ["the prompt", ...words.slice(prompt).map((word) => `+ ${word}`)]),
  choice("cache", "cache", ["kept", "none"]),
  choice("rule", "mask", rules),
  reset());

/* Read words in pieces: what each layer keeps, and of the last layer the weights, which of them may be
   above 0, and the output. */
function read({ vectors, window }, pieces, sees) {
  const all = { kept: range(LAYERS).map(() => []), weights: [], open: [], output: [] };
  let first = 0;
  for (const size of pieces) {
    let x = vectors.slice(first, first + size);
    const open = x.map((_, at) => range(first + size).map((j) => sees(first + at, j, window, first)));
    let weights = [];
    for (const layer of all.kept) {
      layer.push(...x);
      weights = x.map((query, at) => softmax(layer.map((key) => dot(query, key)), open[at]));
      x = weights.map((row) => [0, 1].map((axis) => dot(row, layer.map((value) => value[axis]))));
    }
    all.weights.push(...weights);
    all.open.push(...open);
    all.output.push(...x);
    first += size;
  }
  return all;
}

/* `first` of the n words is new; a kept vector is stale if it would be another one now, and dropped if no
   word to come looks at it; counts are words computed in this step and so far, without the cache as well. */
export function model(data, { step, rule }) {
  const n = data.prompt + step;
  const first = step ? n - 1 : 0;
  const mine = read(data, [data.prompt, ...Array(step).fill(1)], SEES[rule]);
  const scratch = read(data, [n], SEES[rule]);
  const far = (one, other) => one.some((number, axis) => Math.abs(number - other[axis]) > SAME);
  return {
    n, first, mine, scratch,
    stale: mine.kept.map((layer, at) => layer.map((vector, position) => far(vector, scratch.kept[at][position]))),
    dropped: range(n).map((position) => position < n - data.window && (rule === WINDOW || (rule === WINDOW_AND_FIRST && position > 0))),
    counts: [[n - first, n], [n, sum(range(step + 1, data.prompt))]],
  };
}

export function view({ n, first, mine, scratch, stale, dropped, counts }, { cache }, { words }) {
  const cached = cache === 0;
  const shown = cached ? mine : scratch;
  const slot = (layer) => (_, position) => position < n ? h("td", {
    class: ["am-growing-slot", cached && position < first ? "am-growing-kept" : "am-growing-new", cached && dropped[position] && "am-growing-dropped", cached && stale[layer][position] && "am-growing-stale"],
  }, shown.kept[layer][position].map((value) => h("span", {}, num(value)))) : h("td", { class: "am-growing-slot" });
  const cell = (row) => (_, column) => {
    const open = row < n && shown.open[row][column];
    if (row >= n || column >= n || (cached && row < first)) return h("td", { class: ["am-cell", open && "am-growing-before"] });
    const weight = shown.weights[row][column];
    return h("td", { class: ["am-cell", open ? "am-growing-now" : "am-blocked"] }, h("span", { class: "am-ink", style: { "--weight": weight } }, open && num(weight)));
  };
  const outputs = [mine, scratch].map(({ output }) => output[n - 1].map((value) => num(value)).join(", "));
  return [
    h("table", { class: "am-grid am-read am-growing-table" },
      h("thead", {}, h("tr", {}, h("td"), words.map((word) => h("th", { scope: "col" }, word)))),
      h("tbody", {}, range(LAYERS).map((layer) => h("tr", {}, h("th", { scope: "row" }, `layer ${layer + 1}`), words.map(slot(layer))))),
      h("tbody", {}, words.map((word, row) => h("tr", {}, h("th", { scope: "row" }, word), words.map(cell(row)))))),
    CONTROLS,
    table(["", "with the cache", "without"], [
      ["words computed in this step", ...counts[0]], ["words computed so far", ...counts[1]], [`output for \u201c${words[n - 1]}\u201d`, ...outputs],
    ], { kind: "am-growing-readings" }),
  ];
}

export function said({ n, first, mine, scratch, stale, counts: [[here, anew], [kept, again]] }, { rule, cache }, { words, rules }) {
  const point = ({ output }) => `(${output[n - 1].map((value) => num(value)).join(", ")})`;
  const late = stale[LAYERS - 1].slice(0, first).filter(Boolean).length;
  const counted = (count) => `${count} ${count === 1 ? "word" : "words"}`;
  const step = cache ? `without a cache this step computes ${counted(anew)}, and ${here} with one` : `this step computes ${counted(here)}, and ${anew} without a cache`;
  return `Reading \u201c${words.slice(first, n).join(" ")}\u201d, ${rules[rule]}: ${step}. So far it is ${kept} with a cache and ${again} without. The output for \u201c${words[n - 1]}\u201d is ` +
    `${point(mine)} with the cache and ${point(scratch)} from scratch.` +
    (late ? ` Out of date in layer ${LAYERS}: ${late} of the vectors that were kept.` : "");
}
