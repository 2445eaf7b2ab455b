/* Two layers of attention that read a prompt and then one word at a time, with a cache and without. */

const LAYERS = 2;
const SAME = 1e-9;

/* Who may look at whom: a row is at position i of the text, the piece that is read begins at `start`. */
function sees(rule, window, i, j, start, end) {
  if (j >= end) return false;
  const near = j <= i && j > i - window;
  if (rule === "causal") return j <= i;
  if (rule === "window") return near;
  if (rule === "window and first word") return near || (j === 0 && j <= i);
  if (rule === "both ways") return true;
  return j <= i - start;
}

function blend(query, memory, open) {
  const scores = memory.map((key) => query[0] * key[0] + query[1] * key[1]);
  const highest = Math.max(...scores.filter((_, j) => open[j]));
  const powers = scores.map((score, j) => (open[j] ? Math.exp(score - highest) : 0));
  const total = powers.reduce((sum, power) => sum + power, 0);
  const weights = powers.map((power) => (total ? power / total : 0));
  const context = [0, 1].map((at) => weights.reduce((sum, weight, j) => sum + weight * memory[j][at], 0));
  return { weights, context };
}

function readPieces(vectors, pieces, rule, window) {
  const kept = Array.from({ length: LAYERS }, () => []);
  const read = { kept, weights: [], open: [], output: [] };
  let start = 0;
  for (const size of pieces) {
    const end = start + size;
    let x = vectors.slice(start, end);
    const open = x.map((_, at) => vectors.slice(0, end).map((_, j) => sees(rule, window, start + at, j, start, end)));
    for (const layer of kept) {
      layer.push(...x);
      const blends = x.map((query, at) => blend(query, layer, open[at]));
      x = blends.map((one) => one.context);
      if (layer === kept[LAYERS - 1]) read.weights.push(...blends.map((one) => one.weights));
    }
    read.open.push(...open);
    read.output.push(...x);
    start = end;
  }
  return read;
}

function start(root) {
  const given = dataOf(root);
  const { words, prompt, window, rules, names } = given;
  const flat = [...unpack(given.vectors).values];
  const vectors = words.map((_, at) => flat.slice(2 * at, 2 * at + 2));
  const bodies = [...root.querySelectorAll(".am-growing-table tbody")];
  const [slots, cells] = bodies.map((body) => [...body.querySelectorAll("tr")].map((line) => [...line.querySelectorAll("td")]));
  const counts = [...root.querySelectorAll(".am-growing-count")];
  const outputs = [...root.querySelectorAll(".am-growing-output")];
  const controls = controlsOf(root, "Let the cache grow", true);
  let [step, rule, cached] = [given.step, given.rule, given.cached];

  function view() {
    const pieces = [prompt, ...Array(step).fill(1)];
    const n = prompt + step;
    const mine = readPieces(vectors, pieces, rules[rule], window);
    const scratch = readPieces(vectors, [n], rules[rule], window);
    return { mine, scratch, n, first: n - pieces[pieces.length - 1] };
  }

  function isDropped(position, n) {
    if (!rules[rule].startsWith("window") || position > n - 1 - window) return false;
    return position > 0 || rules[rule] === "window";
  }

  function isStale({ mine, scratch }, layer, position) {
    return [0, 1].some((at) => Math.abs(mine.kept[layer][position][at] - scratch.kept[layer][position][at]) > SAME);
  }

  function putNumbers(element, vector) {
    element.replaceChildren(...vector.map((value) => {
      const number = make("span", { class: "am-growing-number" });
      showNumber(number, value);
      return number;
    }));
  }

  function drawSlot(element, seen, layer, position) {
    const there = position < seen.n;
    const isNew = there && (position >= seen.first || !cached);
    element.classList.toggle("am-growing-new", isNew);
    element.classList.toggle("am-growing-kept", there && !isNew);
    element.classList.toggle("am-growing-dropped", Boolean(there && cached && isDropped(position, seen.n)));
    element.classList.toggle("am-growing-stale", Boolean(there && cached && isStale(seen, layer, position)));
    putNumbers(element, there ? (cached ? seen.mine : seen.scratch).kept[layer][position] : []);
  }

  function drawCell(element, seen, row, column) {
    const shown = cached ? seen.mine : seen.scratch;
    const there = row < seen.n && column < seen.n;
    const open = there && Boolean(shown.open[row][column]);
    const now = there && (!cached || row >= seen.first);
    element.className = "am-growing-cell";
    element.classList.toggle("am-growing-before", open && !now);
    element.classList.toggle("am-growing-blocked", now && !open);
    element.classList.toggle("am-growing-now", now && open);
    if (now && open) {
      const weight = shown.weights[row][column];
      element.style.setProperty("--am-weight", weight);
      showNumber(element, weight);
    } else {
      element.style.removeProperty("--am-weight");
      element.removeAttribute("data-am-value");
      element.textContent = "";
    }
  }

  function draw() {
    const seen = view();
    slots.forEach((line, layer) => line.forEach((element, position) => drawSlot(element, seen, layer, position)));
    cells.forEach((line, row) => line.forEach((element, column) => drawCell(element, seen, row, column)));
    worked(seen).forEach((count, at) => {
      counts[at].textContent = String(count);
    });
    putNumbers(outputs[0], seen.mine.output[seen.n - 1]);
    putNumbers(outputs[1], seen.scratch.output[seen.n - 1]);
    root.querySelector(".am-growing-last").textContent = words[seen.n - 1];
    const said = finding(seen);
    state(said);
    return said;
  }

  /* Words computed: in this step with a cache and without, and in all steps so far. */
  function worked({ n, first }) {
    let again = 0;
    for (let end = prompt; end <= n; end += 1) again += end;
    return [n - first, n, n, again];
  }

  const point = (vector) => `(${vector.map((value) => (Number(value.toFixed(2)) === 0 ? "0.00" : value.toFixed(2).replace("-", "\u2212"))).join(", ")})`;

  function finding(seen) {
    const { mine, scratch, n, first } = seen;
    const [here, anew, kept, again] = worked(seen);
    const late = mine.kept[LAYERS - 1].slice(0, first).filter((_, at) => isStale(seen, LAYERS - 1, at)).length;
    return (
      `Reading \u201c${words.slice(first, n).join(" ")}\u201d, ${names[rule]}: this step computes ${here} ${here === 1 ? "word" : "words"}, and ` +
      `${anew} without a cache. So far it is ${kept}, and ${again} without. The output for \u201c${words[n - 1]}\u201d is ` +
      `${point(mine.output[n - 1])} with the cache and ${point(scratch.output[n - 1])} from scratch.` +
      (late ? ` Out of date in layer ${LAYERS}: ${late} of the vectors that were kept.` : "")
    );
  }

  function change(newStep, newRule, newCached) {
    [step, rule, cached] = [newStep, newRule, newCached];
    steps.press(step);
    masks.press(rule);
    caches.press(cached ? 0 : 1);
    say(draw());
  }

  const steps = choice("read", ["the prompt", ...words.slice(prompt).map((word) => `+ ${word}`)], (at) => change(at, rule, cached));
  const caches = choice("cache", given.cache, (at) => change(step, rule, at === 0));
  const masks = choice("mask", names, (at) => change(step, at, cached));
  const reset = button("Reset", () => change(given.step, given.rule, given.cached));
  controls.append(steps.element, caches.element, masks.element, reset);
  const say = announcer(root);
  const state = stateOf(root);
  change(step, rule, cached);
}

upgrade("growing-cache", start);
