// @ts-check
// The board: tasks in columns, who has them, what they wait for. A task is moved by its menu, by keys or by dragging it, its thread is one
// click away, and the rest of it is in `task.js`. What is shown is read from the server again while the board is looked at.

import { api, wordsOf } from "./api.js";
import { button, change, dialog, kept, make, place, set } from "./dom.js";
import { say as tell, note } from "./notes.js";
import { openTask } from "./task.js";
import { day, visible, whole } from "./words.js";

/** @typedef {{ id: string, title: string, prompt: string, priority: string, status: string, assignee: string | null, thread: string | null,
 *   after: string[], open: number, reason: string | null, result: string | null, labels: string[], due: number | null, checks: string[],
 *   created_by: string, note_count: number, notes: { by: string, at: number, content: string }[] }} Task */

/** The columns, with their headings. */
const COLUMNS = /** @type {const} */ ([
  ["pending", "Pending"],
  ["in_progress", "In progress"],
  ["blocked", "Blocked"],
  ["completed", "Completed"],
]);
/** Where a task can be moved besides. */
const MOVES = [...COLUMNS, /** @type {const} */ (["archived", "Archived"])];
/** So many tasks of a column are shown. */
const MOST = 100;

export class Board {
  /** @param {HTMLElement} pane @param {{ look: (thread: string) => void, agents: () => string[] }} actions */
  constructor(pane, actions) {
    this.actions = actions;
    /** @type {Task[]} */
    this.tasks = [];
    /** Reads that were begun, and the newest of them that was drawn. */
    this.begun = 0;
    this.drawn = 0;
    /** The card that has the focus, or had it until it was drawn anew. @type {string | undefined} */
    this.held = undefined;
    document.addEventListener("pointerdown", () => (this.held = undefined), true);
    this.form = this.#form();
    this.columns = make("div", "columns");
    this.empty = make("p", "empty", "No tasks. Add one: it can get an agent of its own.");
    pane.replaceChildren(this.form, this.empty, this.columns);
  }

  /** Reads the tasks and draws them. An answer that a later question has overtaken is not drawn: it would move cards back. */
  async read() {
    const number = ++this.begun;
    const read = COLUMNS.map(([status]) => api(`/tasks?status=${status}&limit=${MOST}`));
    const tasks = /** @type {Task[]} */ ((await Promise.all(read)).flat());
    if (number < this.drawn) return;
    this.drawn = number;
    // A task that is moved between two of the questions is in both answers.
    this.tasks = [...new Map(tasks.map((task) => [task.id, task])).values()];
    this.#hold();
    this.#draw();
    const held = this.held && document.activeElement === document.body ? this.#found(this.held) : null;
    held?.focus();
  }

