// @ts-check
// Time, a lane for each agent: when its model thought, when a tool ran, when it waited. The same figures stand below
// as a table, for keyboards and for those who do not see bars.

import { change, kept, make, place, scroller, set, table } from "./dom.js";
import { lanes, runs } from "./lanes.js";
import { duration, ownName, plainName, visible, whole } from "./words.js";

/** @typedef {import("./reduce.js").Picture} Picture */
/** @typedef {import("./reduce.js").Thread} Thread */
/** @typedef {import("./lanes.js").Lane} Lane */
/** @typedef {import("./lanes.js").Bar} Bar */
/** @typedef {{ from: number, to: number }} Scale */

/** @type {Record<import("./lanes.js").Kind, string>} */
const KINDS = { model: "model", tool: "tool", child: "sub-agents", person: "waiting for approval" };
const HEADS = ["Agent", "Kind", "What", "Began after", "Took", "State"];
const MOST_ROWS = 500;

export class Timeline {
  /** The agent that is looked at; all where it is empty. */
  agent = "";
  /** Whether earlier runs are left out. */
  isLast = true;
  /** @type {() => void} */
  again = () => {};

  /** @param {HTMLElement} room */
  constructor(room) {
    this.agents = /** @type {HTMLSelectElement} */ (make("select", ""));
    this.agents.addEventListener("change", () => {
      this.agent = this.agents.value;
      this.again();
    });
    this.last = /** @type {HTMLInputElement} */ (set(make("input", ""), { type: "checkbox", checked: "" }));
    this.last.addEventListener("change", () => {
      this.isLast = this.last.checked;
      this.again();
    });
    this.lastLabel = make("label", "check", this.last, " Only the last run");
    this.words = set(make("p", "bar-words"), { "aria-live": "polite" });
    this.drawn = make("div", "");
    for (const kind of ["pointerover", "focusin"]) this.drawn.addEventListener(kind, (event) => this.#point(event));
    const head = make("div", "timeline-head", make("label", "", "Agent ", this.agents), this.lastLabel, legend());
    room.replaceChildren(head, this.words, this.drawn);
  }

  /** @param {Picture} picture @param {string} thread */
  draw(picture, thread) {
    this.again = () => this.draw(picture, thread);
    const begun = runs(picture, thread);
    this.lastLabel.hidden = begun.length < 2;
    const all = lanes(picture, thread, this.isLast ? (begun.at(-1) ?? 0) : 0);
    this.#choices(all);
    const shown = all.filter((lane) => !this.agent || lane.thread.agent === this.agent);
    if (!shown.length) return place(this.drawn, [this.#nothing()]);
    const bars = shown.flatMap((lane) => lane.bars);
    const from = bars.reduce((least, bar) => Math.min(least, bar.from), Infinity);
    const to = bars.reduce((most, bar) => Math.max(most, bar.to), from + 1);
    const nodes = shown.map((lane) => drawLane(this.drawn, lane, { from, to }));
    place(this.drawn, [this.#scale({ from, to }), ...nodes, this.#table(shown, from)]);
  }

  /** @param {Event} event */
  #point(event) {
    const about = event.target instanceof HTMLElement ? event.target.closest("[data-words]") : null;
    if (about) this.words.textContent = about.getAttribute("data-words");
  }

  /** Agents to choose from. @param {Lane[]} all */
  #choices(all) {
    const names = [...new Set(all.map((lane) => lane.thread.agent ?? ""))].filter(Boolean).sort();
    change(this.agents, names, () => {
      const option = (/** @type {string} */ name) =>
        set(make("option", "", name ? plainName(name) : "all"), { value: name });
      this.agents.replaceChildren(...["", ...names].map(option));
      if (!names.includes(this.agent)) this.agent = "";
      this.agents.value = this.agent;
    });
  }

  #nothing() {
    const node = kept(this.drawn, "nothing", "p", "empty");
    node.textContent = "Nothing to show yet.";
    return node;
  }

  /** @param {Scale} scale */
  #scale({ from, to }) {
    const node = kept(this.drawn, "scale", "div", "scale");
    const marks = [0, 1, 2, 3, 4].map((part) => (part ? duration(((to - from) * part) / 4) : "0"));
    change(node, marks, () => node.replaceChildren(...marks.map((mark) => make("span", "", mark))));
    return node;
  }

  /** The same in rows, made while somebody looks at them. @param {Lane[]} shown @param {number} from */
  #table(shown, from) {
    const node = /** @type {HTMLDetailsElement} */ (kept(this.drawn, "table", "details", ""));
    if (!node.firstElementChild) {
      node.append(make("summary", ""), scroller("Timeline as a table"));
      node.addEventListener("toggle", () => this.again());
    }
    const rows = shown.flatMap(({ thread, bars }) => bars.map((bar) => ({ thread, bar })));
    const [summary, room] = /** @type {[HTMLElement, HTMLElement]} */ (/** @type {unknown} */ (node.children));
    const more = rows.length > MOST_ROWS ? `, the first ${MOST_ROWS} are shown` : "";
    summary.textContent = `The same as a table (${whole(rows.length)} rows${more})`;
    if (!node.open) return node;
    const first = rows.sort((a, b) => a.bar.from - b.bar.from).slice(0, MOST_ROWS);
    const cells = first.map(({ thread, bar }) => [
      `${called(thread)} ${placeOf(thread.id)}`,
      KINDS[bar.kind],
      visible(bar.label),
      `+${duration(bar.from - from)}`,
      duration(bar.to - bar.from),
      stateOf(bar),
    ]);
    change(room, cells.flat(), () => room.replaceChildren(table("What took time", HEADS, cells)));
    return node;
  }
}

