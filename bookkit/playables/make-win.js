/* A race of several models whose rules a reader makes: what must be equal, which sentences are the test, what counts. */
import { arrowKeys, bar, button, capital, chart, choice, clamp, drag, h, hint, label, line, num, panel, slider, sum, whole } from "./kit.js";

const [WIDE, ROW, NAMES, LONG, EDGE] = [504, 30, 185, 262, 10]; // of the drawing, a lane, its name, a full bar, and a knob's room
const TIE = 0.05; // less than is shown

export const lines = [4, 7];

const mean = (numbers) => sum(numbers) / numbers.length;

/* The longest training of each model within the limit; only where time is equal may it have more updates than the others. */
function entered({ trainings, rules }, { equal, limit }) {
  const { limits, longer } = rules[equal];
  const fits = ({ costs }) => costs[equal] <= limits[limit] && (longer || costs[0] <= rules[0].limits[0]);
  return [...new Map(trainings.filter(fits).map((one) => [one.name, one])).values()];
}

/* The lanes, the best first; who shares the first place, and on how many seeds its first one leads the second. */
export function model(data, at) {
  const lanes = entered(data, at).map(({ name, costs, scores }) => {
    const seeds = scores[at.counts][0].map((_, seed) => mean(scores[at.counts].slice(at.from, at.to + 1).map((length) => length[seed])));
    return { name, updates: costs[0], seeds, score: mean(seeds) };
  }).sort((one, other) => other.score - one.score);
  const [first, second] = lanes;
  const ahead = second ? first.seeds.filter((score, seed) => score > second.seeds[seed]).length : 0;
  return { lanes, tied: lanes.filter(({ score }) => first.score - score < TIE).map(({ name }) => name), ahead };
}

/* Who has won so far, with the winner of this race. */
function crowned(data, at) {
  const [name, ...others] = model(data, at).tied;
  return { won: others.length || at.won.includes(name) ? at.won : [...at.won, name] };
}

const changed = (data, at, changes) => ({ ...changes, ...crowned(data, { ...at, ...changes }) });

export const start = (data) => {
  const first = { equal: 0, limit: 0, counts: 0, from: 0, to: data.lengths.findIndex(([, most]) => most === data.trained), won: [] };
  return { ...first, ...crowned(data, first) };
};

const much = ({ unit }, cost) => `${whole(Math.round(cost))} ${unit}`;
/* In a slider whose name says the unit, a number is enough. */
const short = (rule, cost) => (rule.unit === rule.name ? whole(Math.round(cost)) : much(rule, cost));

export function controls(data, at) {
  const { rules, measures } = data;
  const { limits } = rules[at.equal];
  const then = (now) => crowned(data, now);
  return panel(at, "Make the rules of the race",
    choice("equal", "One limit for all", rules.map(({ name }) => name), { then: (now) => changed(data, now, { limit: rules[now.equal].limits.length - 1 }) }),
    slider("limit", `${capital(rules[at.equal].name)} at most`, { max: limits.length - 1, show: (place) => short(rules[at.equal], limits[place]), then, off: limits.length < 2 }),
    choice("counts", "What counts", measures, { then }), hint("Drag the two knobs, or press the arrow keys on them."),
    button("Reset", ({ won }, event, play) => ({ ...play.first, won }), { "data-grows": true }));
}

/* Move one end of the tested lengths; it takes the other along where they meet. */
function put(data, at, key, to) {
  const place = clamp(to, 0, data.lengths.length - 1);
  return changed(data, at, key === "from" ? { from: place, to: Math.max(place, at.to) } : { from: Math.min(place, at.from), to: place });
}

/* In gold for who wins, paler for who has won before. */
const crown = (base, opacity) => opacity > 0 && h("path", {
  class: "am-knob", opacity, role: "img", "aria-label": opacity < 1 ? "has won before" : "wins", d: `M3 ${base - 2}v-13l5 5 5-7 5 7 5-5v13z`,
});

