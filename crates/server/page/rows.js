// @ts-check
// One row of a conversation: what a person said, what an agent said, a call, a question, a note, an end. What lies
// inside a call is built when it is opened.

import { attached } from "./attached.js";
import { button, change, kept, make, set, sign } from "./dom.js";
import { markdown } from "./markdown.js";
import {
  argument,
  capital,
  counted,
  cut,
  duration,
  elapsed,
  isGood,
  moment,
  now,
  plainName,
  stateWord,
  visible,
  whole,
} from "./words.js";

/** @typedef {import("./reduce.js").Picture} Picture */
/** @typedef {import("./reduce.js").Item} Item */
/** @typedef {import("./reduce.js").Question} Question */
/** @typedef {import("./reduce.js").Thread} Thread */
/**
 * What rows ask of the page.
 * @typedef {{
 *   review: (question: string) => void, stop: (thread: string) => void, look: (thread: string) => void, retry: () => void,
 *   copy: (text: string, what: string) => void, isHeld: () => boolean, answer: (text: string) => void,
 *   fork: (thread: string, at: number) => void,
 * }} Actions
 *
 * @typedef {{ isOpen: boolean, isLast: boolean, number: number }} About What the tree knows of a row: whether it is open, whether it is the
 *   last that was said and waits for an answer, and the number of its message.
 */

const MARKS = { running: "…", done: "✓", failed: "✕", interrupted: "–" };
/** The name of the person in the log. */
const PEOPLE = new Set(["person", "user"]);
/** So much of what a person asked is shown before it is opened. */
const MOST_LINES = 12;
const MOST_ASKED = 1500;
/** So much of a tool's output is drawn; all of it can be copied. */
const MOST_OUTPUT = 20_000;

/**
 * @param {HTMLElement} pane
 * @param {Item} item
 * @param {About} about
 * @param {Actions} actions
 * @param {Picture} picture
 * @returns {HTMLElement | null}
 */
export function row(pane, item, about, actions, picture) {
  switch (item.kind) {
    case "prompt":
      return asks(pane, item, about.isOpen);
    case "steer":
      return steered(pane, item, picture);
    case "thinking":
      return thinking(pane, item.key, item.text ?? "", about.isOpen, false);
    case "text":
      return said(pane, item, about.isLast, actions);
    case "tool":
      return call(pane, item, about.isOpen, actions);
    case "notice":
      return notice(pane, item);
    case "end":
      // The end is told once the rail has shown who got there.
      return actions.isHeld() ? null : end(pane, item, about.number, actions, picture);
    default:
      return null;
  }
}

/**
 * Words that are still coming.
 * @param {HTMLElement} pane
 * @param {string} key
 * @param {string} agent
 * @param {string} text
 */
export function coming(pane, key, agent, text) {
  const node = kept(pane, `coming:${key}`, "article", "message is-coming");
  change(node, [agent, text], () => node.replaceChildren(head(agent), words(text)));
  return node;
}

/**
 * What a model thinks before it speaks: closed, until a person wants to read it.
 * @param {HTMLElement} pane
 * @param {string} key
 * @param {string} text
 * @param {boolean} isOpen
 * @param {boolean} isComing
 */
export function thinking(pane, key, text, isOpen, isComing) {
  const node = kept(pane, key, "div", "thinking");
  change(node, [text, isOpen, isComing], () => {
    const known = /** @type {HTMLElement | null} */ (node.querySelector(":scope > .toggle"));
    const toggle = known ?? set(make("button", "toggle"), { type: "button", "data-row": "", "data-open": key });
    set(toggle, { "aria-expanded": String(isOpen) });
    const newest = isComing ? (text.trimEnd().split("\n").at(-1) ?? "") : "";
    toggle.replaceChildren(
      chevron(),
      make("span", "thinking-word", isComing ? "Thinking…" : "Thinking"),
      make("span", "argument", cut(visible(newest.replaceAll(/\s+/g, " ")), 100)),
    );
    if (!known) node.append(toggle);
    while (toggle.nextSibling) toggle.nextSibling.remove();
    if (isOpen) node.append(set(make("div", "inside", words(text)), { "data-testid": "thoughts" }));
  });
  return node;
}

/**
 * What a person has sent and the log does not tell yet.
 * @param {HTMLElement} pane
 * @param {import("./talk.js").Waiting} waiting
 */