/** @param {HTMLElement} room @param {Lane} lane @param {Scale} scale */
function drawLane(room, { thread, level, bars }, { from, to }) {
  const node = kept(room, thread.id, "div", "lane");
  if (!node.firstElementChild) {
    node.append(make("span", "lane-name"), set(make("div", "track"), { role: "img", tabindex: "0" }));
  }
  const [name, track] = /** @type {[HTMLElement, HTMLElement]} */ (/** @type {unknown} */ (node.children));
  change(name, [called(thread), thread.goal, level], () => {
    name.replaceChildren(make("span", "lane-who", called(thread)), " ", make("span", "note", placeOf(thread.id)));
    name.title = visible(thread.goal ?? "");
    name.style.paddingInlineStart = `${Math.min(level, 6) * 0.75}rem`;
  });
  const facts = bars.flatMap((bar) => [bar.kind, bar.from, bar.to, bar.isFailed, bar.isLive]);
  change(track, [from, to, ...facts], () => {
    const kinds = /** @type {import("./lanes.js").Kind[]} */ (Object.keys(KINDS));
    const spent = (/** @type {string} */ kind) =>
      bars.filter((bar) => bar.kind === kind).reduce((sum, bar) => sum + bar.to - bar.from, 0);
    const sums = kinds.filter(spent).map((kind) => `${KINDS[kind]} ${duration(spent(kind))}`);
    const words = `${called(thread)}: ${sums.join(", ")}`;
    set(track, { "aria-label": words, "data-words": words });
    track.replaceChildren(...bars.map((bar) => drawBar(thread, bar, { from, to })));
  });
  return node;
}

/** @param {Thread} thread @param {Bar} bar @param {Scale} scale */
function drawBar(thread, bar, { from, to }) {
  const part = (/** @type {number} */ ms) => `${((ms / (to - from)) * 100).toFixed(3)}%`;
  const looks = ["bar", `is-${bar.kind}`, bar.isFailed ? "is-failed" : "", bar.isLive ? "is-live" : ""];
  const node = make("span", looks.filter(Boolean).join(" "));
  node.style.insetInlineStart = part(bar.from - from);
  node.style.inlineSize = `max(3px, ${part(bar.to - bar.from)})`;
  const words = `${called(thread)}: ${visible(bar.label)}, ${duration(bar.to - bar.from)}, ${stateOf(bar)}`;
  return set(node, { title: words, "data-words": words });
}

function legend() {
  const kinds = Object.entries(KINDS).flatMap(([kind, name]) => [make("span", `bar is-${kind}`), `${name} `]);
  return make("p", "legend", ...kinds, make("span", "bar is-failed is-tool"), "failed or stopped");
}

/** @param {Bar} bar */
const stateOf = (bar) => (bar.isFailed ? (bar.ended ?? "failed") : bar.isLive ? "running" : "done");

/** @param {Thread} thread */
const called = (thread) => [plainName(thread.agent), ownName(thread)].filter(Boolean).join(" ");

/** Where a thread stands below its root. @param {string} id */
const placeOf = (id) => (id.includes(".") ? id.slice(id.indexOf(".")) : "");
