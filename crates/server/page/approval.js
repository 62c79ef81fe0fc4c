// @ts-check
// What agents ask a person: one question at a time, in a dialog that stays on it until it is decided, here or
// elsewhere.
//
// A decision goes out with the id and the digest of what was on the screen. A question that comes in meanwhile waits
// behind it, and nothing decides by itself: closing the dialog only puts the question off.

import { api, wordsOf } from "./api.js";
import { button, isAsked, isTyping, make, set, show, title } from "./dom.js";
import { edited, editor, preview } from "./preview.js";
import { duration, moment, now, plainName, riskWords, visible } from "./words.js";

/** A dialog that opens by itself may meet a key that was meant for something else. */
const FRESH_MS = 300;
/** The next question does not take the place of the last under a second click. */
const NEXT_MS = 350;

export class Approval {
  /**
   * @param {HTMLDialogElement} room
   * @param {{ note: (words: string) => void, look: (thread: string) => void, decided: () => void }} on
   */
  constructor(room, on) {
    this.room = room;
    this.on = on;
    /** @type {any} */
    this.question = null;
    /** @type {any[]} */
    this.questions = [];
    /** Put off by the person. @type {Set<string>} */
    this.later = new Set();
    /** Decided here. @type {Set<string>} */
    this.decided = new Set();
    this.freshUntil = 0;
    this.isSending = false;
    room.addEventListener("keydown", (event) => this.#key(event));
    room.addEventListener("close", () => this.#closed());
  }

  /**
   * Takes in what waits, and puts the first of it that belongs to a conversation to the person.
   * @param {any[]} questions
   * @param {string | null} root
   * @param {boolean} mayOpen
   */
  update(questions, root, mayOpen) {
    this.questions = questions;
    if (this.question && !questions.some((one) => one.id === this.question.id)) void this.#gone(this.question);
    if (this.question) return this.#count();
    const next = questions.find((one) => one.root === root && !this.later.has(one.id) && !this.decided.has(one.id));
    if (next && mayOpen && !isAsked() && now() >= this.freshUntil) this.ask(next, true);
  }

  /** Puts a question to the person. @param {any} question @param {boolean} [byItself] */
  ask(question, byItself = false) {
    if (this.question) return;
    this.question = question;
    this.later.delete(question.id);
    this.freshUntil = byItself ? now() + FRESH_MS : 0;
    this.#draw(question);
    show(this.room);
    const first = this.isGrave ? this.room.querySelector("[data-testid=reject-button]") : this.room.querySelector("h2");
    /** @type {HTMLElement | null} */ (first)?.focus();
  }

  /** Whether a mistake would be dear. */
  get isGrave() {
    return ["high", "critical"].includes(this.question?.risk);
  }

  /** Lets the clock go on. */
  tick() {
    const clock = this.room.querySelector("[data-clock]");
    if (!clock || !this.question) return;
    const left = this.question.expires_at - now();
    clock.textContent =
      left > 0
        ? `expires in ${left > 60_000 ? duration(left).replace(/ \d+ s$/, "") : duration(left)}`
        : "has expired, and counts as refused";
  }

  /** @param {any} question */
  #draw(question) {
    this.editor = null;
    this.wrong = set(make("p", "is-error"), { role: "alert" });
    this.what = make("div", "asked-for", ...preview(question));
    this.reason = /** @type {HTMLInputElement} */ (
      set(make("input", ""), { "data-testid": "reject-reason", placeholder: "Why not? The agent is told." })
    );
    const risk = set(make("span", `risk is-${question.risk}`, riskWords(question.risk)), {
      "data-testid": "approval-risk",
      "data-risk": question.risk,
    });
    const clock = set(make("span", "note"), { "data-clock": "", title: moment(question.expires_at).title });
    const [count, facts] = [make("span", "note"), make("dl", "facts")];
    this.count = count;
    const fact = (/** @type {string} */ name, /** @type {(Node | string)[]} */ ...words) =>
      facts.append(make("dt", "", name), make("dd", "", ...words));
    fact("Who", question.path.map(plainName).join(" › "));
    fact("Effect", visible(question.effect));
    fact("Why it asks", visible(question.why));
    fact("Where", make("code", "", visible(question.workspace ?? "")));
    if (question.protected?.length)
      fact("Protected", make("span", "is-error", question.protected.map(visible).join(", ")));
    if (question.foreign) fact("Careful", "This agent has read text from outside the house.");
    if (question.standing)
      fact("More than once", "would cover ", make("code", "", `${question.tool} ${visible(question.standing)}`));
    this.room.replaceChildren(
      title(this.room, `${plainName(question.path.at(-1))} asks: ${visible(question.tool)}`),
      make("p", "asked-line", risk, clock, count),
      facts,
      this.what,
      make("label", "reason", make("span", "", "Reason, if you deny"), this.reason),
      this.wrong,
      this.#buttons(question),
    );
    this.#count();
    this.tick();
  }

  /** @param {any} question */
  #buttons(question) {
    const allow = (/** @type {string} */ label, /** @type {string} */ scope, /** @type {string} */ key) =>
      keyed(
        button(label, scope === "once" ? "primary" : "", () => void this.#send({ decision: "allow", scope })),
        key,
      );
    const once = set(allow("Approve once", "once", "a"), { "data-testid": "approve-button" });
    const more = question.standing ? [allow("In this thread", "thread", "s"), allow("Always", "always", "w")] : [];
    const edit = keyed(
      button("Edit", "", () => this.#edit()),
      "e",
    );
    const deny = set(
      keyed(
        button("Deny", "danger", () => void this.#send({ decision: "deny" })),
        "d",
      ),
      { "data-testid": "reject-button" },
    );
    const open = keyed(
      button("Open thread", "", () => this.#open()),
      "o",
    );
    return make(
      "div",
      "buttons",
      once,
      ...more,
      edit,
      deny,
      make("span", "gap"),
      open,
      keyed(
        button("Later", "", () => this.room.close()),
        "Esc",
      ),
    );
  }

  #count() {
    const queue = this.questions.filter((one) => one.id !== this.question?.id).length;
    if (this.count) this.count.textContent = queue ? `1 of ${queue + 1}` : "";
  }

  #edit() {
    if (this.editor) return this.editor.focus();
    this.editor = editor(this.question.input);
    this.what?.replaceChildren(
      make("p", "note", "What stands here is what will be done, once you approve it."),
      this.editor,
    );
    this.editor.focus();
  }

  #open() {
    const { thread } = this.question;
    this.room.close();
    this.on.look(thread);
  }

  /** @param {any} word */
  async #send(word) {
    const { question } = this;
    if (!question || this.isSending) return;
    this.isSending = true;
    this.room.setAttribute("aria-busy", "true");
    try {
      if (word.decision === "deny" && this.reason?.value.trim()) word.reason = this.reason.value.trim();
      const input = word.decision === "allow" && this.editor ? edited(this.editor, question.input) : undefined;
      if (input !== undefined) word.input = input;
      await api(`/approvals/${encodeURIComponent(question.id)}/decision`, { digest: question.digest, ...word });
      this.decided.add(question.id);
      this.#leave();
      this.on.note(word.decision === "allow" ? "Approved." : "Denied.");
    } catch (error) {
      if (this.question === question && this.wrong) this.wrong.textContent = wordsOf(error);
    } finally {
      this.isSending = false;
      this.room.removeAttribute("aria-busy");
      this.on.decided();
    }
  }

