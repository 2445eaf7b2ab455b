/* Draw a sentence, the first words of its translation, and ribbons as thick as the attention between
   them; and put a translation into a line of words with their meanings. */

/* The drawing has the measures of bookkit/figures/ribbons.py, in units of 0.85 pixels. */
const UNIT = 0.85;
const LETTERS = 20;
const [TOP, BOTTOM, HEIGHT] = [42, 206, 244];
const FAINT = 0.02;
const NARROW = new Set("ijlíìtfr.,;:!¡|'’()");
const BROAD = new Set("mwMW—…");

/* Estimate how wide a bold word is set, as Python does. */
function wordWidth(word) {
  const ems = [...word].map((letter) => (NARROW.has(letter) ? 0.33 : BROAD.has(letter) ? 0.9 : 0.58));
  return LETTERS * ems.reduce((sum, em) => sum + em, 0);
}

/* The middles of words that stand in one line from edge to edge, with equal gaps. */
function middles(words, width) {
  const widths = words.map(wordWidth);
  if (words.length === 1) return [Math.round(width / 2)];
  const gap = (width - widths.reduce((sum, wide) => sum + wide, 0)) / (words.length - 1);
  let left = 0;
  return widths.map((wide) => {
    const middle = Math.round(left + wide / 2);
    left += wide + gap;
    return middle;
  });
}

/* The least width of a line of words. */
function lineWidth(words) {
  return words.reduce((sum, word) => sum + wordWidth(word) + 14, -14);
}

/* Say where each of the written words looks most. */
function describe(words, written, rows) {
  const looks = written.map((word, place) => {
    const most = Math.max(...rows[place]);
    return `${word} looks most at ${words[rows[place].indexOf(most)]}, ${most.toFixed(2)}`;
  });
  return `Source words above, target words below. ${looks.join("; ") || "Nothing is written yet"}.`;
}

/* Draw a sentence and the first words of its translation. */
function ribbons({ words, written, rows }, shown, room) {
  const width = Math.round(Math.max(room / UNIT, lineWidth(words), lineWidth(written)));
  const [above, below] = [middles(words, width), middles(written, width)];
  const said = written.slice(0, shown);
  const svg = make("svg:svg", {
    class: "am-translator-ribbons", viewBox: `0 0 ${width} ${HEIGHT}`, width: UNIT * width, height: UNIT * HEIGHT,
    role: "img", "aria-label": describe(words, said, rows),
  });
  svg.style.width = `${UNIT * width}px`;
  const half = (TOP + BOTTOM) / 2;
  said.forEach((_, place) => rows[place].forEach((weight, at) => {
    if (weight < FAINT) return;
    svg.append(make("svg:path", {
      class: "rib", d: `M${above[at]} ${TOP}C${above[at]} ${half} ${below[place]} ${half} ${below[place]} ${BOTTOM}`,
      "stroke-width": 1 + 13 * weight, "stroke-opacity": 0.12 + 0.8 * weight,
      "data-am-value": weight, "data-am-link": `${place} ${at}`,
    }));
  }));
  words.forEach((word, at) => svg.append(make("svg:text", { x: above[at], y: 28 }, word)));
  said.forEach((word, place) => svg.append(make("svg:text", { x: below[place], y: 230, lang: "es" }, word)));
  return svg;
}

function sameWords(one, other) {
  return one.join(" ") === other.join(" ");
}

/* The places of words that are not part of a longest common subsequence with the right ones. */
function wrongPlaces(words, right) {
  const common = Array.from({ length: words.length + 1 }, () => new Array(right.length + 1).fill(0));
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

/* Put a translation into words, each with its meaning below it; wrong ones are struck through. */
function lineOf(name, written, shown, gloss, right) {
  const wrong = right ? wrongPlaces(written, right) : new Set();
  const words = written.slice(0, shown).flatMap((word, place) => {
    const made = make("ruby", { lang: "es" }, word, make("rt", { lang: "en" }, gloss[word] ?? ""));
    if (wrong.has(place)) made.classList.add("am-translator-wrong");
    return [made, " "];
  });
  const line = make("p", { class: "am-translator-line" }, make("span", { class: "am-translator-name" }, name), " ", ...words);
  if (right && shown >= written.length) {
    line.append(make("span", { class: "am-translator-verdict" }, sameWords(written, right) ? "right" : "wrong"));
  }
  return line;
}
