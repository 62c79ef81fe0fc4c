// @ts-check
// What a new conversation shows before anything is said: who answers, and things to ask that fit whoever does.

import { button, change, make, set } from "./dom.js";
import { speaks } from "./house.js";

/** What a household can be asked, also where rules answer. @type {[string, string][]} */
const HOUSEHOLD = [
  ["What urgent emails do I have?", "ranks the inbox with reasons"],
  ["When am I free for 45 minutes next week?", "looks through the calendars"],
  ["Find my notes about the contract", "searches the notes"],
  ["Draft a reply to Sarah Chen about the contract", "writes a draft; nothing is sent"],
];
/** What can be asked in a folder of files. @type {[string, string][]} */
const WORKSHOP = [
  ["What is in this folder, and what is it for?", "lists and summarises"],
  ["Find every TODO and group them by module", "searches all files"],
  ["Explain how the main parts work together", "reads the code and cites files"],
  ["Which tests are missing, and where?", "compares code and tests"],
];

/**
 * @param {HTMLElement} room
 * @param {boolean} isEmpty
 * @param {{ agents: any[], models: any, config: any[] }} house
 * @param {(text: string) => void} say
 */
export function drawEmpty(room, isEmpty, house, say) {
  room.hidden = !isEmpty;
  if (!isEmpty) return;
  change(room, [house.models, house.agents, house.config], () => {
    const agent = house.config.find((entry) => entry.key === "agent");
    const examples = agent === undefined || agent.value === "butler" ? HOUSEHOLD : WORKSHOP;
    const isSample = agent?.origin === "flag --demo";
    const list = make(
      "ul",
      "",
      ...examples.map(([text, what]) => make("li", "", set(exampled(text, what, say), { "data-testid": "example" }))),
    );
    room.replaceChildren(
      make("h3", "", "What should be done?"),
      make("p", "note", speaks(house.models)),
      ...(isSample ? [make("p", "note", "This is a sample household; its clock is set to 15 Jan 2026.")] : []),
      set(list, { role: "list" }),
      make(
        "p",
        "note",
        "The agent can delegate work to sub-agents. You see each of them, and risky actions need your approval.",
      ),
    );
  });
}

/** @param {string} text @param {string} what @param {(text: string) => void} say */
function exampled(text, what, say) {
  const node = button(text, "example", () => say(text));
  node.append(make("span", "note", what));
  return node;
}
