/* A digit cut into patches, which a hand moves, covers or draws, and two readers of it. */
import { CONTROLS, SAID, argmax, button, chart, choice, h, label, line, num, painting, panel, range, reset, select, sum, table } from "./kit.js";
import { read } from "./vision-model.js";

const [SIDE, PATCHES, TAKEN] = [8, 16, 4]; // pixels of a side, patches, and how many a rule takes
const [MOVE, COVER, DRAW] = [0, 1, 2];
const [FULL, NAMES] = [16, ["with positions", "bag of patches"]];

export const lines = [3, 6];

export const start = ({ pictures: [first] }) => ({ task: MOVE, digit: 0, ink: first.ink, order: range(PATCHES), covered: [], chosen: -1, shuffles: 0 });

/* The pixels of a patch, by its place: row by row. */
const pixelsOf = (place) => [0, 1, SIDE, SIDE + 1].map((step) => (2 * SIDE) * Math.floor(place / 4) + 2 * (place % 4) + step);

/* Another order of the patches, the same for the same number: a shuffle without luck, for whoever tries again. */
function shuffled(number) {
  let state = 7919 * number + 1;
  const order = range(PATCHES);
  for (let last = PATCHES - 1; last > 0; last -= 1) {
    state = (1103515245 * state + 12345) % 2 ** 31;
    const other = Math.floor((state / 2 ** 31) * (last + 1));
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

const highest = (ranks) => range(ranks.length).sort((one, other) => ranks[other] - ranks[one] || one - other).slice(0, TAKEN);
const without = (places) => range(PATCHES).map((place) => !places.includes(place));

/* What both readers make of the patches that are left, and, where patches are covered, which four each rule
   takes and what the reader with positions makes of the rest. */
export function model({ places, bag }, { task, ink, order, covered }) {
  const patches = order.map((from) => pixelsOf(from).map((pixel) => ink[pixel] / FULL));
  const readers = [places, bag].map((weights) => read(weights, patches, without(covered)).chances);
  if (task !== COVER) return { patches, readers, fours: [] };
  const { chances, looks } = read(places, patches);
  const own = argmax(chances);
  const inked = patches.map((patch) => sum(patch.map((value) => value ** 2)));
  const missed = range(PATCHES).map((place) => -read(places, patches, without([place])).chances[own]);
  const fours = [looks, inked, missed].map((ranks) => {
    const four = highest(ranks);
    return { four, chances: read(places, patches, without(four)).chances };
  });
  return { patches, readers, fours };
}

const RULES = ["Most attention", "Most ink", "Missed most"];

export const controls = (data, at) => panel(at, "Change the picture",
  choice("task", "A press", ["moves", "covers", "draws"], {
    then: ({ task }) => (task === DRAW ? { chosen: -1, covered: [], order: range(PATCHES) } : { chosen: -1 }), grows: true,
  }),
  select("digit", "Digit", data.pictures.map(({ name }) => name), { then: ({ digit }) => ({ ink: data.pictures[digit].ink, covered: [], chosen: -1 }) }),
  at.task === MOVE && [
    button("Shuffle", ({ shuffles }) => ({ order: shuffled(shuffles + 1), shuffles: shuffles + 1, chosen: -1 })),
    button("Put back", { order: range(PATCHES), chosen: -1 }),
  ],
  at.task === COVER && [
    RULES.map((rule, which) => button(rule, (now) => ({ covered: model(data, now).fours[which].four }))),
    button("Uncover", { covered: [] }),
  ],
  at.task === DRAW && button("Blank paper", { ink: range(SIDE * SIDE).map(() => 0) }),
  reset());

const cellOf = (element) => element?.closest("[data-cell]");
const placeOf = (cell) => { const [row, column] = cell.getAttribute("data-cell").split(" ").map(Number); return 4 * row + column; };
const exchanged = ({ order }, one, other) => ({ order: order.with(one, order[other]).with(other, order[one]), chosen: -1 });

/* Press a patch and then another, or drag it there: the two change places. */
const moving = {
  onpointerdown(at, event, play) {
    [play.from, play.dropped] = [cellOf(event.target), false];
  },
  onpointerup(at, event, play) {
    const to = cellOf(document.elementFromPoint(event.clientX, event.clientY));
    play.dropped = Boolean(play.from && to && to !== play.from && event.currentTarget.contains(to));
    return play.dropped ? exchanged(at, placeOf(play.from), placeOf(to)) : null;
  },
  onclick(at, event, play) {
    const cell = cellOf(event.target);
    if (!cell || (event.detail > 0 && play.dropped)) return null;
    const place = placeOf(cell);
    if (at.chosen < 0) return { chosen: place };
    return at.chosen === place ? { chosen: -1 } : exchanged(at, at.chosen, place);
  },
};

const covering = {
  onclick({ covered }, event) {
    const cell = cellOf(event.target);
    if (!cell) return null;
    const place = placeOf(cell);
    return { covered: covered.includes(place) ? covered.filter((one) => one !== place) : [...covered, place] };
  },
};

const drawing = painting(([row, column], on, { ink }) => ({ ink: ink.with(SIDE * row + column, on ? FULL : 0) }));

const shade = (value) => ({ "--ink": value });

function paper({ patches }, { task, ink, covered, chosen }) {
  if (task === DRAW) {
    return h("div", { class: "am-digit-paper am-digit-pixels am-rove", rove: true, ...drawing },
      ink.map((value, at) => h("button", {
        type: "button", class: "am-digit-pixel", key: "pixel", "data-cell": `${Math.floor(at / SIDE)} ${at % SIDE}`, "aria-pressed": value > 0,
        "aria-label": `row ${Math.floor(at / SIDE) + 1}, column ${(at % SIDE) + 1}`, style: shade(value / FULL),
      })));
  }
  return h("div", { class: ["am-digit-paper am-rove", task === MOVE && "am-digit-moves"], rove: true, ...(task === MOVE ? moving : covering) },
    patches.map((pixels, place) => {
      const out = covered.includes(place);
      return h("button", {
        type: "button", class: ["am-digit-patch", out && "am-digit-out", place === chosen && "am-digit-chosen"], key: "patch",
        "data-cell": `${Math.floor(place / 4)} ${place % 4}`, "aria-pressed": task === MOVE ? place === chosen : out,
        "aria-label": `patch in row ${Math.floor(place / 4) + 1}, column ${(place % 4) + 1}${out ? ", left out" : ""}, ink ${num(sum(pixels) / 4)}`,
      }, pixels.map((value) => h("span", { style: shade(value) })));
    }));
}

const percent = (share) => `${num(100 * share, 0)}\u00a0%`;

function bars({ readers }) {
  return chart(300, 262, { class: "am-digit-bars" }, readers.map((chances, reader) => {
    const [base, best] = [104 + 130 * reader, argmax(chances)];
    return [
      label(6, base - 86, NAMES[reader]), label(294, base - 86, `${best}: ${percent(chances[best])}`, "am-bold am-end"),
      line(6, base, 294, base, "am-level"),
      chances.map((share, digit) => [
        h("rect", { class: ["am-bar", digit === best && "am-new"], x: 8 + 29 * digit, width: 23, y: base - 76 * share, height: 76 * share }),
        label(19.5 + 29 * digit, base + 17, digit, digit === best ? "am-middle am-bold" : "am-middle am-axis"),
      ]),
    ];
  }));
}

function rules({ fours, readers: [chances] }, { covered }, { still }) {
  const says = (one) => `${argmax(one)}, at ${percent(one[argmax(one)])}`;
  return table(["Four patches left out", "this picture is read as", "of 100 digits, still read"], [
    [`your own: ${covered.length}`, says(chances), "\u2013"],
    ...fours.map((one, which) => [RULES[which].toLowerCase(), says(one.chances), num(still[which], 0)]),
    ["four by chance", "\u2013", num(still.at(-1), 0)],
  ]);
}

export const view = (m, at, data) => [
  CONTROLS,
  h("div", { class: "am-digit-columns" }, paper(m, at), bars(m)),
  SAID,
  at.task === COVER && rules(m, at, data),
];

export function said({ readers }, { task, order, covered, chosen }) {
  const best = readers.map(argmax);
  const says = `With positions it is read as ${best[0]}, at ${percent(readers[0][best[0]])}; as a bag of patches, as ${best[1]}, at ${percent(readers[1][best[1]])}.`;
  const moved = order.filter((from, place) => from !== place).length;
  const parts = [
    moved ? `${moved} of the ${PATCHES} patches are not at their own position.` : task === MOVE && "All patches are at their own position.",
    covered.length > 0 && `Left out: ${covered.length}.`, says,
    chosen >= 0 && "One patch is chosen: press another one to exchange the two.",
  ];
  return parts.filter(Boolean).join(" ");
}
