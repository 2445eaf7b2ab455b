/* Rotary positions: two sliders turn a query and a key, pair by pair. */
import { chart, clamp, dot, h, label, line, num, panel, range, reset, scale, slider, sum, tick } from "./kit.js";

const [WIDE, HIGH, RADIUS, HALF] = [480, 180, 52, 68]; // of the curve, and of a dial and half its side

export const start = ({ positions: [i, j] }) => ({ i, j, gap: j - i, both: false });

export function controls({ longest }, at) {
  /* Together both keep their distance: where one would leave the text, both wait. */
  const then = (one, other, sign) => (now) => {
    if (!now.both) return { gap: now.j - now.i };
    const there = clamp(now[one] + sign * now.gap, 0, longest);
    return { [one]: there - sign * now.gap, [other]: there };
  };
  return panel(at, "Move the query and the key",
    slider("i", "Query at position i", { max: longest, then: then("i", "j", 1) }),
    slider("j", "Key at position j", { max: longest, then: then("j", "i", -1) }),
    tick("both", "Move both together"), reset());
}

const turned = ([a, b], angle) => [a * Math.cos(angle) - b * Math.sin(angle), b * Math.cos(angle) + a * Math.sin(angle)];

export function model({ query, key, frequencies, longest }, { i, j }) {
  const half = frequencies.length;
  const pairs = frequencies.map((f, at) => ({ f, asks: [query[at], query[at + half]], given: [key[at], key[at + half]] }));
  const part = (asks, given) => dot(asks, given) / Math.sqrt(2 * half);
  const hands = pairs.map(({ f, asks, given }) => {
    const ends = { query: turned(asks, i * f), key: turned(given, j * f) };
    return { ...ends, adds: part(ends.query, ends.key) };
  });
  const curve = range(2 * longest + 1, -longest).map((gap) => sum(pairs.map(({ f, asks, given }) => part(asks, turned(given, gap * f)))));
  return { hands, curve, score: sum(hands.map(({ adds }) => adds)), distance: j - i };
}

function dial({ query, key, adds }, pair, f, length) {
  const hand = (kind, [x, y], radius) => h("g", { class: `am-rotary-${kind}` },
    line(0, 0, length * x, -length * y), h("circle", { cx: length * x, cy: -length * y, r: radius }));
  return h("div", { class: "am-rotary-dial" },
    h("svg", { viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, role: "img", "aria-label": `Dial of pair ${pair}: query and key as hands` },
      h("circle", { class: "am-rotary-ring", r: RADIUS }), hand("key", key, 8.5), hand("query", query, 5)), // both show where they lie on each other
    h("div", {}, `pair ${pair}, f = ${Number(f.toPrecision(3))}`, h("br"), "adds ", h("b", {}, num(adds))));
}

export function view({ hands, curve, score, distance }, at, { query, key, frequencies, longest }) {
  const half = frequencies.length;
  const most = Math.max(...[query, key].flatMap((one) => frequencies.map((_, pair) => Math.hypot(one[pair], one[pair + half]))));
  const x = scale([-longest, longest], [12, WIDE - 12]);
  const y = scale([Math.min(0, ...curve), Math.max(0, ...curve)], [140, 34]);
  const ticks = [[-longest, ""], [0, "am-middle"], [longest, "am-end"]];
  return [
    h("div", { class: "am-rotary-dials" }, hands.map((one, pair) => dial(one, pair, frequencies[pair], RADIUS / most))),
    chart(WIDE, HIGH, {},
      line(x(-longest), y(0), x(longest), y(0), "am-level"), line(x(0), 34, x(0), 140, "am-level"),
      h("polyline", { class: "am-rotary-curve", points: curve.map((one, place) => `${x(place - longest).toFixed(1)},${y(one).toFixed(1)}`).join(" ") }),
      h("circle", { class: "am-rotary-here", cx: x(distance), cy: y(score), r: 7 }),
      label(12, 16, `score ${num(score)} at distance ${num(distance, 0)}`, "am-bold"),
      ticks.map(([one, kind]) => label(x(one), 166, num(one, 0), kind)), label(360, 166, "distance j − i →", "am-middle am-pale")),
  ];
}

export const said = ({ score, distance }, { i, j }) =>
  `Query at position ${i}, key at position ${j}: score ${num(score)} at distance ${num(distance, 0)}.`;
