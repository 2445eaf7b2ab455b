/* One head or two, their weight divided between two words, and what can be read of either. */

function start(root) {
  const given = dataOf(root);
  const { left, side, floor, middle } = given.plot;
  const all = (part) => [...root.querySelectorAll(`.am-divided-${part}`)];
  const chart = root.querySelector("svg");
  let heads = given.heads;

  const first = (head) => shares[head].value() / given.steps;
  const weights = () => [0, 1].map((head) => [first(head), 1 - first(head)]);

  /* What each head hands over, by sentence. */
  function pointsOf(looks) {
    return given.answers.map((values) => looks.map((look, head) => (
      head < heads ? look[0] * values[0] + look[1] * values[1] : 0
    )));
  }

  const between = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]);

  function gap(points, question) {
    const having = (answer) => points.filter((_, at) => given.answers[at][question] === answer);
    return Math.min(...having(0).flatMap((one) => having(1).map((other) => between(one, other))));
  }

  function verdict(distance) {
    if (distance < given.nothing) return "lost";
    return distance > 1 - given.nothing ? "whole" : "can be read";
  }

  function place(mark, [along, up], at) {
    const x = left + side * along;
    const y = heads === 2 ? floor - side * up : middle;
    const [right, down, anchor] = heads === 2 ? given.beside[at] : [0, given.lanes[at], "middle"];
    const set = (part, values) => {
      for (const [name, value] of Object.entries(values)) mark.querySelector(part).setAttribute(name, value);
    };
    set("circle", { cx: x, cy: y });
    set("line", { x1: x, x2: x, y1: y, y2: y + given.lanes[at] * 0.72 });
    set("text", { x: x + right, y: y + down, "text-anchor": anchor });
    mark.querySelector("tspan").textContent = along.toFixed(2);
    mark.setAttribute("data-am-value", along);
    mark.setAttribute("data-am-second", up);
  }

  function draw() {
    const looks = weights();
    const points = pointsOf(looks);
    chart.setAttribute("class", `am-divided-chart am-divided-${heads}`);
    looks.flat().forEach((weight, at) => {
      all("arc")[at].setAttribute("stroke-width", 1 + 11 * weight);
      showNumber(all("weight")[at], weight);
    });
    all("point").forEach((mark, at) => {
      place(mark, points[at], at);
      const near = points.some((other, number) => number !== at && between(other, points[at]) < given.nothing);
      mark.classList.toggle("am-divided-clash", near);
    });
    given.questions.forEach((_, question) => {
      const distance = gap(points, question);
      showNumber(all("gap")[question], distance);
      all("verdict")[question].textContent = verdict(distance);
    });
    state(chosen(looks));
  }

  function chosen(looks) {
    const said = looks.map((look) => (
      `${given.pair[0]} has ${look[0].toFixed(2)} of its weight and ${given.pair[1]} ${look[1].toFixed(2)}`
    ));
    return heads === 1 ? `One head: ${said[0]}.` : `Two heads: in the first, ${said[0]}; in the second, ${said[1]}.`;
  }

  function speak() {
    const points = pointsOf(weights());
    const [who, what] = [0, 1].map((question) => gap(points, question).toFixed(2));
    const finding =
      `${chosen(weights())} Sentences with different answers to the question "${given.questions[0]}" are at least ` +
      `${who} apart, those to "${given.questions[1]}" ${what}.`;
    say(finding);
    chart.setAttribute("aria-label", finding);
  }

  function change(count) {
    heads = count;
    counts.press(heads - 1);
    shares[1].input.disabled = heads === 1;
    draw();
    speak();
  }

  const controls = controlsOf(root, "Divide the weight", true);
  const counts = choice("The word has", given.counts, (at) => change(at + 1));
  const show = (sixtieths) => (sixtieths / given.steps).toFixed(2);
  const shares = [0, 1].map((head) => {
    const range = { min: 0, max: given.steps, step: 1, value: given.shares[head], show };
    return slider(`head ${head + 1}: on ${given.pair[0]}`, range, draw, speak);
  });
  controls.append(counts.element, ...shares.map((share) => share.element));
  const say = announcer(root);
  const state = stateOf(root);
  change(heads);
}

upgrade("divided-head", start);
