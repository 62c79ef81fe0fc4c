// @ts-check
// What is known of the whole house: conversations and open questions. Read again when something has changed, which the window's
// stream of all events tells; where there is no such stream, every few seconds.

import { api } from "./api.js";
import { follow } from "./follow.js";

/** @typedef {import("./follow.js").Connection} Connection */

/** Frames after which a list is another. */
const TELLING = new Set(["thread_created", "run_started", "done", "sub_agent_start", "sub_agent_complete", "sub_agent_error", "validation_required", "validation_resolved"]);
const POLL_MS = 5000;
/** Many frames in a row are one reason to look. */
const GATHER_MS = 250;
const MOST_THREADS = 500;

export class Lists {
  /** @param {{ changed: () => void, connection: () => void }} on */
  constructor(on) {
    this.on = on;
    /** @type {any[]} */
    this.threads = [];
    /** Questions that wait. @type {any[]} */
    this.questions = [];
    this.isKnown = false;
    /** @type {Connection | null} */
    this.connection = null;
    /** @type {number | null} */
    this.last = null;
    this.isReading = false;
    this.isWanted = false;
  }

  /** Reads the lists, and again whenever something happens. */
  async begin() {
    await this.read();
    void follow("/api/v1/events", () => this.last, (frame, id) => this.#heard(frame, id), (connection) => this.#connected(connection), new AbortController().signal);
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
      this.on.changed();
    } catch {
      // What is known stays; the connection's own words say that it is lost.
    } finally {
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

  /** @param {any} frame @param {number | null} id */
  #heard(frame, id) {
    if (id !== null) this.last = id;
    if (TELLING.has(frame.type)) this.soon();
  }

  /** @param {Connection} connection */
  #connected(connection) {
    if (connection.is === "gone") return void setInterval(() => document.visibilityState === "visible" && void this.read(), POLL_MS);
    this.connection = connection;
    this.on.connection();
    if (connection.is === "live") this.soon();
  }
}
