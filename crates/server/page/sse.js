// @ts-check
// Reads a stream of server-sent events from pieces of text, however they are cut.
//
// Tolerant: lines may be indented, events need no empty line between them, and a line that is no JSON is passed over. An event is a
// complete `data:` line; the `id:` line before it is its number.

/** @typedef {{ id: number | null, frame: any }} Sent */

export class Reader {
  constructor() {
    this.rest = "";
    /** @type {number | null} */
    this.id = null;
  }

  /**
   * Takes the next piece in and gives the events that are complete with it.
   * @param {string} piece
   * @returns {Sent[]}
   */
  push(piece) {
    const lines = (this.rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line));
  }

  /** The end: what is left is a line too. @returns {Sent[]} */
  end() {
    const last = this.rest;
    this.rest = "";
    return this.#line(last);
  }

  /** @param {string} line @returns {Sent[]} */
  #line(line) {
    const text = line.trim();
    if (text.startsWith("id:")) {
      const id = Number(text.slice(3).trim());
      this.id = Number.isFinite(id) ? id : null;
      return [];
    }
    if (!text.startsWith("data:")) return [];
    try {
      const frame = JSON.parse(text.slice(5));
      if (frame === null || typeof frame !== "object") return [];
      const id = this.id ?? (typeof frame.seq === "number" ? frame.seq : null);
      this.id = null;
      return [{ id, frame }];
    } catch {
      return [];
    }
  }
}
