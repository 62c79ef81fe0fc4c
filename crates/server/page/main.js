// @ts-check
// The page put together: what is heard is drawn, what is pressed is done. Each thing on the page has a module of its
// own; this one only says who tells whom.

import "./secret.js"; // First of all: what is in the address is taken out of it.
import { api, Refused, wordsOf } from "./api.js";
import { Approval } from "./approval.js";
import { Board } from "./board.js";
import { drawComposer, turnTo } from "./composer.js";
import { drawCost } from "./cost.js";
import { $, dialog, isAsked, show } from "./dom.js";
import { drawEmpty } from "./empty.js";
import { Files, sentFiles, take as takeFiles } from "./files.js";
import { drawHead } from "./head.js";
import { openSettings, modelSentence } from "./settings.js";
import { drawCount, drawInbox } from "./inbox.js";
import { listen, openHelp, openPalette } from "./keys.js";
import { Lists } from "./lists.js";
import { Manage } from "./manage.js";
import { openMenu } from "./menu.js";
import { say as tell, note } from "./notes.js";
import { Rail } from "./rail.js";
import { children } from "./reduce.js";
import { card, spoken, tick } from "./rows.js";
import { End } from "./scroll.js";
import { Talk } from "./talk.js";
import { Threads } from "./threads.js";
import { Timeline } from "./timeline.js";
import { Tree } from "./tree.js";
import { plainName } from "./words.js";

const input = /** @type {HTMLTextAreaElement} */ ($("chat-input"));
const VIEWS = /** @type {const} */ (["chat", "timeline", "cost", "board"]);

/** A page that is not painted is drawn this often at the most. */
const UNSEEN_MS = 250;

/** Agents, models and settings, as far as the server has answered. @type {{ agents: any[], models: any, config: any[] }} */
const setup = { agents: [], models: null, config: [] };
/** @type {typeof VIEWS[number]} */
let view = named() ?? "chat";
/** What went wrong last, where it is shown. @type {{ words: string } | null} */
let failure = null;
let isDrawing = false;

const rail = new Rail($("rail"), {
  changed: (agent) => {
    tell(`${plainName(agent)} is working`);
    redraw();
  },
  drained: () => redraw(talk.shown),
  pick: (agent) => {
    choose("chat");
    const group = tree.find(agent);
    if (!group) return note(`${plainName(agent)} has done nothing in this conversation.`);
    group.scrollIntoView({ block: "center" });
    /** @type {HTMLElement | null} */ (group.querySelector("[data-row]"))?.focus();
  },
});
const talk = new Talk(rail, { changed: () => redraw(), heard, moved });
const lists = new Lists({
  changed: () => {
    threads.draw();
    drawCount($("show-inbox"), lists.questions.length);
    drawInbox(dialog("inbox"), lists.questions, review);
    ask();
    markRead();
    redraw();
  },
});
const manage = new Manage(lists, {
  look: (thread) => look(thread),
  copyLink: (thread) => actions.copy(new URL(`/t/${encodeURIComponent(thread)}`, location.href).href, "the link"),
  shown: () => talk.root,
});
const threads = new Threads($("thread-list"), /** @type {HTMLInputElement} */ ($("thread-filter")), lists, {
  look: (thread) => look(thread),
  choices: (root) => manage.choices(root),
});
const files = new Files($("files"), { changed: () => redraw() });
const actions = {
  review: (/** @type {string} */ id) => void reviewById(id),
  stop: (/** @type {string} */ thread) => void attempt(() => talk.stop(thread)),
  look: (/** @type {string} */ thread) => look(thread),
  retry: () => void attempt(() => talk.again()),
  copy: (/** @type {string} */ text, /** @type {string} */ what) =>
    void attempt(async () => {
      if (!navigator.clipboard) throw new Error("The browser allows copying only on localhost or over HTTPS.");
      await navigator.clipboard.writeText(text);
      note(`Copied ${what}.`);
    }),
  isHeld: () => rail.isBusy,
  answer: (/** @type {string} */ text) => void say(text),
  fork: (/** @type {string} */ thread, /** @type {number} */ number) => void manage.fork(thread, number),
};
const tree = new Tree($("messages"), actions);
const timeline = new Timeline($("timeline"));
const board = new Board($("board"), {
  look: (thread) => {
    turn("chat");
    look(thread);
  },
  agents: () => setup.agents.map((agent) => agent.name),
});
const end = new End($("chat"), $("latest"));
const approval = new Approval(dialog("approval"), {
  note,
  look: (thread) => look(thread),
  decided: () => void lists.read(),
});

