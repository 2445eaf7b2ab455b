/* Weights of one target word through a window around a position that the reader sets. */

function softmaxOver(scores, seen) {
  const highest = Math.max(...scores.filter((_, at) => seen[at]));
  const powers = scores.map((score, at) => (seen[at] ? Math.exp(score - highest) : 0));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => (total ? power / total : 0));
}

function start(root) {
  const given = dataOf(root);
  const { column, bar, top, base } = given.plot;
  const one = (part) => root.querySelector(`.am-local-window-${part}`);
  const all = (part) => [...root.querySelectorAll(`.am-local-window-${part}`)];
  const controls = controlsOf(root, "Move the window");
  const width = given.source.length;
  const scores = given.target.map((_, row) => [...unpack(given.scores).values.slice(row * width, (row + 1) * width)]);
  let [row, soft] = [given.row, given.soft];

  const position = () => aim.value() / given.steps;
  const half = () => given.halves[reach.value()];
  const bell = (distance) => Math.exp(-(distance ** 2) / (2 * (half() / 2) ** 2));
  const x = (place) => column * (place + 0.5);
  const y = (weight) => base - (base - top) * weight;
  const signed = (number) => (Number(number.toFixed(2)) === 0 ? "0.00" : number.toFixed(2).replace("-", "\u2212"));

  function view() {
    const distances = scores[row].map((_, place) => place - position());
    const inside = softmaxOver(scores[row], distances.map((distance) => Math.abs(distance) <= half()));
    const weights = inside.map((weight, place) => (soft ? weight * bell(distances[place]) : weight));
    const wanted = given.links[row];
    const whole = softmaxOver(scores[row], distances.map(() => true));
    const slope = soft ? (weights[wanted] * distances[wanted]) / (half() / 2) ** 2 : 0;
    return { weights, whole, wanted, slope, sum: weights.reduce((sum, weight) => sum + weight, 0) };
  }

  function setBar(element, weight) {
    element.setAttribute("y", y(weight));
    element.setAttribute("height", base - y(weight));
  }

  function drawWindow() {
    const sight = one("sight");
    sight.setAttribute("x", x(position() - half()));
    sight.setAttribute("width", 2 * half() * column);
    for (const end of ["x1", "x2"]) one("aim").setAttribute(end, x(position()));
    const steps = Array.from({ length: 41 }, (_, step) => half() * (step / 20 - 1));
    const points = steps.map((far) => `${x(position() + far).toFixed(1)} ${y(soft ? bell(far) : 1).toFixed(1)}`);
    one("bell").setAttribute("d", `M${points.join("L")}`);
  }

  function draw() {
    const { weights, whole, wanted, slope, sum } = view();
    const word = given.source[wanted];
    drawWindow();
    all("bar").forEach((element, place) => setBar(element, weights[place]));
    all("whole").forEach((element, place) => setBar(element, whole[place]));
    all("weight").forEach((element, place) => showNumber(element, weights[place]));
    all("word").forEach((element, place) => element.classList.toggle("am-local-window-wanted", place === wanted));
    [weights[wanted], whole[wanted], sum, slope].forEach((value, at) => showNumber(all("reading")[at], value));
    const said = [`weight of ${word}`, `weight of ${word} without a window`, "all weights together", `slope of the weight of ${word} along p`];
    root.querySelectorAll(".am-local-window-readings th").forEach((head, at) => {
      head.textContent = said[at];
    });
    state(`${chosen()}.`);
  }

  function chosen() {
    return `Writing ${given.target[row]} with p = ${position().toFixed(1)} and D = ${half()}, ${given.edges[soft]}`;
  }

  function speak() {
    const { weights, whole, wanted, slope, sum } = view();
    const word = given.source[wanted];
    const finding =
      `${chosen()}: ${word} has weight ${weights[wanted].toFixed(2)}, without a window ` +
      `${whole[wanted].toFixed(2)}. All weights add up to ${sum.toFixed(2)}. Moving p by a whole word ` +
      `would change the weight of ${word} by ${signed(slope)}, if it went on as it begins.`;
    say(finding);
    root.querySelector("svg").setAttribute("aria-label", finding);
  }

  function change(newRow, newSoft) {
    [row, soft] = [newRow, newSoft];
    words.press(row);
    edges.press(soft);
    draw();
    speak();
  }

  const words = choice("about to write", given.target, (place) => change(place, soft));
  const last = { min: 0, max: given.steps * (width - 1), step: 1, value: given.step };
  const aim = slider("position p", { ...last, show: (step) => (step / given.steps).toFixed(1) }, draw, speak);
  const halves = { min: 0, max: given.halves.length - 1, step: 1, value: given.half };
  const reach = slider("half width D", { ...halves, show: (at) => String(given.halves[at]) }, draw, speak);
  const edges = choice("window", given.edges, (place) => change(row, place));
  const reset = button("Reset", () => {
    aim.put(given.step);
    reach.put(given.half);
    change(given.row, given.soft);
  });
  controls.append(words.element, aim.element, reach.element, edges.element, reset);
  const say = announcer(root);
  const state = stateOf(root);
  change(row, soft);
}

upgrade("local-window", start);
