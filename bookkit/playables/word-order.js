/* A layer of self-attention whose words the reader moves; it is computed anew for every order. */

function softmaxOf(scores) {
  const highest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

/* What each word gets, and the weights with which it looks, by word and not by position. */
function lookAround({ query, key, value }, order, onlyBefore) {
  const found = { weights: [], results: [] };
  order.forEach((word, position) => {
    const seen = onlyBefore ? order.slice(0, position + 1) : order;
    const dot = (other) => query[word].reduce((sum, number, axis) => sum + number * key[other][axis], 0);
    const shares = softmaxOf(seen.map((other) => dot(other) / Math.sqrt(query[word].length)));
    const weights = order.map(() => 0);
    seen.forEach((other, at) => {
      weights[other] = shares[at];
    });
    found.weights[word] = weights;
    found.results[word] = [0, 1].map((axis) => seen.reduce((sum, other, at) => sum + shares[at] * value[other][axis], 0));
  });
  return found;
}

function start(root) {
  const given = dataOf(root);
  const { unit, head, zero } = given.plot;
  const one = (part) => root.querySelector(`.am-word-order-${part}`);
  const all = (part) => [...root.querySelectorAll(`.am-word-order-${part}`)];
  const rows = (packed) => {
    const { shape: [count, width], values } = unpack(packed);
    return Array.from({ length: count }, (_, row) => [...values.slice(row * width, (row + 1) * width)]);
  };
  const [query, key, value, vectors] = [given.query, given.key, given.value, given.vectors].map(rows);
  const ownOrder = given.words.map((_, word) => word);
  const home = lookAround({ query, key, value }, ownOrder, false).results;
  let [order, chosen, dragged, justMoved] = [ownOrder, given.chosen, null, false];

  const heads = [...root.querySelectorAll("thead th")];
  const buttons = heads.map((cell, position) => {
    const made = button("", (event) => choose(order[position], event));
    cell.replaceChildren(made);
    return made;
  });

  const at = ([x, y]) => [zero[0] + unit * x, zero[1] - unit * y];
  const signed = (number) => (Number(number.toFixed(2)) === 0 ? "0.00" : number.toFixed(2).replace("-", "\u2212"));
  const distance = (from, to) => Math.hypot(from[0] - to[0], from[1] - to[1]);

  function arrow(vector) {
    const [x, y] = at(vector);
    const long = Math.hypot(x - zero[0], y - zero[1]) || 1;
    const [along, across] = [(head * (x - zero[0])) / long, (head * (y - zero[1])) / long];
    const left = `${x - along - across / 2} ${y - across + along / 2}`;
    const right = `${x - along + across / 2} ${y - across - along / 2}`;
    return `M${zero[0]} ${zero[1]}L${x} ${y}M${left}L${x} ${y}L${right}`;
  }

  function drawPlane(results) {
    all("arrow").forEach((element, word) => element.classList.toggle("am-word-order-chosen", word === chosen));
    const [from, to, ring] = [vectors[chosen], results[chosen], home[chosen]].map(at);
    one("result").setAttribute("d", arrow(results[chosen]));
    ["x1", "y1"].forEach((name, axis) => one("way").setAttribute(name, from[axis]));
    ["x2", "y2"].forEach((name, axis) => one("way").setAttribute(name, to[axis]));
    ["cx", "cy"].forEach((name, axis) => one("home").setAttribute(name, ring[axis]));
  }

  function draw() {
    const { weights, results } = lookAround({ query, key, value }, order, before.input.checked);
    drawPlane(results);
    const parts = { weight: all("weight"), x: all("x"), y: all("y"), change: all("change"), bar: all("bar") };
    order.forEach((word, position) => {
      buttons[position].textContent = given.words[word];
      buttons[position].setAttribute("aria-pressed", String(word === chosen));
      heads[position].classList.toggle("am-word-order-chosen", word === chosen);
      showNumber(parts.weight[position], weights[chosen][word]);
      parts.bar[position].style.setProperty("--am-weight", weights[chosen][word]);
      showNumber(parts.x[position], results[word][0]);
      showNumber(parts.y[position], results[word][1]);
      showNumber(parts.change[position], distance(results[word], home[word]));
      parts.change[position].toggleAttribute("data-am-changed", distance(results[word], home[word]) >= 0.005);
    });
    left.setAttribute("aria-disabled", String(order[0] === chosen));
    right.setAttribute("aria-disabled", String(order[order.length - 1] === chosen));
    state(`${setting()} The word that looks: ${given.words[chosen]}.`);
  }

  function setting() {
    const said = order.map((word) => given.words[word]).join(" ");
    return `Order: ${said}. Every word sees ${before.input.checked ? "itself and the words before it" : "all words"}.`;
  }

  function speak() {
    const { weights, results } = lookAround({ query, key, value }, order, before.input.checked);
    const looks = order.map((word) => `${given.words[word]} ${weights[chosen][word].toFixed(2)}`).join(", ");
    const [x, y] = results[chosen].map(signed);
    const changes = results.map((result, word) => distance(result, home[word]));
    const finding =
      `${setting()} From ${given.words[chosen]}: ${looks}. Its result is (${x}, ${y}), changed by ` +
      `${signed(changes[chosen])}. The largest change of any word is ${signed(Math.max(...changes))}.`;
    say(finding);
    root.querySelector("svg").setAttribute("aria-label", finding);
  }

  function show(newOrder, newChosen) {
    [order, chosen] = [newOrder, newChosen];
    draw();
    speak();
  }

  /* The click that ends a drag chooses nothing; one from the keyboard has no detail. */
  function choose(word, event) {
    if (!(justMoved && event.detail)) show(order, word);
    justMoved = false;
  }

  function moved(word, position) {
    const others = order.filter((other) => other !== word);
    return [...others.slice(0, position), word, ...others.slice(position)];
  }

  function step(by) {
    const position = order.indexOf(chosen) + by;
    if (position >= 0 && position < order.length) show(moved(chosen, position), chosen);
  }

  function drag(event) {
    if (!dragged) return;
    const position = heads.findIndex((cell) => {
      const box = cell.getBoundingClientRect();
      return box.left <= event.clientX && event.clientX < box.right;
    });
    if (position < 0 || order[position] === dragged.word) return;
    dragged.moved = true;
    [order, chosen] = [moved(dragged.word, position), dragged.word];
    draw();
  }

  function release(clicks) {
    if (dragged?.moved) speak();
    [dragged, justMoved] = [null, clicks && Boolean(dragged?.moved)];
  }

  buttons.forEach((made, position) => {
    made.addEventListener("pointerdown", (event) => {
      [dragged, justMoved] = [{ word: order[position], moved: false }, false];
      made.setPointerCapture(event.pointerId);
    });
    made.addEventListener("pointermove", drag);
    made.addEventListener("pointerup", () => release(true));
    made.addEventListener("pointercancel", () => release(false));
  });

  const controls = controlsOf(root, "Put the words in another order");
  const left = button("Move left", () => step(-1));
  const right = button("Move right", () => step(1));
  const turn = button("Turn round", () => show([...order].reverse(), chosen));
  const before = tick("look only back", false, () => show(order, chosen));
  const reset = button("Reset", () => {
    before.input.checked = false;
    show(ownOrder, given.chosen);
  });
  controls.append(left, right, turn, before.element, reset);
  const say = announcer(root);
  const state = stateOf(root);
  show(order, chosen);
}

upgrade("word-order", start);
