// @ts-check
// Threads: who is whose child, how each one is, and what follows from that for those below it and for its calls.
//
// A field of a thread is the first or the last of its kind by place, or is worked out from such facts whenever one of
// them changes; so it does not matter in which order they came.

import { nothing, spend, total } from "./figures.js";
import { endStreamedText } from "./items.js";
import { first } from "./picture.js";
import { breakOff, stateSpan } from "./spans.js";

/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./picture.js").Thread} Thread */
/** @typedef {import("./picture.js").Item} Item */
/** @typedef {import("./picture.js").End} End */

/**
 * The thread of a name, made where there is none.
 * @param {Picture} picture
 * @param {string} id
 * @param {number} place
 * @returns {Thread}
 */
export function node(picture, id, place) {
  const one = picture.threads.get(id) ?? made(picture, id, place);
  if (place < one.seq) {
    one.seq = place;
    picture.shape = null;
  }
  picture.changed.add(id);
  return one;
}

/** @param {Picture} picture @param {string} id @param {number} place @returns {Thread} */
function made(picture, id, place) {
  /** @type {Thread} */
  const one = {
    id,
    seq: place,
    state: "unknown",
    tools: 0,
    selfTokens: 0,
    treeTokens: 0,
    selfCost: 0,
    cost: 0,
    isPriceUnknown: false,
    isEstimated: false,
    isOver: false,
    thoughtAt: -1,
    facts: {
      places: {},
      isRoot: false,
      isAlone: false,
      runAt: -1,
      heard: { place: -1, state: "unknown" },
      end: null,
      closed: -1,
      usage: null,
      ended: nothing(),
      open: new Set(),
      items: [],
      isSorted: true,
      calls: 0,
      turn: -1,
      marks: [],
    },
  };
  picture.threads.set(id, one);
  picture.shape = null;
  picture.changed.add(picture.root);
  adopt(picture, one);
  total(picture, one);
  return one;
}

/**
 * The child that a frame tells of.
 * @param {Picture} picture
 * @param {any} frame
 * @param {number} place
 */
export function childOf(picture, frame, place) {
  const one = node(picture, frame.sub_agent_id, place);
  const { sub_agent_name: name, goal, tool_use_id: call } = frame;
  first(one, one.facts.places, place, { name, goal, call });
  claim(picture, one, place, frame.parent_agent_id);
  return one;
}

/**
 * The root of the family is known.
 * @param {Picture} picture
 * @param {string} root
 */
export function found(picture, root) {
  picture.root = root;
  picture.shape = null;
  const one = picture.threads.get(root);
  if (!one) return;
  adopt(picture, one);
  settle(picture, one);
}

/**
 * A root takes up a message: it does what it was asked last, and whatever else is said of it stands behind that.
 * @param {Picture} picture
 * @param {Thread} thread
 * @param {number} place
 * @param {any} frame
 */
export function runs(picture, thread, place, frame) {
  const { facts } = thread;
  facts.isRoot = true;
  if (place > facts.runAt) {
    facts.runAt = place;
    endStreamedText(picture, thread.id);
    Object.assign(thread, { goal: frame.prompt, startedAt: frame.timestamp });
    Object.assign(facts.places, { goal: -1, startedAt: -1 });
  }
  adopt(picture, thread);
  hear(picture, thread, place, "initializing");
}

/**
 * A sub-agent that has reported goes on with what it is asked: it does that, and whatever else is said of it stands behind that.
 * @param {Picture} picture
 * @param {Thread} thread
 * @param {number} place
 * @param {any} frame
 */
export function goesOn(picture, thread, place, frame) {
  const { facts } = thread;
  if (place > facts.runAt) {
    Object.assign(facts, { runAt: place, isAlone: !frame.tool_use_id });
    endStreamedText(picture, thread.id);
    Object.assign(thread, { goal: frame.goal, startedAt: frame.timestamp });
    Object.assign(facts.places, { goal: -1, startedAt: -1 });
  }
  hear(picture, thread, place, "initializing");
}

