/* The history of attention as a line of steps: each has its name, and a dot for everything that it changed. */
import { capital, choice, h, hint, panel, unseen } from "./kit.js";

export const start = () => ({ thread: 0, open: [] });
export const lines = [2, 3];

export const controls = ({ kinds, steps }, at) => panel(at, "Choose which steps are shown",
  choice("thread", "Show", ["the main line", ...kinds.map(([kind]) => kind), `all ${steps.length}`], { then: { open: [] }, grows: true }),
  hint("Press a name to read what the step kept and what it changed."));

/* The steps that are shown, each with its year and with the kinds that it changed. */
export function model({ kinds, steps, main }, { thread }) {
  const places = steps.map((_, place) => place);
  const chosen = thread === 0 ? main : places.filter((place) => thread > kinds.length || steps[place].kinds.includes(kinds[thread - 1][0]));
  return chosen.map((place) => ({ place, year: Number(steps[place].date.slice(0, 4)), changed: kinds.map(([kind]) => steps[place].kinds.includes(kind)) }));
}

const words = ({ month, kinds, kept, changed, url, by, where }) => h("div", { class: "am-timeline-words" },
  h("p", {}, `${month}. Changed: ${kinds.join(", ")}.`), h("p", {}, h("strong", {}, "Kept: "), kept), h("p", {}, h("strong", {}, "Changed: "), changed),
  h("p", {}, "Source: ", h("a", { href: url }, by), where === "abstract" ? ", of which we could read only the abstract." : `, ${where}.`));

const lanes = (cells) => h("span", { class: "am-timeline-lanes", "aria-hidden": "true" }, cells);

export function view(shown, { thread, open }, { kinds, steps }) {
  const row = ({ place, year, changed }, at) => {
    const { name, by, kinds: own } = steps[place];
    return h("li", { class: "am-timeline-row" },
      h("span", { class: "am-timeline-year" }, at > 0 && shown[at - 1].year === year ? unseen(year) : year),
      lanes(changed.map((on, lane) => h("span", { class: ["am-timeline-lane", on && "am-on", lane === thread - 1 && "am-here"] }))),
      h("button", {
        type: "button", class: "am-timeline-step", "data-cell": `${at} 0`, "aria-expanded": open.includes(place),
        onclick: () => ({ open: open.includes(place) ? open.filter((other) => other !== place) : [...open, place] }),
      }, name, h("span", { class: "am-timeline-by" }, ` ${by}`), unseen(`, changed ${own.join(" and ")}`)),
      open.includes(place) && words(steps[place]));
  };
  return [h("div", { class: "am-timeline-row am-timeline-heads", "aria-hidden": "true" }, h("span"), lanes(kinds.map(([kind]) => h("span", {}, kind)))),
    h("ol", { class: "am-timeline-rows am-rove", rove: true, "data-grows": true }, shown.map(row))];
}

export function said(shown, { thread }, { kinds, steps }) {
  const [first, last] = [shown[0], shown.at(-1)].map(({ place }) => `${steps[place].month} (${steps[place].name})`);
  const [kind, what] = kinds[thread - 1] ?? [];
  return `${kind ? `${capital(kind)}, ${what}: ` : ""}${shown.length} of ${steps.length} steps, from ${first} to ${last}.`;
}
