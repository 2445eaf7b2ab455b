/* A text in two layers of the model that copies: looks to forbid, and notes to take from another text. */
import { run } from "./copier-model.js";
import { argmax, chart, choice, CONTROLS, grid, h, hint, label, num, panel, range, reset, ribbon, SAID, select } from "./kit.js";

const [WIDE, ROW, TOP] = [504, 84, 18]; // of the drawing
const FAINT = 0.02;

export const lines = [3, 5];

/* A look that is cut is [layer, from, to]; `note` is 0 for none, or 1 more than the place of its letter. */
export const start = () => ({ which: 0, layer: 0, cut: [], note: 0 });

export const controls = ({ texts, names }, at) => panel(at, "Choose a text and a layer, cut arrows, and take a note from the other text",
  choice("which", "Text", names), choice("layer", "Arrows of", ["layer 1", "layer 2"]),
  select("note", "from the other text, take the note at", ["no letter", ...texts[at.which].map((_, place) => `letter ${place + 1}, ${names[at.which][place]}`)]),
  reset(), hint("Press a number to cut its arrow, and again to restore it."));

export function model({ weights, base, texts, answer }, { which, cut, note }) {
  const other = run(weights, base, texts[1 - which]);
  const notes = note ? { [note - 1]: other.added[0][note - 1] } : {};
  const { seen, chances } = run(weights, base, texts[which], { cut, notes });
  return { seen, chances: chances.at(-1), chance: chances.at(-1)[answer] };
}

const same = (one, other) => one.every((number, at) => number === other[at]);

export function view({ seen, chance }, { which, layer, cut }, { names, letters, answer }) {
  const text = [...names[which]];
  const x = (place) => ((place + 0.5) * WIDE) / text.length;
  const y = (row) => TOP + ROW * row;
  const arrows = (looks, row) => looks.map((weights, i) => weights.map((weight, j) => weight >= FAINT &&
    ribbon(`M${x(j)} ${y(row) + 8}C${x(j)} ${y(row) + 45} ${x(i)} ${y(row) + 32} ${x(i)} ${y(row) + 66}`, weight, { most: 6 })));
  const cell = (i, j) => {
    if (j > i) return { weight: 0, words: "" };
    const [place, gone] = [[layer, i, j], cut.some((one) => same(one, [layer, i, j]))];
    const words = gone ? "\u00d7" : num(seen[layer][i][j], 1);
    return {
      weight: seen[layer][i][j], words, class: gone && "am-blocked", "aria-pressed": gone,
      "aria-label": `${words}, layer ${layer + 1}, from letter ${i + 1}, ${text[i]}, to letter ${j + 1}, ${text[j]}`,
      onclick: (at) => ({ cut: gone ? at.cut.filter((one) => !same(one, place)) : [...at.cut, place] }),
    };
  };
  return [CONTROLS, chart(WIDE, y(2) + 12, { "aria-hidden": "true" }, seen.map(arrows),
    range(3).map((row) => text.map((letter, place) => label(x(place), y(row) + 3, letter, ["am-middle", "am-halo", row === 2 && place === text.length - 1 && "am-bold"])))),
  h("p", {}, `Chance of ${letters[answer]} after the last letter: `, h("b", {}, `${num(100 * chance, 0)} %`)), SAID,
  grid({ rows: text, columns: text, kind: "am-read am-cut-table", cell })];
}

export function said({ chances, chance }, { which, cut, note }, { names, letters, answer }) {
  const best = argmax(chances);
  const done = [
    cut.length && `${cut.length} ${cut.length === 1 ? "arrow is" : "arrows are"} cut`,
    note && `the note at letter ${note}, ${names[which][note - 1]}, comes from ${names[1 - which]}`,
  ].filter(Boolean).join(", and ") || "nothing is cut";
  return `${names[which]}: ${done}. After the last letter, ${letters[answer]} has a chance of ${num(chance)}` +
    `${best === answer ? "" : `, and the likeliest letter is ${letters[best]}`}.`;
}
