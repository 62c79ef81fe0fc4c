// @ts-check
// The page: follows the log of one conversation, draws it, and sends what a person says and decides.

import { Reader } from "./sse.js";
import { active, begin, fold, isLive } from "./reduce.js";
import { drawChat, drawRail, drawThreads, drawTimeline, money, whole } from "./draw.js";
import { askPerson, drawHouse, drawInbox } from "./dialogs.js";

const EXAMPLES = [
  "What urgent emails do I have?",
  "When am I free for 45 minutes next week?",
  "Find my notes about the contract",
  "Draft a reply to the urgent contract mail",
];
/** The household's agents, in the order of the rail. */
const HOUSEHOLD = ["butler", "triage", "scheduler", "communicator", "navigator", "preference_learner"];
/** A hand-over is shown at least so long, so that it can be seen. */
const SHOWN_MS = 300;

const $ = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const input = /** @type {HTMLTextAreaElement} */ ($("chat-input"));

const page = {
  /** @type {string | null} */ thread: null,
  picture: begin(),
  /** @type {Set<string>} */ open: new Set(),
  /** @type {AbortController | null} */ following: null,
  /** @type {any[]} */ threads: [],
  /** @type {any[]} */ approvals: [],
  /** @type {string[]} */ others: [],
  /** @type {{ agent: string | null }[]} */ queue: [],
  /** @type {string | null} */ shown: null,
  isSending: false,
  isDrawn: true,
};

/** @param {string} path @param {any} [body] @param {string} [method] */
export async function api(path, body, method) {
  const options = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const answer = await fetch(`/api/v1${path}`, { method: method ?? (body === undefined ? "GET" : "POST"), ...options });
  const text = await answer.text();
  const value = text ? JSON.parse(text) : null;
  if (!answer.ok) throw new Error(value?.detail ?? `the window answered ${answer.status}`);
  return value;
}

// ---- following ----

/** Follows a conversation from where the picture stands; comes back by itself when the connection breaks. @param {string} thread */
async function follow(thread) {
  page.following?.abort();
  const mine = (page.following = new AbortController());
  let wait = 500;
  while (!mine.signal.aborted) {
    try {
      const headers = page.picture.last ? { "last-event-id": String(page.picture.last) } : {};
      const answer = await fetch(`/api/v1/threads/${encodeURIComponent(thread)}/events?deltas=1`, { headers, signal: mine.signal });
      if (answer.status === 401 || answer.status === 404) return connected(false, answer.status === 401 ? "Not let in any more: open a new link." : "This conversation is gone.");
      if (!answer.ok || !answer.body) throw new Error(String(answer.status));
      connected(true);
      await read(answer.body, () => (wait = 500));
    } catch {
      if (mine.signal.aborted) return;
    }
    if (mine.signal.aborted) return;
    connected(false);
    await new Promise((done) => setTimeout(done, wait + Math.random() * wait * 0.3));
    wait = Math.min(wait * 2, 15_000);
  }
}

/** @param {ReadableStream<Uint8Array>} body @param {() => void} heard */
async function read(body, heard) {
  const [reader, stream, text] = [new Reader(), body.getReader(), new TextDecoder()];
  for (;;) {
    const { done, value } = await stream.read();
    const sent = done ? reader.end() : reader.push(text.decode(value, { stream: true }));
    if (sent.length) heard();
    for (const { frame } of sent) take(frame);
    if (done) return;
  }
}

/** Takes a frame in. @param {any} frame */
export function take(frame) {
  const before = active(page.picture);
  fold(page.picture, frame);
  const after = active(page.picture);
  if (after !== before) page.queue.push({ agent: after });
  if (["validation_required", "validation_resolved"].includes(frame.type)) refreshApprovals();
  if (["done", "run_started", "thread_created"].includes(frame.type)) refreshThreads();
  redraw();
}

