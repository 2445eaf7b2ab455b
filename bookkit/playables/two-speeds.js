/* Two speeds: how busy a processor can be at best when a model writes many texts at once, and what fits into its memory. */
import { arrowKeys, chart, choice, clamp, drag, h, label, line, num, panel, pointIn, range, reset, scale, select, slider, table, whole } from "./kit.js";

const [WIDE, HIGH, LEFT, RIGHT, TOP, BASE] = [504, 274, 62, 484, 40, 226]; // of the roof
const ROOM = 400; // the width of the bar of memory
const INTENSITIES = [0.25, 2048]; // operations a byte, from left to right
const SHARES = [0.001, 1]; // of the arithmetic, from the bottom to the top
const GIB = 2 ** 30;

export const lines = [4, 7];

export const start = () => ({ machine: 0, which: 0, texts: 0, tokens: 2, bits: 0 });

const longest = ({ models, tokens }, which) => tokens.indexOf(models[which].longest);

export const controls = (data, at) => panel(at, "Choose a machine, a model and what it writes",
  select("machine", "machine", data.machines.map(({ name }) => name), { then: ({ machine }) => ({ bits: data.bits.indexOf(data.machines[machine].bits) }) }),
  select("which", "model", data.models.map(({ name }) => name), { then: ({ which, tokens }) => ({ tokens: Math.min(tokens, longest(data, which)) }) }),
  slider("texts", "texts at once", { max: data.texts.length - 1, show: (place) => whole(data.texts[place]) }),
  slider("tokens", "tokens in cache", { max: longest(data, at.which), show: (place) => whole(data.tokens[place]) }),
  choice("bits", "bits a number", data.bits.map(String)), reset());

/* A step of so many texts, each with n tokens before: its operations and the bytes that it must read. */
function step({ weights, pair, kept }, texts, n, bytes) {
  const flops = texts * (2 * weights + pair * (n + 1));
  const moved = bytes * (weights + texts * kept * n);
  return { flops, moved, intensity: flops / moved };
}

export function model(data, at) {
  const { flops: peak, bandwidth, memory } = data.machines[at.machine];
  const it = data.models[at.which];
  const [texts, n, bytes] = [data.texts[at.texts], data.tokens[at.tokens], data.bits[at.bits] / 8];
  const now = step(it, texts, n, bytes);
  const seconds = { arithmetic: now.flops / peak, memory: now.moved / bandwidth };
  const needed = { weights: bytes * it.held, caches: bytes * texts * it.kept * n, room: memory * GIB };
  const cache = bytes * it.kept * n;
  return {
    ...now, seconds, needed, ridge: peak / bandwidth,
    busy: seconds.arithmetic / Math.max(seconds.arithmetic, seconds.memory),
    rate: texts / Math.max(seconds.arithmetic, seconds.memory),
    endless: (2 * it.weights + it.pair * (n + 1)) / cache, // the limit of the intensity when there are more and more texts
    most: Math.max(0, Math.floor((needed.room - needed.weights) / cache)), // texts that fit
    path: data.texts.map((many) => step(it, many, n, bytes).intensity),
  };
}

/* Bytes in MiB or GiB, seconds and counts, each with two or three digits. */
const binary = (size) => (size < 1023.5 * 2 ** 20 ? `${num(size / 2 ** 20, size < 99.5 * 2 ** 20 ? 1 : 0)} MiB` : `${size < 9999 * GIB ? num(size / GIB, size < 99.5 * GIB ? 1 : 0) : whole(Math.round(size / GIB))} GiB`);
const short = (count) => (count < 99.5 ? num(count, count < 9.95 ? 1 : 0) : whole(Number(count.toPrecision(3))));
const inSeconds = (time) => (time < 1e-3 ? `${short(1e6 * time)} µs` : time < 1 ? `${short(1e3 * time)} ms` : `${short(time)} s`);
const percent = (share) => `${num(100 * share, share < 0.0995 ? 1 : 0)} %`;
const operations = (count) => (count < 999.5e6 ? `${short(count / 1e6)} million` : count < 999.5e9 ? `${short(count / 1e9)} billion` : `${short(count / 1e12)} trillion`);

