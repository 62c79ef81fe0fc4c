// @ts-check
// Conversations, each a tree that can be opened: who runs, who waits for a person, what was not read yet, a filter, and a menu for what is
// done with one. What was put away is shown below the others on demand.

import { button, change, kept, make, place, set, sign } from "./dom.js";
import { openMenu } from "./menu.js";
import { isLiveState, moment, plainName, stateWord, visible } from "./words.js";

/** @typedef {import("./lists.js").Lists} Lists */

export class Threads {
  /**
   * @param {HTMLElement} pane
   * @param {HTMLInputElement} filter
   * @param {Lists} lists
   * @param {{ look: (thread: string) => void, choices: (root: string) => import("./menu.js").Choice[] }} on
   */
  constructor(pane, filter, lists, on) {
    this.pane = pane;
    this.filter = filter;
    this.lists = lists;
    this.on = on;
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
    pane.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!by || event.target === filter) return;
      const all = /** @type {HTMLElement[]} */ ([...pane.querySelectorAll("[data-part=choose]")]);
      const row = /** @type {HTMLElement} */ (event.target).closest(".thread-row");
      const next = all[all.findIndex((one) => row?.contains(one)) + by];
      next?.focus();
      event.preventDefault();
    });
  }

  /** The conversation whose row has the focus. */
  get focused() {
    const row = /** @type {HTMLElement | null} */ (document.activeElement?.closest(".thread-row") ?? null);
    return row && this.pane.contains(row) ? (row.dataset.root ?? null) : null;
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
    if (this.lists.isKnown) nodes.push(this.#archive());
    if (this.lists.isArchiveShown) {
      const shown = this.lists.archived.filter((one) => !wanted || matches(one, wanted));
      for (const one of shown) nodes.push(this.#row(one, 0, false, false, false));
      if (!shown.length) {
        const none = kept(this.pane, "none-archived", "li", "note");
        none.textContent = wanted ? "No matching archived conversation." : "Nothing is archived.";
        nodes.push(none);
      }
    }
    place(this.pane, nodes);
  }

  /** What shows and hides the archive. */
  #archive() {
    const node = kept(this.pane, "archive", "li", "archive-row");
    const isShown = this.lists.isArchiveShown;
    if (!node.firstChild) {
      const toggle = button("", "small quiet", () => this.lists.showArchive(!this.lists.isArchiveShown));
      node.append(set(toggle, { id: "show-archived" }));
    }
    change(node, [isShown], () => {
      const toggle = /** @type {HTMLElement} */ (node.firstChild);
      set(toggle, { "aria-expanded": String(isShown) });
      toggle.replaceChildren(set(make("span", "chevron"), { "aria-hidden": "true" }), " Archived");
    });
    return node;
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
    // What is looked at is being read.
    const isUnread = one.unread === true && !isAt;
    const task = one.current_task;
    const facts = [one.goal, one.title, one.archived, one.state, one.agent, one.updated_at, task?.id, task?.title];
    change(node, [...facts, isAt, hasMore, isOpen, isWaiting, isUnread, level], () => {
      node.dataset.root = one.root ?? one.id;
      node.classList.toggle("is-unread", isUnread);
      const focused = node.contains(document.activeElement)
        ? /** @type {HTMLElement} */ (document.activeElement).dataset.part
        : undefined;
      node.style.setProperty("--level", String(Math.min(level, 6)));
      const isLive = isLiveState(one.state);
      const mark = isWaiting
        ? sign("⚑", "waits for you", "sign is-waiting")
        : isLive
          ? sign("●", "running", "sign is-working")
          : isUnread
            ? sign("◆", "not read yet", "sign is-new")
            : make("span", "");
      const name = level === 0 ? one.title || one.goal || one.id : `.${one.id.split(".").at(-1)} ${plainName(one.agent)}`;
      const word = isWaiting ? "waits for you" : isUnread && !isLive ? "not read yet" : stateWord(one.state);
      const state = make(
        "span",
        "thread-state",
        level === 0 ? `${plainName(one.agent)} · ${word} · ` : `${word} · `,
        moment(one.updated_at),
        ...(task ? [" · ", set(make("span", "", visible(task.id)), { title: `Works on ${task.id}: ${visible(task.title)}` })] : []),
      );
      const choose = set(make("button", "thread", make("span", "thread-goal", visible(name)), mark, state), {
        type: "button",
        "data-testid": `thread-${one.id}`,
        "data-part": "choose",
        "aria-current": isAt ? "true" : null,
        title: one.goal ?? "",
      });
      choose.addEventListener("click", () => this.on.look(one.id));
      const menu = set(make("button", "thread-menu", "⋯"), {
        type: "button",
        "data-part": "menu",
        "aria-haspopup": "menu",
        "aria-label": `Actions for ${visible(name)}`,
      });
      const open = () => openMenu(menu, `Actions for ${visible(name)}`, this.on.choices(one.id));
      menu.addEventListener("click", open);
      if (level === 0)
        node.oncontextmenu = (event) => {
          event.preventDefault();
          open();
        };
      const toggle = hasMore
        ? set(
            button("", "thread-toggle", () => this.#toggle(one.id)),
            { "data-part": "toggle", "aria-expanded": String(isOpen), "aria-label": `Sub-agents of ${name}` },
          )
        : make("span", "thread-toggle");
      if (hasMore) toggle.append(set(make("span", "chevron"), { "aria-hidden": "true" }));
      node.replaceChildren(toggle, choose, ...(level === 0 ? [menu] : []));
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
  [one.id, one.title, one.goal, one.agent, one.name].some((text) => (text ?? "").toLowerCase().includes(wanted));

/** Whether a thread, or one below it, waits for a person. @param {string} id @param {Set<string>} waiting */
const waits = (id, waiting) => waiting.has(id) || [...waiting].some((one) => one.startsWith(`${id}.`));
