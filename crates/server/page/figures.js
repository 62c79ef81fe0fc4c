// @ts-check
// What threads used: tokens, money, calls; of their own, and with all that are below them by name.

/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./picture.js").Thread} Thread */
/** @typedef {import("./picture.js").Facts} Facts */
/** @typedef {import("./picture.js").Sum} Sum */

/**
 * Works out what a thread used, and adds the difference to every tree it is part of.
 * @param {Picture} picture
 * @param {Thread} thread
 */
export function spend(picture, thread) {
  const own = used(thread.facts);
  thread.tools = own.place < 0 ? thread.facts.calls : own.tools;
  const [tokens, cost] = [own.tokens - thread.selfTokens, own.cost - thread.selfCost];
  Object.assign(thread, { selfTokens: own.tokens, selfCost: own.cost });
  for (let id = thread.id; id; id = id.slice(0, Math.max(0, id.lastIndexOf(".")))) {
    const spent = picture.spent.get(id) ?? nothing();
    spent.tokens += tokens;
    spent.cost += cost;
    picture.spent.set(id, spent);
    const above = picture.threads.get(id);
    if (above) total(picture, above);
    if (!tokens && !cost) break;
  }
}

/**
 * What a thread's tree used: what is told of it, or what is told of its members, whichever is more.
 * @param {Picture} picture
 * @param {Thread} thread
 */
export function total(picture, thread) {
  const told = used(thread.facts);
  const spent = picture.spent.get(thread.id) ?? nothing();
  thread.treeTokens = Math.max(told.treeTokens, spent.tokens);
  thread.cost = Math.max(told.treeCost, spent.cost);
  picture.changed.add(thread.id);
}

/**
 * What is told of a thread: a run's own figures count until its end has told them.
 * @param {Facts} facts
 * @returns {Sum}
 */
function used({ end, ended, usage }) {
  return end?.sum ?? (usage && usage.place > ended.place ? plus(ended, usage) : ended);
}

/** @param {number} place @param {any} totals @returns {Sum} */
export function sum(place, totals) {
  const tokens = (/** @type {any} */ used) => {
    const all = used?.tokens ?? {};
    return (all.input ?? 0) + (all.output ?? 0) + (all.cache_read ?? 0) + (all.cache_write ?? 0);
  };
  const { self, tree } = totals ?? {};
  if (!self) return nothing();
  return {
    place,
    tokens: tokens(self),
    cost: self.cost_microusd ?? 0,
    tools: self.tool_calls ?? 0,
    treeTokens: tokens(tree),
    treeCost: tree?.cost_microusd ?? 0,
  };
}

/** @returns {Sum} */
export const nothing = () => ({ place: -1, tokens: 0, cost: 0, tools: 0, treeTokens: 0, treeCost: 0 });

/** @param {Sum} a @param {Sum} b @returns {Sum} */
export const plus = (a, b) => ({
  place: Math.max(a.place, b.place), tokens: a.tokens + b.tokens, cost: a.cost + b.cost, tools: a.tools + b.tools,
  treeTokens: a.treeTokens + b.treeTokens, treeCost: a.treeCost + b.treeCost,
});
