// @ts-check
// Reads a stream of server-sent events from pieces of text, however they are cut.
//
// As the standard says, and more tolerant: lines may be indented, and a line of data that is a whole event needs no
// empty line after it. Lines of data that are none by themselves are joined at the empty line; what is no event then
// is passed over. Decoding bytes is left to the caller.

/** @typedef {{ id: number | null, frame: any }} Sent `id` is the number by which one can come back after this event. */

export class Reader {
  /** How long to wait before coming back, in milliseconds, where the stream has said so. @type {number | null} */
  retry = null;
  /** The beginning of a line whose end has not come. @type {string[]} */
  #begun = [];
  /** Lines of data that are no event by themselves. @type {string[]} */
  #data = [];
  /** @type {number | null} */
  #id = null;
  #isFirst = true;
  #endsInReturn = false;

  /** Takes the next piece in and gives the events that are complete with it. @param {string} piece @returns {Sent[]} */
  push(piece) {
    if (!piece) return [];
    let text = piece;
    if (this.#isFirst && text.startsWith("\ufeff")) text = text.slice(1);
    // A return ends its line at once; a line feed after it belongs to the same end, even in the next piece.
    if (this.#endsInReturn && text.startsWith("\n")) text = text.slice(1);
    this.#isFirst = false;
    this.#endsInReturn = piece.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    const rest = lines.pop() ?? "";
    if (lines.length) {
      lines[0] = this.#begun.join("") + lines[0];
      this.#begun = [];
    }
    if (rest) this.#begun.push(rest);
    return lines.flatMap((line) => this.#line(line));
  }

  /** The end: what is left is a line too. @returns {Sent[]} */
  end() {
    const last = this.#begun.join("");
    this.#begun = [];
    return [...this.#line(last), ...this.#line("")];
  }

  /** @param {string} line @returns {Sent[]} */
  #line(line) {
    const text = line.trim();
    if (text === "") return this.#whole();
    const colon = text.indexOf(":");
    const [field, value] = colon < 0 ? [text, ""] : [text.slice(0, colon), text.slice(colon + 1).replace(/^ /, "")];
    if (field === "data") return this.#take(value);
    if (field === "id") this.#id = /^\d+$/.test(value) ? Number(value) : null;
    if (field === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
    return [];
  }

  /** A line of data. @param {string} value @returns {Sent[]} */
  #take(value) {
    const frame = object(value);
    // Within data of several lines a line may look whole and be a part; an event has a type.
    if (frame && (!this.#data.length || typeof frame.type === "string")) return this.#event(frame);
    this.#data.push(value);
    return [];
  }

  /** The end of an event. @returns {Sent[]} */
  #whole() {
    const frame = this.#data.length > 1 ? object(this.#data.join("\n")) : null;
    if (frame) return this.#event(frame);
    this.#data = [];
    return [];
  }

  /** @param {any} frame @returns {Sent[]} */
  #event(frame) {
    const id = this.#id ?? (typeof frame.seq === "number" ? frame.seq : null);
    this.#id = null;
    this.#data = [];
    return [{ id, frame }];
  }
}

/** @param {string} text */
function object(text) {
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
