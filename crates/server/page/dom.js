// @ts-check
// Making and keeping nodes. A node is kept under the key of what it shows and changed only where that has changed,
// so that focus, scroll and selection stay where they are. Text is only ever put in as text.

/** From so many nodes on, those out of sight are not laid out. */
const LONG = 60;

/** @param {string} id */
export const $ = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {string} id */
export const dialog = (id) => /** @type {HTMLDialogElement} */ (document.getElementById(id));

/** @param {string} name @param {string} look @param {...(Node | string)} content */
export function make(name, look, ...content) {
  const node = document.createElement(name);
  if (look) node.className = look;
  node.append(...content);
  return node;
}

/** @param {string} label @param {string} look @param {(event: MouseEvent) => void} act @returns {HTMLButtonElement} */
export function button(label, look, act) {
  const node = /** @type {HTMLButtonElement} */ (make("button", look, label));
  node.type = "button";
  node.addEventListener("click", act);
  return node;
}

/** A sign with words for those who do not see it. @param {string} sign @param {string} words @param {string} [look] */
export function sign(sign, words, look = "sign") {
  const node = make("span", look, sign);
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", words);
  node.title = words;
  return node;
}

/** @param {HTMLElement} node @param {Record<string, string | null>} attributes */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) node.removeAttribute(name);
    else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  return node;
}

/** @type {WeakMap<HTMLElement, Map<string, HTMLElement>>} */
const keyed = new WeakMap();
/** @type {WeakMap<HTMLElement, any[]>} */
const shown = new WeakMap();

/**
 * The node of a key, made where there is none.
 * @param {HTMLElement} pane
 * @param {string} key
 * @param {string} name
 * @param {string} look
 */
export function kept(pane, key, name, look) {
  const known = keyed.get(pane) ?? new Map();
  keyed.set(pane, known);
  let node = known.get(key);
  if (!node) known.set(key, (node = make(name, look)));
  return /** @type {HTMLElement} */ (node);
}

/**
 * Changes a node if one of the facts that it shows is another.
 * @param {HTMLElement} node
 * @param {any[]} facts
 * @param {() => void} how
 */
export function change(node, facts, how) {
  const before = shown.get(node);
  if (before && before.length === facts.length && before.every((fact, at) => fact === facts[at])) return;
  shown.set(node, facts);
  how();
}

/**
 * Puts nodes in their order, moving as few as possible; what is not among them goes.
 * @param {HTMLElement} pane
 * @param {HTMLElement[]} nodes
 */
export function place(pane, nodes) {
  const wanted = new Set(nodes);
  for (const node of [...pane.children]) if (!wanted.has(/** @type {HTMLElement} */ (node))) node.remove();
  let at = pane.firstElementChild;
  for (const node of nodes) {
    if (node === at) at = at.nextElementSibling;
    else pane.insertBefore(node, at);
  }
  pane.classList.toggle("is-long", nodes.length > LONG);
  const known = keyed.get(pane);
  if (known) for (const [key, node] of known) if (!wanted.has(node)) known.delete(key);
}

/** A table with a heading row. @param {string} caption @param {string[]} heads @param {(Node | string)[][]} rows */
export function table(caption, heads, rows) {
  const head = make("tr", "", ...heads.map((text) => set(make("th", "", text), { scope: "col" })));
  const body = rows.map((cells) =>
    make(
      "tr",
      "",
      ...cells.map((cell, at) => (at === 0 ? set(make("th", "", cell), { scope: "row" }) : make("td", "", cell))),
    ),
  );
  return make("table", "", make("caption", "unseen", caption), make("thead", "", head), make("tbody", "", ...body));
}

/**
 * What may be wider or longer than its place: it scrolls, also by keys.
 * @param {string} label
 * @param {...Node} content
 */
export function scroller(label, ...content) {
  return set(make("div", "scroll", ...content), { tabindex: "0", role: "region", "aria-label": label });
}

/** A dialog's heading. @param {HTMLDialogElement} pane @param {string} words */
export function title(pane, words) {
  const node = set(make("h2", "", words), { id: `${pane.id}-title`, tabindex: "-1" });
  pane.setAttribute("aria-labelledby", node.id);
  return node;
}

/** The row of buttons at a dialog's end that closes it. @param {HTMLDialogElement} pane @param {...Node} others */
export const closing = (pane, ...others) =>
  make(
    "div",
    "buttons",
    ...others,
    button("Close", "", () => pane.close()),
  );

/** Opens a dialog over the page; the browser gives the focus back where it was. @param {HTMLDialogElement} pane */
export function show(pane) {
  if (!pane.open) pane.showModal();
}

/** Whether some dialog is open. */
export const isAsked = () => document.querySelector("dialog[open]") !== null;

/** Whether the person types text. @param {EventTarget | null} target */
export function isTyping(target) {
  const node = target instanceof HTMLElement ? target : null;
  return (
    node !== null &&
    (node.isContentEditable ||
      ["TEXTAREA", "SELECT"].includes(node.tagName) ||
      (node instanceof HTMLInputElement && !["checkbox", "button"].includes(node.type)))
  );
}
