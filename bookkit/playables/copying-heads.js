/* Two trained heads that copy: a text to change, and heads to switch off. */

/* A stored weight: {rows, columns, at(row, column)}, or a vector. */
function weightOf({ values, shape, base64, scale }) {
  if (values) return values;
  const bytes = Int8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return Array.from({ length: shape[0] }, (_, row) =>
    Array.from({ length: shape[1] }, (__, column) => bytes[row * shape[1] + column] * scale[row]));
}

function softmax(scores) {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

function modelOf(stored, base) {
  const weights = Object.fromEntries(Object.entries(stored).map(([name, one]) => [name, weightOf(one)]));
  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  const project = (matrix, x) => matrix.map((row) => dot(row, x));

  function norm(name, x) {
    const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
    const spread = Math.sqrt(x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length + 1e-5);
    return x.map((value, i) => (value - mean) / spread * weights[`${name}.weight`][i] + weights[`${name}.bias`][i]);
  }

  /* Turn the pairs (i, i + half) of a head by its position. */
  function rotate(x, position) {
    const half = x.length / 2;
    return x.map((value, i) => {
      const angle = position * base ** (-(i % half) / half);
      return i < half
        ? value * Math.cos(angle) - x[i + half] * Math.sin(angle)
        : value * Math.cos(angle) + x[i - half] * Math.sin(angle);
    });
  }

  function attend(layer, stream) {
    const of = (part) => weights[`decoder.blocks.${layer}.self_attention.${part}_proj.weight`];
    const read = stream.map((x) => norm(`decoder.blocks.${layer}.self_residual.norm`, x));
    const queries = read.map((x, i) => rotate(project(of("query"), x), i));
    const keys = read.map((x, i) => rotate(project(of("key"), x), i));
    const values = read.map((x) => project(of("value"), x));
    const looks = queries.map((query, i) => {
      const row = softmax(keys.slice(0, i + 1).map((key) => dot(query, key) / Math.sqrt(query.length)));
      return [...row, ...Array(queries.length - i - 1).fill(0)];
    });
    const outputs = looks.map((row) =>
      project(of("output"), values[0].map((_, c) => row.reduce((sum, weight, j) => sum + weight * values[j][c], 0))));
    return { looks, outputs };
  }

  return (tokens, on) => {
    let stream = tokens.map((token) => weights["embedding.words.weight"][token]);
    const seen = on.map((works, layer) => {
      const { looks, outputs } = attend(layer, stream);
      if (!works) return looks.map((row) => row.map(() => 0));
      stream = stream.map((x, i) => x.map((value, c) => value + outputs[i][c]));
      return looks;
    });
    const chances = stream.map((x) =>
      softmax(project(weights["output.vectors.weight"], norm("decoder.norm", x))));
    return { seen, chances };
  };
}

function start(root) {
  const given = dataOf(root);
  const { block, size, letters, shortest, longest } = given;
  const model = modelOf(given.weights, given.base);
  const cells = (kind) => [...root.querySelectorAll(`.am-copying-${kind}`)];
  const looks = cells("look");
  const guesses = cells("said");
  const on = [true, true];
  let text;
  let picked = given.position;

  const repeat = () => {
    text = Array.from({ length: size }, (_, i) => block[i % blocks.value()]);
  };

  const picks = cells("letter").map((cell, i) => {
    const pick = make("button", { type: "button", class: "am-copying-pick" });
    pick.addEventListener("click", () => {
      picked = i;
      show();
    });
    cell.replaceChildren(pick);
    return pick;
  });
  rove([picks]);

  function draw() {
    const { seen, chances } = model(text, on);
    const best = chances.map((row) => row.indexOf(Math.max(...row)));
    picks.forEach((pick, i) => {
      pick.textContent = letters[text[i]];
      pick.setAttribute("aria-label", `letter ${i + 1}, ${letters[text[i]]}`);
      pick.setAttribute("aria-pressed", String(i === picked));
    });
    looks.forEach((cell, i) => {
      const weight = seen[Math.floor(i / size)][picked][i % size];
      const ink = cell.querySelector(".am-copying-ink");
      ink.style.setProperty("--am-weight", Math.min(1, weight));
      showNumber(ink.querySelector(".am-live-unseen"), weight);
    });
    let hits = 0;
    const first = blocks.value();
    guesses.forEach((guess, i) => {
      const decided = i >= first && i < size - 1;
      const right = decided && best[i] === text[i + 1];
      hits += right;
      guess.textContent = letters[best[i]];
      guess.setAttribute("data-am-value", String(chances[i][best[i]]));
      guess.classList.toggle("am-copying-right", right);
      guess.classList.toggle("am-copying-wrong", decided && !right);
    });
    const [back, there] = seen.map((head) => head[picked]);
    const before = picked ? back[picked - 1].toFixed(2) : "nothing";
    const far = there.indexOf(Math.max(...there));
    const words =
      `Picked: letter ${picked + 1}, ${letters[text[picked]]}. The first head ` +
      (on[0] ? `gives ${before} to the letter before. ` : "is off. ") +
      `The second head ${on[1] ? `looks most at ${letters[text[far]]}, letter ${far + 1}` : "is off"}. ` +
      `Predicted next: ${letters[best[picked]]}. Of the ${size - 1 - first} letters that the ` +
      `repetition decides, ${hits} are predicted.`;
    state(words);
    return words;
  }

  function show() {
    say(draw());
  }

  function change() {
    text[picked] = (text[picked] + 1) % letters.length;
    show();
  }

  function reset() {
    picked = given.position;
    on.fill(true);
    switches.forEach((one) => {
      one.input.checked = true;
    });
    blocks.put(given.length);
    repeat();
    show();
  }

  const controls = controlsOf(root, "Change the text, and switch heads off");
  const blocks = slider(
    "letters in the block",
    { min: shortest, max: longest, step: 1, value: given.length },
    () => {
      repeat();
      draw();
    },
    show,
  );
  const switches = ["first head", "second head"].map((name, head) =>
    tick(name, true, () => {
      on[head] = switches[head].input.checked;
      show();
    }));
  controls.append(
    ...switches.map((one) => one.element),
    blocks.element,
    button("Change the picked letter", change),
    button("Reset", reset),
  );
  const say = announcer(root);
  const state = stateOf(root);
  repeat();
  show();
}

upgrade("copying-heads", start);
