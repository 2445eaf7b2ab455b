/* The timeline: a thread of the history by what was changed, a step by its name. */

function start(root) {
  const { kinds, steps } = dataOf(root);
  const names = Object.keys(kinds);
  const lanes = [...root.querySelectorAll(".am-timeline-lane")];
  const dots = [...root.querySelectorAll(".am-timeline-dot")];
  let thread = null;
  let opened = null;

  const among = (step) => thread === null || step.kinds.includes(thread);

  /* Names become buttons. */
  const rows = [...root.querySelectorAll(".am-timeline-year")];
  const lines = rows.map((row) => [...row.querySelectorAll(".am-timeline-step")].map((shown) => {
    const place = Number(shown.getAttribute("data-am-step"));
    const made = make("button", {
      type: "button",
      class: "am-timeline-step",
      "aria-expanded": "false",
      "data-am-step": place,
    });
    made.append(...shown.childNodes);
    made.addEventListener("click", () => open(opened === place ? null : place));
    shown.replaceWith(made);
    return made;
  }));
  const buttons = lines.flat();
  const words = make("div", { class: "am-timeline-words" });

  function tell(place) {
    const { month, by, url, where, kept, changed } = steps[place];
    const source = make("a", { href: url }, by);
    words.replaceChildren(
      make("p", {}, `${month}: ${steps[place].kinds.join(", ")}.`),
      make("p", {}, make("strong", {}, "Kept: "), kept),
      make("p", {}, make("strong", {}, "Changed: "), changed),
      make("p", {}, "Source: ", source, where ? `, ${where}.` : ".")
    );
  }

  function open(place) {
    opened = place;
    buttons.forEach((one, other) => one.setAttribute("aria-expanded", String(other === place)));
    dots.forEach((dot) => {
      dot.classList.toggle("am-timeline-here", Number(dot.getAttribute("data-am-step")) === place);
    });
    words.remove();
    if (place === null) return;
    tell(place);
    buttons[place].closest(".am-timeline-year").append(words);
  }

  function told() {
    if (thread === null) return `All ${steps.length} steps. Press a name to read what it kept and what it changed.`;
    const found = steps.filter(among);
    const [first, last] = [found[0], found[found.length - 1]];
    return (
      `${thread[0].toUpperCase()}${thread.slice(1)}, ${kinds[thread]}: ${found.length} of ${steps.length} steps, ` +
      `from ${first.month} (${first.name}) to ${last.month} (${last.name}).`
    );
  }

  function follow(kind) {
    thread = kind;
    filter.press(kind === null ? 0 : names.indexOf(kind) + 1);
    lanes.forEach((lane) => {
      lane.classList.toggle("am-timeline-off", kind !== null && lane.getAttribute("data-am-kind") !== kind);
    });
    buttons.forEach((one, place) => {
      one.classList.toggle("am-timeline-off", !among(steps[place]));
      one.classList.toggle("am-timeline-on", kind !== null && among(steps[place]));
    });
    if (opened !== null && !among(steps[opened])) open(null);
    say(told());
    state(kind === null ? "All steps are shown." : told());
  }

  /* From year to year; along the steps, arrow keys move by rove. */
  function byYear(event) {
    const row = lines.findIndex((line) => line.includes(event.target));
    const turn = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (row < 0 || !turn || event.ctrlKey || event.altKey || event.metaKey) return;
    const next = lines[row + turn];
    if (next) next[Math.min(lines[row].indexOf(event.target), next.length - 1)].focus();
  }

  const controls = controlsOf(root, "Choose what was changed", true);
  const filter = choice("Changed:", ["anything", ...names], (chosen) => follow(chosen === 0 ? null : names[chosen - 1]));
  controls.append(filter.element);
  const say = announcer(root);
  controls.after(root.querySelector(".am-live-say"));
  const state = stateOf(root);
  rove([buttons]);
  root.querySelector(".am-timeline-years").addEventListener("keydown", byYear);
  follow(null);
}

upgrade("timeline", start);
