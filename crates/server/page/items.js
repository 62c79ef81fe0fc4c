// @ts-check
// What threads show: words, calls, questions, and words in passing. Each is kept under the name of what it is about.

import { spend } from "./figures.js";
import { first } from "./picture.js";

/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./picture.js").Item} Item */
/** @typedef {import("./picture.js").Question} Question */
/** @typedef {import("./reduce.js").Told} Told */

/** So much of what a running tool writes is kept. */
const MOST_PROGRESS = 4000;

/**
 * What a thread shows, in order. To be read, not changed.
 * @param {Picture} picture
 * @param {string} thread
 * @returns {readonly Item[]}
 */
export function items(picture, thread) {
  const facts = picture.threads.get(thread)?.facts;
  if (!facts) return thread ? [] : picture.loose;
  if (!facts.isSorted) facts.items.sort((a, b) => a.seq - b.seq);
  facts.isSorted = true;
  return facts.items;
}

/**
 * The same without what is told once more where the thread ends: why it failed, or was stopped.
 * @param {Picture} picture
 * @param {string} thread
 * @returns {readonly Item[]}
 */
export function untold(picture, thread) {
  const all = items(picture, thread);
  let why = picture.threads.get(thread)?.error;
  /** @type {Item[]} */
  const rest = [];
  for (const item of [...all].reverse()) {
    if (item.kind === "end") why = item.text;
    const tells = item.kind === "notice" && (item.isError === true || item.isEnding === true);
    if (!(tells && why && item.text?.endsWith(why))) rest.push(item);
  }
  return rest.reverse();
}

/**
 * Words that stand by themselves.
 * @param {Told} told
 * @param {Partial<Item> & { kind: Item["kind"] }} words
 */
export function say({ picture, frame, place, id }, words) {
  // A stream without numbers may leave out the agent: it is the one that works.
  const agent = frame.agent ?? (frame.seq ? undefined : (picture.word.agent ?? undefined));
  const key = `${words.kind}:${id}:${place}`;
  put(picture, { key, seq: place, thread: id, at: frame.timestamp, agent, places: {}, ...words });
}

/**
 * Something that a person may want to know.
 * @param {Told} told
 * @param {string} text
 */
export const note = (told, text) => say(told, { kind: "notice", text });

/**
 * The item of a call, from whichever of its frames comes first.
 * @param {Told} told
 * @returns {Item}
 */
export function call({ picture, frame, place, thread, id }) {
  const key = `tool:${id}:${frame.tool_use_id}`;
  const item = picture.items.get(key) ?? begun();
  if (place < item.seq) {
    item.seq = place;
    if (thread) thread.facts.isSorted = false;
  }
  const { tool_name: tool, agent, timestamp: at, agent_slug: slug } = frame;
  first(item, item.places, place, { tool, agent, at, slug });
  if (thread) spend(picture, thread);
  return item;

  /** @returns {Item} */
  function begun() {
    /** @type {Item} */
    const one = { key, kind: "tool", seq: place, thread: id, call: frame.tool_use_id, state: "running", places: {} };
    put(picture, one);
    if (!thread) return one;
    thread.facts.open.add(one);
    thread.facts.calls += 1;
    return one;
  }
}

/**
 * The arguments of a call: the last that say something, else the last.
 * @param {Item} item
 * @param {number} place
 * @param {any} input
 */
export function upgrade(item, place, input) {
  const better = Number(hasWords(input)) - Number(hasWords(item.input)) || place - (item.places.input ?? -1);
  if (item.input !== undefined && better <= 0) return;
  item.input = input;
  item.places.input = place;
}

/**
 * A question to a person, from whichever of its frames comes first.
 * @param {Told} told
 * @returns {Question}
 */
export function question({ picture, frame, place, id }) {
  const known = picture.questions.get(frame.validation_id);
  const one = known ?? { id: frame.validation_id, seq: place, thread: id, frame: null, places: {} };
  if (!known) picture.questions.set(one.id, one);
  return one;
}

/**
 * Words of an answer that is not whole yet, or of what is thought before it.
 * @param {Picture} picture
 * @param {Picture["deltas"]} all Of each thread what is streamed.
 * @param {any} frame
 */
export function streamText(picture, all, frame) {
  const id = frame.thread ?? frame.run ?? picture.root;
  const thread = picture.threads.get(id);
  if (thread && (thread.isOver || frame.turn <= thread.facts.turn)) return;
  const known = all.get(id);
  if (known && known.turn > frame.turn) return;
  // Words of a later turn: the one before broke off. A client that connects in the middle gets all of the text so far.
  const before = known && known.turn === frame.turn && !frame.so_far ? known.text : "";
  all.set(id, { turn: frame.turn, text: before + frame.content });
  picture.changed.add(id);
}

/**
 * Words that the whole answer has replaced, or that nothing more will follow.
 * @param {Picture} picture
 * @param {string} thread
 * @param {number} [turn] The newest one that is over; all where none is named.
 */
export function endStreamedText(picture, thread, turn = Infinity) {
  for (const all of [picture.deltas, picture.thoughts]) {
    const known = all.get(thread);
    if (!known || known.turn > turn) continue;
    all.delete(thread);
    picture.changed.add(thread);
  }
}

/**
 * What a running tool writes: its newest lines.
 * @param {Picture} picture
 * @param {any} frame
 */
export function progress(picture, frame) {
  const id = frame.thread ?? frame.run ?? picture.root;
  const item = picture.items.get(`tool:${id}:${frame.tool_use_id}`);
  if (!item || item.state !== "running") return;
  item.progress = `${item.progress ?? ""}${frame.content}`.slice(-MOST_PROGRESS);
  picture.changed.add(id);
}

/** @param {Picture} picture @param {Item} item */
function put(picture, item) {
  picture.items.set(item.key, item);
  const facts = picture.threads.get(item.thread)?.facts;
  const all = facts?.items ?? picture.loose;
  if (facts && all.length && all[all.length - 1].seq > item.seq) facts.isSorted = false;
  all.push(item);
}

/** @param {any} input */
const hasWords = (input) => input !== undefined && input !== null && Object.keys(Object(input)).length > 0;
