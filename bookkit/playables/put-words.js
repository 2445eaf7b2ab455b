/* A captioner with words put into its mouth: a picture to change, where it looks, and what it says. */
import { CONTROLS, SAID, argmax, arrowKeys, button, chart, clamp, drag, h, num, panel, range, reset, tick } from "./kit.js";
import { describe } from "./captioner.js";

const [SIZE, CELL, UNIT, FULL, PALE, NEAR] = [32, 4, 8, 6, 0.72, 2];
const SIDE = SIZE / CELL;
const LONGEST = 8;
const BOTH = ["one", "two"];

export const lines = [3, 6];

export const start = ({ first: [one, two] }) => ({ one, two, word: 2, said: [], marked: false });

/* What the caption should be: the upper or the left one comes first. */
function truth({ colours, shapes }, at) {
  const down = Math.abs(at.one.y - at.two.y) >= Math.abs(at.one.x - at.two.x);
  const order = BOTH.toSorted((a, b) => (down ? at[a].y - at[b].y : at[a].x - at[b].x));
  const named = order.map((which) => [at[which].colour, at[which].shape]).map(([colour, shape]) => [colours[colour] === "orange" ? "an" : "a", colours[colour], shapes[shape]]);
  const relation = down ? ["above"] : ["left", "of"];
  return { words: [...named[0], ...relation, ...named[1]], order, second: 3 + relation.length };
}

const covered = ({ outlines }, { x, y, shape }, row, column) => outlines[shape][row - y + (outlines[shape].length - 1) / 2]?.[column - x + (outlines[shape].length - 1) / 2] === 1;

/* The picture: a colour, from 0 to 255, for every pixel, row by row. */
const painted = (data, at) => range(SIZE * SIZE).map((pixel) => {
  const [row, column] = [Math.floor(pixel / SIZE), pixel % SIZE];
  const which = BOTH.find((one) => covered(data, at[one], row, column));
  return which ? data.shades[at[which].colour] : data.ground;
});

/* The words that might be said instead: those of its kind. */
const kindOf = ({ colours, shapes, others }, word) => [colours, shapes, others].find((kind) => kind.includes(word)) ?? others;

export function model(data, at) {
  const pixels = painted(data, at);
  const image = range(3).map((channel) => pixels.map((colour) => colour[channel] / 255));
  const { ids, rows, chances } = describe(data.weights, image, at.said, LONGEST);
  const words = ids.map((id) => data.words[id]);
  const word = Math.min(at.word, words.length - 1);
  const right = truth(data, at);
  const half = (data.outlines[0].length - 1) / 2;
  const near = ({ x, y }, cell) => [[x, cell % SIDE], [y, Math.floor(cell / SIDE)]].every(([middle, which]) => {
    const centre = CELL * (which + 0.5);
    return centre >= middle - half - NEAR && centre < middle + half + 1 + NEAR;
  });
  const looked = BOTH.find((which) => near(at[which], argmax(rows[word]))) ?? null;
  const options = kindOf(data, words[word]).map((one) => ({ word: one, chance: chances[word][data.words.indexOf(one)] }));
  return { words, rows, chances, word, right, looked, options, pixels };
}

const unseen = ({ held, colours, shapes }, { colour, shape }) => held.some(([one, other]) => one === colours[colour] && other === shapes[shape]);

/* A place for a shape that is within the picture and off the other one, or null where there is none. */
function free(data, [x, y], other) {
  const wide = data.outlines[0].length;
  const half = (wide - 1) / 2;
  const inside = (value) => value >= half && value < SIZE - half;
  const [right, down] = [x, y].map((value) => clamp(Math.round(value), half, SIZE - half - 1));
  const ways = [[right, down], [other.x - wide - NEAR, down], [other.x + wide + NEAR, down], [right, other.y - wide - NEAR], [right, other.y + wide + NEAR]];
  const open = ways.filter(([across, low]) => inside(across) && inside(low) && Math.max(Math.abs(across - other.x), Math.abs(low - other.y)) >= wide + NEAR);
  return open.toSorted((a, b) => Math.hypot(a[0] - right, a[1] - down) - Math.hypot(b[0] - right, b[1] - down))[0] ?? null;
}

/* Two lists for a shape: its colour and its form. */
const picked = (which, name) => ({ colours, shapes }) => (at) => h("span", { class: "am-play-select" }, h("span", { "aria-hidden": "true" }, name),
  [["colour", colours], ["shape", shapes]].map(([part, words]) => h("select", {
    "aria-label": `${name}, ${part}`, onchange: (now, event) => ({ [which]: { ...now[which], [part]: event.target.selectedIndex }, said: [] }),
  }, words.map((word, place) => h("option", { value: place, selected: place === at[which][part] }, word)))));

export const controls = (data, at) => panel(at, "Change the picture",
  picked("one", "One shape")(data), picked("two", "the other")(data),
  button("Let it speak for itself", { said: [] }, { off: at.said.length === 0 }),
  tick("marked", "Mark what never came in training"), reset());

const mix = (colour, share) => {
  const pale = 255 * PALE + (1 - PALE) * (0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2]);
  return `rgb(${colour.map((value) => Math.round(value * share + pale * (1 - share))).join(" ")})`;
};

