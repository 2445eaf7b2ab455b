/* What Node does for Python: reads [[name, want, data, changes], ...] and writes a list of answers. `want`
   is "still", the body of a figure as HTML; "model" or "said", for the first state with changes; or
   another function of the module, for the data alone. */
import { text } from "node:stream/consumers";
import { still, unpack } from "./kit.js";

async function answer([name, want, given, changes = {}]) {
  const it = await import(`./${name}.js`);
  if (want === "still") return still(it, given);
  const data = unpack(given);
  if (want !== "model" && want !== "said") return it[want](data);
  const at = { ...it.start(data), ...changes };
  const m = it.model(data, at);
  return want === "model" ? m : it.said(m, at, data);
}

const asked = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify(await Promise.all(asked.map(answer))));
