/* Translate in Node: [content of a file in base64, sentences, kind of a change or "", share, most words] in, translations out.
   A Transformer is given whole texts, and its answers say how it cut them. */
import { text } from "node:stream/consumers";
import { cutter, joined } from "../../../bookkit/playables/pieces.js";
import { cutLargest, readTranslator, swapLargest, translate } from "../../../bookkit/playables/seq2seq.js";
import { translate as transform } from "../../../bookkit/playables/transformer.js";

const [content, sentences, kind, share, longest] = JSON.parse(await text(process.stdin));
const changes = { cut: (row) => cutLargest(row, share), swap: (row) => swapLargest(row, share) };
const translator = readTranslator(Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0)).buffer);
const options = { longest, ...(kind && { change: changes[kind] }) };
const cut = translator.merges && cutter(translator.merges);
process.stdout.write(JSON.stringify(sentences.map((sentence) => {
  if (!cut) return translate(translator, sentence, options);
  const words = cut(sentence).map((piece) => (translator.ids.has(piece) ? piece : "<unk>"));
  const done = longest ? transform(translator, words, options) : { written: [], rows: [] };
  return { words, ...done, text: joined(done.written) };
})));
