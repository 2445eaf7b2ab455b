/* A word spoken frame by frame, and a reader that looks for each letter by what came before it and where it looked last. */
import { CONTROLS, SAID, argmax, arrowKeys, button, chart, clamp, drag, h, hint, label, line, panel, range, reset, slider, softmax, sum, tick } from "./kit.js";

const [WIDE, LEFT, BAND, TOP, AREA, TALLEST, FAINT] = [520, 24, 26, 74, 240, 22, 0.02];
const [FOOT, LONGEST, EXTRA, ROOM] = [TOP + AREA + 6, 11, 5, 8]; // letters of a word, steps, and frames a letter that fit
const [START, END] = ["", "end"];

export const lines = [2, 4];

export const start = ({ word, takes, content, place }) => ({ word, take: 0, lengths: takes[0], content, place, given: false });

const lettersOf = (typed) => [...typed.toLowerCase().normalize("NFC").replace(/[^\p{L}]/gu, "")].slice(0, LONGEST);

/* Where each letter begins, the silence behind them, and the end of that. */
const beginnings = (lengths) => lengths.reduce((all, length) => [...all, all.at(-1) + length], [0]);

/* Of all paths through a map that begin at the top left, end at the bottom right and never go back, the one with
   the most weight: the frame at which it enters each row. */
function stamps(rows) {
  const best = rows.map((row) => row.map(() => -Infinity));
  rows.forEach((row, step) => row.forEach((weight, frame) => {
    const [stays, enters] = [best[step][frame - 1] ?? -Infinity, best[step - 1]?.[frame - 1] ?? -Infinity];
    best[step][frame] = weight + (step + frame === 0 ? 0 : Math.max(stays, enters));
  }));
  const found = rows.map(() => 0);
  let step = rows.length - 1;
  for (let frame = rows[0].length - 1; step > 0; frame -= 1) {
    if (best[step - 1][frame - 1] >= (best[step][frame - 1] ?? -Infinity)) {
      found[step] = frame;
      step -= 1;
    }
  }
  return found;
}

export function model({ pace }, { word, lengths, content, place, given }) {
  const letters = [...lettersOf(word), END];
  const frames = letters.flatMap((letter, at) => Array(lengths[at]).fill({ letter, before: at ? letters[at - 1] : START }));
  const [written, rows] = [[], []];
  let seen = -(pace + 1) / 2;
  while (written.length < letters.length + (given ? 0 : EXTRA - 1) && (given || written.at(-1) !== END)) {
    const before = given ? letters[written.length - 1] ?? START : written.at(-1) ?? START;
    const weights = softmax(frames.map((frame, at) => content * (frame.before === before) - (place * ((at - seen) / pace - 1) ** 2) / 2));
    const shares = letters.map((letter) => sum(weights.filter((_, at) => frames[at].letter === letter)));
    seen = sum(weights.map((weight, at) => weight * at));
    rows.push(weights);
    written.push(given ? letters[written.length] : letters[argmax(shares)]);
  }
  return { letters, written, rows, begins: beginnings(lengths.slice(0, letters.length)), stamps: given ? stamps(rows) : null };
}

export const controls = ({ takes }, at) => panel(at, "Change what is said and how it is read",
  h("label", { class: "am-play-select" }, h("span", {}, "The word"), h("input", {
    class: "am-spoken-typed", type: "text", maxlength: LONGEST, autocomplete: "off", autocapitalize: "none", spellcheck: "false", value: at.word,
    oninput: (_, event) => ({ word: event.target.value, lengths: takes[at.take] }),
  })),
  button("Say it again", ({ take }) => ({ take: (take + 1) % takes.length, lengths: takes[(take + 1) % takes.length] })),
  tick("given", "Give it the word, and read the time stamps"),
  slider("content", "What came before", { max: 6 }), slider("place", "Where it looked last", { max: 8 }),
  reset(), hint("Drag a knob to say a letter for longer, or press the arrow keys on it."));

