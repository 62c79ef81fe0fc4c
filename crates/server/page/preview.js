// @ts-check
// What exactly a call would do, as a person can judge it: a file as it would be written, an edit as lines that go
// and come, anything else as the very arguments. Nothing is left out and nothing is hidden; where it is long, its
// length is said.

import { make, set } from "./dom.js";
import { counted, escaped, visible, whole } from "./words.js";

/** From so many characters on, the length is said. */
const LONG = 2000;

/** @param {any} question @returns {Node[]} */
export function preview(question) {
  const input = question.input ?? {};
  const exact = block(visible(JSON.stringify(input, null, 2)), "The exact input");
  const drawn = changes(question.tool, input);
  if (!drawn) return [exact];
  const details = make("details", "", make("summary", "", "The exact input"), exact);
  return [drawn, details];
}

/**
 * JSON to be edited: what cannot be seen is escaped, and comes back as it was.
 * @param {any} input
 * @returns {HTMLTextAreaElement}
 */
export function editor(input) {
  const text = escaped(input);
  const node = /** @type {HTMLTextAreaElement} */ (
    set(make("textarea", "edit"), {
      "aria-label": "The input, as JSON. What stands here is what will be done.",
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
  return JSON.stringify(value) === JSON.stringify(input) ? undefined : value;
}

/** @param {string} tool @param {any} input */
function changes(tool, input) {
  const path = input.path ?? input.file ?? input.file_path ?? input.filename;
  if (typeof path !== "string") return null;
  if (tool === "write_file") {
    const content = input.content ?? input.contents ?? input.text;
    return typeof content === "string" ? diff(path, "The whole file would be", [["", content]]) : null;
  }
  if (tool !== "edit_file") return null;
  const edits = Array.isArray(input.edits) && input.edits.length ? input.edits : [input];
  const pairs = edits.map((/** @type {any} */ one) => [
    one?.old_text ?? one?.old_string,
    one?.new_text ?? one?.new_string,
  ]);
  return pairs.every((/** @type {any[]} */ pair) => pair.every((text) => typeof text === "string"))
    ? diff(path, "Would change", pairs)
    : null;
}

/** @param {string} path @param {string} words @param {string[][]} pairs What goes, and what comes. */
function diff(path, words, pairs) {
  const rows = pairs.flatMap(([old, fresh], at) => [
    ...(at ? [make("span", "diff-gap", "⋯\n")] : []),
    ...lines(old, "-"),
    ...lines(fresh, "+"),
  ]);
  const count = pairs.reduce((sum, [, fresh]) => sum + fresh.length, 0);
  const shown = set(make("pre", "diff", ...rows), { tabindex: "0", "aria-label": `${words}: ${path}` });
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
  if (text === "") return [];
  const all = text.replace(/\n$/, "").split("\n");
  return all.map((line) => make("span", mark === "+" ? "comes" : "goes", `${mark} ${visible(line)}\n`));
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