/* The picture keeps its colours where the model looks; pixels of one colour in a row of a cell are one piece. */
function picture(m, at, data) {
  const half = (data.outlines[0].length - 1) / 2;
  const pieces = range(SIDE * SIDE).flatMap((cell) => {
    const [top, left] = [CELL * Math.floor(cell / SIDE), CELL * (cell % SIDE)];
    const share = Math.min((m.rows[m.word][cell] * SIDE * SIDE) / FULL, 1);
    const colours = range(CELL).map((row) => range(CELL).map((column) => mix(m.pixels[(top + row) * SIZE + left + column], share)));
    if (new Set(colours.flat()).size === 1) return [[left, top, CELL, CELL, colours[0][0]]];
    return colours.flatMap((row, down) => row.flatMap((colour, across) => {
      const from = row.slice(0, across).findLastIndex((one) => one !== colour) + 1;
      const last = row[across + 1] !== colour;
      return last ? [[left + from, top + down, across + 1 - from, 1, colour]] : [];
    }));
  });
  const frame = (which, kind, more) => h("rect", { class: kind, x: UNIT * (at[which].x - half) - more, y: UNIT * (at[which].y - half) - more, width: UNIT * (2 * half + 1) + 2 * more, height: UNIT * (2 * half + 1) + 2 * more });
  return chart(SIZE * UNIT, SIZE * UNIT, { class: "am-words-picture", role: "group", "aria-label": said(m, at, data) },
    h("g", { "shape-rendering": "crispEdges" }, pieces.map(([x, y, width, height, fill]) => h("rect", { x: UNIT * x, y: UNIT * y, width: UNIT * width, height: UNIT * height, fill }))),
    h("rect", { class: "am-words-frame", width: SIZE * UNIT, height: SIZE * UNIT }),
    BOTH.map((which) => {
      const { colour, shape, x, y } = at[which];
      const other = at[BOTH.find((one) => one !== which)];
      const move = (place) => {
        const there = free(data, place, other);
        return there && { [which]: { ...at[which], x: there[0], y: there[1] }, said: [] };
      };
      return h("g", {
        class: "am-handle", tabindex: 0, role: "slider", "aria-roledescription": "shape in the picture", "aria-label": `The ${data.colours[colour]} ${data.shapes[shape]}: arrow keys move it`,
        "aria-valuemin": half, "aria-valuemax": SIZE - half - 1, "aria-valuenow": x, "aria-valuetext": `${x} across, ${y} down`,
        ...drag(([across, down]) => move([across / UNIT - 0.5, down / UNIT - 0.5]) ?? {}), ...arrowKeys(([right, up]) => move([x + right, y - up]) ?? {}),
      }, at.marked && unseen(data, at[which]) && frame(which, "am-words-unseen", 5), frame(which, "am-hit", 0));
    }));
}

const spoken = (m, at) => h("div", { class: "am-words-caption", role: "group", "aria-label": "The caption: choose a word" },
  m.words.map((word, place) => h("button", {
    type: "button", class: ["am-play-button", place === m.word && "am-words-now", word !== m.right.words[place] && "am-words-wrong", at.said[place] != null && "am-words-put"],
    "aria-pressed": place === m.word, onclick: () => ({ word: place }),
  }, word)));

export function view(m, at, data) {
  const put = (word) => ({ word: m.word, said: range(m.word + 1).map((place) => (place === m.word ? data.words.indexOf(word) : at.said[place] ?? null)) });
  return [
    spoken(m, at),
    h("div", { class: "am-words-columns" }, picture(m, at, data),
      h("div", { class: "am-words-side" },
        h("p", {}, `Word ${m.word + 1}. Press a word of this list to put it into its mouth.`),
        h("ul", {}, range(Math.max(data.colours.length, data.others.length)).map((row) => {
          const one = m.options[row];
          return one ? h("li", {}, h("button", { type: "button", class: ["am-play-button", one.word === m.words[m.word] && "am-words-now"], "aria-pressed": one.word === m.words[m.word], onclick: () => put(one.word) }, one.word),
            h("svg", { class: "am-words-share", viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" }, h("rect", { class: "am-bar", width: 100 * one.chance, height: 12 })),
            h("span", {}, num(one.chance))) : h("li", { "aria-hidden": "true" });
        })))),
    CONTROLS, SAID,
  ];
}

export function said(m, at, { colours, shapes }) {
  const { words, word, right, looked } = m;
  const name = (which) => `the ${colours[at[which].colour]} ${shapes[at[which].shape]}`;
  const where = looked ? `it looks most at ${name(looked)}` : "it looks most at the ground";
  const chance = m.options.find((one) => one.word === words[word])?.chance ?? 0;
  const own = at.said[word] != null ? `\u201c${words[word]}\u201d is your word` : `it says \u201c${words[word]}\u201d, with probability ${num(chance)}`;
  const wrong = at.said.some((one) => one != null) ? "" : words.join(" ") === right.words.join(" ") ? " The caption is right." : ` Right would be \u201c${right.words.join(" ")}\u201d.`;
  return `\u201c${words.join(" ")}\u201d. Before word ${word + 1} ${where}, and ${own}.${wrong}`;
}
