/* What the drawings of the atlas are made of: shapes as bookkit/atlas/shapes.py packs them, and lines of layers. */
import { h } from "./kit.js";

const SHAPES = {
  r: ["rect", "x", "y", "width", "height", "rx"], c: ["circle", "cx", "cy", "r"], l: ["line", "x1", "y1", "x2", "y2"],
  p: ["path", "d"], d: ["path", "d", "stroke-width", "stroke-dasharray"], t: ["text", "x", "y"],
};
const STRIPES = {
  f: ["full", 1], i: ["indexed", 1], l: ["latent", 0.8], w: ["window", 0.55], s: ["state", 0.3], c: ["short", 0.15], n: ["none", 0.05],
};

/* The paths of a strip, a bar for every layer; any other shape as it is. */
function expanded([letter, look, ...rest]) {
  if (letter !== "s") return [[letter, look, ...rest]];
  const [x, y, width, height, layers] = rest;
  const step = height / layers.length;
  return [...new Set(layers)].map((kind) => {
    const [reach, part] = STRIPES[kind];
    const bars = [...layers].map((layer, place) => (layer === kind ? `M${x} ${y + height - (place + 0.5) * step}h${width * part}` : ""));
    return ["d", `${look} ${reach}`, bars.join(""), Math.max(1, step - Math.min(2, step / 3)), "none"];
  });
}

export const drawing = ({ size, shapes, alt }) => h("svg", {
  viewBox: `0 0 ${size[0]} ${size[1]}`, role: "img", "aria-label": alt, class: "am-atlas-drawing",
}, shapes.flatMap(expanded).map(([letter, look, ...rest]) => {
  const [tag, ...names] = SHAPES[letter];
  const given = Object.fromEntries(names.map((name, place) => [name, rest[place]]));
  return h(tag, { class: look.split(" ").map((word) => `am-atlas-${word}`), ...given }, letter === "t" && rest[2]);
}));

/* The layers from the first, on the left, to the last, each as high as it reaches far. */
export const layerLine = (layers, words) => h("svg", {
  class: "am-atlas-line", viewBox: `-.5 0 ${layers.length} 20`, role: "img", preserveAspectRatio: "none", "aria-label": `The layers: ${words}`,
}, [...new Set(layers)].map((kind) => {
  const [reach, part] = STRIPES[kind];
  const bars = [...layers].map((layer, place) => (layer === kind ? `M${place} 20v-${20 * part}` : ""));
  return h("path", { class: `am-atlas-reach am-atlas-${reach}`, d: bars.join("") });
}));
