// @ts-check
// A conversation as a tree: what was said and done in order, and each sub-agent as a group that is closed until
// it is opened.
//
// Only what is open has nodes, and only what has changed is drawn again: a frame of one agent never touches the rows
// of another.

import { button, change, kept, make, place, set } from "./dom.js";
import { drawGroupHead } from "./group.js";
import { begin, children, untold } from "./reduce.js";
import { asked, brief, broken, coming, row, sent, thinking, words } from "./rows.js";
import { isGood, whole } from "./words.js";

/** @typedef {import("./reduce.js").Picture} Picture */
/** @typedef {import("./reduce.js").Thread} Thread */
/** @typedef {import("./rows.js").Actions} Actions */
/** @typedef {{ inside: HTMLElement, level: number, isFlat: boolean }} Pane */

/** Groups within groups; what lies deeper is shown side by side. */
const MOST_LEVELS = 10;
/** Rows of one conversation that have nodes. Earlier ones are a button away. */
const MOST_ROWS = 200;

/** Kinds of rows that can be opened. */
const ROWS = ["tool", "thinking", "prompt"];

export class Tree {
  /** Groups and calls that are open. @type {Set<string>} */
  open = new Set();
  /** @type {Picture} */
  picture = begin();
  /** The thread that is looked at. */
  at = "";
  /** Rows that are wanted beyond the usual. @type {Map<string, number>} */
  more = new Map();
  /** Where conversations are drawn. @type {Map<string, Pane>} */
  panes = new Map();
  /** @type {Map<string, HTMLElement>} */
  groups = new Map();
  /** What a person has sent and the log does not tell yet. @type {import("./talk.js").Waiting | null} */
  waiting = null;

  /** @param {HTMLElement} pane @param {Actions} actions */
  constructor(pane, actions) {
    this.pane = pane;
    this.actions = actions;
    pane.addEventListener("click", (event) => this.#clicked(/** @type {HTMLElement} */ (event.target)));
  }

  /** Looks at a thread, from nothing. @param {Picture} picture @param {string} at */
  look(picture, at) {
    const panes = new Map([[at, { inside: this.pane, level: 0, isFlat: false }]]);
    Object.assign(this, { picture, at, more: new Map(), panes, groups: new Map(), waiting: null });
    this.pane.replaceChildren();
  }

  /** Draws what has changed. @param {Set<string>} changed Threads. @param {import("./talk.js").Waiting | null} waiting */
  draw(changed, waiting) {
    this.waiting = waiting;
    const drawn = new Set();
    for (const id of changed) {
      // A thread that was not drawn yet is drawn by the thread that holds it.
      const holder = this.groups.has(id) || this.panes.has(id) ? null : this.#holder(id);
      if (holder && !changed.has(holder)) drawn.add(holder);
      drawn.add(id);
    }
    for (const id of drawn) {
      const [pane, group, thread] = [this.panes.get(id), this.groups.get(id), this.picture.threads.get(id)];
      if (pane) this.#conversation(id, pane);
      if (group && thread) this.#head(group, thread);
    }
  }

  /** Opens or closes a group or a call. @param {string} key @param {boolean} [isOpen] */
  toggle(key, isOpen = !this.open.has(key)) {
    if (isOpen) this.open.add(key);
    else this.open.delete(key);
    const [group, thread] = [this.groups.get(key), this.picture.threads.get(key)];
    if (group && thread) this.#group(group, thread);
    else for (const [id, pane] of this.panes) if (ROWS.some((kind) => key.startsWith(`${kind}:${id}:`))) this.#conversation(id, pane);
  }

  /** Opens every group there is, from the outside in. */
  openAll() {
    const open = (/** @type {string} */ id) => {
      for (const child of children(this.picture, id)) {
        this.toggle(child.id, true);
        open(child.id);
      }
    };
    open(this.at);
  }

  /**
   * The newest group of an agent, with all that it lies in opened.
   * @param {string} agent
   * @returns {HTMLElement | null}
   */
  find(agent) {
    const newest = [...this.picture.threads.values()]
      .filter((one) => one.agent === agent && one.id !== this.at)
      .sort((a, b) => b.seq - a.seq)[0];
    if (!newest) return null;
    /** @type {string[]} */
    const above = [];
    for (let id = newest.parent; id && id !== this.at && !above.includes(id); id = this.picture.threads.get(id)?.parent)
      above.unshift(id);
    for (const id of above) this.toggle(id, true);
    return this.groups.get(newest.id) ?? null;
  }

  /** @param {HTMLElement} target */
  #clicked(target) {
    const toggle = /** @type {HTMLElement | null} */ (target.closest("[data-open]"));
    if (toggle?.dataset.open) this.toggle(toggle.dataset.open);
    if (target.closest("[data-copy]"))
      this.actions.copy(target.closest(".code")?.querySelector("pre")?.textContent ?? "", "the code");
  }

