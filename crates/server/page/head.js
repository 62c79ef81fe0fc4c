// @ts-check
// What stands above a conversation: where one is, what it has cost so far, and how the connection is.

import { $, button, change, make, set } from "./dom.js";
import { items } from "./reduce.js";
import { cut, money, plainName, short, visible, whole } from "./words.js";

/** @typedef {import("./follow.js").Connection} Connection */
/** @typedef {import("./talk.js").Talk} Talk */
/** @typedef {import("./lists.js").Lists} Lists */

/** @param {Talk} talk @param {Lists} lists @param {(thread: string | null) => void} look */
export function drawHead(talk, lists, look) {
  where(talk, lists, look);
  cost(talk);
  connection(talk, lists);
}

/**
 * The way from the root to the thread that is shown.
 * @param {Talk} talk
 * @param {Lists} lists
 * @param {(thread: string | null) => void} look
 */
function where(talk, lists, look) {
  const { thread, root } = talk;
  // A conversation is called by its title, else by what was asked first, whatever is asked later.
  const first = items(talk.picture, root ?? "").find((item) => item.kind === "prompt")?.text;
  const row = [...lists.threads, ...lists.archived].find((one) => one.id === root);
  const goal = row?.title || first || row?.goal || talk.said || root;
  const parts = (thread ?? "").split(".");
  const way = parts.map((_, at) => parts.slice(0, at + 1).join("."));
  const names = way.map((id, at) =>
    at === 0 ? (goal ?? "New conversation") : `${plainName(talk.picture.threads.get(id)?.agent)} .${parts[at]}`,
  );
  const count = lists.questions.length ? `(${lists.questions.length}) ` : "";
  change($("where"), [thread, count, ...names], () => {
    const nodes = names.map((name, at) => {
      const words = visible(cut(name, 120));
      const isHere = at === names.length - 1;
      const node = isHere
        ? set(make("h2", "", words), { title: name })
        : set(
            button(words, "crumb", () => look(way[at])),
            { title: `Back to ${name}` },
          );
      return make("li", isHere ? "is-here" : "", node);
    });
    $("where").replaceChildren(...nodes);
    document.title = `${count}${thread ? `${cut(names.at(-1) ?? "", 60)} · ` : ""}Majordomo`;
  });
  $("thread-actions").hidden = !root;
}

/** @param {Talk} talk */
function cost(talk) {
  const one = talk.thread ? talk.picture.threads.get(talk.thread) : null;
  const words = one?.treeTokens ? `${short(one.selfTokens)} / ${short(one.treeTokens)} tok · ${money(one.cost, one)}` : "";
  change($("sum"), [words], () => {
    $("sum").textContent = words;
    $("sum").title = one ? `${whole(one.selfTokens)} tokens itself, ${whole(one.treeTokens)} with all sub-agents` : "";
  });
}

/** @param {Talk} talk @param {Lists} lists */
function connection(talk, lists) {
  const { is, tries } = talk.connection ?? lists.connection ?? { is: lists.isKnown ? "live" : "new", tries: 0 };
  const word = { live: "live", lost: `reconnecting (${tries})`, shut: "signed out", gone: "deleted", new: "connecting" }[
    is
  ];
  const bar = {
    lost: lost(tries, lists.connection),
    shut: "Your session has ended. Start `majordomo serve` again and open the link it prints.",
    gone: "This conversation was deleted.",
  }[/** @type {string} */ (is)];
  change($("connection"), [word, bar], () => {
    $("connection").textContent = word;
    $("connection").dataset.is = is;
    $("reconnect").hidden = bar === undefined;
    $("reconnect").textContent = bar ?? "";
  });
}

/**
 * What is known while the log cannot be followed: little at first, then that the server does not answer, unless the other stream is live.
 * @param {number} tries
 * @param {Connection | null} everything The connection of the stream of all events.
 */
function lost(tries, everything) {
  const stale = "The page may be out of date.";
  if (everything?.is === "live") return `Reconnecting (${tries})… the run continues on the server. ${stale}`;
  if (tries < 2) return `Reconnecting (${tries})… ${stale}`;
  return "The server does not answer. Retrying… Running work is saved and continues when the server is started again.";
}
