/* The register of claims: a table whose rows the reader chooses, ten of which are shown. */
import { CONTROLS, SAID, button, h, panel, reset, select, table, toPage } from "./kit.js";

const TEN = 10;
const SHOWN = ["verdict", "planned", "page"];

export const lines = [2, 3];

export const start = ({ columns }) => ({ words: "", first: 0, ...Object.fromEntries(columns.map(({ name }) => [name, 0])) });

/* Paper has room for all of them. */
export const still = (data) => ({ ...start(data), all: true });

export const controls = (data, at) => panel(at, "Choose which claims are shown",
  data.columns.map(({ name, title, values }) => select(name, title, ["all", ...values], { grows: true, then: { first: 0 } })),
  h("label", { class: "am-register-words" }, h("span", {}, "Words"), h("input", {
    type: "search", spellcheck: "false", value: at.words, oninput: (now, event) => ({ words: event.target.value, first: 0 }),
  })),
  button("Ten back", { first: at.first - TEN }, { off: at.first === 0, "data-grows": true }),
  button("Next ten", { first: at.first + TEN }, { off: at.first + TEN >= model(data, at).length, "data-grows": true }),
  reset("Show all"));

/* The places of the rows that fit: one of their claims does. */
export function model({ columns, rows }, at) {
  const words = at.words.toLowerCase().split(" ").filter(Boolean);
  return rows.flatMap(({ claim, notes, values }, place) => {
    const chosen = columns.every(({ name }, column) => at[name] === 0 || values[column].includes(at[name] - 1));
    const text = [claim, ...notes].join(" ").toLowerCase();
    return chosen && words.every((word) => text.includes(word)) ? [place] : [];
  });
}

const end = (shown, at) => (at.all ? shown.length : Math.min(at.first + TEN, shown.length));

export function view(shown, at, { columns, rows }) {
  const heads = columns.filter(({ name }) => SHOWN.includes(name));
  const line = (place, number) => {
    const { claim, number: mean, interval, claimed, unit, notes, address, values } = rows[place];
    const cells = heads.map(({ name, values: names }) => {
      const words = names[values[columns.findIndex((one) => one.name === name)][0]];
      return { words: name === "page" ? h("a", { href: toPage(address) }, words) : words, class: `am-register-${name}` };
    });
    return { class: number < TEN ? null : "am-register-later", cells: [
      { words: [claim, notes.map((note) => h("small", {}, note))], class: "am-register-claim" },
      { words: [h("b", {}, mean), " ", h("span", {}, interval), ` ${claimed}`], class: "am-register-number" }, { words: unit, class: "am-register-unit" }, ...cells,
    ] };
  };
  const titles = ["Claim", "Measured", "Unit", ...heads.map(({ title }) => title)];
  return [CONTROLS, SAID, h("div", { class: "am-register-room" }, table(titles, shown.slice(at.first, end(shown, at)).map(line), { kind: "am-register-table" }))];
}

export function said(shown, at, { columns, rows }) {
  const counts = columns[0].values.map((name, verdict) => [name.slice(2), shown.filter((place) => rows[place].values[0][0] === verdict).length]);
  const kinds = counts.filter(([, count]) => count > 0).map((one) => one.join(": ")).join(", ");
  return shown.length ? `Rows ${at.first + 1} to ${end(shown, at)} of ${shown.length}; ${kinds}.` : "No claim fits.";
}
