//! The words by which a page is asked about itself. What cannot be seen is not there.

use serde_json::json;

/// The elements of a selector that can be seen.
pub(super) fn seen(selector: &str) -> String {
    let selector = json!(selector);
    format!(
        r#"[...document.querySelectorAll({selector})].filter((node) => {{
            const box = node.getBoundingClientRect();
            return box.width > 0 && box.height > 0 && node.checkVisibility({{ visibilityProperty: true }});
        }})"#
    )
}

/// Where an element can be hit by a pointer: once it stands still and nothing lies over it. Else a word on what is in the way.
/// From then on the page notes whether the next click hits it ([`MISSED`]).
pub(super) fn target(selector: &str) -> String {
    let seen = seen(selector);
    format!(
        r#"(async () => {{
            const [node] = {seen};
            if (!node) return {{ why: "it is not there" }};
            if (node.matches(":disabled")) return {{ why: "it is disabled" }};
            node.scrollIntoView({{ block: "center", inline: "nearest", behavior: "instant" }});
            const place = () => {{ const box = node.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; }};
            const frame = () => new Promise((done) => requestAnimationFrame(done));
            await frame();
            const before = place();
            await frame();
            const [x, y] = place();
            if (before[0] !== x || before[1] !== y) return {{ why: "it moves" }};
            const hit = document.elementFromPoint(x, y);
            if (!hit || !(node.contains(hit) || hit.contains(node) && hit.matches("label"))) return {{ why: `${{hit?.outerHTML.slice(0, 200)}} lies over it` }};
            window.aimedAt = {{ isHit: false }};
            const note = (event) => {{ window.aimedAt.isHit = node.contains(event.target) || event.target.matches("label") && event.target.contains(node); }};
            document.addEventListener("click", note, {{ capture: true, once: true }});
            return {{ x, y }};
        }})()"#
    )
}

/// Whether a click went past what was aimed at, which a page can do that moves in the last moment. One that has led to another
/// page has hit.
pub(super) const MISSED: &str = "window.aimedAt?.isHit === false";

/// What a person reads in an element, were all of it on the screen: the browser's own answer leaves out what it has put off
/// drawing. A line ends where a block does.
pub(super) fn reading(node: &str) -> String {
    format!(
        r#"((root) => {{
            const block = (node) => {{ while (getComputedStyle(node).display.startsWith("inline")) node = node.parentElement; return node; }};
            const [texts, lines] = [document.createTreeWalker(root, NodeFilter.SHOW_TEXT), []];
            let last = null;
            for (let text = texts.nextNode(); text; text = texts.nextNode()) {{
                const holder = text.parentElement;
                if (!text.data.trim() && text.data.includes("\n") || !holder.checkVisibility({{ visibilityProperty: true }})) continue;
                const here = block(holder);
                if (here === last) lines.push(lines.pop() + text.data);
                else lines.push(text.data);
                last = here;
            }}
            return lines.join("\n");
        }})({node})"#
    )
}

/// What a person would read, for a test that fails.
pub(super) fn everything() -> String {
    format!("`${{location.href}}\n${{{}}}`", reading("document.body"))
}
