/* The head viewer: choose a layer and a head, follow a token, or look at the whole matrix. */

const LINE = 28;
const QUERY = 0;
const KEY = 1;

function start(root) {
  const data = dataOf(root);
  const { shape, values } = unpack(data.weights);
  const [, heads, queries, keys] = shape;
  const tokens = [data.queries, data.keys];
  const drawing = root.querySelector(".am-head-lines");
  const picture = drawing.querySelector("svg");
  const cells = [];
  let layer = data.layer;
  let head = data.head;
  let pinned = data.query === null ? null : { side: QUERY, place: data.query };
  let pointed = null;

  const weight = (query, key) => values[((layer * heads + head) * queries + query) * keys + key];
  const same = (a, b) => a !== null && b !== null && a.side === b.side && a.place === b.place;

  /* Tokens become buttons, with room for the number that another token gives them. */
  const sides = [".am-head-queries", ".am-head-keys"].map((name, side) => {
    const box = drawing.querySelector(name);
    const title = box.querySelector(".am-head-name").textContent;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", title);
    return [...box.querySelectorAll(".am-head-token")].map((shown, place) => {
      const number = make("span", { class: "am-head-number", "aria-hidden": "true" });
      const token = make("button", { type: "button", class: "am-head-token" });
      token.append(...shown.childNodes, number);
      token.title = tokens[side][place];
      shown.replaceWith(token);
      return { token, number, here: { side, place } };
    });
  });

  /* The weights of a token: those it gives as a query, those it gets as a key. */
  function partners({ side, place }) {
    return tokens[1 - side].map((_, other) => (side === QUERY ? weight(place, other) : weight(other, place)));
  }

  const where = () => `${data.layers.length > 1 ? `${data.layerName} ${data.layers[layer]}, head` : "Head"} ${head + 1}`;

  function inWords(here) {
    const name = where();
    if (here === null && !table.hidden) return `${name}. Rows look at columns: the more ink, the larger the weight.`;
    if (here === null) return `${name}. Point at a token, tap it, or tab to it, to follow it alone.`;
    const found = partners(here).map((share, place) => ({ share, word: tokens[1 - here.side][place] }));
    const most = found.filter(({ share }) => share >= data.faint).sort((a, b) => b.share - a.share).slice(0, 3);
    const said = most.map(({ share, word }) => `${word} ${share.toFixed(2)}`).join(", ");
    const verb = here.side === QUERY ? "looks at" : "is looked at by";
    return `${name}: ${tokens[here.side][here.place]} ${verb} ${said || "nothing"}.`;
  }

  function drawLines(here) {
    picture.replaceChildren();
    for (let query = 0; query < queries; query++) {
      for (let key = 0; key < keys; key++) {
        const share = weight(query, key);
        const hidden = here !== null && here.place !== (here.side === QUERY ? query : key);
        if (share < data.faint || hidden) continue;
        const [from, to] = [query, key].map((place) => LINE * place + LINE / 2);
        picture.append(make("svg:path", {
          d: `M0 ${from}C40 ${from} 60 ${to} 100 ${to}`,
          "stroke-opacity": Math.min(1, 0.1 + 0.9 * share),
          "stroke-width": 1 + 3.5 * share,
        }));
      }
    }
  }

  function drawTokens(here) {
    const shares = here === null ? null : partners(here);
    sides.flat().forEach(({ token, number, here: own }) => {
      token.setAttribute("aria-pressed", String(same(own, pinned)));
      if (shares !== null && own.side !== here.side) {
        showNumber(number, shares[own.place]);
      } else {
        number.textContent = "";
        number.removeAttribute("data-am-value");
      }
    });
  }

  function drawMatrix() {
    cells.forEach((line, query) => line.forEach((cell, key) => {
      const share = weight(query, key);
      cell.style.setProperty("--am-weight", Math.min(1, share));
      cell.setAttribute("data-am-value", String(share));
      cell.setAttribute("aria-label", `${tokens[QUERY][query]} to ${tokens[KEY][key]}: ${share.toFixed(2)}`);
    }));
  }

  function draw() {
    const here = pointed ?? pinned;
    layerChoice?.press(layer);
    headChoice.press(head);
    drawLines(here);
    drawTokens(here);
    drawMatrix();
    picture.setAttribute("aria-label", inWords(here));
    say(inWords(here));
    state(`${where()}.`);
  }

  function point(here) {
    pointed = here;
    draw();
  }

  function matrix() {
    const top = tokens[KEY].map((word) => make("th", { scope: "col" }, word));
    const body = tokens[QUERY].map((word, query) => {
      cells[query] = tokens[KEY].map((other, key) => {
        const cell = make("button", { type: "button", class: "am-head-cell" });
        const tell = () => say(`${cell.getAttribute("aria-label")}.`);
        cell.addEventListener("focus", tell);
        cell.addEventListener("click", tell);
        cell.addEventListener("pointerenter", tell);
        return cell;
      });
      return make("tr", {}, make("th", { scope: "row" }, word), ...cells[query].map((cell) => make("td", {}, cell)));
    });
    rove(cells);
    const corner = [...root.querySelectorAll(".am-head-name")].map((name) => name.textContent).join(" \u2193 ");
    const table = make("table", { class: "am-head-matrix" });
    table.append(make("thead", {}, make("tr", {}, make("td", {}, `${corner} \u2192`), ...top)), make("tbody", {}, ...body));
    return make("div", { class: "am-head-scroll", role: "group", "aria-label": "All weights of this head" }, table);
  }

  sides.flat().forEach(({ token, here }) => {
    const isMouse = (event) => event.pointerType === "mouse";
    token.addEventListener("pointerenter", (event) => isMouse(event) && point(here));
    token.addEventListener("pointerleave", (event) => isMouse(event) && point(null));
    token.addEventListener("focus", () => token.matches(":focus-visible") && point(here));
    token.addEventListener("blur", () => point(null));
    token.addEventListener("click", () => {
      pinned = same(here, pinned) ? null : here;
      draw();
    });
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    pinned = null;
    point(null);
  });
  rove(Array.from({ length: Math.max(queries, keys) }, (_, row) => sides.map((side) => side[row]?.token)));

  const table = matrix();
  table.hidden = true;
  drawing.after(table);
  const controls = controlsOf(root, "Choose what is shown", true);
  const count = Array.from({ length: heads }, (_, place) => String(place + 1));
  let layerChoice = null;
  if (data.layers.length > 1) {
    layerChoice = choice(data.layerName, data.layers, (place) => {
      layer = place;
      draw();
    });
    controls.append(layerChoice.element);
  }
  const headChoice = choice("Head", count, (place) => {
    head = place;
    draw();
  });
  const views = choice("Show", ["lines", "matrix"], (place) => {
    views.press(place);
    drawing.hidden = place === 1;
    table.hidden = place === 0;
    draw();
  });
  views.press(0);
  controls.append(headChoice.element, views.element);
  const say = announcer(root);
  const state = stateOf(root);
  draw();
}

upgrade("head-viewer", start);
