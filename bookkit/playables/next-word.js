/* What a word is drawn from, after temperature, top-k, top-p and min-p, in this order. */

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

function softmaxOf(logits) {
  const highest = Math.max(...logits);
  const powers = logits.map((logit) => Math.exp(logit - highest));
  const total = sum(powers);
  return powers.map((power) => power / total);
}

function keepTopK(logits, k) {
  if (k === null) return logits;
  const order = logits.map((_, at) => at).sort((a, b) => logits[b] - logits[a]);
  const kept = new Set(order.slice(0, k));
  return logits.map((logit, at) => (kept.has(at) ? logit : -Infinity));
}

/* The word that reaches p stays: what counts is the sum before it. */
function keepTopP(logits, p) {
  if (p === null) return logits;
  const chances = softmaxOf(logits);
  const order = logits.map((_, at) => at).sort((a, b) => chances[b] - chances[a]);
  const kept = new Set();
  let before = 0;
  for (const at of order) {
    if (before < p) kept.add(at);
    before += chances[at];
  }
  return logits.map((logit, at) => (kept.has(at) ? logit : -Infinity));
}

function keepMinP(logits, share) {
  if (share === null) return logits;
  const least = Math.max(...logits) + Math.log(share);
  return logits.map((logit) => (logit >= least ? logit : -Infinity));
}

function start(root) {
  const given = dataOf(root);
  const all = (part) => [...root.querySelectorAll(`.am-next-word-${part}`)];
  const controls = controlsOf(root, "Choose how the next word is drawn");
  const packed = unpack(given.logits).values;
  const size = given.words.length;
  const logits = given.beginnings.map((_, row) => [...packed.slice(row * size, (row + 1) * size)]);
  let beginning = 0;

  const temperature = () => given.temperatures[heat.value()];
  const cuts = () => [given.topKs[k.value()], given.topPs[p.value()], given.minPs[least.value()]];

  function view() {
    const [topK, topP, minP] = cuts();
    const heated = logits[beginning].map((logit) => logit / temperature());
    const chances = softmaxOf(keepMinP(keepTopP(keepTopK(heated, topK), topP), minP));
    const positive = chances.filter((chance) => chance > 0);
    const wrong = 100 * sum(chances.filter((_, at) => !given.possible[beginning][at]));
    const variety = Math.exp(-sum(positive.map((chance) => chance * Math.log(chance))));
    const order = chances.map((_, at) => at).sort((a, b) => logits[beginning][b] - logits[beginning][a]);
    return { chances, own: softmaxOf(logits[beginning]), order, readings: [positive.length, wrong, variety] };
  }

  function draw() {
    const { chances, own, order, readings } = view();
    const rest = order.slice(given.rows);
    const [bars, outlines, numbers, names] = ["bar", "own", "chance", "word"].map(all);
    all("row").forEach((row, at) => {
      const last = at === given.rows;
      const place = order[at];
      const chance = last ? sum(rest.map((other) => chances[other])) : chances[place];
      const usual = last ? sum(rest.map((other) => own[other])) : own[place];
      const wrong = !last && !given.possible[beginning][place];
      bars[at].setAttribute("width", given.unit * chance);
      outlines[at].setAttribute("width", given.unit * usual);
      showNumber(numbers[at], chance, 3);
      if (!last) names[at].textContent = given.words[place] + (wrong ? " \u2717" : "");
      row.classList.toggle("am-next-word-wrong", wrong);
      row.classList.toggle("am-next-word-cut", chance === 0);
    });
    all("reading").forEach((cell, at) => showNumber(cell, readings[at], at ? 1 : 0));
    state(`${chosen()}.`);
  }

  function chosen() {
    const [topK, topP, minP] = cuts();
    const said = [topK && `top-k ${topK}`, topP && `top-p ${topP}`, minP && `min-p ${minP}`].filter(Boolean);
    return `After ${given.beginnings[beginning]}, temperature ${temperature()}, ${said.join(", ") || "nothing cut"}`;
  }

  function speak() {
    const { chances, order, readings } = view();
    const words = readings[0] === 1 ? "1 word" : `${readings[0]} words`;
    const finding =
      `${chosen()}: ${words} left, ${readings[1].toFixed(1)} wrong words of 100 drawn, as varied as a fair ` +
      `draw from ${readings[2].toFixed(1)} words. Most probable: ${given.words[order[0]]}, ${chances[order[0]].toFixed(3)}.`;
    say(finding);
    root.querySelector("svg").setAttribute("aria-label", finding);
  }

  function change(place) {
    beginning = place;
    begun.press(place);
    draw();
    speak();
  }

  function control(name, steps, value) {
    const range = { min: 0, max: steps.length - 1, step: 1, value, show: (at) => String(steps[at] ?? "off") };
    const made = slider(name, range, draw, speak);
    controls.append(made.element);
    return made;
  }

  const begun = choice("after", given.beginnings, change);
  controls.append(begun.element);
  const usual = given.temperatures.indexOf(1);
  const heat = control("temperature", given.temperatures, usual);
  const k = control("top-k", given.topKs, given.topKs.length - 1);
  const p = control("top-p", given.topPs, given.topPs.length - 1);
  const least = control("min-p", given.minPs, given.minPs.length - 1);
  const reset = button("Reset", () => {
    heat.put(usual);
    for (const cut of [k, p, least]) cut.put(cut.input.max);
    change(0);
  });
  controls.append(reset);
  const say = announcer(root);
  const state = stateOf(root);
  change(0);
}

upgrade("next-word", start);
