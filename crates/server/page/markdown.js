// @ts-check
// Draws Markdown as nodes of the document: only these, only with these attributes, and text only as text.
//
// A block of code is a `.code` with its language and a button `[data-copy]`; what it does is left to the listener of the
// click.

import { prose } from "./prose.js";

/** @typedef {import("./prose.js").Block} Block */
/** @typedef {import("./inline.js").Inline} Inline */

/** @param {string} source @returns {DocumentFragment} */
export function markdown(source) {
  const out = document.createDocumentFragment();
  out.append(...prose(source).map(block));
  return out;
}

/** @param {Block} one @returns {Node} */
function block(one) {
  switch (one.type) {
    case "heading":
      // The page has headings of its own above these.
      return element(`h${Math.min(6, one.level + 2)}`, words(one.content));
    case "paragraph":
      return element("p", words(one.content));
    case "code":
      return code(one.language, one.text);
    case "quote":
      return element("blockquote", one.content.map(block));
    case "list": {
      const list = element(one.start === null ? "ul" : "ol", one.items.map(item));
      if (one.start !== null && one.start !== 1) list.setAttribute("start", String(one.start));
      return list;
    }
    case "table":
      return table(one.align, one.head, one.rows);
    case "rule":
      return element("hr", []);
  }
}

/** @param {Inline[]} content @returns {(Node | string)[]} */
function words(content) {
  return content.map((one) => {
    if (typeof one === "string") return one;
    switch (one.type) {
      case "code":
        return element("code", [one.text]);
      case "strong":
      case "em":
        return element(one.type, words(one.content));
      case "strike":
        return element("s", words(one.content));
      case "image":
        return element("span", [one.text || "image"], "image");
      case "break":
        return element("br", []);
      case "link":
        return link(one);
    }
  });
}

/** @param {Extract<Inline, { type: "link" }>} one */
function link({ href, whose, content }) {
  const node = /** @type {HTMLAnchorElement} */ (element("a", words(content)));
  node.href = href;
  node.rel = "noopener noreferrer";
  node.target = "_blank";
  // Where it leads is seen before it is followed.
  node.title = href;
  if (whose !== null) node.append(element("span", [` (leads to ${whose})`], "leads-to"));
  return node;
}

/** A short item is a line, not a paragraph. @param {Block[]} content */
function item(content) {
  const [first, ...rest] = content;
  if (first?.type !== "paragraph") return element("li", content.map(block));
  return element("li", [...words(first.content), ...rest.map(block)]);
}

/** @param {string} language @param {string} text */
function code(language, text) {
  const copy = element("button", ["Copy"], "copy");
  copy.setAttribute("type", "button");
  copy.dataset.copy = "";
  const head = element("div", [element("span", [language], "language"), copy], "code-head");
  const body = element("pre", [element("code", [text])]);
  body.tabIndex = 0;
  return element("div", [head, body], "code");
}

/** @param {(string | null)[]} align @param {Inline[][]} head @param {Inline[][][]} rows */
function table(align, head, rows) {
  const row = (/** @type {string} */ kind, /** @type {Inline[][]} */ content) => {
    const cells = content.map((cell, at) => element(kind, words(cell), align[at] ? `is-${align[at]}` : ""));
    return element("tr", cells);
  };
  const body = rows.map((cells) => row("td", cells));
  const node = element("table", [element("thead", [row("th", head)]), element("tbody", body)]);
  // What is too wide is reached by keys, too.
  const scroll = element("div", [node], "scroll");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", "Table");
  return scroll;
}

/** @param {string} name @param {(Node | string)[]} content @param {string} [look] */
function element(name, content, look = "") {
  const node = document.createElement(name);
  if (look) node.className = look;
  node.append(...content);
  return node;
}
