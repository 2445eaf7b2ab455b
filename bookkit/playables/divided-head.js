/* One head or two, their weight divided between two words, and what can be read of either. */
import { chart, choice, h, label, line, num, panel, slider, table } from "./kit.js";

const STEPS = 60; // of a slider: halves, thirds, quarters and fifths of the weight are among them
const NOTHING = 1e-9; // a distance below this is none
const ANSWERS = [[0, 0], [0, 1], [1, 0], [1, 1]]; // to the two questions, in the four sentences
const [WIDE, MARGIN, TEXT] = [560, 30, 96]; // of the drawing; beside the sentence, and its baseline
// By the number of heads: the drawing's height, and where the points' line or square is.
const FRAMES = [{ high: 312, left: 95, side: 370, floor: 206 }, { high: 484, left: 175, side: 210, floor: 424 }];
// Where the words of each sentence are beside its point: above or below it with one head, around it with two.
const LANES = [-26, 60, -54, 34];
const BESIDE = [[0, 28, "middle"], [-14, 6, "end"], [14, 6, "start"], [0, -16, "middle"]];

export const lines = [4, 6];

export const start = ({ heads, shares: [first, second] }) => ({ heads: heads - 1, first, second });

export const controls = ({ pairs: [[word]] }, at) => panel(at, "Divide the weight",
  choice("heads", "The word has", ["one head", "two heads"], { grows: true }),
  ["first", "second"].map((key, head) => slider(key, `head ${head + 1}: on ${word}`, { max: STEPS, show: (share) => num(share / STEPS), off: head > at.heads })));

const apart = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]);

/* Weights by head and word; points, what the heads hand over in each sentence, 0 from a head that is
   not there; gaps, by question, between the nearest sentences that answer it differently. */
export function model(data, { heads, first, second }) {
  const weights = [first, second].map((share) => [share / STEPS, 1 - share / STEPS]);
  const points = ANSWERS.map((values) => weights.map((look, head) => (head > heads ? 0 : look[0] * values[0] + look[1] * values[1])));
  const having = (question, answer) => points.filter((_, at) => ANSWERS[at][question] === answer);
  const gaps = [0, 1].map((question) => Math.min(...having(question, 0).flatMap((one) => having(question, 1).map((other) => apart(one, other)))));
  return { weights, points, gaps };
}

const verdict = (gap) => (gap < NOTHING ? "lost" : gap > 1 - NOTHING ? "whole" : "can be read");

export function view({ weights, points, gaps }, { heads }, { words, places, pairs, query, questions }) {
  const { high, left, side, floor } = FRAMES[heads];
  const middle = (place) => Math.round(MARGIN + ((WIDE - 2 * MARGIN) * (place + 0.5)) / words.length);
  const looks = (head) => weights[head].map((weight, which) => {
    const [from, to, foot] = [middle(query), middle(places[which]), TEXT + [-24, 12][head]];
    const top = Math.round(foot + [-1, 1][head] * (34 + 0.13 * Math.abs(to - from)));
    return h("g", { class: ["am-divided-look", head === 1 && "am-divided-second"] },
      h("path", { d: `M${from} ${foot}C${from} ${top} ${to} ${top} ${to} ${foot}`, "stroke-width": 1 + 11 * weight }),
      label(to + 30 * Math.sign(to - from), foot + [0, 14][head], num(weight), "am-middle am-bold"));
  });
  const word = (text, place) => label(middle(place), TEXT, text,
    ["am-middle", place === query ? "am-bold am-divided-asks" : places.includes(place) ? "am-bold" : "am-pale"]);
  const sentence = (point, at) => {
    const [x, y] = [left + side * point[0], floor - heads * side * point[1]];
    const [right, down, anchor] = heads ? BESIDE[at] : [0, LANES[at], "middle"];
    const clash = points.some((other, which) => which !== at && apart(point, other) < NOTHING);
    const name = `${pairs[0][ANSWERS[at][0]]} \u2026 ${pairs[1][ANSWERS[at][1]]}`;
    return h("g", { class: ["am-divided-point", clash && "am-divided-clash"] },
      !heads && line(x, y, x, y + 0.72 * LANES[at], "am-divided-stem"),
      h("circle", { cx: x, cy: y, r: clash ? 11 : 8 }),
      label(x + right, y + down, [name, !heads && h("tspan", { class: "am-bold", dx: 8 }, num(point[0]))], null, { "text-anchor": anchor }));
  };
  return [
    chart(WIDE, high, { class: "am-divided-chart" },
      looks(0), heads === 1 && looks(1),
      words.map(word),
      heads ? h("rect", { class: "am-divided-square", x: left, y: floor - side, width: side, height: side }) : line(left, floor, left + side, floor, "am-divided-line"),
      label(left + side / 2, high - 10, "what head 1 hands over, from 0 to 1", "am-axis am-middle"),
      heads === 1 && label(side / 2 - floor, 24, "what head 2 hands over", "am-axis am-middle", { transform: "rotate(-90)" }),
      points.map(sentence)),
    table(["Question", "Smallest distance", "Answer"], questions.map((question, at) => [question, num(gaps[at]), verdict(gaps[at])]), { kind: "am-divided-readings" }),
  ];
}

export function said({ weights, gaps }, { heads }, { pairs, questions }) {
  const look = (head) => `${pairs[0][0]} has ${num(weights[head][0])} of its weight and ${pairs[1][0]} ${num(weights[head][1])}`;
  const chosen = heads ? `Two heads: in the first, ${look(0)}; in the second, ${look(1)}.` : `One head: ${look(0)}.`;
  return `${chosen} Sentences with different answers to the question "${questions[0]}" are at least ` +
    `${num(gaps[0])} apart, those to "${questions[1]}" ${num(gaps[1])}.`;
}
