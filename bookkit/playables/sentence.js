/* Draw a sentence, the first words of its translation, and ribbons as thick as the attention between
   them; and put a translation into a line of words with their meanings. */
import { argmax, chart, h, hint, label, num, range, ribbon, sum } from "./kit.js";

const [LETTERS, LEAST, WIDE, TOP, BOTTOM, HEIGHT] = [20, 520, 630, 42, 206, 244];
const FAINT = 0.02;
const NARROW = new Set("ijlíìtfr.,;:!¡|'’()");
const BROAD = new Set("mwMW—…");

/* Estimate how wide a bold word is set. */
const wordWidth = (word) => LETTERS * sum([...word].map((letter) => (NARROW.has(letter) ? 0.33 : BROAD.has(letter) ? 0.9 : 0.58)));

/* The middles of words that stand in one line from edge to edge, with equal gaps. */
function middles(words, width) {
  const widths = words.map(wordWidth);
  if (words.length === 1) return [Math.round(width / 2)];
  const gap = (width - sum(widths)) / (words.length - 1);
  let left = 0;
  return widths.map((wide) => {
    const middle = Math.round(left + wide / 2);
    left += wide + gap;
    return middle;
  });
}

/* The least width of a line of words. */
const lineWidth = (words) => sum(words.map((word) => wordWidth(word) + 14)) - 14;

/* Say where each of the written words looks most. */
function describe(words, written, rows) {
  const looks = written.map((word, place) => {
    const most = argmax(rows[place]);
    return `${word} looks most at ${words[most]}, ${num(rows[place][most])}`;
  });
  return `Source words above, target words below. ${looks.join("; ") || "Nothing is written yet"}.`;
}

/* Draw a sentence and the first words of its translation; a long one scrolls in its own box. */
export function ribbons({ words, written, rows }, shown) {
  const width = Math.round(Math.max(LEAST, lineWidth(words), lineWidth(written)));
  const [above, below] = [middles(words, width), middles(written, width)];
  const said = written.slice(0, shown);
  const half = (TOP + BOTTOM) / 2;
  const path = (at, place) => `M${above[at]} ${TOP}C${above[at]} ${half} ${below[place]} ${half} ${below[place]} ${BOTTOM}`;
  const wide = width > LEAST && { tabindex: 0, role: "group", "aria-label": "The ribbons, wider than a phone" };
  const key = words.join(" "); // another sentence is another box, and is seen from its beginning
  return [width > WIDE && hint("The drawing is wider than its box: scroll it sideways."), h("div", { class: "am-scroll", key, ...wide }, chart(width, HEIGHT, {
    class: "am-translator-ribbons", "aria-label": describe(words, said, rows), role: "img",
  },
  said.map((_, place) => rows[place].map((weight, at) => weight >= FAINT && ribbon(path(at, place), weight, { most: 13 }))),
  words.map((word, at) => label(above[at], 28, word, "am-middle am-bold")),
  said.map((word, place) => label(below[place], 230, word, "am-middle am-bold", { lang: "es" }))))];
}

export const sameWords = (one, other) => one.join(" ") === other.join(" ");

/* The places of words that are not part of a longest common subsequence with the right ones. */
function wrongPlaces(words, right) {
  const common = range(words.length + 1).map(() => new Array(right.length + 1).fill(0));
  for (let i = words.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      const best = Math.max(common[i + 1][j], common[i][j + 1]);
      common[i][j] = words[i] === right[j] ? 1 + common[i + 1][j + 1] : best;
    }
  }
  const wrong = new Set();
  let [i, j] = [0, 0];
  while (i < words.length) {
    if (j < right.length && words[i] === right[j]) [i, j] = [i + 1, j + 1];
    else if (j < right.length && common[i][j + 1] > common[i + 1][j]) j += 1;
    else wrong.add(i++);
  }
  return wrong;
}

/* Put a translation into words, each with its meaning below it; wrong ones are struck through. What is
   not yet written has its place already. */
export function lineOf(name, written, shown, gloss, right) {
  const wrong = right ? wrongPlaces(written, right) : new Set();
  return h("p", { class: "am-translator-line" }, h("span", { class: "am-translator-name" }, name), " ",
    written.map((word, place) => [
      h("ruby", { lang: "es", class: [wrong.has(place) && "am-translator-wrong", place >= shown && "am-none"] }, word, h("rt", { lang: "en" }, gloss[word] ?? "")), " ",
    ]),
    right && h("span", { class: ["am-translator-verdict", shown < written.length && "am-none"] }, sameWords(written, right) ? "right" : "wrong"));
}
