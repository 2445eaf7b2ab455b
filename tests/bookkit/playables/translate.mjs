/* Translate in Node: [content of a file in base64, sentences, kind of a change or "", share, most words] in, translations out. */
import { text } from "node:stream/consumers";
import { cutLargest, readTranslator, swapLargest, translate } from "../../../bookkit/playables/seq2seq.js";

const [content, sentences, kind, share, longest] = JSON.parse(await text(process.stdin));
const changes = { cut: (row) => cutLargest(row, share), swap: (row) => swapLargest(row, share) };
const translator = readTranslator(Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0)).buffer);
const options = { longest, ...(kind && { change: changes[kind] }) };
process.stdout.write(JSON.stringify(sentences.map((words) => translate(translator, words, options))));
