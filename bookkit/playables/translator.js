/* The translator in the page. Until the reader asks for more, it shows one sentence that Python
   translated, and fetches nothing. After a click it translates what the reader types. seq2seq.js
   computes the translation, and sentence.js draws it. */

/* Milliseconds between two words; words offered while the reader types; words a sentence may have. */
const [PAUSE, OFFERED, LONGEST] = [400, 8, 40];

const SAID = { with: "With attention", without: "Without attention" };

/* How often each word follows another one in sentences: followers.get("the").get("house"). */
function countFollowers(sentences) {
  const followers = new Map();
  for (const { words } of sentences) {
    ["", ...words].slice(0, -1).forEach((before, place) => {
      const counts = followers.get(before) ?? new Map();
      counts.set(words[place], (counts.get(words[place]) ?? 0) + 1);
      followers.set(before, counts);
    });
  }
  return followers;
}

/* Words that may come next in a text: those that begin as its last word does, likely ones first. */
function candidates(text, known, followers) {
  const words = wordsOf(text);
  const begun = /\S$/.test(text) ? words.pop() : "";
  const counts = followers.get(words.pop() ?? "") ?? new Map();
  const fitting = begun ? known.filter((word) => word.startsWith(begun) && word !== begun) : [...counts.keys()];
  const often = (word) => counts.get(word) ?? 0;
  return fitting.sort((one, other) => often(other) - often(one) || (one < other ? -1 : 1)).slice(0, OFFERED);
}

function wordsOf(text) {
  return text.toLowerCase().split(/[^\p{L}]+/u).filter((word) => word);
}

function kilobytes(...files) {
  return `${Math.round(files.reduce((sum, { bytes }) => sum + bytes, 0) / 1000)} KB`;
}

/* The bytes of a file: from the output itself, or from the site that the page is part of. */
async function bytesOf({ address, base64 }) {
  if (base64) return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer;
  const answer = await fetch(`${document.documentElement.dataset.content_root}_static/${address}`);
  if (!answer.ok) throw new Error(`the site answers ${answer.status}`);
  return answer.arrayBuffer();
}

function readSentences(buffer) {
  const lines = new TextDecoder().decode(buffer).trim().split("\n");
  return lines.map((line) => {
    const [words, right] = line.split("\t").map((part) => part.split(" "));
    return { words, right };
  });
}

/* A table of how many sentences of each length both translators get right. Returns {element, hide,
   count}; count(models, sentences, options) goes one sentence at a time, so that the page can go on,
   and gives the result in words, or null if it was hidden meanwhile. */
function tally(bands) {
  const names = Object.keys(SAID);
  const heads = ["English words", ...Object.values(SAID)].map((name) => make("th", { scope: "col" }, name));
  const body = make("tbody");
  const element = make("table", { class: "am-translator-counts" }, make("thead", {}, make("tr", {}, ...heads)), body);
  element.hidden = true;
  let turn = 0;

  function show(cell, good, of) {
    const bar = make("span", { class: "am-translator-share" });
    bar.style.setProperty("--am-share", good / of);
    cell.replaceChildren(bar, `${good} of ${of}`);
    cell.setAttribute("data-am-value", String(good));
  }

  function hide() {
    turn += 1;
    element.hidden = true;
  }

  async function count(models, sentences, options) {
    hide();
    const mine = turn;
    const told = [];
    body.replaceChildren();
    element.hidden = false;
    for (const [low, high] of bands) {
      const cells = names.map(() => make("td"));
      body.append(make("tr", {}, make("th", { scope: "row" }, `${low} to ${high}`), ...cells));
      const good = names.map(() => 0);
      const fitting = sentences.filter(({ words }) => low <= words.length && words.length <= high);
      for (const [place, { words, right }] of fitting.entries()) {
        names.forEach((name, at) => {
          const { written } = translate(models[name], words, options);
          good[at] += sameWords(written, right);
          show(cells[at], good[at], place + 1);
        });
        await new Promise((go) => setTimeout(go));
        if (mine !== turn) return null;
      }
      told.push(`${low} to ${high} words, ${cells.map((cell) => cell.textContent).join(" and ")}`);
    }
    return `Right with attention and without: ${told.join("; ")}.`;
  }

  return { element, hide, count };
}

