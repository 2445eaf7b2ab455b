/* The translator in the page. Until the reader asks for more, it shows sentences that Python
   translated, and fetches nothing. After a click it translates what the reader types. seq2seq.js
   computes the translation, and sentence.js draws it. */
import { found, get, loader, sizeOf } from "./fetched.js";
import { CONTROLS, SAID, argmax, button, h, num, panel, table } from "./kit.js";
import { lineOf, ribbons, sameWords } from "./sentence.js";
import { readTranslator, translate } from "./seq2seq.js";
import { begin, changeOf, changing, choosing, field, refused, show } from "./writing.js";

/* Words offered while the reader types, and words a sentence may have. */
const [OFFERED, LONGEST] = [8, 40];
const SAYS = { with: "With attention", without: "Without attention" };

export const lines = [2, 5];

export const start = ({ examples: [first], gloss }) => ({
  ...begin(first), gloss, counts: [], plain: null, turn: 0, sentences: 0, text: first.words.join(" "), compare: false,
});

const textOf = (buffer) => new TextDecoder().decode(buffer);

const readSentences = (buffer) => textOf(buffer).trim().split("\n").map((line) => {
  const [words, right] = line.split("\t").map((part) => part.split(" "));
  return { words, right };
});

/* For every word those that came after it in training, likely ones first; "" is the edge of a sentence. */
const readFollowers = (buffer) => new Map(Object.entries(JSON.parse(textOf(buffer))).map(([word, after]) => [word, after.split(" ")]));

