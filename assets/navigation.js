// The link past the navigation, and the chapters' menus where there is no room for all pages: a press or Enter opens one, and
// Escape, another place or another menu closes it.
element.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address may name a run, which must stay
  document.getElementById("content").focus();
});

const menus = [...element.querySelectorAll(".chapter-menu")];
const isOpen = (menu) => menu.getAttribute("aria-expanded") === "true";
const set = (menu, open) => menu.setAttribute("aria-expanded", String(open));

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
