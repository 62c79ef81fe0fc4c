// @ts-check
// Numbers as they are written. A page holds whole numbers up to 2^53; beyond, neighbours become one, and what is shown
// would not be what is done.

/** A string or a number in JSON text. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Whether a value holds a number that may have been another. @param {any} value @returns {boolean} */
export function isRounded(value) {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return value !== null && typeof value === "object" && Object.values(value).some(isRounded);
}

/**
 * A field of an object, laid out to be read, with every number as it is written.
 * @param {string} body The object's JSON.
 * @param {string} field
 */
export function written(body, field) {
  // All numbers become strings, and all strings are told from them by their first sign.
  const kept = body.replace(TOKEN, (token) => (token.startsWith('"') ? `"$${token.slice(1)}` : `"#${token}"`));
  const laidOut = JSON.stringify(JSON.parse(kept)[`$${field}`] ?? null, null, 2);
  return laidOut.replace(TOKEN, (token) => (token[1] === "#" ? token.slice(2, -1) : `"${token.slice(2)}`));
}
