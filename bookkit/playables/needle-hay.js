/* The weight of one key that leads all others, in a text as long as the reader wants it. */
import { arrowKeys, button, chart, clamp, drag, h, label, levels, line, num, panel, pointIn, range, reset, scale, slider, tick, whole } from "./kit.js";

const [WIDE, LEFT, RIGHT, TOP, BASE] = [504, 52, 488, 34, 214]; // of the curve
const [BAR, THICK] = [296, 22];
const MOST = 16; // of the lead
const TENTHS = 10; // steps of the lead in 1

export const lines = [3, 5];

export const start = ({ n, lead, k }) => ({ n, lead: TENTHS * lead, others: 0, few: false, k });

const own = ({ heads }) => heads.map(({ name, lead }) => button(`${name}: ${num(lead, 1)}`, { lead: Math.round(TENTHS * lead) }));

export const controls = (data, at) => panel(at, "Change the text and the lead",
  slider("n", "keys in the text", { max: data.counts.length - 1, show: (place) => whole(data.counts[place]) }),
  slider("lead", "lead", { max: TENTHS * MOST, show: (tenths) => num(tenths / TENTHS, 1) }),
  slider("others", "needles like it", { max: 4 }),
  tick("few", "read only the best"), slider("k", "how many", { max: data.counts.length, off: !at.few, show: (place) => whole(kept(data, place)) }),
  own(data), reset());

const kept = ({ counts }, place) => (place ? counts[place - 1] : 1);

/* What a text of n keys gives the needle, its rivals of the same score, and the hay, if the k best are read.
   Rivals that do not fit are left out by chance, and so is the needle: its weight is a mean. */
function shares(n, lead, others, k) {
  const rivals = Math.min(others, n - 1);
  const hay = Math.max(0, Math.min(k, n) - 1 - rivals) * Math.exp(-lead);
  const total = 1 + rivals + hay;
  return { needle: 1 / total, others: rivals / total, hay: hay / total };
}

export function model(data, { n, lead, others, few, k }) {
  const size = data.counts[n];
  const most = few ? kept(data, k) : size;
  const all = data.counts.map((count) => shares(count, lead / TENTHS, others, count).needle);
  return {
    ...shares(size, lead / TENTHS, others, most), size, read: Math.min(most, size), all,
    best: few ? data.counts.map((count) => shares(count, lead / TENTHS, others, most).needle) : null,
    half: Math.log(size - 1), // the lead that keeps half of the weight, without rivals
  };
}

const percent = (share) => (share >= 0.9995 && share < 1 ? "over 99.9 %" : share > 0 && share < 0.0005 ? "under 0.1 %" : `${num(100 * share, share < 0.0995 ? 1 : 0)} %`);

export function view(m, at, data) {
  const { counts, heads } = data;
  const across = scale([Math.log(counts[0]), Math.log(counts.at(-1))], [LEFT, RIGHT]);
  const x = (count) => across(Math.log(count));
  const y = scale([0, 1], [BASE, TOP]);
  const curve = (weights, kind) => h("path", { class: kind, d: `M${weights.map((one, place) => `${x(counts[place]).toFixed(1)} ${y(one).toFixed(1)}`).join("L")}` });
  const nearest = (place) => {
    const far = counts.map((count) => Math.abs(x(count) - place));
    return far.indexOf(Math.min(...far));
  };
  const move = ([px, py], now) => {
    const n = nearest(px);
    const hay = Math.min(now.few ? kept(data, now.k) : Infinity, counts[n]) - 1 - now.others;
    const odds = 1 / clamp((BASE - py) / (BASE - TOP), 1e-6, 0.999999) - 1 - now.others;
    return { n, lead: hay > 0 ? clamp(Math.round(TENTHS * -Math.log(Math.max(odds, 1e-9) / hay)), 0, TENTHS * MOST) : now.lead };
  };
  const parts = [["needle", m.needle, "am-hay-needle"], ["others like it", m.others, "am-hay-others"], ["hay", m.hay, "am-hay-hay"]];
  const [cx, cy] = [x(m.size), y(m.needle)];
  let from = LEFT;
  return chart(WIDE, BAR + THICK + 34, { role: "group", "aria-label": "The weight of the needle, by the number of keys" },
    label(0, 16, "weight of the needle", "am-bold"),
    levels([[0, "0"], [0.5, "50 %"], [1, "100 %"]], y, LEFT, RIGHT),
    [10, 100, 1000, 10000, 100000].map((count) => label(x(count), BASE + 20, whole(count), "am-axis am-middle")),
    label(RIGHT, BASE + 42, "keys in the text", "am-axis am-end"),
    heads.map(({ dots }) => dots.map(([count, weight], place) => [h("circle", { class: "am-hay-dot", cx: x(count), cy: y(weight), r: 4 }), place === dots.length - 1 && label(x(count) + 9, y(weight) + 5, "measured", "am-wine")])),
    curve(m.all, ["am-hay-curve", m.best && "am-hay-pale"]), m.best && curve(m.best, "am-hay-curve"),
    line(cx, cy, cx, BASE, "am-hay-drop"),
    h("g", {
      class: "am-handle", tabindex: 0, role: "slider", "aria-label": "keys and lead", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Math.round(100 * m.needle),
      "aria-valuetext": `${whole(m.size)} keys, lead ${num(at.lead / TENTHS, 1)}`, ...drag(move),
      ...arrowKeys(([right, up], { n, lead }) => ({ n: clamp(n + right, 0, counts.length - 1), lead: clamp(lead + up, 0, TENTHS * MOST) })),
    }, h("circle", { class: "am-hit", cx, cy, r: 18 }), h("circle", { class: "am-knob", cx, cy, r: 8 })),
    parts.map(([, share, kind]) => {
      const width = (RIGHT - LEFT) * share;
      from += width;
      return h("rect", { class: kind, x: from - width, y: BAR, width, height: THICK });
    }),
    h("rect", { class: "am-hay-frame", x: LEFT, y: BAR, width: RIGHT - LEFT, height: THICK }),
    range(3).map((which) => label([LEFT, (LEFT + RIGHT) / 2, RIGHT][which], BAR + THICK + 20, `${parts[which][0]} ${percent(parts[which][1])}`, [["", "am-middle", "am-end"][which], which === 0 && "am-bold"])));
}

export function said(m, { lead, others, few }) {
  const rivals = others ? ` ${others === 1 ? "One other needle has" : `${others} other needles have`} the same score.` : "";
  const reads = few ? ` Only the ${m.read === 1 ? "best key is" : `${whole(m.read)} best are`} read.` : "";
  return `A lead of ${num(lead / TENTHS, 1)} among ${whole(m.size)} keys.${rivals}${reads} The needle has ${percent(m.needle)} of the weight. To keep half of it among all of them alone, it needs a lead of ${num(m.half, 1)}.`;
}
