// @ts-check
// Folds the frames of one family into what is shown. Any order, any duplicates, the same picture.
//
// A frame's number is its place. A frame whose number was seen is passed over, and every fact is the first or the last
// of its kind by place, never by arrival. Frames without a number (other products' streams, words in passing) stand
// where the stream stood when they came: of those, and only those, the order counts.
//
// Taking a frame in costs the same however much came before. What comes of it is described in `picture.js`. Here is
// what each type of frame tells; what follows for threads is in `family.js`, what they show in `items.js`, what was
// used in `figures.js`, what took how long in `spans.js`, and where threads stand in `shape.js`.
// Pure: no document, no clock, no network. Frames are never changed.

import { childOf, claim, close, ends, found, goesOn, hear, node, runs } from "./family.js";
import { plus, spend, sum } from "./figures.js";
import { call, endStreamedText, note, progress, question, say, upgrade, streamText } from "./items.js";
import { first } from "./picture.js";
import { callSpan, personSpan, stateSpan } from "./spans.js";

export { items, untold } from "./items.js";
export { begin } from "./picture.js";
export { children, depth } from "./shape.js";

/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./picture.js").Thread} Thread */
/** @typedef {import("./picture.js").Item} Item */
/** @typedef {import("./picture.js").Question} Question */
/** @typedef {import("./picture.js").Span} Span */

/** @typedef {{ picture: Picture, frame: any, place: number, thread: Thread | null, id: string }} Told A frame. */

/**
 * Takes one frame in.
 * @param {Picture} picture
 * @param {any} frame
 */
export function fold(picture, frame) {
  if (frame.type === "text_delta") return streamText(picture, picture.deltas, frame);
  if (frame.type === "thinking_delta") return streamText(picture, picture.thoughts, frame);
  if (frame.type === "tool_progress") return progress(picture, frame);
  // What happens to tasks is shown by the board.
  if (frame.board) return;
  const seq = Number.isSafeInteger(frame.seq) && frame.seq > 0 ? frame.seq : 0;
  if (seq) {
    if (picture.seen.has(seq)) return;
    picture.seen.add(seq);
    picture.last = Math.max(picture.last, seq);
  }
  if (frame.run && !picture.root) found(picture, frame.run);
  // Between two numbers there is space for ten thousand frames that have none.
  const place = seq || picture.last + (picture.unnumbered += 1) / 10_000;
  const id = frame.thread ?? frame.run ?? picture.root;
  const thread = id ? node(picture, id, place) : null;
  if (thread) first(thread, thread.facts.places, place, { agent: frame.agent });
  picture.changed.add(id);
  TYPES.get(frame.type)?.({ picture, frame, place, thread, id });
}

/**
 * The active agent; null where none is.
 * @param {Picture} picture
 * @returns {string | null}
 */
export const active = (picture) => picture.word.agent;

/**
 * Whether a run goes on in the root.
 * @param {Picture} picture
 * @param {string} root
 */
export function isLive(picture, root) {
  const state = picture.threads.get(root)?.state;
  return state !== undefined && !["idle", "unknown"].includes(state);
}

/** @type {Map<string, (told: Told) => void>} */
const TYPES = new Map(
  Object.entries({
    run_started,
    thread_created,
    agent_start: handOver,
    agent_resume: handOver,
    agent_delegate,
    thinking: (told) => say(told, { kind: "thinking", text: told.frame.content }),
    text,
    sub_agent_queued: ({ picture, frame, place }) => hear(picture, childOf(picture, frame, place), place, "queued"),
    sub_agent_start,
    sub_agent_complete: (told) => sub_agent_end(told, "completed"),
    sub_agent_error: (told) => sub_agent_end(told, "error"),
    tool_start,
    tool_result,
    validation_required,
    validation_resolved,
    usage,
    state,
    retry,
    steered: (told) => say(told, { kind: "steer", from: told.frame.from, text: told.frame.content }),
    stalled: (told) => {
      const silent = Math.round((told.frame.silent_ms ?? 0) / 1000);
      note(told, `Nothing was heard for ${silent} s; it waits for ${told.frame.waiting_for}`);
    },
    budget_warning: (told) => note(told, `${told.frame.percent} % of ${told.frame.limit} is used`),
    budget_exceeded: (told) => note(told, told.frame.reason),
    notification,
    error: (told) => say(told, { kind: "notice", text: told.frame.message, isError: true }),
    done,
  }),
);

/** @param {Told} told */
function run_started(told) {
  const { picture, frame, place, thread } = told;
  say(told, { kind: "prompt", text: frame.prompt, files: frame.attachments });
  if (thread) runs(picture, thread, place, frame);
}

/** @param {Told} told */
function thread_created({ picture, frame, place, thread }) {
  if (!thread) return;
  const { name, model, timestamp: startedAt } = frame;
  first(thread, thread.facts.places, place, { name, model, startedAt });
  claim(picture, thread, place, frame.parent);
  hear(picture, thread, place, "idle");
}

/** @param {Told} told @param {string | null} [agent] */
function handOver({ picture, frame, place }, agent = frame.agent) {
  if (place >= picture.word.place) picture.word = { place, agent: agent ?? null };
}

/** @param {Told} told */
function agent_delegate(told) {
  const { picture, frame, place, thread } = told;
  handOver(told, frame.to);
  if (!frame.sub_agent_id) return;
  const child = childOf(picture, frame, place);
  first(child, child.facts.places, place, { agent: frame.to });
  claim(picture, child, place, thread?.id);
}

