/* A translator of real sentences in the page. Until the reader asks for more, it shows sentences that
   Python translated, and fetches nothing. transformer.js computes the translation, pieces.js cuts the
   sentence, and sentence.js draws both. */
import { found, get, loader } from "./fetched.js";
import { CONTROLS, SAID, argmax, capital, h, num, panel } from "./kit.js";
import { cutter, inWords, joined } from "./pieces.js";
import { ribbons } from "./sentence.js";
import { readTranslator } from "./seq2seq.js";
import { translate } from "./transformer.js";
import { begin, changeOf, changing, choosing, field, refused, show } from "./writing.js";

/* Pieces from which on a word was so rare in training that it is marked. */
const RARE = 3;

export const lines = [3, 7];

export const start = ({ examples: [first] }) => ({ ...begin(first), text: joined(first.words), helped: [], loaded: false });

const listed = (words) => new Intl.ListFormat("en-GB").format(words.map(String));
const quoted = (words) => listed(words.map((word) => `\u201c${word}\u201d`));

/* A sentence as those of the training are written: what is read, and what the page did to it. */
export function completed(typed) {
  const text = typed.trim().replace(/\s+/gu, " ");
  const straight = text.replace(/[\u2018\u2019]/g, "'").replace(/[\u201c\u201d]/g, '"');
  const begun = capital(straight);
  const ended = /[.!?\u2026]["')]*$/.test(begun) ? begun : `${begun}.`;
  const helped = [straight !== text && "straightened the quotation marks", begun !== straight && "began with a capital", ended !== begun && "added the full stop"];
  return { text: ended, helped: helped.filter(Boolean) };
}

function readAll(buffer) {
  const model = readTranslator(buffer);
  return { ...model, cut: cutter(model.merges) };
}

/* ---- Translating ---- */

function translated({ file, longest }, at) {
  const { written, rows } = translate(found(file), at.words, { change: changeOf(at), longest: longest.pieces });
  return { written, rows, shown: written.length, note: "", run: at.run + 1 };
}

function take(at, play) {
  const { data } = play;
  const { text, helped } = completed(at.text);
  const words = found(data.file).cut(text);
  const { pieces, words: most } = data.longest;
  if (!at.text.trim()) return refused(at, "There is no sentence yet: type an English one.", true);
  if (words.length > pieces) return refused(at, `This sentence has ${words.length} pieces; ${pieces} are the most. In training no sentence had more than ${most} words.`, true);
  const asked = { ...at, words, text, helped, remark: "" };
  return show(at, play, { ...asked, ...translated(data, asked) });
}

const pick = (one) => (at, event, play) => {
  const example = { ...one, text: joined(one.words), helped: [], run: at.run };
  return show(at, play, at.kind && found(play.data.file) ? { ...example, ...translated(play.data, { ...at, ...example }) } : example);
};

async function fetchAll({ file }) {
  await get(file, readAll);
  return { loaded: true, note: "The translator is here. Type any English sentence." };
}

/* ---- What is seen ---- */

export const controls = (data, at) => choosing(data, at, {
  pick, unit: "Pieces",
  load: loader([data.file], {
    words: (size) => (at.loaded ? `The translator is here (${size})` : `Load the translator (${size}) and type your own sentence`),
    instead: "To type your own sentences in a notebook: real_translator(embedded=True).", fetchAll,
  }),
});

/* What the sentence that is being typed will be read as. */
function preview({ cut, ids }, text, longest) {
  const pieces = text.trim() ? cut(completed(text).text) : [];
  const tile = (piece, kind) => h("span", { class: ["am-tile", ids.has(piece) ? kind : "am-unknown"] }, piece === "\u2581" ? piece : piece.replace("\u2581", ""));
  return h("p", { class: "am-real-pieces" },
    h("span", { class: "am-translator-name" }, pieces.length > longest.pieces ? `${pieces.length} pieces, and ${longest.pieces} are the most:` : `${pieces.length} ${pieces.length === 1 ? "piece" : "pieces"}:`),
    inWords(pieces).map((word) => [" ", h("span", { class: "am-real-word" }, word.map((piece) => tile(piece, word.length >= RARE && "am-rare")))]));
}

const typing = (data, at) => panel(at, "Type a sentence", field(at, "Any English sentence", take, { autocapitalize: "sentences", maxlength: 400 }),
  preview(found(data.file), at.text, data.longest));

/* Where each written piece looks most, and with what weight; which words are in many pieces. */
export function model(data, { words, rows }) {
  const looks = rows.map((row) => ({ most: argmax(row), weight: Math.max(...row) }));
  return { looks, rare: inWords(words).filter((word) => word.length >= RARE) };
}

export function view(m, at, data) {
  const { words, written, shown } = at;
  const whole = joined(written);
  const now = joined(written.slice(0, shown));
  const rare = inWords(words).flatMap((word) => word.map(() => word.length >= RARE));
  const loaded = at.loaded && found(data.file);
  return [
    CONTROLS, loaded && h("div", { "data-grows": true }, typing(data, at)),
    h("div", {}, !at.refused && [
      ribbons(at, shown, rare),
      h("p", { class: "am-translator-line" }, h("span", { class: "am-translator-name" }, "Spanish"), " ", h("b", { lang: "es" }, now, h("span", { class: "am-none" }, whole.slice(now.length)))),
    ]),
    SAID, loaded && h("div", { "data-grows": true }, panel(at, "Change the attention", changing(at, "piece", (now) => translated(data, now)))),
  ];
}

/* What a reader should know of a sentence before believing its translation. */
function remarks({ rare }, { words, written, helped, remark, kind }, data) {
  const model = found(data.file);
  const unknown = model ? words.filter((piece) => !model.ids.has(piece)) : [];
  const count = joined(words).split(" ").length;
  return [
    helped.length > 0 && `The page ${listed(helped)}.`,
    unknown.length > 0 && `It has no piece for ${quoted([...new Set(unknown)])} and reads an unknown sign.`,
    rare.length > 0 && `It reads ${quoted(rare.map((word) => joined(word)))} in ${listed(rare.map((word) => word.length))} pieces.`,
    count > data.longest.words && `No sentence in training had more than ${data.longest.words} words; here are ${count}.`,
    written.length >= data.longest.pieces && `The page stopped it after ${written.length} pieces.`,
    kind > 0 ? "Every head that reads the English is changed." : remark || "It cannot decline, and it does not know whether that is right.",
  ];
}

export function said(m, at, data) {
  const { words, written, shown, note } = at;
  if (note) return note;
  if (shown === 0) return "Nothing is written yet.";
  const name = (piece) => quoted([piece === "\u2581" ? piece : piece.replace("\u2581", "")]);
  if (shown < written.length) return `${name(written[shown - 1])} looks most at ${name(words[m.looks[shown - 1].most])}, ${num(m.looks[shown - 1].weight)}.`;
  return [`It writes ${quoted([joined(written)])}.`, ...remarks(m, at, data)].filter(Boolean).join(" ");
}
