/* What a model keeps of a text and computes for its next token: chosen, or read from a config.json. */
import { readConfig } from "./config-reader.js";
import { CONTROLS, SAID, button, choice, h, panel, select, slider, sum, table } from "./kit.js";

const FIELDS = ["what", "numbers", "tokens", "read", "limit", "itemsize", "readLimit", "beyond"];

export const lines = [2, 3];

export const start = ({ shown, length, batch, precision }) => ({ model: shown, pasted: null, length, batch: Math.log2(batch), precision, text: "", fault: "" });

/* Python writes Infinity into such files, which is no JSON. */
function read({ text }) {
  try {
    return { pasted: readConfig(JSON.parse(text.replace(/-?\b(Infinity|NaN)\b/g, "null"))), model: -1, fault: "" };
  } catch (error) {
    return { fault: error instanceof SyntaxError ? `This is no JSON: ${error.message}.` : error.message };
  }
}

export const controls = ({ models, lengths, precisions }, at) => panel(at, "Choose a model, the length of the texts, their number and the precision",
  select("model", "model", models.map(({ title }) => title), { then: { pasted: null }, grows: true }),
  slider("length", "tokens", { max: lengths.length - 1, show: (place) => whole(lengths[place]) }),
  slider("batch", "texts", { max: 8, show: (power) => 2 ** power }),
  choice("precision", "numbers in", precisions.map(([name]) => name)),
  h("details", { class: "am-calculator-paste" }, h("summary", {}, "Or paste a model's config.json"),
    h("label", {}, h("span", {}, "config.json"), h("textarea", {
      rows: 5, spellcheck: "false", autocomplete: "off", value: at.text, oninput: (now, event) => ({ text: event.target.value }),
    })),
    button("Read it", read, { "data-grows": true })(),
    h("p", { class: "am-calculator-fault", role: "alert" }, at.fault)));

const chosen = ({ models }, { model, pasted }) => pasted ?? models[model];

/* Layers of the data have rows in place of parts, and no `reads` where that is what they keep. */
function layersOf(model) {
  const part = (row) => (Array.isArray(row) ? Object.fromEntries(FIELDS.map((name, at) => [name, row[at]])) : row);
  return model.layers.map((layer) => ({ ...layer, keeps: layer.keeps.map(part), reads: (layer.reads ?? layer.keeps).map(part) }));
}

export function model(data, at) {
  const [tokens, texts, [, itemsize]] = [data.lengths[at.length], 2 ** at.batch, data.precisions[at.precision]];
  const entries = ({ beyond, tokens: each, limit }) => {
    const length = beyond === null ? tokens : tokens % beyond;
    return Math.min(each === null ? 1 : Math.floor(length / each), limit ?? Infinity);
  };
  const bytes = (part) => texts * entries(part) * part.numbers * (part.itemsize || itemsize);
  const operations = (part) => part.read * Math.min(
    part.tokens === null ? 1 : entries(part) + (part.tokens === 1 ? 1 : 0), part.readLimit ?? Infinity);
  const [layers, { outer }] = [layersOf(chosen(data, at)), chosen(data, at)];
  const over = (value) => sum(layers.map((layer) => layer.count * value(layer)));
  const weights = outer + over((layer) => layer.weights);
  const reading = over(({ reads }) => sum(reads.map(operations)));
  return {
    rows: layers.flatMap(({ count, keeps }) => keeps.map((part) => ({ count, part, one: bytes(part), all: count * bytes(part) }))),
    kept: over(({ keeps }) => sum(keeps.map(bytes))), weights, reading, operations: 2 * weights + reading,
  };
}

const whole = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

/* Say a number of bytes with three digits. */
function inBytes(size) {
  if (size < 1000) return `${size} bytes`;
  const unit = size < 999.5e3 ? 1 : size < 999.5e6 ? 2 : size < 999.5e9 ? 3 : 4;
  const said = size / 1000 ** unit;
  return `${said.toFixed(said >= 99.95 ? 0 : said >= 9.995 ? 1 : 2)} ${["kB", "MB", "GB", "TB"][unit - 1]}`;
}

function inCounts(number) {
  const found = [[1e12, "trillion"], [1e9, "billion"], [1e6, "million"]].find(([size]) => number >= size);
  return found ? `${(number / found[0]).toPrecision(3)} ${found[1]}` : whole(number);
}

/* Say how the bytes of a part come about. */
function why({ numbers, tokens, beyond, limit, itemsize }) {
  const often = tokens === null ? ", however long the text is" : tokens === 1 ? " a token" : ` for ${tokens} tokens`;
  return `${whole(numbers)} numbers${often}` + (beyond === null ? "" : ` behind the last ${beyond} that are complete`) +
    (limit === null ? "" : `, at most ${whole(limit)} times`) + (itemsize ? `, ${itemsize} bytes each` : "");
}

export const view = ({ rows, weights, reading, operations }) => [
  CONTROLS, SAID,
  h("div", { class: "am-scroll" }, table(["layers", "keep", "as", "one layer", "all of them"],
    rows.map(({ count, part, one, all }) => [count, part.what, why(part), inBytes(one), inBytes(all)]), { kind: "am-calculator-table" })),
  h("p", { class: "am-calculator-token" }, `The next token of each text passes through ${inCounts(weights)} weights and takes ` +
    `${inCounts(operations)} operations, ${Math.round((100 * reading) / operations)} in 100 of them to read what was kept.`),
];

export function said({ kept }, at, data) {
  const texts = 2 ** at.batch;
  return `Of ${texts === 1 ? "one text" : `${texts} texts`} of ${whole(data.lengths[at.length])} tokens, ${chosen(data, at).title} keeps ${inBytes(kept)}.`;
}