// ---- hearing and drawing ----

/** @param {any} frame @param {boolean} isPast */
function heard(frame, isPast) {
  if (["validation_required", "validation_resolved", "done", "run_started"].includes(frame.type)) lists.soon();
  if (isPast) return;
  if (view === "cost" && ["done", "sub_agent_complete", "sub_agent_error"].includes(frame.type)) choose("cost");
  if (frame.type === "validation_required")
    tell(`${plainName(frame.agent)} waits for your ${frame.kind === "question" ? "answer" : "approval"}`);
  if (frame.type === "text" && frame.thread === talk.shown)
    tell(`${plainName(frame.agent)} says: ${spoken(frame.content)}`);
}

/** Another thread is looked at. */
function moved() {
  failure = null;
  tree.look(talk.picture, talk.shown);
  talk.picture.changed.add(talk.shown);
  threads.mark(talk.thread);
  end.forget();
  turnTo(talk, files);
  keepAddress();
  markRead();
  if (view === "cost") choose("cost");
  ask();
  redraw();
}

/** What is looked at was read. */
function markRead() {
  if (talk.thread && view === "chat" && document.visibilityState === "visible") void manage.read(talk.thread);
}

/** The address is that of what is looked at: a reload and Back find it again. */
function keepAddress() {
  const path = talk.thread ? `/t/${encodeURIComponent(talk.thread)}` : "/chat";
  const address = view === "chat" ? path : `${path}#${view}`;
  if (location.pathname + location.hash !== address) history.pushState(null, "", address);
}

/** @param {string} [thread] */
function redraw(thread) {
  if (thread !== undefined) talk.picture.changed.add(thread);
  if (isDrawing) return;
  isDrawing = true;
  const paint = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    isDrawing = false;
    draw();
  };
  // A tab that is not seen has no frames, and must be right when the person returns to it.
  const frame = requestAnimationFrame(paint);
  const timer = setTimeout(paint, UNSEEN_MS);
}

function draw() {
  const changed = new Set(talk.picture.changed);
  talk.picture.changed.clear();
  end.keep(() => tree.draw(changed, talk.waiting));
  drawEmpty(
    $("empty"),
    talk.picture.items.size === 0 && !talk.isLive && !talk.waiting && talk.root === null && !failure,
    setup,
    (text) => void say(text),
  );
  $("failure").hidden = failure === null;
  if (view === "timeline") timeline.draw(talk.picture, talk.shown);
  drawHead(talk, lists, look);
  drawComposer(talk, files);
  rail.draw(
    setup.agents.map((one) => ({ name: one.id, description: one.description })),
    talk.picture,
    talk.isLive,
    talk.connection?.is === "lost",
    talk.thread === talk.root ? undefined : talk.picture.threads.get(talk.shown)?.agent,
  );
}

/** @param {typeof VIEWS[number]} wanted */
function choose(wanted) {
  turn(wanted);
  keepAddress();
}

/**
 * The same for those who came by a key: what is shown has the focus, so that the next key is about it.
 * @param {typeof VIEWS[number]} wanted
 */
function chooseByKey(wanted) {
  choose(wanted);
  $(wanted).focus();
}

/** @param {typeof VIEWS[number]} wanted */
function turn(wanted) {
  view = wanted;
  for (const one of VIEWS) {
    const tab = $(`tab-${one}`);
    tab.setAttribute("aria-selected", String(one === view));
    tab.tabIndex = one === view ? 0 : -1;
    $(one).hidden = one !== view;
  }
  $("latest").hidden = true;
  if (view === "cost") void attempt(() => drawCost($("cost"), talk.picture, talk.root));
  if (view === "board") void attempt(() => board.read());
  redraw();
}

// ---- doing ----

/** @param {string | null} thread */
function look(thread) {
  if (thread === null) turn("chat");
  talk.look(thread);
  $("threads").classList.remove("is-open");
  $("show-threads").setAttribute("aria-expanded", "false");
  // On a touch screen the keyboard would hide half of what one came to see.
  if (!isAsked() && !matchMedia("(pointer: coarse)").matches) input.focus();
}

