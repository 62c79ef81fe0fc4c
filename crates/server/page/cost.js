// @ts-check
// What a conversation has used: each agent by itself and with all below it, over all its runs, as the log has it.

import { api } from "./api.js";
import { make, scroller, table } from "./dom.js";
import { allTokens, money, plainName, whole } from "./words.js";

/** @typedef {import("./reduce.js").Picture} Picture */
/** @typedef {{ tokens: number, cost: number, calls: number }} Used */

/** @param {HTMLElement} room @param {Picture} picture @param {string | null} root */
export async function drawCost(room, picture, root) {
  if (!root) return room.replaceChildren(make("p", "empty", "Nothing has been used yet."));
  /** @type {any[]} */
  const rows = await api(`/usage?root=${encodeURIComponent(root)}`);
  if (!rows.length) return room.replaceChildren(make("p", "empty", "Nothing has been used yet."));
  const [own, models] = [group(rows, (row) => row.thread), group(rows, (row) => row.model)];
  const ids = [...new Set([...own.keys(), ...picture.threads.keys()])]
    .filter((id) => id === root || id.startsWith(`${root}.`))
    .sort(byPlace);
  const tree = (/** @type {string} */ id) =>
    sum([...own].filter(([one]) => one === id || one.startsWith(`${id}.`)).map(([, used]) => used));
  const all = tree(root);
  const agents = ids.map((id) => {
    const [self, whole_, thread] = [own.get(id) ?? sum([]), tree(id), picture.threads.get(id)];
    const indent = "\u2007".repeat(2 * (id.split(".").length - 1));
    return [
      `${indent}${plainName(thread?.agent ?? id)} ${id.slice(root.length)}`,
      whole(self.calls),
      whole(self.tokens),
      whole(whole_.tokens),
      money(self.cost),
      money(whole_.cost),
    ];
  });
  const speech = [...models].map(([model, used]) => [model, whole(used.calls), whole(used.tokens), money(used.cost)]);
  room.replaceChildren(
    make(
      "p",
      "sum",
      make("strong", "", `${whole(all.tokens)} tokens`),
      ` · ${money(all.cost)} · ${whole(all.calls)} answers of a model`,
    ),
    make("h3", "", "By agent"),
    scroller(
      "Cost by agent",
      table(
        "Cost by agent",
        ["Agent", "Answers", "Tokens", "Tokens with sub-agents", "Cost", "Cost with sub-agents"],
        agents,
      ),
    ),
    make("h3", "", "By model"),
    scroller("Cost by model", table("Cost by model", ["Model", "Answers", "Tokens", "Cost"], speech)),
    make("p", "note", "Models without a known price, such as local models and the rules engine, count as $0.00."),
  );
}

/** @param {any[]} rows @param {(row: any) => string} by @returns {Map<string, Used>} */
function group(rows, by) {
  /** @type {Map<string, Used>} */
  const all = new Map();
  for (const row of rows)
    all.set(
      by(row),
      sum([
        all.get(by(row)) ?? sum([]),
        { tokens: allTokens(row.tokens) + (row.booked_tokens ?? 0), cost: row.cost_microusd, calls: row.calls },
      ]),
    );
  return all;
}

/** @param {Used[]} all @returns {Used} */
const sum = (all) =>
  all.reduce((a, b) => ({ tokens: a.tokens + b.tokens, cost: a.cost + b.cost, calls: a.calls + b.calls }), {
    tokens: 0,
    cost: 0,
    calls: 0,
  });

/** Parents before children, and these by their numbers. @param {string} a @param {string} b */
const byPlace = (a, b) => a.localeCompare(b, "en", { numeric: true });