  /** The thread in whose pane a thread's group stands. @param {string} id @returns {string} */
  #holder(id) {
    const seen = new Set([id]);
    for (
      let at = this.picture.threads.get(id)?.parent;
      at && !seen.has(at);
      at = this.picture.threads.get(at)?.parent
    ) {
      if (this.panes.get(at)?.isFlat === false) return at;
      seen.add(at);
    }
    return this.at;
  }

  /** What a thread shows: its own rows, with each child where it was begun. @param {string} id @param {Pane} pane */
  #conversation(id, pane) {
    const { inside, level } = pane;
    const below = pane.isFlat ? [] : level >= MOST_LEVELS ? this.#allBelow(id) : children(this.picture, id);
    const begun = new Set(below.map((child) => child.call));
    const thread = this.picture.threads.get(id);
    const report = thread?.report;
    // A sub-agent by itself has no group whose head tells what it is for, and how it ended.
    const alone = id === this.at && thread?.parent !== undefined ? thread : null;
    /** @type {{ seq: number, draw: () => HTMLElement | null }[]} */
    const rows = [];
    const all = untold(this.picture, id);
    const last = all.findLast((item) => ["prompt", "steer", "text"].includes(item.kind));
    const isOver = id === this.at && this.waiting === null && (thread?.isOver ?? false);
    let messages = 0;
    for (const item of all) {
      // As the server counts messages: what was asked, and how it ended.
      if (item.kind === "prompt" || item.kind === "end") messages += 1;
      const about = { isOpen: this.open.has(item.key), isLast: isOver && item === last, number: messages };
      // A call that began a child is shown as that child; a child's last words are its report, which stands apart.
      if (item.call !== undefined && begun.has(item.call)) continue;
      if (item.kind === "text" && report !== undefined && item.text === report) continue;
      rows.push({ seq: item.seq, draw: () => row(inside, item, about, this.actions, this.picture) });
    }
    for (const question of this.picture.questions.values()) {
      if (question.thread === id && question.frame)
        rows.push({ seq: question.seq, draw: () => asked(inside, question, this.actions) });
    }
    for (const child of below) rows.push({ seq: child.seq, draw: () => this.#child(inside, child, level) });
    rows.sort((a, b) => a.seq - b.seq);
    const most = MOST_ROWS + (this.more.get(id) ?? 0);
    const nodes = rows.slice(-most).map((one) => one.draw());
    if (rows.length > most) nodes.unshift(this.#earlier(id, pane, rows.length - most));
    if (level >= MOST_LEVELS && below.length) nodes.unshift(this.#flat(inside));
    if (alone?.goal) nodes.unshift(brief(inside, alone.goal, this.picture.threads.get(alone.parent ?? "")?.agent));
    const thought = this.picture.thoughts.get(id);
    if (thought) {
      const key = `thinking:${id}:#${thought.turn}`;
      nodes.push(thinking(inside, key, thought.text, this.open.has(key), true));
    }
    const being = this.picture.deltas.get(id);
    if (being) nodes.push(coming(inside, `${id}#${being.turn}`, thread?.agent ?? "", being.text));
    if (id === this.at && this.waiting !== null) nodes.push(sent(inside, this.waiting));
    if (report) nodes.push(this.#report(inside, report));
    if (alone?.outcome && !isGood(alone.outcome)) nodes.push(broken(inside, alone));
    place(
      inside,
      nodes.filter((node) => node !== null),
    );
  }

  /** @param {HTMLElement} inside */
  #flat(inside) {
    const node = kept(inside, "flat", "p", "note");
    change(
      node,
      [],
      () => (node.textContent = `Deeper than ${MOST_LEVELS} levels: the agents below this one are shown side by side.`),
    );
    return node;
  }

  /** Everybody below a thread. @param {string} id @param {Set<string>} [seen] @returns {Thread[]} */
  #allBelow(id, seen = new Set([id])) {
    return children(this.picture, id).flatMap((child) => {
      if (seen.has(child.id)) return [];
      seen.add(child.id);
      return [child, ...this.#allBelow(child.id, seen)];
    });
  }

  /** @param {HTMLElement} inside @param {Thread} child @param {number} level */
  #child(inside, child, level) {
    const node = kept(inside, `group:${child.id}`, "section", "group");
    if (this.groups.get(child.id) !== node) {
      this.groups.set(child.id, node);
      this.panes.delete(child.id);
      set(node, {
        "data-level": String(Math.min(level + 1, MOST_LEVELS)),
        "data-flat": level >= MOST_LEVELS ? "" : null,
      });
      this.#group(node, child);
    }
    return node;
  }

  /** A group: its head, and what is inside where it is open. @param {HTMLElement} node @param {Thread} child */
  #group(node, child) {
    this.#head(node, child);
    const isOpen = this.open.has(child.id);
    const known = this.panes.get(child.id);
    if (isOpen && !known) {
      const level = Number(node.dataset.level);
      const inside = set(make("div", "inside"), { id: `inside-${child.id}` });
      const pane = { inside, level, isFlat: node.dataset.flat !== undefined };
      this.panes.set(child.id, pane);
      this.#conversation(child.id, pane);
      node.append(inside);
    } else if (!isOpen && known) {
      known.inside.remove();
      this.panes.delete(child.id);
    }
  }

  /** @param {HTMLElement} node @param {Thread} child */
  #head(node, child) {
    drawGroupHead(node, child, this.picture, this.open.has(child.id), this.actions);
  }

  /** @param {HTMLElement} inside @param {string} report */
  #report(inside, report) {
    const node = kept(inside, "report", "section", "report");
    change(node, [report], () => {
      node.dataset.row = "";
      node.tabIndex = -1;
      node.replaceChildren(make("h3", "", "Report"), words(report));
    });
    return node;
  }

  /** @param {string} id @param {Pane} pane @param {number} count */
  #earlier(id, pane, count) {
    const node = kept(pane.inside, "earlier", "div", "earlier");
    change(node, [count], () =>
      node.replaceChildren(
        button(`Show ${whole(Math.min(count, MOST_ROWS))} earlier of ${whole(count)}`, "", () => {
          this.more.set(id, (this.more.get(id) ?? 0) + MOST_ROWS);
          this.#conversation(id, pane);
        }),
      ),
    );
    return node;
  }
}
