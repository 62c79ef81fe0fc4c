//! Words as a tree of allowed things: what good Markdown becomes, and what hostile text does not.

use serde_json::{Value, json};

use crate::engine::Engine;

fn tree(source: &str) -> Value {
    bare(Engine::new().call("tree", &[source]).parse().expect("a tree is JSON"))
}

/// A tree without the heights that it was built by.
fn bare(value: Value) -> Value {
    match value {
        Value::Array(all) => all.into_iter().map(bare).collect(),
        Value::Object(fields) => {
            fields.into_iter().filter(|(key, _)| key != "deep").map(|(key, value)| (key, bare(value))).collect()
        }
        other => other,
    }
}

/// What the only paragraph of a text holds.
fn words(source: &str) -> Value {
    let tree = tree(source);
    assert_eq!((tree.as_array().map(Vec::len), &tree[0]["type"]), (Some(1), &json!("paragraph")), "{source}: {tree}");
    tree[0]["content"].clone()
}

/// Every link of a tree.
fn links(value: &Value) -> Vec<(String, Option<String>)> {
    let inside = match value {
        Value::Array(all) => all.iter().flat_map(links).collect(),
        Value::Object(fields) => fields.values().flat_map(links).collect(),
        _ => Vec::new(),
    };
    let word = |key: &str| value[key].as_str().map(str::to_owned);
    let own = (value["type"] == "link").then(|| (word("href").unwrap_or_default(), word("whose")));
    own.into_iter().chain(inside).collect()
}

fn height(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(height).max().unwrap_or(0),
        Value::Object(fields) => fields.values().map(height).max().unwrap_or(0),
        _ => 0,
    }
}

fn strong(words: &str) -> Value {
    json!({"type": "strong", "content": [words]})
}

#[test]
fn headings_rules_and_paragraphs() {
    assert_eq!(
        tree("# One #\n## Two\nWords\nof two lines  \nand a third.\n\n***\nC#"),
        json!([
            {"type": "heading", "level": 1, "content": ["One"]},
            {"type": "heading", "level": 2, "content": ["Two"]},
            {"type": "paragraph", "content": ["Words\nof two lines", {"type": "break"}, "and a third."]},
            {"type": "rule"},
            {"type": "paragraph", "content": ["C#"]},
        ])
    );
}

#[test]
fn strong_emphasised_and_struck_words() {
    let em = |content: Value| json!({"type": "em", "content": content});
    assert_eq!(
        words("**a** __b__ *c* _d_"),
        json!([strong("a"), " ", strong("b"), " ", em(json!(["c"])), " ", em(json!(["d"]))])
    );
    assert_eq!(words("***a***"), json!([em(json!([strong("a")]))]));
    assert_eq!(words("~~a~~"), json!([{"type": "strike", "content": ["a"]}]));
    assert_eq!(
        words("snake_case_name, 2 * 3 * 4, a ** b, \\*a\\*"),
        json!(["snake_case_name, 2 * 3 * 4, a ** b, *a*"])
    );
}

#[test]
fn code_in_a_line_is_taken_as_it_is() {
    let code = |text: &str| json!({"type": "code", "text": text});
    assert_eq!(words("`a **b**` and `` c`d ``"), json!([code("a **b**"), " and ", code("c`d")]));
    assert_eq!(words("one ` only"), json!(["one ` only"]));
}

#[test]
fn code_of_several_lines_has_a_language_and_may_not_have_ended() {
    let code = |language: &str, text: &str| json!([{"type": "code", "language": language, "text": text}]);
    assert_eq!(tree("```rust,ignore\nlet a = **1**;\n\n    b\n```"), code("rust,ignore", "let a = **1**;\n\n    b"));
    assert_eq!(tree("~~~\n```\n~~~"), code("", "```"));
    assert_eq!(tree("````md\n```\nx\n```\n````"), code("md", "```\nx\n```"));
    assert_eq!(tree("```js\nfor (;;"), code("js", "for (;;"));
}

#[test]
fn lists_nest_by_two_by_three_and_by_four() {
    let item = |words: &str| json!({"type": "paragraph", "content": [words]});
    for indent in ["  ", "   ", "    "] {
        let inner = json!({"type": "list", "start": null, "items": [[item("b")], [item("c")]]});
        let expected = json!([{"type": "list", "start": 3, "items": [[item("a"), inner], [item("d")]]}]);
        assert_eq!(tree(&format!("3. a\n{indent}- b\n{indent}- c\n4. d")), expected, "{} blanks", indent.len());
    }
    assert_eq!(
        tree("- a\n\n  more\n- [ ] b\n- [x] c\nend of c"),
        json!([{
            "type": "list", "start": null,
            "items": [[item("a"), item("more")], [item("☐ b")], [item("☑ c\nend of c")]],
        }])
    );
}

