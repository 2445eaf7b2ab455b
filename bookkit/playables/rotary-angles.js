/* Rotary positions: two sliders turn a query and a key, pair by pair. */

/* Turn (a, b) by an angle. */
function turn([a, b], angle) {
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  return [a * cosine - b * sine, b * cosine + a * sine];
}

function start(root) {
  const data = dataOf(root);
  const [query, key, frequencies] = [data.query, data.key, data.frequencies].map((one) => [...unpack(one).values]);
  const part = (name) => root.querySelector(`.am-rotary-${name}`);
  const scale = Number(part("dials").dataset.amScale);
  const dials = [...root.querySelectorAll(".am-rotary-dial")];
  const points = root.querySelector("polyline").getAttribute("points").split(" ");
  const half = frequencies.length;
  let gap = data.positions[1] - data.positions[0];

  function drawHand(dial, kind, [x, y]) {
    const hand = dial.querySelector(`.am-rotary-${kind}`);
    const [line, end] = [hand.querySelector("line"), hand.querySelector("circle")];
    const [across, down] = [scale * x, -scale * y];
    line.setAttribute("x2", across);
    line.setAttribute("y2", down);
    end.setAttribute("cx", across);
    end.setAttribute("cy", down);
    hand.setAttribute("data-am-value", `${x} ${y}`);
  }

  function draw() {
    const [i, j] = sliders.map((one) => one.value());
    let score = 0;
    dials.forEach((dial, pair) => {
      const asks = turn([query[pair], query[pair + half]], i * frequencies[pair]);
      const given = turn([key[pair], key[pair + half]], j * frequencies[pair]);
      const share = (asks[0] * given[0] + asks[1] * given[1]) / Math.sqrt(2 * half);
      score += share;
      drawHand(dial, "query", asks);
      drawHand(dial, "key", given);
      showNumber(dial.querySelector(".am-rotary-part"), share);
    });
    showNumber(part("i"), i, 0);
    showNumber(part("j"), j, 0);
    showNumber(part("distance"), j - i, 0);
    showNumber(part("sum"), score);
    const [x, y] = points[data.longest + j - i].split(",");
    part("here").setAttribute("cx", x);
    part("here").setAttribute("cy", y);
  }

  function tell() {
    say(`Distance ${part("distance").textContent}, score ${part("sum").textContent}.`);
  }

  /* Move one slider; the other one follows at the same distance, if both are to move together. */
  function moved(first) {
    if (both.input.checked) {
      const sign = first === 0 ? 1 : -1;
      const wanted = sliders[first].value();
      const other = Math.min(Math.max(wanted + sign * gap, 0), data.longest);
      sliders[first].put(other - sign * gap);
      sliders[1 - first].put(other);
    } else {
      gap = sliders[1].value() - sliders[0].value();
    }
    draw();
  }

  const controls = controlsOf(root, "Move the query and the key");
  const sliders = ["Query at position i", "Key at position j"].map((name, which) => {
    const range = { min: 0, max: data.longest, step: 1, value: data.positions[which] };
    return slider(name, range, () => moved(which), tell);
  });
  const both = tick("Move both together", false, tell);
  const reset = button("Reset", () => {
    both.input.checked = false;
    sliders.forEach((one, which) => one.put(data.positions[which]));
    moved(0);
    tell();
  });
  controls.append(...sliders.map(({ element }) => element), both.element, reset);
  const say = announcer(root);
  draw();
  tell();
}

upgrade("rotary-angles", start);
