/* The kit of the playables: a drawing that a reader can touch is a module of four functions,

     start(data)         the state to begin with, a plain object: {block: 2, order: 0}
     controls(data, at)  panels of sliders, lists, boxes and buttons, each bound to a key of the state
     model(data, at)     the numbers that are shown, as JSON: no words, no pixels
     view(m, at, data)   nodes: h(...), and what this kit draws: charts, bars, grids, tables
     said(m, at, data)   one text: the drawing's alternative text, the line below it, what is announced

   and, where needed, keys(at, data) for keys that act wherever the focus is, still(data) for what paper
   shows instead of the first state, and lines = [desk, phone], the height of the text in lines, [2, 2] by default.
   The same functions run in Node, which writes the first drawing into the page, and in the browser.
   An event's handler gets (at, event, play) and returns what changes in the state: {block: 3}. */

/* ---- Numbers and words ---- */

/* Round a number, with a true minus and without minus zero. */
export function num(value, places = 2) {
  const text = value.toFixed(places);
  return Number(text) === 0 ? (0).toFixed(places) : text.replace("-", "\u2212");
}

export const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
export const range = (count, first = 0) => Array.from({ length: count }, (_, at) => first + at);
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
export const dot = (one, other) => sum(one.map((number, at) => number * other[at]));
export const argmax = (numbers) => numbers.indexOf(Math.max(...numbers));
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/* A whole number with a comma behind each thousand. */
export const whole = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

/* Say a number of bytes with three digits, in powers of 1,024. */
export function inBytes(size) {
  if (size < 999.5) return size === 1 ? "1 byte" : `${Number(size.toPrecision(3))} bytes`;
  const unit = Math.min([1, 2, 3, 4].filter((power) => size >= 999.5 * 1024 ** power).length, 4);
  const said = size / 1024 ** (unit + 1);
  return `${said >= 1e6 ? said.toPrecision(3) : said.toFixed(said >= 99.95 ? 0 : said >= 9.995 ? 1 : 2)} ${["KiB", "MiB", "GiB", "TiB", "PiB"][unit]}`;
}

/* The softmax of scores over the allowed ones; all zeros where none is allowed. */
export function softmax(scores, allowed = scores.map(() => true)) {
  const highest = Math.max(...scores.filter((_, at) => allowed[at]));
  const powers = scores.map((score, at) => (allowed[at] ? Math.exp(score - highest) : 0));
  const total = sum(powers);
  return powers.map((power) => (total > 0 ? power / total : 0));
}

/* Turn every array that Python has packed, {shape, bits, base64}, into lists of lists; whole numbers of
   eight bits have a scale a row, and small ones may be letters, {shape, letters}: zero is "P". */
const BITS = { float64: Float64Array, float32: Float32Array, int8: Int8Array };

export function unpack(data) {
  if (Array.isArray(data)) return data.map(unpack);
  if (data === null || typeof data !== "object") return data;
  if (!("shape" in data && ("base64" in data || "letters" in data))) {
    return Object.fromEntries(Object.entries(data).map(([name, part]) => [name, unpack(part)]));
  }
  const codes = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const values = data.letters ? Array.from(codes(data.letters), (code) => code - 80) : new BITS[data.bits](codes(atob(data.base64)).buffer);
  const cut = (from, [length, ...inner]) => {
    if (length === undefined) return values[from];
    const size = inner.reduce((product, one) => product * one, 1);
    return range(length).map((at) => cut(from + at * size, inner));
  };
  const scale = unpack(data.scale);
  return scale ? cut(0, data.shape).map((row, at) => row.map((level) => level * scale[at])) : cut(0, data.shape);
}

/* ---- Nodes ---- */

/* A node: h("button", {class: ["am-key", on && "am-on"], onclick}, "Next"). Numbers are rounded to a
   thousandth; what is null, undefined or false is left out. */
export function h(tag, attributes = {}, ...children) {
  const shown = (child) => child !== null && child !== undefined && child !== false && child !== "";
  return { tag, attributes: attributes ?? {}, children: children.flat(Infinity).filter(shown).map((child) => (child.tag ? child : String(child))) };
}

const isHandler = (name) => name.startsWith("on");

