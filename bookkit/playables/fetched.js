/* Files that a page fetches after a click, each of them once: {address, bytes} on the site that the
   page is part of, or {base64, bytes} in the output itself. */
import { button, h, inBytes, sum } from "./kit.js";

const kept = new Map();
const nameOf = ({ address, base64 }) => address ?? base64;

async function bytesOf({ address, base64 }) {
  if (base64) return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer;
  const answer = await fetch(`${document.documentElement.dataset.content_root}_static/${address}`);
  if (!answer.ok) throw new Error(`the site answers ${answer.status}`);
  return answer.arrayBuffer();
}

/* What a file was read into, or undefined before it is fetched. */
export const found = (file) => kept.get(nameOf(file));

/* Fetch a file, and read its bytes with a function. */
export async function get(file, read) {
  if (!found(file)) kept.set(nameOf(file), read(await bytesOf(file)));
  return found(file);
}

export const sizeOf = (...files) => inBytes(sum(files.map(({ bytes }) => bytes)));

/* Whether there is a site around the page, or the output holds the file. */
const canLoad = ({ base64 }) => base64 || typeof document === "undefined" || document.documentElement.dataset.content_root !== undefined;

/* A button for a panel that fetches files. words(size) is what it says, `instead` what is said where
   nothing can be fetched; fetchAll(data) reads them all, and says what changes in the state. A key
   that pressed the button goes on in the field that came with the files. */
export const loader = (files, { words, instead, fetchAll }) => (at) => {
  async function load({ loading }, event, { data, root, set }) {
    if (loading) return null;
    const byKey = event.detail === 0;
    set({ loading: true, note: `Fetching ${sizeOf(...files)}.` });
    try {
      set(await fetchAll(data));
    } catch (fault) {
      return { loading: false, note: `This could not be fetched: ${fault.message}. A page that was opened from a folder, and not from a site, cannot load anything.` };
    }
    if (byKey) root.querySelector("input[type=text]").focus();
    return null;
  }
  return canLoad(files[0]) ? button(words(sizeOf(...files)), load, { off: at.loading, "data-grows": true })() : h("p", {}, instead);
};
