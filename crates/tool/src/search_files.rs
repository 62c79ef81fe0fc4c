//! `search_files`: lines that match a regular expression, by ripgrep's searcher.
//!
//! Every file is opened beneath its folder's handle like any other read; links, binary and very large files are passed
//! over. What was searched is not reported as read: the model has seen lines of it, not the file.

use std::io;
use std::ops::ControlFlow;

use agent::tools::ToolResult;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde::Deserialize;

use crate::args;
use crate::context::ToolContext;
use crate::error::Error;
use crate::on_path::{OnPath, never};
use crate::read_file::{RESULTS, SAVED_RESULT};
use crate::text;
use crate::tool::{Tool, looks};
use crate::workspace::WorkPath;
use crate::workspace::file::Links;
use crate::workspace::walk::{Walked, glob, walk};

const MAX_HITS: usize = 200;
const MAX_BYTES: usize = 32 * 1024;
const MAX_LINE_CHARS: usize = 300;
const MAX_CONTEXT: u64 = 10;

pub(crate) fn tool() -> impl Tool {
    OnPath {
        info: looks("search_files", DESCRIPTION, SCHEMA),
        example: r#"{"pattern": "fn main\\(", "path": "src", "glob": "*.rs", "context": 2}"#,
        usual: Some("."),
        act,
        at_once: never,
    }
}

const DESCRIPTION: &str = "Search file contents by regular expression, line by line; (?i) ignores case. Ignored files (.gitignore) are left out.";

const SCHEMA: &str = r#"{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string","description":"file or folder"},"glob":{"type":"string","description":"only these files, such as *.rs"},"context":{"type":"integer","description":"lines around a hit"}},"required":["pattern"]}"#;

#[derive(Deserialize)]
struct Args {
    #[serde(alias = "regex", alias = "query")]
    pattern: String,
    #[serde(default, alias = "include")]
    glob: Option<String>,
    #[serde(default, deserialize_with = "args::number")]
    context: Option<u64>,
}

fn act(args: &Args, from: &WorkPath, context: &ToolContext) -> Result<ToolResult, Error> {
    let matcher = match line_matcher(&args.pattern) {
        Ok(matcher) => matcher,
        Err(error) => {
            let error = error.to_string();
            let why = text::clip(&error, 400);
            return Ok(ToolResult::error(format!(
                "the regular expression cannot be read: {why}; escape ( [ {{ . with \\"
            )));
        }
    };
    let only = match args.glob.as_deref().map(glob).transpose() {
        Ok(only) => only,
        Err(why) => return Ok(ToolResult::error(why)),
    };
    let mut search = Search::new(matcher, args.context.unwrap_or(0).min(MAX_CONTEXT) as usize);

    let walked = match context.workspace.read(from) {
        Ok(bytes) if search.file(from.as_str(), &bytes).is_break() => Walked::Enough,
        Ok(_) => Walked::All,
        Err(Error::NotAFile { what: "a folder", .. }) => {
            let below = from.prefix().len();
            walk(&context.workspace, from, &context.stop, |entry| {
                if only.as_ref().is_some_and(|only| !only.is_match(&entry.path[below..])) {
                    return ControlFlow::Continue(());
                }
                match context.workspace.read_in(entry.folder, entry.name, entry.path, Links::Refused) {
                    Ok(found) => search.file(entry.path, &found.bytes),
                    Err(error) => {
                        search.too_large += usize::from(matches!(error, Error::TooLarge { .. }));
                        search.forbidden += usize::from(matches!(error, Error::Unreadable { .. }));
                        ControlFlow::Continue(())
                    }
                }
            })?
        }
        Err(error) => return Err(error),
    };
    let is_saved = |line: &str| line.starts_with(RESULTS);
    let foreign = search.hits.shown.lines().any(is_saved).then(|| SAVED_RESULT.into());
    let said = search.said(walked, &format!("no line in {from} matches {}", text::clip(&args.pattern, 200)));
    Ok(ToolResult { foreign, ..ToolResult::ok(said) })
}

/// `^` and `$` mean lines, and `$` stands before CRLF too. The terminator comes last: it must be the searcher's own.
fn line_matcher(pattern: &str) -> Result<RegexMatcher, grep_regex::Error> {
    RegexMatcherBuilder::new().multi_line(true).crlf(true).line_terminator(Some(b'\n')).build(pattern)
}

struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
    hits: Hits,
    too_large: usize,
    forbidden: usize,
}

/// What is shown: a path, then its lines as `12: hit` and `13- context`, then an empty line.
struct Hits {
    shown: String,
    count: usize,
}

impl Search {
    fn new(matcher: RegexMatcher, context: usize) -> Self {
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(context)
            .after_context(context)
            .binary_detection(BinaryDetection::quit(0))
            .build();
        Self { matcher, searcher, hits: Hits { shown: String::new(), count: 0 }, too_large: 0, forbidden: 0 }
    }