export function sent(pane, { text, files }) {
  const node = kept(pane, "sent", "article", "message from-person is-sent");
  const names = files.map((file) => file.name).join(", ");
  change(node, [text, names], () =>
    node.replaceChildren(head("you"), make("p", "as-said", text), ...(names ? [make("p", "note", visible(names))] : [])),
  );
  return node;
}

/** What a sub-agent is to do, in its own view. @param {HTMLElement} pane @param {string} goal @param {string} [from] */
export function brief(pane, goal, from) {
  const node = kept(pane, "brief", "article", "message from-person");
  change(node, [goal, from], () => {
    node.tabIndex = -1;
    node.dataset.row = "";
    node.replaceChildren(head(from ?? "brief"), words(goal));
  });
  return node;
}

/** That a sub-agent broke off, and why, in its own view. @param {HTMLElement} pane @param {Thread} thread */
export function broken(pane, thread) {
  const { agent, outcome = "", error } = thread;
  const isWanted = outcome === "cancelled";
  const node = kept(pane, "broken", "div", isWanted ? "end card is-wanted" : "end card");
  change(node, [agent, outcome, error], () => {
    const what = `${plainName(agent)} ${isWanted ? "was stopped" : `ended: ${stateWord(outcome)}`}.`;
    node.replaceChildren(make("p", "card-what", what), ...(error ? [make("p", "card-cause", visible(error))] : []));
  });
  return node;
}

/**
 * A question that an agent asks, where it asks it.
 * @param {HTMLElement} pane
 * @param {Question} question
 * @param {Actions} actions
 */
export function asked(pane, question, actions) {
  const node = kept(pane, `ask:${question.id}`, "div", "asked");
  const frame = question.frame ?? {};
  const isQuestion = frame.kind === "question";
  change(node, [question.decision, question.reason, question.answer, question.frame], () => {
    const words = cut(visible((isQuestion ? frame.question?.text : frame.effect) ?? ""), 200);
    const what = isQuestion
      ? make("span", "asked-what", words)
      : make("span", "asked-what", make("code", "", frame.tool_name ?? "a tool"), " ", words);
    node.classList.toggle("is-open", !question.decision);
    if (!question.decision) {
      const review = set(
        button(isQuestion ? "Answer" : "Review", "primary", () => actions.review(question.id)),
        { "data-row": "", "aria-label": isQuestion ? `Answer: ${words}` : `Review: ${frame.tool_name}` },
      );
      return node.replaceChildren(
        sign("⚑", "waits for you"),
        make("span", "state is-waiting", isQuestion ? "waiting for your answer" : "waiting for approval"),
        what,
        review,
      );
    }
    const isYes = ["approved", "answered"].includes(question.decision);
    const why = question.answer ?? question.reason;
    node.replaceChildren(
      sign(isYes ? "✓" : "✕", question.decision, `sign ${isYes ? "is-done" : "is-failed"}`),
      make("span", "state", question.decision),
      what,
      ...(why ? [make("span", "asked-why", visible(why))] : []),
    );
  });
  return node;
}

/**
 * What a person asked. What is long, as a text file that came with it, is closed behind its beginning.
 * @param {HTMLElement} pane
 * @param {Item} item
 * @param {boolean} isOpen
 */
function asks(pane, item, isOpen) {
  const node = kept(pane, item.key, "article", "message from-person");
  change(node, [item.text, item.at, item.files, isOpen], () => {
    const had = node.contains(document.activeElement);
    node.tabIndex = -1;
    node.dataset.row = "";
    const text = item.text ?? "";
    const lines = text.split("\n");
    const short = cut(lines.slice(0, MOST_LINES).join("\n"), MOST_ASKED);
    const isLong = lines.length > MOST_LINES + 2 || text.length > MOST_ASKED + 200;
    const more = set(make("button", "small", isOpen ? "Show less" : `Show all ${whole(lines.length)} lines`), {
      type: "button",
      "data-open": item.key,
      "aria-expanded": String(isOpen),
    });
    node.replaceChildren(
      head("you", item.at),
      // A file of another person may be part of it.
      make("p", "as-said", visible(isLong && !isOpen ? short : text)),
      ...(isLong ? [more] : []),
      ...(item.files?.length ? [attached(item.files)] : []),
    );
    if (had && isLong) more.focus();
  });
  return node;
}

