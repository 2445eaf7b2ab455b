/* The model of stories writes, with a cache and without, on the processor of whoever reads the page. */
import { argmax, button, chart, h, label, levels, num, panel, range, scale, sum, table } from "./kit.js";
import { chancesAfter, reader } from "./story-model.js";

const [WIDE, HIGH, LEFT, BASE, TOP, RIGHT] = [530, 216, 104, 180, 14, 420];
const ms = (value) => `${num(value, value < 1 ? 2 : value < 10 ? 1 : 0)} ms`;
const WAYS = ["with a cache", "without"];

export const lines = [2, 4];

/* What either way has spent on every word so far, in milliseconds; nothing before a run. */
export const start = () => ({ run: 0, spent: [[], []] });

export const controls = ({ count }, at) => panel(at, "Let the model write", button(`write ${count} words`, write));

/* Write word after word, each way in turn; the word is the likeliest one. A second press begins anew. */
function write({ run }, event, { data, set }) {
  const ids = [data.words.indexOf("<bos>")];
  const read = reader(data);
  const timed = (work) => {
    const before = performance.now();
    return [work(), performance.now() - before];
  };
  const next = () => {
    const [kept, soon] = timed(() => read(ids.at(-1)));
    const [, late] = timed(() => chancesAfter(data, ids));
    ids.push(argmax(kept));
    let done = ids.length > data.count;
    set((at) => {
      done ||= at.run !== run + 1;
      return at.run === run + 1 ? { spent: [[...at.spent[0], soon], [...at.spent[1], late]] } : {};
    }, !done);
    if (!done) setTimeout(next);
  };
  setTimeout(next);
  return { run: run + 1, spent: [[], []] };
}

/* Words that either way reads for every new one; what is drawn are the sums so far, of these or of the times. */
export function model({ count }, { spent }) {
  const reads = [range(count).map(() => 1), range(count, 1)];
  const timed = spent[0].length > 0;
  const sums = (timed ? spent : reads).map((row) => row.map((_, at) => sum(row.slice(0, at + 1))));
  return { reads: reads.map(sum), timed, sums, most: Math.max(...sums.flat()), each: spent.map((row) => (timed ? sum(row) / row.length : 0)) };
}

export function view({ reads, timed, sums, most, each }, at, { count }) {
  const [x, y] = [scale([0, count], [LEFT, RIGHT]), scale([0, most], [BASE, TOP])];
  const curve = (row, way) => [
    h("path", { d: `M${[`${LEFT} ${BASE}`, ...row.map((value, place) => `${x(place + 1).toFixed(1)} ${y(value).toFixed(1)}`)].join("L")}`, class: ["am-clock-line", way && "am-clock-anew"] }),
    label(x(row.length) + 8, y(row.at(-1)) + 5, WAYS[way], way && "am-clock-name"),
  ];
  return [
    chart(WIDE, HIGH, {},
      levels([[0, "0"], [most, timed ? ms(most) : `${most} words`]], y, LEFT, RIGHT),
      sums.map(curve),
      label((LEFT + RIGHT) / 2, HIGH - 8, `words written, ${count} in all`, "am-middle am-axis")),
    table(["", ...WAYS], [["words read in all", ...reads], ["time for a word", ...each.map((value) => (timed ? ms(value) : "\u2013"))]]),
  ];
}

export function said({ reads, timed, each: [soon, late] }, at, { count }) {
  const counted = `To write ${count} words, the model reads ${reads[0]} words with a cache and ${reads[1]} without.`;
  return timed ? `${counted} On this device, a word takes ${ms(soon)} with it and ${ms(late)} without.` : counted;
}
