/* Which attention to take: a situation, and what is left of the ways to keep less of a text. */
import { bytesOf, overParts } from "./kept.js";
import { CONTROLS, SAID, chart, choice, clamp, h, inBytes, label, line, panel, pointIn, range, reset, scale, select, slider, toPage, whole } from "./kit.js";

const [WIDE, TOP, ROW] = [504, 44, 25]; // of the drawing, above the first row, and of a row
const [LEFT, RIGHT, SIZE] = [188, 312, 382]; // the bars, and where the sizes end
const COLUMNS = { fits: 402, finds: 440, ready: 483 };
const BARS = [2 ** 24, 2 ** 45]; // bytes, from left to right

export const lines = [2, 4];

export const start = ({ first }) => first;

export const controls = (data, at) => panel(at, "Choose a situation",
  slider("length", "tokens", { max: data.lengths.length - 1, show: (place) => whole(data.lengths[place]) }),
  slider("texts", "texts at once", { max: data.texts.length - 1, show: (place) => whole(data.texts[place]) }),
  slider("memory", "memory", { max: data.memories.length - 1, show: (place) => `${whole(data.memories[place])} GiB` }),
  choice("precision", "numbers in", data.precisions.map(([name]) => name)),
  choice("back", "it must bring back", data.wanted),
  choice("trained", "the model", ["is given", "will be trained"]),
  select("way", "look at", data.ways.map(({ name }) => name)), reset());

export function model(data, at) {
  const [tokens, texts, [, itemsize, most]] = [data.lengths[at.length], data.texts[at.texts], data.precisions[at.precision]];
  const room = data.memories[at.memory] * 2 ** 30 - data.weights;
  return {
    room,
    ways: data.ways.map(({ layers, back, given }) => {
      const kept = texts * overParts(layers, (part) => bytesOf(part, tokens, itemsize));
      const tests = { fits: kept <= room, finds: Math.min(back, most) >= at.back, ready: Boolean(at.trained || given) };
      return { kept, tests, left: Object.values(tests).every(Boolean) };
    }),
  };
}

const cross = (x, y) => h("path", { class: "am-choose-no", d: `M${x - 5} ${y - 5}l10 10m0-10l-10 10` });
const tick = (x, y) => h("path", { class: "am-choose-yes", d: `M${x - 6} ${y}l4 5l8-10` });

export function view(m, at, data) {
  const across = scale(BARS.map(Math.log2), [LEFT, RIGHT]);
  const x = (bytes) => across(Math.log2(clamp(bytes, ...BARS)));
  const base = TOP + ROW * data.ways.length;
  const shown = data.ways[at.way];
  return [
    CONTROLS,
    chart(WIDE, base + 24, { onclick: (now, event) => ({ way: clamp(Math.floor((pointIn(event)[1] - TOP) / ROW), 0, data.ways.length - 1) }) },
      h("rect", { class: "am-choose-row", x: 0, y: TOP + ROW * at.way, width: WIDE, height: ROW }),
      label(0, 18, "what the caches take", "am-bold"),
      Object.entries(COLUMNS).map(([name, place]) => label(place, 36, name, "am-axis am-middle")),
      data.ways.map(({ name }, row) => {
        const [{ kept, tests, left }, y] = [m.ways[row], TOP + ROW * row];
        return [
          label(0, y + 18, name, left ? "am-bold" : "am-choose-out"),
          h("rect", { class: ["am-choose-bar", !tests.fits && "am-choose-large"], x: LEFT, y: y + 5, width: x(kept) - LEFT, height: ROW - 10 }),
          label(SIZE, y + 18, inBytes(kept), ["am-end", !tests.fits && "am-wine"]),
          Object.entries(COLUMNS).map(([test, place]) => (tests[test] ? tick : cross)(place, y + ROW / 2)),
        ];
      }),
      line(x(m.room), TOP - 4, x(m.room), base + 2, "am-mark"),
      label(x(m.room), base + 19, `${inBytes(m.room)} are free`, "am-axis am-middle")),
    SAID,
    h("p", { class: "am-choose-detail" }, h("b", {}, `${shown.title}. `), `${shown.lost} `,
      h("a", { href: toPage(shown.where) }, "How we know"), ` ${shown.who}`),
  ];
}

export function said(m, at, { ways, lengths, texts, memories }) {
  const left = range(ways.length).filter((way) => m.ways[way].left).map((way) => ways[way].name);
  const many = texts[at.texts] === 1 ? "one text" : `${whole(texts[at.texts])} texts`;
  const asked = `For ${many} of ${whole(lengths[at.length])} tokens on ${whole(memories[at.memory])} GiB`;
  if (!left.length) return `${asked}, nothing is left.`;
  return `${asked}, ${left.length} of ${ways.length} are left${left.length < 5 ? `: ${left.join("; ")}` : ""}.`;
}
