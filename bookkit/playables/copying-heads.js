/* Two trained heads that copy: a text to change, and heads to switch off. */
import { argmax, button, dot, h, num, panel, range, reset, slider, softmax, sum, tick, unseen } from "./kit.js";
import { linear, rotate } from "./story-model.js";

export const lines = [3, 5];

const repeated = ({ block, size }, length) => range(size).map((at) => block[at % length]);

export const start = (data) => ({ length: data.length, text: repeated(data, data.length), picked: data.position, first: true, second: true });

export const controls = (data, at) => panel(at, "Change the text, and switch heads off",
  tick("first", "first head"), tick("second", "second head"),
  slider("length", "letters in the block", { min: data.shortest, max: data.longest, then: ({ length }) => ({ text: repeated(data, length) }) }),
  button("Change the picked letter", ({ text, picked }) => ({ text: text.with(picked, (text[picked] + 1) % data.letters.length) })), reset());

/* A Transformer of two layers with one head each, and no feed-forward layers; one that is off adds nothing. */
function run(weights, base, tokens, on) {
  const norm = (name, x) => {
    const mean = sum(x) / x.length;
    const spread = Math.sqrt(sum(x.map((value) => (value - mean) ** 2)) / x.length + 1e-5);
    return x.map((value, i) => ((value - mean) / spread) * weights[`${name}.weight`][i] + weights[`${name}.bias`][i]);
  };
  const attend = (layer, stream) => {
    const of = (part) => weights[`decoder.blocks.${layer}.self_attention.${part}_proj.weight`];
    const read = stream.map((x) => norm(`decoder.blocks.${layer}.self_residual.norm`, x));
    const [queries, keys] = ["query", "key"].map((part) => read.map((x, i) => rotate(linear(of(part), x), i, base)));
    const values = read.map((x) => linear(of("value"), x));
    const looks = queries.map((query, i) => softmax(keys.map((key) => dot(query, key) / Math.sqrt(query.length)), keys.map((_, j) => j <= i)));
    return { looks, outputs: looks.map((row) => linear(of("output"), values[0].map((_, c) => sum(row.map((weight, j) => weight * values[j][c]))))) };
  };
  let stream = tokens.map((token) => weights["embedding.words.weight"][token]);
  const seen = on.map((works, layer) => {
    const { looks, outputs } = attend(layer, stream);
    if (!works) return looks.map((row) => row.map(() => 0));
    stream = stream.map((x, i) => x.map((value, c) => value + outputs[i][c]));
    return looks;
  });
  return { seen, chances: stream.map((x) => softmax(linear(weights["output.vectors.weight"], norm("decoder.norm", x)))) };
}

export function model({ weights, base, size }, { text, length, first, second }) {
  const { seen, chances } = run(weights, base, text, [first, second]);
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
