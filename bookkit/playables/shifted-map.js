/* A map of attention that the reader moves by one row: it looks as good as before, and is wrong. */
import { argmax, choice, grid, h, panel, tick, unseen } from "./kit.js";

export const start = () => ({ moved: 0, marked: false });
export const lines = [2, 3];

export const controls = (data, at) => panel(at, "Move the map, and mark the right words",
  choice("moved", "The map", ["as it is", "one row up"]), tick("marked", "Mark the right words"));

export function model({ weights, queries, links }, { moved }) {
  const shown = weights.slice(moved, moved + queries.length);
  return { shown, hits: shown.filter((row, query) => links.some(([one, key]) => one === query && key === argmax(row))).length };
}

export const view = ({ shown }, { marked }, { queries, keys, glosses, links }) => grid({
  kind: "am-fades am-shifted",
  rows: queries.map((word, at) => [h("span", { lang: "es" }, word), glosses.length > 0 && [" ", h("small", {}, glosses[at])]]),
  columns: keys,
  cell: (row, column) => ({
    weight: shown[row][column], words: unseen(shown[row][column].toFixed(2)),
    class: marked && links.some(([query, key]) => query === row && key === column) && "am-right",
  }),
});

export const said = ({ hits }, { moved }, { queries, sentences, wrong }) =>
  `${moved ? "Moved up by one row" : "As it is"}: the largest weight is right in ${hits} of ${queries.length} rows. ` +
  `Over ${sentences} sentences, ${wrong[moved].toFixed(0)} of 100 links are wrong.`;
