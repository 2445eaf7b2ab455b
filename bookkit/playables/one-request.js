/* One request to a language model: when each token was read or written, and what is in memory then. */
import { CONTROLS, SAID, chart, choice, clamp, h, inBytes, label, line, num, panel, range, scale, slider, sum, table } from "./kit.js";

const [WIDE, HIGH, LEFT, RIGHT, TOP, TALL] = [430, 92, 6, 424, 30, 26];
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

export const lines = [3, 5];

export const start = () => ({ request: 0, step: 0 });

/* Step 0 is the text as it comes, 1 the tokens, 2 the prompt read; then a step for every token written. */
export const controls = ({ requests }, at) => panel(at, "Choose a request and a moment",
  choice("request", "Request", requests.map(({ name }) => name), { then: { step: 0 }, grows: true }),
  slider("step", "moment", { max: requests[at.request].words.length + 2, show: ["text", "tokens", "prompt read", ...requests[at.request].words.map((_, n) => `token ${n + 1}`)] }));

/* `ends` are the seconds at which the steps end; `cached` is how many tokens the cache has after the chosen one. */
export function model({ requests, tokenBytes }, { request, step }) {
  const { tokens, reused, split, read, words } = requests[request];
  const spans = [0, split, read, ...words.map(([, seconds]) => seconds)];
  const ends = spans.map((_, at) => sum(spans.slice(0, at + 1)));
  const written = clamp(step - 2, 0, words.length);
  const cached = step < 2 ? reused : tokens - 1 + written;
  return { ends, now: ends[step], whole: ends.at(-1), first: ends[3], written, cached, bytes: cached * tokenBytes, slowest: Math.max(...requests.map((one) => one.split + one.read + sum(one.words.map(([, seconds]) => seconds)))) };
}

const seconds = (value) => `${num(value, value < 0.1 ? 3 : value < 1 ? 2 : 1)} s`;

export function view(m, { request, step }, { requests, weightBytes }) {
  const { tokens, reused, words, question } = requests[request];
  const x = scale([0, m.slowest], [LEFT, RIGHT]);
  const block = (from, to, kind) => h("rect", { x: x(from), width: Math.max(x(to) - x(from) - 0.6, 0.6), y: TOP, height: TALL, class: kind });
  const apart = STEPS.find((step) => m.slowest / step < 6);
  const ticks = range(Math.floor(m.slowest / apart) + 1).map((at) => at * apart);
  return [
    CONTROLS,
    chart(WIDE, HIGH, {},
      block(m.ends[1], m.ends[2], "am-bar"),
      words.map((_, at) => block(m.ends[at + 2], m.ends[at + 3], ["am-bar am-new", at >= m.written && "am-request-later"])),
      label(LEFT, TOP - 10, `reads ${reused ? `${tokens - reused} new` : tokens} tokens, writes ${words.length}`, ""),
      ticks.map((at) => [line(x(at), TOP + TALL + 6, x(at), TOP + TALL + 11, "am-request-axis"), label(x(at), HIGH - 12, at ? `${num(at, 1)} s` : "0", "am-axis")]),
      line(LEFT, TOP + TALL + 6, RIGHT, TOP + TALL + 6, "am-request-axis"),
      line(x(m.now), TOP - 6, x(m.now), TOP + TALL + 6, "am-mark")),
    h("p", { class: "am-request-asked" }, `\u201c${question}\u201d`),
    h("p", { class: "am-request-text" }, words.slice(0, m.written).map(([piece]) => piece).join("")),
    table(["since the text came", "tokens in the cache", "cache", "weights"], [[seconds(m.now), String(m.cached), inBytes(m.bytes), inBytes(weightBytes)]]),
    SAID,
  ];
}

export function said(m, { request, step }, { requests }) {
  const { tokens, reused, words } = requests[request];
  if (step === 0) return reused ? `The whole conversation comes again. The cache still has its first ${reused} tokens.` : "The text arrives. The cache is empty.";
  if (step === 1) return `The text is cut into ${tokens} tokens, in ${seconds(m.now)}.`;
  if (step === 2) return `All tokens but the last are read at once, ${tokens - 1 - reused} of them. Nothing is written yet, after ${seconds(m.now)}.`;
  if (step === 3) return `The first token of the answer, after ${seconds(m.first)}. It took a step that read the last token of the prompt.`;
  if (m.written === words.length) return `${m.written} tokens, after ${seconds(m.now)}. Here we stopped the answer.`;
  const each = (m.whole - m.ends[3]) / Math.max(words.length - 1, 1);
  return `${m.written} of ${words.length} tokens. From here on, each takes about ${seconds(each)} and adds one to the cache.`;
}
