/* The atlas: architectures as tiles and as rows, which the reader chooses and orders, and which open. */
import { drawing, layerLine } from "./atlas-shapes.js";
import { CONTROLS, SAID, button, h, hint, panel, range, select } from "./kit.js";

const COLUMNS = ["Architecture", "Sizes of", "Layers", "Heads", "Positions", "Beside plain attention", "Keeps"];
const ORDERS = ["year", "name", "bytes kept, most first", "bytes kept, least first"];

export const lines = [1, 2];

export const start = () => ({ mark: 0, year: 0, order: 0, words: "", open: [] });

/* On paper nothing opens, and no sign says so. */
export const still = start;

const yearsOf = (rows) => [...new Set(rows.map(({ year }) => year))];

export const controls = ({ marks, rows }, at) => panel(at, "Choose and order architectures",
  select("mark", "Has", ["anything", "none of these", ...marks], { grows: true }),
  select("year", "Year", ["all", ...yearsOf(rows)], { grows: true }), select("order", "Order by", ORDERS, { grows: true }),
  h("label", { class: "am-atlas-words" }, h("span", {}, "Words"), h("input", {
    type: "search", spellcheck: "false", value: at.words, oninput: (now, event) => ({ words: event.target.value }),
  })),
  button("Show all", ({ open, order }, event, play) => ({ ...play.first, open, order }), { "data-grows": true }), hint("Press a name to open it."));

/* What words are sought in; numbers are found with and without their commas. */
function textOf({ name, sizes, year, pattern, heads, positions, marks, keeps, type }) {
  const text = [name, sizes, year, pattern, heads, positions, ...marks, keeps, type].join(" ").toLowerCase();
  return `${text} ${text.replace(/(\d),(?=\d)/g, "$1")}`;
}

/* The places of the rows that fit, in their order. */
export function model({ marks, rows }, { mark, year, order, words }) {
  const sought = words.toLowerCase().split(" ").filter(Boolean);
  const fits = (row) => (mark === 0 || (mark === 1 ? row.marks.length === 0 : row.marks.includes(marks[mark - 2]))) &&
    (year === 0 || row.year === yearsOf(rows)[year - 1]) && sought.every((word) => textOf(row).includes(word));
  const before = [
    (a, b) => a - b, (a, b) => (rows[a].name.toLowerCase() < rows[b].name.toLowerCase() ? -1 : 1),
    (a, b) => rows[b].bytes - rows[a].bytes || a - b, (a, b) => rows[a].bytes - rows[b].bytes || a - b,
  ][order];
  return range(rows.length).filter((place) => fits(rows[place])).sort(before);
}

const opened = (row, { library, hub }) => h("tr", { class: "am-atlas-more" }, h("td", { colspan: COLUMNS.length }, h("div", { class: "am-atlas-open" },
  drawing(row), h("div", { class: "am-atlas-told" },
    row.unusual && h("p", {}, row.unusual),
    row.file && h("p", {}, "Sizes: ", h("a", { href: hub + row.file }, row.file), "."), row.facts.map((sentence) => h("p", {}, sentence)), h("p", {}, row.parity.join(" ")),
    h("p", {}, "Reference: ", h("a", { href: library + row.path }, row.path.split("/").pop()), row.of ? `, as in ${row.of}` : "",
      `. In config.json: ${row.type}. `, h("a", { href: "#the-code-of-the-mixers" }, "The code of its mixers"), ".")))));

/* Open a row, and go there. */
const goTo = (type) => ({ open }, event, play) => {
  setTimeout(() => play.root.querySelector(`[data-row="${type}"]`)?.scrollIntoView({ block: "start" }));
  return { ...play.first, open: open.includes(type) ? open : [...open, type] };
};

const tiles = (shown, rows) => h("ol", { class: "am-atlas-years" }, yearsOf(rows).map((year) => h("li", {}, h("b", {}, year),
  h("ul", {}, rows.map((row, place) => row.year === year && h("li", {}, h("button", {
    type: "button", class: ["am-atlas-tile", !shown.includes(place) && "am-off"], onclick: goTo(row.type),
  }, row.name, layerLine(row.layers, row.pattern))))))));

export function view(shown, { open }, data) {
  const toggled = (type) => ({ open: now }) => ({ open: now.includes(type) ? now.filter((other) => other !== type) : [...now, type] });
  const cell = (name, ...words) => h("td", { class: `am-atlas-${name}` }, words);
  const line = (row) => h("tr", { "data-row": row.type },
    h("th", { scope: "row", class: "am-atlas-name" },
      h("button", { type: "button", class: "am-atlas-opener", "aria-expanded": open.includes(row.type), onclick: toggled(row.type) }, row.name), " ", h("small", {}, row.year)),
    cell("sizes", row.sizes), cell("layers", layerLine(row.layers, `${row.layers.length} layers: ${row.pattern}`), h("span", {}, row.pattern)),
    cell("heads", row.heads), cell("positions", row.positions), cell("marks", row.marks.join(", ") || "none"), cell("keeps", row.keeps));
  return [CONTROLS, SAID, tiles(shown, data.rows), h("div", { class: "am-atlas-room" }, h("table", { class: "am-table am-atlas-table" },
    h("thead", {}, h("tr", {}, COLUMNS.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, shown.map((place) => data.rows[place]).map((row) => [line(row), open.includes(row.type) && opened(row, data)]))))];
}

export const said = (shown, at, { rows }) => `${shown.length} of ${rows.length} architectures are shown.`;
