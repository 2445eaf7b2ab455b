/* What a model keeps of a text: of which kinds, and layer by layer; chosen, or read from a config.json. */
import { readConfig } from "./config-table.js";
import { bytesOf, overParts } from "./kept.js";
import { CONTROLS, SAID, choice, h, inBytes, panel, range, slider, sum, table, whole } from "./kit.js";

export const lines = [3, 5];

const KINDS = ["keys and values of all tokens", "windows", "short vectors, each for a token or several", "states and inputs of convolutions"];
const written = (file) => JSON.stringify(file, null, 1).replace(/\[[^[\]{}]*\]/g, (list) => list.replace(/\s+/g, " "));

/* Read a file of the text; what Python writes into it, Infinity and NaN, is no JSON. */
function read(data, text) {
  try {
    const file = JSON.parse(text.replace(/-?\b(Infinity|NaN)\b/g, "null"));
    const { max_position_embeddings: most, n_positions: positions } = { ...file, ...file?.text_config };
    return { read: readConfig(data.table, file), made: most ?? positions ?? Infinity, fault: "" };
  } catch (error) {
    const what = text.trim() ? `This is not valid JSON. Is it the whole file? (${error.message})` : "Paste the text of a config.json.";
    return { read: null, fault: error instanceof SyntaxError ? what : error.message };
  }
}

function picked(data, model) {
  const text = written(data.models[model].file);
  return { model, text, title: data.models[model].title, ...read(data, text) };
}

export const start = (data) => ({
  ...picked(data, data.shown), length: data.length, memory: data.memory, precision: data.precision,
});

/* A file that is pasted is the last entry of the menu from then on, so that the menu says what is shown. */
function pasted(at, event, { data }) {
  const { value: text } = event.target;
  const found = { text, ...read(data, text), model: data.models.length, title: "this model" };
  return { ...found, own: found };
}

export const controls = (data, at) => panel(at, "Choose a model, the length of the text, the memory and the precision",
    (now) => h("label", { class: "am-play-select", "data-grows": true }, h("span", {}, "model"),
      h("select", { onchange: (_, event, play) => (event.target.selectedIndex < data.models.length ? picked(play.data, event.target.selectedIndex) : now.own) },
        [...data.models.map(({ title }) => title), ...(at.own ? ["your own file"] : [])].map((words, place) =>
          h("option", { value: place, selected: place === now.model }, words)))),
    slider("length", "tokens", { max: data.lengths.length - 1, show: (place) => whole(data.lengths[place]) }),
    slider("memory", "memory", { max: data.memories.length - 1, show: (place) => `${whole(data.memories[place])} GiB` }),
    choice("precision", "numbers in", data.precisions.map(([name]) => name)),
    h("details", { class: "am-calculator-paste" }, h("summary", {}, "Its config.json: paste your own"),
      h("label", {}, h("span", {}, "config.json"), h("textarea", {
        rows: 8, spellcheck: "false", autocomplete: "off", value: at.text, oninput: pasted,
      })),
      h("details", {}, h("summary", {}, "The model types that it knows"), h("p", {}, Object.keys(data.table.families).join(", ")))),
    h("p", { class: "am-calculator-fault", role: "alert" }, at.fault));

const kindOf = ({ what, tokens, limit }) =>
  (/latent|rotary|indexer|pooled|block/.test(what) ? 2 : tokens === null ? 3 : limit !== null ? 1 : 0);

export function model(data, at) {
  if (!at.read) return { fault: at.fault };
  const [tokens, memory, [, itemsize]] = [data.lengths[at.length], data.memories[at.memory] * 2 ** 30, data.precisions[at.precision]];
  const bytes = (part) => bytesOf(part, tokens, itemsize);
  const over = (value) => overParts(at.read.layers, value);
  const kept = over((part) => bytes(part));
  const grows = (part) => part.tokens !== null && part.limit === null && part.beyond === null;
  return {
    fault: "", kept, token: over((part) => (grows(part) ? (part.numbers * (part.itemsize || itemsize)) / part.tokens : 0)),
    texts: kept > 0 ? Math.floor(memory / kept) : 0,
    shares: KINDS.map((name, kind) => ({ name, bytes: over((part) => (kindOf(part) === kind ? bytes(part) : 0)) })),
    growing: sum(at.read.layers.map(({ count, keeps }) => (keeps.some(grows) ? count : 0))),
    layers: alike(at.read.layers).map((one) => ({ ...one, one: sum(one.parts.map((part) => bytes(part))) })),
  };
}

/* Layers that keep the same, wherever they are: their numbers, kind and parts. */
function alike(layers) {
  const found = new Map();
  for (const { first, count, kind, keeps: parts } of layers) {
    const key = JSON.stringify([kind, parts]);
    found.set(key, { numbers: [...(found.get(key)?.numbers ?? []), range(count, first)], kind, parts });
  }
  return [...found.values()];
}

/* Say which layers these are, or how many of which where they are scattered: "1–5, 7–11", "52 of 1–62". */
function places(runs) {
  const said = runs.map((run) => (run.length > 1 ? `${run[0]}\u2013${run.at(-1)}` : String(run[0])));
  return runs.length < 5 ? said.join(", ") : `${runs.flat().length} of ${runs[0][0]}\u2013${runs.at(-1).at(-1)}`;
}

/* Say how the bytes of a part come about. */
function why({ what, numbers, tokens, beyond, limit, itemsize }) {
  const often = tokens === null ? ", however long the text is" : tokens === 1 ? " a token" : ` for ${tokens} tokens`;
  return `${what}: ${whole(numbers)} numbers${often}` + (beyond === null ? "" : ` after the last full block of ${beyond}`) +
    (limit === null ? "" : limit === 1 ? ", once" : `, of at most ${whole(limit)} tokens`) + (itemsize ? `, ${itemsize} bytes each` : "");
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
      h("span", {}, `${bytes < kept / 100 ? "under 1" : Math.round((100 * bytes) / kept)} % `, h("i", { class: "am-calculator-bar", "aria-hidden": "true", style: { width: `${(6 * bytes) / kept}em` } })),
    ]), { kind: "am-calculator-table" })),
    h("p", {}, assumed && `Not in the file, so the default of the Transformers library counts: ${assumed}.`),
    h("details", { class: "am-calculator-layers" }, h("summary", {}, "Each layer"),
      h("div", { class: "am-scroll" }, table(["layers", "kind", "keeps", "one layer"], layers.map(({ numbers, kind, parts: keeps, one }) => [
        places(numbers), kind.replaceAll("_", " "), keeps.length ? keeps.map((part) => h("div", {}, why(part))) : "nothing", inBytes(one),
      ]), { kind: "am-calculator-table am-calculator-each" }))),
  ];
}

export function said(m, at, data) {
  if (m.fault) return "Nothing is counted.";
  const [tokens, memory] = [whole(data.lengths[at.length]), whole(data.memories[at.memory])];
  const count = sum(at.read.layers.map((one) => one.count));
  const more = m.token ? `In a long text, each token adds ${inBytes(m.token)}, in ${m.growing} of ${count} layers.` : "In a long text, more tokens add nothing.";
  const texts = m.kept ? `${whole(m.texts)} such text${m.texts === 1 ? "" : "s"}` : "any number of such texts";
  const beyond = data.lengths[at.length] > at.made ? ` (Its file gives ${whole(at.made)} as the most tokens.)` : "";
  return `Of a text of ${tokens} tokens, ${at.title} keeps ${inBytes(m.kept)}.${beyond} ${more} ${memory} GiB ${m.kept && !m.texts ? "do not hold even one such text" : `hold ${texts}`}, the weights not counted.`;
}
