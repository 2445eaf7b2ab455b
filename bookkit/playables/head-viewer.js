/* The head viewer: choose a layer and a head, follow a token, or look at the whole matrix. */
import { argmax, choice, grid, h, hint, num, panel, range, ribbon } from "./kit.js";

const LINE = 28; // height of a token, in pixels
const FAINT = 0.02; // weights below it get no line
const [QUERY, KEY] = [0, 1];

export const start = ({ layer, head, query }) => ({
  layer, head, show: 0, pinned: query === null ? null : [QUERY, query], pointed: null, cell: null,
});

export const controls = ({ weights, layers, layerName, heads }, at) => panel(at, "Choose what is shown",
  layers.length > 1 && choice("layer", layerName, layers),
  choice("head", "Head", heads ?? range(weights[0].length, 1)),
  choice("show", "Show", ["lines", "matrix"], { then: { cell: null }, grows: true }),
  hint("Point at a token, tap it, or tab to it, to follow it alone."));

export const keys = () => ({ Escape: { pinned: null, pointed: null } });

const followed = (at) => at.pointed ?? at.pinned;
const same = (one, other) => one !== null && other !== null && one.join() === other.join();

/* The weights of the head, and those of the token that is followed: what it gives as a query, or gets
   as a key. */
export function model({ weights }, at) {
  const map = weights[at.layer][at.head];
  const [side, place] = followed(at) ?? [];
  return { map, partners: side === undefined ? null : side === QUERY ? map[place] : map.map((row) => row[place]) };
}

export function view({ map, partners }, at, data) {
  const here = followed(at);
  const [queries, keys] = [data.queries, data.keys];
  if (at.show === 1) {
    const tell = (row, column) => () => ({ cell: [row, column] });
    return grid({
      rows: queries, columns: keys, corner: `${data.names.join(" \u2193 ")} \u2192`, slanted: true, kind: "am-head-matrix",
      role: "group", "aria-label": "All weights of this head",
      cell: (row, column) => ({
        weight: map[row][column], "aria-label": `${queries[row]} to ${keys[column]}: ${num(map[row][column])}`,
        onfocus: tell(row, column), onclick: tell(row, column), onpointerenter: tell(row, column),
      }),
    });
  }
  const token = (side) => (word, place) => {
    const own = [side, place];
    return h("button", {
      type: "button", class: ["am-head-token", same(own, at.pinned) && "am-on"], title: word, "data-cell": `${place} ${side}`, "aria-pressed": same(own, at.pinned),
      onpointerenter: (_, event) => event.pointerType === "mouse" && { pointed: own },
      onpointerleave: (_, event) => event.pointerType === "mouse" && { pointed: null },
      onfocus: (_, event) => event.target.matches(":focus-visible") && { pointed: own },
      onblur: () => ({ pointed: null }),
      onclick: (now) => ({ pinned: same(own, now.pinned) ? null : own }),
    }, h("span", {}, word), h("span", { class: "am-head-number", "aria-hidden": "true" }, here && here[0] !== side && num(partners[place])));
  };
  const tokens = (side, words) => h("div", { class: ["am-head-side", side === QUERY && "am-head-left"], role: "group", "aria-label": data.names[side] },
    h("span", { class: "am-head-name" }, data.names[side]), words.map(token(side)));
  const lines = queries.map((_, query) => keys.map((__, key) => {
    const apart = here && here[1] !== (here[0] === QUERY ? query : key);
    const [from, to] = [query, key].map((place) => LINE * place + LINE / 2);
    return map[query][key] >= FAINT && !apart && ribbon(`M0 ${from}C40 ${from} 60 ${to} 100 ${to}`, map[query][key]);
  }));
  const high = LINE * Math.max(queries.length, keys.length);
  return h("div", { class: "am-head-lines am-rove", rove: true },
    tokens(QUERY, queries),
    h("svg", { viewBox: `0 0 100 ${high}`, height: high, preserveAspectRatio: "none", role: "img", "aria-label": here ? said({ map, partners }, at, data) : whole(map, at, data) }, lines),
    tokens(KEY, keys));
}

const where = ({ layer, head }, { layers, layerName, heads }) => (layers.length > 1 ? `${layerName} ${layers[layer]}, head ` : "Head ") + (heads?.[head] ?? head + 1);

function whole(map, at, { queries, keys }) {
  const most = (row) => (Math.max(...row) > 0 ? `most at ${keys[argmax(row)]}, ${num(Math.max(...row))}` : "at nothing");
  return queries.map((word, query) => `${word} looks ${most(map[query])}`).join("; ");
}

export function said({ map, partners }, at, data) {
  const [here, name] = [followed(at), where(at, data)];
  const { queries, keys } = data;
  if (at.show === 1 && at.cell) return `${queries[at.cell[0]]} to ${keys[at.cell[1]]}: ${num(map[at.cell[0]][at.cell[1]])}.`;
  if (at.show === 1) return `${name}. Rows look at columns: the more ink, the larger the weight.`;
  if (!here) {
    const most = map.map((row) => Math.max(...row));
    const query = argmax(most);
    return `${name}. The thickest line goes from ${queries[query]} to ${keys[argmax(map[query])]}, ${num(most[query])}.`;
  }
  const [side, place] = here;
  const [mine, others] = side === QUERY ? [queries, keys] : [keys, queries];
  const found = partners.map((share, at_) => ({ share, word: others[at_] })).filter(({ share }) => share >= FAINT);
  const most = found.sort((one, other) => other.share - one.share).slice(0, 3).map(({ share, word }) => `${word} ${num(share)}`).join(", ");
  return `${name}: ${mine[place]} ${side === QUERY ? "looks at" : "is looked at by"} ${most || "nothing"}.`;
}