/* The value of an attribute as text, or null where the node does not have it. */
function written(name, value) {
  if (value === null || value === undefined || isHandler(name)) return null;
  if (name === "class") return [value].flat().filter(Boolean).join(" ") || null;
  if (name === "style") return Object.entries(value).map(([key, one]) => `${key}:${round(one)}`).join(";");
  if (name === "rove" || name === "key") return null;
  if (typeof value === "boolean") return name.startsWith("aria-") ? String(value) : value ? "" : null;
  return String(round(value));
}

const round = (value) => (typeof value === "number" && Number.isFinite(value) ? Number(value.toFixed(3)) : value);
const escape = (text) => String(text).replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
const ALONE = new Set(["input", "br", "wbr", "hr", "img"]);
const SPOKEN = /^(aria-(?!hidden)|role$|tabindex$|title$|type$)/;

/* Write a node as HTML for a page whose script has not run. What waits for a hand there has no role
   and no place in the order of the keyboard, and a button is a piece of text. */
export function toHTML(node, live = false) {
  if (typeof node === "string") return escape(node);
  const controls = live || node.tag === "fieldset";
  const waits = !controls && node.tag !== "svg" && (node.tag === "button" || Object.keys(node.attributes).some(isHandler));
  const tag = waits && node.tag === "button" ? "span" : node.tag;
  const attributes = Object.entries(node.attributes)
    .filter(([name]) => !(waits && SPOKEN.test(name)))
    .map(([name, value]) => [name, written(name, value)])
    .filter(([, text]) => text !== null)
    .map(([name, text]) => (text === "" ? ` ${name}` : ` ${name}="${escape(text)}"`))
    .join("");
  if (ALONE.has(tag)) return `<${tag}${attributes}>`;
  return `<${tag}${attributes}>${node.children.map((child) => toHTML(child, controls)).join("")}</${tag}>`;
}

const SVG = "http://www.w3.org/2000/svg";

function make(node, act, inside) {
  if (typeof node === "string") return document.createTextNode(node);
  const space = node.tag === "svg" ? SVG : inside;
  const element = space ? document.createElementNS(space, node.tag) : document.createElement(node.tag);
  element.append(...node.children.map((child) => make(child, act, space)));
  dress(element, {}, node.attributes, act);
  return element;
}

/* Give an element the attributes and handlers of its node. */
function dress(element, before, after, act) {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (isHandler(name)) {
      const handlers = (element.amHandlers ??= {});
      if (!(name in handlers)) element.addEventListener(name.slice(2), (event) => handlers[name] && act(handlers[name], event));
      handlers[name] = after[name];
      continue;
    }
    if (name === "rove" && after.rove && !before.rove) rove(element);
    const text = written(name, after[name]);
    if (name === "value" || name === "checked" || name === "selected") {
      const value = name === "value" ? text : text !== null;
      if (element[name] !== value) element[name] = value;
    }
    if (text === written(name, before[name])) continue;
    if (text === null) element.removeAttribute(name);
    else element.setAttribute(name, text);
  }
}

/* Change an element from one node to another; elements stay what they are, and keep the focus. */
function patch(element, before, after, act) {
  if (typeof before === "string" || typeof after === "string" || before.tag !== after.tag || before.attributes.key !== after.attributes.key) {
    if (before === after) return;
    element.replaceWith(make(after, act, element.parentNode.namespaceURI === SVG ? SVG : null));
    return;
  }
  const parts = [...element.childNodes];
  before.children.forEach((child, at) => {
    if (at < after.children.length) patch(parts[at], child, after.children[at], act);
    else parts[at].remove();
  });
  const space = element.namespaceURI === SVG ? SVG : null;
  element.append(...after.children.slice(before.children.length).map((child) => make(child, act, space)));
  dress(element, before.attributes, after.attributes, act);
}

/* ---- The whole ---- */

/* Where a view wants the controls, or the line of text, if not above it and below it. */
export const CONTROLS = { tag: "controls", attributes: {}, children: [] };
export const SAID = { tag: "said", attributes: {}, children: [] };

