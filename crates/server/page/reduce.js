// @ts-check
// Folds the frames of one family into what is shown. Any order, any duplicates, the same picture.
//
// A frame's number is its place. A frame whose number was seen is passed over, and every fact is the first or the last of its kind by
// place, never by arrival; what follows from facts (who is over, which calls broke off, whose child stands where) is worked out from
// them again whenever one of them changes. Frames without a number (other products' streams, words in passing) stand where the
// stream stood when they came: of those, and only those, the order counts.
//
// Taking a frame in costs the same however much came before. What comes of it is described in `picture.js`; where threads stand is
// worked out in `shape.js`, what was used in `figures.js`, what took how long in `spans.js`.
// Pure: no document, no clock, no network. Frames are never changed.

import { nothing, plus, spend, sum, total } from "./figures.js";
import { breakOff, callSpan, personSpan, stateSpan } from "./spans.js";

export { begin } from "./picture.js";
export { children, depth } from "./shape.js";

/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./picture.js").Thread} Thread */
/** @typedef {import("./picture.js").Item} Item */
/** @typedef {import("./picture.js").Question} Question */
/** @typedef {import("./picture.js").Span} Span */
/** @typedef {import("./picture.js").End} End */

/** Takes one frame in. @param {Picture} picture @param {any} frame */
export function fold(picture, frame) {
  if (frame.type === "text_delta") return whisper(picture, frame);
  if (frame.type === "tool_progress") return progress(picture, frame);
  const seq = Number.isSafeInteger(frame.seq) && frame.seq > 0 ? frame.seq : 0;
  if (seq) {
    if (picture.seen.has(seq)) return;
    picture.seen.add(seq);
    picture.last = Math.max(picture.last, seq);
  }
  if (frame.run && !picture.root) found(picture, frame.run);
  // Between two numbers there is room for ten thousand frames that have none.
  const place = seq || picture.last + (picture.unnumbered += 1) / 10_000;
  const id = frame.thread ?? frame.run ?? picture.root;
  const thread = id ? node(picture, id, place) : null;
  if (thread) first(thread, thread.facts.places, place, { agent: frame.agent });
  picture.changed.add(id);
  take.get(frame.type)?.(picture, frame, place, thread, id);
}

/** Who has the word; null where nobody does. @param {Picture} picture @returns {string | null} */
export const active = (picture) => picture.word.agent;

/** Whether a run goes on in the root. @param {Picture} picture @param {string} root */
export function isLive(picture, root) {
  const state = picture.threads.get(root)?.state;
  return state !== undefined && !["idle", "unknown"].includes(state);
}

/** What a thread shows, in order. To be read, not changed. @param {Picture} picture @param {string} thread @returns {readonly Item[]} */
export function items(picture, thread) {
  const facts = picture.threads.get(thread)?.facts;
  if (!facts) return thread ? [] : picture.loose;
  if (!facts.isSorted) facts.items.sort((a, b) => a.seq - b.seq);
  facts.isSorted = true;
  return facts.items;
}

// ---- what each frame tells ----

