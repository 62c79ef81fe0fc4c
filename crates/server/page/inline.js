// @ts-check
// Marks within a paragraph: code, strong and emphasised words, links. One way through the text, from left to right;
// a mark that finds no partner is the characters it is made of. No HTML is read, no entity is put in another's
// place.

import { address, lies } from "./address.js";

/**
 * @typedef {string
 *   | { type: "code", text: string }
 *   | { type: "strong" | "em" | "strike", content: Inline[], deep: number }
 *   | { type: "link", href: string, whose: string | null, content: Inline[], deep: number }
 *   | { type: "image", text: string, deep: number }
 *   | { type: "break" }} Inline `whose` is set where the text of a link names another address. `deep` is the height of
 *   what is inside.
 * @typedef {{ mark: string, length: number, at: number }} Opener A mark that waits for its partner; `at` is its place
 *   in what came out.
 */

/** Marks within marks are read so deep; what is deeper stays as it is written. */
const DEEPEST = 12;

const PUNCTUATION = /[!-/:-@[-`{-~]/;
/** Everything that can be a mark; what lies between is text. */
const MARK = /[\\`*_~![\]<\n]|https?:\/\//gi;

/** @param {string} text @returns {Inline[]} */
export function inline(text) {
  return new Line(text).read();
}

class Line {
  /** @type {Inline[]} */
  #out = [];
  /** @type {Record<string, Opener[]>} */
  #open = { "*": [], _: [], "~": [], "[": [] };
  /** Where runs of backticks begin, by their length, the last of them first. @type {Map<number, number[]>} */
  #ticks = new Map();

  /** @param {string} text */
  constructor(text) {
    this.text = text;
    for (const run of text.matchAll(/`+/g)) {
      const known = this.#ticks.get(run[0].length);
      if (known) known.push(run.index);
      else this.#ticks.set(run[0].length, [run.index]);
    }
    for (const places of this.#ticks.values()) places.reverse();
  }

  read() {
    let at = 0;
    const next = new RegExp(MARK);
    while (at < this.text.length) {
      next.lastIndex = at;
      const found = next.exec(this.text);
      const from = found?.index ?? this.text.length;
      if (from > at) this.#out.push(this.text.slice(at, from));
      if (!found) break;
      at = this.#mark(found[0][0], from);
    }
    return joined(this.#out);
  }

  /** Reads the mark at a place and says where to go on. @param {string} mark @param {number} at @returns {number} */
  #mark(mark, at) {
    switch (mark) {
      case "\\":
        return this.#escaped(at);
      case "`":
        return this.#code(at);
      case "*":
      case "_":
      case "~":
        return this.#run(mark, at);
      case "\n":
        return this.#end(at);
      case "!":
        if (this.text[at + 1] !== "[") return this.#literal(at, 1);
        this.#opens("[", 2, "![");
        return at + 2;
      case "[":
        this.#opens("[", 1, "[");
        return at + 1;
      case "]":
        return this.#closed(at);
      case "<":
        return this.#between(at);
      default:
        return this.#bare(at);
    }
  }

  /** @param {number} at @param {number} length */
  #literal(at, length) {
    this.#out.push(this.text.slice(at, at + length));
    return at + length;
  }

  /** @param {number} at */
  #escaped(at) {
    const next = this.text[at + 1] ?? "";
    if (next === "\n") this.#out.push({ type: "break" });
    else if (PUNCTUATION.test(next)) this.#out.push(next);
    else return this.#literal(at, 1);
    return at + 2;
  }

  /** @param {number} at */
  #end(at) {
    const before = this.#out[this.#out.length - 1];
    if (typeof before === "string" && before.endsWith("  ")) {
      this.#out[this.#out.length - 1] = before.trimEnd();
      this.#out.push({ type: "break" });
    } else this.#out.push("\n");
    return at + 1;
  }

  /** @param {number} at */
  #code(at) {
    const length = runs(this.text, at);
    const places = this.#ticks.get(length) ?? [];
    while (places.length && places[places.length - 1] <= at) places.pop();
    const end = places.pop();
    if (end === undefined) return this.#literal(at, length);
    const inside = this.text.slice(at + length, end).replaceAll("\n", " ");
    const isPadded = inside.startsWith(" ") && inside.endsWith(" ") && inside.trim() !== "";
    this.#out.push({ type: "code", text: isPadded ? inside.slice(1, -1) : inside });
    return end + length;
  }

  /** @param {string} mark @param {number} at */
  #run(mark, at) {
    let length = runs(this.text, at);
    const end = at + length;
    const [before, after] = [this.text[at - 1] ?? " ", this.text[end] ?? " "];
    const isWord = (/** @type {string} */ one) => !/\s/.test(one) && !PUNCTUATION.test(one);
    const left = !/\s/.test(after) && (isWord(after) || !isWord(before));
    const right = !/\s/.test(before) && (isWord(before) || !isWord(after));
    // Within a word an underscore is a letter, and a lone tilde always is.
    const opens = left && !(mark === "_" && isWord(before)) && !(mark === "~" && length !== 2);
    const closes = right && !(mark === "_" && isWord(after)) && !(mark === "~" && length !== 2);
    for (let opener = this.#last(mark); closes && length && opener; opener = this.#last(mark)) {
      const used = Math.min(2, length, opener.length);
      if (!this.#wrap(opener, used, mark === "~" ? "strike" : used === 2 ? "strong" : "em")) break;
      length -= used;
    }
    if (length && opens) this.#opens(mark, length, mark.repeat(length));
    else if (length) this.#out.push(mark.repeat(length));
    return end;
  }

  /** @param {Opener} opener @param {number} used @param {"strong" | "em" | "strike"} type */
  #wrap(opener, used, type) {
    const content = this.#out.slice(opener.at + 1);
    if (!content.length) return false;
    const deep = height(content) + 1;
    // Marks that are nested deeper are plain text: nothing that is still open is one, and nothing is looked at twice.
    this.#forget(deep > DEEPEST ? 0 : opener.at);
    if (deep > DEEPEST) return false;
    this.#out.length = opener.at;
    opener.length -= used;
    if (opener.length) this.#opens(opener.mark, opener.length, opener.mark.repeat(opener.length));
    this.#out.push({ type, content: joined(content), deep });
    return true;
  }

  /** A closing bracket: the end of a link, of an image, or of nothing. @param {number} at */
  #closed(at) {
    const opener = this.#open["["].pop();
    const target = opener && this.text[at + 1] === "(" ? destination(this.text, at + 2) : null;
    const isImage = opener?.length === 2;
    const where = target && !isImage ? address(target.text) : null;
    // What leads nowhere is shown as it is written, address and all.
    if (!opener || !target || (!where && !isImage)) return this.#literal(at, target ? target.end - at : 1);
    const content = joined(this.#out.slice(opener.at + 1));
    const deep = height(content) + 1;
    if (deep > DEEPEST || !content.length) {
      this.#forget(0);
      return this.#literal(at, target.end - at);
    }
    this.#forget(opener.at);
    this.#out.length = opener.at;
    if (!where) this.#out.push({ type: "image", text: plainly(content), deep });
    else {
      // A link within a link is none: the one inside is the one.
      this.#open["["] = [];
      this.#link(where, content.flatMap(unlinked), deep);
    }
    return target.end;
  }

  /** `<https://example.org>` @param {number} at */
  #between(at) {
    const found = matched(/<([^\s<>]{1,2000})>/y, this.text, at);
    const where = found && address(found[1]);
    if (!found || !where) return this.#literal(at, 1);
    this.#link(where, [found[1]], 1);
    return at + found[0].length;
  }

  /** An address that stands in the text. @param {number} at */
  #bare(at) {
    const text = trimmed(matched(/[^\s<>"'`\\^{|}[\]]{1,2000}/y, this.text, at)?.[0] ?? "");
    const where = /[a-z0-9]/i.test(this.text[at - 1] ?? " ") ? null : address(text);
    if (!where) return this.#literal(at, Math.max(text.length, 1));
    this.#link(where, [text], 1);
    return at + text.length;
  }

  /** @param {import("./address.js").Address} where @param {Inline[]} content @param {number} deep */
  #link(where, content, deep) {
    const whose = lies(plainly(content), where) ? where.whose : null;
    this.#out.push({ type: "link", href: where.href, whose, content, deep });
  }

  /** @param {string} mark @param {number} length @param {string} written */
  #opens(mark, length, written) {
    this.#open[mark].push({ mark, length, at: this.#out.length });
    this.#out.push(written);
  }

  /** @param {string} mark @returns {Opener | undefined} */
  #last(mark) {
    return this.#open[mark][this.#open[mark].length - 1];
  }

  /** Marks that opened at a place or behind it have found no partner. @param {number} at */
  #forget(at) {
    for (const all of Object.values(this.#open)) while (all.length && all[all.length - 1].at >= at) all.pop();
  }
}

