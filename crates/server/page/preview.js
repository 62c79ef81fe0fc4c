// @ts-check
// What exactly a call would do, as a person can judge it: a file as it would be written, an edit as lines that go
// and come, anything else as the very arguments. Nothing is left out and nothing is hidden; where it is long, its
// length is said. What a call of a file tool means is read by `edits.js`.

import { make, set } from "./dom.js";
import { changes } from "./edits.js";
import { isRounded } from "./exact.js";
import { counted, escaped, visible, whole } from "./words.js";

/** From so many characters on, the length is said. */
const LONG = 2000;

/** @param {any} question @returns {Node[]} */
export function preview(question) {
  const input = question.input ?? {};
  const exact = exactly(JSON.stringify(input, null, 2));
  const read = changes(question.tool, input);
  if (!read) return [exact];
  const details = make("details", "", make("summary", "", "The exact input"), exact);
  return [diff(read), details];
}

/** The input itself, as it is written. @param {string} text */
export const exactly = (text) => block(visible(text), "The exact input");

/**
 * JSON to be edited: what cannot be seen is escaped, and comes back as it was.
 * @param {any} input
 * @returns {HTMLTextAreaElement}
 */
export function editor(input) {
  const text = escaped(input);
  const node = /** @type {HTMLTextAreaElement} */ (
    set(make("textarea", "edit"), {
      "aria-label": "The input as JSON. Exactly this is run if you approve.",
      spellcheck: "false",
    })
  );
  node.value = text;
  node.rows = Math.min(14, text.split("\n").length + 1);
  return node;
}

/** What was made of the input: none where it is the same. @param {HTMLTextAreaElement} editor @param {any} input */
export function edited(editor, input) {
  let value;
  try {
    value = JSON.parse(editor.value);
  } catch (error) {
    throw new Error(`This is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (isRounded(value)) throw new Error("A number here is too large for JavaScript. Write a smaller one, or deny.");
  return JSON.stringify(value) === JSON.stringify(input) ? undefined : value;
}

/** @param {import("./edits.js").Changes} changes */
function diff({ path, isWhole, edits }) {
  const words = isWhole ? "The whole file would be" : "Would change";
  const rows = edits.flatMap(({ old, fresh, everywhere }, at) => {
    // The end of the last line is shown where only one of the two has it.
    const isClosed = fresh.endsWith("\n") && (isWhole || old.endsWith("\n"));
    const part = (/** @type {string} */ text) => (isClosed ? text.replace(/\n$/, "") : text);
    return [
      ...(at ? [make("span", "diff-gap", "⋯\n")] : []),
      ...(everywhere ? [make("span", "diff-gap", "everywhere in the file:\n")] : []),
      ...(old === "" ? [] : lines(part(old), "-")),
      ...(fresh === "" ? [] : lines(part(fresh), "+")),
    ];
  });
  const count = edits.reduce((sum, { fresh }) => sum + fresh.length, 0);
  const shown = set(make("pre", "diff", ...rows), { tabindex: "0", "aria-label": `${words}: ${visible(path)}` });
  return make(
    "div",
    "preview",
    make(
      "p",
      "preview-head",
      `${words} `,
      make("code", "", visible(path)),
      count > LONG ? ` (${counted(count, "character")})` : "",
    ),
    shown,
  );
}

/** @param {string} text @param {"-" | "+"} mark */
function lines(text, mark) {
  return text
    .split("\n")
    .map((line) => make("span", mark === "+" ? "comes" : "goes", `${mark} ${visible(line)}\n`));
}

/** @param {string} text @param {string} label */
function block(text, label) {
  const pre = set(make("pre", "exact", text), { tabindex: "0", "aria-label": label });
  return make(
    "div",
    "preview",
    ...(text.length > LONG
      ? [make("p", "preview-head", `${whole(text.length)} characters; all of them are below.`)]
      : []),
    pre,
  );
}
