// @ts-check
// What a call of a file tool would change, read exactly as the tool reads it. Where anything else is said in the call,
// or the same in a form of which there is any doubt, there is no answer: the exact input says it all.

/**
 * @typedef {{ old: string, fresh: string, everywhere: boolean }} Edit What goes, and what comes.
 * @typedef {{ path: string, isWhole: boolean, edits: Edit[] }} Changes `isWhole`: a file is written, whatever was in it.
 */

const PATH = ["path", "file", "file_path", "filename"];
const CONTENT = ["content", "contents", "text"];
const OLD = ["old_text", "old_string"];
const FRESH = ["new_text", "new_string"];
const ALL = ["all", "replace_all"];

/** @param {string} tool @param {any} input @returns {Changes | null} */
export function changes(tool, input) {
  if (tool === "write_file") {
    const read = fields(input, { path: PATH, content: CONTENT });
    if (typeof read?.path !== "string" || typeof read.content !== "string") return null;
    return { path: read.path, isWhole: true, edits: [{ old: "", fresh: read.content, everywhere: false }] };
  }
  if (tool !== "edit_file") return null;
  const read = fields(input, { path: PATH, old: OLD, fresh: FRESH, all: ALL, edits: ["edits"] });
  if (typeof read?.path !== "string") return null;
  const { path, edits: list = [], ...one } = read;
  if (!Array.isArray(list)) return null;
  const isList = list.length > 0;
  // One edit and a list of them are no call that the tool takes.
  if (isList && Object.keys(one).length) return null;
  const edits = isList ? list.map((each) => edit(fields(each, { old: OLD, fresh: FRESH, all: ALL }))) : [edit(one)];
  return edits.every((each) => each !== null) ? { path, isWhole: false, edits } : null;
}

/** @param {Record<string, any> | null} read @returns {Edit | null} */
function edit(read) {
  const { old, fresh, all = false } = read ?? {};
  if (typeof old !== "string" || typeof fresh !== "string" || typeof all !== "boolean") return null;
  return { old, fresh, everywhere: all };
}

/**
 * The fields of an object under one name each; none where it has another field, or one of them twice.
 * @param {any} input
 * @param {Record<string, string[]>} known Names, and what they may be called.
 * @returns {Record<string, any> | null}
 */
function fields(input, known) {
  if (input === null || typeof input !== "object" || Array.isArray(input)) return null;
  /** @type {Record<string, any>} */
  const read = {};
  for (const [key, value] of Object.entries(input)) {
    const name = Object.keys(known).find((one) => known[one].includes(key));
    if (!name || name in read) return null;
    read[name] = value;
  }
  return read;
}
