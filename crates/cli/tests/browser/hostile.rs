//! Words of others on our page: they are shown, and they do nothing.

use std::fs;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use testkit::browser::Browser;
use testkit::scenes::{call, calls, says, says_and_calls, scene, spawn_with};

use crate::answering::dialog;
use crate::site::{DIALOG, Site, ask, assert_quiet, open_all, say};

/// A server on this machine that must get no request.
struct Canary {
    port: u16,
    asked: Arc<AtomicUsize>,
}

impl Canary {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
        let port = listener.local_addr().expect("an address").port();
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        thread::spawn(move || listener.incoming().for_each(|_| _ = counted.fetch_add(1, Ordering::SeqCst)));
        Self { port, asked }
    }

    /// What would ask it, or run, if it were more than words.
    fn bait(&self) -> String {
        let at = format!("http://127.0.0.1:{}", self.port);
        [
            "<script>window.caught = 'script'</script>".to_owned(),
            format!("<img src=\"{at}/img\" onerror=\"window.caught = 'onerror'\">"),
            format!("<svg onload=\"window.caught = 'svg'\"><image href=\"{at}/svg\"/></svg>"),
            format!("<iframe src=\"{at}/frame\" srcdoc=\"<script>parent.caught = 'frame'</script>\"></iframe>"),
            format!("<style>@import url({at}/style); * {{ background: url({at}/back) }}</style>"),
            format!("<link rel=prefetch href=\"{at}/link\"><meta http-equiv=refresh content=\"0;url={at}/meta\">"),
            format!("![a picture]({at}/markdown.png) ![another][there]\n\n[there]: {at}/reference.png"),
            format!("[![inside]({at}/inside.png)](javascript:window.caught='inside')"),
            "[one](javascript:window.caught='one') [two](JaVa\tScRiPt:window.caught='two')".to_owned(),
            "[three](data:text/html,<script>parent.caught='three'</script>) <a href=\"javascript:window.caught='a'\">a</a>"
                .to_owned(),
            format!("| a | b |\n|---|---|\n| ![cell]({at}/cell.png) | <b onclick=\"caught=1\">b</b> |"),
            format!("```html\n<img src=\"{at}/fence\" onerror=\"window.caught = 'fence'\">\n```"),
        ]
        .join("\n\n")
    }
}

// T6
#[test]
fn hostile_words_of_agents_tools_and_files_are_only_words() {
    let (canary, browser) = (Canary::new(), Browser::start());
    let bait = canary.bait();
    let markup = format!("<img src='http://127.0.0.1:{}/name' onerror='window.caught=1'>", canary.port);
    // A name of a file cannot hold a slash.
    let file = "<img src=x onerror=window.caught=2>.txt";
    let scenes = [
        scene(
            "Look around",
            &[
                says_and_calls(&bait, &[spawn_with("Read everything", &format!(", name = {markup:?}"))]),
                calls(&[call(&markup, "path = \"x\"")]),
                says(&bait),
            ],
        ),
        scene(
            "Read everything",
            &[calls(&[call("list_dir", ""), call("read_file", "path = \"bait.md\"")]), says(&bait)],
        ),
    ];
    let site = Site::scripted(&scenes, &["--mode", "dangerous"]);
    fs::write(site.world.path(file), "x").expect("a file");
    fs::write(site.world.path("bait.md"), &bait).expect("a file");
    let page = site.enter(&browser);
    ask(&page, &format!("Look around {markup}"));
    open_all(&page);
    let shown = page.text("[role=log]");
    for words in ["<script>", "<iframe", file] {
        assert!(shown.contains(words), "{words} is shown as it is: {shown}");
    }
    let alive: Vec<String> = page.eval(
        "[...document.querySelectorAll('[role=log] :is(script, img, iframe, object, embed, style, link, meta, form, svg image)')].map((node) => node.outerHTML)",
    );
    assert_eq!(alive, [] as [&str; 0]);
    let handlers: Vec<String> = page.eval(
        "[...document.querySelectorAll('[role=log] *')].flatMap((node) => node.getAttributeNames().filter((name) => /^(on|style$)/.test(name)))",
    );
    assert_eq!(handlers, [] as [&str; 0]);
    let links: Vec<String> = page.eval("[...document.querySelectorAll('[role=log] a')].map((node) => node.protocol)");
    assert!(links.iter().all(|protocol| ["http:", "https:", "mailto:"].contains(&&**protocol)), "{links:?}");
    page.reload();
    page.wait_for_text("[role=log]", "<script>");
    assert!(page.eval::<bool>("window.caught === undefined"));
    assert_quiet(&site, &page);
    assert_eq!(canary.asked.load(Ordering::SeqCst), 0, "the canary was asked");
}

// T6, T24
#[test]
fn what_cannot_be_seen_is_shown_where_a_person_decides_about_it() {
    let hidden = "a\u{202e}b\u{200b}c\u{2066}d\u{e0100}e\u{7}f";
    // In a path such characters are refused before anybody is asked (T67); a content may hold them.
    let path = "notes<img src=x onerror=window.caught=1>.txt";
    let content = format!("{hidden} begin{}end \u{1b}]0;title\u{1b}\\ \u{feff}", " ".repeat(10_000));
    let write = call("write_file", &format!("path = {}, content = {}", toml(path), toml(&content)));
    let scenes = [scene("write", &[calls(&[write]), says("Done.")])];
    let (site, browser) = (Site::scripted(&scenes, &["--mode", "ask"]), Browser::start());
    let page = site.enter(&browser);
    say(&page, "write it");
    page.wait_for(DIALOG);
    let shown = dialog(&page);
    for point in ["U+202E", "U+200B", "U+2066", "U+E0100", "U+001B", "U+FEFF", "U+0007"] {
        assert!(shown.contains(point), "{point}: {shown}");
    }
    for sign in ['\u{202e}', '\u{200b}', '\u{2066}', '\u{e0100}', '\u{7}', '\u{1b}', '\u{feff}'] {
        assert!(!shown.contains(sign), "U+{:04X} is hidden in {shown}", u32::from(sign));
    }
    assert!(
        shown.contains("×10000") && !shown.contains(&" ".repeat(200)),
        "what follows many spaces is in sight: {shown}"
    );
    assert!(shown.contains("<img src=x"), "a name is only a name: {shown}");
    assert_eq!(page.count("img"), 0);
    assert!(page.eval::<bool>("window.caught === undefined"));
    assert_quiet(&site, &page);
}

/// A text as TOML writes it, whatever is in it.
fn toml(text: &str) -> String {
    let sign = |sign: char| match sign {
        '"' | '\\' => format!("\\{sign}"),
        sign if sign.is_control() || !sign.is_ascii() => format!("\\U{:08X}", u32::from(sign)),
        sign => sign.to_string(),
    };
    format!("\"{}\"", text.chars().map(sign).collect::<String>())
}
