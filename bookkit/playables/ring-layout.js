/* Four devices in a ring, and a text in pieces that the reader hands out: who computes what, and when. */
import { CONTROLS, SAID, arrow, arrowKeys, bar, button, chart, clamp, drag, h, hint, label, panel, range, stepKeys, steps, sum, table, tick } from "./kit.js";

const [LEFT, UNIT, TOP, ROW] = [40, 44, 46, 22]; // of the map, in its units

export const lines = [3, 6];

/* `order` has the piece at each place of the text. Pieces 0 and 1 are device A's, 2 and 3 are B's. */
export const start = ({ devices, each }) => ({ order: range(devices * each), causal: true, round: 0 });

/* Paper shows a round in which somebody waits. */
export const still = (data) => ({ ...start(data), round: 1 });

const layouts = ({ devices, each }) => {
  const turn = (way) => range(each).flatMap((lap) => way(range(devices), lap).map((device) => device * each + lap));
  return [
    ["in order", range(devices * each)],
    ["in stripes", turn((all) => all)],
    ["there and back", turn((all, lap) => (lap % 2 ? all.toReversed() : all))],
  ];
};

export const controls = (data, at) => panel(at, "Hand out the pieces, and let the keys travel",
  layouts(data).map(([name, order]) => button(name, { order }, { "aria-pressed": String(order) === String(at.order) })),
  tick("causal", "causal mask"), steps("round", data.devices - 1),
  hint("Drag a piece of the text to another place, or press the arrow keys on it."));

export const keys = (at, { devices }) => stepKeys(at, "round", devices - 1);

/* In round t device r has the keys of device r - t. */
export function model({ devices, each, tokens }, { order, causal }) {
  const owner = order.map((piece) => Math.floor(piece / each));
  const pairs = (q, k) => (!causal || k < q ? tokens * tokens : k === q ? (tokens * (tokens + 1)) / 2 : 0);
  const when = (q, k) => (owner[q] - owner[k] + devices) % devices;
  const places = range(order.length);
  const rounds = range(devices).map((turn) => range(devices).map((device) => sum(
    places.filter((q) => owner[q] === device).flatMap((q) => places.filter((k) => when(q, k) === turn).map((k) => pairs(q, k))))));
  const slowest = rounds.map((row) => Math.max(...row));
  return { owner, rounds, slowest, whole: sum(slowest), even: sum(rounds.flat()) / devices, turns: places.map((q) => places.map((k) => when(q, k))) };
}

const NAMES = ["A", "B", "C", "D"];
const keysOf = (device, round, devices) => (device - round + devices) % devices;

function map({ owner, turns }, { order, causal, round }, { tokens }) {
  const moved = (piece, place) => ({ order }) => ({ order: order.filter((one) => one !== piece).toSpliced(clamp(place, 0, order.length - 1), 0, piece) });
  const chip = (piece) => {
    const place = order.indexOf(piece);
    const [device, first] = [NAMES[owner[place]], tokens * place + 1];
    return h("g", {
      class: ["am-handle am-ring-piece", `am-ring-${owner[place]}`], tabindex: 0, role: "slider", "aria-label": `A piece of device ${device}`,
      "aria-valuemin": 1, "aria-valuemax": order.length, "aria-valuenow": place + 1, "aria-valuetext": `tokens ${first} to ${first + tokens - 1}`,
      ...drag(([x], at) => moved(piece, Math.floor((x - LEFT) / UNIT))(at)),
      ...arrowKeys(([right, up], at) => moved(piece, at.order.indexOf(piece) + right + up)(at)),
    }, h("rect", { x: LEFT + UNIT * place + 1, width: UNIT - 2, y: 4, height: 34, rx: 3, class: "am-hit" }), label(LEFT + UNIT * (place + 0.5), 27, device, "am-middle"));
  };
  const block = (q, k) => {
    if (causal && k > q) return null;
    const [x, y, half] = [LEFT + UNIT * k, TOP + ROW * q, causal && k === q];
    const d = half ? `M${x} ${y}h${UNIT / 2}v${ROW / 2}h${UNIT / 2}v${ROW / 2}h${-UNIT}z` : `M${x} ${y}h${UNIT}v${ROW}h${-UNIT}z`;
    const turn = turns[q][k];
    return h("path", { d, class: ["am-ring-block", `am-ring-${owner[q]}`, turn < round && "am-ring-done", turn > round && "am-ring-later"] });
  };
  const side = (q) => h("g", { class: `am-ring-${owner[q]}` },
    h("rect", { x: LEFT - 26, width: 22, y: TOP + ROW * q + 1, height: ROW - 2, rx: 3 }), label(LEFT - 15, TOP + ROW * q + 16, NAMES[owner[q]], "am-middle"));
  const places = range(order.length);
  return chart(LEFT + UNIT * order.length + 2, TOP + ROW * order.length + 22, { class: "am-ring", role: "group", "aria-label": "The text, and which device computes what" },
    places.map((q) => [side(q), places.map((k) => block(q, k))]),
    h("path", { class: "am-ring-frame", d: `M${LEFT} ${TOP}h${UNIT * order.length}v${ROW * order.length}h${-UNIT * order.length}z` }),
    label(LEFT, TOP + ROW * order.length + 18, "rows are queries, columns are keys", "am-axis"),
    places.map(chip));
}

