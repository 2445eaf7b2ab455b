// Make a script or a style sheet small: {js} -> {js}, {css, unused} -> {css}.
// `js` gets the theme's menus in front; `unused` names classes, ids and custom properties that may go.
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import esbuild from "esbuild";
import * as lightning from "lightningcss";

const options = { minify: true, legalComments: "eof", target: "es2020" };

async function scripts({ js }) {
  const menus = await esbuild.build({
    ...options,
    entryPoints: [fileURLToPath(new URL("menus.js", import.meta.url))],
    bundle: true,
    format: "iife",
    write: false,
  });
  const rest = await esbuild.transform(js, options); // its names are global, and stay
  return { js: menus.outputFiles[0].text + rest.code };
}

function styles({ css, unused }) {
  const code = Buffer.from(css);
  // Hacks for old browsers are no valid CSS: dropped, as browsers do.
  const done = lightning.transform({ filename: "book.css", code, minify: true, errorRecovery: true, unusedSymbols: unused });
  return { css: done.code.toString() };
}

const job = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify("js" in job ? await scripts(job) : styles(job)));
