/* A softmax whose every step is rounded to a type of number; the same steps as in narrow.py. */

/* Round to the nearest number of a type, ties to even, as a processor does. */
function rounded(value, { digits, lowest, largest }) {
  const size = Math.abs(value);
  if (size === 0 || !Number.isFinite(size)) return value;
  let power = Math.floor(Math.log2(size));
  if (2 ** power > size) power -= 1;
  else if (2 ** (power + 1) <= size) power += 1;
  const unit = 2 ** (Math.max(power, lowest) - digits + 1);
  const whole = Math.floor(size / unit);
  const rest = size / unit - whole;
  const up = rest > 0.5 || (rest === 0.5 && whole % 2 === 1);
  const near = (whole + (up ? 1 : 0)) * unit;
  return Math.sign(value) * (near > largest ? Infinity : near);
}

/* All the steps, from scores to weights; see narrow.py. */
function stepsOf(scores, type, safe) {
  const round = (value) => rounded(value, type);
  const stored = scores.map(round);
  const highest = Math.max(...stored);
  const exponents = safe ? stored.map((score) => round(score - highest)) : stored;
  const powers = exponents.map((exponent) => round(Math.exp(exponent)));
  const total = powers.reduce((sum, power) => round(sum + power), 0);
  return { stored, exponents, powers, total, weights: powers.map((power) => round(power / total)) };
}

/* Write a number of any size in a few letters: NaN, inf, 0, 2.718, 1.65e38. */
function short(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return "inf";
  const size = Math.abs(value);
  if (size === 0) return "0";
  const plain = size >= 0.001 && size < 100000;
  const said = plain
    ? value.toFixed(Math.max(0, 3 - Math.max(0, Math.floor(Math.log10(size)))))
    : value.toExponential(2).replace("e+", "e");
  return said.replaceAll("-", "\u2212");
}

function start(root) {
  const given = dataOf(root);
  const all = (part) => [...root.querySelectorAll(`.am-narrow-${part}`)];
  const chart = root.querySelector("svg");
  let chosen = given.type;

  const shift = () => given.shifts[added.value()];
  const signed = (number) => (number < 0 ? `\u2212${-number}` : `+${number}`);

  function put(part, values) {
    all(part).forEach((text, at) => {
      text.textContent = short(values[at]);
      text.setAttribute("data-am-value", String(values[at]));
      text.classList.toggle("am-narrow-lost", !Number.isFinite(values[at]));
    });
  }

  function findingOf({ powers, total, weights }) {
    if (powers.includes(Infinity)) return "exp is too large for this type: inf / inf is NaN.";
    if (total === Infinity) return "Every exp still fits, but their sum does not: all weights are 0, and nothing warns.";
    if (total === 0) return "Every exp is rounded to 0, and 0 / 0 is NaN.";
    const errors = weights.map((weight, at) => Math.abs(weight - given.exact[at]) / given.exact[at]);
    const worst = 100 * Math.max(...errors);
    const said = worst > given.least ? `${short(worst)} %` : `less than ${given.least} %`;
    return `The weights are numbers; the worst of them is off by ${said}.`;
  }

  function draw() {
    const found = stepsOf(given.scores.map((score) => score + shift()), given.types[chosen], safe.input.checked);
    put("score", found.stored);
    put("exponent", found.exponents);
    put("power", found.powers);
    put("weight", found.weights);
    put("total", [found.total]);
    all("bar").forEach((bar, at) => {
      const weight = found.weights[at];
      bar.setAttribute("width", Number.isFinite(weight) ? given.bar * Math.min(weight, 1) : 0);
    });
    const order = safe.input.checked ? "the largest score subtracted first" : "nothing subtracted";
    const words = `${given.types[chosen].name}, ${signed(shift())} on every score, ${order}. ${findingOf(found)}`;
    state(words);
    return words;
  }

  function speak() {
    const words = draw();
    say(words);
    chart.setAttribute("aria-label", words);
  }

  function change(at) {
    chosen = at;
    types.press(at);
    speak();
  }

  const controls = controlsOf(root, "Change the scores and the type", true);
  const range = { min: 0, max: given.shifts.length - 1, step: 1, value: given.shift, show: (at) => signed(given.shifts[at]) };
  const added = slider("add to every score", range, draw, speak);
  const types = choice("Numbers", given.types.map((type) => type.name), change);
  const safe = tick("subtract the largest score first", given.safe, speak);
  controls.append(added.element, types.element, safe.element);
  const say = announcer(root);
  const state = stateOf(root);
  change(chosen);
}

upgrade("narrow-softmax", start);
