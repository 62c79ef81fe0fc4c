// @ts-check
// One request to the server. The reason of a refusal is shown to the person.

import { own } from "./secret.js";
import { setClock } from "./words.js";

/** A refusal, with the server's reason. */
export class Refused extends Error {
  /** @param {number} status @param {string} words */
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

/** @param {string} path @param {any} [body] @param {string} [method] */
export async function api(path, body, method) {
  const answer = await ask(`/api/v1${path}`, body, method);
  const text = await answer.text();
  return text ? JSON.parse(text) : null;
}

/** The answer to a request, refusals thrown. @param {string} address @param {any} [body] @param {string} [method] */
export async function ask(address, body, method) {
  const sent =
    body === undefined
      ? { headers: own() }
      : { body: JSON.stringify(body), headers: { ...own(), "content-type": "application/json" } };
  let answer;
  try {
    answer = await fetch(address, { method: method ?? (body === undefined ? "GET" : "POST"), ...sent });
  } catch {
    throw new Refused(0, "Majordomo cannot be reached. Is it still running? Try again in a moment.");
  }
  setClock(answer.headers.get("date"));
  if (answer.ok) return answer;
  throw new Refused(answer.status, await reason(answer));
}

/** @param {Response} answer */
async function reason(answer) {
  if (answer.status === 401)
    return "Your session has ended. Start `majordomo serve` again and open the link it prints.";
  try {
    return (await answer.json()).detail ?? `The server answered ${answer.status}.`;
  } catch {
    return `The server answered ${answer.status}.`;
  }
}

/** @param {unknown} error */
export const wordsOf = (error) => (error instanceof Error ? error.message : String(error));

/** @param {string} thread */
export const at = (thread) => `/threads/${encodeURIComponent(thread)}`;
