/* Draw a sentence, the first words of its translation, and ribbons as thick as the attention between
   them; and put a translation into a line of words with their meanings. */
import { argmax, chart, h, hint, label, num, range, ribbon, sum } from "./kit.js";

const [WIDE, TOP, BOTTOM, HEIGHT] = [630, 42, 206, 244];
const FAINT = 0.02;
/* How words are set, and pieces of words: the size of their letters, what a tile has beside them, the gap
   before a word and before a piece that goes on with one, and the least width of a line. */
const [WORDS, PIECES] = [{ letters: 20, beside: 0, gap: 14, least: 520 }, { letters: 16, beside: 10, gap: 7, inside: 1, least: 480 }];
const NARROW = new Set("ijlíìtfr.,;:!¡|'’()");
const BROAD = new Set("mwMW—…");

/* Estimate how wide a bold word is set. */
const wordWidth = (word, { letters, beside }) => beside + letters * sum([...word].map((letter) => (NARROW.has(letter) ? 0.33 : BROAD.has(letter) ? 0.9 : 0.58)));

/* What is seen of a piece; one that begins a word begins with a sign for the space before it. */
const seen = (word, kind) => (kind === PIECES && word !== "\u2581" ? word.replace("\u2581", "") : word);

/* Words in one line from edge to edge, with equal gaps but within words: {text, middle, wide} for each, and
   the least width of the line. */
function lineOfWords(words, kind, width = 0) {
  const widths = words.map((word) => wordWidth(seen(word, kind), kind));
  const gaps = words.map((word, at) => (at === 0 ? 0 : kind === PIECES && !word.startsWith("\u2581") ? kind.inside : kind.gap));
  const least = sum(widths) + sum(gaps);
  const open = gaps.filter((gap) => gap === kind.gap).length;
  const more = open > 0 ? Math.max(width - least, 0) / open : 0;
  let left = open > 0 ? 0 : Math.max(width - least, 0) / 2;
  const placed = words.map((word, at) => {
    left += gaps[at] + (gaps[at] === kind.gap ? more : 0);
    const middle = Math.round(left + widths[at] / 2);
    left += widths[at];
    return { text: seen(word, kind), middle, wide: widths[at] };
  });
  return { least, placed };
}

/* Say where each of the written words looks most. */
function describe(words, written, rows) {
  const looks = written.map(({ text }, place) => {
    const most = argmax(rows[place]);
    return `${text} looks most at ${words[most].text}, ${num(rows[place][most])}`;
  });
  return `Source words above, target words below. ${looks.join("; ") || "Nothing is written yet"}.`;
}

/* Draw a sentence and the first words of its translation; a long one scrolls in its own box. Where they are
   in pieces, each is a tile, and `rare` says which are parts of words that were rare in training. */
export function ribbons({ words, written, rows }, shown, rare = null) {
  const kind = rare ? PIECES : WORDS;
  const width = Math.round(Math.max(kind.least, lineOfWords(words, kind).least, lineOfWords(written, kind).least));
  const [above, below] = [words, written].map((line) => lineOfWords(line, kind, width).placed);
  const said = below.slice(0, shown);
  const half = (TOP + BOTTOM) / 2;
  const path = (at, place) => `M${above[at].middle} ${TOP}C${above[at].middle} ${half} ${below[place].middle} ${half} ${below[place].middle} ${BOTTOM}`;
  const wide = (rare || width > kind.least) && { tabindex: 0, role: "group", "aria-label": "The ribbons, wider than a phone" };
  const key = words.join(" "); // another sentence is another box, and is seen from its beginning
  const tile = ({ middle, wide: across }, y, is) => rare && h("rect", { class: ["am-tile", is], x: middle - across / 2, y, width: across, height: 28, rx: 3 });
  return [width > WIDE && hint("The drawing is wider than its box: scroll it sideways."), h("div", { class: "am-scroll", key, ...wide }, chart(width, HEIGHT, {
    class: rare ? "am-translator-ribbons am-of-pieces" : "am-translator-ribbons", "aria-label": describe(above, said, rows), role: "img",
  },
  said.map((_, place) => rows[place].map((weight, at) => weight >= FAINT && ribbon(path(at, place), weight, { most: 13 }))),
  above.map((one, at) => [tile(one, 9, rare?.[at] && "am-rare"), label(one.middle, 28, one.text, "am-middle am-bold")]),
  said.map((one) => [tile(one, 210), label(one.middle, 230, one.text, "am-middle am-bold", { lang: "es" })])))];
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
