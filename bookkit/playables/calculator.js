/* What a model keeps of a text: of which kinds, and layer by layer; chosen, or read from a config.json. */
import { readConfig } from "./config-table.js";
import { CONTROLS, SAID, button, choice, h, inBytes, panel, select, slider, sum, table, whole } from "./kit.js";

export const lines = [3, 5];

const KINDS = ["keys and values of all tokens", "windows", "latents, pools and their indexes", "states"];
const written = (file) => JSON.stringify(file, null, 1).replace(/\[[^[\]{}]*\]/g, (list) => list.replace(/\s+/g, " "));

/* Read a file of the text; what Python writes into it, Infinity and NaN, is no JSON. */
function read(data, text) {
  try {
    return { read: readConfig(data.table, JSON.parse(text.replace(/-?\b(Infinity|NaN)\b/g, "null"))), fault: "" };
  } catch (error) {
    return { read: null, fault: error instanceof SyntaxError ? `This is no JSON: ${error.message}.` : error.message };
  }
}

function picked(data, model) {
  const text = written(data.models[model].file);
  return { model, text, title: data.models[model].title, ...read(data, text) };
}

export const start = (data) => ({
  ...picked(data, data.shown), length: data.length, memory: data.memory, precision: data.precision,
});

/* A file that is pasted is the last entry of the menu, so that the menu says what is shown. */
function pasted(at, event, { data }) {
  const found = read(data, at.text);
  return { ...found, model: data.models.length, title: found.read ? `this ${found.read.family}` : "this file" };
}

export const controls = (data, at) => {
  const own = at.model === data.models.length;
  return panel(at, "Choose a model, the length of the text, the memory and the precision",
    (now) => h("label", { class: "am-play-select", "data-grows": true }, h("span", {}, "model"),
      h("select", { onchange: (_, event, play) => (event.target.selectedIndex < data.models.length ? picked(play.data, event.target.selectedIndex) : {}) },
        [...data.models.map(({ title }) => title), ...(own ? ["your own file"] : [])].map((words, place) =>
          h("option", { value: place, selected: place === now.model }, words)))),
    slider("length", "tokens", { max: data.lengths.length - 1, show: (place) => whole(data.lengths[place]) }),
    slider("memory", "memory", { max: data.memories.length - 1, show: (place) => `${whole(data.memories[place])} GB` }),
    choice("precision", "numbers in", data.precisions.map(([name]) => name)),
    h("details", { class: "am-calculator-paste" }, h("summary", {}, "Its config.json, or your own"),
      h("label", {}, h("span", {}, "config.json"), h("textarea", {
        rows: 8, spellcheck: "false", autocomplete: "off", value: at.text, oninput: (now, event) => ({ text: event.target.value }),
      })),
      button("Read it", pasted, { "data-grows": true })()),
    h("p", { class: "am-calculator-fault", role: "alert" }, at.fault));
};

const kindOf = ({ what, tokens, limit }) =>
  (/latent|rotary|indexer|pooled|block/.test(what) ? 2 : tokens === null ? 3 : limit !== null ? 1 : 0);

export function model(data, at) {
  if (!at.read) return { fault: at.fault };
  const [tokens, memory, [, itemsize]] = [data.lengths[at.length], data.memories[at.memory] * 1e9, data.precisions[at.precision]];
  const entries = (length, { beyond, tokens: each, limit }) => {
    const seen = beyond === null ? length : length % beyond;
    return Math.min(each === null ? 1 : Math.floor(seen / each), limit ?? Infinity);
  };
  const bytes = (part, length = tokens) => entries(length, part) * part.numbers * (part.itemsize || itemsize);
  const over = (value) => sum(at.read.layers.map(({ count, keeps }) => count * sum(keeps.map(value))));
  const kept = over((part) => bytes(part));
  const grows = (part) => part.tokens !== null && part.limit === null && part.beyond === null;
  return {
    fault: "", kept, token: over((part) => (grows(part) ? (part.numbers * (part.itemsize || itemsize)) / part.tokens : 0)),
    texts: kept > 0 ? Math.floor(memory / kept) : 0,
    shares: KINDS.map((name, kind) => ({ name, bytes: over((part) => (kindOf(part) === kind ? bytes(part) : 0)) })),
    layers: at.read.layers.map(({ first, count, kind, keeps }) => ({
      first, last: first + count - 1, kind, parts: keeps, one: sum(keeps.map((part) => bytes(part))),
    })),
  };
}

/* Say how the bytes of a part come about. */
function why({ what, numbers, tokens, beyond, limit, itemsize }) {
  const often = tokens === null ? ", however long the text is" : tokens === 1 ? " a token" : ` for ${tokens} tokens`;
  return `${what}: ${whole(numbers)} numbers${often}` + (beyond === null ? "" : ` behind the last ${beyond} that are complete`) +
    (limit === null ? "" : `, of at most ${whole(limit)} tokens`) + (itemsize ? `, ${itemsize} bytes each` : "");
}

export function view(m, at) {
  if (m.fault) return [CONTROLS, SAID];
  const { shares, layers, kept } = m;
  const parts = shares.filter(({ bytes }) => bytes > 0);
  const assumed = at.read.assumed.map(([name, value]) => `${name} ${value}`).join(", ");
  return [
    CONTROLS, SAID,
    h("div", { class: "am-scroll" }, table(["of which", "bytes", "share"], parts.map(({ name, bytes }) => [
      name, inBytes(bytes),
      h("span", {}, `${Math.round((100 * bytes) / kept)} % `, h("i", { class: "am-calculator-bar", "aria-hidden": "true", style: { width: `${(6 * bytes) / kept}em` } })),
    ]), { kind: "am-calculator-table" })),
    assumed && h("p", {}, `What the file leaves out is taken as the library's class has it: ${assumed}.`),
    h("details", { class: "am-calculator-layers" }, h("summary", {}, "Each layer"),
      h("div", { class: "am-scroll" }, table(["layers", "kind", "keeps", "one layer"], layers.map(({ first, last, kind, parts: keeps, one }) => [
        first === last ? first : `${first}\u2013${last}`, kind.replaceAll("_", " "), keeps.length ? keeps.map((part) => h("div", {}, why(part))) : "nothing", inBytes(one),
      ]), { kind: "am-calculator-table" }))),
  ];
}

export function said(m, at, data) {
  if (m.fault) return "Nothing is counted: the file could not be read.";
  const [tokens, memory] = [whole(data.lengths[at.length]), whole(data.memories[at.memory])];
  const more = m.token ? `each further token adds ${inBytes(m.token)}` : "further tokens add nothing in the long run";
  return `Of a text of ${tokens} tokens, ${at.title} keeps ${inBytes(m.kept)}; ${more}. ` +
    `${memory} GB hold ${m.kept ? whole(m.texts) : "any number of"} such text${m.texts === 1 ? "" : "s"}, the weights not counted.`;
}
