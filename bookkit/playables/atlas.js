/* The atlas: lets the reader choose and order architectures, and opens each into its drawing. */

const SHAPES = {
  r: ["rect", "x", "y", "width", "height", "rx"],
  c: ["circle", "cx", "cy", "r"],
  l: ["line", "x1", "y1", "x2", "y2"],
  p: ["path", "d"],
  d: ["path", "d", "stroke-width", "stroke-dasharray"],
  t: ["text", "x", "y"],
};
const STRIPES = {
  f: ["full", 1],
  i: ["indexed", 1],
  l: ["latent", 0.8],
  w: ["window", 0.55],
  s: ["state", 0.3],
  c: ["short", 0.15],
  n: ["none", 0.05],
};
const ORDERS = ["year", "name", "bytes kept, most first", "bytes kept, least first"];

/* The paths of a strip, a bar for every layer; any other shape as it is. */
function expanded([letter, look, ...rest]) {
  if (letter !== "s") return [[letter, look, ...rest]];
  const [x, y, width, height, layers] = rest;
  const step = height / layers.length;
  const thick = Math.max(1, step - Math.min(2, step / 3));
  return [...new Set(layers)].map((kind) => {
    const [reach, part] = STRIPES[kind];
    const bars = [...layers].map((layer, place) => {
      return layer === kind ? `M${x} ${y + height - (place + 0.5) * step}h${width * part}` : "";
    });
    return ["d", `${look} ${reach}`, bars.join(""), thick, "none"];
  });
}

/* Draw what bookkit/atlas/shapes.py has packed. */
function drawn({ size, shapes, alt }) {
  const svg = make("svg:svg", {
    viewBox: `0 0 ${size[0]} ${size[1]}`,
    role: "img",
    "aria-label": alt,
    class: "am-atlas-drawing",
  });
  for (const [letter, look, ...rest] of shapes.flatMap(expanded)) {
    const [tag, ...names] = SHAPES[letter];
    const classes = look.split(" ").map((word) => "am-atlas-" + word).join(" ");
    const part = make(`svg:${tag}`, { class: classes });
    names.forEach((name, place) => part.setAttribute(name, rest[place]));
    if (letter === "t") part.append(rest[2]);
    svg.append(part);
  }
  return svg;
}

function start(root) {
  const { marks, plain, library, code, rows } = dataOf(root);
  const body = root.querySelector("tbody");
  const lines = [...body.rows];
  const words = lines.map((line) => line.textContent.toLowerCase());
  const years = [...new Set(rows.map((row) => row.year))];
  const columns = lines[0].cells.length;
  const opened = new Map();
  let [year, mark, order] = [0, 0, 0];

  /* A row that opens, below the one with its name. */
  function more(place) {
    const { unusual, facts, parity, path, of, type } = rows[place];
    const file = make("a", { href: library + path }, path.split("/").pop());
    const told = make("div", { class: "am-atlas-told" });
    if (unusual) told.append(make("p", { class: "am-atlas-unusual" }, unusual));
    told.append(...facts.map((sentence) => make("p", {}, sentence)));
    told.append(make("p", {}, parity.join(" ")));
    told.append(
      make("p", {}, "Reference: ", file, of ? `, as in ${of}` : "", `. In config.json: ${type}. `,
        make("a", { href: code }, "The code of its mixers"), ".")
    );
    const cell = make("td", { colspan: columns }, make("div", { class: "am-atlas-open" }, drawn(rows[place]), told));
    return make("tr", { class: "am-atlas-more" }, cell);
  }

  const buttons = lines.map((line, place) => {
    const name = line.querySelector(".am-atlas-name span");
    const made = make("button", { type: "button", "aria-expanded": "false" }, name.textContent);
    name.replaceWith(made);
    made.addEventListener("click", () => toggle(place));
    return made;
  });

  function toggle(place) {
    const open = opened.get(place);
    buttons[place].setAttribute("aria-expanded", String(!open));
    if (open) {
      open.remove();
      opened.delete(place);
      return;
    }
    const made = more(place);
    opened.set(place, made);
    lines[place].after(made);
  }

  function fits(place, sought) {
    const has = rows[place].marks;
    const wanted = mark === 0 || (mark === 1 ? has.length === 0 : has.includes(marks[mark - 2]));
    const then = year === 0 || rows[place].year === years[year - 1];
    return wanted && then && sought.every((word) => words[place].includes(word));
  }

  function before(a, b) {
    if (order === 0) return a - b;
    if (order === 1) return words[a] < words[b] ? -1 : 1;
    return (order === 2 ? -1 : 1) * (rows[a].bytes - rows[b].bytes) || a - b;
  }

  function draw() {
    const sought = field.value.toLowerCase().split(" ").filter((word) => word);
    const places = lines.map((_, place) => place).sort(before);
    for (const place of places) {
      body.append(lines[place]);
      lines[place].hidden = !fits(place, sought);
      const open = opened.get(place);
      if (!open) continue;
      body.append(open);
      open.hidden = lines[place].hidden;
    }
    const shown = lines.filter((line) => !line.hidden).length;
    say(`${shown} of ${lines.length} architectures are shown. Press a name to open it.`);
  }

  const controls = controlsOf(root, "Choose and order architectures", true);
  const has = select("Has", ["anything", plain + " beside attention", ...marks], (place) => {
    mark = place;
    draw();
  });
  const when = select("Year", ["all", ...years], (place) => {
    year = place;
    draw();
  });
  const by = select("Order by", ORDERS, (place) => {
    order = place;
    draw();
  });
  const field = make("input", { type: "search", spellcheck: "false" });
  field.addEventListener("input", draw);
  const sought = make("label", { class: "am-atlas-words" }, make("span", {}, "Words"), field);
  const reset = button("Show all", () => {
    [year, mark] = [0, 0];
    when.choose(0);
    has.choose(0);
    field.value = "";
    draw();
  });
  controls.append(has.element, when.element, by.element, sought, reset);
  const say = announcer(root);
  controls.after(root.querySelector(".am-live-say"));
  draw();
}

upgrade("atlas", start);