/** @type {Record<string, (picture: Picture, frame: any, place: number, thread: Thread | null, id: string) => void>} */
const told = {
  run_started(picture, frame, place, thread, id) {
    say(picture, frame, place, id, { kind: "prompt", text: frame.prompt });
    if (!thread) return;
    thread.facts.isRoot = true;
    adopt(picture, thread);
    if (place > thread.facts.runAt) {
      thread.facts.runAt = place;
      // A root does what it was asked last; whatever else is said of it stands behind that.
      Object.assign(thread, { goal: frame.prompt, startedAt: frame.timestamp });
      Object.assign(thread.facts.places, { goal: -1, startedAt: -1 });
    }
    hear(picture, thread, place, "initializing");
  },
  thread_created(picture, frame, place, thread) {
    if (!thread) return;
    first(thread, thread.facts.places, place, { name: frame.name, model: frame.model, startedAt: frame.timestamp });
    claim(picture, thread, place, frame.parent);
    hear(picture, thread, place, "idle");
  },
  agent_start: (picture, frame, place) => handOver(picture, place, frame.agent),
  agent_resume: (picture, frame, place) => handOver(picture, place, frame.agent),
  agent_delegate(picture, frame, place, thread) {
    handOver(picture, place, frame.to);
    if (!frame.sub_agent_id) return;
    const child = node(picture, frame.sub_agent_id, place);
    first(child, child.facts.places, place, { name: frame.sub_agent_name, goal: frame.goal, call: frame.tool_use_id, agent: frame.to });
    claim(picture, child, place, thread?.id);
  },
  text(picture, frame, place, _, id) {
    say(picture, frame, place, id, { kind: "text", text: frame.content });
    hush(picture, id, Infinity);
  },
  sub_agent_queued: (picture, frame, place) => hear(picture, child(picture, frame, place), place, "queued"),
  sub_agent_start(picture, frame, place) {
    const one = child(picture, frame, place);
    first(one, one.facts.places, place, { startedAt: frame.timestamp });
    hear(picture, one, place, "running");
  },
  sub_agent_complete: (picture, frame, place) => childEnd(picture, frame, place, "completed"),
  sub_agent_error: (picture, frame, place) => childEnd(picture, frame, place, "error"),
  tool_start(picture, frame, place, thread, id) {
    const item = call(picture, frame, place, thread, id);
    const rank = hasWords(item.input) ? 1 : 0;
    const isBetter = Number(hasWords(frame.input)) - rank || place - (item.places.input ?? -1);
    if (item.input === undefined || isBetter > 0) {
      item.input = frame.input;
      item.places.input = place;
    }
    if (thread && place >= (thread.facts.places.lastTool ?? -1)) {
      thread.facts.places.lastTool = place;
      Object.assign(thread, { lastTool: frame.tool_name, lastCall: item.key });
    }
    callSpan(picture, item, frame, place);
    if (thread) close(picture, thread, item);
  },
  tool_result(picture, frame, place, thread, id) {
    const item = call(picture, frame, place, thread, id);
    if (place >= (item.places.result ?? -1)) {
      item.places.result = place;
      const isError = frame.is_error === true;
      Object.assign(item, { output: frame.output ?? "", isError, ms: frame.duration_ms, state: isError ? "failed" : "done", progress: undefined });
    }
    thread?.facts.open.delete(item);
    callSpan(picture, item, frame, place);
  },
  validation_required(picture, frame, place, _, id) {
    const one = question(picture, frame, place, id);
    if (place <= (one.places.frame ?? Infinity)) {
      one.places.frame = place;
      Object.assign(one, { seq: place, frame });
    }
    personSpan(picture, id, frame, false);
  },
  validation_resolved(picture, frame, place, _, id) {
    const one = question(picture, frame, place, id);
    if (place >= (one.places.decision ?? -1)) {
      one.places.decision = place;
      Object.assign(one, { decision: frame.decision, reason: frame.reason });
    }
    personSpan(picture, id, frame, true);
  },
  usage(picture, frame, place, thread) {
    if (!thread) return;
    const { facts } = thread;
    if (place >= (facts.usage?.place ?? -1)) facts.usage = sum(place, frame);
    if (Number.isSafeInteger(frame.turn)) facts.turn = Math.max(facts.turn, frame.turn);
    hush(picture, thread.id, facts.turn);
    spend(picture, thread);
  },
  state(picture, frame, place, thread) {
    if (!thread) return;
    hear(picture, thread, place, frame.state);
    stateSpan(picture, thread, place, frame.timestamp, frame.state === "processing");
  },
  retry(picture, frame, place, _, id) {
    say(picture, frame, place, id, { kind: "notice", text: `The model is asked again: ${frame.message}` });
    // What was heard of the answer that broke off is not part of the next one.
    picture.deltas.delete(`${id}#${frame.turn}`);
  },
  steered: (picture, frame, place, _, id) => say(picture, frame, place, id, { kind: "notice", from: frame.from, text: `${frame.from} said: ${frame.content}` }),
  stalled(picture, frame, place, _, id) {
    const silent = Math.round((frame.silent_ms ?? 0) / 1000);
    say(picture, frame, place, id, { kind: "notice", text: `Nothing was heard for ${silent} s; it waits for ${frame.waiting_for}` });
  },
  budget_warning: (picture, frame, place, _, id) => say(picture, frame, place, id, { kind: "notice", text: `${frame.percent} % of ${frame.limit} is used` }),
  budget_exceeded: (picture, frame, place, _, id) => say(picture, frame, place, id, { kind: "notice", text: frame.reason }),
  notification: (picture, frame, place, _, id) => say(picture, frame, place, id, { kind: "notice", text: frame.message }),
  error: (picture, frame, place, _, id) => say(picture, frame, place, id, { kind: "notice", text: frame.message, isError: true }),
  done(picture, frame, place, thread, id) {
    // A stream that has no word for outcomes says `done` when all is well.
    const outcome = frame.outcome ?? "completed";
    say(picture, frame, place, id, { kind: "end", text: frame.reason ?? "", state: outcome === "completed" ? "done" : "failed", tool: outcome });
    handOver(picture, place, null);
    if (place > picture.doneSeq) Object.assign(picture, { done: frame, doneSeq: place });
    if (!thread) return;
    const own = sum(place, frame.usage);
    thread.facts.ended = plus(thread.facts.ended, own);
    ends(picture, thread, { place, outcome, error: frame.reason ?? undefined, at: frame.timestamp, ms: frame.duration_ms, sum: null });
  },
};
const take = new Map(Object.entries(told));