/* All of a playable but its caption. `text` is what its line says, if not what `said` says. */
export function draw(it, data, at, text) {
  const m = it.model(data, at);
  const told = it.said(m, at, data);
  const [desk, phone] = it.lines ?? [2, 2];
  const says = h("p", { class: "am-play-said", "aria-live": "polite", style: { "--desk": desk, "--phone": phone } }, text ?? told);
  let shown = [it.view(m, at, data)].flat(Infinity).filter(Boolean);
  if (!shown.includes(CONTROLS)) shown = [CONTROLS, ...shown];
  if (!shown.includes(SAID)) shown = [...shown, SAID];
  const named = (node) => (node.tag === "svg" && !node.attributes["aria-hidden"] && !node.attributes["aria-label"]
    ? { ...node, attributes: { role: "img", ...node.attributes, "aria-label": told } } : node);
  const all = shown.flatMap((node) => (node === CONTROLS ? it.controls(data, at) : node === SAID ? says : named(node)));
  return { text: told, node: h("div", { class: "am-play-body" }, all) };
}

/* The body of a figure, for a page without a script. */
export function still(it, data) {
  const whole = unpack(data);
  return toHTML(draw(it, whole, it.still?.(whole) ?? it.start(whole)).node);
}

/* Let a figure live. `play` goes to all handlers: set(changes) changes the state and draws, where
   changes may be a function of the state; set(changes, true) leaves the line of text as it is, while
   something moves; `first` is the state to go back to; whatever else a handler wants to keep may be
   put on it. */
function mount(root, it) {
  const data = unpack(JSON.parse(root.querySelector("script").textContent));
  const play = { root, data, first: it.start(data), set };
  let [at, now, text, busy, again] = [play.first, null, undefined, false, false];
  const act = (handler, event) => {
    const changes = handler(at, event, play);
    if (changes instanceof Promise) changes.then((late) => late && set(late));
    else if (changes) set(changes);
  };

  function set(changes = {}, moving = false) {
    at = { ...at, ...(typeof changes === "function" ? changes(at) : changes) };
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    const next = draw(it, data, at, moving ? text : undefined);
    if (!moving) text = next.text;
    const body = root.querySelector(".am-play-body");
    if (now) patch(body, now, next.node, act);
    else if (body) body.replaceWith(make(next.node, act));
    else root.prepend(make(next.node, act));
    now = next.node;
    root.querySelectorAll(".am-rove").forEach(keepOneStop);
    busy = false;
    if (again) {
      again = false;
      set();
    }
  }

  root.addEventListener("keydown", (event) => {
    const plain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
    const own = event.target.matches("select, input:not([type=checkbox])");
    const keys = it.keys?.(at, data) ?? {};
    if (!plain || own || event.defaultPrevented || !(event.key in keys)) return;
    event.preventDefault();
    set(keys[event.key]);
  });
  root.setAttribute("data-on", "");
  set();
}

/* Let all figures of a name live that do not yet. */
export function begin(name, it) {
  const all = () => document.querySelectorAll(`figure[data-play="${name}"]:not([data-on])`).forEach((root) => mount(root, it));
  all();
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
}

/* ---- Controls: functions of the state, as panel(...) wants them. `then` gives the changes that follow
   from a choice, an object or a function of the state; `grows` says that the figure may become higher. ---- */

/* Changes that a control makes, with those that follow from them: {block: 3} and then {step: 0}. */
const following = (changes, then, at) => ({ ...changes, ...(typeof then === "function" ? then({ ...at, ...changes }) : then) });

/* A group of controls, for `controls`: panel(at, "What is shown", slider(...), tick(...)). */
export function panel(at, legend, ...controls) {
  const items = controls.flat(Infinity).filter(Boolean).map((one) => (typeof one === "function" ? one(at) : one));
  return h("fieldset", { class: "am-play-controls" }, h("legend", { class: "am-unseen" }, legend), items);
}

/* A slider for at[key], a whole number from min to max; show(number) puts it into words, or into the
   entries of a list. */
