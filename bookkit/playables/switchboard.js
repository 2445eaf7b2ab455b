/* A layer of attention in heads, in which one mistake at a time is switched on, and its checks. */
import { CONTROLS, SAID, capital, choice, clamp, dot, h, num, panel, range, softmax, sum, table, unseen } from "./kit.js";

const NEAR = 1e-6; // the numbers that Python hands over have nine digits

export const lines = [2, 3];

export const start = () => ({ on: -1 });

export const controls = ({ switches }, at) => panel(at, "Switch a mistake on",
  choice("on", "Switch on:", switches.map(([name]) => name), { loose: true }));

/* Matrices are lists of rows. Where shapes do not meet, there is an error, as in NumPy. */
function times(one, other) {
  if (one.some((row) => row.length !== other.length)) throw new RangeError("shapes do not meet");
  return one.map((row) => flip(other).map((column) => dot(row, column)));
}

const flip = (rows) => rows[0].map((_, at) => rows.map((row) => row[at]));
const turn = (rows) => [...rows.slice(1), rows[0]];
const rowsOf = (flat, width) => range(Math.round(flat.length / width)).map((row) => flat.slice(row * width, (row + 1) * width));
const softmaxes = (scores, allowed) => scores.map((row, i) => softmax(row, allowed[i]));

function weigh(query, key, mistake, causal) {
  const [asks, answers] = mistake === "query and key swapped" ? [key, query] : [query, key];
  const scale = mistake === "no scale" ? 1 : 1 / Math.sqrt(query[0].length);
  const scores = times(asks, flip(answers)).map((row) => row.map((score) => score * scale));
  const [q, k] = [scores.length, scores[0].length];
  const shift = { "one word too many": 1, "one word too few": -1 }[mistake] ?? 0;
  const corner = mistake === "first-key corner" ? 0 : k - q + shift;
  const allowed = scores.map((row, i) => row.map((_, j) => !causal || j <= i + corner));
  const everything = scores.map((row) => row.map(() => true));
  const changed = (list, change) => list.map((row, i) => row.map((number, j) => change(number, allowed[i][j])));
  switch (mistake) {
    case "no mask":
      return softmaxes(scores, everything);
    case "mask upside down":
      return softmaxes(scores, causal ? changed(allowed, (open) => !open) : allowed);
    case "1e-9 for -1e9":
      return softmaxes(changed(scores, (score, open) => (open ? score : 1e-9)), everything);
    case "masked too late":
      return changed(softmaxes(scores, everything), (weight, open) => (open ? weight : 0));
    case "softmax over queries":
      return flip(softmaxes(flip(scores), flip(allowed)));
    default:
      return softmaxes(scores, allowed);
  }
}

function cut(rows, heads, byView) {
  const width = rows[0].length / heads;
  if (byView) return rowsOf(rowsOf(rows.flat(), width), rows.length);
  return range(heads).map((head) => rows.map((row) => row.slice(head * width, (head + 1) * width)));
}

function join(parts, byView) {
  if (byView) return rowsOf(parts.flat(2), parts.length * parts[0][0].length);
  return parts[0].map((_, at) => parts.flatMap((part) => part[at]));
}

/* The weights of each head and the output; without `last`, all words ask. */
function run({ weights, heads }, mistake, x, { causal = true, last = x.length } = {}) {
  const views = mistake === "heads by a view";
  const [query, key, value] = [["query", x.slice(-last)], ["key", x], ["value", x]].map(([name, rows]) => cut(times(rows, weights[name]), heads, views));
  const maps = query.map((part, head) => weigh(part, key[head], mistake, causal));
  const parts = maps.map((map, head) => times(map, value[head]));
  return { maps, output: times(join(parts, views || mistake === "joined by a view"), weights.output) };
}

