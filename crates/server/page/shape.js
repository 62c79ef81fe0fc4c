// @ts-check
// Where threads stand: who is whose child, and how deep. Worked out as a whole, from names and claims alone, when it is
// asked for after a thread or a claim came; what happens within threads does not change it.

/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./picture.js").Thread} Thread */
/** @typedef {{ levels: Map<string, number>, within: Map<string, Thread[]> }} Shape */

/** Levels below the top that count as levels; what is deeper counts as being on the last of them. */
const DEPTH_DRAWN = 10;

/**
 * The children of a thread, in the order of their first frame. The root has those, too, whose parent is
 * unknown: no thread is dropped. To be read, not changed.
 * @param {Picture} picture @param {string} parent @returns {readonly Thread[]}
 */
export const children = (picture, parent) => shape(picture).within.get(parent) ?? [];

/**
 * How deep a thread lies: the length of its chain of known parents, at most ten, whatever ids claim.
 * @param {Picture} picture
 * @param {string} id
 */
export const depth = (picture, id) => shape(picture).levels.get(id) ?? 0;

/** @param {Picture} picture @returns {Shape} */
function shape(picture) {
  if (picture.shape) return picture.shape;
  /** @type {Shape} */
  const made = { levels: new Map(), within: new Map() };
  /** @type {Set<string>} */
  const tops = new Set();
  for (const [id, thread] of picture.threads) {
    settle(picture, made.levels, tops, id);
    const host = above(picture, tops, id) ?? picture.root;
    if (host === id) continue;
    const beside = made.within.get(host);
    if (beside) beside.push(thread);
    else made.within.set(host, [thread]);
  }
  for (const all of made.within.values()) all.sort((a, b) => a.seq - b.seq || (a.id < b.id ? -1 : 1));
  return (picture.shape = made);
}

/**
 * Gives a thread and those above it their levels.
 * @param {Picture} picture
 * @param {Map<string, number>} levels
 * @param {Set<string>} tops
 * @param {string} id
 */
function settle(picture, levels, tops, id) {
  /** @type {Set<string>} */
  const way = new Set();
  /** @type {string | undefined} */
  let at = id;
  for (; at !== undefined && !levels.has(at) && !way.has(at); at = above(picture, tops, at)) way.add(at);
  const upwards = [...way];
  if (at !== undefined && way.has(at)) {
    // Parents in a ring: the least of them stands at the top, wherever the way into the ring began.
    tops.add(upwards.slice(upwards.indexOf(at)).reduce((least, one) => (one < least ? one : least)));
    return settle(picture, levels, tops, id);
  }
  let level = at === undefined ? -1 : levels.get(at) ?? 0;
  for (const one of upwards.reverse()) levels.set(one, (level = Math.min(DEPTH_DRAWN, level + 1)));
}

/** The parent, where it is known. @param {Picture} picture @param {Set<string>} tops @param {string} id */
function above(picture, tops, id) {
  const parent = tops.has(id) ? undefined : picture.threads.get(id)?.parent;
  return parent !== undefined && picture.threads.has(parent) ? parent : undefined;
}
