/* A map of attention that can be moved up by one row, and the right words marked on it. */

function start(root) {
  const { weights, links, wrong, sentences } = dataOf(root);
  const lines = [...root.querySelectorAll("tbody tr")].map((line) => [...line.querySelectorAll("td")]);
  const isRight = (row, column) => links.some(([query, key]) => query === row && key === column);
  let moved = 0;

  function draw() {
    moves.press(moved);
    lines.forEach((line, row) => line.forEach((cell, column) => {
      const weight = weights[row + moved][column];
      const ink = cell.querySelector(".am-shifted-ink");
      ink.style.setProperty("--am-weight", Math.min(1, weight));
      showNumber(ink.querySelector(".am-live-unseen"), weight);
    }));
    state(sentence());
  }

  function sentence() {
    const largest = lines.map((_, row) => weights[row + moved]).map((line) => line.indexOf(Math.max(...line)));
    const hits = largest.filter((column, row) => isRight(row, column)).length;
    const where = moved ? "Moved up by one row" : "As it is";
    return (
      `${where}: the largest weight is right in ${hits} of ${lines.length} rows. ` +
      `Over ${sentences} sentences, ${wrong[moved].toFixed(0)} of 100 links are wrong.`
    );
  }

  function move(rows) {
    moved = rows;
    draw();
    say(sentence());
  }

  const controls = controlsOf(root, "Move the map, and mark the right words", true);
  const moves = choice("The map", ["as it is", "one row up"], move);
  const marks = tick("Mark the right words", false, () => root.toggleAttribute("data-am-marked", marks.input.checked));
  controls.append(moves.element, marks.element);
  const say = announcer(root);
  const state = stateOf(root);
  move(0);
}

upgrade("shifted-map", start);
