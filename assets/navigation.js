// The link past the navigation, and the chapters' menus where there is no room for all pages: a press or Enter opens one, and
// Escape, another place or another menu closes it.
element.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address may name a run, which must stay
  document.getElementById("content").focus();
});

const menus = [...element.querySelectorAll(".chapter-menu")];
const isOpen = (menu) => menu.getAttribute("aria-expanded") === "true";
const set = (menu, open) => menu.setAttribute("aria-expanded", String(open));

// One stop for Tab: the arrows move between the chapters, and down into the pages of one that is open.
const first = menus.find((menu) => menu.closest(".chapter").querySelector("[aria-current]")) || menus[0];
menus.forEach((menu) => { menu.tabIndex = menu === first ? 0 : -1; });
element.querySelector("nav").addEventListener("keydown", (event) => {
  const chapter = event.target.closest(".chapter");
  if (!chapter) return;
  const across = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const down = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!across && !down) return;
  event.preventDefault();
  const menu = chapter.querySelector(".chapter-menu");
  if (across) {
    const next = menus[(menus.indexOf(menu) + across + menus.length) % menus.length];
    if (isOpen(menu)) menus.forEach((other) => set(other, other === next));
    next.focus();
    return;
  }
  menus.forEach((other) => set(other, other === menu));
  const stops = [menu, ...chapter.querySelectorAll("a")];
  stops[(stops.indexOf(event.target) + down + stops.length) % stops.length].focus();
});

menus.forEach((menu) => {
  const chapter = menu.closest(".chapter");
  menu.addEventListener("click", () => {
    const open = !isOpen(menu);
    menus.forEach((other) => set(other, other === menu && open));
  });
  chapter.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !isOpen(menu)) return;
    set(menu, false);
    menu.focus();
  });
  chapter.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !chapter.contains(event.relatedTarget)) set(menu, false);
  });
});

document.addEventListener("click", (event) => {
  if (!event.target.closest?.(".chapter")) menus.forEach((menu) => set(menu, false));
});