    fn file(&mut self, path: &str, bytes: &[u8]) -> ControlFlow<()> {
        if text::is_binary(bytes) {
            return ControlFlow::Continue(());
        }
        let before = (self.hits.shown.len(), self.hits.count);
        self.hits.shown.push_str(&format!("{}\n", text::readable(path.as_bytes()).0));
        self.searcher
            .search_slice(&self.matcher, bytes, &mut self.hits)
            .expect("a search in memory has nothing to fail on");
        if self.hits.count == before.1 {
            self.hits.shown.truncate(before.0);
        } else {
            self.hits.shown.push('\n');
        }
        if self.hits.full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn said(self, walked: Walked, nothing: &str) -> String {
        let mut said = match self.hits.shown.trim_end() {
            "" => nothing.to_owned(),
            shown => shown.to_owned(),
        };
        said.push_str(&walked.note("pattern, the path or the glob"));
        if self.too_large > 0 {
            said.push_str(&format!("\n[{} too large to search]", text::count(self.too_large, "file")));
        }
        if self.forbidden > 0 {
            said.push_str(&format!("\n[{} left out: a rule forbids reading]", text::count(self.forbidden, "file")));
        }
        said
    }
}

impl Hits {
    fn full(&self) -> bool {
        self.count >= MAX_HITS || self.shown.len() >= MAX_BYTES
    }

    fn line(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) {
        let (line, _) = text::readable(bytes);
        let line = text::clip(line.trim_end_matches(['\n', '\r']), MAX_LINE_CHARS);
        self.shown.push_str(&format!("{}{mark} {line}\n", number.unwrap_or(0)));
    }
}

impl Sink for Hits {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, hit: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.line(hit.line_number(), ':', hit.bytes());
        self.count += 1;
        Ok(!self.full())
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.line(around.line_number(), '-', around.bytes());
        Ok(!self.full())
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.shown.push_str("--\n");
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::test_support::TestWorkspace;

    // OPTA-27
    #[tokio::test]
    async fn hits_are_grouped_by_file_and_nothing_counts_as_read() {
        let room =
            TestWorkspace::with(&[("a.rs", b"one\nTwo\nthree\n"), ("src/b.rs", b"two\r\n"), ("c.txt", b"two\n")]);
        let result = room.ok(tool(), r#"{"pattern": "(?i)^two$"}"#).await;
        assert_eq!(&*result.content, "a.rs\n2: Two\n\nc.txt\n1: two\n\nsrc/b.rs\n1: two");
        assert!(result.files_read.is_empty());
        let around = room.ok(tool(), r#"{"pattern": "Two", "glob": "*.rs", "context": "1"}"#).await.content;
        assert_eq!(&*around, "a.rs\n1- one\n2: Two\n3- three");
        let one = room.ok(tool(), r#"{"pattern": "t", "path": "src/b.rs"}"#).await.content;
        assert_eq!(&*one, "src/b.rs\n1: two");
        let none = room.ok(tool(), r#"{"pattern": "zebra"}"#).await.content;
        assert_eq!(&*none, "no line in . matches zebra");
    }

    #[tokio::test]
    async fn ignored_binary_and_foreign_files_are_passed_over() {
        let room = TestWorkspace::with(&[
            (".gitignore", b"junk\n"),
            ("junk", b"needle"),
            ("bin", b"\0needle"),
            ("ok", b"needle"),
        ]);
        std::fs::write(room.outside("secret"), "needle").unwrap();
        std::os::unix::fs::symlink(room.outside("secret"), room.path("link")).unwrap();
        std::os::unix::fs::symlink("..", room.path("up")).unwrap();
        assert_eq!(&*room.ok(tool(), r#"{"pattern": "needle"}"#).await.content, "ok\n1: needle");
        assert!(room.error(tool(), r#"{"pattern": "needle", "path": "link"}"#).await.contains("leads out"));
        assert!(room.error(tool(), r#"{"pattern": "needle", "path": "up"}"#).await.contains("leads out"));
    }

    // T60
    #[tokio::test]
    async fn lines_of_a_saved_result_are_marked_as_untrusted() {
        let room = TestWorkspace::with(&[(".majordomo/results/a.txt", b"needle"), ("ok", b"needle")]);
        let saved = room.ok(tool(), r#"{"pattern": "needle", "path": ".majordomo/results/a.txt"}"#).await;
        assert_eq!(saved.foreign.as_deref(), Some("saved result of a tool"));
        assert_eq!(room.ok(tool(), r#"{"pattern": "needle", "path": "ok"}"#).await.foreign, None);
    }

    // F19
    #[tokio::test]
    async fn hits_and_lines_are_bounded_and_say_so() {
        let long = format!("{}needle{}", "x".repeat(1000), "y".repeat(1000));
        let room = TestWorkspace::with(&[("a", "needle\n".repeat(500).as_bytes()), ("b", long.as_bytes())]);
        let content = room.ok(tool(), r#"{"pattern": "needle"}"#).await.content;
        assert_eq!(content.matches("needle").count(), MAX_HITS);
        assert!(content.ends_with("[there may be more: narrow the pattern, the path or the glob]"), "{content}");
        let line = room.ok(tool(), r#"{"pattern": "needle", "path": "b"}"#).await.content;
        assert!(line.ends_with("[1706 characters left out]"), "{line}");
    }

    #[tokio::test]
    async fn a_broken_pattern_is_told() {
        let room = TestWorkspace::with(&[]);
        assert!(room.error(tool(), r#"{"pattern": "fn main("}"#).await.starts_with("the regular expression cannot be"));
        assert!(room.error(tool(), r#"{"pattern": "a", "glob": "["}"#).await.starts_with("the glob"));
    }
}
