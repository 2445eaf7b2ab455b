/* What the translators of pages share: sentences to try and a field to type one into, a translation that
   is written word by word, and weights of attention that a reader changes. */
import { button, choice, h, hint, panel, slider } from "./kit.js";
import { sameWords } from "./sentence.js";
import { cutLargest, swapLargest } from "./seq2seq.js";

const PAUSE = 400; // milliseconds between two words

export const begin = (first) => ({
  ...first, shown: first.written.length, note: "", run: 0, refused: false, loading: false, invalid: false, kind: 0, extent: 100,
});

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
export function show(at, { set }, changes) {
  const run = at.run + 1;
  const now = { ...changes, shown: changes.written.length, invalid: false, refused: false, note: "", run };
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return now;
  set({ ...now, shown: 0, note: "The translator is writing." });
  grow({ set }, run);
  return null;
}

export const refused = ({ run }, note, invalid = false) => ({ note, invalid, refused: true, run: run + 1 });

export const changeOf = ({ kind, extent }) => (row) => [(same) => same, cutLargest, swapLargest][kind](row, extent / 100);

/* The first panel: pick(example) is the handler of an example's button, and `load` the button that loads. */
export const choosing = ({ examples }, at, { pick, load, unit }) => panel(at, "Choose a sentence and write its translation",
  h("div", { class: "am-play-choice", role: "group", "aria-label": "Sentences to try" }, h("span", { "aria-hidden": "true" }, "Try"),
    examples.map((one) => button(one.name, pick(one), { "aria-pressed": !at.refused && sameWords(one.words, at.words), "data-grows": true })())),
  slider("shown", `${unit} written`, { max: at.written.length, then: ({ run }) => ({ run: run + 1, note: "" }), grows: true }), load);

/* A field for a sentence: take(at, play) translates what it holds. */
export const field = (at, name, take, attributes) => h("form", { onsubmit: (now, event, play) => { event.preventDefault(); return take(now, play); } },
  h("label", { class: "am-translator-typed" }, h("span", {}, name), h("input", {
    type: "text", lang: "en", autocomplete: "off", spellcheck: "false", enterkeyhint: "go", value: at.text, "aria-invalid": at.invalid,
    oninput: (now, event) => ({ text: event.target.value }), ...attributes,
  })),
  h("button", { type: "submit", class: "am-play-button" }, "Translate"));

/* Controls that change the attention; again(at) gives what changes when the sentence is translated anew. */
export const changing = (at, unit, again) => [
  hint(`What if it looked elsewhere? Take the weight away from the ${unit} that it looks at most, or swap it with the second.`),
  choice("kind", "Weights", ["as learned", "cut the largest", "swap the two largest"], { then: again }),
  slider("extent", "How far", { max: 100, step: 5, show: (share) => `${share} %`, off: at.kind === 0, then: again }),
];
