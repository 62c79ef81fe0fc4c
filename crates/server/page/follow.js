// @ts-check
// Reading streams of frames: one answer to its end, or a log for as long as somebody looks, coming back by itself
// where the connection breaks, from the last frame that was seen.
//
// What a frame means is not known here.

import { own } from "./secret.js";
import { Reader } from "./sse.js";

/** @typedef {{ is: "live" | "lost" | "shut" | "gone", tries: number }} Connection */

/** A stream that is silent for longer is dead: the server gives a sign of life every 15 seconds. */
const SILENT_MS = 45_000;
const FIRST_WAIT_MS = 500;
const MOST_WAIT_MS = 15_000;

/**
 * Hands out the frames of an answer until it ends, or until somebody wants no more.
 * @param {Response} answer @param {(frame: any, id: number | null) => boolean | void} take False: no more. @param {() => void} [heard] @returns {Promise<void>}
 */
export async function read(answer, take, heard = () => {}) {
  if (!answer.body) return;
  const [reader, stream, text] = [new Reader(), answer.body.getReader(), new TextDecoder()];
  for (;;) {
    const { done, value } = await stream.read();
    heard();
    const sent = done ? reader.end() : reader.push(text.decode(value, { stream: true }));
    for (const { frame, id } of sent) if (take(frame, id) === false) return void stream.cancel().catch(() => {});
    if (done) return;
  }
}

/**
 * Follows a log until `signal`. Ends by itself only where the log is gone: whoever is not let in any more may be again, once the
 * same browser has opened another link.
 * @param {string} address @param {() => number | null} last The number of the last frame that was seen.
 * @param {(frame: any, id: number | null) => void} take @param {(connection: Connection) => void} tell @param {AbortSignal} signal
 */
export async function follow(address, last, take, tell, signal) {
  /** @type {"lost" | "shut"} */
  let is = "lost";
  for (let tries = 0; !signal.aborted; tries += 1) {
    if (tries > 0) {
      tell({ is, tries });
      await pause(Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), MOST_WAIT_MS) * (1 + Math.random() * 0.3), signal);
      if (signal.aborted) return;
    }
    const attempt = new AbortController();
    const stop = () => attempt.abort();
    signal.addEventListener("abort", stop);
    let silence = setTimeout(stop, SILENT_MS);
    try {
      const seen = last();
      const answer = await fetch(address, {
        headers: seen === null ? own() : { ...own(), "last-event-id": String(seen) },
        signal: attempt.signal,
      });
      if (answer.status === 404) return tell({ is: "gone", tries });
      is = answer.status === 401 || answer.status === 403 ? "shut" : "lost";
      if (!answer.ok) throw new Error(String(answer.status));
      tell({ is: "live", tries: 0 });
      await read(answer, take, () => {
        tries = 0;
        clearTimeout(silence);
        silence = setTimeout(stop, SILENT_MS);
      });
    } catch {
      // Whatever it was: it is tried again, or somebody has stopped looking.
    } finally {
      clearTimeout(silence);
      signal.removeEventListener("abort", stop);
    }
  }
}

/**
 * Waits, but no longer than until the network is back, or the person.
 * @param {number} ms
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function pause(ms, signal) {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      removeEventListener("focus", end);
      signal.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, ms);
    addEventListener("online", end);
    addEventListener("focus", end);
    signal.addEventListener("abort", end);
  });
}
