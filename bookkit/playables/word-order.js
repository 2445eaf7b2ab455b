/* A layer of self-attention whose words the reader moves; it is computed anew for every order. */
import { CONTROLS, SAID, arrow, button, chart, dot, h, label, line, num, panel, reset, softmax, sum, tick } from "./kit.js";

const [UNIT, LABEL, EDGE, BESIDE, ABOVE] = [84, 15, 10, 62, 32]; // a step of 1; room for words and axes

export const lines = [4, 6];

export const start = ({ words, chosen }) => ({ order: words.map((_, word) => word), chosen, before: false });

const placed = (order, word, place) => order.filter((other) => other !== word).toSpliced(place, 0, word);

export function controls(data, at) {
  const place = at.order.indexOf(at.chosen);
  const step = (by) => ({ order, chosen }) => ({ order: placed(order, chosen, order.indexOf(chosen) + by) });
  return panel(at, "Put the words in another order",
    button("Move left", step(-1), { off: place === 0 }), button("Move right", step(1), { off: place === at.order.length - 1 }),
    button("Turn round", ({ order }) => ({ order: order.toReversed() })), tick("before", "look only back"), reset());
}

/* What each word gets, and the weights with which it looks, by word and not by position. */
function lookAround({ query, key, value }, order, before) {
  const rank = (word) => order.indexOf(word);
  const weights = query.map((asks, word) => softmax(
    key.map((given) => dot(asks, given) / Math.sqrt(asks.length)), key.map((_, other) => !before || rank(other) <= rank(word))));
  return { weights, results: weights.map((row) => [0, 1].map((axis) => sum(row.map((weight, word) => weight * value[word][axis])))) };
}

export function model(data, { order, before }) {
  const found = lookAround(data, order, before);
  const { results: home } = lookAround(data, order, false);
  return { ...found, home, changes: found.results.map(([x, y], word) => Math.hypot(x - home[word][0], y - home[word][1])) };
}

function plane({ results, home }, chosen, { words, vectors, value }) {
  const axes = [0, 1].map((axis) => [0, ...[...vectors, ...value].map((one) => one[axis])]);
  const [[left, low], [right, high]] = [Math.min, Math.max].map((end) => axes.map((all) => end(...all)));
  const [wide, tall] = [UNIT * (right - left) + 2 * BESIDE, UNIT * (high - low) + 2 * ABOVE];
  const point = ([x, y]) => [UNIT * (x - left) + BESIDE, UNIT * (high - y) + ABOVE];
  const zero = point([0, 0]);
  const named = (vector, word) => {
    const [x, y] = point(vector);
    const long = Math.hypot(...vector) || 1;
    const [across, up] = vector.map((number) => (LABEL * number) / long);
    const side = Math.abs(across) <= LABEL / 2 ? "am-middle" : across < 0 && "am-end";
    return h("g", { class: ["am-word-order-word", word === chosen && "am-chosen"] },
      h("path", { d: arrow(zero, [x, y]) }), label(x + across, y - up + 5, words[word], side));
  };
  return chart(wide, tall, { class: "am-word-order-chart" },
    line(BESIDE - EDGE, zero[1], wide - BESIDE + EDGE, zero[1], "am-level"), line(zero[0], ABOVE - EDGE, zero[0], tall - ABOVE + EDGE, "am-level"),
    vectors.map(named),
    line(...point(vectors[chosen]), ...point(results[chosen]), "am-word-order-way"),
    h("path", { class: "am-word-order-result", d: arrow(zero, point(results[chosen])) }),
    h("circle", { class: "am-word-order-home", cx: point(home[chosen])[0], cy: point(home[chosen])[1], r: 11 }));
}

/* Words in the head of the table are pressed, or dragged to another column. */
const dragging = (place) => ({
  onpointerdown({ order }, event, play) {
    play.held = { word: order[place], moved: false };
    event.currentTarget.setPointerCapture(event.pointerId);
  },
  onpointermove({ order }, event, play) {
    const { held } = play;
    if (!held || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const heads = [...event.currentTarget.closest("tr").querySelectorAll("th")].map((cell) => cell.getBoundingClientRect());
    const to = heads.findIndex(({ left, right }) => left <= event.clientX && event.clientX < right);
    if (to < 0 || order[to] === held.word) return;
    held.moved = true;
    play.set({ order: placed(order, held.word, to), chosen: held.word }, true);
  },
  onlostpointercapture: () => ({}),
  onclick({ order }, event, play) {
    const dragged = event.detail > 0 && play.held?.moved;
    play.held = null;
    return dragged ? null : { chosen: order[place] };
  },
});

function table({ weights, results, changes }, { order, chosen }, { words }) {
  const row = (name, cell) => h("tr", {}, h("th", { scope: "row" }, name), order.map((word) => h("td", {}, cell(word))));
  const head = (word, place) => h("th", { scope: "col", class: word === chosen && "am-chosen" },
    h("button", { type: "button", class: "am-play-button", "aria-pressed": word === chosen, ...dragging(place) }, words[word]));
  return h("table", { class: "am-table am-word-order-table" },
    h("thead", {}, h("tr", {}, h("td"), order.map(head))),
    h("tbody", {},
      row("weight", (word) => [h("span", { class: "am-word-order-bar", style: { "--weight": weights[chosen][word] } }), num(weights[chosen][word])]),
      row("result", (word) => results[word].map((number) => h("span", { class: "am-word-order-number" }, num(number)))),
      row("change", (word) => h("span", { class: changes[word] >= 0.005 && "am-wrong" }, num(changes[word])))));
}

export const view = (m, at, data) => [plane(m, at.chosen, data), CONTROLS, table(m, at, data), SAID];

export function said({ weights, results, changes }, { order, chosen, before }, { words }) {
  const looks = order.map((word) => `${words[word]} ${num(weights[chosen][word])}`).join(", ");
  return `Order: ${order.map((word) => words[word]).join(" ")}. Every word sees ${before ? "itself and the words before it" : "all words"}. ` +
    `From ${words[chosen]}: ${looks}. Its result is (${results[chosen].map((number) => num(number)).join(", ")}), changed by ` +
    `${num(changes[chosen])}. The largest change of any word is ${num(Math.max(...changes))}.`;
}
