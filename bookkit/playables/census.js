/* The census: architectures by year, and which of them have what the reader picks. */

function start(root) {
  const { marks } = dataOf(root);
  const years = [...root.querySelectorAll(".am-census-year")];
  const names = [...root.querySelectorAll(".am-census-name")];
  const has = (name, mark) => name.getAttribute("data-am-marks").split(",").includes(mark);

  function told(mark) {
    if (mark === null) return `All ${names.length} architectures. Press a word to see which of them have it.`;
    const counts = years.map((year) => {
      const among = [...year.querySelectorAll(".am-census-name")];
      const found = among.filter((name) => has(name, mark.name)).length;
      return `${year.querySelector(".am-census-number").textContent}: ${found} of ${among.length}`;
    });
    const all = names.filter((name) => has(name, mark.name)).length;
    const title = mark.name[0].toUpperCase() + mark.name.slice(1);
    return `${title}: ${all} of ${names.length}. ${mark.words} ${counts.join(", ")}.`;
  }

  function show(place) {
    const mark = place === 0 ? null : marks[place - 1];
    filter.press(place);
    for (const name of names) {
      name.classList.toggle("am-census-on", mark !== null && has(name, mark.name));
      name.classList.toggle("am-census-off", mark !== null && !has(name, mark.name));
    }
    say(told(mark));
    state(mark === null ? "All architectures are shown." : told(mark));
  }

  const controls = controlsOf(root, "Choose what an architecture has", true);
  const filter = choice("Has:", ["anything", ...marks.map((mark) => mark.name)], show);
  controls.append(filter.element);
  const say = announcer(root);
  controls.after(root.querySelector(".am-live-say"));
  const state = stateOf(root);
  show(0);
}

upgrade("census", start);
