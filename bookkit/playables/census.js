/* The census: architectures by year, and which of them have what the reader picks. */
import { layerLine } from "./atlas-shapes.js";
import { CONTROLS, SAID, capital, choice, h, panel } from "./kit.js";

export const lines = [4, 7];

export const start = () => ({ mark: 0 });

export const controls = ({ marks }, at) => panel(at, "Choose what an architecture has", choice("mark", "Has:", ["anything", ...marks.map(([name]) => name)]));

const has = (row, name) => row.marks.includes(name);

/* For every year, how many there are, and how many of them have it. */
export function model({ marks, rows }, { mark }) {
  const years = [...new Set(rows.map(({ year }) => year))];
  return years.map((year) => {
    const among = rows.filter((row) => row.year === year);
    return { year, all: among.length, having: mark === 0 ? 0 : among.filter((row) => has(row, marks[mark - 1][0])).length };
  });
}

export const view = (years, { mark }, { marks, rows }) => [CONTROLS, SAID, h("ol", { class: "am-census-years" }, years.map(({ year }) =>
  h("li", { class: "am-census-year" }, h("span", { class: "am-census-number" }, year),
    h("ul", { class: "am-census-names" }, rows.filter((row) => row.year === year).map((row) =>
      h("li", { class: ["am-census-name", mark > 0 && (has(row, marks[mark - 1][0]) ? "am-on" : "am-off")] }, row.name, layerLine(row.layers, row.pattern)))))))];

export function said(years, { mark }, { marks, rows }) {
  if (mark === 0) return `All ${rows.length} architectures, whose files are stamped ${years[0].year} to ${years.at(-1).year}.`;
  const [name, words] = marks[mark - 1];
  const counts = years.map(({ year, all, having }) => `${year}: ${having} of ${all}`);
  return `${capital(name)}: ${rows.filter((row) => has(row, name)).length} of ${rows.length}. ${words} ${counts.join(", ")}.`;
}