// ---- threads ----

/** @param {Picture} picture @param {string} id @param {number} place @returns {Thread} */
function node(picture, id, place) {
  let one = picture.threads.get(id);
  if (!one) {
    one = {
      id, seq: place, state: "unknown", tools: 0, selfTokens: 0, treeTokens: 0, selfCost: 0, cost: 0, isOver: false,
      facts: {
        places: {}, isRoot: false, runAt: -1, heard: { place: -1, state: "unknown" }, end: null, closed: -1, usage: null, ended: nothing(), open: new Set(),
        items: [], isSorted: true, calls: 0, turn: -1, marks: [],
      },
    };
    picture.threads.set(id, one);
    picture.shape = null;
    picture.changed.add(picture.root);
    adopt(picture, one);
    total(picture, one);
  }
  if (place < one.seq) {
    one.seq = place;
    picture.shape = null;
  }
  picture.changed.add(id);
  return one;
}

/** The child that a frame tells of. @param {Picture} picture @param {any} frame @param {number} place */
function child(picture, frame, place) {
  const one = node(picture, frame.sub_agent_id, place);
  first(one, one.facts.places, place, { name: frame.sub_agent_name, goal: frame.goal, call: frame.tool_use_id });
  claim(picture, one, place, frame.parent_agent_id);
  return one;
}

/** @param {Picture} picture @param {any} frame @param {number} place @param {string} otherwise */
function childEnd(picture, frame, place, otherwise) {
  const one = child(picture, frame, place);
  const { outcome = otherwise, report, error, metrics, usage } = frame.data ?? {};
  const own = metrics && { tokens: { input: metrics.tokens_input, output: metrics.tokens_output }, tool_calls: metrics.tool_calls };
  const counted = usage || own ? sum(place, usage ?? { self: own, tree: own }) : null;
  ends(picture, one, { place, outcome, report, error: error ?? undefined, at: frame.timestamp, ms: metrics?.duration_ms, sum: counted });
}