export function view(m, at, data) {
  const [across, up] = [scale(INTENSITIES.map(Math.log), [LEFT, RIGHT]), scale(SHARES.map(Math.log), [BASE, TOP])];
  const x = (intensity) => across(Math.log(clamp(intensity, ...INTENSITIES)));
  const y = (share) => up(Math.log(clamp(share, ...SHARES)));
  const foot = (ridge) => Math.max(INTENSITIES[0], SHARES[0] * ridge); // where a roof begins: at the left edge or at the floor
  const roof = (ridge, kind) => h("path", { class: kind, d: `M${[foot(ridge), ridge, INTENSITIES[1]].map((one) => `${x(one).toFixed(1)} ${y(one / ridge).toFixed(1)}`).join("L")}` });
  const dot = (intensity) => [x(intensity), y(Math.min(1, intensity / m.ridge))];
  const nearest = ([place]) => {
    const far = m.path.map((one) => Math.abs(x(one) - place));
    return { texts: far.indexOf(Math.min(...far)) };
  };
  const [cx, cy] = dot(m.intensity);
  const reaches = m.endless > m.ridge;
  const { weights, caches, room } = m.needed;
  const full = weights + caches > room;
  const part = (from, size, kind) => h("rect", { class: kind, x: clamp((ROOM * from) / room, 0, WIDE), width: clamp((ROOM * (from + size)) / room, 0, WIDE) - clamp((ROOM * from) / room, 0, WIDE), y: 32, height: 20 });
  return [
    chart(WIDE, HIGH, { role: "group", "aria-label": "How busy the arithmetic can be, by operations a byte", onclick: (_, event) => nearest(pointIn(event)) },
      label(0, 16, "how busy the arithmetic can be at most", "am-bold"),
      [0.001, 0.01, 0.1, 1].map((share) => [line(LEFT, y(share), RIGHT, y(share), "am-level"), label(LEFT - 6, y(share) + 5, percent(share).replace(".0", ""), "am-axis am-end")]),
      [0.5, 5, 50, 500].map((one) => label(x(one), BASE + 19, String(one), "am-axis am-middle")),
      label(RIGHT, BASE + 40, "operations for each byte that is read", "am-axis am-end"),
      data.machines.map(({ flops, bandwidth }) => roof(flops / bandwidth, "am-speeds-other")),
      roof(m.ridge, "am-speeds-roof"),
      m.endless < INTENSITIES[1] && [line(x(m.endless), TOP, x(m.endless), BASE, ["am-speeds-end", !reaches && "am-speeds-short"]),
        label(x(m.endless) + (m.endless > 60 ? -6 : 6), BASE - 8, "limit for many texts", ["am-bold", m.endless > 60 && "am-end", !reaches && "am-wine"])],
      m.path.map((one, place) => h("circle", { class: ["am-speeds-dot", data.texts[place] > m.most && "am-speeds-burst"], cx: dot(one)[0], cy: dot(one)[1], r: 3.5 })),
      h("g", {
        class: "am-handle", tabindex: 0, role: "slider", "aria-label": "texts at once", "aria-orientation": "horizontal",
        "aria-valuemin": data.texts[0], "aria-valuemax": data.texts.at(-1), "aria-valuenow": data.texts[at.texts], ...drag(nearest),
        ...arrowKeys(([right, lift], { texts }) => ({ texts: clamp(texts + (right || lift), 0, data.texts.length - 1) })),
      }, h("circle", { class: "am-hit", cx, cy, r: 18 }), h("circle", { class: "am-knob", cx, cy, r: 8 }))),
    table(["", "a step has", "which takes at least"], [
      ["arithmetic", `${operations(m.flops)} operations`, inSeconds(m.seconds.arithmetic)],
      ["memory", `${binary(m.moved)} to read`, inSeconds(m.seconds.memory)],
    ], { foot: [["together", `${short(m.rate)} tokens a second at most`, inSeconds(Math.max(...Object.values(m.seconds)))]] }),
    chart(WIDE, 58, { "aria-hidden": "true" },
      label(0, 22, full ? `memory: ${binary(weights + caches)} do not fit into ${room / GIB} GiB` : `memory: ${binary(weights + caches)} of ${room / GIB} GiB`, ["am-bold", full && "am-wine"]),
      part(0, weights, "am-speeds-weights"), part(weights, caches, ["am-speeds-caches", full && "am-speeds-burst"]),
      h("rect", { class: "am-speeds-room", x: 0, y: 32, width: ROOM, height: 20 }),
      range(2).map((which) => label(WIDE - [96, 0][which], 22, ["weights", "caches"][which], ["am-bold am-end", ["am-speeds-weights", "am-speeds-caches"][which]]))),
  ];
}

export function said(m, at, { machines, models, texts, tokens }) {
  const many = texts[at.texts] === 1 ? "1 text" : `${whole(texts[at.texts])} texts`;
  const machine = machines[at.machine].name.replace(/,.*/, "");
  const limit = m.endless > m.ridge
    ? `Enough texts can keep it fully busy: more of them bring this number up to ${short(m.endless)}, and the ridge is at ${short(m.ridge)}.`
    : `No number of texts can keep it fully busy: more of them bring this number to ${short(m.endless)} at most, and the ridge is at ${short(m.ridge)}.`;
  const fits = m.most ? `${whole(m.most)} ${m.most === 1 ? "text fits" : "texts fit"} into the memory.` : "Not even one text fits into the memory.";
  return `${models[at.which].name} writes ${many}, with ${whole(tokens[at.tokens])} tokens in each cache: ${short(m.intensity)} operations a byte. The ${machine} is at most ${percent(m.busy)} busy. ${limit} ${fits}`;
}
