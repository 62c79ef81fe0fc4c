// @ts-check
// One task, whole: what is to be done, who has it, what it comes after, its notes and what came of it. What can be changed is changed here.

import { api, wordsOf } from "./api.js";
import { button, closing, make, set, show, title } from "./dom.js";
import { say as tell } from "./notes.js";
import { words } from "./rows.js";
import { day, isoDay, moment, visible } from "./words.js";

/** @typedef {import("./board.js").Task} Task */

const PRIORITIES = ["high", "medium", "low"];

/**
 * @param {HTMLDialogElement} pane
 * @param {Task} task
 * @param {{ look: (thread: string) => void, changed: () => void }} on
 */
export function openTask(pane, task, on) {
  const wrong = set(make("p", "is-error"), { role: "alert" });
  /** Does something, and shows what became of the task. @param {() => Promise<Task | null>} act */
  const attempt = async (act) => {
    wrong.textContent = "";
    try {
      const changed = await act();
      on.changed();
      if (changed) draw(changed);
      else pane.close();
    } catch (error) {
      wrong.textContent = wordsOf(error);
    }
  };
  const draw = (/** @type {Task} */ shown) => {
    const { thread } = shown;
    const acts = [
      ...(thread
        ? [
            button("Open its conversation", "", () => {
              pane.close();
              on.look(thread);
            }),
          ]
        : []),
      button("Delete", "danger", () => void attempt(() => api(`/tasks/${shown.id}`, undefined, "DELETE"))),
    ];
    pane.replaceChildren(
      title(pane, `${shown.id} ${visible(shown.title)}`),
      facts(shown),
      edits(shown, (change) => attempt(() => api(`/tasks/${shown.id}`, change, "PATCH"))),
      ...(shown.reason ? [make("h3", "", "Why it waits"), make("p", "as-said", visible(shown.reason))] : []),
      ...(shown.result ? [make("h3", "", "Result"), words(shown.result)] : []),
      ...notes(shown, (text) =>
        attempt(async () => {
          const noted = await api(`/tasks/${shown.id}/notes`, { text });
          tell("The note was added");
          return noted;
        }),
      ),
      wrong,
      closing(pane, ...acts),
    );
  };
  draw(task);
  show(pane);
}

/** @param {Task} task */
function facts(task) {
  const rows = [
    ["Status", task.status.replace("_", " ")],
    ["Who", task.assignee ?? "not assigned"],
    ["Made by", task.created_by],
    ...(task.after.length ? [["After", `${task.after.join(", ")}${task.open ? ` (${task.open} open)` : ""}`]] : []),
    ...(task.due !== null ? [["Due", day(task.due)]] : []),
    ...(task.checks.length ? [["Checks", task.checks.join("\n")]] : []),
  ];
  return make("dl", "facts", ...rows.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", visible(value))]));
}

/** What can be changed; only what was is sent. @param {Task} task @param {(change: Record<string, any>) => Promise<void>} save */
function edits(task, save) {
  const field = (/** @type {string} */ name, /** @type {string} */ label, /** @type {HTMLElement} */ input) => {
    input.id = `edit-${name}`;
    return make("div", "field", set(make("label", "", label), { for: input.id }), input);
  };
  const line = (/** @type {string} */ value) => {
    const input = /** @type {HTMLInputElement} */ (set(make("input", ""), { autocomplete: "off" }));
    input.value = value;
    return input;
  };
  const [name, who, after] = [line(task.title), line(""), line(task.after.join(", "))];
  who.placeholder = "human, an agent, new:general, new:provider/model";
  const prompt = /** @type {HTMLTextAreaElement} */ (set(make("textarea", "edit"), { rows: "4" }));
  prompt.value = task.prompt;
  const due = /** @type {HTMLInputElement} */ (set(make("input", ""), { type: "date" }));
  const dueWas = task.due === null ? "" : isoDay(task.due);
  due.value = dueWas;
  const priority = /** @type {HTMLSelectElement} */ (make("select", ""));
  for (const one of PRIORITIES) priority.append(new Option(one, one, one === task.priority, one === task.priority));
  const form = make(
    "form",
    "task-edit",
    field("task-title", "Title", name),
    field("task-prompt", "What is to be done", prompt),
    field("task-priority", "Priority", priority),
    field("task-due", "Due", due),
    field("task-after", "Comes after", after),
    field("task-assign", "Give it to", who),
    set(make("button", "primary", "Save"), { type: "submit" }),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const before = after.value.split(/[\s,]+/).filter(Boolean);
    const change = {
      ...(name.value.trim() !== task.title ? { title: name.value.trim() } : {}),
      ...(prompt.value !== task.prompt ? { prompt: prompt.value } : {}),
      ...(priority.value !== task.priority ? { priority: priority.value } : {}),
      ...(due.value !== dueWas ? { due: due.value || "none" } : {}),
      ...(before.join() !== task.after.join() ? { after: before } : {}),
      ...(who.value.trim() ? { assign: who.value.trim() } : {}),
    };
    void save(change);
  });
  return form;
}

/** @param {Task} task @param {(text: string) => Promise<void>} add */
function notes(task, add) {
  const shown = task.notes.map((one) =>
    make("li", "", make("p", "note", `${visible(one.by)} `, moment(one.at)), make("p", "as-said", visible(one.content))),
  );
  const hidden = task.note_count - task.notes.length;
  const input = /** @type {HTMLInputElement} */ (set(make("input", ""), { id: "task-note", autocomplete: "off" }));
  const form = make(
    "form",
    "task-note",
    set(make("label", "unseen", "A note"), { for: "task-note" }),
    input,
    set(make("button", "", "Add note"), { type: "submit" }),
  );
  input.placeholder = "A note";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value.trim()) void add(input.value.trim());
  });
  return [
    make("h3", "", "Notes"),
    ...(hidden > 0 ? [make("p", "note", `${hidden} earlier: majordomo task show ${task.id}`)] : []),
    ...(shown.length ? [set(make("ul", "task-notes", ...shown), { role: "list" })] : []),
    form,
  ];
}
