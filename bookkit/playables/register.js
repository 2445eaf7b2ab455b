/* The register of claims: a table whose rows the reader chooses. */
import { CONTROLS, SAID, h, panel, reset, select, table, toPage } from "./kit.js";

export const lines = [1, 2];

export const start = ({ columns }) => ({ words: "", ...Object.fromEntries(columns.map(({ name }) => [name, 0])) });

export const controls = ({ columns }, at) => panel(at, "Choose which claims are shown",
  columns.map(({ name, title, values }) => select(name, title, ["all", ...values], { grows: true })),
  h("label", { class: "am-register-words" }, h("span", {}, "Words"), h("input", {
    type: "search", spellcheck: "false", value: at.words, oninput: (now, event) => ({ words: event.target.value }),
  })),
  reset("Show all"));

/* The places of the rows that fit. */
export function model({ columns, rows }, at) {
  const words = at.words.toLowerCase().split(" ").filter(Boolean);
  return rows.flatMap(({ claim, values }, place) => {
    const chosen = columns.every(({ name }, column) => at[name] === 0 || values[column] === at[name] - 1);
    return chosen && words.every((word) => claim.toLowerCase().includes(word)) ? [place] : [];
  });
}

export const view = (shown, at, { columns, rows }) => [CONTROLS, SAID,
  h("div", { class: "am-register-room" }, table(["Claim", "Measured", ...columns.map(({ title }) => title)], shown.map((place) => {
    const { claim, number, more, address, values } = rows[place];
    const cells = columns.map(({ name, values: names }, column) => ({
      words: name === "page" ? h("a", { href: toPage(address) }, names[values[column]]) : names[values[column]], class: `am-register-${name}`,
    }));
    return [{ words: claim, class: "am-register-claim" }, { words: [h("b", {}, number), ` ${more}`], class: "am-register-number" }, ...cells];
  }), { kind: "am-register-table" }))];

export function said(shown, at, { columns, rows }) {
  const counts = columns[0].values.map((name, verdict) => [shown.filter((place) => rows[place].values[0] === verdict).length, name.slice(2)]);
  return `${shown.length} of ${rows.length} claims are shown: ${counts.filter(([count]) => count > 0).map((one) => one.join(" ")).join(", ") || "none"}.`;
}
