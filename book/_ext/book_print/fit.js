// Lay a document out for paper: formulas, tables and pictures too large for a sheet get smaller, down to a
// limit. Returns what sticks out all the same. The window is as wide as the text of a sheet.
(limits) => {
  const width = (part) => part.getBoundingClientRect().width;
  const shrink = (part, room) => {
    for (let turn = 0, scale = 1; turn < 3 && width(part) > room && scale > limits.scale; turn++) {
      scale = Math.max(limits.scale, scale * room / width(part) * 0.99);
      part.style.fontSize = "";
      part.style.fontSize = `${parseFloat(getComputedStyle(part).fontSize) * scale}px`;
    }
  };
  for (const kind of [".formula > math", "table"]) {
    for (const part of document.querySelectorAll(kind)) shrink(part, part.parentElement.clientWidth + 1);
  }
  for (const picture of document.querySelectorAll("img, svg")) {
    const box = picture.getBoundingClientRect();
    if (box.height > limits.height) {
      picture.style.width = `${box.width * limits.height / box.height}px`;
      picture.style.height = "auto";
    }
  }
  const article = document.querySelector("article");
  const edge = article.getBoundingClientRect().right + 1;
  const hides = (part) => getComputedStyle(part).overflowX !== "visible"
    && part.scrollWidth > part.clientWidth + 1;
  // Chromium lets the padding of words in a line stand in the margin, where there is room for it.
  const right = (part) => {
    const style = getComputedStyle(part);
    return part.getBoundingClientRect().right - (style.display === "inline" ? parseFloat(style.paddingRight) : 0);
  };
  // What only a screen reader says is one pixel wide, behind a clip that hides its words.
  const unseen = (part) => getComputedStyle(part).clipPath === "inset(50%)";
  return [...article.querySelectorAll("*")]
    .filter((part) => !unseen(part))
    .filter((part) => !part.parentElement.closest("math, svg") && part.checkVisibility() && width(part))
    .filter((part) => right(part) > edge || hides(part))
    .map((part) => `${part.closest(".am-chapter")?.id}: too wide: ${part.outerHTML.slice(0, 160)}`);
}