#[test]
fn quotes_hold_whatever_a_text_holds() {
    let said = json!({"type": "paragraph", "content": ["said"]});
    let list = json!({"type": "list", "start": null, "items": [[{"type": "paragraph", "content": ["a"]}]]});
    assert_eq!(
        tree("> said\n>\n> - a\n> > said"),
        json!([{"type": "quote", "content": [said, list, {"type": "quote", "content": [said]}]}])
    );
}

#[test]
fn tables_have_heads_sides_and_cells_with_marks() {
    assert_eq!(
        tree("| a | b |\n|:--|--:|\n| `x|y` | **2** | 3 |\n| \\| |\n"),
        json!([{
            "type": "table", "align": ["left", "right"], "head": [["a"], ["b"]],
            "rows": [[[{"type": "code", "text": "x|y"}], [strong("2")]], [["|"]]],
        }])
    );
    assert_eq!(words("a | b\nno table"), json!(["a | b\nno table"]));
}

#[test]
fn links_lead_where_they_say() {
    let link = |href: &str, words: &str| json!({"type": "link", "href": href, "whose": null, "content": [words]});
    assert_eq!(
        words("[docs](https://docs.example/a_(b) \"title\")"),
        json!([link("https://docs.example/a_(b)", "docs")])
    );
    assert_eq!(
        words("see https://a.example/x?y=1, or (http://b.example)."),
        json!([
            "see ",
            link("https://a.example/x?y=1", "https://a.example/x?y=1"),
            ", or (",
            link("http://b.example", "http://b.example"),
            ")."
        ])
    );
    assert_eq!(words("<mailto:a@b.example>"), json!([link("mailto:a@b.example", "mailto:a@b.example")]));
}

// THREATS T6
#[test]
fn only_http_https_and_mail_can_be_followed_whatever_tricks_are_played() {
    let hostile = [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "javascript&#58;alert(1)",
        "java\tscript:alert(1)",
        "&#x6A;avascript:alert(1)",
        "\u{1}javascript:alert(1)",
        " javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "data:image/svg+xml;base64,PHN2Zz4=",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:https://a.example/x",
        "//evil.example",
        "/api/v1/threads",
        "https:evil.example",
        "https:\\\\evil.example",
        "https://",
        "https://ev%69l.example",
        "https://\u{430}pple.example",
        "https://a.example\u{202e}/x",
        "mailto:",
        "mailto:a@b.example\ncc:c@d.example",
    ];
    for target in hostile {
        for source in [format!("[x]({target})"), format!("[x](<{target}>)"), format!("<{target}>")] {
            let followed: Vec<_> =
                links(&tree(&source)).into_iter().filter(|(href, _)| !href.starts_with("https://a.example/")).collect();
            assert_eq!(followed, [], "{source:?}");
        }
    }
    assert_eq!(links(&tree("[x](HTTPS://a.example)")), [("HTTPS://a.example".to_owned(), None)]);
}

// THREATS T6
#[test]
fn link_texts_that_name_another_site_are_marked() {
    let whose = |source: &str| links(&tree(source)).pop().and_then(|(_, whose)| whose);
    assert_eq!(whose("[https://bank.example](https://evil.example/login)").as_deref(), Some("evil.example"));
    assert_eq!(whose("[bank.example](https://evil.example)").as_deref(), Some("evil.example"));
    assert_eq!(whose("[**bank.example**/pay](https://evil.example)").as_deref(), Some("evil.example"));
    assert_eq!(whose("[x](https://bank.example@evil.example)").as_deref(), Some("evil.example"));
    assert_eq!(whose("https://bank.example@evil.example/").as_deref(), Some("evil.example"));
    assert_eq!(whose("[me@bank.example](mailto:you@evil.example)").as_deref(), Some("you@evil.example"));
    assert_eq!(whose("[the report](https://docs.example)"), None);
    assert_eq!(whose("[www.docs.example/a](https://docs.example:8080/b)"), None);
    assert_eq!(whose("[version 1.2](https://docs.example)"), None);
}

// THREATS T6
#[test]
fn words_behind_many_blanks_are_weighed_too() {
    for blanks in ["\u{a0}".repeat(3000), " ".repeat(3000), "\u{2003} ".repeat(1500)] {
        let source = format!("[{blanks}https://bank.example](https://evil.example)");
        assert_eq!(links(&tree(&source)), [("https://evil.example".to_owned(), Some("evil.example".to_owned()))]);
    }
    let long = format!("[{}bank.example](https://evil.example)", "word ".repeat(1000));
    assert_eq!(links(&tree(&long)), [("https://evil.example".to_owned(), Some("evil.example".to_owned()))]);
    let spaced = format!("[{}the report](https://docs.example)", " ".repeat(3000));
    assert_eq!(links(&tree(&spaced)), [("https://docs.example".to_owned(), None)], "blanks alone say nothing");
}

