/* A phrase that a reader types: on the left a network translates it, on the right a finger looks up
   the phrase of its book that is most like it. seq2seq.js computes the network. */
import { found, get, loader } from "./fetched.js";
import { CONTROLS, SAID, button, choice, h, panel, range } from "./kit.js";
import { readTranslator, translate } from "./seq2seq.js";

export const lines = [4, 7];

const MOST = 30; // letters of a phrase that is typed
const BOOKS = ["the true book", "the shuffled book"];

export const start = ({ written: [first] }) => ({ text: Object.keys(first)[0], book: 0, loaded: false, loading: false, note: "" });

/* What turns one text into another with the fewest edits: [kind, letter of one, letter of the other]
   for every letter, in which kind is "same", "replace", "drop" or "add". */
export function editsOf(one, other) {
  const cost = range(one.length + 1).map((i) => range(other.length + 1).map((j) => i + j));
  const least = (i, j) => Math.min(cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1));
  for (let i = 1; i <= one.length; i += 1) for (let j = 1; j <= other.length; j += 1) cost[i][j] = least(i, j);
  const steps = [];
  let [i, j] = [one.length, other.length];
  while (i || j) {
    const same = i && j && one[i - 1] === other[j - 1];
    if (i && j && cost[i][j] === cost[i - 1][j - 1] + (same ? 0 : 1)) steps.push([same ? "same" : "replace", one[--i], other[--j]]);
    else if (i && cost[i][j] === cost[i - 1][j] + 1) steps.push(["drop", one[--i], ""]);
    else steps.push(["add", "", other[--j]]);
  }
  return steps.reverse();
}

const distance = (one, other) => editsOf([...one], [...other]).filter(([kind]) => kind !== "same").length;

/* Letters to insert, delete or replace, as a share of the longer text. */
const share = (one, right) => distance(one, right) / Math.max(one.length, right.length);

const phraseOf = (text) => text.toLowerCase().replaceAll("\u2019", "'").replace(/\s+/g, " ").trim();

/* What both say to a phrase, and how wrong it is where the right translation is known. */
export function model({ english, spanish, hidden, written, files, longest }, { text, book }) {
  const phrase = phraseOf(text);
  const apart = english.map((other) => distance(phrase, other));
  const nearest = apart.indexOf(Math.min(...apart));
  const network = found(files[book]);
  const writes = written[book][phrase] ?? (network && phrase ? translate(network, [...phrase], { longest }).written.join("") : null);
  const finger = spanish[book][nearest];
  const right = hidden[phrase] ?? (apart[nearest] === 0 ? spanish[0][nearest] : null);
  const wrong = right === null || writes === null ? null : [share(writes, right), share(finger, right)];
  return { phrase, nearest, apart: apart[nearest], writes, finger, right, wrong };
}

const pick = (text) => button(text, { text, note: "" }, { "data-grows": true });

async function fetchAll({ files }) {
  await Promise.all(files.map((file) => get(file, readTranslator)));
  return { loaded: true, note: "The two networks are here. Type any phrase." };
}

export const controls = (data, at) => panel(at, "Type a phrase, and choose the book",
  h("label", { class: "am-finger-typed" }, h("span", {}, "An English phrase"), h("input", {
    type: "text", lang: "en", maxlength: MOST, autocomplete: "off", autocapitalize: "none", spellcheck: "false", value: at.text,
    "data-grows": true, oninput: (now, event) => ({ text: event.target.value, note: "" }),
  })),
  h("div", { class: "am-play-choice", role: "group", "aria-label": "Phrases to try" }, h("span", { "aria-hidden": "true" }, "Try"), Object.keys(data.written[0]).map((one) => pick(one)())),
  choice("book", "Learned from", BOOKS, { then: { note: "" }, grows: true }),
  !at.loaded && loader(data.files, {
    words: (size) => `Load both networks (${size}) to try your own phrases`, instead: "To try your own phrases in a notebook: phrase_finger(embedded=True).", fetchAll,
  }));

/* The phrase with what the nearest one lacks struck through, or the nearest with what it has instead marked. */
const marked = (edits, mine) => edits.map(([kind, from, to]) => (kind === "same" ? to : mine ? from && h("del", {}, from) : to && h("ins", {}, to)));

const side = (name, ...rows) => h("div", {}, h("p", { class: "am-finger-name" }, name), rows.map((row) => h("p", {}, row)));

export function view({ phrase, nearest, apart, writes, finger, right }, at, { english }) {
  const spanish = (text) => h("b", { lang: "es" }, text || "nothing");
  const edits = editsOf([...phrase], [...english[nearest]]);
  const taught = at.book && !apart ? [" In the shuffled book: ", spanish(finger)] : "";
  return [CONTROLS, h("div", { class: "am-finger-sides" },
    side("The network reads", phrase || "nothing", ["and writes ", writes === null ? "\u2026 (load it first)" : spanish(writes)]),
    side("The finger finds", ...[true, false].map((mine) => (phrase ? h("span", { lang: "en" }, marked(edits, mine)) : mine && "nothing")), ["and copies ", phrase ? spanish(finger) : "nothing"])),
  h("p", { class: "am-finger-right" }, right === null ? "Right: this page does not know." : ["Right: ", spanish(right), ".", taught]), SAID];
}

const percent = (part) => Math.round(100 * part);

export function said({ phrase, nearest, apart, writes, finger, wrong }, { note, book }, { english, letters }) {
  if (note) return note;
  if (!phrase) return "Type an English phrase.";
  const strange = [...new Set(phrase)].filter((letter) => !letters.includes(letter));
  if (strange.length) return `No phrase of the book has the letter ${strange.join(", ")}, so the network reads it as unknown.`;
  const where = apart ? `\u201c${phrase}\u201d is not in the book. The nearest phrase, \u201c${english[nearest]}\u201d, is ${apart} ${apart === 1 ? "edit" : "edits"} away, and the finger copies \u201c${finger}\u201d.` : `\u201c${phrase}\u201d is in the book, and the finger copies \u201c${finger}\u201d.`;
  const says = writes === null ? "" : writes === finger ? " The network writes the same." : ` The network writes \u201c${writes}\u201d.`;
  const which = book ? " Both use the book with wrong translations." : "";
  return `${where}${says}${which}${wrong ? ` Of 100 letters, the network has ${percent(wrong[0])} wrong and the finger ${percent(wrong[1])}.` : ""}`;
}
