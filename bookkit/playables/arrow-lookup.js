/* A soft lookup among arrows: the reader drags the query and turns what the weights depend on. */

const dot = (one, other) => one[0] * other[0] + one[1] * other[1];
const apart = (one, other) => (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2;

function softmax(scores) {
  const highest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

function start(root) {
  const given = dataOf(root);
  const { unit, left, top, head, beside } = given.plot;
  const one = (part) => root.querySelector(`.am-arrow-lookup-${part}`);
  const all = (part) => [...root.querySelectorAll(`.am-arrow-lookup-${part}`)];
  const svg = one("plane");
  const handle = one("handle");
  const controls = controlsOf(root, "Turn what the weights depend on");
  let steps = [...given.query];
  let score = given.score;

  const query = () => steps.map((step) => step / given.steps);
  const temperature = () => given.temperatures[heat.value()];
  const length = () => long.value() / given.steps;
  const x = (point) => unit * (point[0] - left);
  const y = (point) => unit * (top - point[1]);
  const text = (number, places) => (Number(number.toFixed(places)) === 0 ? (0).toFixed(places) : number.toFixed(places).replace("-", "\u2212"));

  function view() {
    const keys = given.values.map((value, place) => {
      const factor = place === given.stretched ? length() / Math.hypot(...value) : 1;
      return value.map((number) => number * factor);
    });
    const scores = keys.map((key) => (score ? -apart(query(), key) / 2 : dot(query(), key)));
    const weights = softmax(scores.map((number) => number / temperature()));
    const blend = [0, 1].map((axis) => weights.reduce((sum, weight, place) => sum + weight * given.values[place][axis], 0));
    return { keys, scores, weights, blend };
  }

  function arrow(tip) {
    const [x0, y0, x1, y1] = [x([0, 0]), y([0, 0]), x(tip), y(tip)];
    const shaft = `M${x0} ${y0}L${x1} ${y1}`;
    if (Math.hypot(x1 - x0, y1 - y0) < head) return shaft;
    const angle = Math.atan2(y1 - y0, x1 - x0);
    const end = (side) => `${x1 - head * Math.cos(angle + side)} ${y1 - head * Math.sin(angle + side)}`;
    return `${shaft}M${end(-0.5)}L${x1} ${y1}L${end(0.5)}`;
  }

  function place(element, point, below = 0) {
    for (const [name, value] of element.tagName === "text" ? [["x", x(point)], ["y", y(point) + below]] : [["cx", x(point)], ["cy", y(point)]]) element.setAttribute(name, value);
  }

  function draw() {
    const { keys, scores, weights, blend } = view();
    all("key").forEach((element, at) => {
      element.setAttribute("d", arrow(keys[at]));
      element.setAttribute("stroke-width", 1.5 + 6 * weights[at]);
    });
    const key = keys[given.stretched];
    const far = key.map((number) => (beside * number) / Math.hypot(...key) / unit);
    place(all("word")[given.stretched], [key[0] + far[0], key[1] + far[1]], 5);
    one("query").setAttribute("d", arrow(query()));
    one("blend").setAttribute("d", arrow(blend));
    place(one("blend-name"), blend, 18);
    for (const part of handle.children) place(part, query(), 5);
    all("score").forEach((element, at) => showNumber(element, scores[at]));
    all("weight").forEach((element, at) => showNumber(element, weights[at]));
    all("bar").forEach((element, at) => element.setAttribute("width", 100 * weights[at]));
    all("found").forEach((element, axis) => showNumber(element, blend[axis]));
    handle.setAttribute("aria-valuenow", query()[0]);
    handle.setAttribute("aria-valuetext", `${text(query()[0], 1)}, ${text(query()[1], 1)}`);
    state(`${chosen()}.`);
  }

  function chosen() {
    const [across, up] = query().map((number) => text(number, 1));
    return `Query (${across}, ${up}), ${given.scores[score]}, temperature ${temperature()}, ${given.words[given.stretched]} has length ${length().toFixed(1)}`;
  }

  function speak() {
    const { weights, blend } = view();
    const most = Math.max(...weights);
    const best = given.words.filter((_, at) => most - weights[at] < 1e-9);
    const finding =
      `${chosen()}: ${best.join(" and ")} ${best.length === 1 ? "has" : "have"} the largest weight, ` +
      `${most.toFixed(2)}. The blend is (${text(blend[0], 2)}, ${text(blend[1], 2)}).`;
    say(finding);
    svg.setAttribute("aria-label", finding);
  }

  function move(point) {
    steps = point.map((step, axis) => {
      const [low, high] = given.reach[axis].map((end) => end * given.steps);
      return Math.min(Math.max(Math.round(step), low), high);
    });
    draw();
  }

  function drag(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    move([(at.x / unit + left) * given.steps, (top - at.y / unit) * given.steps]);
  }

  function choose(which) {
    score = which;
    rules.press(which);
    draw();
    speak();
  }

  handle.setAttribute("tabindex", 0);
  handle.setAttribute("role", "slider");
  handle.setAttribute("aria-roledescription", "arrow in the plane");
  handle.setAttribute("aria-label", "Tip of the query: arrow keys move it");
  handle.setAttribute("aria-valuemin", given.reach[0][0]);
  handle.setAttribute("aria-valuemax", given.reach[0][1]);
  handle.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    handle.focus({ preventScroll: true });
    handle.setPointerCapture(event.pointerId);
  });
  handle.addEventListener("pointermove", (event) => {
    if (handle.hasPointerCapture(event.pointerId)) drag(event);
  });
  handle.addEventListener("lostpointercapture", speak);
  svg.addEventListener("click", (event) => {
    if (handle.contains(event.target)) return;
    drag(event);
    speak();
  });
  handle.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    move([steps[0] + way[0], steps[1] + way[1]]);
  });
  handle.addEventListener("keyup", (event) => {
    if (event.key.startsWith("Arrow")) speak();
  });

  const hottest = given.temperatures.length - 1;
  const heat = slider("temperature", { min: 0, max: hottest, step: 1, value: given.temperature, show: (at) => String(given.temperatures[at]) }, draw, speak);
  const [shortest, longest] = given.lengths;
  const name = `length of ${given.words[given.stretched]}`;
  const long = slider(name, { min: shortest, max: longest, step: 1, value: given.length, show: (at) => (at / given.steps).toFixed(1) }, draw, speak);
  const rules = choice("score", given.scores, choose);
  const reset = button("Reset", () => {
    steps = [...given.query];
    heat.put(given.temperature);
    long.put(given.length);
    choose(given.score);
  });
  controls.append(heat.element, long.element, rules.element, reset);
  const say = announcer(root);
  const state = stateOf(root);
  choose(score);
}

upgrade("arrow-lookup", start);
