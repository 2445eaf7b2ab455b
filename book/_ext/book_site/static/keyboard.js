// What is wider than the page scrolls; this lets the keyboard reach it.
{
  const scrollers = ".formula, .highlight pre, .output pre, pre.literal-block, .text_html, .pst-scrollable-table-container";
  const mark = () => {
    // First look, then write: the other way round, every look would lay the page out again.
    const found = [...document.querySelectorAll(scrollers)].map(e => [e, e.scrollWidth > e.clientWidth]);
    for (const [element, wide] of found) {
      if (wide) element.tabIndex = 0;
      else if (element.hasAttribute("tabindex")) element.removeAttribute("tabindex");
    }
  };
  addEventListener("load", mark);
  addEventListener("resize", mark);
}

// The theme takes the focus from some buttons when they are pressed, and the keyboard loses its place.
// It also stops the event: hence before it, and afterwards.
addEventListener("click", event => {
  const button = event.detail === 0 && event.target.closest?.("button");
  if (button) setTimeout(() => document.activeElement === document.body && button.focus());
}, true);
