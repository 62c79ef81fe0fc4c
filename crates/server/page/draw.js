// @ts-check
// Draws a picture into the document. Nodes are kept under the key of what they show and changed only where that has changed, so that
// focus, scroll and selection stay where they are.

import { children, depth, items } from "./reduce.js";
import { markdown } from "./markdown.js";

/** @typedef {import("./reduce.js").Picture} Picture */
/** @typedef {import("./reduce.js").Thread} Thread */
/** @typedef {import("./reduce.js").Item} Item */

const WORDS = /** @type {Record<string, string>} */ ({
  queued: "queued", running: "working", processing: "working", waiting_for_tool: "working", waiting_for_user: "waiting for a person",
  delegating: "waiting for others", completing: "finishing", initializing: "starting", loading_context: "starting", idle: "idle",
  completed: "done", budget_exceeded: "out of budget", timeout: "out of time", error: "failed", no_output: "no answer",
  cancelled: "stopped", refused: "refused", interrupted: "interrupted", unknown: "unknown",
});

/** @param {HTMLElement} room @param {Picture} picture @param {string | null} thread @param {Set<string>} open */
export function drawChat(room, picture, thread, open) {
  if (!thread) return room.replaceChildren();
  const nodes = conversation(room, picture, thread, open);
  for (const [key, text] of picture.deltas) {
    if (!key.startsWith(`${thread}#`)) continue;
    const node = kept(room, `delta:${key}`, "article", "message is-coming");
    const agent = picture.threads.get(thread)?.agent ?? "";
    change(node, `${agent}${text}`, () => node.replaceChildren(head(agent), markdown(text)));
    nodes.push(node);
  }
  place(room, nodes);
}

/** What a thread shows: its own items, with each child where it was begun. @param {HTMLElement} room @param {Picture} picture @param {string} thread @param {Set<string>} open @returns {HTMLElement[]} */
function conversation(room, picture, thread, open) {
  const below = children(picture, thread).filter((child) => child.id !== thread);
  const byCall = new Set(below.map((child) => child.call));
  /** @type {{ seq: number, node: HTMLElement }[]} */
  const all = [];
  for (const item of items(picture, thread)) {
    // A call that began a child is shown as that child.
    if (item.kind === "tool" && byCall.has(item.key.slice(`tool:${thread}:`.length))) continue;
    // A child's last words are its report, which is shown apart.
    if (item.kind === "text" && item.text === picture.threads.get(thread)?.report) continue;
    const node = drawItem(room, item);
    if (node) all.push({ seq: item.seq, node });
  }
  for (const child of below) all.push({ seq: child.seq, node: group(room, picture, child, open) });
  return all.sort((a, b) => a.seq - b.seq).map((one) => one.node);
}

/** @param {HTMLElement} room @param {Item} item */
function drawItem(room, item) {
  const look = { prompt: "message is-person", text: "message", tool: "tool", notice: "note", end: "end" }[item.kind];
  if (item.kind === "end") {
    const node = kept(room, item.key, "p", look);
    node.dataset.testid = "message-complete";
    const words = item.state === "done" ? "Done" : `${WORDS[item.tool ?? ""] ?? item.tool}${item.text ? `: ${item.text}` : ""}`;
    change(node, words, () => {
      node.textContent = words;
      node.classList.toggle("is-error", item.state !== "done");
    });
    return node;
  }
  if (item.kind === "tool") {
    const node = kept(room, item.key, "details", look);
    const words = JSON.stringify([item.tool, item.input, item.output, item.state, item.ms]);
    change(node, words, () => {
      const mark = { running: "…", done: "✓", failed: "✕", interrupted: "–" }[item.state ?? "running"];
      const time = item.ms === undefined || item.ms === null ? "" : duration(item.ms);
      const summary = make("summary", "", make("span", `mark is-${item.state}`, mark), make("span", "tool-name", item.tool ?? "a tool"),
        make("span", "argument", argument(item.input)), make("span", "time", time));
      summary.setAttribute("aria-label", `${item.tool} ${argument(item.input)}, ${item.state}`);
      node.replaceChildren(summary, pre(item.input), ...(item.output === undefined ? [] : [pre(item.output)]));
    });
    return node;
  }
  const node = kept(room, item.key, item.kind === "notice" ? "p" : "article", look);
  change(node, `${item.agent}${item.text}`, () => {
    if (item.kind === "notice") node.textContent = item.text ?? "";
    else if (item.kind === "prompt") node.replaceChildren(head("you"), make("p", "as-said", item.text ?? ""));
    else node.replaceChildren(head(item.agent ?? ""), markdown(item.text ?? ""));
  });
  return node;
}