/**
 * What an agent said, with what may be answered where it waits for that.
 * @param {HTMLElement} pane
 * @param {Item} item
 * @param {boolean} isLast
 * @param {Actions} actions
 */
function said(pane, item, isLast, actions) {
  const node = kept(pane, item.key, "article", "message");
  const offers = isLast ? (item.offers ?? []) : [];
  change(node, [item.agent, item.text, item.at, offers.length], () => {
    node.tabIndex = -1;
    node.dataset.row = "";
    const text = words(item.text ?? "");
    const lines = [...text.querySelectorAll("li")].reverse();
    const others = offers.flatMap((offer) => {
      const choice = button(visible(capital(offer.label)), "offer", () => actions.answer(offer.say));
      // Where the words list it, the line itself is the button.
      const line = lines.find((one) => one.textContent === visible(offer.label));
      if (!line) return [choice];
      line.replaceChildren(choice);
      return [];
    });
    node.replaceChildren(
      head(item.agent ?? "", item.at),
      text,
      ...(others.length ? [set(make("div", "offers", ...others), { role: "group", "aria-label": "Offers" })] : []),
    );
  });
  return node;
}

/**
 * A message to an agent while it worked, and whether it has read it.
 * @param {HTMLElement} pane
 * @param {Item} item
 * @param {Picture} picture
 */
function steered(pane, item, picture) {
  const isPerson = PEOPLE.has(item.from ?? "");
  const thread = picture.threads.get(item.thread);
  const isRead = thread === undefined || thread.isOver || thread.thoughtAt > item.seq;
  const node = kept(pane, item.key, "article", "message from-person");
  change(node, [item.from, item.text, item.at, isRead], () => {
    node.tabIndex = -1;
    node.dataset.row = "";
    node.replaceChildren(
      head(isPerson ? "you" : (item.from ?? ""), item.at),
      make("p", "as-said", isPerson ? (item.text ?? "") : visible(item.text ?? "")),
      ...(isRead ? [] : [make("p", "note", "will be read before the next step")]),
    );
  });
  return node;
}

/** @param {HTMLElement} pane @param {Item} item @param {boolean} isOpen @param {Actions} actions */
function call(pane, item, isOpen, actions) {
  const node = kept(pane, item.key, "div", "tool");
  const state = item.state ?? "running";
  change(node, [item.tool, item.input, item.output, item.progress, state, item.ms, isOpen], () => {
    const known = /** @type {HTMLElement | null} */ (node.querySelector(":scope > .toggle"));
    const toggle = known ?? set(make("button", "toggle"), { type: "button", "data-row": "", "data-open": item.key });
    const time =
      item.ms !== undefined && item.ms !== null
        ? make("span", "time", duration(item.ms))
        : state === "running"
          ? ticking(item.at)
          : make("span", "time");
    set(toggle, { "aria-expanded": String(isOpen) });
    toggle.replaceChildren(
      chevron(),
      sign(MARKS[state], state, `sign is-${state}`),
      make("span", "tool-name", visible(item.tool ?? "a tool")),
      make("span", "argument", argument(item.input)),
      time,
    );
    const progress =
      state === "running" && item.progress
        ? [make("pre", "progress", visible(item.progress.trimEnd().split("\n").slice(-5).join("\n")))]
        : [];
    // A node that is put in again loses the focus.
    if (!known) node.append(toggle);
    while (toggle.nextSibling) toggle.nextSibling.remove();
    node.append(...progress, ...(isOpen ? [within(item, actions)] : []));
  });
  return node;
}

/** @param {Item} item @param {Actions} actions */
function within(item, actions) {
  const input = JSON.stringify(item.input ?? {}, null, 2);
  const parts = [part("Asked", input, actions)];
  if (item.output !== undefined) parts.push(part(item.isError ? "Failed" : "Answered", item.output, actions));
  return make("div", "inside", ...parts);
}

/** @param {string} name @param {string} text @param {Actions} actions */
function part(name, text, actions) {
  const cutOff = text.length > MOST_OUTPUT;
  const pre = set(make("pre", "", visible(cutOff ? text.slice(0, MOST_OUTPUT) : text)), {
    tabindex: "0",
    "aria-label": name,
  });
  return make(
    "div",
    "part",
    make(
      "div",
      "part-head",
      make("p", "part-name", name),
      button("Copy", "small", () => actions.copy(text, name)),
    ),
    pre,
    ...(cutOff
      ? [
          make(
            "p",
            "note",
            `The first ${whole(MOST_OUTPUT)} of ${whole(text.length)} characters. Copy gives all of them.`,
          ),
        ]
      : []),
  );
}

