// @ts-check
// What frames are folded into. `reduce.js` writes it; the drawing modules read it, and empty `changed`.

/**
 * @typedef {{ id: string, name: string, media: string, bytes: number }} Attached An image or a document.
 *
 * @typedef {{
 *   key: string, kind: "prompt" | "steer" | "thinking" | "text" | "tool" | "notice" | "end", seq: number, thread: string,
 *   text?: string, agent?: string, from?: string, at?: string, isError?: boolean, isEnding?: boolean,
 *   call?: string, tool?: string, slug?: string, input?: any, output?: string, progress?: string, ms?: number | null,
 *   state?: "running" | "done" | "failed" | "interrupted", places: Record<string, number>,
 *   files?: Attached[], offers?: { label: string, say: string }[],
 * }} Item What a thread shows, in one place. `from` is who told a running agent something; `isEnding` where it is said
 *   that the agent is being ended; `slug` is the agent that a call starts; `progress` is what a running tool last wrote;
 *   `files` came with a prompt; `offers` are what a person may answer.
 *
 * @typedef {{
 *   id: string, seq: number, agent?: string, name?: string, parent?: string, call?: string, goal?: string,
 *   model?: string, state: string, outcome?: string, report?: string, error?: string,
 *   startedAt?: string, endedAt?: string, ms?: number, tools: number, lastTool?: string, lastCall?: string,
 *   selfTokens: number, treeTokens: number, selfCost: number, cost: number, isPriceUnknown: boolean, isEstimated: boolean,
 *   isOver: boolean, thoughtAt: number, facts: Facts,
 * }} Thread `isOver` where nothing more will come of it; `tools` and tokens are those of all its runs; `cost` is its
 *   tree's; `lastCall` is the key of the item of the call that began last; `thoughtAt` is where its model was asked last.
 *
 * @typedef {{
 *   id: string, seq: number, thread: string, frame: any, decision?: string, reason?: string | null, answer?: string,
 *   places: Record<string, number>,
 * }} Question
 *
 * @typedef {{
 *   key: string, thread: string, kind: "model" | "tool" | "person", from: number, to: number | null, label: string,
 *   isError: boolean,
 * }} Span
 *
 * @typedef {{ place: number, tokens: number, cost: number, tools: number, treeTokens: number, treeCost: number }} Sum
 *
 * @typedef {{
 *   place: number, outcome?: string, report?: string, error?: string, at?: string, ms?: number, sum: Sum | null,
 * }} End
 *
 * @typedef {{
 *   places: Record<string, number>, claim?: string, isRoot: boolean, isAlone: boolean, runAt: number,
 *   heard: { place: number, state: string }, end: End | null, closed: number, usage: Sum | null, ended: Sum,
 *   open: Set<Item>, items: Item[], isSorted: boolean, calls: number, turn: number,
 *   marks: { place: number, at: number, span: Span | null }[],
 * }} Facts What a thread's fields are worked out from; used by `family.js` alone.
 *
 * @typedef {{
 *   root: string, threads: Map<string, Thread>, items: Map<string, Item>, questions: Map<string, Question>,
 *   spans: Map<string, Span>, deltas: Map<string, { turn: number, text: string }>,
 *   thoughts: Map<string, { turn: number, text: string }>, done: any, doneSeq: number, last: number,
 *   changed: Set<string>, word: { place: number, agent: string | null }, seen: Set<number>, unnumbered: number,
 *   below: Map<string, Set<Thread>>, spent: Map<string, Sum>, loose: Item[],
 *   shape: import("./shape.js").Shape | null,
 * }} Picture `last` is the number to resume from. `changed` are the threads whose fields, items or children differ
 *   since it was last drawn. `deltas` are streamed text: of each thread those of the turn that is
 *   being answered; `thoughts` what is thought before it. `loose` are items that no thread has.
 */

/**
 * An empty picture. Frames that name no thread are about `root`.
 * @param {string} [root]
 * @returns {Picture}
 */
export function begin(root = "") {
  return {
    root,
    threads: new Map(),
    items: new Map(),
    questions: new Map(),
    spans: new Map(),
    deltas: new Map(),
    thoughts: new Map(),
    done: null,
    doneSeq: -1,
    last: 0,
    changed: new Set(),
    word: { place: -1, agent: null },
    seen: new Set(),
    unnumbered: 0,
    below: new Map(),
    spent: new Map(),
    loose: [],
    shape: null,
  };
}

/**
 * Keeps of each fact the one that stands first.
 * @param {Thread | Item} about
 * @param {Record<string, number>} places Where those stand that are kept.
 * @param {number} place
 * @param {Record<string, any>} facts
 */
export function first(about, places, place, facts) {
  for (const [field, value] of Object.entries(facts)) {
    if (value === undefined || value === null || place >= (places[field] ?? Infinity)) continue;
    places[field] = place;
    /** @type {any} */ (about)[field] = value;
  }
}