function redraw() {
  if (!page.isDrawn) return;
  page.isDrawn = false;
  requestAnimationFrame(() => {
    page.isDrawn = true;
    draw();
  });
}

// ---- drawing ----

function draw() {
  const { picture, thread } = page;
  const chat = $("chat");
  const isAtEnd = chat.scrollHeight - chat.scrollTop - chat.clientHeight < 60;
  $("examples").hidden = picture.items.size > 0 || page.isSending;
  drawChat($("messages"), picture, thread, page.open);
  if (!$("timeline").hidden) drawTimeline($("timeline"), picture, thread);
  if (isAtEnd) chat.scrollTop = chat.scrollHeight;
  const live = page.isSending || (thread !== null && isLive(picture, thread));
  $("stop").hidden = !live;
  $("send").textContent = live ? "Tell it" : "Send";
  input.placeholder = live ? "Tell the agent something while it works" : "What should be done?";
  const root = thread ? picture.threads.get(thread) : null;
  $("cost").textContent = root ? `${whole(root.treeTokens)} tokens${root.cost ? ` · ${money(root.cost)}` : ""}` : "";
  pump();
}

/** Shows hand-overs one by one, each long enough to be seen. */
let pumping = false;
function pump() {
  if (pumping) return;
  const next = page.queue.shift();
  if (!next) {
    drawRail($("rail"), HOUSEHOLD, page.others, page.shown, page.picture);
    return;
  }
  page.shown = next.agent;
  drawRail($("rail"), HOUSEHOLD, page.others, page.shown, page.picture);
  $("announcer").textContent = next.agent ? `${next.agent} is working` : "Done";
  pumping = true;
  setTimeout(() => {
    pumping = false;
    pump();
  }, SHOWN_MS);
}

/** @param {boolean} is @param {string} [words] */
function connected(is, words) {
  $("reconnect").hidden = is;
  $("reconnect").textContent = words ?? "The connection is lost. Trying again…";
  $("connection").textContent = is ? "live" : "not connected";
  $("connection").dataset.is = is ? "live" : "lost";
}

// ---- doing ----

/** Looks at a conversation; none is a new one. @param {string | null} thread */
function look(thread) {
  page.following?.abort();
  Object.assign(page, { thread, picture: begin(), queue: [], shown: null, isSending: false });
  page.open.clear();
  history.replaceState(null, "", thread ? `#${thread}` : location.pathname);
  const row = page.threads.find((one) => one.id === thread);
  $("thread-title").textContent = row?.goal || (thread ? thread : "New conversation");
  drawThreads($("thread-list"), page.threads, page.thread, look);
  $("threads").classList.remove("is-open");
  draw();
  if (thread) void follow(thread);
  input.focus();
}

/** @param {string} text */
async function say(text) {
  const live = page.thread !== null && isLive(page.picture, page.thread);
  try {
    if (live) return void (await api(`/threads/${page.thread}/steer`, { text }));
    page.isSending = true;
    redraw();
    if (page.thread) await api(`/threads/${page.thread}/messages`, { text });
    else {
      const { id } = await api("/threads", { message: text });
      page.thread = id;
      history.replaceState(null, "", `#${id}`);
      $("thread-title").textContent = text;
      void follow(id);
    }
  } catch (error) {
    fail(error);
    input.value ||= text;
  } finally {
    page.isSending = false;
    redraw();
  }
}

/** @param {unknown} error */
function fail(error) {
  const words = error instanceof Error ? error.message : String(error);
  fold(page.picture, { type: "error", seq: 0, thread: page.thread ?? "", message: words });
  $("announcer").textContent = words;
  const note = document.createElement("p");
  note.className = "notice is-error";
  note.setAttribute("role", "alert");
  note.textContent = words;
  $("messages").append(note);
}

async function refreshThreads() {
  try {
    page.threads = await api("/threads");
    drawThreads($("thread-list"), page.threads, page.thread, look);
  } catch {
    // What is known stays; following says that the connection is lost.
  }
}