/** Goes up or down by a key, to the row that one came from or to the rows of that thread. @param {string} thread */
function lookByKey(thread) {
  const from = talk.thread;
  look(thread);
  draw();
  const group = from === null ? null : tree.groups.get(from)?.querySelector("[data-row]");
  /** @type {HTMLElement} */ (group ?? $("chat")).focus();
}

/** @param {string} text @param {readonly import("./files.js").Chosen[]} [chosen] Files that come with it. */
async function say(text, chosen = []) {
  end.stick();
  const isWritten = () => input.value === text && files.all === chosen;
  const send = () => {
    if (isWritten()) clear();
    return talk.say(text, sentFiles(chosen));
  };
  const anew = () => {
    look(null);
    if (isWritten()) clear();
    void say(text, chosen);
  };
  const undo = () => {
    if (input.value || files.all.length) return;
    input.value = text;
    files.put(chosen);
  };
  await attempt(send, undo, talk.root ? anew : undefined);
}

/** Empties the message box. */
function clear() {
  input.value = "";
  files.put([]);
}

/**
 * Does something that may be refused, and says so where it is.
 * @param {() => Promise<void>} act
 * @param {() => void} [undo]
 * @param {() => void} [anew] What can be done where the conversation is gone.
 */
async function attempt(act, undo, anew) {
  try {
    failure = null;
    await act();
  } catch (error) {
    undo?.();
    failure = { words: wordsOf(error) };
    const details = `${failure.words}\n${location.href}\n${new Date().toISOString()}`;
    const isGone = anew !== undefined && error instanceof Refused && error.status === 404;
    const [what, again, retry] = isGone
      ? ["This conversation was deleted.", "Start a new conversation with this text", anew]
      : ["That did not work.", "Retry", () => void attempt(act, undo, anew)];
    const rest = isGone ? "What you wrote is kept." : "Nothing was lost.";
    $("failure").replaceChildren(...card(what, failure.words, rest, details, { ...actions, retry }, again));
    tell(failure.words);
  }
  redraw();
}

/** Puts the next question to the person, unless the person is typing. */
function ask() {
  approval.update(lists.questions, talk.root, !(document.activeElement === input && input.value.trim()));
}

/** @param {any} question */
function review(question) {
  dialog("inbox").close();
  approval.ask(question);
}

/** @param {string} id */
async function reviewById(id) {
  if (!lists.questions.some((one) => one.id === id)) await lists.read();
  const listed = lists.questions.find((one) => one.id === id);
  // Not in the list that was read last does not mean that it is not asked.
  const question = listed ?? (await api(`/approvals/${encodeURIComponent(id)}`).catch(() => null));
  if (question?.status === "pending") approval.ask(question);
  else note("This approval is no longer pending.");
}

/** Does something with the conversation whose row has the focus, else with the one that is read. @param {(root: string) => void} act */
function onRoot(act) {
  const root = threads.focused ?? (view === "chat" ? talk.root : null);
  if (root) act(root);
}

/** Lets the person choose files. */
function attach() {
  choose("chat");
  $("file-input").click();
}

function openApprovals() {
  drawInbox(dialog("inbox"), lists.questions, review);
  show(dialog("inbox"));
}

function palette() {
  const first = [
    { words: "New conversation", act: () => look(null) },
    { words: "Chat", act: () => choose("chat") },
    { words: "Timeline", act: () => choose("timeline") },
    { words: "Cost", act: () => choose("cost") },
    { words: "Board", act: () => choose("board") },
    { words: "Approvals", act: openApprovals },
    { words: "Attach files", act: attach },
    { words: "Settings: agents, models, configuration", act: () => void attempt(() => openSettings(dialog("settings"))) },
    { words: "Keys", act: () => openHelp(dialog("help")) },
    ...(talk.thread
      ? [
          { words: "Open all groups", act: () => tree.openAll() },
          ...manage.choices(talk.root ?? talk.thread).map(({ words, act }) => ({ words: `Conversation: ${words}`, act })),
        ]
      : []),
    ...(talk.isLive ? [{ words: "Stop the run", act: () => actions.stop(talk.shown) }] : []),
  ];
  const roots = lists.below(null).map((one) => ({ words: `Go to: ${one.title || one.goal || one.id}`, act: () => look(one.id) }));
  openPalette(dialog("palette"), [...first, ...roots]);
}

// ---- what is pressed ----

