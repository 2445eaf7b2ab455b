/* Scores as the founding notebook adds them: two lengths to choose, and the cells that broadcasting fills. */
import { CONTROLS, SAID, choice, dot, grid, h, panel, range, slider } from "./kit.js";

export const lines = [3, 5];

export const start = ({ letters, steps }) => ({ letters: letters.length, steps: steps.length - 1, repaired: 0 });

export const controls = ({ letters, steps }, at) => panel(at, "Choose two lengths",
  slider("letters", "letters read", { min: 1, max: letters.length }),
  slider("steps", "steps written", { min: 1, max: steps.length }),
  choice("repaired", "The sum", ["as in the notebook", "repaired"]));

/* The pairs [step, letter] that are scored, and their scores; null where the lengths cannot be added.
   Of two lengths that meet on one axis, one must be 1 or they must be equal; the repair gives each its own. */
export function model({ offered, wanted, vector }, { letters, steps, repaired }) {
  const one = Math.max(letters, steps);
  const fits = [letters, steps].every((length) => length === 1 || length === one);
  if (!repaired && !fits) return null;
  const pairs = repaired
    ? range(steps).flatMap((i) => range(letters).map((j) => [i, j]))
    : range(one).map((at) => [steps === 1 ? 0 : at, letters === 1 ? 0 : at]);
  return { pairs, scores: pairs.map(([i, j]) => dot(vector, offered[j].map((part, at) => Math.tanh(part + wanted[i][at])))) };
}

export function view(m, { letters, steps }, data) {
  const filled = new Map(m?.pairs.map((pair, at) => [pair.join(), m.scores[at]]));
  const [low, high] = [Math.min(...filled.values()), Math.max(...filled.values())];
  const cell = (row, column) => {
    const score = filled.get([row, column].join());
    const inside = row < steps && column < letters;
    const weight = score === undefined ? 0 : high > low ? 0.3 + (0.7 * (score - low)) / (high - low) : 1;
    return { weight, words: "", class: !inside ? "am-broadcast-out" : score === undefined && "am-blocked" };
  };
  const there = (words, length) => words.map((word, at) => (at < length ? word : h("span", { class: "am-broadcast-none" }, word)));
  return [CONTROLS, grid({ rows: there(data.steps, steps), columns: there(data.letters, letters), corner: "step", cell, kind: "am-broadcast" }), SAID];
}

export function said(m, { letters, steps, repaired }) {
  const [all, many] = [letters * steps, (count, name) => `${count} ${name}${count === 1 ? "" : "s"}`];
  const sum = `${many(letters, "letter")} and ${many(steps, "step")}`;
  if (!m) return `${sum}: the lengths differ and neither is 1, so the sum stops with an error. Not one of ${all} scores is computed.`;
  if (repaired) return `${sum}: every step is scored against every letter, ${many(all, "score")} in all.`;
  if (steps === 1) return `${sum}: no error, and all ${many(all, "score")} of the one step: right.`;
  if (letters === 1) return `${sum}: no error, and one score for each step. Right, but only because one letter leaves no choice.`;
  return `${sum}: no error, and only ${m.scores.length} of ${all} scores. Step 1 is scored against letter 1, step 2 against letter 2, and no step against any other letter.`;
}