export const slider = (key, name, { min = 0, max, step = 1, show = String, then, off = false, grows }) => (at) => {
  const words = (value) => String(Array.isArray(show) ? show[value] : show(value));
  return h("label", { class: "am-play-slider", "data-grows": grows }, h("span", {}, name),
    h("input", {
      type: "range", min, max, step, value: at[key], disabled: off, "aria-valuetext": words(at[key]),
      oninput: (now, event, play) => play.set(following({ [key]: Number(event.target.value) }, then, now), true),
      onchange: (now, event) => following({ [key]: Number(event.target.value) }, then, now),
    }),
    h("b", { "aria-hidden": "true" }, words(at[key])));
};

/* A box to tick: at[key] is true or false. */
export const tick = (key, name, { then, grows } = {}) => (at) => h("label", { class: "am-play-tick", "data-grows": grows },
  h("input", { type: "checkbox", checked: at[key], onchange: (now, event) => following({ [key]: event.target.checked }, then, now) }),
  h("span", {}, name));

/* A list to choose from: at[key] is the place of the chosen one. */
export const select = (key, name, options, { then, grows } = {}) => (at) => h("label", { class: "am-play-select", "data-grows": grows }, h("span", {}, name),
  h("select", { onchange: (now, event) => following({ [key]: event.target.selectedIndex }, then, now) },
    options.map((words, place) => h("option", { value: place, selected: place === at[key] }, words))));

/* A row of buttons: at[key] is the place of the pressed one, -1 for none; `loose` ones let go. */
export const choice = (key, name, options, { then, loose = false, grows } = {}) => (at) =>
  h("div", { class: "am-play-choice", role: "group", "aria-label": name, "data-grows": grows },
    h("span", { "aria-hidden": "true" }, name),
    options.map((words, place) => h("button", {
      type: "button", class: "am-play-button", "aria-pressed": place === at[key],
      onclick: (now) => following({ [key]: loose && place === now[key] ? -1 : place }, then, now),
    }, words)));

/* A button: changes is an object, or a handler. One that is `off` says so, and can be focused still. */
export const button = (words, changes, { off = false, ...attributes } = {}) => () => h("button", {
  type: "button", class: "am-play-button", "aria-disabled": off || null, ...attributes,
  onclick: (at, event, play) => (off ? null : typeof changes === "function" ? changes(at, event, play) : changes),
}, words);

/* What a hand can do here; paper does not say it. */
export const hint = (words) => h("p", { class: "am-play-hint" }, words);

export const reset = (words = "Reset") => button(words, (at, event, play) => play.first, { "data-grows": true });

/* Back and Next for at[key], from 0 to last; stepKeys gives the arrow keys the same meaning. */
export const steps = (key, last) => [
  (at) => button("Back", { [key]: at[key] - 1 }, { off: at[key] <= 0 })(),
  (at) => button("Next", { [key]: at[key] + 1 }, { off: at[key] >= last })(),
];

export const stepKeys = (at, key, last) => ({
  ArrowLeft: { [key]: Math.max(at[key] - 1, 0) }, ArrowRight: { [key]: Math.min(at[key] + 1, last) },
  Home: { [key]: 0 }, End: { [key]: last },
});

/* ---- Hands ---- */

/* Where a pointer is, in the units of the drawing that the event comes from. */
export function pointIn(event) {
  const svg = event.currentTarget.ownerSVGElement ?? event.currentTarget;
  const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return [x, y];
}

/* What makes a part of a drawing one to drag: move([x, y], at) returns what changes. */
export const drag = (move) => ({
  onpointerdown(at, event) {
    event.preventDefault();
    event.currentTarget.focus({ preventScroll: true });
    event.currentTarget.setPointerCapture(event.pointerId);
  },
  onpointermove(at, event, play) {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) play.set(move(pointIn(event), at), true);
  },
  onlostpointercapture: () => ({}),
});

/* What moves it by arrow keys: move([right, up], at), each -1, 0 or 1. */
export const arrowKeys = (move) => ({
  onkeydown(at, event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey) return null;
    event.preventDefault();
    return move(way, at);
  },
});

/* What lets the cells of a grid be painted by click, key, or a stroke over several: its buttons say
   with `aria-pressed` what they are and with `data-cell` where. paint([row, column], on, at) returns
   what changes. A press begins a stroke; it paints once it reaches another cell, else the click does. */
