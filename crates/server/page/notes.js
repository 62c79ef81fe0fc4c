// @ts-check
// Small words to the person: seen for a while in a corner, or only heard by those who listen to the page.

import { $, make } from "./dom.js";
import { cut } from "./words.js";

/** A note is seen so long; a pointer on it keeps it. */
const SHOWN_MS = 4000;

/** Heard by screen readers, once they have finished what they are saying. @param {string} words */
export function say(words) {
  $("announcer").textContent = cut(words, 400);
}

/** Seen and heard. @param {string} words */
export function note(words) {
  const node = make("p", "toast", words);
  const pane = $("toasts");
  // Said twice, it is seen once more, not twice.
  for (const one of [...pane.children]) if (one.textContent === words) one.remove();
  pane.append(node);
  while (pane.childElementCount > 3) pane.firstElementChild?.remove();
  let timer = setTimeout(() => node.remove(), SHOWN_MS);
  node.addEventListener("pointerenter", () => clearTimeout(timer));
  node.addEventListener("pointerleave", () => (timer = setTimeout(() => node.remove(), SHOWN_MS)));
  say(words);
}