/** @param {Picture} picture @param {Thread} thread @param {End} end */
function ends(picture, thread, end) {
  if (end.place > (thread.facts.end?.place ?? -1)) thread.facts.end = end;
  stateSpan(picture, thread, end.place, end.at, false);
  settle(picture, thread);
  spend(picture, thread);
}

/** @param {Picture} picture @param {Thread} thread @param {number} place @param {string} state */
function hear(picture, thread, place, state) {
  if (place >= thread.facts.heard.place) thread.facts.heard = { place, state };
  settle(picture, thread);
}

/** Works out how a thread is, and those below it where that follows. @param {Picture} picture @param {Thread} thread */
function settle(picture, thread) {
  const { end, heard, runAt, isRoot } = thread.facts;
  const was = thread.isOver;
  const last = end && end.place > runAt ? end : null;
  // Nobody is left who could still hear of it: it broke off, and must not read as running or as a success.
  const isLost = !last && thread.parent !== undefined && picture.threads.get(thread.parent)?.isOver === true;
  thread.isOver = last !== null || isLost;
  thread.state = last ? (isRoot || thread.id === picture.root ? "idle" : last.outcome ?? "unknown") : isLost ? "interrupted" : heard.state;
  thread.outcome = isLost ? "interrupted" : last?.outcome;
  thread.error = isLost ? "its parent finished first" : last?.error;
  Object.assign(thread, { report: last?.report, endedAt: last?.at, ms: last?.ms });
  const closed = isLost ? Infinity : end?.place ?? -1;
  if (closed !== thread.facts.closed) {
    thread.facts.closed = closed;
    for (const item of thread.facts.open) close(picture, thread, item);
  }
  picture.changed.add(thread.id);
  if (thread.isOver !== was) for (const one of picture.below.get(thread.id) ?? []) settle(picture, one);
}

/** A call that its agent did not live to see answered is broken off. @param {Picture} picture @param {Thread} thread @param {Item} item */
function close(picture, thread, item) {
  if (!thread.facts.open.has(item)) return;
  const isOver = item.seq < thread.facts.closed;
  item.state = isOver ? "interrupted" : "running";
  breakOff(picture, item, isOver ? thread.facts.end?.at : undefined);
}

/** The root of the family is known. @param {Picture} picture @param {string} root */
function found(picture, root) {
  picture.root = root;
  picture.shape = null;
  const one = picture.threads.get(root);
  if (!one) return;
  adopt(picture, one);
  settle(picture, one);
}

/** Somebody says whose child a thread is. @param {Picture} picture @param {Thread} thread @param {number} place @param {string | null | undefined} parent */
function claim(picture, thread, place, parent) {
  const { places } = thread.facts;
  if (!parent || parent === thread.id || place >= (places.claim ?? Infinity)) return;
  places.claim = place;
  thread.facts.claim = parent;
  adopt(picture, thread);
}

/** Puts a thread under its parent: the one in its name, else the one that was claimed; a root has none. @param {Picture} picture @param {Thread} thread */
function adopt(picture, thread) {
  const dot = thread.id.lastIndexOf(".");
  const isRoot = thread.facts.isRoot || thread.id === picture.root;
  const parent = isRoot ? undefined : dot > 0 ? thread.id.slice(0, dot) : thread.facts.claim;
  if (parent !== undefined) {
    if (!picture.below.has(parent)) picture.below.set(parent, new Set());
    picture.below.get(parent)?.add(thread);
    picture.changed.add(parent);
  }
  if (parent === thread.parent) return;
  if (thread.parent !== undefined) picture.below.get(thread.parent)?.delete(thread);
  thread.parent = parent;
  picture.shape = null;
  settle(picture, thread);
}

/** @param {Picture} picture @param {number} place @param {string | null} agent */
function handOver(picture, place, agent) {
  if (place >= picture.word.place) picture.word = { place, agent };
}

// ---- items ----

