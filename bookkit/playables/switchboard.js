/* A layer of attention in heads, in which one mistake at a time is switched on, and its checks. */

/* Matrices are lists of rows. Where shapes do not meet, there is an error, as in NumPy. */
function times(one, other) {
  if (one.some((row) => row.length !== other.length)) throw new RangeError("shapes do not meet");
  return one.map((row) => other[0].map((_, at) => row.reduce((sum, number, i) => sum + number * other[i][at], 0)));
}

const flip = (rows) => rows[0].map((_, at) => rows.map((row) => row[at]));

/* Cut a flat list into rows of a width. */
function rowsOf(flat, width) {
  const count = Math.round(flat.length / width);
  return Array.from({ length: count }, (_, row) => flat.slice(row * width, (row + 1) * width));
}

/* A softmax over the keys of each row that are allowed; a row without any is all zeros. */
function softmax(scores, allowed) {
  return scores.map((row, i) => {
    const open = row.filter((_, j) => allowed[i][j]);
    const highest = Math.max(...open);
    const total = open.reduce((sum, score) => sum + Math.exp(score - highest), 0);
    return row.map((score, j) => (allowed[i][j] ? Math.exp(score - highest) / total : 0));
  });
}

const maskOf = (q, k, offset) =>
  Array.from({ length: q }, (_, i) => Array.from({ length: k }, (__, j) => j <= i + offset));

function scoresOf(query, key, mistake) {
  const [asks, answers] = mistake === "query and key swapped" ? [key, query] : [query, key];
  const scale = mistake === "no scale" ? 1 : 1 / Math.sqrt(query[0].length);
  return times(asks, flip(answers)).map((row) => row.map((score) => score * scale));
}

function weigh(query, key, mistake, causal) {
  const scores = scoresOf(query, key, mistake);
  const [q, k] = [scores.length, scores[0].length];
  const shift = { "one word too many": 1, "one word too few": -1 }[mistake] || 0;
  const corner = mistake === "first-key corner" ? 0 : k - q + shift;
  const allowed = maskOf(q, k, causal ? corner : k);
  const every = maskOf(q, k, k);
  switch (mistake) {
    case "no mask":
      return softmax(scores, every);
    case "mask upside down":
      return softmax(scores, causal ? allowed.map((row) => row.map((open) => !open)) : allowed);
    case "1e-9 for -1e9":
      return softmax(scores.map((row, i) => row.map((score, j) => (allowed[i][j] ? score : 1e-9))), every);
    case "masked too late":
      return softmax(scores, every).map((row, i) => row.map((weight, j) => (allowed[i][j] ? weight : 0)));
    case "softmax over queries":
      return flip(softmax(flip(scores), flip(allowed)));
    default:
      return softmax(scores, allowed);
  }
}

function cut(rows, heads, byView) {
  const width = rows[0].length / heads;
  if (byView) return rowsOf(rows.flat(), width).reduce((all, row, at) => {
    all[Math.floor(at / rows.length)].push(row);
    return all;
  }, Array.from({ length: heads }, () => []));
  return Array.from({ length: heads }, (_, head) => rows.map((row) => row.slice(head * width, (head + 1) * width)));
}

function join(parts, byView) {
  const width = parts.length * parts[0][0].length;
  if (byView) return rowsOf(parts.flat(2), width);
  return parts[0].map((_, at) => parts.flatMap((part) => part[at]));
}

/* Return {maps, output}; without `last`, all words ask. */
function runLayer({ weights, heads }, mistake, x, { causal = true, last = x.length } = {}) {
  const views = mistake === "heads by a view";
  const [query, key, value] = [x.slice(-last), x, x].map((rows, at) =>
    cut(times(rows, weights[["query", "key", "value"][at]]), heads, views));
  const maps = query.map((part, head) => weigh(part, key[head], mistake, causal));
  const parts = maps.map((map, head) => times(map, value[head]));
  const output = times(join(parts, views || mistake === "joined by a view"), weights.output);
  return { maps, output };
}

/* The largest difference of two matrices; infinite if their shapes are not the same. */
function apart(one, other) {
  if (one.length !== other.length || one[0].length !== other[0].length) return Infinity;
  return Math.max(0, ...one.flatMap((row, i) => row.map((number, j) => Math.abs(number - other[i][j]))));
}

