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

function button(words, onClick, attributes = {}) {
  const made = make("button", { type: "button", class: "am-live-button", ...attributes }, words);
  made.addEventListener("click", onClick);
  return made;
}

/* A slider with its name and its value; show(number) puts the number into words.
   Returns {element, input, value(), set(number)}; set() tells onMove, too. */
function slider(name, { min, max, step, value, show = String }, onMove, onRelease = () => {}) {
  const input = make("input", { type: "range", min, max, step });
  const output = make("output");
  const element = make("label", { class: "am-live-slider" }, make("span", {}, name), input, output);
  const sync = () => {
    output.textContent = show(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  const set = (number) => {
    input.value = number;
    sync();
    onMove();
  };
  input.value = value;
  sync();
  input.addEventListener("input", () => {
    sync();
    onMove();
  });
  input.addEventListener("change", onRelease);
  return { element, input, value: () => Number(input.value), set };
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
