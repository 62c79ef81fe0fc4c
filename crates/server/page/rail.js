// @ts-check
// The rail: who is there, and who has the word. Hand-overs are shown one by one, each long enough to be seen; what
// is said and done meanwhile is not held up by it.

import { change, kept, make, place, set } from "./dom.js";
import { isGood, plainName } from "./words.js";

/** @typedef {import("./reduce.js").Picture} Picture */
/** @typedef {{ name: string, description: string }} Agent */
/**
 * @typedef {{ working: number, waits: number, stopping: number, ended: "" | "failed" | "stopped" }} Life What the
 *   agents of one name are doing, and how the last of them ended where that was not well.
 */

/** The household's agents, in the order of the rail. */
export const HOUSEHOLD = ["butler", "triage", "scheduler", "communicator", "navigator", "preference_learner"];
/** A hand-over is shown at least so long. */
const SHOWN_MS = 300;
/** States in which something is done, as opposed to waited for. */
const BUSY = new Set(["processing", "waiting_for_tool", "initializing", "loading_context", "completing"]);
/** More of them are not waited for: those in the middle are passed over. */
const MOST_WAITING = 8;

export class Rail {
  /** Hand-overs that are still to be shown. @type {string[]} */
  waiting = [];
  /** Who has the word. @type {string | null} */
  shown = null;
  /** Until the one that is shown was seen. @type {ReturnType<typeof setTimeout> | undefined} */
  timer = undefined;
  /** Who was brought into sight last, among how many, in how much space. */
  revealed = "";
  /** What was drawn last. @type {[Agent[], Picture, boolean, boolean, string | undefined] | undefined} */
  drawn = undefined;

  /**
   * @param {HTMLElement} pane
   * @param {{ changed: (agent: string) => void, drained: () => void, pick: (agent: string) => void }} on
   */
  constructor(pane, on) {
    this.pane = pane;
    this.on = on;
    addEventListener("resize", () => this.drawn && this.draw(...this.drawn));
  }

  /** No agent is active. */
  clear() {
    clearTimeout(this.timer);
    Object.assign(this, { waiting: [], shown: null, timer: undefined, drawn: undefined });
  }

  /** The last of the agents that are shown or wait to be shown. */
  get held() {
    return this.waiting.at(-1) ?? this.shown;
  }

  /** Whether hand-overs are still to be shown. */
  get isBusy() {
    return this.timer !== undefined;
  }

  /**
   * Takes a hand-over in: to be seen, or, where it is long past, at once.
   * @param {string} agent
   * @param {boolean} isPast
   */
  hand(agent, isPast) {
    if (agent === this.held) return;
    if (isPast) {
      this.clear();
      this.shown = agent;
      return;
    }
    this.waiting.push(agent);
    if (this.waiting.length > MOST_WAITING) this.waiting.splice(1, this.waiting.length - 2);
    if (!this.isBusy) this.#next();
  }

  #next() {
    const next = this.waiting.shift();
    if (next === undefined) {
      this.timer = undefined;
      this.on.drained();
      return;
    }
    this.shown = next;
    // At once, so that it is seen as long as it is held.
    if (this.drawn) this.draw(...this.drawn);
    this.timer = setTimeout(() => this.#next(), SHOWN_MS);
    this.on.changed(next);
  }

  /** Where the rail is a strip, the active agent is scrolled into view. */
  #reveal() {
    const [strip, node] = [this.pane.parentElement, this.pane.querySelector(".active")];
    if (!strip || !node || strip.scrollWidth <= strip.clientWidth) return;
    const [here, there] = [strip.getBoundingClientRect(), node.getBoundingClientRect()];
    if (there.left < here.left || there.right > here.right) strip.scrollLeft += there.left - here.left - 8;
  }

  /**
   * @param {Agent[]} agents
   * @param {Picture} picture
   * @param {boolean} isLive
   * @param {boolean} isStale
   * @param {string} [at] The agent whose own view is open, which is then the one that is marked.
   */
  draw(agents, picture, isLive, isStale, at) {
    this.drawn = [agents, picture, isLive, isStale, at];
    const others = agents.map((one) => one.name).filter((name) => !HOUSEHOLD.includes(name));
    const lives = this.#lives(picture);
    // Every agent that speaks is on the rail, configured or not.
    const strangers = [...lives.keys()].filter((name) => !HOUSEHOLD.includes(name) && !others.includes(name));
    const nodes = [...HOUSEHOLD, ...others, ...strangers].map((name) => {
      const life = lives.get(name);
      const about = agents.find((one) => one.name === name)?.description ?? "";
      return this.#agent(name, about, name === (at ?? this.shown), life, isLive);
    });
    place(this.pane, nodes);
    const sight = `${at ?? this.shown} ${nodes.length} ${innerWidth}`;
    if (sight !== this.revealed) {
      this.revealed = sight;
      this.#reveal();
    }
    this.pane.classList.toggle("is-stale", isStale);
  }

  /**
   * @param {string} name
   * @param {string} about
   * @param {boolean} is
   * @param {Life | undefined} life
   * @param {boolean} isLive
   */
  #agent(name, about, is, life, isLive) {
    const node = kept(this.pane, name, "li", "agent");
    set(node, { "data-testid": `agent-${name}`, "data-agent": name });
    const [state, word] = told(life, is && isLive);
    change(node, [is, state, word, about], () => {
      node.classList.toggle("active", is);
      set(node, { "data-state": state, "aria-current": is ? "true" : null, title: about });
      const pick = set(
        make(
          "button",
          "agent-pick",
          make("span", "agent-letter", name[0].toUpperCase()),
          make("span", "agent-name", plainName(name)),
          make("span", "agent-is", word),
        ),
        { type: "button" },
      );
      set(/** @type {HTMLElement} */ (pick.firstChild), { "aria-hidden": "true" });
      pick.addEventListener("click", () => this.on.pick(name));
      // A button that has the focus keeps it.
      const had = node.contains(document.activeElement);
      node.replaceChildren(pick);
      if (had) pick.focus();
    });
    return node;
  }

  /** What the agents of each name are doing. @param {Picture} picture */
  #lives(picture) {
    /** @type {Map<string, Life>} */
    const lives = new Map();
    for (const one of picture.threads.values()) {
      if (!one.agent) continue;
      const life = lives.get(one.agent) ?? { working: 0, waits: 0, stopping: 0, ended: "" };
      lives.set(one.agent, life);
      if (!one.isOver && BUSY.has(one.state)) life.working += 1;
      if (one.state === "waiting_for_user") life.waits += 1;
      if (!one.isOver && one.state === "completing") life.stopping += 1;
      const isBad = one.outcome !== undefined && !isGood(one.outcome);
      life.ended = isBad ? (one.outcome === "cancelled" ? "stopped" : "failed") : "";
    }
    return lives;
  }
}

/**
 * How agents of one name are: a state, and a word for it. Of those who have no thread it is only known whether they have the word.
 * @param {Life | undefined} life
 * @param {boolean} isSpeaking
 * @returns {[string, string]}
 */
function told(life, isSpeaking) {
  if (life?.stopping) return ["running", "stopping"];
  if (life?.waits) return ["waits", "waits for you"];
  if (life && life.working > 1) return ["running", `${life.working} at work`];
  if (life ? life.working : isSpeaking) return ["running", "working"];
  return life?.ended === "failed" ? ["failed", "failed"] : ["quiet", life?.ended ?? ""];
}
