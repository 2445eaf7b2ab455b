/* Whole sentences by length, and what words that fail one by one would give. */

function start(root) {
  const given = dataOf(root);
  const { left, right, top, base } = given.plot;
  const one = (part) => root.querySelector(`.am-compounding-${part}`);
  const all = (part, within = root) => [...within.querySelectorAll(`.am-compounding-${part}`)];
  const controls = controlsOf(root, "Change the chance of a word, or the measure");
  let measure = 0;

  const chance = () => given.chances[range.value()];
  const whole = (words) => 100 * (chance() / 100) ** words;
  const x = (words) => left + ((right - left) * words) / given.last;
  const y = (percent) => base - ((base - top) * percent) / 100;
  const point = (words, percent) => `${x(words).toFixed(1)} ${y(percent).toFixed(1)}`;

  function drawCurve() {
    const halves = Array.from({ length: 2 * given.last + 1 }, (_, half) => half / 2);
    one("curve").setAttribute("d", `M${halves.map((words) => point(words, whole(words))).join("L")}`);
    const share = chance() / 100;
    const end = 0.7 * given.last;
    const words = share === 1 ? end : Math.min(end, Math.log(given.named) / Math.log(share));
    const name = one("chance");
    name.textContent = `${chance()} % a word`;
    name.setAttribute("x", x(words) + 7);
    name.setAttribute("y", y(whole(words)) - 7);
    for (const part of ["curve", "chance"]) one(part).setAttribute("visibility", measure ? "hidden" : "visible");
  }

  function drawSeries() {
    all("series").forEach((group, kind) => {
      const values = given.values[measure][kind];
      const points = values.map((value, at) => point(given.middles[at], value));
      one(`series${kind} .am-compounding-line`).setAttribute("d", `M${points.join("L")}`);
      all("mark", group).forEach((mark, at) => mark.setAttribute("transform", `translate(${points[at]})`));
      const named = Math.floor(values.length / [4, 2][kind]);
      all("name", group)[0].setAttribute("y", y(values[named]) + [24, -11][kind]);
    });
  }

  function draw() {
    drawCurve();
    drawSeries();
    one("title").textContent = given.measures[measure] + (measure ? "" : " (%)");
    one("head").textContent = `at ${chance()}\u00a0%\na\u00a0word`;
    all("whole").forEach((cell, at) => showNumber(cell, whole(given.middles[at]), 0));
    state(sentence());
  }

  function sentence() {
    if (measure) return "BLEU gives credit for every right stretch of up to four words.";
    const [first, last] = [given.middles[0], given.middles[given.middles.length - 1]];
    return (
      `If each word is right in ${chance()} of 100 cases, whatever the others are, ` +
      `${whole(first).toFixed(0)} of 100 sentences of ${first} words are right, and ` +
      `${whole(last).toFixed(0)} of 100 sentences of ${last} words.`
    );
  }

  function speak() {
    say(sentence());
    root.querySelector("svg").setAttribute("aria-label", sentence());
  }

  function show(chosen) {
    measure = chosen;
    kinds.press(chosen);
    range.input.disabled = measure === 1;
    draw();
    speak();
  }

  const steps = { min: 0, max: given.chances.length - 1, step: 1, value: given.chance };
  const range = slider("chance of a word", { ...steps, show: (at) => `${given.chances[at]} %` }, draw, speak);
  const kinds = choice("show", given.measures, show);
  const reset = button("Reset", () => {
    range.put(given.chance);
    show(0);
  });
  controls.append(range.element, kinds.element, reset);
  const say = announcer(root);
  const state = stateOf(root);
  show(0);
}

upgrade("compounding", start);
