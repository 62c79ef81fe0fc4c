// @ts-check
// The conversation that is looked at: follows it, takes frames in, and carries what a person says and wants stopped
// to the server.
//
// The first message goes to `POST /api/chat`, whose answer is a stream of the run's frames. The first of them tells
// which conversation it is; from there on its log is followed, which also brings streamed text and later runs, and comes
// back by itself. Later messages go to `POST /api/v1/threads/{id}/messages`.

import { api, ask, at, Refused } from "./api.js";
import { follow, read } from "./follow.js";
import { begin, fold, isLive } from "./reduce.js";
import { shownAfter } from "./word.js";
import { now } from "./words.js";

/** @typedef {import("./follow.js").Connection} Connection */
/** @typedef {import("./rail.js").Rail} Rail */

/** @typedef {import("./files.js").Sent} Sent */
/** @typedef {{ text: string, files: Sent[] }} Waiting What was sent and the log does not tell yet. */

/** What happened longer before one began to look is not played back on the rail. */
const PAST_MS = 3000;

export class Talk {
  /** What the frames of the family come to. */
  picture = begin();
  /** Ends when something else is looked at. */
  visit = new AbortController();
  /** When one began to look. */
  since = now();
  /** The family that is followed; none before anything is said. @type {string | null} */
  root = null;
  /** The thread of it that is shown. @type {string | null} */
  thread = null;
  /** @type {Waiting | null} */
  waiting = null;
  /** What was said last. @type {string | null} */
  said = null;
  isSending = false;
  /** Threads that are asked to end. @type {Set<string>} */
  stopping = new Set();
  /** @type {Connection | null} */
  connection = null;

  /**
   * @param {Rail} rail
   * @param {{ changed: () => void, heard: (frame: any, isPast: boolean) => void, moved: () => void }} on
   */
  constructor(rail, on) {
    this.rail = rail;
    this.on = on;
  }

  /** Whether a run goes on. */
  get isLive() {
    return this.isSending || (this.root !== null && isLive(this.picture, this.root));
  }

  /** Whether a thread is at work. @param {string} thread */
  #works(thread) {
    return thread === this.root ? this.isLive : this.picture.threads.get(thread)?.isOver === false;
  }

  /** The thread whose rows are shown; without a name while the log has not told one. */
  get shown() {
    return this.thread ?? "";
  }

  /** Looks at a thread, with its whole family behind it; none is a new conversation. @param {string | null} thread */
  look(thread) {
    const root = thread === null ? null : rootOf(thread);
    if (root === null || root !== this.root) {
      this.#forget(root);
      if (root) this.#follow(root);
    }
    this.thread = thread;
    this.on.moved();
  }

  /**
   * Says something: to a run that goes on, or to begin one.
   * @param {string} text
   * @param {Sent[]} [files] What comes with it. A run that goes on takes words alone: with files it is the next message.
   */
  async say(text, files = []) {
    if (this.thread && !files.length && this.#works(this.thread)) {
      try {
        return void (await api(`${at(this.thread)}/steer`, { text }));
      } catch (error) {
        // It has ended meanwhile, and is asked one more thing.
        if (!(error instanceof Refused) || error.status !== 409) throw error;
      }
    }
    const visit = this.visit;
    this.said = text;
    this.waiting = { text, files };
    this.isSending = true;
    this.#draw();
    try {
      // The request is never taken back: a message that was sent stays sent when another conversation is looked at meanwhile.
      const sent = files.length ? { files } : {};
      if (this.root) await api(`${at(this.thread ?? this.root)}/messages`, { text, ...sent });
      else await this.#begin(await ask("/api/chat", { message: text, ...sent }), text, visit);
    } catch (error) {
      if (visit.signal.aborted) return;
      this.waiting = null;
      throw error;
    } finally {
      if (this.visit === visit) {
        this.isSending = false;
        this.#draw();
      }
    }
  }

  /** Says the last thing again. */
  async again() {
    if (this.said) await this.say(this.said);
  }

  /**
   * Stops a thread and all below it, answered once it is so. A second stop, while it writes its last answer,
   * ends it at once.
   * @param {string} thread
   */
  async stop(thread) {
    if (!thread) return;
    const isUrgent = this.stopping.has(thread);
    this.stopping.add(thread);
    this.on.changed();
    try {
      await api(`${at(thread)}/stop`, { now: isUrgent });
    } finally {
      this.stopping.delete(thread);
      this.on.changed();
    }
  }

  /** Takes a frame in. @param {any} frame */
  take(frame) {
    this.#name(frame.run);
    fold(this.picture, frame);
    if (frame.type === "run_started") this.said = frame.prompt;
    if (["run_started", "steered", "sub_agent_start"].includes(frame.type)) this.waiting = null;
    const isPast = Date.parse(frame.timestamp ?? "") < this.since - PAST_MS;
    const agent = shownAfter(this.picture, frame, this.rail.held);
    if (agent) this.rail.hand(agent, isPast);
    this.on.heard(frame, isPast);
    this.on.changed();
  }

  /** A link may have had only the beginning of the name. @param {string | undefined} root */
  #name(root) {
    if (!root || !this.root || !this.thread || root === this.root) return;
    this.thread = root + this.thread.slice(this.root.length);
    this.root = root;
    this.on.moved();
  }

  /** What is shown is to be drawn again. */
  #draw() {
    this.picture.changed.add(this.shown);
    this.on.changed();
  }

  /** @param {string | null} root */
  #forget(root) {
    this.visit.abort();
    this.rail.clear();
    const fresh = {
      visit: new AbortController(),
      picture: begin(),
      since: now(),
      root,
      thread: root,
      waiting: null,
      said: null,
      isSending: false,
      stopping: new Set(),
      connection: null,
    };
    Object.assign(this, fresh);
  }

  /**
   * Reads the first frames of a run, until one tells where it is kept. The head of the answer tells it, too, should the stream break.
   * @param {Response} answer
   * @param {string} text
   * @param {AbortController} visit
   */
  async #begin(answer, text, visit) {
    const place = /\/threads\/([^/]+)$/.exec(answer.headers.get("content-location") ?? "")?.[1];
    const isAt = (/** @type {string} */ root) => {
      this.root = this.thread = root;
      this.on.moved();
    };
    fold(this.picture, { type: "run_started", prompt: text });
    this.waiting = null;
    try {
      await read(answer, (frame) => {
        if (visit.signal.aborted) return false;
        const root = frame.run ?? frame.thread;
        if (root) isAt(root);
        this.take(frame);
        return !root;
      });
    } catch (error) {
      if (!place) throw error;
    }
    if (visit.signal.aborted) return;
    if (!this.root && place) isAt(decodeURIComponent(place));
    if (this.root) this.#follow(this.root);
  }

  /** @param {string} root */
  #follow(root) {
    const { visit } = this;
    const tell = (/** @type {Connection} */ connection) => {
      if (this.visit !== visit) return;
      this.connection = connection;
      this.on.changed();
    };
    void follow(
      `/api/v1${at(root)}/events?deltas=1`,
      () => this.picture.last || null,
      (frame) => this.take(frame),
      tell,
      visit.signal,
    );
  }
}

/** @param {string} thread */
const rootOf = (thread) => thread.split(".")[0];