async function refreshApprovals() {
  try {
    page.approvals = (await api("/approvals")).filter((/** @type {any} */ one) => one.status === "pending");
  } catch {
    return;
  }
  const count = page.approvals.length;
  $("inbox-count").textContent = String(count);
  $("inbox-count").hidden = count === 0;
  drawInbox(/** @type {HTMLDialogElement} */ ($("inbox")), page.approvals, open);
  askPerson(/** @type {HTMLDialogElement} */ ($("approval")), page.approvals, page.thread, decide);
}

/** @param {any} question */
function open(question) {
  /** @type {HTMLDialogElement} */ ($("inbox")).close();
  askPerson(/** @type {HTMLDialogElement} */ ($("approval")), [question, ...page.approvals.filter((one) => one.id !== question.id)], question.root, decide);
}

/** @param {any} question @param {any} word */
async function decide(question, word) {
  await api(`/approvals/${encodeURIComponent(question.id)}/decision`, { digest: question.digest, ...word });
  await refreshApprovals();
}

// ---- beginning ----

$("say").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = input.value.trim();
  if (!text) return;
  input.value = "";
  void say(text);
});
input.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    /** @type {HTMLFormElement} */ ($("say")).requestSubmit();
  }
});
$("stop").addEventListener("click", async () => {
  try {
    if (page.thread) await api(`/threads/${page.thread}/stop`, {});
  } catch (error) {
    fail(error);
  }
});
$("new-thread").addEventListener("click", () => look(null));
$("show-threads").addEventListener("click", () => {
  const is = $("threads").classList.toggle("is-open");
  $("show-threads").setAttribute("aria-expanded", String(is));
});
$("show-inbox").addEventListener("click", () => {
  drawInbox(/** @type {HTMLDialogElement} */ ($("inbox")), page.approvals, open);
  /** @type {HTMLDialogElement} */ ($("inbox")).showModal();
});
$("show-house").addEventListener("click", async () => {
  const dialog = /** @type {HTMLDialogElement} */ ($("house"));
  try {
    drawHouse(dialog, await api("/agents"), await api("/config"));
    dialog.showModal();
  } catch (error) {
    fail(error);
  }
});
const tabs = [$("tab-chat"), $("tab-timeline")];
for (const [at, tab] of tabs.entries()) {
  tab.addEventListener("click", () => choose(at));
  tab.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") choose(1 - at);
  });
}
/** @param {number} at */
function choose(at) {
  for (const [other, tab] of tabs.entries()) {
    tab.setAttribute("aria-selected", String(other === at));
    tab.tabIndex = other === at ? 0 : -1;
    $(tab.getAttribute("aria-controls") ?? "").hidden = other !== at;
  }
  tabs[at].focus();
  draw();
}
$("messages").addEventListener("toggle", (event) => {
  const group = /** @type {HTMLDetailsElement} */ (event.target);
  if (!group.dataset.thread) return;
  if (group.open) page.open.add(group.dataset.thread);
  else page.open.delete(group.dataset.thread);
  redraw();
}, true);
for (const example of EXAMPLES) {
  const [item, button] = [document.createElement("li"), document.createElement("button")];
  button.type = "button";
  button.textContent = example;
  button.addEventListener("click", () => void say(example));
  item.append(button);
  $("examples").querySelector("ul")?.append(item);
}
api("/agents").then((agents) => {
  page.others = agents.map((/** @type {any} */ agent) => agent.id).filter((/** @type {string} */ name) => !HOUSEHOLD.includes(name));
  draw();
}, fail);
void refreshThreads().then(() => {
  const wanted = decodeURIComponent(location.hash.slice(1));
  look(wanted || null);
});
void refreshApprovals();
// What other conversations ask, and whether they have ended, is seen without looking at them.
setInterval(() => {
  if (document.visibilityState === "visible") {
    void refreshThreads();
    void refreshApprovals();
  }
}, 5000);
