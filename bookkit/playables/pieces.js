/* Cut text into word pieces, and join them again, as bookkit/data/pieces.py does. */

/* Signs that are never joined with others but the space before them: marks, and single digits. */
const MARK = /(▁?(?!▁)[\p{P}\p{S}\p{N}])/u;

/* Return what cuts a text into pieces; merges are pairs of pieces, "a b", the first to be merged first. */
export function cutter(merges) {
  const ranks = new Map(merges.map((pair, rank) => [pair, rank]));

  function cutWord(word) {
    const pieces = [...word];
    for (;;) {
      let [best, at] = [Infinity, -1];
      for (let place = 0; place < pieces.length - 1; place += 1) {
        const rank = ranks.get(`${pieces[place]} ${pieces[place + 1]}`) ?? Infinity;
        if (rank < best) [best, at] = [rank, place];
      }
      if (at < 0) return pieces;
      pieces.splice(at, 2, pieces[at] + pieces[at + 1]);
    }
  }

  return (text) => {
    const spaced = text.normalize("NFC").replaceAll(" ", "▁");
    const words = (spaced.startsWith("▁") || !spaced ? spaced : `▁${spaced}`).match(/▁[^▁]*/gu) ?? [];
    return words.flatMap((word) => word.split(MARK)).filter(Boolean).flatMap(cutWord);
  };
}

/* The pieces of a sentence, a list for every word; a mark is a word of its own. */
export function inWords(pieces) {
  const words = [];
  for (const piece of pieces) {
    const last = words.at(-1)?.at(-1);
    if (!last || piece.startsWith("▁") || MARK.test(piece) || MARK.test(last)) words.push([]);
    words.at(-1).push(piece);
  }
  return words;
}

/* Pieces as a text. */
export const joined = (pieces) => pieces.join("").replaceAll("▁", " ").replace(/^ /, "");