/**
 * A frame says which parent a thread has.
 * @param {Picture} picture
 * @param {Thread} thread
 * @param {number} place
 * @param {string | null | undefined} parent
 */
export function claim(picture, thread, place, parent) {
  const { places } = thread.facts;
  if (!parent || parent === thread.id || place >= (places.claim ?? Infinity)) return;
  places.claim = place;
  thread.facts.claim = parent;
  adopt(picture, thread);
}

/**
 * What a thread is doing.
 * @param {Picture} picture
 * @param {Thread} thread
 * @param {number} place
 * @param {string} state
 */
export function hear(picture, thread, place, state) {
  if (place >= thread.facts.heard.place) thread.facts.heard = { place, state };
  settle(picture, thread);
}

/**
 * How a thread ended.
 * @param {Picture} picture
 * @param {Thread} thread
 * @param {End} end
 */
export function ends(picture, thread, end) {
  if (end.place > (thread.facts.end?.place ?? -1)) thread.facts.end = end;
  stateSpan(picture, thread, end.place, end.at, false);
  settle(picture, thread);
  spend(picture, thread);
}

/**
 * A call that its agent did not live to see answered is broken off.
 * @param {Picture} picture
 * @param {Thread} thread
 * @param {Item} item
 */
export function close(picture, thread, item) {
  if (!thread.facts.open.has(item)) return;
  const isOver = item.seq < thread.facts.closed;
  item.state = isOver ? "interrupted" : "running";
  breakOff(picture, item, isOver ? thread.facts.end?.at : undefined);
}

/**
 * Puts a thread under its parent: the one in its name, else the one that was claimed. A root has none.
 * @param {Picture} picture
 * @param {Thread} thread
 */
function adopt(picture, thread) {
  const dot = thread.id.lastIndexOf(".");
  const named = dot > 0 ? thread.id.slice(0, dot) : thread.facts.claim;
  const parent = isRoot(picture, thread) ? undefined : named;
  if (parent !== undefined) {
    const beside = picture.below.get(parent);
    if (beside) beside.add(thread);
    else picture.below.set(parent, new Set([thread]));
    picture.changed.add(parent);
  }
  if (parent === thread.parent) return;
  if (thread.parent !== undefined) picture.below.get(thread.parent)?.delete(thread);
  thread.parent = parent;
  picture.shape = null;
  settle(picture, thread);
}

/**
 * Works out how a thread is, and those below it where that follows.
 * @param {Picture} picture
 * @param {Thread} thread
 */
function settle(picture, thread) {
  const { end, heard, runAt } = thread.facts;
  const was = thread.isOver;
  const last = end && end.place > runAt ? end : null;
  const parent = thread.parent === undefined ? undefined : picture.threads.get(thread.parent);
  // No thread above it runs that could still get its report: it broke off, and must not read as running or as a success.
  // One that a person asked needs no parent that waits for it.
  const isLost = !last && parent?.isOver === true && !thread.facts.isAlone;
  const outcome = isLost ? "interrupted" : last?.outcome;
  const error = isLost ? "its parent finished first" : last?.error;
  // A root that is over can be asked again.
  const state = outcome === undefined ? heard.state : isRoot(picture, thread) ? "idle" : outcome;
  const isOver = last !== null || isLost;
  Object.assign(thread, { isOver, state, outcome, error, report: last?.report, endedAt: last?.at, ms: last?.ms });
  picture.changed.add(thread.id);
  if (isOver) endStreamedText(picture, thread.id);

  const closed = isLost ? Infinity : (end?.place ?? -1);
  if (closed !== thread.facts.closed) {
    thread.facts.closed = closed;
    for (const item of thread.facts.open) close(picture, thread, item);
  }
  if (isOver !== was) for (const one of picture.below.get(thread.id) ?? []) settle(picture, one);
}

/** @param {Picture} picture @param {Thread} thread */
const isRoot = (picture, thread) => thread.facts.isRoot || thread.id === picture.root;
