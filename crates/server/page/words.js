// @ts-check
// How things are put into words: states, times, figures, money, and text in which nothing is hidden.
//
// Pure but for the clock, which is the server's as far as its answers tell.

const STATES = /** @type {Record<string, string>} */ ({
  queued: "queued",
  processing: "working",
  waiting_for_tool: "working",
  waiting_for_user: "waiting for approval",
  delegating: "waiting for others",
  completing: "stopping",
  initializing: "starting",
  loading_context: "starting",
  idle: "ready",
  completed: "done",
  budget_exceeded: "out of budget",
  timeout: "out of time",
  error: "failed",
  no_output: "no answer",
  cancelled: "stopped",
  refused: "refused",
  interrupted: "interrupted",
  unknown: "starting",
});

/** @param {string} state */
export const stateWord = (state) => STATES[state] ?? state.replaceAll("_", " ");

/** States of a thread in the middle of a run. The words are those of `State` in `crates/agent/src/state.rs`. */
const LIVE = new Set([
  "initializing",
  "loading_context",
  "processing",
  "waiting_for_tool",
  "waiting_for_user",
  "delegating",
  "completing",
]);

/** Whether a run is under way. @param {string} state */
export const isLiveState = (state) => LIVE.has(state);

/** Outcomes that a person need not worry about. @param {string | undefined} outcome */
export const isGood = (outcome) => outcome === "completed";

const RISKS = /** @type {Record<string, [string, string]>} */ ({
  low: ["○", "LOW risk"],
  medium: ["◐", "MEDIUM risk"],
  high: ["●", "HIGH risk"],
  critical: ["▲", "CRITICAL risk"],
});

/** A sign and a word for how much to think. @param {string} risk */
export const riskWords = (risk) => (RISKS[risk] ?? ["●", risk]).join(" ");

/** An agent's name as people read it. @param {string | undefined | null} name */
export const plainName = (name) => visible((name ?? "agent").replaceAll("_", " "));

/**
 * What a thread is called, where that says more than its agent's name.
 * @param {{ name?: string, agent?: string }} thread
 */
export const ownName = (thread) => (thread.name && thread.name !== thread.agent ? visible(thread.name) : "");

/**
 * What kind of sub-agent it is: the agent, else what its call says, and `Task` while nothing is known.
 * @param {{ name?: string, agent?: string }} thread
 * @param {{ slug?: string, input?: any } | undefined} call The call that started it.
 */
export const badgeOf = (thread, call) =>
  visible(String(thread.agent ?? call?.slug ?? call?.input?.subagent_type ?? thread.name ?? "Task"));

// ---- time ----

let ahead = 0;
/** Sets the clock by what an answer says. @param {string | null} date */
export function setClock(date) {
  const at = Date.parse(date ?? "");
  // An answer's date has whole seconds only.
  if (at && Math.abs(at - Date.now()) > 2000) ahead = at - Date.now();
}

export const now = () => Date.now() + ahead;

