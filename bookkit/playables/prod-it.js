/* Black boxes of attention: prod a word, see which outputs move, and name the bug. */
import { CONTROLS, SAID, button, dot, h, panel, range, softmax, sum, toPage, unseen } from "./kit.js";

const NEAR = 1e-6; // the numbers that Python hands over have nine digits
const ROUNDS = 10;

export const lines = [3, 5];

const game = (rounds) => ({ rounds, round: 0, pressed: [], counts: [], named: [] });

export const start = () => game(range(ROUNDS));

export const still = () => ({ ...start(), pressed: range(6) });

/* Ten boxes in a new order. */
function shuffled({ boxes }) {
  const left = range(boxes.length);
  return game(range(ROUNDS).map(() => left.splice(Math.floor(Math.random() * left.length), 1)[0]));
}

export const controls = (data, { round, named }) => panel({}, "The next box",
  button("Next box", { round: round + 1, pressed: [] }, { off: named.length <= round || round === ROUNDS - 1 }),
  button("Ten new boxes", () => shuffled(data)));

/* What output i may read, as was ordered. */
const ORDERED = {
  both: () => true,
  causal: (i, j) => j <= i,
  window: (i, j) => j <= i && j > i - 3,
  filler: (i, j) => j < 3,
  cache: (i, j) => j <= i,
};

/* What it does read. */
function read([order, bug]) {
  const may = ORDERED[order];
  switch (bug) {
    case "upside down":
      return (i, j) => !may(i, j);
    case "w or w + 1":
      return (i, j) => j <= i && j > i - 4;
    case "looked at":
      return () => true;
    case "first-key corner":
      return (i, j) => j === 0;
    default:
      return may;
  }
}

const attend = (rows, may) => rows.map((query, i) => {
  const weights = softmax(rows.map((key) => dot(query, key) / Math.sqrt(query.length)), rows.map((_, j) => may(i, j)));
  return query.map((_, at) => sum(weights.map((weight, j) => weight * rows[j][at])));
});

const cut = (flat, width) => range(flat.length / width).map((at) => flat.slice(at * width, (at + 1) * width));

/* Attend in heads, which are parts of every word, or by a view, pieces of the sentence. */
function inHeads(rows, heads, may, byView = false) {
  const [n, width] = [rows.length, rows[0].length];
  const pieces = cut(rows.flat(), width / heads);
  const blends = range(heads).map((head) => attend(range(n).map((i) => pieces[byView ? head * n + i : i * heads + head]), may));
  const joined = pieces.map((_, at) => (byView ? blends[Math.floor(at / n)][at % n] : blends[at % heads][Math.floor(at / heads)]));
  return cut(joined.flat(), width);
}

function outputs({ beside, heads }, box, x) {
  if (box[1] === "the wrong axis") return x.map((word, i) => inHeads([word, beside[i]], heads, () => true)[0]);
  return inHeads(x, heads, read(box), box[1] === "a view");
}

/* `map` says for every output which words move it. */
export function model(data, { rounds, round, pressed, counts, named }) {
  const box = data.boxes[rounds[round]];
  const before = outputs(data, box, data.x);
  const after = data.x.map((_, j) => outputs(data, box, data.x.with(j, data.other[j])));
  const map = before.map((output, i) => after.map((one) => one[i].some((number, at) => Math.abs(number - output[at]) > NEAR)));
  const now = named.length > round ? 0 : pressed.length;
  return { before, after, map, presses: sum(counts) + now, right: named.filter((bug, at) => bug === data.boxes[rounds[at]][1]).length };
}

const wordsOf = ({ words, boxes }, { rounds, round }) => words.map((word, j) => (boxes[rounds[round]][0] === "filler" && j > 2 ? "filler" : word));
const isTold = ({ round, named }) => named.length > round;

export function view(m, at, data) {
  const { boxes, orders, bugs, changed } = data;
  const [words, told, last] = [wordsOf(data, at), isTold(at), at.pressed.at(-1)];
  const [order, bug] = boxes[at.rounds[at.round]];
  const press = (j) => (told ? null : { pressed: [...at.pressed.filter((one) => one !== j), j] });
  const cell = (i, j) => {
    const open = told || at.pressed.includes(j);
    return h("td", { class: !open ? "am-prod-closed" : m.map[i][j] ? "am-prod-moved" : "am-prod-same" }, open ? unseen(m.map[i][j] ? "moves" : "stays") : "?");
  };
  const mark = (name) => told && (name === bug ? "am-prod-right" : name === at.named[at.round] && "am-prod-wrong");
  return [
    h("p", { class: "am-prod-order" }, h("b", {}, `Box ${at.round + 1} of ${ROUNDS}. `), `Ordered: ${orders[order]}`),
    h("table", { class: "am-prod-box am-rove", rove: true },
      h("thead", {}, h("tr", {}, h("td", {}, "out ↓ in →"), words.map((word, j) => h("th", { scope: "col" }, h("button", {
        type: "button", class: "am-play-button", "data-cell": `0 ${j}`, "aria-pressed": last === j, onclick: () => press(j),
      }, last === j && word !== "filler" ? changed[j] : word))))),
      h("tbody", {}, words.map((word, i) => h("tr", {},
        h("th", { scope: "row", class: !told && last !== undefined && m.map[i][last] && "am-prod-lit" }, word), words.map((_, j) => cell(i, j)))))),
    panel(at, "Name the bug", Object.keys(bugs).map((name) => button(name, { named: [...at.named, name], counts: [...at.counts, at.pressed.length] }, {
      off: told || at.pressed.length === 0, class: ["am-play-button", mark(name)],
    }))),
    h("details", { class: "am-prod-names" }, h("summary", {}, "What the names mean"),
      h("ul", {}, Object.entries(bugs).map(([name, means]) => h("li", {}, h("b", {}, `${name}: `), means)))),
    SAID,
    CONTROLS,
    h("p", { class: "am-prod-score" }, at.named.length > 0 && `${m.right} of ${at.named.length} named, with ${m.presses} ${m.presses === 1 ? "press" : "presses"}. `,
      told && bug !== "sound" && h("a", { href: toPage(`museum_evidence.ipynb#${bug.replace(/\W+/g, "-")}`) }, `The room of “${bug}”`)),
  ];
}

const listed = (words) => (words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words[0]);

export function said({ map, presses, right }, at, data) {
  const [words, last] = [wordsOf(data, at), at.pressed.at(-1)];
  const bug = data.boxes[at.rounds[at.round]][1];
  if (isTold(at)) {
    const verdict = at.named[at.round] === bug ? "Right." : `No: it is “${bug}”.`;
    const end = at.named.length === ROUNDS ? ` The game is over: ${right} of ${ROUNDS} with ${presses} presses.` : "";
    return `${verdict} ${data.bugs[bug]}${end}`;
  }
  if (last === undefined) return "Press a word in the row on top: it is changed, and the outputs that move light up.";
  const moved = words.flatMap((word, i) => (map[i][last] ? [word === "filler" ? `filler ${i - 2}` : word] : []));
  const what = words[last] === "filler" ? `Filler ${last - 2} became other filler` : `“${words[last]}” became “${data.changed[last]}”`;
  return `${what}: ${moved.length ? `${moved.length} of 6 outputs moved, ${listed(moved)}` : "no output moved"}. Name the bug, or press another word.`;
}
