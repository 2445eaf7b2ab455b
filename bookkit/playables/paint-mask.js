/* A mask to paint: cells allow or block, and the softmax of every row is taken again. */

/* The weights of one row over the allowed keys; a row without one is all zeros. */
function softmaxRow(scores, allowed) {
  const open = scores.filter((_, key) => allowed[key]);
  const top = Math.max(...open);
  const terms = scores.map((score, key) => (allowed[key] ? Math.exp(score - top) : 0));
  const total = terms.reduce((sum, term) => sum + term, 0);
  return terms.map((term) => (total > 0 ? term / total : 0));
}

function start(root) {
  const data = dataOf(root);
  const { shape: [queries, keys], values } = unpack(data.scores);
  const scores = Array.from({ length: queries }, (_, query) => [...values.slice(query * keys, (query + 1) * keys)]);
  const mask = Array.from({ length: queries }, () => []);
  const rows = [...root.querySelectorAll("tbody tr")];
  const sums = rows.map((row) => row.querySelector(".am-mask-sum"));
  const cells = rows.map((row) => [...row.querySelectorAll(".am-mask-cell")]);
  const buttons = cells.map((line) => line.map((cell) => {
    const made = make("button", { type: "button", class: "am-mask-button" });
    cell.replaceChildren(made);
    return made;
  }));
  const seen = root.querySelector(".am-mask-seen");
  let stroke = null;
  let puzzle = null;

  const sameAs = ({ allowed }) => mask.every((line, query) => line.every((open, key) => open === Boolean(allowed[query * keys + key])));
  const opposite = ({ allowed }) => sameAs({ allowed: allowed.map((open) => !open) });

  function nameOf() {
    const turned = data.masks.find(opposite);
    return data.masks.find(sameAs)?.name ?? (turned ? `${turned.name}, upside down` : "painted by hand");
  }

  /* Which queries see the key that they have to predict; the same words as in Python. */
  function wordsOnSeen() {
    const asked = data.answers.map((key, query) => [query, key]).filter(([, key]) => key !== null);
    const found = asked.filter(([query, key]) => mask[query][key]).map(([query]) => data.queries[query]);
    if (found.length === 0) return "No row sees the word that comes next.";
    return `${found.length} of ${asked.length} rows see the word that comes next: ${found.join(", ")}.`;
  }

  function wordsOnPuzzle() {
    const { question, begin, allowed } = data.puzzles[puzzle];
    const from = data.masks[begin].allowed;
    const changed = mask.flat().filter((open, at) => open !== Boolean(from[at])).length;
    const cells = `${changed} ${changed === 1 ? "cell" : "cells"}`;
    return `${question} ${sameAs({ allowed }) ? `Solved, with ${cells} changed.` : `So far ${cells} changed.`}`;
  }

  function draw() {
    mask.forEach((line, query) => {
      const weights = softmaxRow(scores[query], line);
      weights.forEach((weight, key) => {
        const made = buttons[query][key];
        showNumber(made, weight);
        if (!line[key]) made.textContent = "\u2013";
        made.style.setProperty("--am-weight", weight);
        made.setAttribute("aria-pressed", String(line[key]));
        made.setAttribute("aria-label", `${data.queries[query]} may look at ${data.keys[key]}: ${made.textContent}`);
        cells[query][key].classList.toggle("am-mask-blocked", !line[key]);
      });
      showNumber(sums[query], weights.reduce((sum, weight) => sum + weight, 0));
    });
    presets.press(puzzle === null ? data.masks.findIndex(sameAs) : -1);
    puzzles.press(puzzle ?? -1);
    if (seen) seen.textContent = wordsOnSeen();
    question.hidden = puzzle === null;
    question.textContent = puzzle === null ? "" : wordsOnPuzzle();
    state(`Mask: ${nameOf()}.`);
  }

  function tell(query) {
    const weights = softmaxRow(scores[query], mask[query]);
    const count = mask[query].filter((open) => open).length;
    const most = weights.indexOf(Math.max(...weights));
    const solved = puzzle !== null && sameAs(data.puzzles[puzzle]);
    const named = puzzle === null && data.masks.find(sameAs);
    const said = count === 0
      ? `${data.queries[query]} may look at nothing: all its weights are 0.`
      : `${data.queries[query]} may look at ${count} of ${keys}, most at ${data.keys[most]}: ${weights[most].toFixed(2)}.`;
    if (solved) say(`Solved. ${said}`);
    else say(named ? `${said} This mask: ${named.name}.` : said);
  }

  function paint(query, key, open) {
    mask[query][key] = open;
    draw();
    tell(query);
  }

  function fill(allowed) {
    allowed.forEach((open, at) => {
      mask[Math.floor(at / keys)][at % keys] = Boolean(open);
    });
    draw();
    const empty = data.queries.filter((_, query) => !mask[query].includes(true));
    return empty.length ? ` Nothing to look at for: ${empty.join(", ")}.` : "";
  }

  function take(place) {
    puzzle = null;
    const empty = fill(data.masks[place].allowed);
    const note = data.notes[place];
    say(`Mask: ${data.masks[place].name}.${note ? ` ${note}` : ""}${empty}`);
  }

  function turn() {
    puzzle = null;
    const empty = fill(mask.flat().map((open) => !open));
    say(`Mask: ${nameOf()}.${empty}`);
  }

  function pose(place) {
    puzzle = place;
    fill(data.masks[data.puzzles[place].begin].allowed);
    say("Paint the mask that the puzzle asks for.");
  }

  /* A press begins a stroke; it paints once it has reached another cell, else the click does. */
  buttons.forEach((line, query) => line.forEach((made, key) => {
    made.addEventListener("pointerdown", (event) => {
      if (event.isPrimary && event.button === 0) stroke = { from: made, open: !mask[query][key], drawn: false };
    });
    made.addEventListener("click", (event) => {
      const byKey = event.detail === 0;
      if (byKey || !stroke?.drawn) paint(query, key, !mask[query][key]);
      stroke = null;
    });
    made.dataset.amPlace = `${query} ${key}`;
  }));
  root.addEventListener("pointermove", (event) => {
    if (stroke === null || event.buttons === 0) return;
    const under = document.elementFromPoint(event.clientX, event.clientY)?.closest(".am-mask-button");
    if (!under || !root.contains(under) || (under === stroke.from && !stroke.drawn)) return;
    for (const made of stroke.drawn ? [under] : [stroke.from, under]) {
      const [query, key] = made.dataset.amPlace.split(" ").map(Number);
      if (mask[query][key] !== stroke.open) paint(query, key, stroke.open);
    }
    stroke.drawn = true;
  });
  root.addEventListener("pointercancel", () => {
    stroke = null;
  });

  rove(buttons);
  const controls = controlsOf(root, "Begin with a mask", true);
  const presets = choice("Mask", data.masks.map(({ name }) => name), take);
  const puzzles = choice("Puzzle", data.puzzles.map(({ name }) => name), pose);
  const question = make("p", { class: "am-mask-question", hidden: "" });
  controls.append(presets.element);
  if (data.flip) controls.append(button("turn upside down", turn));
  if (data.puzzles.length) controls.append(puzzles.element);
  const say = announcer(root);
  root.querySelector(".am-live-drawing").after(question);
  const state = stateOf(root);
  take(0);
}

upgrade("paint-mask", start);