  /** Notes which card has the focus: a card that moves to another column, or that one answer does not name, loses it. */
  #hold() {
    const active = /** @type {HTMLElement | null} */ (document.activeElement);
    if (active && active !== document.body) this.held = this.columns.contains(active) ? active.dataset.task : undefined;
  }

  #draw() {
    this.empty.hidden = this.tasks.length > 0;
    const columns = COLUMNS.map(([status, heading]) => {
      const column = kept(this.columns, status, "section", "column");
      const own = this.tasks.filter((task) => task.status === status);
      if (!column.firstChild) {
        column.append(make("h3", ""), set(make("ul", "cards"), { role: "list", "aria-label": heading }));
        column.dataset.status = status;
        column.addEventListener("dragover", (event) => event.preventDefault());
        column.addEventListener("drop", (event) => {
          event.preventDefault();
          const id = event.dataTransfer?.getData("text/plain");
          if (id) void this.#move(id, status);
        });
      }
      const [head, list] = /** @type {HTMLElement[]} */ ([...column.children]);
      const count = own.length < MOST ? whole(own.length) : `the first ${whole(MOST)}`;
      change(head, [count], () => head.replaceChildren(`${heading} (${count})`));
      place(
        list,
        own.map((task) => this.#card(list, task)),
      );
      return column;
    });
    place(this.columns, columns);
  }

  /** @param {HTMLElement} list @param {Task} task */
  #card(list, task) {
    const card = kept(list, task.id, "li", "task");
    const before = task.after.map((id) => ({ id, isDone: this.#task(id)?.status === "completed" }));
    const behind = this.tasks.filter((one) => one.after.includes(task.id)).map((one) => one.id);
    change(card, [JSON.stringify([task, before, behind])], () => {
      set(card, {
        "data-task": task.id,
        draggable: "true",
        tabindex: "0",
        "aria-label": `${task.id} ${visible(task.title)}`,
        "aria-keyshortcuts": "Enter Shift+ArrowRight Shift+ArrowLeft",
      });
      card.ondragstart = (event) => event.dataTransfer?.setData("text/plain", task.id);
      card.onkeydown = (event) => event.target === card && this.#key(event, task);
      const title = set(
        button(visible(task.title), "task-title", () => this.#open(task)),
        { "aria-label": `Open ${task.id} ${visible(task.title)}` },
      );
      const parts = [make("div", "title", make("strong", "", task.id), title), this.#facts(task)];
      if (before.length) parts.push(this.#links("after", before));
      if (behind.length)
        parts.push(
          this.#links(
            "before",
            behind.map((id) => ({ id, isDone: false })),
          ),
        );
      if (task.reason) parts.push(make("p", "reason", visible(task.reason)));
      card.replaceChildren(...parts, this.#menu(task));
    });
    return card;
  }

  /** Who has it, and what else is known in short. @param {Task} task */
  #facts(task) {
    const facts = make("p", "facts");
    const { thread } = task;
    if (thread) {
      const open = button(visible(task.assignee ?? thread), "small link", () => this.actions.look(thread));
      facts.append(set(open, { "aria-label": `Open the conversation of ${task.id}` }));
    } else facts.append(visible(task.assignee ?? "not assigned"));
    if (task.priority !== "medium") facts.append(` · ${task.priority} priority`);
    if (task.due !== null) facts.append(` · due ${day(task.due)}`);
    if (task.note_count) facts.append(` · ${task.note_count} ${task.note_count === 1 ? "note" : "notes"}`);
    if (task.labels.length) facts.append(` · ${task.labels.map((label) => `#${visible(label)}`).join(" ")}`);
    return facts;
  }

  /**
   * Tasks that it depends on, or that depend on it.
   * @param {string} word
   * @param {{ id: string, isDone: boolean }[]} others
   */
  #links(word, others) {
    const links = others.map(({ id, isDone }) =>
      set(
        button(isDone ? `${id} ✓` : id, "small link", () => this.#focus(id)),
        { "aria-label": `${id}${isDone ? ", completed" : ""}: show it` },
      ),
    );
    return make("p", "facts", `${word} `, ...links);
  }

  /** @param {Task} task */
  #menu(task) {
    const menu = /** @type {HTMLSelectElement} */ (make("select", "small"));
    set(menu, { "aria-label": `Move ${task.id}` });
    for (const [status, words] of MOVES) {
      const option = /** @type {HTMLOptionElement} */ (make("option", "", words));
      option.value = status;
      option.selected = status === task.status;
      menu.append(option);
    }
    menu.addEventListener("change", () => void this.#move(task.id, menu.value));
    return menu;
  }

  /** Keys on a card: arrows go to others, with Shift they move it. @param {KeyboardEvent} event @param {Task} task */
  #key(event, task) {
    const at = COLUMNS.findIndex(([status]) => status === task.status);
    const aside = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const along = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") this.#open(task);
    else if (aside && event.shiftKey) {
      const to = COLUMNS[at + aside];
      if (to) void this.#move(task.id, to[0]);
    } else if (along && !event.shiftKey) {
      const own = this.tasks.filter((one) => one.status === task.status);
      // By its id: the card may have been drawn from an earlier answer.
      this.#focus(own[own.findIndex((one) => one.id === task.id) + along]?.id);
    } else if (aside) {
      const beside = COLUMNS.slice(aside > 0 ? at + 1 : 0, aside > 0 ? undefined : at);
      const full = (aside > 0 ? beside : [...beside].reverse()).map(([status]) => this.tasks.find((one) => one.status === status));
      this.#focus(full.find(Boolean)?.id);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {string | undefined} id */
  #focus(id) {
    if (!id) return;
    const card = this.#found(id);
    if (!card) return note(`${id} is not on the board: it is archived.`);
    card.focus();
    card.scrollIntoView({ block: "nearest" });
  }

  /** @param {string} id @returns {HTMLElement | null} */
  #found(id) {
    return this.columns.querySelector(`[data-task="${CSS.escape(id)}"]`);
  }

  /** @param {string} id @returns {Task | undefined} */
  #task(id) {
    return this.tasks.find((one) => one.id === id);
  }

  /** @param {Task} task */
  #open(task) {
    openTask(dialog("one-task"), task, {
      look: this.actions.look,
      changed: () => void this.read().catch((error) => note(wordsOf(error))),
    });
  }

  /** @param {string} id @param {string} status */
  async #move(id, status) {
    await this.#attempt(async () => {
      await api(`/tasks/${id}`, { status }, "PATCH");
      tell(`${id} is ${status.replace("_", " ")}`);
    });
    // A card that was moved by keys is gone on with.
    if (document.activeElement === document.body && status !== "archived") this.#focus(id);
  }

  /** Does something and reads what became of it; a refusal is shown. @param {() => Promise<void>} act */
  async #attempt(act) {
    try {
      await act();
    } catch (error) {
      note(wordsOf(error));
    }
    await this.read();
  }

  #form() {
    const field = (/** @type {string} */ name, /** @type {string} */ words) => {
      const input = /** @type {HTMLInputElement} */ (make("input", ""));
      set(input, { id: `task-${name}`, name, placeholder: words, autocomplete: "off" });
      return [set(make("label", "unseen", words), { for: input.id }), input];
    };
    const [titleLabel, title] = field("title", "What is to be done");
    const [whoLabel, who] = field("assign", "Who: human, new:general, new:provider/model");
    const known = set(make("datalist", ""), { id: "task-who" });
    set(/** @type {HTMLElement} */ (who), { list: "task-who" });
    who.addEventListener("focus", () => {
      const names = ["human", ...this.actions.agents().flatMap((agent) => [`new:${agent}`, agent])];
      known.replaceChildren(...names.map((name) => set(make("option", ""), { value: name })));
    });
    const [afterLabel, after] = field("after", "After: t1, t2");
    after.classList.add("task-after");
    const send = /** @type {HTMLButtonElement} */ (make("button", "primary", "Add task"));
    send.type = "submit";
    const form = make("form", "add-task", titleLabel, title, whoLabel, who, known, afterLabel, after, send);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const fields = [title, who, after].map((input) => /** @type {HTMLInputElement} */ (input).value.trim());
      const [words, assign, before] = fields;
      if (!words) return /** @type {HTMLElement} */ (title).focus();
      const wanted = { ...(assign ? { assign } : {}), ...(before ? { after: before.split(/[\s,]+/).filter(Boolean) } : {}) };
      void this.#attempt(async () => {
        const task = await api("/tasks", { title: words, ...wanted });
        /** @type {HTMLFormElement} */ (form).reset();
        tell(`${task.id} was added`);
      });
    });
    return form;
  }
}
