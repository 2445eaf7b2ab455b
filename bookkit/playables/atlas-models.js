/* What published models keep of a text: a bar for each, as long as the text makes it, and each name opens. */
import { drawing, layerLine } from "./atlas-shapes.js";
import { CONTROLS, SAID, h, hint, inBytes, panel, range, slider, sum, whole } from "./kit.js";

export const lines = [2, 3];

export const start = ({ length }) => ({ length, open: [] });

/* On paper nothing opens, and no sign says so. */
export const still = start;

export const controls = ({ lengths }, at) => panel(at, "Choose the length of the text",
  slider("length", "tokens", { max: lengths.length - 1, show: (place) => whole(lengths[place]) }), hint("Press a name to open it."));

/* Of every model the bytes of each kind, at two bytes a number where a part has no other size. */
export function model({ models, kinds, lengths }, { length }) {
  const bytes = ([, count, numbers, tokens, limit, itemsize, beyond]) => {
    const read = beyond === null ? lengths[length] : lengths[length] % beyond;
    return count * numbers * (itemsize ?? 2) * Math.min(tokens === null ? 1 : Math.floor(read / tokens), limit ?? Infinity);
  };
  return models.map(({ parts }) => range(kinds.length).map((kind) => sum(parts.filter((part) => part[0] === kind).map(bytes))));
}

const swatch = (kind) => h("span", { class: `am-models-part am-models-${kind}` });

export function view(kept, { length, open }, { models, kinds, lengths, hub }) {
  const [tokens, most] = [lengths[length], Math.max(...kept.map(sum))];
  const toggled = (place) => ({ open: now }) => ({ open: now.includes(place) ? now.filter((other) => other !== place) : [...now, place] });
  const row = ({ name, date, layers, pattern, context }, place) => h("div", { class: "am-models-row" },
    h("span", { class: "am-models-name" }, h("button", {
      type: "button", class: "am-atlas-opener", "aria-expanded": open.includes(place), onclick: toggled(place),
    }, name), " ", h("small", {}, date)),
    h("span", { class: "am-atlas-layers" }, layerLine(layers, `${layers.length} layers: ${pattern}`)),
    h("span", { class: ["am-models-bar", tokens > context && "am-models-beyond"], "aria-hidden": "true" },
      kept[place].map((bytes, kind) => bytes > 0 && h("span", { class: `am-models-part am-models-${kinds[kind][0]}`, style: { width: `${(100 * bytes / most).toFixed(2)}%` } }))),
    h("span", { class: "am-models-bytes" }, inBytes(sum(kept[place])), tokens > context && h("small", {}, ` made for ${whole(context)}`)));
  const more = (one, place) => h("div", { class: "am-atlas-open" }, drawing(one), h("div", { class: "am-atlas-told" },
    h("p", {}, h("b", {}, one.words.join(", "))), h("p", {}, `${one.weights} weights. ${one.grows}`),
    h("p", {}, `Of ${whole(tokens)} tokens: `, kinds.map(([, words], kind) => [words, kept[place][kind]]).filter(([, bytes]) => bytes > 0).map(([words, bytes]) => `${words}, ${inBytes(bytes)}`).join("; "), "."),
    h("p", {}, "Paper: ", h("a", { href: one.url }, one.paper), ". Sizes: ", h("a", { href: hub + one.file }, one.file), ".")));
  return [CONTROLS, SAID, h("ul", { class: "am-models-kinds" }, kinds.map(([kind, words]) => h("li", {}, swatch(kind), words))),
    h("div", { class: "am-models" }, models.map((one, place) => [row(one, place), open.includes(place) && more(one, place)]))];
}

export function said(kept, { length }, { models, lengths }) {
  const totals = kept.map(sum);
  const [most, least] = [Math.max(...totals), Math.min(...totals)];
  const name = (bytes) => models[totals.indexOf(bytes)].name;
  return `Of a text of ${whole(lengths[length])} tokens, ${name(most)} keeps the most, ${inBytes(most)}, and ${name(least)} the least, ${inBytes(least)}.`;
}
