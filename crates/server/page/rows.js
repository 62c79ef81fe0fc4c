// @ts-check
// One row of a conversation: what a person said, what an agent said, a call, a question, a note, an end. What lies
// inside a call is built when it is opened.

import { button, change, kept, make, set, sign } from "./dom.js";
import { markdown } from "./markdown.js";
import {
  argument,
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
 *   copy: (text: string, what: string) => void, isHeld: () => boolean,
 * }} Actions
 */

const MARKS = { running: "…", done: "✓", failed: "✕", interrupted: "–" };
/** The name of the person in the log. */
const PEOPLE = new Set(["person", "user"]);
/** So much of a tool's output is drawn; all of it can be copied. */
const MOST_OUTPUT = 20_000;

/**
 * @param {HTMLElement} pane
 * @param {Item} item
 * @param {boolean} isOpen
 * @param {Actions} actions
 * @param {Picture} picture
 * @returns {HTMLElement | null}
 */
export function row(pane, item, isOpen, actions, picture) {
  switch (item.kind) {
    case "prompt":
      return said(pane, item, "you", "message from-person");
    case "steer":
      return steered(pane, item, picture);
    case "text":
      return said(pane, item, item.agent ?? "", "message");
    case "tool":
      return call(pane, item, isOpen, actions);
    case "notice":
      return notice(pane, item);
    case "end":
      // The end is told once the rail has shown who got there.
      return actions.isHeld() ? null : end(pane, item, actions, picture);
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

/** What a person has sent and the log does not tell yet. @param {HTMLElement} pane @param {string} text */
export function sent(pane, text) {
  const node = kept(pane, "sent", "article", "message from-person is-sent");
  change(node, [text], () => node.replaceChildren(head("you"), make("p", "as-said", text)));
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

/** @param {HTMLElement} pane @param {Item} item @param {string} who @param {string} look */
function said(pane, item, who, look) {
  const node = kept(pane, item.key, "article", look);
  change(node, [who, item.text, item.at], () => {
    node.tabIndex = -1;
    node.dataset.row = "";
    node.replaceChildren(
      head(who, item.at),
      item.kind === "prompt" ? make("p", "as-said", item.text ?? "") : words(item.text ?? ""),
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
 * @param {Actions} actions
 * @param {Picture} picture
 */
function end(pane, item, actions, picture) {
  // An end that says nothing of its outcome is a good one: other speakers of this protocol have no word for it.
  const outcome = item.tool ?? "completed";
  const node = kept(pane, item.key, "div", "end");
  const done = picture.doneSeq === item.seq ? picture.done : null;
  set(node, { "data-testid": "message-complete" });
  change(node, [outcome, item.text, done], () => {
    if (isGood(outcome)) {
      const took = [
        done?.duration_ms === undefined ? "" : duration(done.duration_ms),
        done?.usage?.tree?.children ? counted(done.usage.tree.children, "sub-agent") : "",
      ];
      return node.replaceChildren(make("p", "end-line", ["Done", ...took.filter(Boolean)].join(" · ")));
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