export const painting = (paint) => {
  const cellOf = (element) => element?.closest("[data-cell]");
  const place = (cell) => cell.getAttribute("data-cell").split(" ").map(Number);
  const isOn = (cell) => cell.getAttribute("aria-pressed") === "true";
  return {
    onpointerdown(at, event, play) {
      const from = cellOf(event.target);
      if (from && event.isPrimary && event.button === 0) play.stroke = { from, on: !isOn(from), drawn: false };
    },
    onpointermove(at, event, play) {
      const { stroke } = play;
      const under = cellOf(document.elementFromPoint(event.clientX, event.clientY));
      if (!stroke || !event.buttons || !under || !event.currentTarget.contains(under)) return null;
      if (under === stroke.from && !stroke.drawn) return null;
      const due = (stroke.drawn ? [under] : [stroke.from, under]).filter((cell) => isOn(cell) !== stroke.on);
      stroke.drawn = true;
      return due.reduce((now, cell) => ({ ...now, ...paint(place(cell), stroke.on, now) }), at);
    },
    onpointercancel(at, event, play) {
      play.stroke = null;
    },
    onclick(at, event, play) {
      const [cell, drawn] = [cellOf(event.target), event.detail > 0 && play.stroke?.drawn];
      play.stroke = null;
      return cell && !drawn ? paint(place(cell), !isOn(cell), at) : null;
    },
  };
};

/* h(..., {rove: true, class: "am-rove"}) lets arrow keys move the focus among what lies in it with
   `data-cell="row column"`, of which one alone is a stop of the Tab key. */
const cellsIn = (box) => [...box.querySelectorAll("[data-cell]")];

function keepOneStop(box, chosen = null) {
  const cells = cellsIn(box);
  const home = chosen ?? cells.find((cell) => cell.tabIndex === 0 && cell.hasAttribute("tabindex")) ?? cells[0];
  for (const cell of cells) cell.setAttribute("tabindex", cell === home ? 0 : -1);
}

