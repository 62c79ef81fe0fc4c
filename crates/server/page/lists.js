// @ts-check
// What is known of the whole house: conversations and open questions. Read again every few seconds while somebody
// looks, and when a frame of the conversation that is looked at says that a list is another.

import { api, Refused } from "./api.js";

const POLL_MS = 5000;
/** Many frames in a row are one reason to look. */
const GATHER_MS = 250;
const MOST_THREADS = 500;

export class Lists {
  /** @param {{ changed: () => void }} on */
  constructor(on) {
    this.on = on;
    /** @type {any[]} */
    this.threads = [];
    /** Questions that wait. @type {any[]} */
    this.questions = [];
    this.isKnown = false;
    /** Whether the last look succeeded. @type {import("./follow.js").Connection | null} */
    this.connection = null;
    this.isReading = false;
    this.isWanted = false;
  }

  /** Reads the lists, and again whenever something happens. */
  async begin() {
    await this.read();
    setInterval(() => document.visibilityState === "visible" && void this.read(), POLL_MS);
    addEventListener("visibilitychange", () => document.visibilityState === "visible" && void this.read());
  }

  /** Conversations and sub-agents, the newest first. @param {string | null} parent */
  below(parent) {
    return this.threads.filter((one) => (one.parent ?? null) === parent);
  }

  /** Reads the lists now. */
  async read() {
    if (this.isReading) {
      this.isWanted = true;
      return;
    }
    this.isReading = true;
    try {
      const [threads, questions] = await Promise.all([this.#threads(), api("/approvals")]);
      this.threads = threads;
      this.questions = questions.filter((/** @type {any} */ one) => one.status === "pending");
      this.isKnown = true;
      this.connection = { is: "live", tries: 0 };
    } catch (error) {
      // What is known stays.
      const isShut = error instanceof Refused && error.status === 401;
      this.connection = { is: isShut ? "shut" : "lost", tries: (this.connection?.tries ?? 0) + 1 };
    } finally {
      this.on.changed();
      this.isReading = false;
      if (this.isWanted) {
        this.isWanted = false;
        this.soon();
      }
    }
  }

  /** Reads the lists in a moment. */
  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.read(), GATHER_MS);
  }

  async #threads() {
    const all = await api(`/threads?all=true&limit=${MOST_THREADS}`);
    if (all.length < MOST_THREADS) return all;
    // Large families may hide other conversations.
    const roots = await api(`/threads?limit=${MOST_THREADS}`);
    const known = new Set(all.map((/** @type {any} */ one) => one.id));
    return [...all, ...roots.filter((/** @type {any} */ one) => !known.has(one.id))];
  }
}
