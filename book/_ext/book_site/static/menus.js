// Menus, tooltips and the way back to the top, as the theme's pages ask for them. The theme loads all
// of Bootstrap for these, 24 KB compressed; names of classes and attributes are Bootstrap's, for its styles.
{
  const WAIT = 500; // milliseconds before a tooltip comes
  let tip, waiting;

  const hide = () => {
    clearTimeout(waiting);
    tip?.target.removeAttribute("aria-describedby");
    tip?.element.remove();
    tip = undefined;
  };

  const within = (position, size, room) => Math.max(4, Math.min(position, room - size - 4));

  const put = (element, target, side) => {
    const [box, own] = [target.getBoundingClientRect(), element.getBoundingClientRect()];
    const level = side === "left" || side === "right";
    const x = level ? (side === "left" ? box.left - own.width : box.right) : box.left + (box.width - own.width) / 2;
    const y = level ? box.top + (box.height - own.height) / 2 : side === "top" ? box.top - own.height : box.bottom;
    const left = within(x, own.width, document.documentElement.clientWidth);
    const top = within(y, own.height, innerHeight);
    Object.assign(element.style, { left: `${left}px`, top: `${top}px` });
    const arrow = element.firstChild.getBoundingClientRect();
    if (level) element.firstChild.style.top = `${box.top + (box.height - arrow.height) / 2 - top}px`;
    else element.firstChild.style.left = `${box.left + (box.width - arrow.width) / 2 - left}px`;
  };

  const show = (target, words) => {
    hide();
    const side = target.dataset.bsPlacement ?? "top";
    const element = document.createElement("div");
    Object.assign(element, { className: "tooltip bs-tooltip-auto fade show", id: "tooltip", role: "tooltip" });
    element.dataset.popperPlacement = side;
    element.style.position = "fixed";
    element.innerHTML = '<div class="tooltip-arrow" style="position: absolute"></div><div class="tooltip-inner"></div>';
    element.lastChild.textContent = words;
    document.body.append(element);
    put(element, target, side);
    target.setAttribute("aria-describedby", element.id);
    tip = { target, element };
  };

  for (const target of document.querySelectorAll('[data-bs-toggle="tooltip"]')) {
    const words = target.title || target.dataset.bsTitle;
    if (!words) continue;
    if (!target.ariaLabel && !target.textContent.trim()) target.ariaLabel = words;
    target.removeAttribute("title"); // or the browser would show its own, too
    const soon = () => {
      clearTimeout(waiting);
      waiting = setTimeout(show, WAIT, target, words);
    };
    for (const event of ["mouseenter", "focusin"]) target.addEventListener(event, soon);
    for (const event of ["mouseleave", "focusout"]) target.addEventListener(event, hide);
  }
  addEventListener("keydown", event => event.key === "Escape" && hide());
  addEventListener("scroll", hide, { passive: true });
}

for (const button of document.querySelectorAll('[data-bs-toggle="dropdown"]')) {
  const whole = button.parentElement;
  const menu = whole.querySelector(".dropdown-menu");
  const isOpen = () => menu.classList.contains("show");
  const set = open => {
    for (const part of [button, menu]) part.classList.toggle("show", open);
    button.ariaExpanded = open;
    menu.toggleAttribute("data-bs-popper", open); // below the button
    menu.style.translate = "";
    const beyond = menu.getBoundingClientRect().right + 4 - document.documentElement.clientWidth;
    if (open && beyond > 0) menu.style.translate = `${-beyond}px`;
  };
  const step = by => {
    const items = [...menu.querySelectorAll(".dropdown-item")];
    const next = items.indexOf(document.activeElement) + by;
    items[Math.max(0, Math.min(next, items.length - 1))]?.focus();
  };
  button.addEventListener("click", () => set(!isOpen()));
  addEventListener("click", event => !button.contains(event.target) && set(false));
  addEventListener("keyup", event => event.key === "Tab" && !whole.contains(event.target) && set(false));
  whole.addEventListener("keydown", event => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!isOpen()) set(true);
      step(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Escape" && isOpen()) {
      set(false);
      button.focus();
    }
  });
}

{
  const button = document.getElementById("pst-back-to-top");
  const header = document.querySelector(".bd-header");
  let last = 0; // to ask for scrollY would lay out the page
  button?.addEventListener("click", () => scrollTo(0, 0));
  addEventListener("scroll", () => {
    if (!button || !header) return;
    const upward = last > scrollY && scrollY > header.getBoundingClientRect().bottom;
    button.style.display = upward ? "block" : "none";
    last = scrollY;
  }, { passive: true });
}
