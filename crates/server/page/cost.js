// @ts-check
// What a conversation has used: each agent by itself and with all below it, over all its runs, as the log has it.

import { api } from "./api.js";
import { make, scroller, table } from "./dom.js";
import { allTokens, money, plainName, whole } from "./words.js";

/** @typedef {import("./reduce.js").Picture} Picture */
/** @typedef {{ tokens: number, cost: number, calls: number, isEstimated: boolean, isPriceUnknown: boolean }} Used */

/** @param {HTMLElement} pane @param {Picture} picture @param {string | null} root */
export async function drawCost(pane, picture, root) {
  if (!root) return pane.replaceChildren(make("p", "empty", "Nothing has been used yet."));
  /** @type {any[]} */
  const rows = await api(`/usage?root=${encodeURIComponent(root)}`);
  if (!rows.length) return pane.replaceChildren(make("p", "empty", "Nothing has been used yet."));
  const unknown = (/** @type {any} */ row) => picture.threads.get(row.thread)?.isPriceUnknown === true && !row.cost_microusd;
  const [own, models] = [group(rows, (row) => row.thread, unknown), group(rows, (row) => row.model, unknown)];
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
      tokens(self),
      tokens(whole_),
      money(self.cost, self),
      money(whole_.cost, whole_),
    ];
  });
  const speech = [...models].map(([model, used]) => [
    model,
    whole(used.calls),
    tokens(used),
    money(used.cost, used),
  ]);
  pane.replaceChildren(
    make(
      "p",
      "sum",
      make("strong", "", `${tokens(all)} tokens`),
      ` · ${money(all.cost, all)} · ${whole(all.calls)} answers of a model`,
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
    make(
      "p",
      "note",
      "With ~, some figures are estimates: the answer to a request was lost, and what was reserved for it counts. " +
        "Models on this machine, scripts and the rules engine cost nothing.",
    ),
  );
}

/** @param {Used} used */
const tokens = (used) => `${used.isEstimated ? "~" : ""}${whole(used.tokens)}`;

/** @param {any[]} rows @param {(row: any) => string} by @param {(row: any) => boolean} unknown @returns {Map<string, Used>} */
function group(rows, by, unknown) {
  /** @type {Map<string, Used>} */
  const all = new Map();
  for (const row of rows)
    all.set(
      by(row),
      sum([
        all.get(by(row)) ?? sum([]),
        {
          tokens: allTokens(row.tokens) + (row.booked_tokens ?? 0),
          cost: row.cost_microusd,
          calls: row.calls,
          isEstimated: row.booked_tokens > 0,
          isPriceUnknown: unknown(row),
        },
      ]),
    );
  return all;
}

/** @param {Used[]} all @returns {Used} */
const sum = (all) =>
  all.reduce(
    (a, b) => ({
      tokens: a.tokens + b.tokens,
      cost: a.cost + b.cost,
      calls: a.calls + b.calls,
      isEstimated: a.isEstimated || b.isEstimated,
      isPriceUnknown: a.isPriceUnknown || b.isPriceUnknown,
    }),
    { tokens: 0, cost: 0, calls: 0, isEstimated: false, isPriceUnknown: false },
  );

/** Parents before children, and these by their numbers. @param {string} a @param {string} b */
const byPlace = (a, b) => a.localeCompare(b, "en", { numeric: true });
