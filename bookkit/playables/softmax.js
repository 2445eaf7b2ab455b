/* Softmax with a width and a temperature: redraws what Python drew. */

function weightsOf(scores) {
  const highest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

/* The same four numbers as in the table's rows. */
function readingsOf(scores, weights) {
  const add = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
  const mean = add(scores) / scores.length;
  const derivatives = weights.map((weight) => weight * (1 - weight));
  return [
    add(scores.map((score) => (score - mean) ** 2)) / scores.length,
    -add(weights.map((weight) => (weight > 0 ? weight * Math.log(weight) : 0))),
    Math.max(...derivatives),
    add(derivatives),
  ];
}

/* Write a number that may be very small: 64, 0.038, 0.00012. */
function short(number) {
  if (number >= 10) return number.toFixed(0);
  if (number >= 0.01) return number.toFixed(number >= 0.9995 ? 2 : 3);
  if (number < 1e-6) return "< 0.000001";
  return number.toFixed(1 - Math.floor(Math.log10(number)));
}

function start(root) {
  const given = dataOf(root);
  const all = (part) => [...root.querySelectorAll(`.am-softmax-${part}`)];
  const controls = controlsOf(root, "Change the softmax");

  const temperature = () => given.temperatures[heat.value()];
  const width = () => given.widths[wide.value()];
  const scores = () => {
    const grown = divide.input.checked ? 1 : Math.sqrt(width());
    return given.scores.map((score) => (score * grown) / temperature());
  };

  function bars(kind, values) {
    const numbers = all(kind);
    all(`${kind}-bar`).forEach((bar, place) => {
      bar.setAttribute("width", given.units[kind] * values[place]);
      showNumber(numbers[place], values[place], 3);
    });
  }

  function draw() {
    const now = scores();
    const divided = divide.input.checked ? "divided" : "not divided";
    state(`Width d = ${width()}, scores ${divided} by \u221ad, temperature ${temperature()}.`);
    const weights = weightsOf(now);
    all("score").forEach((text, place) => showNumber(text, now[place], 1));
    bars("weight", weights);
    bars("derivative", weights.map((weight) => weight * (1 - weight)));
    const readings = readingsOf(now, weights);
    all("reading").forEach((cell, place) => {
      cell.textContent = short(readings[place]);
      cell.setAttribute("data-am-value", String(readings[place]));
    });
  }

  function speak() {
    const now = scores();
    const weights = weightsOf(now);
    const best = weights.indexOf(Math.max(...weights));
    const [, entropy, derivative] = readingsOf(now, weights);
    const scaled = divide.input.checked ? "divided by its square root" : "not divided";
    say(
      `Width ${width()}, ${scaled}, temperature ${temperature()}: most weight on ` +
        `${given.names[best]}, ${weights[best].toFixed(3)}. Entropy ${short(entropy)}, ` +
        `largest derivative ${short(derivative)}.`
    );
    const list = (kind) => all(kind).map((number, key) => `${given.names[key]} ${number.textContent}`).join(", ");
    const described = `Weights: ${list("weight")}. Derivatives: ${list("derivative")}.`;
    root.querySelector("svg").setAttribute("aria-label", described);
  }

  function change() {
    draw();
    speak();
  }

  function control(name, steps, value) {
    const range = { min: 0, max: steps.length - 1, step: 1, value, show: (place) => String(steps[place]) };
    const made = slider(name, range, draw, speak);
    controls.append(made.element);
    return made;
  }
  const wide = control("width d", given.widths, given.width);
  const heat = control("temperature", given.temperatures, given.temperature);
  const divide = tick("divide by the square root of d", given.divided, change);
  const reset = button("Reset", () => {
    divide.input.checked = given.divided;
    wide.set(given.width);
    heat.set(given.temperature);
    speak();
  });
  controls.append(divide.element, reset);
  const say = announcer(root);
  const state = stateOf(root);
  change();
}

upgrade("softmax", start);
