/* The history of attention as a line of years: a thread of it by what was changed, a step by its name. */
import { CONTROLS, SAID, capital, chart, choice, h, hint, label, line, panel, range } from "./kit.js";

const [WIDE, LEFT, RIGHT] = [480, 76, 472];
const [RADIUS, APART, ROOM] = [4.2, 9.5, 17]; // of a dot, from dot to dot, above a line's highest dot

export const start = () => ({ thread: 0, open: [] });

const among = ({ kinds }, steps, thread) => (thread === 0 ? steps : steps.filter((step) => step.kinds.includes(kinds[thread - 1][0])));

export const controls = (data, at) => panel(at, "Choose what was changed",
  choice("thread", "Changed:", ["anything", ...data.kinds.map(([kind]) => kind)], {
    then: ({ thread, open }) => ({ open: open.filter((place) => among(data, [data.steps[place]], thread).length > 0) }), grows: true,
  }),
  hint("Press a name to read what it kept and what it changed."));

const yearOf = ({ date }) => Number(date.slice(0, 4));

/* The steps of each kind with the place of their dots: the time of a step, and how high it is stacked. */
export function model({ kinds, steps }) {
  const [first, last] = [yearOf(steps[0]), yearOf(steps.at(-1)) + 1];
  const x = (year) => LEFT + ((RIGHT - LEFT) * (year - first)) / (last - first);
  const lanes = kinds.map(([kind]) => steps.reduce((placed, step, place) => {
    if (!step.kinds.includes(kind)) return placed;
    const dot = { place, x: x(yearOf(step) + (Number(step.date.slice(5)) - 0.5) / 12), height: 0 };
    while (placed.some((other) => Math.abs(dot.x - other.x) < APART && dot.height === other.height)) dot.height += APART;
    return [...placed, dot];
  }, []));
  return { lanes, years: range(last - first, first).map((year) => ({ year, from: x(year), to: x(year + 1) })) };
}

function drawn({ lanes, years }, { thread, open }, { kinds, steps }) {
  let base = 0;
  const all = lanes.map((dots, lane) => {
    base += ROOM + Math.max(...dots.map(({ height }) => height));
    return h("g", { class: ["am-timeline-lane", thread > 0 && thread !== lane + 1 && "am-off"] },
      label(0, base + 3, kinds[lane][0]), line(LEFT, base + 6, RIGHT, base + 6, "am-timeline-line"),
      dots.map(({ place, x, height }) => h("circle", { class: ["am-timeline-dot", open.includes(place) && "am-here"], cx: x, cy: base - height, r: RADIUS },
        h("title", {}, steps[place].name))));
  });
  return chart(WIDE, Math.round(base + 30), {},
    [...years.map(({ from }) => from), RIGHT].map((x) => line(x, 4, x, base + 10, "am-level")),
    years.filter((_, at) => at % 2 === 0).map(({ year, from, to }) => label((from + to) / 2, base + 26, year, "am-axis am-middle")), all);
}

const words = ({ month, kinds, kept, changed, url, by, where }) => h("div", { class: "am-timeline-words" },
  h("p", {}, `${month}: ${kinds.join(", ")}.`), h("p", {}, h("strong", {}, "Kept: "), kept), h("p", {}, h("strong", {}, "Changed: "), changed),
  h("p", {}, "Source: ", h("a", { href: url }, by), `, ${where}.`));

function listed({ years }, { thread, open }, data) {
  const places = data.steps.map((_, place) => place);
  const toggled = (place) => ({ open: now }) => ({ open: now.includes(place) ? now.filter((other) => other !== place) : [...now, place].sort((a, b) => a - b) });
  const name = (place, row, column) => {
    const found = among(data, [data.steps[place]], thread).length > 0;
    return h("li", {}, h("button", {
      type: "button", class: ["am-timeline-step", thread > 0 && (found ? "am-on" : "am-off")], "data-cell": `${row} ${column}`,
      "aria-expanded": open.includes(place), onclick: toggled(place),
    }, data.steps[place].name));
  };
  return h("ol", { class: "am-timeline-years am-rove", rove: true, "data-grows": true }, years.map(({ year }, row) => {
    const members = places.filter((place) => yearOf(data.steps[place]) === year);
    return h("li", { class: "am-timeline-year" }, h("span", { class: "am-timeline-number" }, year),
      h("ul", { class: "am-timeline-steps" }, members.map((place, column) => name(place, row, column))),
      members.filter((place) => open.includes(place)).map((place) => words(data.steps[place])));
  }));
}

export const view = (m, at, data) => [CONTROLS, SAID, drawn(m, at, data), listed(m, at, data)];

export function said(m, { thread }, data) {
  const { kinds, steps } = data;
  const found = among(data, steps, thread);
  const [first, last] = [found[0], found.at(-1)];
  if (thread === 0) return `All ${steps.length} steps from ${yearOf(first)} to ${yearOf(last)} are shown.`;
  const [kind, what] = kinds[thread - 1];
  return `${capital(kind)}, ${what}: ${found.length} of ${steps.length} steps, from ${first.month} (${first.name}) to ${last.month} (${last.name}).`;
}