function start(root) {
  const { words, written, rows, right, gloss: few, bands, files } = dataOf(root);
  const drawing = root.querySelector(".am-live-drawing");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const here = files.with.base64 || document.documentElement.dataset.content_root !== undefined;
  const models = {};
  let gloss = few;
  let sentences = [];
  let followers = new Map();
  let now = { words, written, rows, right, plain: null };
  let timer = 0;

  /* Drawing */

  function draw() {
    const shown = steps.value();
    const scroll = make("div", { class: "am-translator-scroll am-translator-drawn" });
    const lines = [lineOf(SAID.with, now.written, shown, gloss, now.right)];
    if (now.plain) lines.push(lineOf(SAID.without, now.plain, shown >= now.written.length ? Infinity : shown, gloss, now.right));
    const isWrong = (spoken) => now.right && spoken && !sameWords(spoken, now.right);
    if (shown >= now.written.length && (isWrong(now.written) || isWrong(now.plain))) {
      lines.push(lineOf("The right translation", now.right, Infinity, gloss, null));
    }
    drawing.replaceChildren(scroll, ...lines);
    scroll.append(ribbons(now, shown, drawing.clientWidth - 6));
    if (scroll.scrollWidth > scroll.clientWidth) {
      for (const [name, value] of Object.entries({ tabindex: 0, role: "group", "aria-label": "The ribbons, wider than the page" })) {
        scroll.setAttribute(name, value);
      }
    }
    if (shown > 0) scroll.scrollLeft = (scroll.scrollWidth - scroll.clientWidth) * ((shown - 1) / Math.max(1, now.written.length - 1));
    state(`${now.words.join(" ")} \u2192 ${now.written.join(" ")}.`);
  }

  function tell() {
    const shown = steps.value();
    if (shown === 0) say("Nothing is written yet.");
    else if (shown < now.written.length) {
      const row = now.rows[shown - 1];
      const most = Math.max(...row);
      say(`${now.written[shown - 1]} looks most at ${now.words[row.indexOf(most)]}, ${most.toFixed(2)}.`);
    } else {
      const judged = (spoken) => (now.right ? `, which is ${sameWords(spoken, now.right) ? "right" : "wrong"}` : "");
      const plain = now.plain ? ` ${SAID.without}: ${now.plain.join(" ") || "nothing"}${judged(now.plain)}.` : "";
      say(`${SAID.with}: ${now.written.join(" ") || "nothing"}${judged(now.written)}.${plain}`);
    }
  }

  function show(count) {
    clearTimeout(timer);
    steps.put(count);
    draw();
  }

  function grow() {
    const next = () => {
      show(steps.value() + 1);
      if (steps.value() < now.written.length) timer = setTimeout(next, PAUSE);
      else tell();
    };
    steps.put(0);
    next();
  }

  /* Translating */

  const change = (row) => [(same) => same, cutLargest, swapLargest][kind](row, extent.value() / 100);
  const options = { change, longest: LONGEST };

  function run() {
    clearTimeout(timer);
    const { words: said, right: wanted } = now;
    const plain = compare.input.checked && models.without ? translate(models.without, said, options).written : null;
    now = { words: said, right: wanted, plain, ...translate(models.with, said, options) };
    steps.input.max = now.written.length;
    show(now.written.length);
  }

  /* Translate the same sentence again: what was counted before does not hold any more. */
  function rerun() {
    counts.hide();
    run();
  }

  function take(said) {
    const unknown = said.filter((word) => !models.with.ids.has(word));
    typed.setAttribute("aria-invalid", String(unknown.length > 0));
    if (said.length === 0) say("Type an English sentence, or take a random one.");
    else if (said.length > LONGEST) say(`This sentence has ${said.length} words; ${LONGEST} are the most.`);
    else if (unknown.length > 0) {
      say(`The translator knows ${models.with.ids.size} English words, and not ${unknown.map((word) => `\u201c${word}\u201d`).join(", ")}.`);
    } else {
      const known = [{ words, right }, ...sentences].find((one) => sameWords(one.words, said));
      now = { ...now, words: said, right: known ? known.right : null };
      run();
      if (still.matches) tell();
      else grow();
    }
  }

  function random() {
    const away = ({ words: one }) => Math.abs(one.length - length.value());
    const nearest = Math.min(...sentences.map(away));
    const fitting = sentences.filter((one) => away(one) === nearest);
    const others = fitting.filter((one) => one.words !== now.words);
    const from = others.length > 0 ? others : fitting;
    const chosen = from[Math.floor(Math.random() * from.length)];
    typed.value = chosen.words.join(" ");
    offer();
    take(chosen.words);
  }

  /* Offer words while the reader types. */
  function offer() {
    const known = [...models.with.ids.keys()];
    const chips = candidates(typed.value, known, followers).map((word) => button(word, (event) => {
      const begun = /\S$/.test(typed.value) ? typed.value.replace(/\S+$/, "") : typed.value;
      typed.value = `${begun}${word} `;
      offer();
      if (event.detail === 0) typed.focus();
    }));
    offers.replaceChildren(...chips);
    if (chips.length > 0) rove([chips]);
  }

  /* Fetching */

  async function load(event) {
    if (loader.hasAttribute("aria-disabled")) return;
    const byKey = event.detail === 0;
    loader.setAttribute("aria-disabled", "true");
    say(`Fetching ${kilobytes(files.with, files.sentences)}.`);
    try {
      const [model, told] = await Promise.all([bytesOf(files.with), bytesOf(files.sentences)]);
      models.with = readTranslator(model);
      sentences = readSentences(told);
    } catch (fault) {
      loader.removeAttribute("aria-disabled");
      say(`The translator could not be fetched: ${fault.message}. A page that was opened from a folder, and not from a site, cannot load anything.`);
      return;
    }
    gloss = Object.fromEntries(models.with.gloss.map((meaning, place) => [models.with.target[SPECIAL.length + place], meaning]));
    followers = countFollowers(sentences);
    typed.value = words.join(" ");
    counter.textContent = `Translate all ${sentences.length} sentences with both`;
    loader.hidden = true;
    for (const box of [choosing, changing, comparing]) box.hidden = false;
    offer();
    say("The translator is here. Type an English sentence, or take a random one.");
    if (byKey) typed.focus();
  }

  async function loadPlain() {
    if (compare.input.checked && !models.without) {
      say(`Fetching ${kilobytes(files.without)}.`);
      try {
        models.without = readTranslator(await bytesOf(files.without));
      } catch (fault) {
        compare.input.checked = false;
        say(`The other translator could not be fetched: ${fault.message}.`);
        return;
      }
    }
    counter.hidden = !compare.input.checked;
    rerun();
    tell();
  }

  /* Controls: in the order of the page, each box comes before those that are made before it. */

  const comparing = controlsOf(root, "Compare");
  const changing = controlsOf(root, "Change the weights of the attention");
  const choosing = controlsOf(root, "Choose a sentence");
  const writing = controlsOf(root, "Write the translation");

  const steps = slider("Words written", { min: 0, max: written.length, step: 1, value: written.length }, () => show(steps.value()), tell);
  const loader = button(`Load the translator (${kilobytes(files.with, files.sentences)}) and type your own`, load);
  const elsewhere = make("p", {}, "To type your own sentences in a notebook: live_translator(embedded=True).");
  writing.append(steps.element, here ? loader : elsewhere);

  const typed = make("input", {
    type: "text", lang: "en", autocomplete: "off", autocapitalize: "none", spellcheck: "false", enterkeyhint: "go",
  });
  const form = make("form", {},
    make("label", { class: "am-translator-typed" }, make("span", {}, "English sentence"), typed),
    make("button", { type: "submit", class: "am-live-button" }, "Translate"));
  const offers = make("div", { class: "am-translator-words", role: "group", "aria-label": "Words that may come next" });
  const length = slider("Its length", { min: bands[0][0], max: bands[bands.length - 1][1], step: 1, value: words.length, show: (size) => `${size} words` }, () => {});
  choosing.append(form, offers, button("Random sentence", random), length.element);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    take(wordsOf(typed.value));
  });
  typed.addEventListener("input", offer);
  typed.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" || !offers.firstChild) return;
    event.preventDefault();
    offers.firstChild.focus();
  });
  offers.addEventListener("keydown", (event) => {
    if (event.key === "Escape") typed.focus();
  });

  let kind = 0;
  const kinds = choice("Weights", ["as learned", "cut the largest", "swap the two largest"], (chosen) => {
    kind = chosen;
    kinds.press(chosen);
    extent.input.disabled = chosen === 0;
    rerun();
    tell();
  });
  const extent = slider("How far", { min: 0, max: 100, step: 5, value: 100, show: (share) => `${share} %` }, rerun, tell);
  kinds.press(0);
  extent.input.disabled = true;
  changing.append(kinds.element, extent.element);

  const compare = tick(`Compare with the translator without attention (${kilobytes(files.without)} more)`, false, loadPlain);
  const counter = button("", async () => {
    const told = await counts.count(models, sentences, options);
    if (told) say(told);
  });
  const counts = tally(bands);
  counter.hidden = true;
  comparing.append(compare.element, counter, counts.element);

  const say = announcer(root);
  const state = stateOf(root);
  for (const box of [choosing, changing, comparing]) box.hidden = true;
}

upgrade("translator", start);
