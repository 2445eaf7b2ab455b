/* Names that a summarizer has never seen: what the reader sees, what the model reads, and its summary. */
import { CONTROLS, SAID, argmax, button, chart, h, label, num, panel, range, reset, ribbon, slider, tick } from "./kit.js";
import { sumUp } from "./pointer.js";

export const lines = [3, 6];

const [WIDE, LINE, TOP, LETTER, SPACE, TILE, FAINT] = [520, 44, 26, 8.4, 9, 46, 0.03];

export const start = ({ names: [home, away] }) => ({ home, away, h: 9, v: 9, exchanged: false, numbers: false, shown: 8 });

/* The sentences of the report, and the two names in it. */
function report({ star, referee }, { home, away, h: ours, v: theirs, exchanged }) {
  const told = ours === theirs ? [`${exchanged ? home : away} lost on penalties .`] : [];
  return [
    `on sunday ${home} against ${away} ended ${ours} to ${theirs} .`, ...told,
    `${referee} was the referee .`, `nobody played better than ${star} .`,
  ].map((sentence) => sentence.split(" "));
}

/* What was typed, without all that is no letter of any script. */
const lettersOf = (typed) => typed.toLowerCase().normalize("NFC").replace(/[^\p{L}\p{M}]/gu, "");

/* Why a team cannot have this name, or "". */
function refusal(name, { grey, star, referee }, taken) {
  if (!name) return "Type a name for each team.";
  if (grey.words.includes(name)) return `The model knows the word \u201c${name}\u201d: choose another one.`;
  return [star, referee, ...taken].includes(name) ? `\u201c${name}\u201d has another part in this report: choose another name.` : "";
}

/* What the model reads of each sentence: words that it knows, and null or a number for all others. */
export function model(data, given) {
  const [home, away] = [given.home, given.away].map(lettersOf);
  const [bad, worse] = [refusal(home, data, []), refusal(away, data, [home])];
  const at = { ...given, home: bad ? "?" : home, away: worse ? "?" : away };
  const seen = report(data, at);
  const flat = seen.flat();
  const one = at.numbers ? data.numbered : data.grey;
  const unknown = [...new Set(flat.filter((word) => !data.grey.words.includes(word)))];
  const nameOf = (word) => (at.numbers && unknown.includes(word) ? `name${unknown.indexOf(word) + 1}` : word);
  const { written, rows, speaks } = sumUp(one, flat.map(nameOf));
  const back = (word) => (at.numbers && /^name\d+$/.test(word) ? unknown[Number(word.slice(4)) - 1] ?? word : word);
  const loser = at.h === at.v ? (at.exchanged ? at.home : at.away) : at.h > at.v ? at.away : at.home;
  const winner = loser === at.home ? at.away : at.home;
  const right = [winner, "beat", loser, String(Math.max(at.h, at.v)), String(Math.min(at.h, at.v)), ",", data.star, "shines"];
  const reads = flat.map((word) => (unknown.includes(word) ? (at.numbers ? unknown.indexOf(word) + 1 : 0) : null));
  return { seen, reads, written: written.map(back), rows, speaks, right, refused: bad || worse };
}

const named = (key, name) => (at) => h("label", { class: "am-grey-typed" }, h("span", {}, name), h("input", {
  type: "text", maxlength: 12, autocomplete: "off", autocapitalize: "none", spellcheck: "false", value: at[key],
  oninput: (_, event) => ({ [key]: event.target.value }),
}));

export const controls = (data, at) => panel(at, "Change the report",
  named("home", "One team"), named("away", "The other"),
  slider("h", "Goals of one", { max: 20, grows: true }), slider("v", "of the other", { max: 20, grows: true }),
  button("Exchange the loser on penalties", { exchanged: !at.exchanged }, { off: at.h !== at.v, "aria-pressed": at.exchanged, "data-grows": true }),
  tick("numbers", "Give every name a number"),
  slider("shown", "Words written", { max: 8 }), reset());

/* Where each word stands: sentences in lines, words from left to right. */
function placed(sentences, wide) {
  let place = 0;
  return sentences.flatMap((words, row) => {
    let left = 4;
    return words.map((word) => {
      const width = wide(word, place);
      const one = { word, place, x: left + width / 2, y: TOP + row * LINE, width };
      left += width + SPACE;
      place += 1;
      return one;
    });
  });
}

function drawing({ seen, reads, written, rows, speaks, refused }, at) {
  const shown = refused ? 0 : at.shown;
  const tokens = placed(seen, (word, place) => (reads[place] === null ? Math.max(word.length * LETTER, 8) : TILE));
  const bottom = TOP + seen.length * LINE + 62;
  const said = placed([written], (word) => Math.max(word.length * LETTER + 4, 14)).map((one) => ({ ...one, y: bottom }));
  const path = (from, to) => `M${from.x} ${from.y + 8}C${from.x} ${(from.y + to.y) / 2} ${to.x} ${(from.y + to.y) / 2} ${to.x} ${to.y - 20}`;
  return chart(WIDE, bottom + 46, { class: "am-grey-chart" },
    said.slice(0, shown).map((to, step) => rows[step].map((weight, place) => weight * (1 - speaks[step]) >= FAINT && ribbon(path(tokens[place], to), weight * (1 - speaks[step]), { most: 9 }))),
    tokens.map(({ word, place, x, y, width }) => (reads[place] === null
      ? label(x, y + 5, word, "am-middle")
      : h("g", { class: "am-grey-tile" }, h("rect", { x: x - width / 2, y: y - 11, width, height: 22, rx: 3 }), label(x, y + 5, reads[place] || "<unk>", "am-middle")))),
    said.map(({ word, x, y }, step) => step < shown && [
      label(x, y, word, "am-middle am-bold"),
      h("circle", { class: ["am-grey-lamp", speaks[step] < 0.5 && "am-on"], cx: x, cy: y + 18, r: 6 }),
    ]),
    label(4, bottom + 42, "\u25cf points   \u25cb speaks", "am-axis"));
}

export function view(m, at) {
  return [
    CONTROLS,
    h("div", { class: "am-grey-columns" },
      h("div", {}, h("p", { class: "am-grey-head" }, "What you see"), m.seen.map((words) => h("p", {}, words.join(" ")))),
      h("div", {}, h("p", { class: "am-grey-head" }, "What the model reads, and what it writes"), drawing(m, at))),
    SAID,
  ];
}

export function said({ written, rows, speaks, seen, right, refused }, { shown, numbers }) {
  if (refused) return refused;
  if (shown === 0) return "Nothing is written yet.";
  const step = Math.min(shown, written.length) - 1;
  if (shown < written.length) {
    const how = speaks[step] < 0.5 ? `points at \u201c${seen.flat()[argmax(rows[step])]}\u201d` : "speaks from its vocabulary";
    return `For \u201c${written[step]}\u201d it ${how}: the probability of speaking is ${num(speaks[step])}.`;
  }
  const wrong = range(right.length).filter((at) => written[at] !== right[at]);
  const fault = wrong.length === 0 ? "which is right" : written[0] === written[2] ? "so a team has beaten itself" : wrong.some((at) => at < 3) ? "so the wrong team has won" : "and not all of it is right";
  return `${numbers ? "With numbers" : "With grey names"} it writes \u201c${written.join(" ")}\u201d, ${fault}.`;
}
