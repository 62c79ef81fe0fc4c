// @ts-check
// Keys, for all that can be done without a mouse. Single letters are never keys while the person types, nor while a
// dialog is open.

import { closing, isAsked, isTyping, make, set, show, title } from "./dom.js";

/**
 * @typedef {Record<"help" | "palette" | "newOne" | "filter" | "chat" | "timeline" | "cost" | "board" | "approvals" | "parent" | "child" | "openAll" | "rename" | "archive" | "fork" | "attach", () => void> & { stop: (thread: string | null) => void, toggle: (key: string, isOpen: boolean) => void }} Acts
 */

/** @type {[string, string][]} */
const HELP = [
  ["?", "keyboard shortcuts"],
  ["Ctrl K", "command palette"],
  ["n", "new conversation"],
  ["/", "filter conversations"],
  ["r  e  f", "rename, archive, fork the focused conversation"],
  ["u", "attach files"],
  ["g c", "chat"],
  ["g t", "timeline"],
  ["g u", "usage and cost"],
  ["g b", "board of tasks"],
  ["g a", "approvals"],
  ["j  k", "next, previous row"],
  ["→  ←", "open, close the focused row"],
  ["Shift →", "open everything"],
  ["[  ]", "to the parent, to the sub-agent"],
  [".", "stop the focused agent"],
  ["Enter", "send; Shift Enter for a new line"],
];
/** @type {[string, string][]} */
const HELP_BOARD = [
  ["Enter", "open the focused task"],
  ["Shift →  Shift ←", "move it to the next, the previous column"],
  ["↑  ↓  →  ←", "go to other tasks"],
];
/** @type {[string, string][]} */
const HELP_APPROVAL = [
  ["a", "approve once"],
  ["s", "approve in this thread"],
  ["w", "approve always"],
  ["e", "edit the input"],
  ["d", "deny"],
  ["o", "open the thread"],
  ["Esc", "decide later"],
];
/** A `g` waits so long for its second letter. */
const SECOND_MS = 1500;

/** @param {HTMLElement} rows Where rows are. @param {Acts} acts */
export function listen(rows, acts) {
  let wentAt = 0;
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      return isAsked() ? undefined : acts.palette();
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isAsked())
      return;
    const isSecond = Date.now() - wentAt < SECOND_MS;
    wentAt = 0;
    if (isSecond && second(event.key, acts)) return event.preventDefault();
    if (event.key === "g") return void (wentAt = Date.now());
    if (first(event, rows, acts)) event.preventDefault();
  });
}

/** @param {string} key @param {Acts} acts */
function second(key, acts) {
  const act = { c: acts.chat, t: acts.timeline, u: acts.cost, b: acts.board, a: acts.approvals }[key];
  act?.();
  return act !== undefined;
}

/** @param {KeyboardEvent} event @param {HTMLElement} rows @param {Acts} acts */
function first(event, rows, acts) {
  const row = /** @type {HTMLElement | null} */ (document.activeElement?.closest("[data-row]") ?? null);
  const key = row?.dataset.open;
  switch (event.key) {
    case "?":
      acts.help();
      return true;
    case "n":
      acts.newOne();
      return true;
    case "/":
      acts.filter();
      return true;
    case "r":
      acts.rename();
      return true;
    case "e":
      acts.archive();
      return true;
    case "f":
      acts.fork();
      return true;
    case "u":
      acts.attach();
      return true;
    case "[":
      acts.parent();
      return true;
    case "]":
      acts.child();
      return true;
    case ".":
      acts.stop(row?.closest(".group")?.getAttribute("data-thread") ?? null);
      return true;
    case "j":
      return move(rows, row, 1);
    case "k":
      return move(rows, row, -1);
    case "ArrowRight":
      if (event.shiftKey) acts.openAll();
      else if (row && key && rows.contains(row)) acts.toggle(key, true);
      else return false;
      return true;
    case "ArrowLeft":
      if (!row || !rows.contains(row)) return false;
      if (key && row.getAttribute("aria-expanded") === "true") acts.toggle(key, false);
      else
        /** @type {HTMLElement | null} */ (
          row.closest(".inside")?.closest(".group")?.querySelector("[data-row]")
        )?.focus();
      return true;
    default:
      return false;
  }
}

/** @param {HTMLElement} rows @param {HTMLElement | null} from @param {number} by */
function move(rows, from, by) {
  const all = /** @type {HTMLElement[]} */ ([...rows.querySelectorAll("[data-row]")]);
  const at = from ? all.indexOf(from) : -1;
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return next !== undefined;
}

/** @param {HTMLDialogElement} pane */
export function openHelp(pane) {
  const rows = (/** @type {[string, string][]} */ all) =>
    make(
      "dl",
      "keys",
      ...all.flatMap(([key, words]) => [
        make("dt", "", ...key.split("  ").flatMap((one, at) => [...(at ? [" "] : []), make("kbd", "", one)])),
        make("dd", "", words),
      ]),
    );
  pane.replaceChildren(
    title(pane, "Keys"),
    rows(HELP),
    make("h3", "", "On the board"),
    rows(HELP_BOARD),
    make("h3", "", "In an approval"),
    rows(HELP_APPROVAL),
    closing(pane),
  );
  show(pane);
}

/** A choice by name. @param {HTMLDialogElement} pane @param {{ words: string, act: () => void }[]} choices */
export function openPalette(pane, choices) {
  const input = /** @type {HTMLInputElement} */ (
    set(make("input", ""), {
      role: "combobox",
      "aria-expanded": "true",
      "aria-controls": "palette-list",
      "aria-label": "Command palette",
      placeholder: "Command palette",
      autocomplete: "off",
    })
  );
  const list = set(make("ul", "choices"), { id: "palette-list", role: "listbox", "aria-label": "Commands" });
  let [found, at] = [choices, 0];
  const draw = () => {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = choices.filter((one) => wanted.every((word) => one.words.toLowerCase().includes(word))).slice(0, 12);
    at = Math.max(0, Math.min(at, found.length - 1));
    list.replaceChildren(
      ...found.map((one, place) => {
        const node = set(make("li", "choice", one.words), {
          role: "option",
          id: `choice-${place}`,
          "aria-selected": String(place === at),
        });
        node.addEventListener("click", () => take(place));
        return node;
      }),
    );
    set(input, { "aria-activedescendant": found.length ? `choice-${at}` : null });
    if (!found.length)
      list.append(set(make("li", "note", "No matching command."), { role: "option", "aria-disabled": "true" }));
  };
  const take = (/** @type {number} */ place) => {
    pane.close();
    found[place]?.act();
  };
  input.addEventListener("input", () => ((at = 0), draw()));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) take(at);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      at = (at + (event.key === "ArrowDown" ? 1 : -1) + found.length) % Math.max(1, found.length);
      draw();
    } else return;
    event.preventDefault();
  });
  const heading = title(pane, "Command palette");
  heading.className = "unseen";
  pane.replaceChildren(heading, input, list);
  draw();
  show(pane);
  input.focus();
}
