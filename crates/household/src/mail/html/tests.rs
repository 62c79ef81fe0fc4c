//! What is read of a page is what a browser shows of it. Evasions are generated: each writes the same link in another way, so
//! that what a browser shows and opens is known from how the page was made.

use super::*;

fn links(html: &str) -> Vec<(String, bool)> {
    read(html, 10_000).links.into_iter().map(|link| (link.host, link.disguised)).collect()
}

fn link(host: &str, disguised: bool) -> Vec<(String, bool)> {
    vec![(host.to_owned(), disguised)]
}

#[test]
fn blocks_become_lines_and_what_is_not_shown_is_left_out() {
    let html = "<html><head><title>x</title><style>p{}</style></head><body><h1>Hello&nbsp;Alex</h1>\
        <p>please <b>sign</b>\nthis&amp;that &lt;today&gt;</p><!-- <p>not this</p> -->\
        <table><tr><td>a</td><td>b</td></tr></table><script>alert(1)</script>1 < 2 &bogus; &</body>";
    let content = read(html, 10_000);
    assert_eq!(content.unseen, "<p>not this</p>\n");
    assert_eq!(content.text, "Hello\u{a0}Alex\n\nplease sign this&that <today>\n\na b\n\n1 < 2 &bogus; &");
}

#[test]
fn a_link_that_shows_another_host_is_disguised() {
    let html = r#"<a href="https://evil.example/login">https://bank.example/login</a>
        <a href='https://www.shop.example/a'>shop.example</a> <a href="https://news.example">read on</a>
        <a href="mailto:a@b.example">write</a>"#;
    let expected = [("evil.example", true), ("www.shop.example", false), ("news.example", false)];
    assert_eq!(links(html), expected.map(|(host, disguised)| (host.to_owned(), disguised)));
}

/// Attributes that a browser does not follow, among them what once misled the reader of links.
const DECOYS: [&str; 12] = [
    "",
    "title=\"a > b\"",
    "title='</a>'",
    "data-href=\"https://decoy.example\"",
    "data-href=https://decoy.example",
    "alt='href=\"https://decoy.example\"'",
    "xhref='https://decoy.example'",
    "href-lang=de",
    "class=\"x\" style=\"color:red\" id=y",
    "title=\"<!--\"",
    "download",
    "/",
];

/// One address, written as browsers accept it.
fn spellings(host: &str) -> Vec<String> {
    let entities: String = host.chars().map(|character| format!("&#{};", u32::from(character))).collect();
    let hex: String = host.chars().map(|character| format!("&#x{:X}", u32::from(character))).collect::<String>() + ";";
    let percent: String = host.chars().map(|character| format!("%{:02x}", u32::from(character))).collect();
    vec![
        format!("https://{host}/login"),
        format!("HTTPS://{}", host.to_uppercase()),
        format!("https://{entities}/login"),
        format!("https&colon;&sol;&sol;{host}"),
        format!("https://{hex}"),
        format!("&#32;&#9;https://{host}"),
        format!("ht&Tab;tps:/&NewLine;/{host}"),
        format!("https:\\\\{host}\\login"),
        format!("https:/{host}"),
        format!("https:{host}"),
        format!("https://bank.example@{host}/"),
        format!("https://bank.example:443@{host}/"),
        format!("https://{percent}/"),
        format!("https://{host}:8443/bank.example"),
        format!("https://{host}?u=https://bank.example"),
        format!("https://{host}#@bank.example"),
        format!("//{host}/"),
    ]
}

#[test]
fn no_way_of_writing_the_attributes_hides_the_target() {
    let mut tags = [("a", "</a>"), ("A", "</A>"), ("a\n", "</a >"), ("a", "</a x='>'>")].into_iter().cycle();
    let mut tried = 0;
    for name in ["href", "HREF"] {
        for target in spellings("evil.example") {
            for value in
                [format!("=\"{target}\""), format!("='{target}'"), format!("={target}"), format!(" = '{target}'")]
            {
                for (first, last) in DECOYS.iter().flat_map(|first| DECOYS.map(|last| (first, last))) {
                    let (open, close) = tags.next().expect("a cycle");
                    let html = format!("<p>see <{open} {first} {name}{value} {last}>https://bank.example{close}");
                    assert_eq!(links(&html), link("evil.example", true), "{html}");
                    assert_eq!(read(&html, 10_000).text, "see https://bank.example", "{html}");
                    tried += 1;
                }
            }
        }
    }
    assert_eq!(tried, 2 * 17 * 4 * 12 * 12);
}

/// The words `bank.example`, written so that a browser shows exactly these.
const SHOWN: [&str; 22] = [
    "bank.example",
    "https://bank.example/login",
    " \n bank.example \t",
    "bank&#46;example",
    "bank&period;example",
    "b<b>an</b>k.exam<i>ple</i>",
    "bank<!-- a > b </a> -->.example",
    "bank<!---->.example",
    "bank<!-- > --!>.example",
    "bank<!x </a>.example",
    "bank<?php </a?>.example",
    "bank<script>'</a> a b'</script>.example",
    "bank<style>a b{}</style>.example",
    "bank<template>a b</template>.example",
    "bank&shy;.exam&#8203;ple",
    "bank&zwnj;&#65279;.example",
    "bank<span style=\"Display : NONE\">a b</span>.example",
    "bank<span hidden>a b</span>.example",
    "bank<span style='font-size:0px'>a b</span>.example",
    "bank<wbr>.example<span title='a > b'></span>",
    "<font color=blue><u>bank</u></font>.example",
    "<span><span>bank</span><span>.example</span></span>",
];

