/* The online softmax, tile by tile: redraws what Python drew, and computes for itself. */

const LEFT = 36;
const TOP = 30;
const BASE = 164;
const WIDE = 480;

/* Take a row of scores in, one tile after another, with nothing kept but m and l. */
function takeIn(scores, size) {
  const steps = [];
  let highest = -Infinity;
  let total = 0;
  for (let first = 0; first < scores.length; first += size) {
    const tile = scores.slice(first, first + size);
    const top = Math.max(...tile);
    const risen = Math.max(highest, top);
    const factor = Math.exp(highest - risen);
    const added = tile.reduce((sum, score) => sum + Math.exp(score - risen), 0);
    const step = { first, last: first + tile.length, before: highest, old: total, top, factor, added };
    highest = risen;
    total = total * factor + added;
    steps.push({ ...step, highest, total });
  }
  return steps;
}

/* The same row, all at once. */
function wholeSoftmax(scores) {
  const highest = Math.max(...scores);
  const total = scores.reduce((sum, score) => sum + Math.exp(score - highest), 0);
  return { highest, total, weights: scores.map((score) => Math.exp(score - highest) / total) };
}

/* Put a list into another order: Fisher and Yates, with a generator that every browser has alike. */
function shuffled(list, seed) {
  const order = [...list];
  let state = seed;
  for (let last = order.length - 1; last > 0; last -= 1) {
    state = (state * 1664525 + 1013904223) % 4294967296;
    const other = Math.floor((state / 4294967296) * (last + 1));
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

function rounded(number, places) {
  const text = make("span");
  showNumber(text, number, places);
  return text.textContent;
}

function start(root) {
  const given = dataOf(root);
  const all = (part) => [...root.querySelectorAll(`.am-tiles-${part}`)];
  const one = (part) => root.querySelector(`.am-tiles-${part}`);
  const [bars, befores, marks, texts] = ["bar", "before", "whole", "score"].map(all);
  const room = (WIDE - LEFT) / given.scores.length;
  const body = root.querySelector("tbody");
  let scores;
  let size;
  let steps;
  let whole;
  let place;
  let shuffles = 0;

  function stand(bar, height) {
    bar.setAttribute("y", BASE - (BASE - TOP) * height);
    bar.setAttribute("height", (BASE - TOP) * height);
    bar.setAttribute("data-am-value", String(height));
  }

  function cell(number, places, shown = true) {
    const made = make("td");
    showNumber(made, number, places);
    if (!shown) made.textContent = "\u2013";
    return made;
  }

  function fillTable() {
    const rows = steps.map(({ highest, factor, old, added, total }, row) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, String(row + 1)),
        cell(highest, 1),
        cell(factor, 2, row > 0),
        cell(old * factor, 2),
        cell(added, 2),
        cell(total, 2)
      )
    );
    body.replaceChildren(...rows);
    const cells = root.querySelectorAll("tfoot td");
    showNumber(cells[0], whole.highest, 1);
    showNumber(cells[4], whole.total, 2);
  }

  function drawBars() {
    const done = place === steps.length;
    const step = steps[done ? place - 1 : place];
    scores.forEach((score, key) => {
      const read = key < step.last;
      const height = read ? Math.exp(score - step.highest) : 0;
      stand(bars[key], done ? height / step.total : height);
      const shrunk = key < step.first && step.factor < 1;
      stand(befores[key], done ? height : shrunk ? Math.exp(score - step.before) : 0);
      bars[key].classList.toggle("am-tiles-new", !done && read && key >= step.first);
      texts[key].classList.toggle("am-tiles-unread", !read);
      showNumber(texts[key], score, 1);
      const y = BASE - (BASE - TOP) * whole.weights[key];
      marks[key].setAttribute("y1", y);
      marks[key].setAttribute("y2", y);
      marks[key].setAttribute("data-am-value", String(whole.weights[key]));
      marks[key].setAttribute("visibility", done ? "visible" : "hidden");
    });
    const [left, right] = [LEFT + room * step.first + 3, LEFT + room * step.last - 3];
    const [bracket, name] = [one("bracket"), one("tile")];
    for (const part of [bracket, name]) part.setAttribute("visibility", done ? "hidden" : "visible");
    bracket.setAttribute("x1", left);
    bracket.setAttribute("x2", right);
    name.setAttribute("x", (left + right) / 2);
    name.textContent = `tile ${place + 1}`;
    one("title").textContent = done
      ? `weight = exp(score \u2212 m) / \u2113, \u2113 = ${rounded(step.total, 2)}`
      : `exp(score \u2212 m), m = ${rounded(step.highest, 1)}`;
  }

  function told() {
    if (place === steps.length) {
      const { highest, total } = steps[place - 1];
      const far = Math.max(...bars.map((bar, key) => Math.abs(Number(bar.dataset.amValue) - whole.weights[key])));
      return (
        `All bars divided by \u2113 = ${rounded(total, 2)} are the weights. The gold marks are the softmax of ` +
        `the whole row, with m = ${rounded(highest, 1)}: ${far < 1e-12 ? "the same" : `${far} apart`}.`
      );
    }
    const { before, old, top, factor, added, total, highest } = steps[place];
    const name = `Tile ${place + 1} of ${steps.length}`;
    if (place === 0) return `${name}. Its largest score is m = ${rounded(top, 1)}, its sum \u2113 = ${rounded(total, 2)}.`;
    const sum = `\u2113 = ${rounded(old, 2)} \u00d7 ${rounded(factor, 2)} + ${rounded(added, 2)} = ${rounded(total, 2)}.`;
    if (factor === 1) return `${name}. No score above m = ${rounded(before, 1)}: the factor is 1. ${sum}`;
    const fall = `${rounded(before, 1)} \u2212 ${highest < 0 ? `(${rounded(highest, 1)})` : rounded(highest, 1)}`;
    return (
      `${name}. m rises from ${rounded(before, 1)} to ${rounded(highest, 1)}, and all bars before it ` +
      `shrink to exp(${fall}) = ${rounded(factor, 2)} of their height. ${sum}`
    );
  }

  function draw() {
    drawBars();
    [...body.rows, ...root.querySelectorAll("tfoot tr")].forEach((row, number) => {
      row.classList.toggle("am-tiles-later", number > place);
      row.classList.toggle("am-tiles-now", number === place);
    });
    back.setAttribute("aria-disabled", place === 0);
    next.setAttribute("aria-disabled", place === steps.length);
    one("chart").setAttribute("aria-label", told());
    say(told());
    state(told());
  }

  function go(where) {
    place = Math.min(Math.max(where, 0), steps.length);
    draw();
  }

  function begin(row, tile) {
    scores = row;
    size = tile;
    steps = takeIn(scores, size);
    whole = wholeSoftmax(scores);
    fillTable();
    go(0);
  }

  function reset() {
    shuffles = 0;
    sizes.choose(given.tile - 1);
    begin(given.scores, given.tile);
  }

  const controls = controlsOf(root, "Take the tiles in", true);
  const back = button("Back", () => go(place - 1));
  const next = button("Next", () => go(place + 1));
  const sizes = select(
    "scores a tile",
    given.scores.map((_, one) => String(one + 1)),
    (chosen) => begin(scores, chosen + 1)
  );
  const mix = button("Reshuffle", () => begin(shuffled(given.scores, (shuffles += 1)), size));
  controls.append(back, next, sizes.element, mix, button("Reset", reset));
  const say = announcer(root);
  const state = stateOf(root);
  one("table").before(root.querySelector(".am-live-say"));
  root.addEventListener("keydown", (event) => {
    const plain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
    const moves = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: steps.length };
    if (!plain || !(event.key in moves) || event.target === sizes.input) return;
    event.preventDefault();
    go(moves[event.key]);
  });
  reset();
}

upgrade("tiles", start);
