/* The online softmax, block by block: redraws what Python drew, and computes for itself. */

/* Take words in, one block after another; of the blocks before, three numbers are kept. The heights
   are what the words have contributed to the sum so far: they are drawn, and never read. */
function takeIn(words, size, forgets) {
  const steps = [];
  let [highest, total, blend] = [-Infinity, 0, 0];
  let heights = words.map(() => 0);
  for (let first = 0; first < words.length; first += size) {
    const block = words.slice(first, first + size);
    const risen = Math.max(highest, ...block.map(({ score }) => score));
    const due = Math.exp(highest - risen);
    const factor = forgets && first ? 1 : due;
    const powers = block.map(({ score }) => Math.exp(score - risen));
    const step = { first, last: first + block.length, before: highest, oldTotal: total, oldBlend: blend, old: heights };
    const [more, moreBlend] = [powers, powers.map((power, at) => power * block[at].value)].map(sumOf);
    highest = risen;
    total = total * factor + more;
    blend = blend * factor + moreBlend;
    heights = heights.map((height, at) => powers[at - first] ?? height * factor);
    steps.push({ ...step, due, factor, more, moreBlend, highest, total, blend, heights });
  }
  return steps;
}

function sumOf(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/* The same words, all at once. */
function atOnce(words) {
  const highest = Math.max(...words.map(({ score }) => score));
  const powers = words.map(({ score }) => Math.exp(score - highest));
  const total = sumOf(powers);
  const blend = sumOf(words.map(({ value }, at) => powers[at] * value));
  return { highest, total, blend, weights: powers.map((power) => power / total) };
}

/* Put a list into another order: Fisher and Yates, with a generator that every browser has alike. */
function shuffled(list) {
  const order = [...list];
  let state = 2;
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

/* "+ 0.25" or "− 0.25". */
function added(number) {
  const said = rounded(number, 2);
  return said.startsWith("\u2212") ? `\u2212 ${said.slice(1)}` : `+ ${said}`;
}

function start(root) {
  const given = dataOf(root);
  const { left: LEFT, top: TOP, base: BASE, wide: WIDE } = given;
  const asRead = given.words.map((word, at) => ({ word, score: given.scores[at], value: given.values[at] }));
  const orders = [asRead, [...asRead].reverse(), shuffled(asRead)];
  const whole = atOnce(asRead);
  const all = (part) => [...root.querySelectorAll(`.am-tiles-${part}`)];
  const one = (part) => root.querySelector(`.am-tiles-${part}`);
  const [bars, befores, marks, names, scores, values] =
    ["bar", "before", "whole", "word", "score", "value"].map(all);
  const room = (WIDE - LEFT) / asRead.length;
  const body = root.querySelector("tbody");
  let words;
  let steps;
  let place = 0;

  const done = () => place === steps.length;
  const far = (number, other) => Math.abs(number - other) > 1e-9;

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
    const rows = steps.map(({ highest, factor, due, total, blend }, row) => {
      const cells = [cell(highest, 1), cell(factor, 2, row > 0), cell(total, 2), cell(blend, 2), cell(blend / total, 2)];
      cells[1].classList.toggle("am-tiles-wrong", factor !== due);
      return make("tr", {}, make("th", { scope: "row" }, String(row + 1)), ...cells);
    });
    body.replaceChildren(...rows);
  }

  function drawBars() {
    const step = steps[done() ? place - 1 : place];
    words.forEach(({ word, score, value }, key) => {
      const read = key < step.last;
      const height = step.heights[key];
      stand(bars[key], done() ? height / step.total : height);
      stand(befores[key], done() ? height : step.factor < 1 ? step.old[key] : 0);
      bars[key].classList.toggle("am-tiles-new", !done() && read && key >= step.first);
      bars[key].classList.toggle("am-tiles-stale", read && far(height, Math.exp(score - step.highest)));
      names[key].textContent = word;
      [[scores, score], [values, value]].forEach(([texts, number]) => {
        showNumber(texts[key], number, Number.isInteger(number) ? 0 : 1);
      });
      for (const texts of [names, scores, values]) texts[key].classList.toggle("am-tiles-unread", !read);
      const weight = Math.exp(score - whole.highest) / whole.total;
      const y = BASE - (BASE - TOP) * weight;
      marks[key].setAttribute("y1", y);
      marks[key].setAttribute("y2", y);
      marks[key].setAttribute("data-am-value", String(weight));
      marks[key].setAttribute("visibility", done() ? "visible" : "hidden");
    });
    const [left, right] = [LEFT + room * step.first + 3, LEFT + room * step.last - 3];
    const [bracket, name] = [one("bracket"), one("block")];
    for (const part of [bracket, name]) part.setAttribute("visibility", done() ? "hidden" : "visible");
    bracket.setAttribute("x1", left);
    bracket.setAttribute("x2", right);
    name.setAttribute("x", (left + right) / 2);
    name.textContent = `block ${place + 1}`;
    one("title").textContent = done()
      ? `weight = exp(score \u2212 \u03bc) / Z, Z = ${rounded(step.total, 2)}`
      : `exp(score \u2212 \u03bc), \u03bc = ${rounded(step.highest, 1)}`;
  }

  function told() {
    if (done()) {
      const answer = steps[place - 1].blend / steps[place - 1].total;
      const right = whole.blend / whole.total;
      const both = `Block by block the answer is ${rounded(answer, 2)}, and all at once ${rounded(right, 2)}`;
      if (far(answer, right)) return `${both}: wrong, because earlier bars were not rescaled.`;
      const lucky = forget.input.checked ? ", because no later block had a larger score" : "";
      return `${both}: the same${lucky}. The gold marks are the weights, all at once.`;
    }
    const { before, highest, due, factor, total, blend, oldTotal, oldBlend, more, moreBlend } = steps[place];
    const name = `Block ${place + 1} of ${steps.length}`;
    const ends = [rounded(total, 2), rounded(blend, 2)];
    if (place === 0) return `${name}. The largest score is \u03bc = ${rounded(highest, 1)}. Z = ${ends[0]}, b = ${ends[1]}.`;
    const [sum, mix] = [[oldTotal, more, ends[0]], [oldBlend, moreBlend, ends[1]]].map(
      ([old, plus, end]) => `${rounded(old, 2)} \u00d7 ${rounded(factor, 2)} ${added(plus)} = ${end}`
    );
    const numbers = `Z = ${sum}, b = ${mix}.`;
    if (due === 1) return `${name}. No score is above \u03bc = ${rounded(before, 1)}: the factor is 1. ${numbers}`;
    const rises = `${name}. \u03bc rises from ${rounded(before, 1)} to ${rounded(highest, 1)}`;
    if (factor === 1) return `${rises}, but the factor ${rounded(due, 2)} is forgotten. ${numbers}`;
    return `${rises}: the factor is ${rounded(factor, 2)}. ${numbers}`;
  }

  function draw() {
    drawBars();
    [...body.rows, ...root.querySelectorAll("tfoot tr")].forEach((row, number) => {
      row.classList.toggle("am-tiles-later", number > place);
      row.classList.toggle("am-tiles-now", number === place);
    });
    back.setAttribute("aria-disabled", place === 0);
    next.setAttribute("aria-disabled", done());
    one("chart").setAttribute("aria-label", told());
    say(told());
    state(told());
  }

  function go(where) {
    place = Math.min(Math.max(where, 0), steps.length);
    draw();
  }

  function compute(where) {
    words = orders[order.input.selectedIndex];
    steps = takeIn(words, sizes.input.selectedIndex + 1, forget.input.checked);
    fillTable();
    go(where);
  }

  function reset() {
    sizes.choose(given.block - 1);
    order.choose(0);
    forget.input.checked = false;
    compute(0);
  }

  const controls = controlsOf(root, "Take the blocks in", true);
  const back = button("Back", () => go(place - 1));
  const next = button("Next", () => go(place + 1));
  const sizes = select("words per block", asRead.map((_, at) => String(at + 1)), () => compute(0));
  const order = select("order", ["as read", "backwards", "shuffled"], () => compute(0));
  const forget = tick("forget to rescale", false, () => compute(place));
  controls.append(back, next, sizes.element, order.element, forget.element, button("Reset", reset));
  const say = announcer(root);
  const state = stateOf(root);
  one("table").before(root.querySelector(".am-live-say"));
  root.addEventListener("keydown", (event) => {
    const plain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
    const moves = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: steps.length };
    if (!plain || !(event.key in moves) || event.target instanceof HTMLSelectElement) return;
    event.preventDefault();
    go(moves[event.key]);
  });
  reset();
}

upgrade("tiles", start);