  /** A question that somebody else has decided, or nobody asks any more. @param {any} question */
  async #gone(question) {
    if (this.isSending || this.decided.has(question.id)) return;
    this.#leave();
    let words = "is no longer asked";
    try {
      const row = await api(`/approvals/${encodeURIComponent(question.id)}`);
      words = `was decided elsewhere: ${row.status}${row.reason ? ` (${visible(row.reason)})` : ""}`;
    } catch {
      // Its conversation is gone, too.
    }
    this.on.note(`${plainName(question.path.at(-1))} asked for ${visible(question.tool)}: that ${words}.`);
  }

  /** Closes without putting it off. */
  #leave() {
    this.question = null;
    this.freshUntil = now() + NEXT_MS;
    this.room.close();
    setTimeout(() => this.on.decided(), NEXT_MS);
  }

  #closed() {
    // Whoever puts one off is not asked the next one of the same conversation in its place.
    const put = this.question ? this.questions.filter((one) => one.root === this.question.root) : [];
    for (const one of put) this.later.add(one.id);
    this.question = null;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const isButton = event.target instanceof HTMLButtonElement;
    // Where a mistake would be dear, a key that people press without looking does nothing.
    if (event.key === "Enter" && isButton && this.isGrave && !event.ctrlKey && !event.metaKey)
      return event.preventDefault();
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const wanted = /** @type {HTMLButtonElement | null} */ (
      this.room.querySelector(`button[data-key="${CSS.escape(event.key)}"]`)
    );
    if (!wanted || event.key.length !== 1) return;
    event.preventDefault();
    event.stopPropagation();
    if (now() >= this.freshUntil) wanted.click();
  }
}

/** A button with the key that presses it. @param {HTMLButtonElement} node @param {string} key */
function keyed(node, key) {
  node.append(" ", set(make("kbd", "", key), { "aria-hidden": "true" }));
  return /** @type {HTMLButtonElement} */ (
    set(node, { "data-key": key, ...(key.length === 1 ? { "aria-keyshortcuts": key } : {}) })
  );
}