/** @param {Told} told */
function text(told) {
  say(told, { kind: "text", text: told.frame.content, offers: told.frame.offers });
  endStreamedText(told.picture, told.id);
}

/** @param {Told} told */
function sub_agent_start(told) {
  const { picture, frame, place } = told;
  const child = childOf(picture, frame, place);
  if (frame.turn > 1) {
    say({ ...told, thread: child, id: child.id }, { kind: "prompt", text: frame.goal });
    return goesOn(picture, child, place, frame);
  }
  first(child, child.facts.places, place, { startedAt: frame.timestamp });
  hear(picture, child, place, "initializing");
}

/** @param {Told} told @param {string} otherwise The outcome where none is told. */
function sub_agent_end({ picture, frame, place }, otherwise) {
  const { outcome = otherwise, report, error, metrics, usage } = frame.data ?? {};
  const { tokens_input: input, tokens_output: output, tool_calls } = metrics ?? {};
  const own = { tokens: { input, output }, tool_calls };
  const child = childOf(picture, frame, place);
  const used = usage || metrics ? sum(place, usage ?? { self: own, tree: own }) : null;
  // Each turn of a sub-agent tells what that turn used.
  const isTurn = Number.isSafeInteger(frame.turn);
  if (isTurn && used) child.facts.ended = plus(child.facts.ended, used);
  ends(picture, child, {
    place,
    outcome,
    report,
    error: error ?? undefined,
    at: frame.timestamp,
    ms: metrics?.duration_ms,
    sum: isTurn ? null : used,
  });
}

/** @param {Told} told */
function tool_start(told) {
  const { picture, frame, place, thread } = told;
  const item = call(told);
  upgrade(item, place, frame.input);
  callSpan(picture, item, frame, place);
  if (!thread) return;
  close(picture, thread, item);
  const { places } = thread.facts;
  if (place < (places.lastTool ?? -1)) return;
  places.lastTool = place;
  Object.assign(thread, { lastTool: frame.tool_name, lastCall: item.key });
}

/** @param {Told} told */
function tool_result(told) {
  const { picture, frame, place, thread } = told;
  const item = call(told);
  if (place >= (item.places.result ?? -1)) {
    item.places.result = place;
    const isError = frame.is_error === true;
    const [output, ms, state] = [frame.output ?? "", frame.duration_ms, isError ? "failed" : "done"];
    Object.assign(item, { output, isError, ms, state, progress: undefined });
  }
  thread?.facts.open.delete(item);
  callSpan(picture, item, frame, place);
}

/** @param {Told} told */
function validation_required(told) {
  const { picture, frame, place, id } = told;
  const one = question(told);
  if (place <= (one.places.frame ?? Infinity)) {
    one.places.frame = place;
    Object.assign(one, { seq: place, frame });
  }
  personSpan(picture, id, frame, false);
}

/** @param {Told} told */
function validation_resolved(told) {
  const { picture, frame, place, id } = told;
  const one = question(told);
  if (place >= (one.places.decision ?? -1)) {
    one.places.decision = place;
    Object.assign(one, { decision: frame.decision, reason: frame.reason, answer: frame.answer });
  }
  personSpan(picture, id, frame, true);
}

/** @param {Told} told */
function usage({ picture, frame, place, thread }) {
  if (!thread) return;
  const { facts } = thread;
  if (place >= (facts.usage?.place ?? -1)) facts.usage = sum(place, frame);
  thread.isPriceUnknown ||= frame.price_unknown === true;
  thread.isEstimated ||= frame.estimated === true;
  if (Number.isSafeInteger(frame.turn)) facts.turn = Math.max(facts.turn, frame.turn);
  endStreamedText(picture, thread.id, facts.turn);
  spend(picture, thread);
}

/** @param {Told} told */
function state({ picture, frame, place, thread }) {
  if (!thread) return;
  const thinks = frame.state === "processing";
  if (thinks) thread.thoughtAt = Math.max(thread.thoughtAt, place);
  hear(picture, thread, place, frame.state);
  stateSpan(picture, thread, place, frame.timestamp, thinks);
}

/** @param {Told} told */
function retry(told) {
  note(told, `The model is asked again: ${told.frame.message}`);
  // What was heard of the answer that broke off is not part of the next one.
  endStreamedText(told.picture, told.id, told.frame.turn);
}

/** @param {Told} told */
function notification(told) {
  const { kind, message: text } = told.frame;
  // A notice about a task is what the agent is asked, and stands there as that.
  if (kind === "task") return;
  const isEnding = kind === "stopping";
  say(told, { kind: "notice", text, ...(isEnding ? { isEnding } : {}) });
  // The answer that was coming is not waited for; last words are another.
  if (isEnding) endStreamedText(told.picture, told.id);
}

/** @param {Told} told */
function done(told) {
  const { picture, frame, place, thread } = told;
  // A stream that has no word for outcomes says `done` when all is well.
  const { outcome = "completed", timestamp: at, duration_ms: ms } = frame;
  // The reason of a completed run is for programs: each call that needed approval says so itself.
  const reason = outcome === "completed" ? undefined : frame.reason;
  say(told, { kind: "end", text: reason ?? "", state: outcome === "completed" ? "done" : "failed", tool: outcome });
  handOver(told, null);
  if (place > picture.doneSeq) Object.assign(picture, { done: frame, doneSeq: place });
  if (!thread) return;
  thread.facts.ended = plus(thread.facts.ended, sum(place, frame.usage));
  ends(picture, thread, { place, outcome, error: reason ?? undefined, at, ms, sum: null });
}