export function view({ letters, written, rows, begins, stamps: read }, { lengths }) {
  const most = Math.max(ROOM * letters.length, begins.at(-1));
  const unit = (WIDE - LEFT - 8) / most;
  const [high, x] = [Math.min(TALLEST, AREA / (letters.length + EXTRA - 1)), (frame) => LEFT + unit * frame];
  const named = (letter) => (letter === END ? "\u2205" : letter);
  const band = (starts, top) => letters.map((letter, at) => {
    const [from, to] = [x(starts[at]), x(starts[at + 1])];
    return [h("rect", { class: "am-spoken-band", x: from, y: top, width: to - from, height: BAND }), label((from + to) / 2, top + 18, named(letter), "am-middle")];
  });
  const stretch = (at, length) => {
    const longest = most - begins.at(-1) + lengths[at];
    return { lengths: lengths.map((old, one) => (one === at ? clamp(Math.round(length), 1, longest) : old)) };
  };
  const knob = (at) => h("g", {
    class: "am-handle", tabindex: 0, role: "slider", "aria-label": `Frames of ${letters[at] === END ? "silence" : letters[at]}`,
    "aria-valuemin": 1, "aria-valuemax": most - begins.at(-1) + lengths[at], "aria-valuenow": lengths[at],
    ...drag(([right]) => stretch(at, (right - LEFT) / unit - begins[at])), ...arrowKeys(([right, up]) => stretch(at, lengths[at] + right + up)),
  }, h("circle", { class: "am-hit", cx: x(begins[at + 1]), cy: 14, r: 14 }), h("circle", { class: "am-knob", cx: x(begins[at + 1]), cy: 14, r: 7 }));
  const path = read?.map((from, step) => `${step ? "V" : "M"}${step ? TOP + high * (step + 0.5) : `${x(0)} ${TOP + high / 2}`}H${x(read[step + 1] ?? begins.at(-1))}`).join("");
  return [
    chart(WIDE, FOOT + BAND + 2, { class: "am-spoken", role: "group", "aria-label": `What is said, frame by frame, and the frames in which ${written.length} letters are looked for` },
      // In groups, so that a knob stays the same element while it is dragged
      h("g", {}, band(begins, 30), begins.map((frame) => line(x(frame), 56, x(frame), TOP + high * rows.length, "am-level"))),
      h("g", {}, written.map((letter, step) => label(0, TOP + high * (step + 0.5) + 5, named(letter), letter === letters[step] ? "am-bold" : "am-bold am-wine"))),
      h("g", {}, rows.map((row, step) => row.map((weight, frame) => weight >= FAINT && h("rect", {
        class: "am-bar", x: x(frame), y: TOP + high * step + 1, width: unit, height: high - 2, "fill-opacity": Math.sqrt(weight),
      })))),
      h("g", {}, path && [h("path", { class: "am-spoken-path", d: path }), band([...read, begins.at(-1)], FOOT)]),
      h("g", {}, letters.map((_, at) => knob(at)))),
    CONTROLS, SAID,
  ];
}

export function said({ letters, written, begins, stamps: read }, { word, content, place }, { frame }) {
  if (letters.length === 1) return "Type a word.";
  if (read) {
    const worst = Math.max(...read.map((from, at) => Math.abs(from - begins[at])));
    return `From this map, the letters of \u201c${letters.slice(0, -1).join("")}\u201d begin after ${read.slice(0, -1).map((from) => from * frame).join(", ")} ms. ${worst ? `The worst of them is off by ${worst * frame} ms.` : "Every one of them is right."}`;
  }
  const text = written.filter((letter) => letter !== END).join("");
  const more = text.length - (letters.length - 1);
  const fault = written.at(-1) !== END ? "and would go on like this"
    : text === letters.slice(0, -1).join("") ? "which is right" : more > 0 ? "so it has repeated letters" : more < 0 ? "so it has skipped letters" : "and some of its letters are wrong";
  return `It writes \u201c${text}\u201d, ${fault}. It weighs what came before with ${content} and where it looked last with ${place}.`;
}
