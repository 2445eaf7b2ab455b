/* What a model keeps of a text and computes for its next token: chosen, or read from a config.json. */

function start(root) {
  const given = dataOf(root);
  const one = (part) => root.querySelector(`.am-calculator-${part}`);
  const controls = controlsOf(root, "Choose a model, the length of the texts, their number and the precision", true);
  const names = Object.keys(given.precisions);
  const part = ([what, numbers, tokens, read, limit, itemsize, readLimit, beyond]) =>
    ({ what, numbers, tokens, read, limit, itemsize, readLimit, beyond });
  for (const { layers } of given.models) {
    for (const layer of layers) {
      layer.keeps = layer.keeps.map(part);
      layer.reads = layer.reads ? layer.reads.map(part) : layer.keeps;
    }
  }
  let model = given.models[given.shown];
  let itemsize = given.precisions.bfloat16;

  const entries = (part, whole) => {
    const length = part.beyond === null ? whole : whole % part.beyond;
    const all = part.tokens === null ? 1 : Math.floor(length / part.tokens);
    return part.limit === null ? all : Math.min(all, part.limit);
  };
  const bytes = (part) => texts() * entries(part, tokens()) * part.numbers * (part.itemsize || itemsize);
  const operations = (part) => {
    const all = part.tokens === null ? 1 : entries(part, tokens()) + (part.tokens === 1 ? 1 : 0);
    return part.read * (part.readLimit === null ? all : Math.min(all, part.readLimit));
  };
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const over = (layers, value) => sum(layers.map((layer) => layer.count * value(layer)));

  const tokens = () => given.lengths[length.value()];
  const texts = () => 2 ** batch.value();
  const kept = () => over(model.layers, (layer) => sum(layer.keeps.map(bytes)));
  const weights = () => model.outer + over(model.layers, (layer) => layer.weights);
  const reading = () => over(model.layers, (layer) => sum(layer.reads.map(operations)));

  const whole = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

  function inWords(size) {
    if (size < 1000) return `${size} bytes`;
    let unit = -1;
    do {
      size /= 1000;
      unit += 1;
    } while (size >= 999.5 && unit < 3);
    const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    return `${size.toFixed(digits)} ${["kB", "MB", "GB", "TB"][unit]}`;
  }

  function why(part) {
    const numbers = `${whole(part.numbers)} numbers`;
    const often =
      part.tokens === null ? ", however long the text is" : part.tokens === 1 ? " a token" : ` for ${part.tokens} tokens`;
    const behind = part.beyond === null ? "" : ` behind the last ${part.beyond} that are complete`;
    const most = part.limit === null ? "" : `, at most ${whole(part.limit)} times`;
    return numbers + often + behind + most + (part.itemsize ? `, ${part.itemsize} bytes each` : "");
  }

  function finding() {
    const many = texts() === 1 ? "one text" : `${texts()} texts`;
    return `Of ${many} of ${whole(tokens())} tokens, ${model.title} keeps ${inWords(kept())}.`;
  }

  function exact(cell, value) {
    cell.setAttribute("data-am-value", String(value));
    return cell;
  }

  function draw() {
    const rows = model.layers.flatMap((layer) =>
      layer.keeps.map((part) =>
        make(
          "tr",
          {},
          make("td", {}, String(layer.count)),
          make("td", {}, part.what),
          make("td", {}, why(part)),
          exact(make("td", {}, inWords(bytes(part))), bytes(part)),
          exact(make("td", {}, inWords(layer.count * bytes(part))), layer.count * bytes(part)),
        ),
      ),
    );
    one("table").tBodies[0].replaceChildren(...rows);
    exact(one("finding"), kept()).textContent = finding();
    const all = 2 * weights() + reading();
    const share = Math.round((100 * reading()) / all);
    exact(one("token"), all).textContent =
      `The next token of each text passes through ${inCounts(weights())} weights and takes ` +
      `${inCounts(all)} operations, ${share} in 100 of them to read what was kept.`;
    one("token").setAttribute("data-am-weights", String(weights()));
    state(finding());
  }

  function inCounts(number) {
    for (const [size, name] of [[1e12, "trillion"], [1e9, "billion"], [1e6, "million"]]) {
      if (number >= size) return `${(number / size).toPrecision(3)} ${name}`;
    }
    return whole(number);
  }

  const speak = () => say(finding());

  function choose(at) {
    model = given.models[at];
    draw();
    speak();
  }

  function read() {
    one("fault").textContent = "";
    try {
      // Python writes Infinity into such files, which is no JSON.
      model = readConfig(JSON.parse(text.value.replace(/-?\b(Infinity|NaN)\b/g, "null")));
    } catch (error) {
      one("fault").textContent =
        error instanceof SyntaxError ? `This is no JSON: ${error.message}.` : error.message;
      return;
    }
    draw();
    speak();
  }

  const list = select("model", given.models.map((each) => each.title), choose);
  const length = slider(
    "tokens", { min: 0, max: given.lengths.length - 1, step: 1, value: given.length, show: (at) => whole(given.lengths[at]) },
    draw, speak,
  );
  const batch = slider(
    "texts", { min: 0, max: 8, step: 1, value: Math.log2(given.batch), show: (power) => String(2 ** power) }, draw, speak,
  );
  const precision = choice("numbers in", names, (at) => {
    itemsize = given.precisions[names[at]];
    precision.press(at);
    draw();
    speak();
  });
  controls.append(list.element, length.element, batch.element, precision.element);

  const text = make("textarea", { rows: 5, spellcheck: "false", autocomplete: "off" });
  const paste = make(
    "details", { class: "am-calculator-paste" },
    make("summary", {}, "Or paste a model's config.json"),
    make("label", {}, make("span", {}, "config.json"), text),
    button("Read it", read),
    make("p", { class: "am-calculator-fault", role: "alert" }),
  );
  root.querySelector(".am-live-drawing").after(paste);
  const say = announcer(root);
  const state = stateOf(root);
  list.choose(given.shown);
  precision.press(names.indexOf("bfloat16"));
  draw();
}

upgrade("calculator", start);
