// @ts-check
// The settings dialog: agents, the model and what it can do, and every setting with its origin.

import { api } from "./api.js";
import { closing, make, scroller, set, show, table, title } from "./dom.js";
import { plainName } from "./words.js";

/** What the engine of rules can do, and what it cannot. */
const CAN = [
  "sort mail and say what is urgent, and why",
  "find free time and clashes in calendars",
  "find notes and say where they are",
  "write drafts and propose meetings; nothing is ever sent",
  "learn preferences, with evidence",
];
const CANNOT = [
  "talk about anything else",
  "write or review code",
  "understand free text: it recognises words, names and times",
];

/** @param {HTMLDialogElement} pane */
export async function openSettings(pane) {
  const [agents, models, config] = await Promise.all([api("/agents"), api("/models"), api("/config")]);
  pane.replaceChildren(
    title(pane, "Settings"),
    ...modelParts(models),
    ...agentTable(agents),
    ...settings(config),
    closing(pane, link("/api/v1/openapi.json", "The HTTP API")),
  );
  show(pane);
}

/** Which model answers, in a sentence. @param {any} models */
export function modelSentence(models) {
  if (!models?.model) return models?.reason ? `No model: ${models.reason}` : "";
  return isRules(models.model)
    ? "Answers come from the built-in rules engine: no language model, no key, no network."
    : `Answers come from ${models.model}.`;
}

/** @param {string} model */
const isRules = (model) => model === "builtin/rules";

/** @param {any} models */
function modelParts(models) {
  const parts = [make("h3", "", "Model"), make("p", "", modelSentence(models))];
  if (isRules(models?.model ?? "")) parts.push(make("div", "can", list("It can", CAN), list("It cannot", CANNOT)));
  if (models?.providers?.length) parts.push(make("p", "note", `Configured providers: ${models.providers.join(", ")}.`));
  return parts;
}

/** @param {any[]} agents */
function agentTable(agents) {
  const rows = agents.map((agent) => [
    plainName(agent.id),
    agent.description,
    agent.model ?? "–",
    agent.mode ?? "–",
    tools(agent.tools),
  ]);
  return [
    make("h3", "", `Agents (${agents.length})`),
    scroller("Agents", table("Agents", ["Agent", "For", "Model", "Mode", "Tools"], rows)),
  ];
}

/** @param {any} tools */
const tools = (tools) => (Array.isArray(tools) ? tools.join(", ") || "none" : tools ? JSON.stringify(tools) : "all");

/** @param {any[]} config */
function settings(config) {
  const filter = /** @type {HTMLInputElement} */ (
    set(make("input", ""), { type: "search", placeholder: "Filter settings", "aria-label": "Filter settings" })
  );
  const pane = scroller("Settings");
  const draw = () => {
    const wanted = filter.value.trim().toLowerCase();
    const rows = config
      .map((entry) => [entry.key, JSON.stringify(entry.value), entry.origin])
      .filter((row) => row.some((cell) => cell.toLowerCase().includes(wanted)));
    pane.replaceChildren(
      rows.length
        ? table("Settings", ["Setting", "Value", "From"], rows)
        : make("p", "note", "No matching setting."),
    );
  };
  filter.addEventListener("input", draw);
  draw();
  return [make("h3", "", `Configuration (${config.length})`), filter, pane];
}

/** @param {string} name @param {string[]} entries */
const list = (name, entries) =>
  make("div", "", make("h4", "", name), make("ul", "", ...entries.map((entry) => make("li", "", entry))));

/** @param {string} address @param {string} words */
function link(address, words) {
  return set(make("a", "", words), { href: address, target: "_blank", rel: "noopener" });
}