/** @param {HTMLElement} pane @param {Item} item */
function notice(pane, item) {
  const node = kept(pane, item.key, "p", `note${item.isError ? " is-error" : ""}`);
  change(node, [item.text], () => (node.textContent = visible(item.text ?? "")));
  return node;
}

/**
 * How a run ended: a line where all is well, a card where it is not.
 * @param {HTMLElement} pane
 * @param {Item} item
 * @param {number} number Of the message, by which it is copied.
 * @param {Actions} actions
 * @param {Picture} picture
 */
function end(pane, item, number, actions, picture) {
  // An end that says nothing of its outcome is a good one: other speakers of this protocol have no word for it.
  const outcome = item.tool ?? "completed";
  const node = kept(pane, item.key, "div", "end");
  const done = picture.doneSeq === item.seq ? picture.done : null;
  set(node, { "data-testid": "message-complete" });
  change(node, [outcome, item.text, done, number], () => {
    const fork = set(
      button("Fork from here", "small quiet", () => actions.fork(item.thread, number)),
      { title: "Copy the conversation up to this answer, and go on in the copy" },
    );
    if (isGood(outcome)) {
      const took = [
        done?.duration_ms === undefined ? "" : duration(done.duration_ms),
        done?.usage?.tree?.children ? counted(done.usage.tree.children, "sub-agent") : "",
      ];
      return node.replaceChildren(make("p", "end-line", ["Done", ...took.filter(Boolean)].join(" · "), " ", fork));
    }
    node.classList.add("card");
    node.classList.toggle("is-wanted", outcome === "cancelled");
    const details = JSON.stringify(done ?? { outcome, reason: item.text }, null, 2);
    node.replaceChildren(
      ...card(
        `This run ${outcome === "cancelled" ? "was stopped" : `ended: ${stateWord(outcome)}`}.`,
        item.text ?? "",
        "Everything above is saved, and you can continue the conversation.",
        details,
        actions,
      ),
      fork,
    );
  });
  return node;
}

/**
 * What went wrong, what was kept, and what can be done.
 * @param {string} what
 * @param {string} cause
 * @param {string} keptWords
 * @param {string} details
 * @param {Actions} actions
 * @param {string} [again] What the button says that tries once more.
 */
export function card(what, cause, keptWords, details, actions, again = "Retry") {
  return [
    make("p", "card-what", what),
    ...(cause ? [make("p", "card-cause", visible(cause))] : []),
    make("p", "note", keptWords),
    make(
      "div",
      "buttons",
      button(again, "", () => actions.retry()),
      button("Copy details", "", () => actions.copy(details, "the details")),
    ),
  ];
}

// ---- small parts ----

/** @param {string} who @param {string} [at] */
const head = (who, at) => make("header", "who", make("span", "", plainName(who)), moment(at));

export function chevron() {
  return set(make("span", "chevron"), { "aria-hidden": "true" });
}

/** A time that runs. @param {string | undefined} since */
export function ticking(since) {
  const from = Date.parse(since ?? "");
  if (!from) return make("span", "time");
  return set(make("span", "time elapsed", elapsed(now() - from)), { "data-since": String(from) });
}

/** Lets all running times on the page go on. */
export function tick() {
  for (const node of document.querySelectorAll("[data-since]")) {
    const words = elapsed(now() - Number(/** @type {HTMLElement} */ (node).dataset.since));
    if (node.textContent !== words) node.textContent = words;
  }
}

/** What an agent wrote, as it is read out: words without signs. @param {string} text */
export function spoken(text) {
  const walk = document.createTreeWalker(words(text), NodeFilter.SHOW_TEXT);
  const parts = [];
  for (let node = walk.nextNode(); node; node = walk.nextNode())
    if (!node.parentElement?.closest("button")) parts.push(node.nodeValue);
  return parts.join(" ").replaceAll(/\s+/g, " ").trim();
}

/** What an agent wrote. @param {string} text */
export const words = (text) => make("div", "words", markdown(text));
