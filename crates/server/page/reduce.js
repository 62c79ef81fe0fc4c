// @ts-check
// Folds frames into what is shown. Any order, any duplicates, the same picture: every fact is kept under the id of what it is
// about, a known fact is never taken back, and places are numbers of frames, not of arrival.
//
// Pure: no document, no clock, no network.

/**
 * @typedef {{
 *   key: string, kind: "prompt" | "text" | "tool" | "notice" | "end", seq: number, thread: string,
 *   text?: string, agent?: string, tool?: string, input?: any, output?: string, isError?: boolean, ms?: number | null,
 *   state?: "running" | "done" | "failed" | "interrupted", child?: string, at?: string,
 * }} Item
 * @typedef {{
 *   id: string, seq: number, agent?: string, name?: string, parent?: string, call?: string, goal?: string, model?: string,
 *   state: string, outcome?: string, report?: string, error?: string, startedAt?: string, endedAt?: string,
 *   tools: number, lastTool?: string, selfTokens: number, treeTokens: number, cost: number, stateSeq: number, usageSeq: number,
 *   toolSeq: number, ms?: number,
 * }} Thread
 * @typedef {{ id: string, seq: number, frame: any, decision?: string, reason?: string | null }} Question
 * @typedef {{ thread: string, kind: "model" | "tool" | "person", from: number, to: number | null, label: string, key: string }} Span
 * @typedef {{
 *   threads: Map<string, Thread>, items: Map<string, Item>, questions: Map<string, Question>, spans: Map<string, Span>,
 *   handovers: { seq: number, agent: string | null }[], last: number, done: any, doneSeq: number, deltas: Map<string, string>,
 * }} Picture
 */

/** @returns {Picture} */
export function begin() {
  return {
    threads: new Map(), items: new Map(), questions: new Map(), spans: new Map(),
    handovers: [], last: 0, done: null, doneSeq: 0, deltas: new Map(),
  };
}

/**
 * Takes one frame in.
 * @param {Picture} picture
 * @param {any} frame
 */
