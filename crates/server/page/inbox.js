// @ts-check
// Everything that waits for a person, whichever conversation it comes from.

import { change, closing, kept, make, place, set, title } from "./dom.js";
import { cut, moment, plainName, riskWords, visible, whole } from "./words.js";

/** @param {HTMLDialogElement} pane @param {any[]} questions @param {(question: any) => void} open */
export function drawInbox(pane, questions, open) {
  if (!pane.firstElementChild)
    pane.append(title(pane, "Pending approvals and questions"), set(make("ul", "questions"), { role: "list" }), closing(pane));
  const list = /** @type {HTMLElement} */ (pane.querySelector(".questions"));
  const nodes = questions.map((question) => {
    const node = kept(list, question.id, "li", "");
    change(node, [question.digest], () => {
      const line = make(
        "span",
        "question-line",
        question.kind === "question"
          ? make("span", "risk", "question")
          : make("span", `risk is-${question.risk}`, riskWords(question.risk)),
        make("span", "", question.path.map(plainName).join(" › ")),
        moment(question.requested_at),
      );
      const choose = set(
        make(
          "button",
          "question",
          line,
          question.kind === "question"
            ? make("span", "", cut(visible(question.question.text), 300))
            : make("span", "", make("code", "", visible(question.tool)), " ", cut(visible(question.effect), 300)),
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
    none.textContent = "No approval and no question is pending.";
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
