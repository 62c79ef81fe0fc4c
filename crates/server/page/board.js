// @ts-check
// The board: tasks in columns, who has them, what they wait for. A task is moved by its menu or by dragging it, and its thread is one click
// away. What is shown is read from the server again while the board is looked at.

import { api } from "./api.js";
import { button, change, kept, make, place, set } from "./dom.js";
import { say as tell, note } from "./notes.js";

/** @typedef {{ id: string, title: string, prompt: string, priority: string, status: string, assignee: string | null, thread: string | null,
 *   after: string[], reason: string | null, result: string | null, labels: string[], note_count: number }} Task */

/** The columns, with their headings. */
const COLUMNS = /** @type {const} */ ([
  ["pending", "Pending"],
  ["in_progress", "In progress"],
  ["blocked", "Blocked"],
  ["completed", "Completed"],
]);
/** Where a task can be moved besides. */
const MOVES = [...COLUMNS, /** @type {const} */ (["archived", "Archived"])];

export class Board {
  /** @param {HTMLElement} pane @param {{ look: (thread: string) => void, agents: () => string[] }} actions */
  constructor(pane, actions) {
    this.actions = actions;
    /** @type {Task[]} */
    this.tasks = [];
    this.form = this.#form();
    this.columns = make("div", "columns");
    this.empty = make("p", "empty", "No tasks. Add one: it can get an agent of its own.");
    pane.replaceChildren(this.form, this.empty, this.columns);
  }

  /** Reads the tasks and draws them. */
  async read() {
    /** @type {Task[]} */
    const tasks = [];
    for (const [status] of COLUMNS) tasks.push(...(await api(`/tasks?status=${status}&limit=100`)));
    this.tasks = tasks;
    this.#draw();
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
      change(head, [own.length], () => head.replaceChildren(`${heading} (${own.length})`));
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
    change(card, [JSON.stringify(task)], () => {
      set(card, { "data-task": task.id, draggable: "true" });
      card.ondragstart = (event) => event.dataTransfer?.setData("text/plain", task.id);
      const facts = make("p", "facts");
      const { thread } = task;
      if (thread) {
        const open = button(task.assignee ?? thread, "small link", () => this.actions.look(thread));
        facts.append(set(open, { "aria-label": `Open the conversation of ${task.id}` }));
      } else facts.append(task.assignee ?? "not assigned");
      if (task.priority !== "medium") facts.append(` · ${task.priority} priority`);
      if (task.after.length) facts.append(` · after ${task.after.join(", ")}`);
      if (task.labels.length) facts.append(` · ${task.labels.map((label) => `#${label}`).join(" ")}`);
      const parts = [make("p", "title", make("strong", "", task.id), ` ${task.title}`), facts];
      if (task.reason) parts.push(make("p", "reason", task.reason));
      card.replaceChildren(...parts, this.#menu(task));
    });
    return card;
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

  /** @param {string} id @param {string} status */
  async #move(id, status) {
    await this.#attempt(async () => {
      await api(`/tasks/${id}`, { status }, "PATCH");
      tell(`${id} is ${status.replace("_", " ")}`);
    });
  }

  /** Does something and reads what became of it; a refusal is shown. @param {() => Promise<void>} act */
  async #attempt(act) {
    try {
      await act();
    } catch (error) {
      note(error instanceof Error ? error.message : String(error));
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
    const send = /** @type {HTMLButtonElement} */ (make("button", "primary", "Add task"));
    send.type = "submit";
    const form = make("form", "add-task", titleLabel, title, whoLabel, who, known, send);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [words, assign] = [title, who].map((input) => /** @type {HTMLInputElement} */ (input).value.trim());
      if (!words) return /** @type {HTMLElement} */ (title).focus();
      void this.#attempt(async () => {
        const task = await api("/tasks", assign ? { title: words, assign } : { title: words });
        /** @type {HTMLFormElement} */ (form).reset();
        tell(`${task.id} was added`);
      });
    });
    return form;
  }
}
