// Make scripts and style sheets small: {js} -> {js}, {css, unused} -> {css}, {scripts} or {sheets} by
// name -> the same. `unused` names the classes, ids and custom properties that may go.
import { text } from "node:stream/consumers";
import esbuild from "esbuild";
import * as lightning from "lightningcss";

async function script({ js }) {
  // The names of the scripts are global, and stay as they are.
  const done = await esbuild.transform(js, { minify: true, legalComments: "eof", target: "es2022" });
  return { js: done.code };
}

function sheet({ css, unused }) {
  const code = Buffer.from(css);
  // Hacks for old browsers are no valid CSS: dropped, as browsers do.
  const done = lightning.transform({ filename: "book.css", code, minify: true, errorRecovery: true, unusedSymbols: unused });
  return { css: done.code.toString() };
}

const job = JSON.parse(await text(process.stdin));
const each = async (texts, make) => Object.fromEntries(
  await Promise.all(Object.entries(texts).map(async ([name, text]) => [name, await make(text)])));
const answer =
  "scripts" in job ? await each(job.scripts, async (js) => (await script({ js })).js)
  : "sheets" in job ? await each(job.sheets, (css) => sheet({ css, unused: [] }).css)
  : "js" in job ? await script(job) : sheet(job);
process.stdout.write(JSON.stringify(answer));
