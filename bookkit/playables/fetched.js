/* Files that a page fetches after a click, each of them once: {address, bytes} on the site that the
   page is part of, or {base64, bytes} in the output itself. */

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

export const kibibytes = (...files) => `${Math.round(files.reduce((total, { bytes }) => total + bytes, 0) / 1024)} KiB`;

/* Whether there is a site around the page, or the output holds the file. */
export const canLoad = ({ base64 }) => base64 || typeof document === "undefined" || document.documentElement.dataset.content_root !== undefined;