/** @param {Picture} picture @param {any} frame @param {number} place @param {string} thread @param {Partial<Item> & { kind: Item["kind"] }} words */
function say(picture, frame, place, thread, words) {
  // A stream without numbers may leave out who speaks: whoever has the word.
  const agent = frame.agent ?? (frame.seq ? undefined : picture.word.agent ?? undefined);
  put(picture, { key: `${words.kind}:${thread}:${place}`, seq: place, thread, at: frame.timestamp, agent, places: {}, ...words });
}

/** The item of a call, from whichever of its frames comes first. @param {Picture} picture @param {any} frame @param {number} place @param {Thread | null} thread @param {string} id @returns {Item} */
function call(picture, frame, place, thread, id) {
  const key = `tool:${id}:${frame.tool_use_id}`;
  let item = picture.items.get(key);
  if (!item) {
    item = put(picture, { key, kind: "tool", seq: place, thread: id, call: frame.tool_use_id, state: "running", places: {} });
    if (thread) {
      thread.facts.open.add(item);
      thread.facts.calls += 1;
    }
  }
  if (place < item.seq) {
    item.seq = place;
    if (thread) thread.facts.isSorted = false;
  }
  first(item, item.places, place, { tool: frame.tool_name, agent: frame.agent, at: frame.timestamp, slug: frame.agent_slug });
  if (thread) spend(picture, thread);
  return item;
}

/** @param {Picture} picture @param {Item} item @returns {Item} */
function put(picture, item) {
  picture.items.set(item.key, item);
  const facts = picture.threads.get(item.thread)?.facts;
  const all = facts?.items ?? picture.loose;
  if (facts && all.length && all[all.length - 1].seq > item.seq) facts.isSorted = false;
  all.push(item);
  return item;
}

/** @param {Picture} picture @param {any} frame @param {number} place @param {string} thread @returns {Question} */
function question(picture, frame, place, thread) {
  const known = picture.questions.get(frame.validation_id);
  const one = known ?? { id: frame.validation_id, seq: place, thread, frame: null, places: {} };
  if (!known) picture.questions.set(one.id, one);
  return one;
}

/** Words of an answer that is not whole yet. @param {Picture} picture @param {any} frame */
function whisper(picture, frame) {
  const id = frame.thread ?? frame.run ?? picture.root;
  const thread = picture.threads.get(id);
  if (thread && (thread.isOver || frame.turn <= thread.facts.turn)) return;
  const key = `${id}#${frame.turn}`;
  picture.deltas.set(key, (picture.deltas.get(key) ?? "") + frame.content);
  picture.changed.add(id);
}

/** Words that the whole answer has replaced. @param {Picture} picture @param {string} thread @param {number} turn The newest one that is answered. */
function hush(picture, thread, turn) {
  for (const key of picture.deltas.keys()) {
    const at = key.lastIndexOf("#");
    if (key.slice(0, at) === thread && !(Number(key.slice(at + 1)) > turn)) picture.deltas.delete(key);
  }
}

/** What a running tool writes: its newest lines. @param {Picture} picture @param {any} frame */
function progress(picture, frame) {
  const id = frame.thread ?? frame.run ?? picture.root;
  const item = picture.items.get(`tool:${id}:${frame.tool_use_id}`);
  if (!item || item.state !== "running") return;
  item.progress = `${item.progress ?? ""}${frame.content}`.slice(-4000);
  picture.changed.add(id);
}

// ---- facts ----

/** Keeps of each fact the one that stands first. @param {any} about @param {Record<string, number>} places @param {number} place @param {Record<string, any>} facts */
function first(about, places, place, facts) {
  for (const [field, value] of Object.entries(facts)) {
    if (value === undefined || value === null || place >= (places[field] ?? Infinity)) continue;
    places[field] = place;
    about[field] = value;
  }
}

/** @param {any} input */
const hasWords = (input) => input !== undefined && input !== null && Object.keys(Object(input)).length > 0;
