// What is wider than the page scrolls; this lets the keyboard reach it, and gives it a name. The browser tells
// of the size of what it has laid out: to ask at once would make it lay out all. What waits is asked one by one
// when the browser has nothing else to do, and at the latest when someone comes by keyboard.
{
  const scrollers = ".formula, .highlight pre, .output, .output pre, pre.literal-block, .text_html, .pst-scrollable-table-container";
  const parts = [...document.querySelectorAll(scrollers)];
  const named = {tabindex: "0", role: "group", "aria-label": "Wider than the page"};
  const mark = some => {
    // First look, then write: the other way round, every look would lay the page out again.
    const found = some.map(element => [element, element.scrollWidth > element.clientWidth]);
    for (const [element, wide] of found) {
      if (wide) for (const [name, value] of Object.entries(named)) element.setAttribute(name, value);
      else for (const name in named) element.removeAttribute(name);
    }
  };
  const sizes = new ResizeObserver(entries => mark(entries.map(entry => entry.target)));
  for (const part of parts) sizes.observe(part);

  let unknown = [...parts], asked = false;
  // Who has no idle time for half a second is asked for all at once; so is a browser that tells of none.
  const rest = task => window.requestIdleCallback
    ? requestIdleCallback(task, {timeout: 500})
    : setTimeout(() => task({didTimeout: true}), 500);
  const markNext = time => {
    do mark(unknown.splice(0, time.didTimeout ? unknown.length : 1));
    while (unknown.length && time.timeRemaining() > 4);
    asked = unknown.length > 0;
    if (asked) rest(markNext);
  };
  const markLater = () => {
    unknown = [...parts];
    if (!asked) rest(markNext);
    asked = true;
  };
  if (document.readyState === "complete") markLater(); // this script may come after the event
  else addEventListener("load", markLater);
  addEventListener("resize", markLater);
  addEventListener("keydown", event => {
    if (event.key === "Tab") mark(unknown.splice(0));
  }, true);
}

// The theme takes the focus from some buttons when they are pressed, and the keyboard loses its place.
// It also stops the event: hence before it, and afterwards.
addEventListener("click", event => {
  const button = event.detail === 0 && event.target.closest?.("button");
  if (button) setTimeout(() => document.activeElement === document.body && button.focus());
}, true);
