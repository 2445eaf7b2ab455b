// A guess is answered on the click: whether it was right, and why. See book_site/guess.py.
for (const guess of document.querySelectorAll(".guess")) {
  const options = [...guess.querySelectorAll(".guess-option")];
  const right = options.find((option) => "right" in option.dataset);
  guess.addEventListener("click", ({ target }) => {
    const chosen = target.closest(".guess-option");
    if (!chosen) return;
    for (const option of options) option.setAttribute("aria-pressed", option === chosen);
    guess.dataset.guessed = "";
    guess.querySelector(".guess-said").textContent = chosen === right ? "Yes." : `No: ${right.textContent}.`;
    guess.querySelector("details").open = true;
  });
}
