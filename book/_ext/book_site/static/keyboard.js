// What is wider than the page scrolls; this lets the keyboard reach it, and gives it a name.
{
  const scrollers = ".formula, .highlight pre, .output, .output pre, pre.literal-block, .text_html, .pst-scrollable-table-container, figure:has(> img)";
  const named = {tabindex: "0", role: "group", "aria-label": "Wider than the page"};
  const mark = parts => {
    // First look, then write: the other way round, every look would lay the page out again.
    const found = parts.map(part => [part, part.scrollWidth > part.clientWidth]);
    for (const [part, wide] of found) {
      const added = part.matches("figure") ? {tabindex: "0"} : named; // a figure has a role, and its caption is its name
      if (wide) for (const [name, value] of Object.entries(added)) part.setAttribute(name, value);
      else for (const name in named) part.removeAttribute(name);
    }
  };
  const sizes = new ResizeObserver(entries => mark(entries.map(entry => entry.target)));
  const parts = [...document.querySelectorAll(scrollers)];
  for (const part of parts) sizes.observe(part);
  addEventListener("keydown", event => event.key === "Tab" && mark(parts), {capture: true, once: true});
}

// The theme takes the focus from some buttons when they are pressed, and the keyboard loses its place.
// It also stops the event: hence before it, and afterwards.
addEventListener("click", event => {
  const button = event.detail === 0 && event.target.closest?.("button");
  if (button) setTimeout(() => document.activeElement === document.body && button.focus());
}, true);