function rove(box) {
  const steps = {
    ArrowUp: ([row, column]) => [row - 1, column], ArrowDown: ([row, column]) => [row + 1, column],
    ArrowLeft: ([row, column]) => [row, column - 1], ArrowRight: ([row, column]) => [row, column + 1],
    Home: ([row]) => [row, 0], End: ([row]) => [row, Infinity],
  };
  const place = (cell) => cell.getAttribute("data-cell").split(" ").map(Number);
  box.addEventListener("focusin", (event) => event.target.hasAttribute("data-cell") && keepOneStop(box, event.target));
  box.addEventListener("keydown", (event) => {
    if (!(event.key in steps) || !event.target.hasAttribute("data-cell") || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const places = cellsIn(box).map((cell) => ({ cell, at: place(cell) }));
    const [row, column] = steps[event.key](place(event.target));
    const columns = [...new Set(places.map(({ at }) => at[1]))].sort((one, other) => one - other);
    const there = columns[clamp(columns.findIndex((one) => one >= column) < 0 ? columns.length - 1 : columns.findIndex((one) => one >= column), 0, columns.length - 1)];
    const side = places.filter(({ at }) => at[1] === there).sort((one, other) => one.at[0] - other.at[0]);
    side.reduce((best, one) => (Math.abs(one.at[0] - row) < Math.abs(best.at[0] - row) ? one : best)).cell.focus();
  });
}

/* ---- Drawings ---- */

/* A drawing of so many units; it fills the width, and its letters are 15 units high. */
export const chart = (wide, high, attributes, ...children) =>
  h("svg", { ...attributes, viewBox: `0 0 ${wide} ${high}`, class: ["am-chart", attributes?.class] }, children);

export const line = (x1, y1, x2, y2, kind, attributes = {}) => h("line", { x1, y1, x2, y2, ...attributes, class: kind });
export const label = (x, y, words, kind, attributes = {}) => h("text", { x, y, ...attributes, class: kind }, words);

/* A function from one interval onto another. */
export const scale = ([low, high], [from, to]) => (value) => from + ((value - low) / (high - low)) * (to - from);

/* A bar that stands on `base`, `height` units high. */
export const bar = (x, width, base, height, kind = "am-bar") => h("rect", { x, width, y: base - height, height: Math.max(height, 0), class: kind });

/* Level lines with their names on the left: levels([[0, "0"], [1, "1"]], y, 56, 480). */
export const levels = (marks, y, left, right) => marks.map(([value, name]) => [
  line(left, y(value), right, y(value), "am-level"), label(left - 6, y(value) + 5, name, "am-axis am-end"),
]);

/* A curve from a point on one side to a point on the other, as thick as the weight between them. */
export const ribbon = (d, weight, { least = 1, most = 3.5, kind = "am-ribbon" } = {}) =>
  h("path", { d, class: kind, "stroke-width": least + most * weight, "stroke-opacity": Math.min(1, 0.1 + 0.9 * weight) });

/* The path of an arrow; one shorter than its head has none. */
export function arrow([x0, y0], [x, y], head = 9) {
  const shaft = `M${round(x0)} ${round(y0)}L${round(x)} ${round(y)}`;
  if (Math.hypot(x - x0, y - y0) < head) return shaft;
  const angle = Math.atan2(y - y0, x - x0);
  const end = (side) => `${round(x - head * Math.cos(angle + side))} ${round(y - head * Math.sin(angle + side))}`;
  return `${shaft}M${end(-0.5)}L${round(x)} ${round(y)}L${end(0.5)}`;
}

/* A table: rows are lists of cells, the first one the row's name; a cell is words or {words, ...attributes}. */
export function table(heads, rows, { foot = [], kind } = {}) {
  const cell = (tag, extra = {}) => (one) => {
    const { words, ...attributes } = one !== null && typeof one === "object" && !one.tag && !Array.isArray(one) ? one : { words: one };
    return h(tag, { ...extra, ...attributes }, words);
  };
  const row = (cells) => {
    const { cells: list, ...attributes } = Array.isArray(cells) ? { cells } : cells;
    return h("tr", attributes, cell("th", { scope: "row" })(list[0]), list.slice(1).map(cell("td")));
  };
  return h("table", { class: ["am-table", kind] },
    h("thead", {}, h("tr", {}, heads.map((one) => (one === "" ? h("td") : cell("th", { scope: "col" })(one))))),
    h("tbody", {}, rows.map(row)), foot.length > 0 && h("tfoot", {}, foot.map(row)));
}

/* A map of weights as a table of inked cells, wide ones in a box that scrolls. `cell(row, column)`
   gives {weight, words, class, ...attributes}; with `label`, a cell is a button with a name. */
export function grid({ rows, columns, corner = "", cell, more = [], kind, slanted = false, ...attributes }) {
  const ink = (row, column) => {
    const { weight, words, class: own, ...rest } = cell(row, column);
    const style = { "--weight": clamp(weight, 0, 1) };
    const made = rest["aria-label"]
      ? h("button", { type: "button", class: "am-ink", "data-cell": `${row} ${column}`, style, ...rest }, words)
      : h("span", { class: "am-ink", style, ...rest }, words);
    return h("td", { class: ["am-cell", own] }, made);
  };
  const touched = Boolean(cell(0, 0)["aria-label"]);
  return h("div", { class: ["am-scroll", touched && "am-rove"], rove: touched, ...attributes },
    h("table", { class: ["am-grid", slanted && "am-upright", kind] },
      h("thead", {}, h("tr", {}, h("td", {}, corner), columns.map((words) => h("th", { scope: "col" }, h("span", {}, words))), more.map(({ name }) => h("th", { scope: "col", class: "am-more" }, name)))),
      h("tbody", {}, rows.map((words, row) => h("tr", {}, h("th", { scope: "row" }, words),
        columns.map((_, column) => ink(row, column)), more.map(({ of }) => h("td", { class: "am-more" }, of(row))))))));
}

/* The address of a page: its file in a notebook, and what was built of it in the book. */
export const toPage = (file) =>
  (typeof document === "undefined" || document.documentElement.hasAttribute("data-content_root") ? file.replace(/\.(ipynb|md)(?=#|$)/, ".html") : file);

/* Words that are read, not seen. */
export const unseen = (words) => h("span", { class: "am-unseen" }, words);
