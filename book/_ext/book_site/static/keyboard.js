// What is wider than the page scrolls; this lets the keyboard reach it.
{
  const scrollers = ".formula, .highlight pre, .output pre, .text_html, .pst-scrollable-table-container";
  const mark = () => {
    for (const element of document.querySelectorAll(scrollers)) {
      if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
      else element.removeAttribute("tabindex");
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