const wordsOf = (text) => text.toLowerCase().split(/[^\p{L}'\u2019]+/u).filter((word) => word);

/* Words that may come next in a text: those that begin as its last word does, likely ones first. */
function candidates(text, known, followers) {
  const words = wordsOf(text);
  const begun = /\S$/.test(text) ? words.pop() : "";
  const likely = followers.get(words.pop() ?? "") ?? [];
  const all = begun ? [...new Set([...likely, ...known])] : likely;
  return all.filter((word) => word !== begun && word.startsWith(begun)).slice(0, OFFERED);
}

const quoted = (words) => `\u201c${words.filter(Boolean).join(" ")}\u201d`;

/* What the translator has never read: a sentence that begins, goes on or ends like this one, or one as long. */
function unlike(words, longest, followers) {
  if (words.length > longest) return `It has never read more than ${longest} words; here are ${words.length}.`;
  const pairs = words.map((word, place) => [words[place - 1] ?? "", word]);
  const [one, other] = [...pairs, [words.at(-1), ""]].find(([before, after]) => !followers.get(before)?.includes(after)) ?? [];
  if (one === undefined) return "";
  const how = one === "" ? "that begins with" : other === "" ? "that ends with" : "with";
  return `It has never read a sentence ${how} ${quoted([one, other])}, but it has to say something.`;
}

/* ---- Translating ---- */

function translated({ files }, at) {
  const options = { change: changeOf(at), longest: LONGEST };
  const now = translate(found(files.with), at.words, options);
  const plain = at.compare && found(files.without) ? translate(found(files.without), at.words, options).written : null;
  return { ...now, plain, shown: now.written.length, note: "", run: at.run + 1 };
}

/* Translate the same sentence again: what was counted before does not hold any more. */
const again = (data, at) => ({ ...translated(data, at), counts: [], turn: at.turn + 1 });

function take(at, play, words) {
  const { data } = play;
  const { ids } = found(data.files.with);
  const unknown = words.filter((word) => !ids.has(word));
  if (words.length === 0) return refused(at, "Type an English sentence, or take a random one.");
  if (words.length > LONGEST) return refused(at, `This sentence has ${words.length} words; ${LONGEST} are the most.`);
  if (unknown.length > 0) {
    return refused(at, `The translator knows ${ids.size} English words, and not ${unknown.map((word) => quoted([word])).join(", ")}. The list below has them all.`, true);
  }
  const known = [...data.examples, ...found(data.files.sentences)].find((one) => sameWords(one.words, words));
  const remark = known?.remark ?? unlike(words, data.longest, found(data.files.followers));
  const asked = { ...at, words, text: words.join(" "), right: known?.right ?? null, remark: known || remark ? remark : "This page does not know whether that is right." };
  return show(at, play, { ...asked, ...translated(data, asked) });
}

/* Show one of the sentences that every page has. */
const pick = (one) => (at, event, play) =>
  (found(play.data.files.with) ? take(at, play, one.words) : show(at, play, { ...one, text: one.words.join(" ") }));

function random(at, event, play) {
  const others = found(play.data.files.sentences).filter((one) => !sameWords(one.words, at.words));
  return take(at, play, others[Math.floor(Math.random() * others.length)].words);
}

async function fetchAll({ files }) {
  const [model, all] = await Promise.all([get(files.with, readTranslator), get(files.sentences, readSentences), get(files.followers, readFollowers)]);
  return { sentences: all.length, gloss: model.gloss, note: `The translator is here. It knows ${model.ids.size} words, all in the list below: type a sentence that is made of them, or take a random one.` };
}

async function compare({ compare: before }, event, { data, set }) {
  const { without } = data.files;
  set({ compare: !before });
  if (!before && !found(without)) {
    set({ note: `Fetching ${sizeOf(without)}.` });
    try {
      await get(without, readTranslator);
    } catch (fault) {
      return { compare: false, note: `The other translator could not be fetched: ${fault.message}.` };
    }
  }
  set((at) => again(data, at));
  return null;
}

/* Count how many sentences of each length both get right, one at a time, so that the page can go on. */
async function count(begun, event, { data, set }) {
  const models = Object.keys(SAYS).map((name) => found(data.files[name]));
  const turn = begun.turn + 1;
  const counts = data.bands.map(() => ({ good: [0, 0], of: 0 }));
  set({ turn, counts, note: "" }, true);
  for (const [band, [low, high]] of data.bands.entries()) {
    for (const { words, right } of found(data.files.sentences).filter((one) => low <= one.words.length && one.words.length <= high)) {
      const good = models.map((model) => Number(sameWords(translate(model, words, { change: changeOf(begun), longest: LONGEST }).written, right)));
      counts[band] = { good: counts[band].good.map((before, at) => before + good[at]), of: counts[band].of + 1 };
      let mine = false;
      set((at) => {
        mine = at.turn === turn;
        return mine ? { counts: [...counts] } : {};
      }, true);
      if (!mine) return null;
      await new Promise((go) => setTimeout(go));
    }
  }
  const told = counts.map(({ good, of }, band) => `${data.bands[band].join(" to ")} words, ${good.map((one) => `${one} of ${of}`).join(" and ")}`);
  return { note: `Right with attention and without: ${told.join("; ")}.` };
}

/* ---- What is seen ---- */

export const controls = (data, at) => choosing(data, at, {
  pick, unit: "Words",
  load: loader([data.files.with, data.files.sentences, data.files.followers], {
    words: (size) => `Load the translator (${size}) and type your own`, instead: "To type your own sentences in a notebook: live_translator(embedded=True).", fetchAll,
  }),
});

function typing(data, at) {
  const offers = candidates(at.text, data.vocabulary, found(data.files.followers));
  const typed = (event) => event.currentTarget.closest("figure").querySelector("input[type=text]");
  const add = (word) => ({ text }, event) => {
    if (event.detail === 0) typed(event).focus();
    return { text: `${/\S$/.test(text) ? text.replace(/\S+$/, "") : text}${word} ` };
  };
  return panel(at, "Choose a sentence",
    field(at, "English sentence, without punctuation", (now, play) => take(now, play, wordsOf(now.text)), {
      autocapitalize: "none",
      onkeydown: (now, event) => { if (event.key === "ArrowDown") event.target.closest("figure").querySelector("[data-cell]")?.focus(); },
    }),
    h("div", { class: "am-translator-words am-rove", rove: true, role: "group", "aria-label": "Words that may come next", onkeydown: (now, event) => { if (event.key === "Escape") typed(event).focus(); } },
      offers.map((word, place) => h("button", { type: "button", class: "am-play-button", "data-cell": `0 ${place}`, onclick: add(word) }, word))),
    button("Random sentence", random));
}

const comparing = (data, at) => panel(at, "Change the attention, or compare", changing(at, "word", (now) => again(data, now)),
  h("label", { class: "am-play-tick" }, h("input", { type: "checkbox", checked: at.compare, onchange: compare }),
    h("span", {}, `Compare with the translator without attention (${sizeOf(data.files.without)} more)`)),
  at.compare && found(data.files.without) && button(`Translate all ${at.sentences} sentences with both`, count));

const counted = (data, { counts }) => counts.length > 0 && [
  h("p", { class: "am-translator-name" }, "Of 300 sentences that neither translator has read, these are right:"),
  table(["Words", "With attention", "Without"], counts.map(({ good, of }, band) => [
    data.bands[band].join(" to "), ...good.map((one) => [h("span", { class: "am-translator-share", style: { "--share": of ? one / of : 0 } }), `${one} of ${of}`]),
  ]), { kind: "am-translator-counts" }),
];

/* Where each written word looks most, and with what weight. */
export const model = (data, { rows }) => rows.map((row) => {
  const most = argmax(row);
  return { most, weight: row[most] };
});

export function view(m, at, data) {
  const { written, plain, right, shown, gloss, refused } = at;
  const done = shown >= written.length;
  const isWrong = (spoken) => right && spoken && !sameWords(spoken, right);
  return [
    CONTROLS, at.sentences > 0 && h("div", { "data-grows": true }, typing(data, at)),
    h("div", {}, !refused && [
      ribbons(at, shown), lineOf(SAYS.with, written, shown, gloss, right),
      plain && lineOf(SAYS.without, plain, done ? Infinity : shown, gloss, right),
      done && (isWrong(written) || isWrong(plain)) && lineOf("The right translation", right, Infinity, gloss, null),
    ]),
    SAID, at.sentences > 0 && h("div", { "data-grows": true }, comparing(data, at)), counted(data, at),
    h("details", { class: "am-translator-known" }, h("summary", {}, `The ${data.vocabulary.length} English words that it knows`), h("p", { lang: "en" }, data.vocabulary.join(", "))),
  ];
}

export function said(m, { words, written, plain, right, shown, note, remark }) {
  if (note) return note;
  if (shown === 0) return "Nothing is written yet.";
  if (shown < written.length) return `${written[shown - 1]} looks most at ${words[m[shown - 1].most]}, ${num(m[shown - 1].weight)}.`;
  const told = (name, spoken) => `${SAYS[name]}: ${spoken.join(" ") || "nothing"}${right ? `, which is ${sameWords(spoken, right) ? "right" : "wrong"}` : ""}.`;
  return [told("with", written), remark, plain && told("without", plain)].filter(Boolean).join(" ");
}
