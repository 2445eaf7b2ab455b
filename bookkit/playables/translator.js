/* The translator in the page. Until the reader asks for more, it shows sentences that Python
   translated, and fetches nothing. After a click it translates what the reader types. seq2seq.js
   computes the translation, and sentence.js draws it. */
import { canLoad, found, get, kibibytes } from "./fetched.js";
import { CONTROLS, SAID, argmax, button, choice, h, hint, num, panel, slider, table } from "./kit.js";
import { lineOf, ribbons, sameWords } from "./sentence.js";
import { cutLargest, readTranslator, swapLargest, translate } from "./seq2seq.js";

/* Milliseconds between two words; words offered while the reader types; words a sentence may have. */
const [PAUSE, OFFERED, LONGEST] = [400, 8, 40];
const SAYS = { with: "With attention", without: "Without attention" };

export const lines = [2, 5];

export const start = ({ examples: [first], gloss, counts }) => ({
  ...first, gloss, counts, plain: null, shown: first.written.length, note: "", run: 0, turn: 0, refused: false,
  loading: false, sentences: 0, text: first.words.join(" "), invalid: false, kind: 0, extent: 100, compare: false,
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

const changeOf = ({ kind, extent }) => (row) => [(same) => same, cutLargest, swapLargest][kind](row, extent / 100);

function translated({ files }, at) {
  const options = { change: changeOf(at), longest: LONGEST };
  const now = translate(found(files.with), at.words, options);
  const plain = at.compare && found(files.without) ? translate(found(files.without), at.words, options).written : null;
  return { ...now, plain, shown: now.written.length, note: "", run: at.run + 1 };
}

/* Translate the same sentence again: what was counted before does not hold any more. */
const again = (data, at) => ({ ...translated(data, at), counts: at.kind === 0 ? data.counts : [], turn: at.turn + 1 });

/* Write word by word, until the reader does something else. */
function grow({ set }, run) {
  const next = () => {
    let goesOn = false;
    set((at) => {
      if (at.run !== run) return {};
      goesOn = at.shown + 1 < at.written.length;
      return { shown: Math.min(at.shown + 1, at.written.length) };
    }, true);
    if (goesOn) setTimeout(next, PAUSE);
    else set((at) => (at.run === run ? { note: "" } : {}));
  };
  next();
}

/* Show a translation, word by word where the reader has nothing against motion. */
function show(at, { set }, changes) {
  const run = at.run + 1;
  const now = { ...changes, text: changes.words.join(" "), shown: changes.written.length, invalid: false, refused: false, note: "", run };
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return now;
  set({ ...now, shown: 0, note: "The translator is writing." });
  grow({ set }, run);
  return null;
}

function take(at, play, words) {
  const { data } = play;
  const { ids } = found(data.files.with);
  const unknown = words.filter((word) => !ids.has(word));
  const refused = (note, invalid = false) => ({ note, invalid, refused: true, run: at.run + 1 });
  if (words.length === 0) return refused("Type an English sentence, or take a random one.");
  if (words.length > LONGEST) return refused(`This sentence has ${words.length} words; ${LONGEST} are the most.`);
  if (unknown.length > 0) {
    return refused(`The translator knows ${ids.size} English words, and not ${unknown.map((word) => quoted([word])).join(", ")}. The list below has them all.`, true);
  }
  const known = [...data.examples, ...found(data.files.sentences)].find((one) => sameWords(one.words, words));
  const remark = known?.remark ?? unlike(words, data.longest, found(data.files.followers));
  const asked = { ...at, words, right: known?.right ?? null, remark: known || remark ? remark : "This page does not know whether that is right." };
  return show(at, play, { ...asked, ...translated(data, asked) });
}

/* Show one of the sentences that every page has. */
const pick = (one) => (at, event, play) =>
  (found(play.data.files.with) ? take(at, play, one.words) : show(at, play, one));

function random(at, event, play) {
  const others = found(play.data.files.sentences).filter((one) => !sameWords(one.words, at.words));
  return take(at, play, others[Math.floor(Math.random() * others.length)].words);
}

async function load({ loading }, event, { data, root, set }) {
  if (loading) return null;
  const { files } = data;
  const byKey = event.detail === 0;
  set({ loading: true, note: `Fetching ${kibibytes(files.with, files.sentences, files.followers)}.` });
  try {
    const [model, all] = await Promise.all([get(files.with, readTranslator), get(files.sentences, readSentences), get(files.followers, readFollowers)]);
    set({ sentences: all.length, gloss: model.gloss, note: `The translator is here. It knows ${model.ids.size} words, all in the list below: type a sentence that is made of them, or take a random one.` });
  } catch (fault) {
    return { loading: false, note: `The translator could not be fetched: ${fault.message}. A page that was opened from a folder, and not from a site, cannot load anything.` };
  }
  if (byKey) root.querySelector("input[type=text]").focus();
  return null;
}

async function compare({ compare: before }, event, { data, set }) {
  const { without } = data.files;
  set({ compare: !before });
  if (!before && !found(without)) {
    set({ note: `Fetching ${kibibytes(without)}.` });
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

export const controls = (data, at) => panel(at, "Choose a sentence and write its translation",
  h("div", { class: "am-play-choice", role: "group", "aria-label": "Sentences to try" }, h("span", { "aria-hidden": "true" }, "Try"),
    data.examples.map((one) => button(one.name, pick(one), { "aria-pressed": !at.refused && sameWords(one.words, at.words), "data-grows": true })())),
  slider("shown", "Words written", { max: at.written.length, then: ({ run }) => ({ run: run + 1, note: "" }), grows: true }),
  canLoad(data.files.with)
    ? button(`Load the translator (${kibibytes(data.files.with, data.files.sentences, data.files.followers)}) and type your own`, load, { off: at.loading, "data-grows": true })
    : h("p", {}, "To type your own sentences in a notebook: live_translator(embedded=True)."));

function choosing(data, at) {
  const offers = candidates(at.text, data.vocabulary, found(data.files.followers));
  const typed = (event) => event.currentTarget.closest("figure").querySelector("input[type=text]");
  const add = (word) => ({ text }, event) => {
    if (event.detail === 0) typed(event).focus();
    return { text: `${/\S$/.test(text) ? text.replace(/\S+$/, "") : text}${word} ` };
  };
  return panel(at, "Choose a sentence",
    h("form", { onsubmit: (now, event, play) => { event.preventDefault(); return take(now, play, wordsOf(now.text)); } },
      h("label", { class: "am-translator-typed" }, h("span", {}, "English sentence, without punctuation"), h("input", {
        type: "text", lang: "en", autocomplete: "off", autocapitalize: "none", spellcheck: "false", enterkeyhint: "go", value: at.text, "aria-invalid": at.invalid,
        oninput: (now, event) => ({ text: event.target.value }),
        onkeydown: (now, event) => { if (event.key === "ArrowDown") event.target.closest("figure").querySelector("[data-cell]")?.focus(); },
      })),
      h("button", { type: "submit", class: "am-play-button" }, "Translate")),
    h("div", { class: "am-translator-words am-rove", rove: true, role: "group", "aria-label": "Words that may come next", onkeydown: (now, event) => { if (event.key === "Escape") typed(event).focus(); } },
      offers.map((word, place) => h("button", { type: "button", class: "am-play-button", "data-cell": `0 ${place}`, onclick: add(word) }, word))),
    button("Random sentence", random));
}

const changing = (data, at) => panel(at, "Change the attention, or compare",
  hint("What if it looked elsewhere? Take the weight away from the word that it looks at most, or swap it with the second."),
  choice("kind", "Weights", ["as learned", "cut the largest", "swap the two largest"], { then: (now) => again(data, now) }),
  slider("extent", "How far", { max: 100, step: 5, show: (share) => `${share} %`, off: at.kind === 0, then: (now) => again(data, now) }),
  h("label", { class: "am-play-tick" }, h("input", { type: "checkbox", checked: at.compare, onchange: compare }),
    h("span", {}, `Compare with the translator without attention (${kibibytes(data.files.without)} more)`)),
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
    CONTROLS, at.sentences > 0 && h("div", { "data-grows": true }, choosing(data, at)),
    h("div", {}, !refused && [
      ribbons(at, shown), lineOf(SAYS.with, written, shown, gloss, right),
      plain && lineOf(SAYS.without, plain, done ? Infinity : shown, gloss, right),
      done && (isWrong(written) || isWrong(plain)) && lineOf("The right translation", right, Infinity, gloss, null),
    ]),
    SAID, at.sentences > 0 && h("div", { "data-grows": true }, changing(data, at)), counted(data, at),
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
