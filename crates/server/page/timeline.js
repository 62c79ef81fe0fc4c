// @ts-check
// Time, a lane for each agent: when its model thought, when a tool ran, when it waited for a person. The same
// figures stand below as a table, for keyboards and for those who do not see bars.

import { change, make, scroller, set, table } from "./dom.js";
import { children } from "./reduce.js";
import { duration, now, ownName, plainName, visible, whole } from "./words.js";

/** @typedef {import("./reduce.js").Picture} Picture */
/** @typedef {import("./reduce.js").Thread} Thread */
/**
 * @typedef {{ thread: Thread, kind: string, label: string, from: number, to: number, isFailed: boolean, isLive: boolean }} Bar
 */
/** @typedef {{ thread: Thread, level: number, bars: Bar[] }} Lane */

const KINDS = /** @type {Record<string, string>} */ ({
  model: "model",
  tool: "tool",
  child: "sub-agents at work",
  person: "waiting for a person",
});
const MOST_ROWS = 500;

export class Timeline {
  /** @param {HTMLElement} room */
  constructor(room) {
    this.room = room;
    this.agent = "";
    this.words = set(make("p", "bar-words"), { "aria-live": "polite" });
    this.drawn = make("div", "");
    this.filter = /** @type {HTMLSelectElement} */ (make("select", ""));
    this.filter.addEventListener("change", () => {
      this.agent = this.filter.value;
      if (this.picture) this.draw(this.picture, this.thread ?? "");
    });
    const point = (/** @type {Event} */ event) => {
      const words =
        event.target instanceof HTMLElement ? event.target.closest("[data-words]")?.getAttribute("data-words") : null;
      if (words) this.words.textContent = words;
    };
    this.drawn.addEventListener("pointerover", point);
    this.drawn.addEventListener("focusin", point);
    const legend = make(
      "p",
      "legend",
      ...Object.entries(KINDS).flatMap(([kind, name]) => [make("span", `bar is-${kind}`), `${name} `]),
      make("span", "bar is-failed is-tool"),
      "failed",
    );
    room.replaceChildren(
      make("div", "timeline-head", make("label", "", "Agent ", this.filter), legend),
      this.words,
      this.drawn,
    );
  }

  /** @param {Picture} picture @param {string} thread */
  draw(picture, thread) {
    this.picture = picture;
    this.thread = thread;
    const all = lanes(picture, thread);
    this.#agents(all);
    const shown = all.filter((lane) => !this.agent || lane.thread.agent === this.agent);
    const bars = shown.flatMap((lane) => lane.bars);
    if (!bars.length) return this.drawn.replaceChildren(make("p", "empty", "Nothing has taken any time yet."));
    const from = Math.min(...bars.map((bar) => bar.from));
    const to = Math.max(from + 1, ...bars.map((bar) => bar.to));
    const rows = bars.sort((a, b) => a.from - b.from).slice(0, MOST_ROWS);
    const details = /** @type {HTMLDetailsElement | null} */ (this.drawn.querySelector("details"));
    const body = rows.map((bar) => [
      `${called(bar.thread)} ${place(bar.thread.id)}`,
      KINDS[bar.kind],
      visible(bar.label),
      `+${duration(bar.from - from)}`,
      duration(bar.to - bar.from),
      bar.isFailed ? "failed" : bar.isLive ? "goes on" : "done",
    ]);
    const listed = make(
      "details",
      "",
      make("summary", "", `The same as a table (${whole(bars.length)} rows)`),
      scroller(
        "Timeline as a table",
        table("What took time", ["Agent", "Kind", "What", "Began after", "Took", "State"], body),
      ),
    );
    if (details?.open) /** @type {HTMLDetailsElement} */ (listed).open = true;
    const scale = make(
      "div",
      "scale",
      ...[0, 1, 2, 3, 4].map((part) => make("span", "", part ? duration(((to - from) * part) / 4) : "0")),
    );
    this.drawn.replaceChildren(
      scale,
      ...shown.filter((lane) => lane.bars.length).map((lane) => drawLane(lane, from, to)),
      ...(bars.length > MOST_ROWS ? [make("p", "note", `The table holds the first ${MOST_ROWS}.`)] : []),
      listed,
    );
  }