/** @param {number} ms */
export function duration(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Whole seconds of what goes on, so that it does not flicker. @param {number} ms */
export const elapsed = (ms) => (ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1000))} s` : duration(ms));

/** A moment: the hour in the text, the whole of it in the tooltip. @param {string | number | undefined} at */
export function moment(at) {
  const node = document.createElement("time");
  const date = new Date(at ?? NaN);
  if (Number.isNaN(date.getTime())) return node;
  node.dateTime = date.toISOString();
  node.title = date.toLocaleString(undefined, { dateStyle: "full", timeStyle: "medium" });
  const isToday = date.toDateString() === new Date(now()).toDateString();
  node.textContent = date.toLocaleString(
    undefined,
    isToday ? { hour: "2-digit", minute: "2-digit" } : { month: "short", day: "numeric" },
  );
  return node;
}

/** A day as people here write it. @param {number} at */
export const day = (at) => new Date(at).toLocaleDateString(undefined, { dateStyle: "medium" });

/** A day as a date field takes it, by the clock of this place. @param {number} at */
export function isoDay(at) {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

// ---- figures ----

/** @param {number} number */
export const whole = (number) => number.toLocaleString("en");

/** @param {number} number */
export const short = (number) =>
  number < 1000
    ? String(number)
    : number < 100_000
      ? `${(number / 1000).toFixed(1)}k`
      : number < 1e6
        ? `${Math.round(number / 1000)}k`
        : `${(number / 1e6).toFixed(1)}M`;

/** @param {number} count @param {string} one */
export const counted = (count, one) => `${whole(count)} ${one}${count === 1 ? "" : "s"}`;

/**
 * Money; with `~` where it is an estimate, and in words where a price is not known.
 * @param {number} microusd @param {{ isPriceUnknown?: boolean, isEstimated?: boolean }} [about]
 */
export function money(microusd, { isPriceUnknown = false, isEstimated = false } = {}) {
  if (isPriceUnknown && microusd === 0) return "price unknown";
  const known = microusd > 0 ? `$${(microusd / 1e6).toFixed(microusd < 10_000 ? 4 : 2)}` : "$0.00";
  return `${isPriceUnknown ? "over " : ""}${isEstimated ? "~" : ""}${known}`;
}

/** All tokens of an answer, however they were billed. @param {any} tokens */
export const allTokens = (tokens) =>
  (tokens?.input ?? 0) + (tokens?.output ?? 0) + (tokens?.cache_read ?? 0) + (tokens?.cache_write ?? 0);

// ---- text ----

/** The one argument that tells most. @param {any} given */
export function argument(given) {
  if (!given || typeof given !== "object") return "";
  const first =
    given.path ?? given.command ?? given.query ?? given.pattern ?? given.task ?? given.id ?? Object.values(given)[0];
  const text = typeof first === "string" ? first : first === undefined ? "" : JSON.stringify(first);
  return cut(visible(text.replaceAll(/\s+/g, " ")), 100);
}

/** With a capital letter, as a button has it. @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** How large a file is. @param {number} bytes */
export const size = (bytes) =>
  bytes < 1024 ? `${bytes} B` : bytes < 1024 ** 2 ? `${Math.round(bytes / 1024)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;

/** @param {string} text @param {number} most */
export function cut(text, most) {
  const characters = [...text];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : text;
}

// The same tables as the terminal's (`crates/view/src/safe.rs`): a test holds them against each other. What a page can
// have besides are halves of a character.
const BLANK = "\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u2800\\u3000";
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc]|[\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\p{Noncharacter_Code_Point}/gu;
/** More blanks in a row than 16, of whatever kind, and more than 8 blank lines: behind them something could hide. */
const BLANKS = new RegExp(`[${BLANK}\t]{17,}`, "g");
const BLANK_LINES = new RegExp(`\n(?:[${BLANK}\t]*\n){9,}`, "g");
/** Blanks that are not the usual one. */
const ODD_BLANK = new RegExp(`(?! )[${BLANK}]`, "g");

/** @param {string} character */
const point = (character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/**
 * Text in which nothing is hidden: what cannot be seen stands there by its code point, and long stretches of blanks
 * by their length.
 * @param {string} text
 */
export function visible(text) {
  return text
    .replace(UNSEEN, (character) => `⟨${point(character)}⟩`)
    .replace(BLANKS, (run) => `⟨blank ×${run.length}⟩`)
    .replace(BLANK_LINES, (run) => `\n⟨blank line ×${run.split("\n").length - 2}⟩\n`);
}

/**
 * JSON that can be read, edited and taken back: what cannot be seen is escaped, so that the value stays the same.
 * @param {any} value
 */
export function escaped(value) {
  const units = (/** @type {string} */ character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join("");
  return JSON.stringify(value ?? null, null, 2)
    .replace(UNSEEN, units)
    .replace(ODD_BLANK, units);
}
