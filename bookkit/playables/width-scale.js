/* Width and scale: the weights of one query, and the gradient that reaches many of them. */

function softmaxOf(scores) {
  const highest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

function medianOf(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

function start(root) {
  const given = dataOf(root);
  const { left, right, top, base, low, high } = given.plot;
  const one = (part) => root.querySelector(`.am-width-scale-${part}`);
  const all = (part) => [...root.querySelectorAll(`.am-width-scale-${part}`)];
  const controls = controlsOf(root, "Change width and scale", true);
  const scores = unpack(given.scores);
  const lengths = unpack(given.lengths);
  const [, keys] = scores.shape;
  const [, widths, queries] = lengths.shape;

  const width = () => given.widths[wide.value()];
  const reach = (divided) => {
    const first = (divided * widths + wide.value()) * queries;
    return [...lengths.values.slice(first, first + queries)];
  };
  const x = (length) => {
    const place = Math.min(Math.max(Math.log10(length), low), high);
    return left + ((place - low) / (high - low)) * (right - left);
  };

  function view() {
    const scale = divide.input.checked ? 1 / Math.sqrt(width()) : 1;
    const row = [...scores.values.slice(wide.value() * keys, (wide.value() + 1) * keys)];
    const weights = softmaxOf(row.map((score) => score * scale));
    const now = reach(Number(divide.input.checked));
    const scaled = medianOf(reach(1));
    const fewer = now.filter((length) => length < scaled).length;
    return { weights, now, readings: [Math.max(...weights), medianOf(now), scaled, fewer] };
  }

  function moveLine(name, length) {
    for (const end of ["x1", "x2"]) one(name).setAttribute(end, x(length));
  }

  function draw() {
    const { weights, now, readings } = view();
    all("bar").forEach((bar, key) => {
      bar.setAttribute("y", base - (base - top) * weights[key]);
      bar.setAttribute("height", (base - top) * weights[key]);
      bar.setAttribute("data-am-value", String(weights[key]));
    });
    all("dot").forEach((dot, query) => {
      dot.setAttribute("cx", x(now[query]));
      dot.setAttribute("data-am-value", String(now[query]));
    });
    moveLine("typical", readings[1]);
    moveLine("scaled", readings[2]);
    all("reading").forEach((cell, place) => showNumber(cell, readings[place], place < 3 ? 3 : 0));
    state(`Width d = ${width()}, scores ${divide.input.checked ? "" : "not "}divided by \u221ad.`);
  }

  function speak() {
    const [largest, typical, scaled] = view().readings.map((number) => number.toFixed(3));
    const finding =
      `Width ${width()}, ${divide.input.checked ? "" : "not "}divided: largest weight of the marked ` +
      `query ${largest}, gradient at the typical query ${typical}, with scores divided by \u221ad ${scaled}.`;
    say(finding);
    root.querySelector("svg").setAttribute("aria-label", finding);
  }

  function change() {
    draw();
    speak();
  }

  const steps = { min: 0, max: given.widths.length - 1, step: 1, value: given.width };
  const wide = slider("width d", { ...steps, show: (place) => String(given.widths[place]) }, draw, speak);
  const divide = tick("divide by the square root of d", given.divided, change);
  const reset = button("Reset", () => {
    divide.input.checked = given.divided;
    wide.put(given.width);
    change();
  });
  controls.append(wide.element, divide.element, reset);
  const say = announcer(root);
  const state = stateOf(root);
  change();
}

upgrade("width-scale", start);