const turn = (rows) => [...rows.slice(1), rows[0]];

/* By how much the layer fails each check, in the order of the table. */
function differencesOf(given, mistake) {
  const { x, other, wanted } = given;
  const run = (rows, options) => runLayer(given, mistake, rows, options).output;
  const { maps, output } = runLayer(given, mistake, x);
  const sums = maps.flat().map((row) => row.reduce((sum, weight) => sum + weight, 0));
  const later = run([...x.slice(0, -1), other]);
  const cached = () => {
    try {
      return apart(run(x, { last: 2 }), output.slice(-2));
    } catch (error) {
      if (error instanceof RangeError) return Infinity;
      throw error;
    }
  };
  return {
    shape: output.length === x.length && output[0].length === x[0].length ? 0 : Infinity,
    rows: Math.max(...sums.map((sum) => Math.abs(sum - 1))),
    future: apart(later.slice(0, -1), output.slice(0, -1)),
    order: apart(run(turn(x), { causal: false }), turn(run(x, { causal: false }))),
    cache: cached(),
    loops: apart(output, wanted),
  };
}

function start(root) {
  const given = dataOf(root);
  const all = (part) => [...root.querySelectorAll(`.am-switchboard-${part}`)];
  const [cells, sums, outputs, offs] = ["weight", "sum-of", "output-of", "off-of"].map(all);
  const checks = all("check").map((line) => ({
    line, shown: line.querySelector("[data-am-value]"), verdict: line.querySelector(".am-switchboard-verdict"),
  }));
  const right = runLayer(given, "", given.x).maps.flat(2);
  let on = -1;

  function drawMaps(maps) {
    maps.flat(2).forEach((weight, at) => {
      const cell = cells[at].parentElement;
      cell.style.setProperty("--am-weight", Math.min(1, weight));
      cell.toggleAttribute("data-am-changed", Math.abs(weight - right[at]) > given.near);
      showNumber(cells[at], weight);
    });
    maps.flat().forEach((row, at) => {
      const sum = row.reduce((total, weight) => total + weight, 0);
      showNumber(sums[at], sum);
      sums[at].parentElement.toggleAttribute("data-am-wrong", Math.abs(sum - 1) > given.near);
    });
  }

  function drawOutputs(output) {
    output.flat().forEach((number, at) => showNumber(outputs[at], number));
    output.forEach((row, at) => {
      const off = apart([row], [given.wanted[at]]);
      showNumber(offs[at], off);
      offs[at].parentElement.toggleAttribute("data-am-wrong", off > given.near);
    });
  }

  function drawChecks(differences) {
    checks.forEach(({ line, shown, verdict }, at) => {
      const size = differences[given.checks[at]];
      const finds = size > given.near;
      if (Number.isFinite(size)) showNumber(shown, size);
      else {
        shown.textContent = "error";
        shown.setAttribute("data-am-value", "Infinity");
      }
      verdict.textContent = finds ? "finds it" : "passes";
      line.toggleAttribute("data-am-finds", finds);
    });
  }

  function sentence(differences) {
    if (on < 0) return "No mistake is switched on, and every check passes.";
    const [name, does] = given.switches[on];
    const found = given.checks.filter((check) => differences[check] > given.near);
    const count = found.length === 1 ? "One check finds" : `${found.length} checks find`;
    return `${name[0].toUpperCase()}${name.slice(1)}. ${does} ${count} it: ${found.join(", ")}.`;
  }

  function show(place) {
    on = place === on ? -1 : place;
    const mistake = on < 0 ? "" : given.switches[on][0];
    const { maps, output } = runLayer(given, mistake, given.x);
    const differences = differencesOf(given, mistake);
    switches.press(on);
    drawMaps(maps);
    drawOutputs(output);
    drawChecks(differences);
    const said = sentence(differences);
    state(said);
    say(said);
  }

  const controls = controlsOf(root, "Switch a mistake on", true);
  const switches = choice("Switch on:", given.switches.map(([name]) => name), show);
  controls.append(switches.element);
  const say = announcer(root);
  const state = stateOf(root);
  controls.after(root.querySelector(".am-live-say"));
  show(-1);
}

upgrade("switchboard", start);
