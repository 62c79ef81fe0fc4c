// @ts-check
// What these tests ask of the page's modules, as plain data: text goes in and text comes out.

import { changes as changesOf } from "../../page/edits.js";
import { isRounded, written } from "../../page/exact.js";
import { lanes } from "../../page/lanes.js";
import { prose } from "../../page/prose.js";
import { active, begin, children, depth, fold, isLive, items, untold } from "../../page/reduce.js";
import { Reader } from "../../page/sse.js";
import { shownAfter } from "../../page/word.js";
import { badgeOf, escaped, visible } from "../../page/words.js";

/** @type {any[]} */
let frames = [];

/** Takes the frames that are going to be folded; they must not be changed by it. @param {string} lines */
export function load(lines) {
  frames = lines.split("\n").filter(Boolean).map((line) => frozen(JSON.parse(line)));
  return "";
}

/**
 * The picture of these frames, in this order.
 * @param {string} order A list of places in what was loaded.
 * @param {string} [looks] Whether everything is asked for after each frame.
 */
export function picture(order, looks) {
  const made = begin();
  for (const at of JSON.parse(order)) {
    fold(made, frames[at]);
    if (looks) plain(made);
  }
  return JSON.stringify(plain(made));
}

/** Whom the rail shows after each of the loaded frames. */
export function rail() {
  const made = begin();
  /** @type {string | null} */
  let shown = null;
  return JSON.stringify(
    frames.map((frame) => {
      fold(made, frame);
      return (shown = shownAfter(made, frame, shown) ?? shown);
    }),
  );
}

/** The badge of a thread after each of the loaded frames. @param {string} thread */
export function badges(thread) {
  const made = begin();
  return JSON.stringify(
    frames.map((frame) => {
      fold(made, frame);
      const one = made.threads.get(thread);
      return one ? badgeOf(one, made.items.get(`tool:${one.parent}:${one.call}`)) : null;
    }),
  );
}

/** What a thread of the loaded frames shows, by kind and words. @param {string} thread */
export function rows(thread) {
  const made = begin();
  for (const frame of frames) fold(made, frame);
  return JSON.stringify(untold(made, thread).map((item) => `${item.kind}: ${item.text}`));
}

/** The bars of the loaded frames' family, by thread: what, how long, and how they ended. */
export function bars() {
  const made = begin();
  for (const frame of frames) fold(made, frame);
  const told = lanes(made, made.root, 0).map(({ thread, bars }) => [
    thread.id,
    bars.map((bar) => [bar.kind, bar.to - bar.from, bar.isFailed ? (bar.ended ?? "failed") : "well"]),
  ]);
  return JSON.stringify(Object.fromEntries(told));
}

/**
 * Everything that a drawer reads of a picture, and nothing else.
 * @param {import("../../page/reduce.js").Picture} made
 */
function plain(made) {
  const threads = [...made.threads.values()].sort((a, b) => a.seq - b.seq || (a.id < b.id ? -1 : 1));
  return {
    root: made.root,
    last: made.last,
    active: active(made),
    live: isLive(made, made.root),
    done: made.done?.outcome ?? null,
    threads: threads.map(({ facts, ...one }) => ({
      ...one,
      depth: depth(made, one.id),
      children: children(made, one.id).map((child) => child.id),
      items: items(made, one.id).map(({ places, thread, key, ...item }) => item),
    })),
    astray: made.threads.has(made.root) ? [] : children(made, made.root).map((child) => child.id),
    loose: items(made, "").map(({ places, thread, key, ...item }) => item),
    questions: [...made.questions.values()]
      .sort((a, b) => a.seq - b.seq)
      .map(({ places, frame, ...one }) => ({ ...one, asks: frame?.effect ?? null })),
    spans: [...made.spans.values()].sort((a, b) => a.from - b.from || (a.key < b.key ? -1 : 1)),
    deltas: [...made.deltas].map(([thread, { turn, text }]) => ({ thread, turn, text })),
    // Few fixtures have any.
    ...(made.thoughts.size ? { thoughts: [...made.thoughts].map(([thread, { turn, text }]) => ({ thread, turn, text })) } : {}),
  };
}

