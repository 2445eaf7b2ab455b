/* Three bars and one slider: how a softmax shares out, from a low temperature to a high one. */
import { argmax, chart, h, label, line, num, panel, slider, softmax, sum } from "./kit.js";

const [ROW, TOP, NAME, SCORE, BAR, LONG] = [34, 26, 60, 120, 138, 240]; // where words and numbers end, where bars begin

export const start = ({ temperature }) => ({ temperature });

export const controls = ({ temperatures }, at) =>
  panel(at, "Change the temperature", slider("temperature", "temperature T", { max: temperatures.length - 1, show: temperatures }));

export const model = ({ scores, temperatures }, { temperature }) => softmax(scores.map((score) => score / temperatures[temperature]));

export function view(shares, at, { names, scores }) {
  const foot = TOP + ROW * names.length;
  return chart(BAR + LONG + 52, foot + 2, {},
    label(SCORE, 16, "score", "am-end am-pale"), label(BAR, 16, "share", "am-pale"), line(BAR, TOP, BAR, foot, "am-level"),
    names.map((name, row) => {
      const [y, wide] = [TOP + ROW * row, LONG * shares[row]];
      return [
        label(NAME, y + 22, name, "am-end am-bold"), label(SCORE, y + 22, num(scores[row], 0), "am-end"),
        h("rect", { class: "am-bar", x: BAR, y: y + 6, height: 22, width: wide }), label(BAR + wide + 8, y + 22, num(shares[row])),
      ];
    }));
}

export function said(shares, { temperature }, { names, temperatures }) {
  const [best, hot] = [argmax(shares), temperatures[temperature]];
  const rest = sum(shares.filter((_, at) => at !== best));
  return `At temperature ${hot}, ${names[best]} gets ${num(shares[best])}, and the other ${names.length - 1} words together ${num(rest)}.`;
}
