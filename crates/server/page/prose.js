// @ts-check
// Markdown as a small tree of allowed things: everything is text until it is known to be a mark. No HTML is read, no
// picture is fetched, and a link leads only where its address says (`address.js`). The work grows with the text and
// with nothing else, whatever the text is. Drawing it is `markdown.js`; marks within a line are `inline.js`.

import { inline } from "./inline.js";

/**
 * @typedef {import("./inline.js").Inline} Inline
 * @typedef {{ type: "heading", level: number, content: Inline[] }
 *   | { type: "paragraph", content: Inline[] }
 *   | { type: "code", language: string, text: string }
 *   | { type: "quote", content: Block[] }
 *   | { type: "list", start: number | null, items: Block[][] }
 *   | { type: "table", align: ("left" | "center" | "right" | null)[], head: Inline[][], rows: Inline[][][] }
 *   | { type: "rule" }} Block `start` is the first number of a list that has numbers.
 */

/** Lists and quotes within each other are read so deep; what is deeper stays as it is written. */
const DEEPEST = 12;

// Each of these reads a line once: whatever a repeated part has taken, what follows it cannot fail for want of it.
const FENCE = /^( *)(`{3,}(?!`)|~{3,}(?!~))([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?: +([^]*))?$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(?:( +)([^]*))?$/;

/** @param {string} source @returns {Block[]} */
export function prose(source) {
  return blocks(source.replaceAll("\t", "    ").split(/\r\n|\n|\r/), 0);
}

/** @param {string[]} lines @param {number} deep @returns {Block[]} */
function blocks(lines, deep) {
  /** @type {Block[]} */
  const out = [];
  /** @type {string[]} */
  let paragraph = [];
  const flush = () => {
    const words = paragraph
      .map((line) => line.trimStart())
      .join("\n")
      .trimEnd();
    if (words) out.push({ type: "paragraph", content: inline(words) });
    paragraph = [];
  };
  for (let at = 0; at < lines.length;) {
    const [block, next] = lines[at].trim() === "" ? [null, at + 1] : begun(lines, at, deep, paragraph.length > 0);
    if (next > at) flush();
    else paragraph.push(lines[at]);
    if (block) out.push(block);
    at = Math.max(next, at + 1);
  }
  flush();
  return out;
}

/**
 * The block that begins at a line, and the line after it; the same line where it is part of a paragraph.
 * @param {string[]} lines
 * @param {number} at
 * @param {number} deep
 * @param {boolean} interrupts Whether a paragraph stands before it.
 * @returns {[Block | null, number]}
 */
function begun(lines, at, deep, interrupts) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) return code(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading) {
    const [, marks, words = ""] = heading;
    return [{ type: "heading", level: marks.length, content: inline(unhashed(words)) }, at + 1];
  }
  if (isRule(line)) return [{ type: "rule" }, at + 1];
  if (deep < DEEPEST && line.trimStart().startsWith(">")) return quote(lines, at, deep);
  const item = deep < DEEPEST ? ITEM.exec(line) : null;
  // A paragraph may go on with a number and a dot; a list that cuts it short begins with one.
  const isProse = item && interrupts && (!item[4] || (/^\d/.test(item[2]) && Number.parseInt(item[2], 10) !== 1));
  if (item && !isProse) return list(lines, at, deep);
  return table(lines, at) ?? [null, at];
}

/** @param {string[]} lines @param {number} at @param {RegExpExecArray} fence @returns {[Block, number]} */
function code(lines, at, [, indent, marks, language]) {
  const body = [];
  let next = at + 1;
  for (; next < lines.length && !isClosing(lines[next], marks); next += 1) {
    const own = lines[next].search(/[^ ]|$/);
    body.push(lines[next].slice(Math.min(own, indent.length)));
  }
  // A block that is still being written has no end yet.
  return [{ type: "code", language: language.trim().split(" ", 1)[0].slice(0, 40), text: body.join("\n") }, next + 1];
}

/** @param {string} line @param {string} marks */
function isClosing(line, marks) {
  const text = line.trim();
  return text.length >= marks.length && text === marks[0].repeat(text.length);
}

/** @param {string[]} lines @param {number} at @param {number} deep @returns {[Block, number]} */
function quote(lines, at, deep) {
  const body = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const text = lines[next].trimStart();
    if (!text.startsWith(">")) break;
    body.push(text.slice(text[1] === " " ? 2 : 1));
  }
  return [{ type: "quote", content: blocks(body, deep + 1) }, next];
}

