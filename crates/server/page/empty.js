// @ts-check
// What a new conversation shows before anything is said: who answers, and things to ask that work without any model.

import { button, change, make, set } from "./dom.js";
import { speaks } from "./house.js";

const EXAMPLES = [
  ["What urgent emails do I have?", "sorts the inbox and says why"],
  ["When am I free for 45 minutes next week?", "looks through the calendars"],
  ["Find my notes about the contract", "searches the notes"],
  ["Draft a reply to the urgent contract mail", "writes a draft; nothing is sent"],
];

/**
 * @param {HTMLElement} room
 * @param {boolean} isEmpty
 * @param {{ agents: any[], models: any }} house
 * @param {(text: string) => void} say
 */
export function drawEmpty(room, isEmpty, house, say) {
  room.hidden = !isEmpty;
  if (!isEmpty) return;
  change(room, [house.models, house.agents], () => {
    const list = make(
      "ul",
      "",
      ...EXAMPLES.map(([text, what]) => make("li", "", set(exampled(text, what, say), { "data-testid": "example" }))),
    );
    room.replaceChildren(
      make("h3", "", "What should be done?"),
      make("p", "note", speaks(house.models)),
      set(list, { role: "list" }),
      make(
        "p",
        "note",
        "Work is handed to sub-agents as needed; you see each of them, and are asked before anything that matters is changed.",
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
