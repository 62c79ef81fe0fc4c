// @ts-check
// What agents ask a person: one question at a time, in a dialog that stays on it until it is decided, here or
// elsewhere.
//
// A decision goes out with the id and the digest of what was on the screen, and only once all of it has been there for
// a moment. A question that comes in meanwhile waits behind it, and nothing decides by itself: closing the dialog only
// puts the question off.

import { Refused, api, ask, wordsOf } from "./api.js";
import { button, isAsked, isTyping, make, set, show, title } from "./dom.js";
import { isRounded, written } from "./exact.js";
import { edited, editor, exactly, preview } from "./preview.js";
import { duration, moment, now, plainName, riskWords, visible, whole } from "./words.js";

/** A dialog that has only just opened may meet a click or a key that was meant for what was there before. */
const FRESH_MS = 1000;
/** The next question does not take the place of the last under a second click. */
const NEXT_MS = 350;

export class Approval {
  /**
   * @param {HTMLDialogElement} pane
   * @param {{ note: (words: string) => void, look: (thread: string) => void, decided: () => void }} on
   */
  constructor(pane, on) {
    this.pane = pane;
    this.on = on;
    /** @type {any} */
    this.question = null;
    /** @type {any[]} */
    this.questions = [];
    /** Put off by the person. @type {Set<string>} */
    this.later = new Set();
    /** Decided here. @type {Set<string>} */
    this.decided = new Set();
    /** Whether it was shown for too short a time to be read. */
    this.isFresh = false;
    /** Whether all of the input is on the screen. */
    this.isWhole = true;
    /** Whether the next question is held back. */
    this.isResting = false;
    this.isSending = false;
    this.isLookingUp = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    pane.addEventListener("keydown", (event) => this.#key(event));
    pane.addEventListener("close", () => this.#closed());
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
    if (next && mayOpen && !isAsked() && !this.isResting) this.ask(next);
  }

  /** Puts a question to the person. @param {any} question */
  ask(question) {
    if (this.question) return;
    this.question = question;
    this.later.delete(question.id);
    this.isFresh = true;
    this.isWhole = question.kind === "question" || !isRounded(question.input);
    this.#draw(question);
    show(this.pane);
    this.pane.querySelector("h2")?.focus();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#settle(), FRESH_MS);
    if (!this.isWhole) void this.#complete(question);
  }

  /** Whether a mistake would be dear. */
  get isGrave() {
    return ["high", "critical"].includes(this.question?.risk);
  }

  /** Lets the clock go on. */
  tick() {
    const clock = this.pane.querySelector("[data-clock]");
    if (!clock || !this.question) return;
    const left = this.question.expires_at - now();
    clock.textContent =
      left > 0
        ? `expires in ${left > 60_000 ? duration(left).replace(/ \d+ s$/, "") : duration(left)}`
        : `has expired${this.question.kind === "question" ? "" : " and counts as denied"}`;
  }

  /** From here on a click is meant for what is on the screen. */
  #settle() {
    this.isFresh = false;
    this.#free();
    const deny = /** @type {HTMLElement | null} */ (this.pane.querySelector("[data-testid=reject-button]"));
    if (this.isGrave && document.activeElement === this.pane.querySelector("h2")) deny?.focus();
  }

  /** Lets those buttons be pressed that may decide. */
  #free() {
    for (const node of /** @type {NodeListOf<HTMLButtonElement>} */ (this.pane.querySelectorAll("[data-decides]")))
      node.disabled = !this.#mayDecide(node.dataset.decides ?? "");
  }

