/* A story that the reader finishes with a small language model, which story-model.js computes. */

/* Milliseconds between two words that the model writes by itself. */
const PAUSE = 250;

function start(root) {
  const data = dataOf(root);
  const { words, beginnings, shown, longest, end } = data;
  const model = readModel(data);
  const idOf = new Map(words.map((word, id) => [word, id]));
  const [begin, finish] = ["<bos>", "<eos>"].map((word) => idOf.get(word));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const given = root.querySelector(".am-finisher-given");
  const added = root.querySelector(".am-finisher-added");
  const list = root.querySelector(".am-finisher-next");
  let chosen = 0;
  let written = [];
  let chances = [];
  let timer = 0;

  const first = () => beginnings[chosen].split(" ").map((word) => idOf.get(word));
  const name = (id) => (id === finish ? end : words[id]);
  const ended = () => written[written.length - 1] === finish;
  const full = () => ended() || first().length + written.length >= longest;
  const ranked = () => chances.map((_, id) => id).sort((one, other) => chances[other] - chances[one]);

  function row(id) {
    const number = make("span", { class: "am-finisher-chance" });
    showNumber(number, chances[id]);
    const word = button(name(id), () => write(id, true), { class: "am-live-button am-finisher-word" });
    const bar = make("svg:svg", { class: "am-finisher-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    bar.append(make("svg:rect", { width: 100 * chances[id], height: 10 }));
    return make("li", {}, word, bar, number);
  }

  function draw() {
    given.textContent = beginnings[chosen];
    added.textContent = written.map(name).join(" ");
    if (full()) chances = [];
    else chances = chancesAfter(model, [begin, ...first(), ...written]);
    const rows = chances.length ? ranked().slice(0, shown).map(row) : [];
    list.replaceChildren(...rows);
    if (rows.length) rove(rows.map((line) => [line.querySelector("button")]));
    for (const one of [likeliest, drawn, rest]) one.disabled = full();
    back.disabled = written.length === 0;
  }

  function tell() {
    if (ended()) say("The story has ended.");
    else if (full()) say("The story is as long as it may get.");
    else {
      const best = ranked()[0];
      say(`After \u201c${written.length ? name(written[written.length - 1]) : beginnings[chosen].split(" ").pop()}\u201d the model expects \u201c${name(best)}\u201d most, with a chance of ${chances[best].toFixed(2)}.`);
    }
  }

  function write(id, byHand = false) {
    stop();
    written.push(id);
    draw();
    tell();
    if (byHand && list.firstChild) list.querySelector("button").focus();
  }

  /* Draw a word by the chances: a random number falls into the share of one of them. */
  function pick() {
    let left = Math.random();
    const found = chances.findIndex((chance) => {
      left -= chance;
      return left < 0;
    });
    return found < 0 ? ranked()[0] : found;
  }

  function stop() {
    clearTimeout(timer);
  }

  function finishIt() {
    stop();
    const next = () => {
      written.push(pick());
      draw();
      if (full()) tell();
      else if (still.matches) next();
      else timer = setTimeout(next, PAUSE);
    };
    next();
  }

  function restart(place) {
    stop();
    chosen = place;
    written = [];
    draw();
    tell();
  }

  const controls = controlsOf(root, "Continue the story", false);
  const opening = controlsOf(root, "Choose a beginning", true);
  const begins = select("Beginning", beginnings.map((words) => (words.length > 40 ? `\u2026 ${words.slice(-36).replace(/^\S* /, "")}` : words)), restart);
  opening.append(begins.element);
  const likeliest = button("take the likeliest", () => write(ranked()[0]));
  const drawn = button("draw a word", () => write(pick()));
  const rest = button("finish the story", finishIt);
  const back = button("one word back", () => {
    stop();
    written.pop();
    draw();
    tell();
  });
  controls.append(likeliest, drawn, rest, back, button("start again", () => restart(chosen)));
  const say = announcer(root);
  draw();
  for (let step = 0; step < data.written; step += 1) {
    written.push(ranked()[0]);
    draw();
  }
}

upgrade("story-finisher", start);