/** A sub-agent: a group that is closed until somebody opens it. @param {HTMLElement} room @param {Picture} picture @param {Thread} child @param {Set<string>} open @returns {HTMLElement} */
function group(room, picture, child, open) {
  const node = /** @type {HTMLDetailsElement} */ (kept(room, `group:${child.id}`, "details", "group"));
  node.dataset.thread = child.id;
  node.style.setProperty("--depth", String(depth(picture, child.id)));
  let summary = /** @type {HTMLElement | null} */ (node.querySelector(":scope > summary"));
  if (!summary) node.append((summary = make("summary", "")), make("div", "inside"));
  const failed = child.outcome !== undefined && !["completed", "budget_exceeded"].includes(child.outcome);
  const figures = [
    child.tools ? `${child.tools} tool${child.tools === 1 ? "" : "s"}` : "", child.ms === undefined ? "" : duration(child.ms),
    child.selfTokens ? `${whole(child.selfTokens)} tokens` : "", child.treeTokens > child.selfTokens ? `${whole(child.treeTokens)} with its own` : "",
  ].filter(Boolean).join(" · ");
  const state = WORDS[child.state] ?? child.state;
  const doing = child.outcome ? "" : child.lastTool ? `now ${child.lastTool}` : "";
  const words = JSON.stringify([child.agent, child.name, child.goal, state, figures, doing, child.error]);
  change(summary, words, () => summary.replaceChildren(
    make("span", "badge", child.agent ?? child.name ?? "agent"), make("span", "goal", child.goal ?? ""),
    make("span", `state is-${failed ? "failed" : child.outcome ? "done" : "working"}`, state), make("span", "figures", [figures, doing].filter(Boolean).join(" · ")),
    ...(failed && child.error ? [make("span", "why", child.error)] : []),
  ));
  const inside = /** @type {HTMLElement} */ (node.querySelector(":scope > .inside"));
  if (open.has(child.id)) {
    const nodes = depth(picture, child.id) >= 10 ? [make("p", "note", "Deeper levels are not shown here.")] : conversation(inside, picture, child.id, open);
    if (child.report !== undefined) {
      const report = kept(inside, `report:${child.id}`, "section", "report");
      change(report, child.report, () => report.replaceChildren(make("h3", "", "Report"), markdown(child.report || "(empty)")));
      nodes.push(report);
    }
    place(inside, nodes);
  }
  return node;
}

/** @param {HTMLElement} list @param {any[]} threads @param {string | null} at @param {(thread: string) => void} look */
export function drawThreads(list, threads, at, look) {
  const nodes = threads.map((thread) => {
    const node = kept(list, thread.id, "li", "");
    change(node, JSON.stringify([thread.goal, thread.state, thread.updated_at, thread.id === at]), () => {
      const button = make("button", "thread", make("span", "thread-goal", thread.goal || thread.id), make("span", "thread-state", `${WORDS[thread.state] ?? thread.state} · ${thread.agent}`));
      button.setAttribute("type", "button");
      if (thread.id === at) button.setAttribute("aria-current", "true");
      button.addEventListener("click", () => look(thread.id));
      node.replaceChildren(button);
    });
    return node;
  });
  place(list, nodes);
}

/** @param {HTMLElement} rail @param {string[]} household @param {string[]} others @param {string | null} active @param {Picture} picture */
export function drawRail(rail, household, others, active, picture) {
  const working = new Set([...picture.threads.values()].filter((one) => one.parent && !one.outcome && one.state !== "queued").map((one) => one.agent));
  const nodes = [...household, ...others].map((name) => {
    const node = kept(rail, name, "li", "agent");
    node.dataset.testid = `agent-${name}`;
    node.dataset.agent = name;
    const is = name === active;
    change(node, `${is} ${working.has(name)}`, () => {
      node.classList.toggle("active", is);
      if (is) node.setAttribute("aria-current", "true");
      else node.removeAttribute("aria-current");
      node.replaceChildren(make("span", "agent-name", name.replaceAll("_", " ")), make("span", "agent-is", is ? "working" : working.has(name) ? "busy" : ""));
    });
    return node;
  });
  place(rail, nodes);
}