/// A link around words: how it begins and ends, with `T` for the target. What follows is outside.
const AROUND: [(&str, &str); 20] = [
    ("<a href='T'>", "</a>"),
    ("<a href='T'>", "<a>"),
    ("<a href='T'>", "<a href='https://bank.example'>"),
    ("<a href='T'><a href='T'>", "</a>"),
    ("<a href='https://bank.example'><a href='T'>", "</a>"),
    ("<a href='T' href='https://bank.example'>", "</a>"),
    ("<p><a href='T'></p>", "</a>"),
    ("<div><a href='T'></div><div>", "</a></div>"),
    ("<b><a href='T'></b>", "</a>"),
    ("<span><a href='T'></span>", "</a>"),
    ("<table><tr><td><a href='T'>", "<td>"),
    ("<table><tr><td><a href='T'>", "</table>"),
    ("<table><a href='T'>", "</a></table>"),
    ("<a href='T'><table><tr><td>", "</td></tr></table></a>"),
    ("<a href='T'><div><p>", "</div></a>"),
    ("<svg><a href='T'><text>", "</text></a></svg>"),
    ("<svg><a xlink:href='T'><text>", "</text></a></svg>"),
    ("<button><a href='T'>", "</button>"),
    ("</a></p><a href='T'>", "</a>"),
    ("<title></a></title><noscript><a href='T'>", "</a></noscript>"),
];

#[test]
fn no_way_of_nesting_or_leaving_out_tags_hides_a_disguise() {
    for shown in SHOWN {
        for (open, close) in AROUND {
            // HTML inside SVG ends it, as browsers do; the text stays the same, the link does not.
            if open.starts_with("<svg") && shown.contains('<') {
                continue;
            }
            for (before, after) in [("", ""), ("<p>Dear customer, ", " and more</p>"), ("<center>x<br>", "<hr>y")] {
                for target in ["https://evil.example/", "//evil.example", "http://evil.example:80/bank.example"] {
                    let html = format!("{before}{}{shown}{close}{after}", open.replace('T', target));
                    let found = links(&html);
                    assert!(found.contains(&("evil.example".to_owned(), true)), "{html}: {found:?}");
                }
                let html = format!("{before}{}{shown}{close}{after}", open.replace('T', "https://www.bank.example/"));
                let found = links(&html);
                assert!(found.iter().all(|(_, disguised)| !disguised) && !found.is_empty(), "{html}: {found:?}");
            }
        }
    }
}

#[test]
fn words_that_are_split_between_links_are_read_as_one() {
    for html in [
        "<a href=https://evil.example/1>bank</a><a href=https://evil.example/2>.example</a>",
        "<span><a href=https://evil.example>bank</span>.example</a>",
        "<b><a href=https://evil.example>ba</b>nk<i>.example</a></i>",
    ] {
        assert_eq!(links(html), link("evil.example", true), "{html}");
    }
    let two = "<a href=https://one.example>one</a> <a href=https://two.example>.example</a>";
    assert_eq!(links(two), [("one.example".to_owned(), false), ("two.example".to_owned(), false)]);
}

#[test]
fn a_base_decides_where_relative_links_lead() {
    let body = "<a href='login'>bank.example</a>";
    for html in [
        format!("<base href='https://evil.example/x/'>{body}"),
        format!("<head><BASE HREF=https://evil.example></head><body>{body}"),
        format!("{body}<p><base target=x><base href='https://evil.example'><base href='https://bank.example'>"),
        format!("<template><base href='https://bank.example'></template><base href='//evil.example/'>{body}"),
        format!("<!-- <base href='https://bank.example'> --><base href='https://evil.example'>{body}"),
    ] {
        assert_eq!(links(&html), link("evil.example", true), "{html}");
    }
    assert_eq!(links(&format!("<base href='https://bank.example'>{body}")), link("bank.example", false));
    assert_eq!(links(body), []);
    let absolute = "<base href='https://bank.example'><a href='https://evil.example'>bank.example</a>";
    assert_eq!(links(absolute), link("evil.example", true));
}

#[test]
fn other_elements_that_lead_somewhere_are_links() {
    for html in [
        "<map><area alt='bank' href='https://evil.example'></map>",
        "<form action='https://evil.example/collect'><input name=pin></form>",
        "<form><button formaction='https://evil.example'>Go</button></form>",
        "<form><input type=submit formaction='https://evil.example'></form>",
    ] {
        assert_eq!(links(html), link("evil.example", false), "{html}");
    }
    let picture = "<a href='https://evil.example'><img src=x alt='www.bank.example'></a>";
    assert_eq!(links(picture), link("evil.example", true));
}

