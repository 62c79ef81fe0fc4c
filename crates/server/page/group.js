// @ts-check
// The head of a sub-agent's group, which tells how it is while the group is closed: who, what for, how far, at what
// cost, what it does at this moment, what it waits for, why it failed. What lies inside is drawn by `tree.js`.

import { button, change, make, set } from "./dom.js";
import { children, items } from "./reduce.js";
import { chevron, ticking } from "./rows.js";
import {
  argument,
  badgeOf,
  counted,
  cut,
  duration,
  isGood,
  ownName,
  plainName,
  short,
  stateWord,
  visible,
  whole,
} from "./words.js";

/** @typedef {import("./reduce.js").Picture} Picture */
/** @typedef {import("./reduce.js").Thread} Thread */
/** @typedef {import("./rows.js").Actions} Actions */
/** @typedef {{ is: "working" | "waiting" | "failed" | "stopped" | "done", word: string, question?: string, doing: string }} Life */

const MARKS = { working: "●", waiting: "⚑", failed: "✕", stopped: "■", done: "✓" };

/**
 * @param {HTMLElement} node
 * @param {Thread} child
 * @param {Picture} picture
 * @param {boolean} isOpen
 * @param {Actions} actions
 */
export function drawGroupHead(node, child, picture, isOpen, actions) {
  const life = lifeOf(child, picture);
  const rows = items(picture, child.id);
  const hasMore = rows.length > 0 || children(picture, child.id).length > 0 || Boolean(child.report ?? life.question);
  const { agent, name, goal, tools, ms, selfTokens, treeTokens, startedAt, error } = child;
  const badge = badgeOf(child, picture.items.get(`tool:${child.parent}:${child.call}`));
  const figures = [tools, ms, selfTokens, treeTokens, startedAt];
  const facts = [agent, badge, name, goal, error, ...figures, life.is, life.word, life.question, life.doing, isOpen, hasMore];
  change(node, facts, () => {
    set(node, { "data-testid": `subagent-group-${child.id}`, "data-thread": child.id, "data-state": life.is });
    const had = node.contains(document.activeElement) ? document.activeElement : null;
    const known = /** @type {HTMLElement | null} */ (node.querySelector(":scope > .group-head"));
    const head = known ?? make("div", "group-head");
    if (!known) node.prepend(head);
    const toggle = toggleIn(head, child, hasMore, isOpen);
    toggle.replaceChildren(hasMore ? chevron() : make("span", "no-chevron"), ...line(child, badge, life));
    toggle.title = treeTokens ? `${whole(selfTokens)} tokens itself, ${whole(treeTokens)} with its own sub-agents` : "";
    const own = /** @type {HTMLElement | null} */ (head.querySelector(":scope > .group-acts")) ?? make("div", "group-acts");
    if (own.parentElement !== head) head.append(own);
    // A button that is made anew while it is pressed is not pressed.
    change(own, [life.question, child.outcome, agent], () => own.replaceChildren(...acts(child, life, actions)));
    node.querySelector(":scope > .group-below")?.remove();
    const isWanted = child.outcome === "cancelled";
    const look = isWanted ? "why" : "why is-error";
    const why = life.is === "failed" || isWanted ? [make("p", look, visible(error ?? life.word))] : [];
    const doing = life.doing ? [make("p", "doing", life.doing)] : [];
    if (why.length || doing.length) head.after(make("div", "group-below", ...doing, ...why));
    if (had && !had.isConnected) toggle.focus();
  });
}

/** @param {Thread} child @param {Picture} picture @returns {Life} */
function lifeOf(child, picture) {
  if (child.outcome) {
    const is = isGood(child.outcome) ? "done" : child.outcome === "cancelled" ? "stopped" : "failed";
    return { is, word: stateWord(child.outcome), doing: "" };
  }
  const call = picture.items.get(child.lastCall ?? "");
  const doing = call ? `${visible(call.tool ?? "")} ${argument(call.input)}`.trim() : "";
  const open = [...picture.questions.values()].find((one) => !one.decision && one.thread === child.id);
  if (open) return { is: "waiting", word: stateWord("waiting_for_user"), question: open.id, doing };
  return { is: "working", word: stateWord(child.state), doing };
}

/**
 * What opens the group; a plain line while there is nothing in it.
 * @param {HTMLElement} head
 * @param {Thread} child
 * @param {boolean} hasMore
 * @param {boolean} isOpen
 */
function toggleIn(head, child, hasMore, isOpen) {
  const line = /** @type {HTMLElement | null} */ (head.firstElementChild);
  const name = hasMore ? "BUTTON" : "DIV";
  const toggle = line?.tagName === name ? line : make(name, hasMore ? "toggle" : "toggle is-bare");
  // A node that is put in again loses the focus.
  if (toggle !== line) head.replaceChildren(toggle);
  if (!hasMore) return toggle;
  return set(toggle, {
    type: "button",
    "data-testid": "group-toggle",
    "data-open": child.id,
    "data-row": "",
    "aria-expanded": String(isOpen),
    "aria-controls": isOpen ? `inside-${child.id}` : null,
  });
}

/** Badge, goal, state, figures. @param {Thread} child @param {string} badge @param {Life} life */
function line(child, badge, life) {
  const name = ownName(child);
  const mark = set(make("span", "", MARKS[life.is]), { "aria-hidden": "true" });
  return [
    set(make("span", "badge", badge), { "data-testid": "subagent-badge" }),
    ...(name ? [make("span", "own-name", name)] : []),
    make("span", "goal", visible(cut(child.goal ?? "", 300))),
    make("span", `state is-${life.is}`, mark, ` ${life.word}`),
    figures(child),
  ];
}

/** @param {Thread} child */
function figures(child) {
  const { outcome, ms, startedAt, tools, selfTokens, treeTokens } = child;
  const time = outcome ? make("span", "time", ms === undefined ? "" : duration(ms)) : ticking(startedAt);
  const counts = [
    tools ? counted(tools, "tool") : "",
    selfTokens ? `${short(selfTokens)} tok` : "",
    treeTokens > selfTokens ? `${short(treeTokens)} with its own` : "",
  ];
  const node = make("span", "figures", time, ...counts.filter(Boolean).map((count) => ` · ${count}`));
  return node;
}

/** @param {Thread} child @param {Life} life @param {Actions} actions */
function acts(child, life, actions) {
  const { question } = life;
  const name = plainName(child.agent);
  const review = button("Review", "primary small", () => actions.review(question ?? ""));
  const stop = button("■", "small quiet", () => actions.stop(child.id));
  const open = button("↗", "small quiet", () => actions.look(child.id));
  set(review, { "data-row": "", "aria-label": `Review the approval of ${name}` });
  set(stop, { "aria-label": `Stop ${name}`, title: "Stop" });
  set(open, { "aria-label": `Open ${name} as a conversation`, title: "Open as a conversation" });
  return [...(question ? [review] : []), ...(child.outcome ? [] : [stop]), open];
}