  /** @param {string} decision */
  #mayDecide(decision) {
    return !this.isFresh && (decision === "deny" || this.isWhole);
  }

  /** Shows an input that a page cannot hold, as it is written. @param {any} question */
  async #complete(question) {
    const wrong = this.wrong;
    try {
      const answer = await ask(`/api/v1/approvals/${encodeURIComponent(question.id)}`);
      const body = await answer.text();
      if (this.question !== question) return;
      if (JSON.parse(body).digest !== question.digest) throw new Error("The request has changed meanwhile.");
      this.what?.replaceChildren(
        make("p", "note", "A number here is larger than a page can change: approve it as it is, or deny."),
        exactly(written(body, "input")),
      );
      this.isWhole = true;
      this.#free();
    } catch (error) {
      if (wrong) wrong.textContent = `The exact input cannot be shown, so you can only deny. ${wordsOf(error)}`;
    }
  }

  /** @param {any} question */
  #draw(question) {
    this.editor = null;
    this.wrong = set(make("p", "is-error"), { role: "alert" });
    const shown = this.isWhole ? preview(question) : [make("p", "note", "Reading the exact input…")];
    this.what = make("div", "asked-for", ...shown);
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
    fact("Reason", visible(question.why));
    fact("Where", make("code", "", visible(question.workspace ?? "")));
    if (question.protected?.length)
      fact("Protected", make("span", "is-error", question.protected.map(visible).join(", ")));
    if (question.foreign) fact("Warning", "This agent has read untrusted text (mail, web or files from outside the workspace).");
    if (question.standing)
      fact("Always allow", "would cover ", make("code", "", visible(`${question.tool} ${question.standing}`)));
    if (question.kind === "question") return this.#drawQuestion(question, clock, count);
    this.pane.replaceChildren(
      title(this.pane, `${plainName(question.path.at(-1))} asks: ${visible(question.tool)}`),
      make("p", "asked-line", risk, clock, count),
      facts,
      this.what,
      make("label", "reason", make("span", "", "Reason, if you deny"), this.reason),
      this.wrong,
      this.#buttons(question),
    );
    this.#free();
    this.#count();
    this.tick();
  }

  /**
   * What an agent wants to know, with the answers that it offers and room for another.
   * @param {any} question
   * @param {HTMLElement} clock
   * @param {HTMLElement} count
   */
  #drawQuestion(question, clock, count) {
    const { text, choices = [] } = question.question;
    this.answer = /** @type {HTMLTextAreaElement} */ (
      set(make("textarea", ""), { "data-testid": "answer-text", rows: "3", "aria-label": "Your answer" })
    );
    const offers = choices.map((/** @type {string} */ choice) =>
      set(
        button(visible(choice), "", () => void this.#send({ answer: choice })),
        { "data-testid": "answer-choice", "data-decides": "answer" },
      ),
    );
    const send = set(
      button("Answer", "primary", () => void this.#send({ answer: this.answer?.value ?? "" })),
      { "data-testid": "answer-button", "data-decides": "answer" },
    );
    const leave = set(
      button("Let the agent decide", "", () => void this.#send({ decision: "deny" })),
      { "data-testid": "reject-button", "data-decides": "deny" },
    );
    this.what = make("div", "asked-for", make("p", "asked-question", visible(text)));
    this.pane.replaceChildren(
      title(this.pane, `${plainName(question.path.at(-1))} asks you`),
      make("p", "asked-line", make("span", "note", question.path.map(plainName).join(" › ")), clock, count),
      ...(question.foreign
        ? [make("p", "note", "This agent has read untrusted text (mail, web or files from outside the workspace).")]
        : []),
      this.what,
      ...(offers.length ? [make("div", "buttons", ...offers)] : []),
      this.answer,
      /** @type {HTMLElement} */ (this.wrong),
      make(
        "div",
        "buttons",
        send,
        leave,
        make("span", "gap"),
        button("Open thread", "", () => this.#open()),
        keyed(
          button("Later", "", () => this.pane.close()),
          "Esc",
        ),
      ),
    );
    this.#free();
    this.#count();
    this.tick();
  }

  /** @param {any} question */
  #buttons(question) {
    const allow = (/** @type {string} */ label, /** @type {string} */ scope, /** @type {string} */ key) =>
      set(
        keyed(
          button(label, scope === "once" ? "primary" : "", () => void this.#send({ decision: "allow", scope })),
          key,
        ),
        { "data-decides": "allow" },
      );
    const once = set(allow("Approve once", "once", "a"), { "data-testid": "approve-button" });
    const more = question.standing ? [allow("In this thread", "thread", "s"), allow("Always", "always", "w")] : [];
    const edit = keyed(
      button("Edit", "", () => this.#edit()),
      "e",
    );
    // What a page cannot hold it cannot give back, either.
    const change = isRounded(question.input) ? [] : [edit];
    const deny = set(
      keyed(
        button("Deny", "danger", () => void this.#send({ decision: "deny" })),
        "d",
      ),
      { "data-testid": "reject-button", "data-decides": "deny" },
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
      ...change,
      deny,
      make("span", "gap"),
      open,
      keyed(
        button("Later", "", () => this.pane.close()),
        "Esc",
      ),
    );
  }

  #count() {
    const queue = this.questions.filter((one) => one.id !== this.question?.id).length;
    if (this.count) this.count.textContent = queue ? `1 of ${whole(queue + 1)}` : "";
  }

  #edit() {
    if (this.editor) return this.editor.focus();
    this.editor = editor(this.question.input);
    this.what?.replaceChildren(
      make("p", "note", "Exactly this input is run if you approve."),
      this.editor,
    );
    this.editor.focus();
  }

  #open() {
    const { thread } = this.question;
    this.pane.close();
    this.on.look(thread);
  }

  /** @param {any} word */
  async #send(word) {
    const { question } = this;
    if (!question || this.isSending || !this.#mayDecide(word.decision ?? "answer")) return;
    if (word.answer !== undefined && !word.answer.trim()) return this.answer?.focus();
    this.isSending = true;
    this.pane.setAttribute("aria-busy", "true");
    try {
      if (word.decision === "deny" && question.kind !== "question" && this.reason?.value.trim()) word.reason = this.reason.value.trim();
      const input = word.decision === "allow" && this.editor ? edited(this.editor, question.input) : undefined;
      if (input !== undefined) word.input = input;
      await api(`/approvals/${encodeURIComponent(question.id)}/decision`, { digest: question.digest, ...word });
      this.decided.add(question.id);
      this.#leave();
      const refused = question.kind === "question" ? "Left to the agent." : "Denied.";
      this.on.note(word.answer !== undefined ? "Answered." : word.decision === "allow" ? "Approved." : refused);
    } catch (error) {
      if (this.question === question && this.wrong) this.wrong.textContent = wordsOf(error);
    } finally {
      this.isSending = false;
      this.pane.removeAttribute("aria-busy");
      this.on.decided();
    }
  }

  /** A question that was decided elsewhere, or is no longer asked. @param {any} question */
  async #gone(question) {
    if (this.isSending || this.isLookingUp || this.decided.has(question.id)) return;
    this.isLookingUp = true;
    let words = "is no longer pending";
    try {
      const row = await api(`/approvals/${encodeURIComponent(question.id)}`);
      // It may have come back between the list and this answer.
      if (row.status === "pending") return;
      words = `was decided elsewhere: ${row.status}${row.answer ?? row.reason ? ` (${visible(row.answer ?? row.reason)})` : ""}`;
    } catch (error) {
      // Its conversation may be gone, too. Without an answer nothing is known.
      if (!(error instanceof Refused && error.status === 404)) return;
    } finally {
      this.isLookingUp = false;
    }
    if (this.question !== question || this.isSending) return;
    this.#leave();
    const what = question.kind === "question" ? "you a question" : `for ${visible(question.tool)}`;
    this.on.note(`${plainName(question.path.at(-1))} asked ${what}: that ${words}.`);
  }

  /** Closes without putting it off. */
  #leave() {
    this.question = null;
    this.isResting = true;
    this.pane.close();
    setTimeout(() => {
      this.isResting = false;
      this.on.decided();
    }, NEXT_MS);
  }

  #closed() {
    // A user who puts one off is not asked the next one of the same conversation in its place.
    const put = this.question ? this.questions.filter((one) => one.root === this.question.root) : [];
    for (const one of put) this.later.add(one.id);
    this.question = null;
    clearTimeout(this.timer);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const isButton = event.target instanceof HTMLButtonElement;
    // Where a mistake would be dear, a key that people press without looking does nothing.
    if (event.key === "Enter" && isButton && this.isGrave && !event.ctrlKey && !event.metaKey)
      return event.preventDefault();
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const wanted = /** @type {HTMLButtonElement | null} */ (
      this.pane.querySelector(`button[data-key="${CSS.escape(event.key)}"]`)
    );
    if (!wanted || event.key.length !== 1) return;
    event.preventDefault();
    event.stopPropagation();
    if (!this.isFresh) wanted.click();
  }
}

/** A button with the key that presses it. @param {HTMLButtonElement} node @param {string} key */
function keyed(node, key) {
  node.append(" ", set(make("kbd", "", key), { "aria-hidden": "true" }));
  return /** @type {HTMLButtonElement} */ (
    set(node, { "data-key": key, ...(key.length === 1 ? { "aria-keyshortcuts": key } : {}) })
  );
}
