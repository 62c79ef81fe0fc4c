// @ts-check
// What is asked of a person, and what the house is made of.

import { make } from "./draw.js";

const RISKS = /** @type {Record<string, string>} */ ({ low: "○ low risk", medium: "◐ medium risk", high: "● high risk", critical: "▲ critical" });

/**
 * Puts the first question to the person; closes where none is left. A question that is shown stays until it is decided, here or
 * elsewhere: what comes in meanwhile waits behind it.
 * @param {HTMLDialogElement} dialog @param {any[]} questions @param {string | null} root
 * @param {(question: any, word: any) => Promise<void>} decide
 */
export function askPerson(dialog, questions, root, decide) {
  const shown = dialog.dataset.question;
  if (shown && questions.some((one) => one.id === shown)) return;
  const question = questions.find((one) => one.root === root);
  if (!question) {
    delete dialog.dataset.question;
    if (dialog.open) dialog.close();
    return;
  }
  dialog.dataset.question = question.id;
  const reason = /** @type {HTMLInputElement} */ (make("input", ""));
  reason.id = "approval-reason";
  const edited = /** @type {HTMLTextAreaElement} */ (make("textarea", "edit"));
  edited.value = visible(JSON.stringify(question.input, null, 2));
  edited.rows = Math.min(16, edited.value.split("\n").length + 1);
  edited.setAttribute("aria-label", "What exactly will be done; change it to allow something else");
  const was = edited.value;
  const wrong = make("p", "is-error");
  wrong.setAttribute("role", "alert");
  const send = async (/** @type {any} */ word) => {
    try {
      if (word.decision === "allow" && edited.value !== was) word.input = JSON.parse(edited.value);
      await decide(question, word);
    } catch (error) {
      wrong.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  const button = (/** @type {string} */ label, /** @type {any} */ word, /** @type {string} */ look = "") => {
    const node = make("button", look, label);
    node.setAttribute("type", "button");
    node.addEventListener("click", () => void send({ ...word, ...(word.decision === "deny" && reason.value ? { reason: reason.value } : {}) }));
    return node;
  };
  const more = question.standing ? [button("Allow in this thread", { decision: "allow", scope: "thread" }), button("Always allow", { decision: "allow", scope: "always" })] : [];
  const label = make("label", "", "Reason (for the agent) ", reason);
  const title = make("h2", "", `${question.path.join(" › ")} asks: ${question.tool}`);
  title.id = "approval-title";
  dialog.replaceChildren(
    title,
    make("p", `risk is-${question.risk}`, RISKS[question.risk] ?? question.risk),
    make("p", "", visible(question.effect)),
    make("p", "why", `Asked because: ${visible(question.why)}${question.foreign ? " · it has read text from outside" : ""}`),
    ...(question.protected?.length ? [make("p", "is-error", `Protected: ${question.protected.join(", ")}`)] : []),
    edited,
    ...(question.standing ? [make("p", "note", `More than once means: ${question.tool} ${visible(question.standing)}`)] : []),
    label, wrong,
    make("div", "buttons", button("Allow once", { decision: "allow" }, "primary"), ...more, button("Deny", { decision: "deny" }, "danger"), later(dialog)),
  );
  if (!dialog.open) dialog.showModal();
}

/** @param {HTMLDialogElement} dialog */
function later(dialog) {
  const node = make("button", "", "Later");
  node.setAttribute("type", "button");
  node.addEventListener("click", () => dialog.close());
  return node;
}

/** @param {HTMLDialogElement} dialog @param {any[]} questions @param {(question: any) => void} open */
export function drawInbox(dialog, questions, open) {
  const title = make("h2", "", "Approvals");
  title.id = "inbox-title";
  const rows = questions.map((question) => {
    const button = make("button", "row", make("span", `risk is-${question.risk}`, RISKS[question.risk] ?? question.risk), make("span", "", `${question.path.join(" › ")}: ${visible(question.effect)}`));
    button.setAttribute("type", "button");
    button.addEventListener("click", () => open(question));
    return make("li", "", button);
  });
  const list = make("ul", "rows", ...rows);
  list.setAttribute("role", "list");
  dialog.replaceChildren(title, rows.length ? list : make("p", "note", "Nothing waits for you."), closing(dialog));
}

/** @param {HTMLDialogElement} dialog @param {any[]} agents @param {any[]} config */
export function drawHouse(dialog, agents, config) {
  const title = make("h2", "", "The house");
  title.id = "house-title";
  const staff = make("dl", "facts");
  for (const agent of agents) staff.append(make("dt", "", agent.id), make("dd", "", agent.description));
  const table = make("table", "", make("thead", "", row("th", ["Setting", "Value", "From"])), make("tbody", "", ...config.map((entry) => row("td", [entry.key, JSON.stringify(entry.value), entry.origin]))));
  const scroll = make("div", "scroll", table);
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", "Settings");
  dialog.replaceChildren(title, make("h3", "", "Agents"), staff, make("h3", "", "Settings that hold"), scroll, closing(dialog));
}

/** @param {string} kind @param {string[]} cells */
const row = (kind, cells) => make("tr", "", ...cells.map((cell) => make(kind, "", cell)));

/** @param {HTMLDialogElement} dialog */
function closing(dialog) {
  const node = make("button", "", "Close");
  node.setAttribute("type", "button");
  node.addEventListener("click", () => dialog.close());
  return make("div", "buttons", node);
}

/** Text with what cannot be seen made visible: control, direction and zero-width characters. @param {string} text */
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu,
    (character) => `⟨U+${/** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}
