// @ts-check
// Whom the rail shows while several agents work at once: the agent that was shown stays until it is done or delegates, so
// that the eye has something to rest on.
//
// Pure. How long each one is shown at least is `rail.js`' business.

import { active } from "./reduce.js";

/** @typedef {import("./reduce.js").Picture} Picture */
/** @typedef {import("./reduce.js").Thread} Thread */

/** States in which a thread waits while others work. */
const WAITING = new Set(["queued", "delegating"]);

/**
 * The agent to be shown after a frame; null where that is none, or the same as before.
 * @param {Picture} picture
 * @param {any} frame The frame that was taken in last.
 * @param {string | null} held Who is shown.
 * @returns {string | null}
 */
export function shownAfter(picture, frame, held) {
  const told = active(picture);
  if (told === null || told === held) return told;
  const handsOver = frame.type === "agent_delegate" && (frame.from ?? frame.agent) === held;
  if (held !== null && !handsOver && isAtWork(picture, held)) return held;
  const threads = [...picture.threads.values()];
  // Of those without a thread nothing is known but that they have the word.
  if (isAtWork(picture, told) || !threads.some((one) => one.agent === told)) return told;
  return threads.filter(works).sort((a, b) => a.seq - b.seq)[0]?.agent ?? told;
}

/** @param {Picture} picture @param {string} agent */
const isAtWork = (picture, agent) => [...picture.threads.values()].some((one) => one.agent === agent && works(one));

/** @param {Thread} thread */
const works = (thread) => !thread.isOver && !WAITING.has(thread.state);
