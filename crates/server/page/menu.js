// @ts-check
// A menu that opens at a button: one choice, by pointer or by arrow keys, and the focus goes back to where it was.

import { button, make, set } from "./dom.js";

/** @typedef {{ words: string, act: () => void, key?: string, isGrave?: boolean }} Choice */

/** The menu that is open. @type {{ pane: HTMLElement, close: (goesBack: boolean) => void } | null} */
let open = null;

/**
 * Opens a menu at a node, or closes it where it is open there.
 * @param {HTMLElement} at
 * @param {string} name What screen readers call it.
 * @param {Choice[]} choices
 */
export function openMenu(at, name, choices) {
  const isHere = at.getAttribute("aria-expanded") === "true";
  open?.close(false);
  if (isHere) return at.focus();
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const pane = set(make("div", "menu"), { role: "menu", "aria-label": name, popover: "manual" });
  const items = choices.map(({ words, act, key, isGrave }) => {
    const item = set(
      button(words, isGrave ? "menu-item is-error" : "menu-item", () => {
        close(true);
        act();
      }),
      { role: "menuitem", tabindex: "-1" },
    );
    if (key) item.append(set(make("kbd", "", key), { "aria-hidden": "true" }));
    return item;
  });
  const close = (/** @type {boolean} */ goesBack) => {
    if (open?.pane !== pane) return;
    open = null;
    pane.remove();
    at.removeAttribute("aria-expanded");
    document.removeEventListener("pointerdown", outside, true);
    removeEventListener("resize", away);
    if (goesBack) (before?.isConnected ? before : at).focus();
  };
  const outside = (/** @type {Event} */ event) => {
    const target = /** @type {Node} */ (event.target);
    if (!pane.contains(target) && !at.contains(target)) close(false);
  };
  const away = () => close(false);
  pane.addEventListener("keydown", (event) => {
    const place = items.indexOf(/** @type {any} */ (document.activeElement));
    const to = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: items.length - 1 }[event.key];
    if (to !== undefined) items[(to + items.length) % items.length].focus();
    else if (event.key === "Escape" || event.key === "Tab") close(true);
    else if (event.key.length === 1) {
      const letter = event.key.toLowerCase();
      const after = [...items.slice(place + 1), ...items.slice(0, place + 1)];
      after.find((item) => item.textContent?.toLowerCase().startsWith(letter))?.focus();
    } else return;
    // The page has keys of its own.
    event.stopPropagation();
    if (event.key !== "Enter" && event.key !== " ") event.preventDefault();
  });
  pane.append(...items);
  document.body.append(pane);
  pane.showPopover();
  stand(pane, at.getBoundingClientRect());
  at.setAttribute("aria-expanded", "true");
  open = { pane, close };
  document.addEventListener("pointerdown", outside, true);
  addEventListener("resize", away);
  items[0].focus();
}

/** Below its button, or above it; never outside of the visible page. @param {HTMLElement} pane @param {DOMRect} at */
function stand(pane, at) {
  const { width, height } = pane.getBoundingClientRect();
  const isRoom = at.bottom + height + 8 < innerHeight;
  const top = isRoom ? at.bottom + 4 : Math.max(8, at.top - height - 4);
  const left = Math.max(8, Math.min(at.left, innerWidth - width - 8));
  pane.style.setProperty("inset", `${top}px auto auto ${left}px`);
}
