// @ts-check
// Markdown as nodes of the document. Everything is text until it is known to be a mark: no HTML is read, no picture is fetched, and
// a link leads only where its address says.

const BLOCK = /^(#{1,6})\s+(.*)$/;
const ITEM = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/;

/** @param {string} source @returns {DocumentFragment} */
export function markdown(source) {
  const out = document.createDocumentFragment();
  const lines = source.replaceAll("\r\n", "\n").split("\n");
  /** @type {string[]} */
  let paragraph = [];
  const flush = () => {
    if (paragraph.length) out.append(element("p", inline(paragraph.join("\n"))));
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    const fence = /^\s*(`{3,}|~{3,})/.exec(line);
    if (fence) {
      flush();
      const body = [];
      for (at += 1; at < lines.length && !lines[at].trim().startsWith(fence[1]); at += 1) body.push(lines[at]);
      out.append(element("pre", [element("code", [body.join("\n")])]));
    } else if (BLOCK.test(line)) {
      flush();
      const [, marks, words] = /** @type {RegExpExecArray} */ (BLOCK.exec(line));
      out.append(element(`h${Math.min(6, marks.length + 2)}`, inline(words)));
    } else if (ITEM.test(line)) {
      flush();
      const ordered = /\d/.test(/** @type {RegExpExecArray} */ (ITEM.exec(line))[2]);
      const list = element(ordered ? "ol" : "ul", []);
      for (; at < lines.length && (ITEM.test(lines[at]) || /^\s+\S/.test(lines[at])); at += 1) {
        const item = ITEM.exec(lines[at]);
        if (item) list.append(element("li", inline(item[3])));
        else list.lastElementChild?.append("\n", ...inline(lines[at].trim()));
      }
      at -= 1;
      out.append(list);
    } else if (/^\s*>/.test(line)) {
      flush();
      const body = [];
      for (; at < lines.length && /^\s*>/.test(lines[at]); at += 1) body.push(lines[at].replace(/^\s*>\s?/, ""));
      at -= 1;
      out.append(element("blockquote", [markdown(body.join("\n"))]));
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      flush();
      out.append(element("hr", []));
    } else if (line.trim() === "") flush();
    else paragraph.push(line);
  }
  flush();
  return out;
}

/** @param {string} text @returns {(Node | string)[]} */
function inline(text) {
  const mark = /(`+)([\s\S]+?)\1|\*\*([^*]+)\*\*|__([^_]+)__|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)|(https?:\/\/[^\s<>()"']+)/;
  /** @type {(Node | string)[]} */
  const out = [];
  for (let rest = text; rest; ) {
    const found = mark.exec(rest);
    if (!found) {
      out.push(rest);
      break;
    }
    if (found.index) out.push(rest.slice(0, found.index));
    const [whole, , code, strong, strong2, weak, label, address, bare] = found;
    if (code !== undefined) out.push(element("code", [code]));
    else if (strong ?? strong2) out.push(element("strong", inline(strong ?? strong2)));
    else if (weak) out.push(element("em", inline(weak)));
    else out.push(link(label ?? bare, address ?? bare, whole));
    rest = rest.slice(found.index + whole.length);
  }
  return out;
}

/** @param {string} label @param {string} address @param {string} whole */
function link(label, address, whole) {
  if (!/^(https?:\/\/|mailto:)/i.test(address)) return whole;
  const node = /** @type {HTMLAnchorElement} */ (element("a", [label]));
  node.href = address;
  node.rel = "noopener noreferrer";
  node.target = "_blank";
  // Where it leads is seen before it is followed.
  node.title = address;
  return node;
}

/** @param {string} name @param {(Node | string)[]} content */
function element(name, content) {
  const node = document.createElement(name);
  node.append(...content);
  return node;
}
