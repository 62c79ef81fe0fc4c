// @ts-check
// Everything that waits for a person, whichever conversation it comes from.

import { change, closing, kept, make, place, set, title } from "./dom.js";
import { cut, moment, plainName, riskWords, visible, whole } from "./words.js";

/** @param {HTMLDialogElement} room @param {any[]} questions @param {(question: any) => void} open */
export function drawInbox(room, questions, open) {
  if (!room.firstElementChild)
    room.append(title(room, "Pending approvals"), set(make("ul", "questions"), { role: "list" }), closing(room));
  const list = /** @type {HTMLElement} */ (room.querySelector(".questions"));
  const nodes = questions.map((question) => {
    const node = kept(list, question.id, "li", "");
    change(node, [question.digest], () => {
      const line = make(
        "span",
        "question-line",
        make("span", `risk is-${question.risk}`, riskWords(question.risk)),
        make("span", "", question.path.map(plainName).join(" › ")),
        moment(question.requested_at),
      );
      const choose = set(
        make(
          "button",
          "question",
          line,
          make("span", "", make("code", "", visible(question.tool)), " ", cut(visible(question.effect), 300)),
        ),
        { type: "button" },
      );
      choose.addEventListener("click", () => open(question));
      node.replaceChildren(choose);
    });
    return node;
  });
  if (!nodes.length) {
    const none = kept(list, "none", "li", "empty");
    none.textContent = "No approval is pending.";
    nodes.push(none);
  }
  place(list, nodes);
}

/** @param {HTMLElement} opener @param {number} count */
export function drawCount(opener, count) {
  change(opener, [count], () => {
    opener.replaceChildren(
      set(make("span", ""), { "aria-hidden": "true" }),
      make("span", "wide-only", "Approvals"),
      ...(count ? [" ", make("span", "count", whole(count))] : []),
    );
    /** @type {HTMLElement} */ (opener.firstChild).textContent = "⚑ ";
    opener.classList.toggle("is-calling", count > 0);
    set(opener, { "aria-label": count ? `Approvals: ${whole(count)} pending` : "Approvals: none pending" });
  });
}
