// @ts-check
// What took time, by agent: a lane for a thread and for each one below it, parents before children, with its bars in
// order.
//
// Pure but for the clock, to which bars of what goes on reach.

import { children, items } from "./reduce.js";
import { isGood, now, stateWord } from "./words.js";

/** @typedef {import("./reduce.js").Picture} Picture */
/** @typedef {import("./reduce.js").Thread} Thread */
/** @typedef {"model" | "tool" | "child" | "person"} Kind */
/**
 * @typedef {{
 *   kind: Kind, label: string, from: number, to: number, isFailed: boolean, isLive: boolean, ended?: string,
 * }} Bar `ended` is how its agent ended with it, where that was not well.
 */
/** @typedef {{ thread: Thread, level: number, bars: Bar[] }} Lane */

/**
 * @param {Picture} picture
 * @param {string} thread
 * @param {number} since What was over before is left out.
 * @returns {Lane[]}
 */
export function lanes(picture, thread, since) {
  /** @type {Map<string, Bar[]>} */
  const bars = new Map();
  for (const span of picture.spans.values()) {
    const one = picture.threads.get(span.thread);
    if (!one || !(span.from > 0)) continue;
    const isLive = span.to === null && !one.isOver && one.state !== "idle";
    const end = span.to ?? (isLive ? now() : Date.parse(one.endedAt ?? "") || span.from);
    if (end < since) continue;
    // A call that began a child lasts as long as the child, whose own lane tells more.
    const kind = picture.items.get(span.key)?.slug === undefined ? span.kind : "child";
    /** @type {Bar} */
    const bar = {
      kind,
      label: span.label,
      from: span.from,
      to: Math.max(span.from, end),
      isFailed: span.isError,
      isLive,
    };
    if (!bars.get(span.thread)?.push(bar)) bars.set(span.thread, [bar]);
  }
  /** @type {Lane[]} */
  const all = [];
  const seen = new Set();
  const add = (/** @type {Thread} */ one, /** @type {number} */ level) => {
    if (seen.has(one.id)) return;
    seen.add(one.id);
    const own = bars.get(one.id)?.sort((a, b) => a.from - b.from);
    if (own) all.push({ thread: one, level, bars: own });
    if (own) breakOff(one, own);
    for (const child of children(picture, one.id)) add(child, level + 1);
  };
  const first = picture.threads.get(thread);
  if (first) add(first, 0);
  return all;
}

/** A thread that failed did so in its last bar, which lasted until then. @param {Thread} thread @param {Bar[]} bars */
function breakOff(thread, bars) {
  const last = bars.at(-1);
  if (!last || thread.outcome === undefined || isGood(thread.outcome)) return;
  const end = Date.parse(thread.endedAt ?? "") || last.to;
  Object.assign(last, { isFailed: true, to: Math.max(last.to, end), ended: stateWord(thread.outcome) });
}

/** When the runs of a thread began. @param {Picture} picture @param {string} thread */
export function runs(picture, thread) {
  const prompts = items(picture, thread).filter((item) => item.kind === "prompt");
  return prompts.map((item) => Date.parse(item.at ?? "")).filter((at) => at > 0);
}
