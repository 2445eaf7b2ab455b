// What the theme takes all of Bootstrap for, and no more: menus, tooltips, the way back to the top.
import Dropdown from "bootstrap/js/src/dropdown.js";
import Tooltip from "bootstrap/js/src/tooltip.js";

window.bootstrap = { Dropdown, Tooltip }; // the theme's own script asks for it

for (const element of document.querySelectorAll('[data-bs-toggle="tooltip"]')) {
  new Tooltip(element, { delay: { show: 500, hide: 100 } });
}

const button = document.getElementById("pst-back-to-top");
const header = document.querySelector(".bd-header");
if (button && header) {
  let last = scrollY;
  addEventListener("scroll", () => {
    const upward = last > scrollY && scrollY > header.getBoundingClientRect().bottom;
    button.style.display = upward ? "block" : "none";
    last = scrollY;
  }, { passive: true });
  button.addEventListener("click", () => scrollTo(0, 0));
}
