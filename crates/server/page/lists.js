// @ts-check
// What is known of all threads: conversations and open questions. Read again when something has changed, which
// the server's stream of all events says.
//
// A browser has few connections for one place. Of all its tabs one follows that stream, and tells the others.

import { api } from "./api.js";
import { follow } from "./follow.js";

/** @typedef {import("./follow.js").Connection} Connection */

/** Frames after which a list is another. */
const TELLING = new Set([
  "thread_created",
  "run_started",
  "done",
  "sub_agent_start",
  "sub_agent_complete",
  "sub_agent_error",
  "validation_required",
  "validation_resolved",
]);
/** Many frames in a row are one reason to look. */
const GATHER_MS = 250;
const MOST_THREADS = 500;

export class Lists {
  /** @type {any[]} */
  threads = [];
  /** Conversations that were put away, while they are shown. @type {any[]} */
  archived = [];
  isArchiveShown = false;
  /** Questions that wait. @type {any[]} */
  questions = [];
  /** Whether the lists were ever read. */
  isKnown = false;
  /** How the stream of all events is. @type {Connection | null} */
  connection = null;
  /** The last frame of that stream. @type {number | null} */
  last = null;
  /** The other tabs of this browser. */
  tabs = new BroadcastChannel("majordomo-lists");
  isReading = false;
  isWanted = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer = undefined;

  /** @param {{ changed: () => void }} on */
  constructor(on) {
    this.on = on;
  }

  /** Reads the lists, and again whenever something happens. */
  begin() {
    void this.read();
    this.tabs.addEventListener("message", ({ data }) => this.#told(data));
    const heard = (/** @type {any} */ frame, /** @type {number | null} */ id) => {
      this.last = id ?? this.last;
      if (TELLING.has(frame.type)) this.tell();
    };
    const lead = () =>
      follow(
        "/api/v1/events",
        () => this.last,
        heard,
        (connection) => this.tell(connection),
        new AbortController().signal,
      );
    // Browsers offer locks only in a secure context: on this machine, or behind TLS.
    void (navigator.locks ? navigator.locks.request("majordomo-lists", lead) : lead());
    addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.soon());
  }

  /**
   * Lets all tabs know that something has happened, or that the connection is another.
   * @param {Connection | null} [connection]
   */
  tell(connection = null) {
    this.tabs.postMessage(connection);
    this.#told(connection);
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
      const [threads, archived, questions] = await Promise.all([
        this.#threads(),
        this.isArchiveShown ? api(`/threads?archived=true&limit=${MOST_THREADS}`) : [],
        api("/approvals"),
      ]);
      this.threads = threads;
      this.archived = archived;
      this.questions = questions.filter((/** @type {any} */ one) => one.status === "pending");
      this.isKnown = true;
      this.on.changed();
    } catch {
      // What is known stays; how the connection is says the rest.
    } finally {
      this.isReading = false;
      if (this.isWanted) {
        this.isWanted = false;
        this.soon();
      }
    }
  }

  /** Shows what was put away, or no longer. @param {boolean} isShown */
  showArchive(isShown) {
    this.isArchiveShown = isShown;
    void this.read();
  }

  /** Reads the lists in a moment. */
  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.read(), GATHER_MS);
  }

  /** Something has happened, or the connection is another. @param {Connection | null} connection */
  #told(connection) {
    this.connection = connection ?? this.connection;
    if (connection === null || connection.is === "live") this.soon();
    this.on.changed();
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
