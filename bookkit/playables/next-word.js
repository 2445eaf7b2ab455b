/* What a word is drawn from, after temperature, top-k, top-p and min-p, in this order. */
import { button, chart, choice, CONTROLS, h, label, line, num, panel, range, slider, softmax, sum } from "./kit.js";

const ROWS = 8; // words that have a bar of their own; Python says so, too
const [WIDE, ROW, TOP] = [440, 26, 6];
const [WORD, BAR, LONG] = [104, 114, 250]; // where words end, where bars begin, the longest bar
const FULL = [0.25, 0.5, 1]; // chances that the longest bar may stand for
const READINGS = ["words left", "wrong words, of 100 drawn", "effective number of words"];

export const lines = [3, 5];

/* Each slider stands at a place in its list; the last place of a cut is "off". */
export const start = ({ temperatures, topKs, topPs, minPs }) => ({
  beginning: 0, heat: temperatures.indexOf(1), k: topKs.length - 1, p: topPs.length - 1, least: minPs.length - 1,
});

export const controls = (data, at) => panel(at, "Choose how the next word is drawn",
  choice("beginning", "after", data.beginnings),
  [["heat", "temperature", data.temperatures], ["k", "top-k", data.topKs], ["p", "top-p", data.topPs], ["least", "min-p", data.minPs]]
    .map(([key, name, values]) => slider(key, name, { max: values.length - 1, show: (place) => values[place] ?? "off" })),
  button("Reset", { ...start(data), beginning: at.beginning }, { "data-grows": true }));

/* The places of numbers, the largest first. */
const ranked = (numbers) => range(numbers.length).sort((one, other) => numbers[other] - numbers[one]);
const within = (places, count) => range(count).map((at) => places.has(at));

/* What the three cuts leave, each of what the cut before it left. The word that reaches p stays: what
   counts is the sum before it. */
function drawnFrom(logits, k, p, share) {
  let allowed = within(new Set(ranked(logits).slice(0, k ?? undefined)), logits.length);
  if (p !== null) {
    const chances = softmax(logits, allowed);
    let before = 0;
    const kept = ranked(chances).filter((at) => {
      const stays = before < p;
      before += chances[at];
      return stays;
    });
    allowed = within(new Set(kept.filter((at) => allowed[at])), logits.length);
  }
  const floor = share === null ? -Infinity : Math.max(...logits) + Math.log(share);
  return softmax(logits, allowed.map((yes, at) => yes && logits[at] >= floor));
}

export function model({ logits, possible, temperatures, topKs, topPs, minPs }, { beginning, heat, k, p, least }) {
  const given = logits[beginning];
  const chances = drawnFrom(given.map((logit) => logit / temperatures[heat]), topKs[k], topPs[p], minPs[least]);
  const positive = chances.filter((chance) => chance > 0);
  return {
    chances, own: softmax(given), order: ranked(given), left: positive.length,
    wrong: 100 * sum(chances.filter((_, at) => !possible[beginning][at])),
    variety: Math.exp(-sum(positive.map((chance) => chance * Math.log(chance)))),
  };
}

export function view({ chances, own, order, left, wrong, variety }, { beginning }, { words, possible }) {
  const rest = order.slice(ROWS);
  const high = TOP + ROW * (ROWS + 1) + 4;
  const all = (numbers) => sum(rest.map((word) => numbers[word]));
  const unit = LONG / FULL.find((full) => Math.max(...chances, ...own, all(chances), all(own)) <= full + 1e-9);
  const row = (name, chance, usual, place, kind) => {
    const y = TOP + ROW * place;
    return h("g", { class: [kind, chance === 0 && "am-next-cut"] },
      label(WORD, y + 18, name, "am-end am-next-name"),
      h("rect", { class: "am-bar", x: BAR, y: y + 4, width: unit * chance, height: 18 }),
      h("rect", { class: "am-outline am-next-own", x: BAR, y: y + 2, width: unit * usual, height: 22 }),
      label(WIDE - 2, y + 18, num(chance, 3), "am-end"));
  };
  const one = (word, place) => {
    const cross = !possible[beginning][word];
    return row(words[word] + (cross ? " \u2717" : ""), chances[word], own[word], place, cross && "am-next-wrong");
  };
  return [
    chart(WIDE, high, { class: "am-next-chart" },
      line(BAR, TOP, BAR, high, "am-next-axis"),
      order.slice(0, ROWS).map(one),
      row(`${rest.length} others`, all(chances), all(own), ROWS, "am-next-others")),
    h("table", { class: "am-table am-next-readings" }, h("tbody", {}, [num(left, 0), num(wrong, 1), num(variety, 1)].map((value, at) =>
      h("tr", {}, h("th", { scope: "row" }, READINGS[at]), h("td", {}, value))))),
    CONTROLS,
  ];
}

export function said({ chances, order, left, wrong, variety }, { beginning, heat, k, p, least }, { words, beginnings, temperatures, topKs, topPs, minPs }) {
  const cuts = [["top-k", topKs[k]], ["top-p", topPs[p]], ["min-p", minPs[least]]].filter(([, value]) => value !== null);
  const cut = cuts.map(([name, value]) => `${name} ${value}`).join(", ") || "nothing cut";
  return `After ${beginnings[beginning]}, temperature ${temperatures[heat]}, ${cut}: ${left === 1 ? "1 word" : `${left} words`} left, ` +
    `${num(wrong, 1)} wrong words of 100 drawn, as varied as a fair draw from ${num(variety, 1)} words. ` +
    `Most probable: ${words[order[0]]}, ${num(chances[order[0]], 3)}.`;
}