function ring({ rounds, slowest }, { round }, { devices }) {
  const [wide, base] = [392, 152];
  const middle = (device) => (wide / devices) * (device + 0.5);
  const most = Math.max(...slowest);
  const one = (device) => {
    const [x, pairs] = [middle(device), rounds[round][device]];
    const waits = pairs < slowest[round];
    const tall = (56 * pairs) / most;
    return [
      h("g", { class: `am-ring-${device}` }, h("circle", { cx: x, cy: 34, r: 15 }), label(x, 39, NAMES[device], "am-middle")),
      label(x, 68, `keys of ${NAMES[keysOf(device, round, devices)]}`, "am-middle"),
      bar(x - 22, 44, base, tall, ["am-moves", `am-ring-${device}`, waits && "am-ring-done"]),
      label(x, base - tall - 5, String(pairs), ["am-middle", waits ? "am-pale" : "am-bold"]),
      device < devices - 1 && h("path", { class: "am-arrow", d: arrow([x + 20, 34], [middle(device + 1) - 20, 34]) }),
    ];
  };
  const [first, last] = [middle(0), middle(devices - 1)];
  return chart(wide, base + 6, { "aria-hidden": "true" },
    h("path", { class: "am-arrow", d: `M${last} 16V6H${first}${arrow([first, 6], [first, 17])}` }), range(devices).map(one));
}

export function view(m, at, data) {
  const { rounds, slowest, whole, even } = m;
  const rows = rounds.map((row, turn) => ({
    class: [turn === at.round && "am-now"],
    cells: [turn + 1, ...row.map((pairs) => ({ words: pairs, class: pairs === slowest[turn] && "am-bold" })), slowest[turn]],
  }));
  const total = range(data.devices).map((device) => sum(rounds.map((row) => row[device])));
  return [CONTROLS, map(m, at, data), ring(m, at, data), SAID,
    table(["round", ...NAMES.slice(0, data.devices), "slowest"], rows, { foot: [["all", ...total, { words: whole, class: whole > even && "am-wrong" }]] })];
}

export function said({ rounds, slowest, whole, even }, { round }, { devices }) {
  const has = range(devices).map((device) => `${NAMES[device]} ${rounds[round][device]}`).join(", ");
  const waiting = NAMES.slice(0, devices).filter((_, device) => rounds[round][device] < slowest[round]);
  const wait = waiting.length === 0 ? "Nobody waits." : `${waiting.join(" and ")} ${waiting.length === 1 ? "waits" : "wait"} for the slowest.`;
  const best = whole === even ? "the least there can be" : `where ${even} would do if all had equal work`;
  return `Round ${round + 1} of ${devices}. Pairs of a query and a key: ${has}. ${wait} The rounds take ${slowest.join(" + ")} = ${whole} in all, ${best}.`;
}
