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
addEventListener("click", event => {
  const button = event.target.closest?.("button");
  const byKeyboard = event.detail === 0;
  if (byKeyboard && button && document.activeElement === document.body) button.focus();
});