/** @param {string[]} lines @param {number} at @param {number} deep @returns {[Block, number]} */
function list(lines, at, deep) {
  const [, base, mark] = /** @type {RegExpExecArray} */ (ITEM.exec(lines[at]));
  const isOrdered = /\d/.test(mark);
  /** @type {Block[][]} */
  const items = [];
  let next = at;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next]);
    if (!item || isRule(lines[next]) || /\d/.test(item[2]) !== isOrdered || item[1].length < base.length) break;
    const [, indent, own, blank = " ", words = ""] = item;
    const inside = indent.length + own.length + Math.min(blank.length, 4);
    const body = [ticked(" ".repeat(Math.max(0, blank.length - 4)) + words)];
    next = gather(lines, next + 1, { inside, base: base.length }, body);
    items.push(blocks(body, deep + 1));
  }
  return [{ type: "list", start: isOrdered ? Number.parseInt(mark, 10) : null, items }, next];
}

/**
 * Takes the lines of an item and says where the next one begins.
 * @param {string[]} lines
 * @param {number} from
 * @param {{ inside: number, base: number }} indent
 * @param {string[]} body
 */
function gather(lines, from, { inside, base }, body) {
  let next = from;
  for (let blank = 0; next + blank < lines.length;) {
    const line = lines[next + blank];
    const own = line.search(/[^ ]|$/);
    if (own === line.length) {
      blank += 1;
      continue;
    }
    const isItem = ITEM.test(line) && !isRule(line);
    // Lists are indented by two as often as by the width of their marks.
    const isWithin = own >= inside || (isItem && own >= base + 2);
    // A line that only goes on needs no indent, as long as nothing stands between.
    const isBlock = isItem || FENCE.test(line) || HEADING.test(line) || isRule(line) || line[own] === ">";
    const goesOn = blank === 0 && !isBlock;
    if (!isWithin && !goesOn) break;
    for (; blank > 0; blank -= 1, next += 1) body.push("");
    body.push(line.slice(Math.min(own, inside)));
    next += 1;
  }
  // Blank lines between two items belong to neither.
  let after = next;
  while (after < lines.length && lines[after].trim() === "") after += 1;
  return after < lines.length && ITEM.test(lines[after]) ? after : next;
}

/** @param {string[]} lines @param {number} at @returns {[Block, number] | null} */
function table(lines, at) {
  if (!lines[at].includes("|") || !lines[at + 1]?.includes("-")) return null;
  const under = cells(lines[at + 1]);
  const head = cells(lines[at]);
  if (head.length !== under.length || !under.every((cell) => /^:?-+:?$/.test(cell))) return null;
  const align = under.map((cell) => {
    if (cell.endsWith(":")) return cell.startsWith(":") ? "center" : "right";
    return cell.startsWith(":") ? "left" : null;
  });
  const rows = [];
  let next = at + 2;
  // Rows are not filled up: a wide head above many short rows would be more than was written.
  for (; next < lines.length && lines[next].includes("|"); next += 1) {
    rows.push(cells(lines[next]).slice(0, head.length).map(inline));
  }
  return [{ type: "table", align, head: head.map(inline), rows }, next];
}

/** @param {string} line @returns {string[]} */
function cells(line) {
  const out = [];
  let [cell, isCode] = ["", false];
  const text = line.trim();
  for (let at = text.startsWith("|") ? 1 : 0; at < text.length; at += 1) {
    if (text[at] === "`") isCode = !isCode && text.indexOf("`", at + 1) > 0;
    if (text[at] === "\\" && text[at + 1] === "|") cell += text[(at += 1)];
    else if (text[at] === "|" && !isCode) {
      out.push(cell.trim());
      cell = "";
    } else cell += text[at];
  }
  return cell.trim() || !text.endsWith("|") ? [...out, cell.trim()] : out;
}

/** @param {string} line */
function isRule(line) {
  const text = line.replaceAll(" ", "");
  return text.length >= 3 && "-*_".includes(text[0]) && text === text[0].repeat(text.length);
}

/** A heading without the marks that may close it. @param {string} text */
function unhashed(text) {
  let end = text.trimEnd().length;
  const whole = end;
  while (text[end - 1] === "#") end -= 1;
  return end === 0 || text[end - 1] === " " ? text.slice(0, end).trim() : text.slice(0, whole);
}

/** Boxes of a list of things to do. @param {string} text */
const ticked = (text) => text.replace(/^\[([ xX])\] /, (_, mark) => (mark === " " ? "☐ " : "☑ "));