/** The words, without their marks. @param {Inline[]} content @returns {string} */
export function plainly(content) {
  const words = content.map((one) => {
    if (typeof one === "string") return one;
    return "text" in one ? one.text : "content" in one ? plainly(one.content) : " ";
  });
  return words.join("");
}

/** How many of the same character stand in a row. @param {string} text @param {number} at */
function runs(text, at) {
  let end = at + 1;
  while (text[end] === text[at]) end += 1;
  return end - at;
}

/** @param {RegExp} sticky @param {string} text @param {number} at */
function matched(sticky, text, at) {
  sticky.lastIndex = at;
  return sticky.exec(text);
}

/** An address in a sentence, without the sentence's own marks at its end. @param {string} text */
function trimmed(text) {
  let unmatched = 0;
  for (const one of text) unmatched += one === ")" ? 1 : one === "(" ? -1 : 0;
  let end = text.length;
  for (; end > 0; end -= 1) {
    const last = text[end - 1];
    if (last === ")" ? unmatched-- <= 0 : !".,;:!?*_~".includes(last)) break;
  }
  return text.slice(0, end);
}

/** What a link is made of, where it may not be one. @param {Inline} one @returns {Inline[]} */
function unlinked(one) {
  if (typeof one === "string" || !("content" in one)) return [one];
  const content = one.content.flatMap(unlinked);
  return one.type === "link" ? content : [{ ...one, content }];
}

