/* The register of claims: lets the reader choose which rows are shown. */

function start(root) {
  const { filters } = dataOf(root);
  const rows = [...root.querySelectorAll("tbody tr")];
  const sentences = rows.map((row) => row.cells[0].textContent.toLowerCase());
  const chosen = filters.map(() => -1);

  function fits(row, place, words) {
    const wanted = filters.every(({ name, values }, at) => {
      return chosen[at] < 0 || row.getAttribute(`data-am-${name}`) === values[chosen[at]];
    });
    return wanted && words.every((word) => sentences[place].includes(word));
  }

  function draw() {
    const words = field.value.toLowerCase().split(" ").filter((word) => word);
    rows.forEach((row, place) => {
      row.hidden = !fits(row, place, words);
    });
    const shown = rows.filter((row) => !row.hidden).length;
    say(`${shown} of ${rows.length} claims are shown.`);
  }

  const controls = controlsOf(root, "Choose which claims are shown", true);
  const lists = filters.map(({ title, words }, at) =>
    select(title, ["all", ...words], (place) => {
      chosen[at] = place - 1;
      draw();
    })
  );
  const field = make("input", { type: "search", spellcheck: "false" });
  field.addEventListener("input", draw);
  const sought = make("label", { class: "am-register-words" }, make("span", {}, "Words"), field);
  const reset = button("Show all", () => {
    chosen.fill(-1);
    lists.forEach((list) => list.choose(0));
    field.value = "";
    draw();
  });
  controls.append(...lists.map((list) => list.element), sought, reset);
  const say = announcer(root);
  controls.after(root.querySelector(".am-live-say"));
  draw();
}

upgrade("register", start);