$("say").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = input.value.trim();
  // The first message is on its way, and the log has not told yet where the next one belongs.
  if (talk.isSending && !talk.root) return;
  if (!text) {
    if (files.all.length) note("Write what is to be done with the file.");
    return input.focus();
  }
  const chosen = files.all;
  clear();
  void say(text, chosen);
});
input.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    /** @type {HTMLFormElement} */ ($("say")).requestSubmit();
  } else if (event.key === "Escape") input.blur();
});
$("stop").addEventListener("click", () => actions.stop(talk.shown));
$("new-thread").addEventListener("click", () => look(null));
$("show-threads").addEventListener("click", () =>
  $("show-threads").setAttribute("aria-expanded", String($("threads").classList.toggle("is-open"))),
);
$("show-inbox").addEventListener("click", openApprovals);
$("show-settings").addEventListener("click", () => void attempt(() => openSettings(dialog("settings"))));
$("show-help").addEventListener("click", () => openHelp(dialog("help")));
$("show-palette").addEventListener("click", palette);
$("thread-actions").addEventListener("click", () => {
  if (talk.root) openMenu($("thread-actions"), "Actions for this conversation", manage.choices(talk.root));
});
$("attach").addEventListener("click", attach);
$("file-input").addEventListener("change", () => {
  const chooser = /** @type {HTMLInputElement} */ ($("file-input"));
  void files.add([...(chooser.files ?? [])]);
  // The same file can be chosen again.
  chooser.value = "";
  input.focus();
});
takeFiles(/** @type {HTMLElement} */ (document.querySelector(".talk")), input, files);
for (const [place, one] of VIEWS.entries()) {
  $(`tab-${one}`).addEventListener("click", () => choose(one));
  $(`tab-${one}`).addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    choose(VIEWS[(place + by + VIEWS.length) % VIEWS.length]);
    $(`tab-${view}`).focus();
  });
}
listen($("messages"), {
  help: () => openHelp(dialog("help")),
  palette,
  newOne: () => look(null),
  filter: () => {
    $("threads").classList.add("is-open");
    $("thread-filter").focus();
  },
  chat: () => chooseByKey("chat"),
  timeline: () => chooseByKey("timeline"),
  cost: () => chooseByKey("cost"),
  board: () => chooseByKey("board"),
  approvals: openApprovals,
  parent: () => talk.thread?.includes(".") && lookByKey(talk.thread.slice(0, talk.thread.lastIndexOf("."))),
  child: () => {
    const focused = document.activeElement?.closest(".group")?.getAttribute("data-thread");
    const child = focused ?? children(talk.picture, talk.shown)[0]?.id;
    if (child) lookByKey(child);
  },
  openAll: () => tree.openAll(),
  rename: () => onRoot((root) => manage.rename(root)),
  archive: () => onRoot((root) => void manage.archive(root)),
  fork: () => onRoot((root) => void manage.fork(root, null)),
  attach,
  stop: (thread) => actions.stop(thread ?? talk.shown),
  toggle: (key, isOpen) => tree.toggle(key, isOpen),
});
document.addEventListener("visibilitychange", markRead);
// Whatever was open has made way for what waits.
document.addEventListener("close", () => ask(), true);
addEventListener("popstate", () => {
  // A place on the page that is no view, as the way to the message box, is no other address.
  if (location.hash && !named()) return;
  turn(named() ?? "chat");
  if (wanted() !== talk.thread) talk.look(wanted());
});

// ---- beginning ----

/** The thread that the address names. */
function wanted() {
  const named = /^\/t\/([^/]+)$/.exec(location.pathname)?.[1];
  return named ? decodeURIComponent(named) : null;
}

/** The view that the address names. */
function named() {
  return VIEWS.find((one) => `#${one}` === location.hash);
}

setInterval(() => {
  approval.tick();
  // What is not heard of is not known to go on.
  if (talk.connection?.is === "lost") return;
  tick();
  if (view === "timeline" && talk.isLive) redraw();
  // A menu that is open is not drawn anew.
  if (view === "board" && !isAsked() && document.activeElement?.tagName !== "SELECT") void board.read().catch(() => {});
}, 1000);
turn(view);
talk.look(wanted());
void lists.begin();
void Promise.all([api("/agents"), api("/models"), api("/config")]).then(
  ([agents, models, config]) => {
    Object.assign(setup, { agents, models, config });
    $("model").textContent = models.model ?? "no model";
    $("model").title = modelSentence(models);
    redraw();
  },
  (error) => note(wordsOf(error)),
);
input.focus();
