// What is wider than the page scrolls; this lets the keyboard reach it. The browser tells of the size of
// what it has laid out: to ask sooner would make it lay out all. Who comes by keyboard needs to know all.
{
  const scrollers = ".formula, .highlight pre, .output, .output pre, pre.literal-block, .text_html, .pst-scrollable-table-container";
  const parts = [...document.querySelectorAll(scrollers)];
  const mark = some => {
    // First look, then write: the other way round, every look would lay the page out again.
    const found = some.map(element => [element, element.scrollWidth > element.clientWidth]);
    for (const [element, wide] of found) {
      if (wide) element.tabIndex = 0;
      else element.removeAttribute("tabindex");
    }
  };
  const sizes = new ResizeObserver(entries => mark(entries.map(entry => entry.target)));
  for (const part of parts) sizes.observe(part);
  let known = false;
  addEventListener("resize", () => known = false);
  addEventListener("keydown", event => {
    if (known || event.key !== "Tab") return;
    known = true;
    mark(parts);
  }, true);
}

// The theme takes the focus from some buttons when they are pressed, and the keyboard loses its place.
// It also stops the event: hence before it, and afterwards.
addEventListener("click", event => {
  const button = event.detail === 0 && event.target.closest?.("button");
  if (button) setTimeout(() => document.activeElement === document.body && button.focus());
}, true);