#[test]
fn hosts_are_read_as_the_browser_reads_them() {
    for (target, host) in [
        ("http://192.0.2.1/", "192.0.2.1"),
        ("http://3221225985/", "192.0.2.1"),
        ("http://0xc0.0.2.1/", "192.0.2.1"),
        ("http://[2001:db8::1]/", "[2001:db8::1]"),
        ("https://xn--bnk-6cd.example/", "bаnk.example"),
        ("https://ＥＶＩＬ.example/", "evil.example"),
        ("https://evil。example/", "evil.example"),
        ("https://evil.example./", "evil.example"),
        ("http://intranet/", "intranet"),
    ] {
        let html = format!("<a href='{target}'>bank.example</a>");
        assert_eq!(links(&html), link(host, true), "{html}");
    }
    for nowhere in ["mailto:a@b.example", "tel:+49", "#part", "cid:x", "javascript:alert(1)", "", "https://"] {
        assert_eq!(links(&format!("<a href='{nowhere}'>bank.example</a>")), [], "{nowhere}");
    }
}

#[test]
fn an_address_among_other_words_is_compared_too() {
    for words in ["Sign in at https://bank.example now", "see (www.bank.example)", "HTTPS://BANK.EXAMPLE / login"] {
        assert_eq!(
            links(&format!("<a href='https://evil.example'>{words}</a>")),
            link("evil.example", true),
            "{words}"
        );
    }
    for words in ["read on", "Dr.Miller wrote", "at 3.30 pm", "see bank.example here", "…", ""] {
        assert_eq!(
            links(&format!("<a href='https://evil.example'>{words}</a>")),
            link("evil.example", false),
            "{words}"
        );
    }
}

#[test]
fn a_disguised_link_behind_many_others_is_found() {
    let many: String = (0..500).map(|at| format!("<a href='https://h{at}.example'>x</a> ")).collect();
    let text = "words ".repeat(5_000);
    let found = links(&format!("{text}{many}<a href='https://evil.example'>bank.example</a>"));
    assert!(found.len() == 30 && found.contains(&("evil.example".to_owned(), true)), "{found:?}");
}

#[test]
fn a_page_without_end_is_read_to_where_it_stops() {
    for broken in ["<", "<a", "<a href=\"http://", "<!--", "<style>", "<p", "&", "&#", "&#xffffffffff;", "<é>ü<", "\0"]
    {
        let _ = read(broken, 100);
    }
    let long = read(&"<p>word</p><!-- aside -->".repeat(100_000), 1_000);
    assert!(long.text.len() < 1_100 && long.unseen.len() < 1_100);
}

/// Work is counted instead of time: how many nodes are made for how many bytes.
#[test]
fn hostile_pages_cost_little_and_hide_nothing() {
    let numbered = |count: usize, text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<String>();
    let evil = "<a href='https://evil.example'>bank.example</a>";
    for (what, html) in [
        ("deep", "<div>".repeat(10_000)),
        ("deep in a link", format!("<a href='https://evil.example'>{}", "<span>".repeat(10_000))),
        ("formatting copied into paragraphs", numbered(500, &|at| format!("<b x{at}>")) + &"<p>x".repeat(5_000)),
        ("formatting", numbered(10_000, &|at| format!("<i x{at}>"))),
        ("attributes", format!("<img {}>", numbered(30_000, &|at| format!("a{at} ")))),
        ("attributes with slashes", format!("<img {}>", numbered(30_000, &|at| format!("a{at}/")))),
        ("attributes with quotes", format!("<img {}>", numbered(30_000, &|at| format!("a{at}=''")))),
        ("tables", "<table><tr><td>".repeat(5_000)),
        ("foster parents", "<table>".to_owned() + &"<b>x".repeat(5_000)),
        ("templates", "<template>".repeat(5_000) + &"</template>".repeat(5_000)),
        ("ends", "</p></b></a></br>".repeat(5_000)),
        ("links", "<a href=https://x.example><b><div>".repeat(2_000)),
        ("a script at the bound", "<p>".repeat(8_187) + "<script>bank.example</script>"),
        ("svg", "<svg><g>".repeat(5_000)),
    ] {
        let page = format!("{html}{evil}");
        assert!(page.len() < 1024 * 1024, "{what}");
        let mut nodes = 0;
        tree::parse(&page, |tree| nodes += tree.len());
        assert!(nodes < 25 * page.len(), "{what}: {nodes} nodes for {} bytes", page.len());
        let found = links(&page);
        assert!(found.contains(&("evil.example".to_owned(), true)), "{what}: {found:?}");
    }
    // A link that is open where one tree ends goes on in the next.
    for depth in 380..420 {
        let html = format!("<a href='https://evil.example'>bank{}.example</a>", "<span>".repeat(depth));
        assert_eq!(links(&html), link("evil.example", true), "{depth}");
    }
}

#[test]
fn links_in_plain_text_are_found() {
    let hosts: Vec<_> = plain_links("see https://a.example/x, http://user@b.example:80 and ://")
        .into_iter()
        .map(|link| link.host)
        .collect();
    assert_eq!(hosts, ["a.example", "b.example"]);
}