  /** @param {Lane[]} all */
  #agents(all) {
    const names = [...new Set(all.map((lane) => lane.thread.agent ?? ""))].filter(Boolean).sort();
    change(this.filter, names, () => {
      this.filter.replaceChildren(
        ...["", ...names].map((name) => {
          const option = /** @type {HTMLOptionElement} */ (make("option", "", name ? plainName(name) : "all"));
          option.value = name;
          return option;
        }),
      );
      this.filter.value = names.includes(this.agent) ? this.agent : (this.agent = "");
    });
  }
}

/** @param {Thread} thread */
const called = (thread) => [plainName(thread.agent), ownName(thread)].filter(Boolean).join(" ");

/** Where a thread stands below its root. @param {string} id */
const place = (id) => (id.includes(".") ? id.slice(id.indexOf(".")) : "");

/** @param {Lane} lane @param {number} from @param {number} to */
function drawLane(lane, from, to) {
  const part = (/** @type {number} */ ms) => `${((ms / (to - from)) * 100).toFixed(3)}%`;
  const bars = lane.bars.map((bar) => {
    const node = make("span", `bar is-${bar.kind}${bar.isFailed ? " is-failed" : ""}${bar.isLive ? " is-live" : ""}`);
    node.style.insetInlineStart = part(bar.from - from);
    node.style.inlineSize = `max(3px, ${part(bar.to - bar.from)})`;
    const words = `${called(lane.thread)}: ${visible(bar.label)}, ${duration(bar.to - bar.from)}${bar.isFailed ? ", failed" : bar.isLive ? ", goes on" : ""}`;
    return set(node, { title: words, "data-words": words });
  });
  const sums = Object.keys(KINDS)
    .map((kind) => ({
      kind,
      ms: lane.bars.filter((bar) => bar.kind === kind).reduce((sum, bar) => sum + bar.to - bar.from, 0),
    }))
    .filter((one) => one.ms > 0);
  const words = `${called(lane.thread)}: ${sums.map((one) => `${KINDS[one.kind]} ${duration(one.ms)}`).join(", ")}`;
  const track = set(make("div", "track", ...bars), {
    role: "img",
    "aria-label": words,
    tabindex: "0",
    "data-words": words,
  });
  const name = set(make("span", "lane-name", called(lane.thread), " ", make("span", "note", place(lane.thread.id))), {
    title: lane.thread.goal ?? "",
  });
  name.style.paddingInlineStart = `${Math.min(lane.level, 6) * 0.75}rem`;
  return make("div", "lane", name, track);
}

/**
 * A thread and all below it, each with what took time.
 * @param {Picture} picture
 * @param {string} thread
 * @returns {Lane[]}
 */
function lanes(picture, thread) {
  /** @type {Map<string, Bar[]>} */
  const bars = new Map();
  for (const span of picture.spans.values()) {
    const one = picture.threads.get(span.thread);
    if (!one || !(span.from > 0)) continue;
    const isLive = span.to === null && !one.isOver && one.state !== "idle";
    const end = span.to ?? (isLive ? now() : Date.parse(one.endedAt ?? "") || span.from);
    // A call that began a child lasts as long as the child, whose own lane tells more.
    const kind = picture.items.get(span.key)?.slug === undefined ? span.kind : "child";
    const bar = {
      thread: one,
      kind,
      label: span.label,
      from: span.from,
      to: Math.max(span.from, end),
      isFailed: span.isError,
      isLive,
    };
    if (!bars.get(span.thread)?.push(bar)) bars.set(span.thread, [bar]);
  }
  /** @type {Lane[]} */
  const all = [];
  const seen = new Set();
  const add = (/** @type {Thread} */ one, /** @type {number} */ level) => {
    if (seen.has(one.id)) return;
    seen.add(one.id);
    all.push({ thread: one, level, bars: bars.get(one.id) ?? [] });
    for (const child of children(picture, one.id)) add(child, level + 1);
  };
  const first = picture.threads.get(thread);
  if (first) add(first, 0);
  return all;
}
