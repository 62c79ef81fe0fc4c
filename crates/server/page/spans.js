// @ts-check
// What took how long: bars of a timeline. A bar begins with the earliest that is told of it and ends with what ended
// it; which of a thread's states ended another is read from their places.

/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./picture.js").Thread} Thread */
/** @typedef {import("./picture.js").Item} Item */
/** @typedef {import("./picture.js").Span} Span */

/** A call ran, or runs. @param {Picture} picture @param {Item} item @param {any} frame @param {number} place */
export function callSpan(picture, item, frame, place) {
  const at = time(frame.timestamp);
  const isEnd = frame.type === "tool_result";
  const span = bar(picture, item.key, item.thread, "tool", isEnd ? at - (frame.duration_ms ?? 0) : at);
  Object.assign(span, { label: item.tool ?? "", isError: item.isError === true });
  if (isEnd && item.places.result === place) span.to = at;
}

/**
 * A call without a result ended with its agent, or runs.
 * @param {Picture} picture
 * @param {Item} item
 * @param {string | undefined} at
 */
export function breakOff(picture, item, at) {
  const span = picture.spans.get(item.key);
  if (span) span.to = time(at) || null;
}

/**
 * A person is asked, or has answered.
 * @param {Picture} picture
 * @param {string} thread
 * @param {any} frame
 * @param {boolean} isEnd
 */
export function personSpan(picture, thread, frame, isEnd) {
  const at = time(frame.timestamp);
  const span = bar(picture, `ask:${frame.validation_id}`, thread, "person", at);
  span.label = "waits for a person";
  if (isEnd) span.to = Math.max(span.to ?? 0, at);
}

/**
 * A thread's state changed: whatever it was before has ended.
 * @param {Picture} picture
 * @param {Thread} thread
 * @param {number} place
 * @param {string | undefined} timestamp
 * @param {boolean} thinks
 */
export function stateSpan(picture, thread, place, timestamp, thinks) {
  const at = time(timestamp);
  const { marks } = thread.facts;
  // Nearly always the last; else where it belongs.
  let [low, after] = [marks.length && marks[marks.length - 1].place < place ? marks.length : 0, marks.length];
  while (low < after) {
    const middle = (low + after) >> 1;
    if (marks[middle].place > place) after = middle;
    else low = middle + 1;
  }
  const span = thinks ? bar(picture, `model:${thread.id}:${place}`, thread.id, "model", at) : null;
  if (span) Object.assign(span, { label: "thinks", to: marks[after]?.at ?? null });
  const before = marks[after - 1]?.span;
  if (before) before.to = at;
  marks.splice(after, 0, { place, at, span });
}

/**
 * @param {Picture} picture
 * @param {string} key
 * @param {string} thread
 * @param {Span["kind"]} kind
 * @param {number} from
 * @returns {Span}
 */
function bar(picture, key, thread, kind, from) {
  const known = picture.spans.get(key);
  const span = known ?? { key, thread, kind, from, to: null, label: "", isError: false };
  if (!known) picture.spans.set(key, span);
  span.from = Math.min(span.from, from);
  return span;
}

/** @param {string | undefined} timestamp */
const time = (timestamp) => Date.parse(timestamp ?? "") || 0;
