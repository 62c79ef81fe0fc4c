// @ts-check
// Where one says the next thing: to whom it goes, what goes on meanwhile, and what stops it.

import { $, change, make, sign } from "./dom.js";
import { ticking } from "./rows.js";
import { argument, counted, plainName, stateWord, visible } from "./words.js";

/** @typedef {import("./talk.js").Talk} Talk */
/** @typedef {import("./reduce.js").Thread} Thread */
/** @typedef {import("./files.js").Files} Files */

const input = /** @type {HTMLTextAreaElement} */ ($("chat-input"));
const send = /** @type {HTMLButtonElement} */ ($("send"));
const IDLE = "Enter sends, Shift Enter makes a new line.";

/** What was written and chosen and not sent, by thread. @type {Map<string, { text: string, files: readonly import("./files.js").Chosen[] }>} */
const drafts = new Map();
/** Whose draft stands there. @type {{ visit: AbortController | null, thread: string }} */
let written = { visit: null, thread: "" };

/** Another thread is looked at: what was written stays with the one it was written for. @param {Talk} talk @param {Files} files */
export function turnTo({ visit, shown: thread }, files) {
  // A conversation that gets its name is the same one still; and a page that begins has no other.
  const isSame = written.visit === null || (written.visit === visit && written.thread === "");
  if (!isSame && (written.visit !== visit || written.thread !== thread)) {
    drafts.set(written.thread, { text: input.value, files: files.all });
    const draft = drafts.get(thread);
    input.value = draft?.text ?? "";
    files.put(draft?.files ?? []);
  }
  written = { visit, thread };
}

/** @param {Talk} talk @param {Files} files */
export function drawComposer(talk, files) {
  const thread = talk.picture.threads.get(talk.shown);
  const child = talk.thread !== talk.root ? thread : undefined;
  const isOver = child?.outcome !== undefined;
  const isLive = child ? !isOver : talk.isLive;
  const isStopping = talk.stopping.has(talk.shown);
  const words = hint(talk, child, isLive);
  // Words alone reach a run that goes on; what comes with files is the next message.
  const isSteering = isLive && files.all.length === 0;
  change($("say"), [isLive, isSteering, isStopping, words], () => {
    input.placeholder = words;
    send.disabled = false;
    send.textContent = isSteering ? "Steer" : "Send";
    $("stop").title = isStopping ? "Stop at once, without a final answer" : "Stop the run";
    $("stop").hidden = !isLive;
    $("stop").textContent = isStopping ? "■ Stop now" : "■ Stop";
  });
  status(talk, isLive ? thread : undefined);
}

/** @param {Talk} talk @param {Thread | undefined} child @param {boolean} isLive */
function hint(talk, child, isLive) {
  if (child?.outcome !== undefined)
    return `Ask ${plainName(child.agent)} one more thing`;
  if (isLive) return `Send a message to ${child ? plainName(child.agent) : "the agent"} while it works`;
  return talk.root ? "Reply" : "Describe a task";
}

/** What goes on, in one line that is always there. @param {Talk} talk @param {Thread | undefined} thread */
function status(talk, thread) {
  const pane = $("status");
  if (!thread) return change(pane, [talk.isSending], () => pane.replaceChildren(talk.isSending ? "Sending…" : IDLE));
  const below = [...talk.picture.threads.values()].filter((one) => one.id.startsWith(`${thread.id}.`) && !one.isOver);
  const count = (/** @type {string} */ state) => below.filter((one) => one.state === state).length;
  const [queued, waiting] = [
    count("queued"),
    count("waiting_for_user") + (thread.state === "waiting_for_user" ? 1 : 0),
  ];
  const call = thread.state === "waiting_for_tool" ? talk.picture.items.get(thread.lastCall ?? "") : undefined;
  const isStopping = talk.stopping.has(thread.id);
  const facts = [
    thread.id,
    isStopping,
    thread.agent,
    thread.state,
    thread.startedAt,
    call?.tool,
    call?.input,
    below.length,
    queued,
    waiting,
  ];
  change(pane, facts, () => {
    const parts = [
      `${plainName(thread.agent)} is ${isStopping ? "stopping" : stateWord(thread.state)}`,
      call ? `${visible(call.tool ?? "")} ${argument(call.input)}`.trim() : "",
      below.length - queued ? `${counted(below.length - queued, "sub-agent")} at work` : "",
      queued ? `${queued} queued` : "",
      waiting ? `${counted(waiting, "question")} for you` : "",
    ];
    const mark = waiting ? sign("⚑", "waits for you", "sign is-waiting") : sign("●", "running", "sign is-working");
    pane.replaceChildren(
      mark,
      make("span", "status-words", parts.filter(Boolean).join(" · ")),
      ticking(thread.startedAt),
    );
  });
}
