/* What every live output's script begins with; see output.py for the contract. */

const SVG = "http://www.w3.org/2000/svg";

/* Make an element: make("button", {type: "button"}, "Reset"), make("svg:line", {x1: 0}). */
function make(tag, attributes = {}, ...children) {
  const [kind, name] = tag.split(":");
  const element = name ? document.createElementNS(SVG, name) : document.createElement(kind);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/* Read the JSON that Python wrote. */
function dataOf(root) {
  return JSON.parse(root.querySelector("script[type='application/json']").textContent);
}

/* Read an array that Python packed: {shape, values}. */
function unpack({ shape, bits, base64 }) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const Numbers = bits === "float64" ? Float64Array : Float32Array;
  return { shape, values: new Numbers(bytes.buffer) };
}

/* Show a number rounded, and keep it whole for those who ask. */
function showNumber(element, value, places = 2) {
  const rounded = value.toFixed(places);
  element.textContent = Number(rounded) === 0 ? (0).toFixed(places) : rounded.replace("-", "\u2212");
  element.setAttribute("data-am-value", String(value));
}

/* A labelled group for controls, below the drawing (or above it, if `first`). */
function controlsOf(root, legend, first = false) {
  const box = make("fieldset", { class: "am-live-controls" });
  box.append(make("legend", { class: "am-live-unseen" }, legend));
  const drawing = root.querySelector(".am-live-drawing");
  if (first) drawing.before(box);
  else drawing.after(box);
  return box;
}

/* A polite line of text; call what it returns on release, not while something moves. */
function announcer(root) {
  const line = make("p", { class: "am-live-say", "aria-live": "polite" });
  const last = [...root.querySelectorAll(".am-live-controls, .am-live-drawing")].pop();
  last.after(line);
  return (words) => {
    if (line.textContent !== words) line.textContent = words;
  };
}

/* The line that tells, where there are no controls, what they are set to. */
function stateOf(root) {
  const line = root.querySelector(".am-live-state");
  return (words) => {
    line.textContent = words;
  };
}

function button(words, onClick, attributes = {}) {
  const made = make("button", { type: "button", class: "am-live-button", ...attributes }, words);
  made.addEventListener("click", onClick);
  return made;
}

/* A slider with its name and its value; show(number) puts the number into words.
   Returns {element, input, value(), put(number), set(number)}; set() tells onMove, put() does not. */
function slider(name, { min, max, step, value, show = String }, onMove, onRelease = () => {}) {
  const input = make("input", { type: "range", min, max, step });
  const output = make("output");
  const element = make("label", { class: "am-live-slider" }, make("span", {}, name), input, output);
  const sync = () => {
    output.textContent = show(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  const put = (number) => {
    input.value = number;
    sync();
  };
  const set = (number) => {
    put(number);
    onMove();
  };
  put(value);
  input.addEventListener("input", () => {
    sync();
    onMove();
  });
  input.addEventListener("change", onRelease);
  return { element, input, value: () => Number(input.value), put, set };
}

/* A box to tick. Returns {element, input}. */
function tick(name, checked, onChange) {
  const input = make("input", { type: "checkbox" });
  input.checked = checked;
  input.addEventListener("change", onChange);
  return { element: make("label", { class: "am-live-tick" }, input, make("span", {}, name)), input };
}

/* A list to choose from, with its name: choose(2) takes the third. Returns {element, input, choose}. */
function select(name, options, onChange) {
  const input = make("select");
  input.append(...options.map((words, place) => make("option", { value: place }, words)));
  input.addEventListener("change", () => onChange(input.selectedIndex));
  const choose = (place) => {
    input.selectedIndex = place;
  };
  return { element: make("label", { class: "am-live-select" }, make("span", {}, name), input), input, choose };
}

/* A row of buttons of which one is pressed. Returns {element, press}; press(-1) presses none. */
function choice(name, options, onChoice) {
  const buttons = options.map((words, place) => button(words, () => onChoice(place)));
  const element = make("div", { class: "am-live-choice", role: "group", "aria-label": name });
  element.append(make("span", { "aria-hidden": "true" }, name), ...buttons);
  const press = (chosen) => {
    buttons.forEach((one, place) => one.setAttribute("aria-pressed", String(place === chosen)));
  };
  press(-1);
  return { element, press };
}

/* Let arrow keys move the focus among elements, lines[row][column], of which one is a tab stop. */
function rove(lines) {
  const columns = Math.max(...lines.map((line) => line.length));
  const column = (at) => lines.map((line) => line[at]).filter((one) => one);
  const home = (one) => {
    for (const other of lines.flat()) if (other) other.tabIndex = other === one ? 0 : -1;
  };
  const step = (key, row, at) => {
    if (key === "ArrowUp") return [row - 1, at];
    if (key === "ArrowDown") return [row + 1, at];
    if (key === "ArrowLeft") return [row, at - 1];
    if (key === "ArrowRight") return [row, at + 1];
    if (key === "Home") return [row, 0];
    if (key === "End") return [row, columns - 1];
    return null;
  };
  lines.forEach((line, row) => line.forEach((one, at) => {
    if (!one) return;
    one.addEventListener("focus", () => home(one));
    one.addEventListener("keydown", (event) => {
      const next = event.ctrlKey || event.altKey || event.metaKey ? null : step(event.key, row, at);
      if (!next) return;
      event.preventDefault();
      const side = column(Math.min(Math.max(next[1], 0), columns - 1));
      side[Math.min(Math.max(next[0], 0), side.length - 1)].focus();
    });
  }));
  home(column(0)[0]);
}

/* Begin with every live output of a name that has not begun yet. */
function upgrade(name, start) {
  const all = () => {
    for (const root of document.querySelectorAll(`[data-am-live="${name}"]:not([data-am-on])`)) {
      root.setAttribute("data-am-on", "");
      start(root);
    }
  };
  all();
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
}