/** A lane for each agent, a bar for each thing that took time. @param {HTMLElement} room @param {Picture} picture @param {string | null} thread */
export function drawTimeline(room, picture, thread) {
  const spans = [...picture.spans.values()].filter((span) => span.from > 0);
  if (!thread || !spans.length) return room.replaceChildren(make("p", "note", "Nothing has happened yet."));
  const from = Math.min(...spans.map((span) => span.from));
  const to = Math.max(from + 1, ...spans.map((span) => span.to ?? span.from));
  const part = (/** @type {number} */ at) => `${(((at - from) / (to - from)) * 100).toFixed(2)}%`;
  const lanes = [...picture.threads.values()].sort((a, b) => a.seq - b.seq).map((one) => {
    const lane = make("div", "lane");
    const bars = spans.filter((span) => span.thread === one.id).map((span) => {
      const bar = make("span", `bar is-${span.kind}`);
      const end = span.to ?? to;
      bar.style.left = part(span.from);
      bar.style.width = `max(3px, ${(((end - span.from) / (to - from)) * 100).toFixed(2)}%)`;
      bar.title = `${span.label}: ${duration(end - span.from)}`;
      return bar;
    });
    const words = spans.filter((span) => span.thread === one.id).map((span) => `${span.label} ${duration((span.to ?? to) - span.from)}`).join(", ");
    const track = make("div", "track", ...bars);
    track.setAttribute("role", "img");
    track.setAttribute("aria-label", words || "nothing");
    lane.append(make("span", "lane-name", `${one.agent ?? one.name ?? ""} ${one.id.slice(thread.length)}`), track);
    return lane;
  });
  room.replaceChildren(
    make("p", "legend", make("span", "bar is-model", ""), "model ", make("span", "bar is-tool", ""), "tool ", make("span", "bar is-person", ""), `waiting for a person · ${duration(to - from)} in all`),
    ...lanes,
  );
}

// ---- small things ----

/** @param {number} ms */
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** @param {number} number */
export const whole = (number) => number.toLocaleString("en");

/** @param {number} microusd */
export const money = (microusd) => `$${(microusd / 1e6).toFixed(microusd < 10_000 ? 4 : 2)}`;

/** The one argument that tells most. @param {any} given */
function argument(given) {
  if (!given || typeof given !== "object") return "";
  const first = given.path ?? given.command ?? given.query ?? given.pattern ?? given.task ?? given.id ?? Object.values(given)[0];
  const text = typeof first === "string" ? first : first === undefined ? "" : JSON.stringify(first);
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

/** @param {any} value */
function pre(value) {
  return make("pre", "", typeof value === "string" ? value : JSON.stringify(value ?? {}, null, 2));
}

/** @param {string} who */
const head = (who) => make("header", "who", who.replaceAll("_", " "));

/** @param {string} name @param {string} look @param {...(Node | string)} content */
export function make(name, look, ...content) {
  const node = document.createElement(name);
  if (look) node.className = look;
  node.append(...content);
  return node;
}

/** The node of a key, made where there is none. @param {HTMLElement} room @param {string} key @param {string} name @param {string} look */
function kept(room, key, name, look) {
  const known = /** @type {any} */ (room).keyed ??= new Map();
  let node = known.get(key);
  if (!node) {
    node = make(name, look);
    known.set(key, node);
  }
  return /** @type {HTMLElement} */ (node);
}

/** Changes a node if what it shows has changed. @param {HTMLElement} node @param {string} words @param {() => void} how */
function change(node, words, how) {
  if (/** @type {any} */ (node).words === words) return;
  /** @type {any} */ (node).words = words;
  how();
}

/** Puts nodes in their order, moving as few as possible. @param {HTMLElement} room @param {HTMLElement[]} nodes */
function place(room, nodes) {
  const wanted = new Set(nodes);
  for (const node of [...room.children]) if (!wanted.has(/** @type {HTMLElement} */ (node))) node.remove();
  for (const [at, node] of nodes.entries()) if (room.children[at] !== node) room.insertBefore(node, room.children[at] ?? null);
}