/** @param {any} value */
function frozen(value) {
  if (value && typeof value === "object") for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

// ---- streams ----

/** The events of a stream that comes in one piece. @param {string} body */
export function stream(body) {
  const reader = new Reader();
  return JSON.stringify([...reader.push(body), ...reader.end()]);
}

/**
 * The events of a stream that comes in two pieces, for every way to cut it, and in pieces of one. The ways that differ
 * from the whole.
 * @param {string} body
 */
export function cuts(body) {
  const whole = stream(body);
  const differ = [];
  for (let at = 0; at <= body.length; at += 1) {
    const reader = new Reader();
    const sent = [...reader.push(body.slice(0, at)), ...reader.push(body.slice(at)), ...reader.end()];
    if (JSON.stringify(sent) !== whole) differ.push(at);
  }
  const reader = new Reader();
  // By code units, so that a character of two is cut, too.
  const sent = body.split("").flatMap((piece) => reader.push(piece));
  if (JSON.stringify([...sent, ...reader.end()]) !== whole) differ.push("singly");
  return JSON.stringify(differ);
}

/**
 * What is known after each piece: how many events came with it, and how long to wait before coming back.
 * @param {string} pieces
 */
export function piecewise(pieces) {
  const reader = new Reader();
  const told = (/** @type {string} */ piece) => [reader.push(piece).length, reader.retry];
  return JSON.stringify(JSON.parse(pieces).map(told));
}

// ---- words ----

/** @param {string} source */
export const tree = (source) => JSON.stringify(prose(source));

/**
 * Reads a text that repeats itself.
 * @param {string} before
 * @param {string} unit
 * @param {string} after
 * @param {string} times
 */
export function wordy(before, unit, after, times) {
  prose(before.repeat(Number(times)) + unit.repeat(Number(times)) + after.repeat(Number(times)));
  return "";
}

/**
 * Reads a text that repeats itself between a beginning and an end.
 * @param {string} before
 * @param {string} unit
 * @param {string} after
 * @param {string} times
 */
export function wordyWithin(before, unit, after, times) {
  prose(before + unit.repeat(Number(times)) + after);
  return "";
}

/** Reads links with so many blanks in their addresses. @param {string} blanks */
export function blankLinks(blanks) {
  prose(`[a](x${" ".repeat(Number(blanks))}y) `.repeat(20));
  return "";
}

/** Reads a text on a page that comes from this host. @param {string} source @param {string} hostname */
export function treeAt(source, hostname) {
  Object.assign(globalThis, { location: { hostname } });
  return tree(source);
}

// ---- what is shown ----

export { visible, written };

/**
 * Characters that are shown otherwise than they are, repeated so many times.
 * @param {string} from
 * @param {string} to The first that is not looked at.
 * @param {string} times
 */
export function shownOtherwise(from, to, times) {
  const isAlone = (/** @type {number} */ point) => point === 0x7c || (point >= 0xd800 && point < 0xe000);
  const points = Array.from({ length: Number(to) - Number(from) }, (_, at) => Number(from) + at);
  const looked = points.filter((point) => !isAlone(point));
  const texts = looked.map((point) => String.fromCodePoint(point).repeat(Number(times)));
  const shown = visible(texts.join("|")).split("|");
  return JSON.stringify(looked.filter((_, at) => shown[at] !== texts[at]));
}

/** JSON as it is edited, and whether it is the same when it comes back. @param {string} json */
export function edited(json) {
  const text = escaped(JSON.parse(json));
  return JSON.stringify([text, JSON.stringify(JSON.parse(text)) === JSON.stringify(JSON.parse(json))]);
}

/** @param {string} tool @param {string} input */
export const calls = (tool, input) => JSON.stringify(changesOf(tool, JSON.parse(input)));

/** @param {string} json */
export const rounded = (json) => String(isRounded(JSON.parse(json)));

// ---- work ----

/** Folds so many frames of a kind, and looks at one thread now and then. @param {string} kind @param {string} count */
export function busy(kind, count) {
  const all = Array.from({ length: Number(count) }, (_, at) => made(kind, at));
  if (kind === "backwards") all.reverse();
  const picture = begin();
  for (const [at, frame] of all.entries()) {
    fold(picture, frame);
    if (at % 1000 === 0) look(picture);
  }
  return look(picture);
}

/** @param {import("../../page/reduce.js").Picture} picture */
function look(picture) {
  return String(items(picture, "r.1").length + children(picture, "r").length + depth(picture, "r.1"));
}

/** @param {string} kind @param {number} at */
function made(kind, at) {
  const thread = kind === "many threads" ? `r.${1 + (at % 200)}` : "r.1";
  const about = { seq: at + 1, run: "r", thread, agent: "a", timestamp: "2026-01-15T10:00:00.000Z" };
  const frame = { ...about, tool_use_id: `c${at - (at % 2)}`, tool_name: "read" };
  if (kind === "open calls") return { ...frame, type: "tool_start", tool_use_id: `c${at}`, input: {} };
  const used = { tokens: { input: at } };
  if (at % 10 === 9) return { ...frame, type: "usage", turn: at, self: used, tree: used };
  if (at % 10 === 8) return { ...frame, type: "state", state: at % 20 === 8 ? "processing" : "waiting_for_tool" };
  if (at % 2) return { ...frame, type: "tool_result", output: "x" };
  return { ...frame, type: "tool_start", input: { path: "x" } };
}

/** Folds the beginning and the end of so many sub-agents of one parent, and looks at all of them once. @param {string} count */
export function crowd(count) {
  const picture = begin();
  fold(picture, { type: "run_started", seq: 1, run: "r", thread: "r", agent: "a", prompt: "go" });
  for (let at = 0; at < Number(count); at += 1) {
    const child = { sub_agent_id: `r.${at + 1}`, parent_agent_id: "r", sub_agent_name: "b", tool_use_id: `c${at}` };
    const about = { run: "r", thread: child.sub_agent_id, agent: "b", timestamp: "2026-01-15T10:00:00.000Z", ...child };
    fold(picture, { ...about, type: "sub_agent_start", seq: 2 * at + 2 });
    fold(picture, { ...about, type: "sub_agent_complete", seq: 2 * at + 3, data: { outcome: "completed", report: "x" } });
  }
  const over = children(picture, "r").filter((child) => child.outcome === "completed");
  return String(over.length);
}

/** Which threads have changed with each frame of a small family, and with one that was seen. */
export function changes() {
  const child = { run: "r", sub_agent_id: "r.1", parent_agent_id: "r", sub_agent_name: "b", tool_use_id: "c" };
  const usage = { self: { tokens: { input: 1 } }, tree: { tokens: { input: 1 } } };
  const all = [
    { type: "run_started", seq: 1, run: "r", thread: "r", prompt: "go" },
    { type: "sub_agent_start", seq: 2, thread: "r.1", ...child },
    { type: "state", seq: 3, run: "r", thread: "r.1", state: "processing" },
    { type: "text_delta", run: "r", thread: "r.1", turn: 1, content: "w" },
    { type: "usage", seq: 4, run: "r", thread: "r.1", turn: 1, ...usage },
    { type: "usage", seq: 4, run: "r", thread: "r.1", turn: 1, ...usage },
  ];
  const picture = begin();
  return JSON.stringify(all.map((frame) => {
    fold(picture, frame);
    const changed = [...picture.changed].filter(Boolean).sort();
    picture.changed.clear();
    return changed;
  }));
}