export function fold(picture, frame) {
  const seq = typeof frame.seq === "number" ? frame.seq : 0;
  const thread = frame.thread ?? frame.run ?? "";
  picture.last = Math.max(picture.last, seq);
  const about = thread ? node(picture, thread, seq) : null;
  if (about && frame.agent) about.agent ??= frame.agent;
  const say = (/** @type {Partial<Item> & { key: string, kind: Item["kind"] }} */ item) => put(picture, { seq, thread, at: frame.timestamp, agent: frame.agent, ...item });
  switch (frame.type) {
    case "run_started":
      say({ key: `run:${seq}`, kind: "prompt", text: frame.prompt });
      break;
    case "thread_created":
      if (about) Object.assign(about, known({ name: frame.name, parent: frame.parent ?? undefined, model: frame.model, startedAt: frame.timestamp }));
      break;
    case "agent_start":
      handover(picture, seq, frame.agent);
      break;
    case "agent_delegate": {
      handover(picture, seq, frame.to);
      if (frame.sub_agent_id) {
        const child = node(picture, frame.sub_agent_id, seq);
        Object.assign(child, known({ name: frame.sub_agent_name, parent: thread, goal: frame.goal, call: frame.tool_use_id, agent: frame.to }));
      }
      break;
    }
    case "agent_resume":
      handover(picture, seq, frame.agent);
      break;
    case "text":
      say({ key: `text:${thread}:${seq || frame.content}`, kind: "text", text: frame.content });
      for (const key of picture.deltas.keys()) if (key.startsWith(`${thread}#`)) picture.deltas.delete(key);
      break;
    case "text_delta": {
      const key = `${thread}#${frame.turn}`;
      picture.deltas.set(key, (picture.deltas.get(key) ?? "") + frame.content);
      break;
    }
    case "sub_agent_queued":
    case "sub_agent_start": {
      const child = node(picture, frame.sub_agent_id, seq);
      Object.assign(child, known({ name: frame.sub_agent_name, parent: frame.parent_agent_id ?? undefined, goal: frame.goal ?? undefined, call: frame.tool_use_id ?? undefined }));
      if (frame.type === "sub_agent_start") child.startedAt ??= frame.timestamp;
      turn(child, seq, frame.type === "sub_agent_queued" ? "queued" : "running");
      break;
    }
    case "sub_agent_complete":
    case "sub_agent_error": {
      const child = node(picture, frame.sub_agent_id, seq);
      const data = frame.data ?? {};
      Object.assign(child, known({
        name: frame.sub_agent_name, parent: frame.parent_agent_id ?? undefined, call: frame.tool_use_id ?? undefined,
        outcome: data.outcome, report: data.report, error: data.error ?? undefined, endedAt: frame.timestamp, ms: data.metrics?.duration_ms,
      }));
      child.tools = Math.max(child.tools, data.metrics?.tool_calls ?? 0);
      turn(child, Infinity, data.outcome ?? (frame.type === "sub_agent_complete" ? "completed" : "error"));
      close(picture, child.id);
      break;
    }
    case "tool_start": {
      const key = `tool:${thread}:${frame.tool_use_id}`;
      say({ key, kind: "tool", tool: frame.tool_name, input: frame.input, state: "running" });
      if (about && seq >= about.toolSeq) Object.assign(about, { lastTool: frame.tool_name, toolSeq: seq });
      span(picture, { key, thread, kind: "tool", from: time(frame), to: null, label: frame.tool_name ?? "" });
      break;
    }
    case "tool_result": {
      const key = `tool:${thread}:${frame.tool_use_id}`;
      say({ key, kind: "tool", tool: frame.tool_name, output: frame.output ?? "", isError: frame.is_error === true, ms: frame.duration_ms, state: frame.is_error === true ? "failed" : "done" });
      if (about) about.tools = count(picture, thread);
      span(picture, { key, thread, kind: "tool", from: time(frame) - (frame.duration_ms ?? 0), to: time(frame), label: frame.tool_name ?? "" });
      break;
    }
    case "validation_required": {
      const one = picture.questions.get(frame.validation_id);
      picture.questions.set(frame.validation_id, { ...one, id: frame.validation_id, seq, frame });
      span(picture, { key: `ask:${frame.validation_id}`, thread, kind: "person", from: time(frame), to: null, label: "waits for a person" });
      break;
    }
    case "validation_resolved": {
      const one = picture.questions.get(frame.validation_id) ?? { id: frame.validation_id, seq, frame: null };
      picture.questions.set(frame.validation_id, { ...one, decision: frame.decision, reason: frame.reason });
      span(picture, { key: `ask:${frame.validation_id}`, thread, kind: "person", from: time(frame), to: time(frame), label: "waits for a person" });
      break;
    }
    case "usage":
      if (about && seq >= about.usageSeq) {
        about.usageSeq = seq;
        about.selfTokens = tokens(frame.self);
        about.treeTokens = tokens(frame.tree);
        about.cost = frame.tree?.cost_microusd ?? 0;
      }
      break;
    case "state":
      if (about) turn(about, seq, frame.state);
      if (frame.state === "processing") span(picture, { key: `model:${thread}:${seq}`, thread, kind: "model", from: time(frame), to: null, label: "thinks" });
      else endModel(picture, thread, time(frame));
      break;
    case "steered":
      say({ key: `steer:${seq}`, kind: "notice", text: `${frame.from} said: ${frame.content}` });
      break;
    case "stalled":
      say({ key: `stalled:${seq}`, kind: "notice", text: `Nothing was heard for ${Math.round((frame.silent_ms ?? 0) / 1000)} s; it waits for ${frame.waiting_for}` });
      break;
    case "retry":
      say({ key: `retry:${seq}`, kind: "notice", text: `The model is asked again: ${frame.message}` });
      break;
    case "budget_warning":
      say({ key: `warn:${seq}`, kind: "notice", text: `${frame.percent} % of ${frame.limit} is used` });
      break;
    case "budget_exceeded":
      say({ key: `budget:${seq}`, kind: "notice", text: frame.reason });
      break;
    case "notification":
    case "error":
      say({ key: `note:${seq}`, kind: "notice", text: frame.message, isError: frame.type === "error" });
      break;
    case "done":
      say({ key: `end:${seq}`, kind: "end", text: frame.reason ?? "", state: frame.outcome === "completed" ? "done" : "failed", tool: frame.outcome });
      if (seq >= picture.doneSeq) Object.assign(picture, { done: frame, doneSeq: seq });
      handover(picture, seq, null);
      if (about) turn(about, seq, "idle");
      break;
    default:
      break;
  }
}

/** Who has the word; null where nobody does. @param {Picture} picture @returns {string | null} */
export function active(picture) {
  let newest = null;
  for (const one of picture.handovers) if (!newest || one.seq >= newest.seq) newest = one;
  return newest?.agent ?? null;
}

/** Whether a run goes on in the root. @param {Picture} picture @param {string} root */
export function isLive(picture, root) {
  const state = picture.threads.get(root)?.state;
  return state !== undefined && !["idle", "unknown"].includes(state);
}