/**
 * The address of a link, up to its closing bracket.
 * @param {string} text
 * @param {number} from
 * @returns {{ text: string, end: number } | null}
 */
function destination(text, from) {
  let open = 0;
  for (let at = from; at < text.length && at - from < 2100; at += 1) {
    const one = text[at];
    if (one === "\n" || (open += one === "(" ? 1 : 0) > 8) return null;
    if (one === ")" && open-- === 0) {
      const inside = text.slice(from, at).trim();
      const [, where = ""] = /^<?([^\s<>]*)>?(?:\s+"[^"]*"|\s+'[^']*')?$/.exec(inside) ?? [];
      return { text: where, end: at + 1 };
    }
  }
  return null;
}

/** @param {Inline[]} content */
function height(content) {
  return content.reduce((most, one) => Math.max(most, typeof one !== "string" && "deep" in one ? one.deep : 0), 0);
}

/** Neighbouring texts as one. @param {Inline[]} content @returns {Inline[]} */
function joined(content) {
  /** @type {Inline[]} */
  const out = [];
  /** @type {string[]} */
  let words = [];
  for (const one of content) {
    if (typeof one === "string") words.push(one);
    else {
      if (words.length) out.push(words.join(""));
      words = [];
      out.push(one);
    }
  }
  if (words.length) out.push(words.join(""));
  return out;
}
