// @ts-check
// Conversations, each a tree that can be opened: who runs, who waits for a person, and a filter.

import { button, change, kept, make, place, set, sign } from "./dom.js";
import { isLiveState, moment, plainName, stateWord, visible } from "./words.js";

/** @typedef {import("./lists.js").Lists} Lists */

export class Threads {
  /**
   * @param {HTMLElement} pane
   * @param {HTMLInputElement} filter
   * @param {Lists} lists
   * @param {(thread: string) => void} look
   */
  constructor(pane, filter, lists, look) {
    this.pane = pane;
    this.filter = filter;
    this.lists = lists;
    this.look = look;
    /** Families that are open. @type {Set<string>} */
    this.open = new Set();
    /** @type {string | null} */
    this.at = null;
    filter.addEventListener("input", () => this.draw());
    filter.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && filter.value) {
        event.stopPropagation();
        filter.value = "";
        this.draw();
      }
    });
  }

  /** Which thread is looked at. @param {string | null} thread */
  mark(thread) {
    this.at = thread;
    // The ancestors of a sub-agent that is shown are unfolded.
    for (let dot = thread?.indexOf(".") ?? -1; thread && dot > 0; dot = thread.indexOf(".", dot + 1))
      this.open.add(thread.slice(0, dot));
    this.draw();
  }

  draw() {
    const wanted = this.filter.value.trim().toLowerCase();
    const waiting = new Set(this.lists.questions.map((one) => one.thread));
    /** @type {Map<string | null, any[]>} */
    const below = new Map();
    for (const one of this.lists.threads) {
      const parent = one.parent ?? null;
      if (!below.get(parent)?.push(one)) below.set(parent, [one]);
    }
    const byNumber = (/** @type {any} */ a, /** @type {any} */ b) => a.id.localeCompare(b.id, "en", { numeric: true });
    for (const [parent, ones] of below) if (parent) ones.sort(byNumber);
    /** @type {HTMLElement[]} */
    const nodes = [];
    const list = (/** @type {any[]} */ ones, /** @type {number} */ level) => {
      for (const one of ones) {
        const own = below.get(one.id) ?? [];
        const isOpen = this.open.has(one.id);
        const place = nodes.length;
        if (isOpen || wanted) list(own, level + 1);
        // A thread that is found is shown with its ancestors.
        if (!wanted || matches(one, wanted) || nodes.length > place)
          nodes.splice(place, 0, this.#row(one, level, own.length > 0, isOpen, waits(one.id, waiting)));
      }
    };
    list(below.get(null) ?? [], 0);
    if (nodes.length === 0 && this.lists.isKnown) {
      const none = kept(this.pane, "none", "li", "note");
      none.textContent = wanted ? "No matching conversation." : "No conversations. Press n.";
      nodes.push(none);
    }
    place(this.pane, nodes);
  }

  /**
   * @param {any} one
   * @param {number} level
   * @param {boolean} hasMore
   * @param {boolean} isOpen
   * @param {boolean} isWaiting
   */
  #row(one, level, hasMore, isOpen, isWaiting) {
    const node = kept(this.pane, one.id, "li", "thread-row");
    const isAt = one.id === this.at;
    change(node, [one.goal, one.state, one.agent, one.updated_at, isAt, hasMore, isOpen, isWaiting, level], () => {
      const focused = node.contains(document.activeElement)
        ? /** @type {HTMLElement} */ (document.activeElement).dataset.part
        : undefined;
      node.style.setProperty("--level", String(Math.min(level, 6)));
      const isLive = isLiveState(one.state);
      const mark = isWaiting
        ? sign("⚑", "waits for you", "sign is-waiting")
        : isLive
          ? sign("●", "running", "sign is-working")
          : make("span", "");
      const name = level === 0 ? one.goal || one.id : `.${one.id.split(".").at(-1)} ${plainName(one.agent)}`;
      const word = isWaiting ? "waits for you" : stateWord(one.state);
      const state = make(
        "span",
        "thread-state",
        level === 0 ? `${plainName(one.agent)} · ${word} · ` : `${word} · `,
        moment(one.updated_at),
      );
      const choose = set(make("button", "thread", make("span", "thread-goal", visible(name)), mark, state), {
        type: "button",
        "data-testid": `thread-${one.id}`,
        "data-part": "choose",
        "aria-current": isAt ? "true" : null,
        title: one.goal ?? "",
      });
      choose.addEventListener("click", () => this.look(one.id));
      const toggle = hasMore
        ? set(
            button("", "thread-toggle", () => this.#toggle(one.id)),
            { "data-part": "toggle", "aria-expanded": String(isOpen), "aria-label": `Sub-agents of ${name}` },
          )
        : make("span", "thread-toggle");
      if (hasMore) toggle.append(set(make("span", "chevron"), { "aria-hidden": "true" }));
      node.replaceChildren(toggle, choose);
      if (focused) /** @type {HTMLElement | null} */ (node.querySelector(`[data-part=${focused}]`))?.focus();
    });
    return node;
  }

  /** @param {string} id */
  #toggle(id) {
    if (!this.open.delete(id)) this.open.add(id);
    this.draw();
  }
}

/** @param {any} one @param {string} wanted */
const matches = (one, wanted) =>
  [one.id, one.goal, one.agent, one.name].some((text) => (text ?? "").toLowerCase().includes(wanted));

/** Whether a thread, or one below it, waits for a person. @param {string} id @param {Set<string>} waiting */
const waits = (id, waiting) => waiting.has(id) || [...waiting].some((one) => one.startsWith(`${id}.`));