// THREATS T1, T3, T23
#[test]
fn nothing_leads_to_this_machine_or_to_another_in_the_local_network() {
    let inside = [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.8.9.10",
        "0.0.0.0",
        "0",
        "10.1.2.3",
        "100.64.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "224.0.0.251",
        "255.255.255.255",
        "256.1.1.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "router",
        "printer.local",
        "nas.lan",
        "box.home.arpa",
        "metadata.google.internal",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[fe80::1]",
        "[fd00::1]",
        "somebody@127.0.0.1",
        "docs.example@localhost",
    ];
    let engine = Engine::new();
    let read = |source: &str| -> Value { engine.call("tree", &[source]).parse().expect("a tree is JSON") };
    for host in inside {
        for at in [
            format!("http://{host}/steal"),
            format!("https://{host}:4978/api/stream/x?prompt=y"),
            format!("http://{host}"),
        ] {
            for source in [format!("[the report]({at})"), format!("<{at}>"), format!("see {at}")] {
                let shown = read(&source);
                assert_eq!(links(&shown), [], "{source}");
                assert!(shown.to_string().contains(host), "what leads nowhere is still to be read: {shown}");
            }
        }
    }
    let outside =
        ["docs.example", "93.184.215.14", "172.32.0.1", "100.128.0.1", "[2606:2800:21f:cb07::1]", "0x7f.example"];
    for host in outside {
        assert_eq!(links(&read(&format!("[x](https://{host}/y)"))).len(), 1, "{host}");
    }
}

// THREATS T1
#[test]
fn nothing_leads_back_to_the_page_itself() {
    let engine = Engine::new();
    let at = |source: &str| links(&engine.call("treeAt", &[source, "house.example"]).parse().expect("a tree is JSON"));
    for source in
        ["[x](https://house.example/api/stream/x)", "https://house.example:8443/x", "<http://HOUSE.example./>"]
    {
        assert_eq!(at(source), [], "{source}");
    }
    assert_eq!(at("[x](https://docs.house.example)").len(), 1);
}

// THREATS T6
#[test]
fn html_is_text_and_images_are_their_words() {
    let html = "<script>alert(1)</script><img src=x onerror=alert(1)> <a href=\"javascript:x\">y</a> &lt;b&gt;";
    assert_eq!(words(html), json!([html]));
    assert_eq!(words("![a *cat*](http://canary.example/x.png)"), json!([{"type": "image", "text": "a cat"}]));
    let kinds =
        tree("![x](http://canary.example/a.png)\n\n[![x](http://canary.example/b.png)](https://a.example)").to_string();
    assert!(!kinds.contains("canary"), "{kinds}");
}

#[test]
fn what_is_nested_without_end_is_read_to_an_end() {
    for source in
        [">".repeat(20_000), "- ".repeat(20_000), "*a ".repeat(20_000) + &"b* ".repeat(20_000), "[".repeat(20_000)]
    {
        let height = height(&tree(&source));
        assert!(height < 100, "{} is {height} high", &source[..6]);
    }
}

#[test]
fn reading_takes_work_in_proportion_to_the_text() {
    let engine = Engine::new();
    let cases = [
        ("*a ", "", "b* "),
        ("**a _b ", "", ""),
        ("[", "", "a](https://x.example)"),
        ("![", "x", "](u)"),
        ("](", "", ""),
        ("[a](", "", ""),
        ("` `` ", "", ""),
        ("<a", "", ""),
        ("https://a.b/((", "", ")"),
        ("https://a.b/....", "", ""),
        (">", "", ""),
        ("- ", "", ""),
        ("- a\n\n\n", "", ""),
        ("1. a\n   > b\n", "", ""),
        ("|", "", ""),
        ("|a", "\n", "-|"),
        ("~~a", "", "~~"),
        ("a\n", "", "\\"),
        ("#", " ", "#"),
        ("```\n", "", "~~~\n"),
    ];
    for (before, unit, after) in cases {
        let [less, more] = ["1000", "4000"].map(|times| engine.work("wordy", &[before, unit, after, times]));
        // What is over in a moment is hardly counted at all.
        assert!(more <= (less + 20) * 6, "{before:?} {unit:?} {after:?}: {less}, then {more} for four times as much");
    }
}

// THREATS T8
#[test]
fn a_line_of_any_length_takes_work_in_proportion_to_it() {
    let engine = Engine::new();
    let cases = [
        ("", "~", "`"),
        ("", "`", "x`"),
        ("```", " ", "`"),
        ("# ", " ", "\u{2028}"),
        ("- ", " ", "\u{2028}"),
        ("1. ", " ", "\u{2029}x"),
        ("", " ", "- a"),
    ];
    for (before, unit, after) in cases {
        let [less, more] = ["10000", "40000"].map(|times| engine.work("wordyWithin", &[before, unit, after, times]));
        assert!(more <= (less + 20) * 6, "{before:?} {unit:?} {after:?}: {less}, then {more} for four times as much");
    }
    let [less, more] = ["500", "2000"].map(|blanks| engine.work("blankLinks", &[blanks]));
    assert!(more <= (less + 20) * 6, "blanks in links: {less}, then {more} for four times as much");
}
