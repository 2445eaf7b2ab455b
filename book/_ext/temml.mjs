// One formula a line in, its MathML out: {tex, display} -> {mathml} or {error}.
// The first argument holds the macros as JSON, e.g. {"\\R": "\\mathbb{R}"}.
import { createInterface } from "node:readline";
import temml from "temml";

const macros = JSON.parse(process.argv[2] ?? "{}");

for await (const line of createInterface({ input: process.stdin })) {
  const { tex, display } = JSON.parse(line);
  let answer;
  try {
    const options = { displayMode: display, macros: { ...macros }, strict: true, throwOnError: true };
    answer = { mathml: temml.renderToString(tex, options) };
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