export function view({ lanes, tied }, at, data) {
  const { rules, trainings, lengths } = data;
  const within = new Set(lanes.map(({ name }) => name));
  const out = [...new Set(trainings.map(({ name }) => name))].filter((name) => !within.has(name));
  const costOf = (name) => Math.min(...trainings.filter((one) => one.name === name).map(({ costs }) => costs[at.equal]));
  const rows = [...lanes, ...out.map((name) => ({ name }))].map(({ name, score }, row) => {
    const base = (row + 1) * ROW - 6;
    const wins = tied.length === 1 && tied[0] === name && "am-bold";
    return h("g", {},
      crown(base, wins ? 1 : at.won.includes(name) ? 0.4 : 0),
      label(30, base - 3, name, [wins, score === undefined && "am-pale"]),
      bar(NAMES, score === undefined ? 0 : (LONG * score) / 100, base, 18),
      score === undefined
        ? label(NAMES, base - 3, `needs ${much(rules[at.equal], costOf(name))}`, "am-pale")
        : label(WIDE, base - 3, num(score, 1), ["am-end", wins]));
  });
  const [y, each] = [rows.length * ROW + 40, (WIDE - 2 * EDGE) / lengths.length];
  const x = (edge) => EDGE + edge * each;
  const knob = (key, name, edge) => h("g", {
    class: "am-handle", tabindex: 0, role: "slider", "aria-label": name,
    "aria-valuemin": lengths[0][0], "aria-valuemax": lengths.at(-1)[1], "aria-valuenow": lengths[at[key]][key === "from" ? 0 : 1],
    ...drag(([to], now) => put(data, now, key, Math.round((to - EDGE) / each) - (key === "to" ? 1 : 0))),
    ...arrowKeys(([right, up], now) => put(data, now, key, now[key] + (right || up))),
  }, h("circle", { class: "am-hit", cx: x(edge), cy: y + 7, r: 17 }), h("circle", { class: "am-knob", cx: x(edge), cy: y + 7, r: 9 }));
  const beyond = lengths.findIndex(([least]) => least > data.trained);
  return chart(WIDE, y + 44, { class: "am-race", role: "group", "aria-label": "The models, the best first, and the lengths of the test sentences" },
    rows, label(0, y - 12, "words in a test sentence"),
    beyond > 0 && [label(WIDE, y - 12, "longer than in training", "am-end am-pale"), line(x(beyond), y - 6, x(beyond), y + 20, "am-mark")],
    lengths.map(([least, most], place) => [
      h("rect", { x: x(place) + 1, y, width: each - 2, height: 14, class: place >= at.from && place <= at.to ? "am-bar" : "am-outline" }),
      label(x(place + 0.5), y + 38, `${least}\u2013${most}`, "am-middle"),
    ]),
    knob("from", "shortest test sentences", at.from), knob("to", "longest test sentences", at.to + 1));
}

const list = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");

export function said({ lanes, tied, ahead }, { counts, won }, { rules, trainings, measures }) {
  const [first, second] = lanes;
  const [usual] = rules[0].limits;
  const points = `with ${num(first.score, 1)} of 100`;
  const lead = second ? `, ${num(first.score - second.score, 1)} ahead of ${second.name}, on ${ahead} of ${first.seeds.length} seeds.` : ": no other fits.";
  const result = tied.length > 1 ? `${list(tied)} share the first place ${points}: no crown.` : `${first.name} wins ${points}${lead}`;
  const apart = lanes.filter(({ updates }) => updates !== usual).map(({ name, updates }) => `${name} ${whole(updates)}; `);
  const note = apart.length > 0 ? ` Updates: ${apart.join("")}all others ${whole(usual)}.` : "";
  const models = new Set(trainings.map(({ name }) => name)).size;
  return `In ${measures[counts]}, ${result}${note} Crowned so far: ${won.length} of ${models}.`;
}