/* The largest difference of two matrices; null if their shapes are not the same. */
function apart(one, other) {
  if (one.length !== other.length || one[0].length !== other[0].length) return null;
  return Math.max(0, ...one.flatMap((row, i) => row.map((number, j) => Math.abs(number - other[i][j]))));
}

function cached(data, mistake, output) {
  try {
    return apart(run(data, mistake, data.x, { last: 2 }).output, output.slice(-2));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/* `differences` says by how much the layer fails each check, null where a shape is wrong; `off`, by how
   much each word is wrong. */
export function model(data, { on }) {
  const { x, other, wanted, switches } = data;
  const mistake = switches[on]?.[0] ?? "";
  const right = run(data, "", x).maps;
  const { maps, output } = run(data, mistake, x);
  const sums = maps.map((map) => map.map(sum));
  const later = run(data, mistake, [...x.slice(0, -1), other]).output;
  const free = (rows) => run(data, mistake, rows, { causal: false }).output;
  const differences = {
    shape: apart(output, x) === null ? null : 0,
    rows: Math.max(...sums.flat().map((one) => Math.abs(one - 1))),
    future: apart(later.slice(0, -1), output.slice(0, -1)),
    order: apart(free(turn(x)), turn(free(x))),
    cache: cached(data, mistake, output),
    loops: apart(output, wanted),
  };
  const changed = maps.map((map, head) => map.map((row, i) => row.map((weight, j) => Math.abs(weight - right[head][i][j]) > NEAR)));
  return { maps, sums, output, changed, differences, off: output.map((row, at) => apart([row], [wanted[at]])) };
}

const finds = (size) => size === null || size > NEAR;

export function view({ maps, sums, output, changed, differences, off }, at, { words, checks }) {
  const head = (names) => h("thead", {}, h("tr", {}, h("td"), names.map((name) => h("th", { scope: "col" }, h("span", {}, name)))));
  const row = (name, cells) => h("tr", {}, h("th", { scope: "row" }, name), cells);
  const cell = (weight, mark) => h("td", { class: ["am-cell", mark && "am-switchboard-changed"] },
    h("span", { class: "am-ink", style: { "--weight": clamp(weight, 0, 1) } }, unseen(num(weight))));
  const map = (weights, which) => h("table", { class: "am-grid am-upright am-switchboard-map" },
    h("caption", {}, `weights of head ${which + 1}`), head([...words, "sum"]),
    h("tbody", {}, weights.map((list, i) => row(words[i], [
      list.map((weight, j) => cell(weight, changed[which][i][j])),
      h("td", { class: ["am-switchboard-sum", finds(Math.abs(sums[which][i] - 1)) && "am-wrong"] }, num(sums[which][i])),
    ]))));
  return [CONTROLS, SAID,
    h("div", { class: "am-switchboard-maps" }, maps.map(map)),
    h("table", { class: "am-table am-switchboard-outputs" },
      h("caption", {}, "what each word becomes"), head(words),
      h("tbody", {},
        row("output", output.map((list) => h("td", {}, list.map((number) => h("span", {}, num(number)))))),
        row("off by", off.map((size) => h("td", { class: finds(size) && "am-wrong" }, num(size)))))),
    table(["check", "what must hold", "difference", "verdict"], checks.map(([name, asks]) => {
      const found = finds(differences[name]);
      const size = differences[name] === null ? "error" : num(differences[name]);
      return [name, asks, { words: size, class: found && "am-wrong" }, { words: found ? "finds it" : "passes", class: found ? "am-wrong" : "am-switchboard-passes" }];
    }), { kind: "am-switchboard-checks" }),
  ];
}

export function said({ differences }, { on }, { switches, checks }) {
  if (on < 0) return "No mistake is switched on, and every check passes.";
  const [name, does] = switches[on];
  const found = checks.map(([check]) => check).filter((check) => finds(differences[check]));
  return `${capital(name)}. ${does} ${found.length === 1 ? "One check finds" : `${found.length} checks find`} it: ${found.join(", ")}.`;
}