/** The children of a thread, in the order of their first frame. @param {Picture} picture @param {string} parent @returns {Thread[]} */
export function children(picture, parent) {
  return [...picture.threads.values()].filter((one) => one.parent === parent).sort((a, b) => a.seq - b.seq);
}

/** What a thread shows, in order. @param {Picture} picture @param {string} thread @returns {Item[]} */
export function items(picture, thread) {
  return [...picture.items.values()].filter((item) => item.thread === thread).sort((a, b) => a.seq - b.seq);
}

/** How deep a thread lies: the length of its chain of parents, at most ten, whatever ids claim. @param {Picture} picture @param {string} id */
export function depth(picture, id) {
  let deep = 0;
  const seen = new Set([id]);
  for (let at = picture.threads.get(id)?.parent; at && deep < 10 && !seen.has(at); at = picture.threads.get(at)?.parent) {
    seen.add(at);
    deep += 1;
  }
  return deep;
}

/** @param {Picture} picture @param {string} id @param {number} seq @returns {Thread} */
function node(picture, id, seq) {
  let one = picture.threads.get(id);
  if (!one) {
    one = { id, seq, state: "unknown", tools: 0, selfTokens: 0, treeTokens: 0, cost: 0, stateSeq: -1, usageSeq: -1, toolSeq: -1 };
    const dot = id.lastIndexOf(".");
    // A thread's name tells its parent, until a frame does.
    if (dot > 0) one.parent = id.slice(0, dot);
    picture.threads.set(id, one);
  }
  // Words in passing have no number, and say nothing of a place.
  if (seq > 0) one.seq = one.seq > 0 ? Math.min(one.seq, seq) : seq;
  return one;
}

/** @param {Picture} picture @param {Item} item */
function put(picture, item) {
  const known = picture.items.get(item.key);
  if (!known) {
    picture.items.set(item.key, item);
    return;
  }
  known.seq = Math.min(known.seq, item.seq);
  if (hasWords(item.input) || known.input === undefined) known.input = item.input ?? known.input;
  for (const field of /** @type {const} */ (["text", "agent", "tool", "output", "isError", "ms", "at"])) {
    // @ts-ignore: the same field on both sides
    if (item[field] !== undefined && known[field] === undefined) known[field] = item[field];
  }
  if (item.state && item.state !== "running") known.state = item.state;
  else known.state ??= item.state;
}

/** @param {any} input */
const hasWords = (input) => input !== undefined && input !== null && Object.keys(Object(input)).length > 0;

/** @param {Thread} thread @param {number} seq @param {string} state */
function turn(thread, seq, state) {
  if (seq >= thread.stateSeq) Object.assign(thread, { state, stateSeq: seq });
}

/** Calls that their agent did not live to see answered. @param {Picture} picture @param {string} thread */
function close(picture, thread) {
  for (const item of picture.items.values()) {
    if (item.thread === thread && item.kind === "tool" && item.state === "running") item.state = "interrupted";
  }
}

/** @param {Picture} picture @param {string} thread */
const count = (picture, thread) => [...picture.items.values()].filter((item) => item.kind === "tool" && item.thread === thread).length;

/** @param {Picture} picture @param {number} seq @param {string | null} agent */
function handover(picture, seq, agent) {
  if (!picture.handovers.some((one) => one.seq === seq && one.agent === agent && seq !== 0)) picture.handovers.push({ seq, agent });
}

/** @param {Picture} picture @param {Span} one */
function span(picture, one) {
  const known = picture.spans.get(one.key);
  if (!known) picture.spans.set(one.key, one);
  else {
    known.from = Math.min(known.from, one.from);
    known.to = one.to ?? known.to;
    known.label ||= one.label;
  }
}

/** @param {Picture} picture @param {string} thread @param {number} at */
function endModel(picture, thread, at) {
  for (const one of picture.spans.values()) if (one.kind === "model" && one.thread === thread && one.to === null && one.from <= at) one.to = at;
}

/** @param {any} frame */
const time = (frame) => Date.parse(frame.timestamp ?? "") || 0;

/** @param {any} used */
function tokens(used) {
  const all = used?.tokens ?? {};
  return (all.input ?? 0) + (all.output ?? 0) + (all.cache_read ?? 0) + (all.cache_write ?? 0);
}

/** What is known, without what is not. @template T @param {T} facts @returns {Partial<T>} */
function known(facts) {
  return /** @type {Partial<T>} */ (Object.fromEntries(Object.entries(/** @type {any} */ (facts)).filter(([, value]) => value !== undefined)));
}
