/* A state of fixed size into which pairs are written, beside a shelf that keeps every pair. */
import { argmax, button, chart, choice, clamp, CONTROLS, dot, h, label, line, num, panel, range, reset, scale, select } from "./kit.js";

const [ADD, FADE] = [0, 1]; // the third rule corrects
const [BOARD, LOW, SHELF, COLUMN, BOOK] = [192, 24, 220, 152, 24]; // of the drawing, in its units
const [ASKED, BASE] = [272, 334];

export const lines = [3, 5];

export const start = ({ first }) => ({ rule: ADD, rows: 1, angles: 0, asked: 0, written: first });

export const controls = ({ names, sizes, numbers, patterns }, at) => {
  const { written, asked } = at;
  const known = new Set(written.map(([name]) => name));
  const [next, ...later] = range(names.length).filter((name) => !known.has(name));
  const all = next === undefined;
  const write = (...pairs) => ({ written: [...written, ...pairs], asked: pairs.at(-1)[0] });
  const last = written.findLast(([name]) => name === asked);
  return panel(at, "Write on the board and ask it",
    button(all ? "All are written" : `Write ${names[next]} ${numbers[next]}`, () => write([next, numbers[next]]), { off: all }),
    button("Write the rest", () => write(...[next, ...later].map((name) => [name, numbers[name]])), { off: all }),
    button(`${names[asked]} again, with another number`, () => write([asked, (last[1] + 5) % patterns.length]), { off: !last }),
    select("asked", "ask for", names),
    choice("rule", "a new pair", ["adds", "fades and adds", "corrects"]),
    choice("rows", "rows", sizes),
    choice("angles", "names", ["at random", "at right angles"]),
    reset("Start again"));
};

/* Write all pairs, one after the other: S becomes kept S + key (value - what it held, if it corrects). */
export function model({ keys, patterns, kept }, { rule, rows, angles, asked, written }) {
  const directions = keys[rows][angles];
  const read = (state, name) => patterns[0].map((_, column) => dot(directions[name], state.map((row) => row[column])));
  const state = written.reduce((board, [name, number]) => {
    const held = rule > FADE ? read(board, name) : patterns[number].map(() => 0);
    return board.map((row, at) => row.map((value, column) => (rule === FADE ? kept : 1) * value + directions[name][at] * (patterns[number][column] - held[column])));
  }, directions[0].map(() => patterns[0].map(() => 0)));
  const nearest = (found) => argmax(patterns.map((pattern) => dot(pattern, found)));
  const shelf = [...new Map(written)].map(([name, number]) => ({ name, number, says: nearest(read(state, name)) }));
  const right = shelf.find(({ name }) => name === asked)?.number;
  const found = read(state, asked);
  return {
    state, shelf, found, says: nearest(found),
    off: right === undefined ? null : Math.hypot(...found.map((value, at) => value - patterns[right][at])),
    kept: [state.length * patterns[0].length, shelf.length * (state.length + patterns[0].length)],
  };
}

const givenBack = ({ shelf }) => shelf.filter(({ number, says }) => number === says).length;

export function view(m, { asked }, { names, patterns }) {
  const [wide, high] = [BOARD / patterns[0].length, Math.min(BOARD / m.state.length, BOARD / 8)];
  const foot = LOW + m.state.length * high;
  const height = scale([0, 1], [0, 40]);
  const right = m.shelf.find(({ name }) => name === asked);
  const bars = (values, x) => [
    line(x, BASE, x + 8 * 22, BASE, "am-level"),
    values.map((value, at) => h("rect", { x: x + 22 * at + 3, width: 16, y: BASE - Math.max(height(clamp(value, -1.4, 1.4)), 0), height: Math.abs(height(clamp(value, -1.4, 1.4))), class: ["am-bar", value < 0 && "am-false"] })),
  ];
  return [
    chart(520, 394, {},
      label(0, 14, `the board: ${m.kept[0]} numbers`, "am-bold"),
      m.state.map((row, y) => row.map((value, x) => h("rect", {
        class: ["am-whiteboard-cell", value < 0 && "am-whiteboard-below"], x: x * wide, y: LOW + y * high, width: wide, height: high, "fill-opacity": Math.min(1.3 * Math.sqrt(Math.abs(value)), 1),
      }))),
      h("rect", { class: "am-whiteboard-frame", x: 0, y: LOW, width: BOARD, height: foot - LOW }),
      label(SHELF, 14, `the shelf: ${m.kept[1]} numbers`, "am-bold"),
      range(8).map((at) => line(SHELF, LOW + BOOK * (at + 1), 520, LOW + BOOK * (at + 1), "am-level")),
      m.shelf.map(({ name, number, says }, at) => {
        const [x, y] = [SHELF + COLUMN * Math.floor(at / 8), LOW + BOOK * (at % 8) + 17];
        return h("g", { class: [says !== number && "am-whiteboard-lost", name === asked && "am-whiteboard-asked"] },
          label(x, y, says === number ? "✓" : "✗", "am-bold"), label(x + 16, y, `${names[name]} ${number}`), says !== number && label(x + 82, y, `says ${says}`, "am-axis"));
      }),
      label(0, ASKED, right ? `${names[asked]} on the shelf: ${right.number}` : `${names[asked]} was never written`, "am-bold"),
      label(SHELF, ASKED, `${names[asked]} on the board: ${m.says}`, "am-bold"),
      right && bars(patterns[right.number], 0), bars(m.found, SHELF)),
    CONTROLS,
  ];
}

export function said(m, { asked }, { names }) {
  const one = m.shelf.find(({ name }) => name === asked);
  const asks = one ? `Asked for ${names[asked]}, it reads ${m.says}; ${one.number} is right. The eight numbers read are ${num(m.off)} away from the pattern of ${one.number}, whose length is 1.` : `${names[asked]} was never written, but the board answers ${m.says}.`;
  return `${m.shelf.length} names written. The board gives back ${givenBack(m)} of their numbers from ${m.kept[0]} stored numbers, the shelf all of them from ${m.kept[1]}. ${asks}`;
}
