/* One query's attention with numbers to edit, and the gradient of the loss under each of them. */

const dot = (one, other) => one.reduce((sum, number, at) => sum + number * other[at], 0);

function weightsOf(scores) {
  const highest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

/* Blend the rows of a matrix. */
function blendOf(weights, rows) {
  return rows[0].map((_, at) => dot(weights, rows.map((row) => row[at])));
}

/* Forward, then backward: what the six lines of the page do, for one query. */
function flow({ query, memory, wanted, nudges }) {
  const scores = memory.map((row, place) => dot(query, row) + nudges[place]);
  const weights = weightsOf(scores);
  const context = blendOf(weights, memory);
  const atContext = context.map((number, at) => number - wanted[at]);
  const atWeights = memory.map((row) => dot(atContext, row));
  const mean = dot(weights, atWeights);
  const atScores = weights.map((weight, place) => weight * (atWeights[place] - mean));
  const atQuery = blendOf(atScores, memory);
  const atMemory = memory.map((row, place) =>
    row.map((_, at) => weights[place] * atContext[at] + atScores[place] * query[at]));
  const loss = dot(atContext, atContext) / 2;
  return { scores, weights, context, loss, atContext, atWeights, atScores, atQuery, atMemory };
}

function start(root) {
  const given = dataOf(root);
  const all = (part) => [...root.querySelectorAll(`.am-gradient-flow-${part}`)];
  const numbers = all("number");
  const controls = controlsOf(root, "Change the numbers");
  const fresh = () => structuredClone({
    query: given.query,
    memory: given.memory,
    wanted: given.wanted,
    nudges: given.words.map(() => 0),
  });
  let now = fresh();
  let chosen = given.edits.findIndex(({ label }) => label === `score of ${given.words.at(-1)}`);

  const limit = ({ kind }) => (kind === "score" ? given.most.score : given.most.vector);

  function read({ kind, place: [row, at] }, state = now) {
    if (kind === "score") return dot(state.query, state.memory[row]) + state.nudges[row];
    return kind === "memory" ? state.memory[row][at] : state[kind][row];
  }

  function write({ kind, place: [row, at] }, value, state = now) {
    if (kind === "score") state.nudges[row] = value - dot(state.query, state.memory[row]);
    else if (kind === "memory") state.memory[row][at] = value;
    else state[kind][row] = value;
  }

  /* One digit after the point where that is all there is. */
  function written({ kind }, value) {
    const plain = kind !== "score" && Math.abs(10 * value - Math.round(10 * value)) < 1e-9;
    return (value === 0 ? 0 : value).toFixed(plain ? 1 : 2);
  }

  function slopeOf({ kind, place: [row, at] }, { atScores, atQuery, atMemory }) {
    if (kind === "score") return atScores[row];
    if (kind === "memory") return atMemory[row][at];
    return kind === "query" ? atQuery[row] : null;
  }

  const signed = (value, places) => {
    const rounded = value.toFixed(places);
    if (Number(rounded) === 0) return (0).toFixed(places);
    return value > 0 ? `+${rounded}` : rounded.replace("-", "\u2212");
  };

  function side(element, value) {
    element.classList.toggle("am-gradient-flow-up", value > 0);
    element.classList.toggle("am-gradient-flow-down", !(value > 0));
  }

  /* The loss has four digits, a weight three, the blend two. */
  function digits(element) {
    if (element.closest(".am-gradient-flow-loss")) return 4;
    return element.closest("tr").querySelector("input") ? 3 : 2;
  }

  function drawNumbers(view, typing) {
    const rows = given.words.flatMap((_, row) => [...now.memory[row], view.scores[row], view.weights[row]]);
    const values = [...now.query, ...rows, ...view.context, view.loss, ...now.wanted];
    let field = 0;
    numbers.forEach((element, at) => {
      if (element.classList.contains("am-gradient-flow-edited")) {
        element.setAttribute("data-am-value", String(values[at]));
        const input = fields[field];
        if (input !== typing) input.value = written(given.edits[field], values[at]);
        field += 1;
      } else {
        showNumber(element, values[at], digits(element));
      }
    });
  }

  function drawSlopes(view) {
    const rows = given.words.flatMap((_, row) => [...view.atMemory[row], view.atScores[row], view.atWeights[row]]);
    const values = [...view.atQuery, ...rows, ...view.atContext];
    all("slope").forEach((element, at) => {
      element.textContent = signed(values[at], 3);
      element.setAttribute("data-am-value", String(values[at]));
      side(element, values[at]);
    });
    all("bar").forEach((bar, row) => {
      const wide = 50 * Math.min(1, Math.abs(view.atScores[row]) / given.full);
      bar.setAttribute("width", wide);
      bar.setAttribute("x", view.atScores[row] > 0 ? 50 : 50 - wide);
      side(bar, view.atScores[row]);
    });
  }

  function draw(typing = null) {
    const view = flow(now);
    drawNumbers(view, typing);
    drawSlopes(view);
    fields.forEach((input, at) => input.toggleAttribute("data-am-chosen", at === chosen));
    const edit = given.edits[chosen];
    aim.element.firstChild.textContent = edit.label;
    aim.input.min = -limit(edit);
    aim.input.max = limit(edit);
    aim.put(read(edit));
    const listed = (values, show) => given.words.map((word, row) => `${word} ${show(values[row])}`).join(", ");
    state(
      `Loss ${view.loss.toFixed(3)}. Weights: ${listed(view.weights, (value) => value.toFixed(3))}. ` +
        `Gradients at the scores: ${listed(view.atScores, (value) => signed(value, 3))}.`
    );
  }

  /* What the gradient foretells of the chosen number, and what becomes of the loss in truth. */
  function foretold(view) {
    const edit = given.edits[chosen];
    const slope = slopeOf(edit, view);
    if (slope === null) return "The blend should have been what is wanted; only the loss depends on it.";
    const other = structuredClone(now);
    write(edit, read(edit) + 0.1, other);
    const change = flow(other).loss - view.loss;
    return (
      `${edit.label[0].toUpperCase()}${edit.label.slice(1)}: gradient ${signed(slope, 3)}. Raise this number by 0.1, and the loss should ` +
      `change by about ${signed(slope / 10, 4)}; it would change by ${signed(change, 4)}.`
    );
  }

  function speak() {
    const view = flow(now);
    const sum = view.atScores.reduce((total, slope) => total + slope, 0);
    say(`Loss ${view.loss.toFixed(4)}. ${foretold(view)} The gradients at the scores sum to ${signed(sum, 3)}.`);
  }

  function choose(at) {
    chosen = at;
    draw(fields[at]);
    speak();
  }

  function put(at, value, typing = null) {
    const most = limit(given.edits[at]);
    write(given.edits[at], Math.min(most, Math.max(-most, value)));
    draw(typing);
  }

  function step(event, at) {
    const size = { ArrowUp: 0.1, ArrowDown: -0.1, PageUp: 1, PageDown: -1 }[event.key];
    if (!size || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    put(at, Math.round(1e6 * (read(given.edits[at]) + size)) / 1e6);
    speak();
  }

  function field(holder, at) {
    const { label } = given.edits[at];
    const input = make("input", { type: "number", step: "any", inputmode: "decimal", "aria-label": label });
    input.addEventListener("focus", () => choose(at));
    input.addEventListener("keydown", (event) => step(event, at));
    input.addEventListener("input", () => {
      if (input.value !== "" && Number.isFinite(input.valueAsNumber)) put(at, input.valueAsNumber, input);
    });
    input.addEventListener("change", () => {
      draw();
      speak();
    });
    holder.replaceChildren(input);
    return input;
  }

  const range = { min: -given.most.vector, max: given.most.vector, step: 0.1, value: 0, show: (value) => value.toFixed(1) };
  const aim = slider("number", range, () => put(chosen, aim.value()), speak);
  const downhill = button("One step downhill", () => {
    const { atScores } = flow(now);
    now.nudges = now.nudges.map((nudge, row) => nudge - atScores[row]);
    draw();
    speak();
  });
  const reset = button("Reset", () => {
    now = fresh();
    draw();
    speak();
  });
  controls.append(aim.element, downhill, reset);
  const say = announcer(root);
  const state = stateOf(root);
  const fields = all("edited").map(field);
  draw();
  speak();
}

upgrade("gradient-flow", start);
