/* A mask to paint: cells allow or block, and the softmax of every row is taken again. */
import { CONTROLS, SAID, argmax, button, choice, grid, h, num, painting, panel, softmax, sum } from "./kit.js";

export const lines = [2, 4];

export const start = ({ masks }) => ({ mask: masks[0].allowed, puzzle: -1, row: null });

const same = (one, other) => one.every((line, query) => line.every((open, key) => Boolean(open) === Boolean(other[query][key])));
const flip = (mask) => mask.map((line) => line.map((open) => !open));
const whole = (mask) => ({ mask, puzzle: -1, row: null });
const placeOf = (masks, mask) => masks.findIndex(({ allowed }) => same(allowed, mask));

export function controls({ masks, puzzles, flips }, at) {
  const shown = { ...at, preset: at.puzzle < 0 ? placeOf(masks, at.mask) : -1 };
  return panel(shown, "Begin with a mask",
    choice("preset", "Mask", masks.map(({ name }) => name), { then: ({ preset }) => whole(masks[preset].allowed), grows: true }),
    flips && button("turn upside down", ({ mask }) => whole(flip(mask)), { "data-grows": true }),
    puzzles.length > 0 && choice("puzzle", "Puzzle", puzzles.map(({ name }) => name), {
      then: ({ puzzle }) => ({ mask: masks[puzzles[puzzle].begin].allowed, row: null }), grows: true,
    }));
}

export function model({ scores, masks, answers, puzzles }, { mask, puzzle }) {
  const weights = scores.map((row, query) => softmax(row, mask[query]));
  const asked = answers.flatMap((key, query) => (key === null ? [] : [query]));
  const begun = puzzle < 0 ? mask : masks[puzzles[puzzle].begin].allowed;
  return {
    weights, sums: weights.map(sum), asked, seen: asked.filter((query) => mask[query][answers[query]]),
    changed: sum(mask.flatMap((line, query) => line.map((open, key) => Number(Boolean(open) !== Boolean(begun[query][key]))))),
    solved: puzzle >= 0 && same(mask, puzzles[puzzle].allowed),
  };
}

const paint = ([query, key], open, { mask }) => ({ mask: mask.map((line, row) => (row === query ? line.with(key, open) : line)), row: query });

function question({ changed, solved }, puzzle) {
  const cells = `${changed} ${changed === 1 ? "cell" : "cells"} changed`;
  return `${puzzle.question} ${solved ? `Solved, with ${cells}.` : `So far ${cells}.`}`;
}

const seenBy = ({ asked, seen }, queries) => (seen.length === 0
  ? "No row sees the word that comes next."
  : `${seen.length} of ${asked.length} rows see the word that comes next: ${seen.map((query) => queries[query]).join(", ")}.`);

export const view = (m, { mask, puzzle }, { queries, keys, answers, puzzles }) => [
  CONTROLS,
  grid({
    rows: queries, columns: keys, corner: "query ↓ key →", kind: "am-read am-mask-table",
    more: [{ name: "sum", of: (query) => num(m.sums[query]) }],
    cell(query, key) {
      const words = mask[query][key] ? num(m.weights[query][key]) : "–";
      const kinds = [!mask[query][key] && "am-blocked", answers[query] === key && "am-mask-answer"];
      return {
        weight: m.weights[query][key], words, class: kinds.filter(Boolean).join(" "),
        "aria-pressed": Boolean(mask[query][key]), "aria-label": `${queries[query]} may look at ${keys[key]}: ${words}`,
      };
    },
    ...painting(paint),
  }),
  m.asked.length > 0 && h("p", { class: "am-mask-seen" }, seenBy(m, queries)),
  puzzle >= 0 && h("p", { class: "am-mask-question" }, question(m, puzzles[puzzle])),
  SAID,
];

function nameOf(masks, mask) {
  const [found, turned] = [placeOf(masks, mask), placeOf(masks, flip(mask))];
  return masks[found]?.name ?? (turned < 0 ? "painted by hand" : `${masks[turned].name}, upside down`);
}

function ofRow({ weights }, mask, row, { queries, keys }) {
  const count = mask[row].filter(Boolean).length;
  const most = argmax(weights[row]);
  return count === 0
    ? `${queries[row]} may look at nothing: all its weights are 0.`
    : `${queries[row]} may look at ${count} of ${keys.length}, most at ${keys[most]}: ${num(weights[row][most])}.`;
}

export function said(m, { mask, puzzle, row }, data) {
  const { queries, masks } = data;
  const empty = queries.filter((_, query) => !mask[query].some(Boolean));
  return [
    m.solved ? "Solved." : puzzle < 0 ? `Mask: ${nameOf(masks, mask)}.` : row === null && "Paint the mask that the puzzle asks for.",
    row !== null ? ofRow(m, mask, row, data) : puzzle < 0 && masks[placeOf(masks, mask)]?.note,
    row === null && empty.length > 0 && `Nothing to look at for: ${empty.join(", ")}.`,
  ].filter(Boolean).join(" ");
}
