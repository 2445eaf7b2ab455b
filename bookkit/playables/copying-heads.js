/* Two trained heads that copy: a text to change, and heads to switch off. */
import { run } from "./copier-model.js";
import { argmax, button, h, num, panel, range, reset, slider, tick, unseen } from "./kit.js";

export const lines = [3, 5];

const repeated = ({ block, size }, length) => range(size).map((at) => block[at % length]);

export const start = (data) => ({ length: data.length, text: repeated(data, data.length), picked: data.position, first: true, second: true });

export const controls = (data, at) => panel(at, "Change the text, and switch heads off",
  tick("first", "first head"), tick("second", "second head"),
  slider("length", "letters in the block", { min: data.shortest, max: data.longest, then: ({ length }) => ({ text: repeated(data, length) }) }),
  button("Change the picked letter", ({ text, picked }) => ({ text: text.with(picked, (text[picked] + 1) % data.letters.length) })), reset());

export function model({ weights, base, size }, { text, length, first, second }) {
  const { seen, chances } = run(weights, base, text, { on: [first, second] });
  const best = chances.map(argmax);
  const decided = range(size - 1 - length, length);
  return { seen, chances, best, decided: decided.length, right: decided.filter((i) => best[i] === text[i + 1]) };
}

export function view({ seen, best, right }, { text, picked, length }, { letters, size }) {
  const rows = (name, cells) => [
    h("tr", {}, h("th", { scope: "rowgroup", colspan: size }, name)), h("tr", {}, range(size).map((i) => cells(i))),
  ];
  const pick = (i) => h("td", { class: i === picked && "am-copying-picked" }, h("button", {
    type: "button", class: "am-copying-pick", "data-cell": `0 ${i}`, "aria-label": `letter ${i + 1}, ${letters[text[i]]}`, "aria-pressed": i === picked,
    onclick: () => ({ picked: i }),
  }, letters[text[i]]));
  const look = (head) => (i) => h("td", {}, h("span", { class: "am-copying-ink", style: { "--weight": Math.min(1, seen[head][picked][i]) } }, unseen(num(seen[head][picked][i]))));
  const guess = (i) => h("td", { class: i < length || i === size - 1 ? "am-copying-said" : right.includes(i) ? "am-copying-right" : "am-copying-wrong" }, letters[best[i]]);
  return h("table", { class: "am-copying-table" }, h("tbody", { class: "am-rove", rove: true },
    rows("The text", pick), rows("Where the first head looks", look(0)), rows("Where the second head looks", look(1)),
    rows("What the model predicts after each letter", guess)));
}

export function said({ seen, best, decided, right }, { text, picked, first, second }, { letters }) {
  const [back, there] = seen.map((head) => head[picked]);
  const far = argmax(there);
  return `Picked: letter ${picked + 1}, ${letters[text[picked]]}. ` +
    `The first head ${first ? `gives ${picked ? num(back[picked - 1]) : "nothing"} to the letter before` : "is off"}. ` +
    `The second head ${second ? `looks most at ${letters[text[far]]}, letter ${far + 1}` : "is off"}. ` +
    `Predicted next: ${letters[best[picked]]}. Of the ${decided} letters that the repetition decides, ${right.length} ${right.length === 1 ? "is" : "are"} predicted.`;
}
