// @ts-check
// What is done with a conversation as a whole: its name, putting it away, a copy of it, a file of it, its end.

import { api, ask, at, wordsOf } from "./api.js";
import { save } from "./attached.js";
import { $, dialog, show } from "./dom.js";
import { note } from "./notes.js";

/** @typedef {import("./lists.js").Lists} Lists */
/** @typedef {import("./menu.js").Choice} Choice */

export class Manage {
  /**
   * @param {Lists} lists
   * @param {{ look: (thread: string | null) => void, copyLink: (thread: string) => void, shown: () => string | null }} on
   */
  constructor(lists, on) {
    this.lists = lists;
    this.on = on;
    $("forget-no").addEventListener("click", () => dialog("forget").close());
    $("rename-no").addEventListener("click", () => dialog("rename").close());
  }

  /** What can be done with a conversation. @param {string} root @returns {Choice[]} */
  choices(root) {
    const isArchived = this.#row(root)?.archived === true;
    return [
      { words: "Rename…", key: "r", act: () => this.rename(root) },
      { words: "Fork: go on in a copy", key: "f", act: () => void this.fork(root, null) },
      { words: "Export as Markdown", act: () => void this.#save(root, "md") },
      { words: "Export as JSONL", act: () => void this.#save(root, "jsonl") },
      { words: "Copy link", act: () => this.on.copyLink(root) },
      isArchived
        ? { words: "Bring back from the archive", key: "e", act: () => void this.archive(root) }
        : { words: "Archive", key: "e", act: () => void this.archive(root) },
      { words: "Delete…", isGrave: true, act: () => this.forget(root) },
    ];
  }

  /** @param {string} root */
  rename(root) {
    const [pane, field] = [dialog("rename"), /** @type {HTMLInputElement} */ ($("rename-title-text"))];
    const row = this.#row(root);
    field.value = row?.title ?? row?.goal ?? "";
    $("rename-wrong").textContent = "";
    $("rename-form").onsubmit = async (event) => {
      event.preventDefault();
      try {
        const title = field.value.trim();
        await this.#mark(root, { title });
        pane.close();
        note(title ? `Renamed to ${title}.` : "The title was taken away.");
      } catch (error) {
        $("rename-wrong").textContent = wordsOf(error);
      }
    };
    show(pane);
    field.select();
  }

  /** Puts a conversation away, or brings it back. @param {string} root */
  async archive(root) {
    const archived = this.#row(root)?.archived !== true;
    await this.#attempt(async () => {
      await this.#mark(root, { archived });
      note(archived ? "Archived. Archived conversations are listed below the others." : "It is in the list again.");
    });
  }

  /** Copies a conversation up to a message, and goes to the copy. @param {string} root @param {number | null} upTo */
  async fork(root, upTo) {
    await this.#attempt(async () => {
      const { id } = await api(`${at(root)}/fork`, { at: upTo });
      this.lists.tell();
      this.on.look(id);
      note("This is a copy. The conversation that it came from stays as it is.");
    });
  }

  /** Asks, and deletes. @param {string} root */
  forget(root) {
    const pane = dialog("forget");
    const below = this.lists.threads.filter((one) => one.root === root).length - 1;
    $("forget-words").textContent =
      below > 0
        ? `Everything is deleted, with its ${below === 1 ? "sub-agent" : `${below} sub-agents`}. This cannot be undone.`
        : "This cannot be undone.";
    $("forget-wrong").textContent = "";
    show(pane);
    $("forget-yes").onclick = async () => {
      try {
        await api(at(root), undefined, "DELETE");
        pane.close();
        note("Deleted.");
        if (this.on.shown() === root) this.on.look(null);
        this.lists.tell();
      } catch (error) {
        $("forget-wrong").textContent = wordsOf(error);
      }
    };
  }

  /** Says that the newest answer of a thread was read. @param {string} thread */
  async read(thread) {
    const row = this.#row(thread);
    if (!row?.unread) return;
    // At once, so that it is said once.
    row.unread = false;
    await this.#mark(thread, { read: true }).catch(() => {});
  }

  /** @param {string} thread @param {{ title?: string, archived?: boolean, read?: boolean }} marks */
  async #mark(thread, marks) {
    await api(at(thread), marks, "PATCH");
    this.lists.tell();
  }

  /** @param {string} root @param {"md" | "jsonl"} ending */
  async #save(root, ending) {
    await this.#attempt(async () => {
      const answer = await ask(`/api/v1${at(root)}/export.${ending}`);
      save(await answer.blob(), `${root}.${ending}`);
      note(`Saved as ${root}.${ending}.`);
    });
  }

  /** @param {() => Promise<void>} act */
  async #attempt(act) {
    try {
      await act();
    } catch (error) {
      note(wordsOf(error));
    }
  }

  /** @param {string} thread */
  #row(thread) {
    return [...this.lists.threads, ...this.lists.archived].find((one) => one.id === thread);
  }
}
