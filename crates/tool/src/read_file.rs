//! `read_file`: a text file, or a part of it, with line numbers; an image or a PDF document as it is.
//!
//! Numbers let a model name a place, read on, and match what search shows. A call returns at most 2000 lines and 64 KiB,
//! and says how to read on. Other binary data is absent: no message of ours carries it.

use agent::tools::ToolResult;
use serde::Deserialize;

use crate::args;
use crate::artefacts::Artefacts;
use crate::attach;
use crate::context::ToolContext;
use crate::error::Error;
use crate::on_path::{OnPath, never};
use crate::text;
use crate::tool::{Tool, looks};
use crate::workspace::WorkPath;

const MAX_LINES: usize = 2000;
const MAX_BYTES: usize = 64 * 1024;
const MAX_LINE_CHARS: usize = 2000;

pub(crate) fn tool() -> impl Tool {
    OnPath {
        info: looks("read_file", DESCRIPTION, SCHEMA),
        example: r#"{"path": "src/main.rs", "offset": 1, "limit": 200}"#,
        usual: None,
        act,
        at_once: never,
    }
}

const DESCRIPTION: &str = "Read a text file (each line as its number, a tab and the line), an image or a PDF.";

const SCHEMA: &str = r#"{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer","description":"first line, from 1"},"limit":{"type":"integer","description":"number of lines"}},"required":["path"]}"#;

/// The folder of the workspace in which long results of servers are kept.
pub const RESULTS: &str = ".majordomo/results/";
/// What text from there is called.
pub(crate) const SAVED_RESULT: &str = "saved result of a tool";

#[derive(Deserialize)]
struct Args {
    #[serde(default, deserialize_with = "args::number")]
    offset: Option<u64>,
    #[serde(default, deserialize_with = "args::number")]
    limit: Option<u64>,
}

fn act(args: &Args, path: &WorkPath, context: &ToolContext) -> Result<ToolResult, Error> {
    let bytes = context.workspace.read(path)?;
    if attach::is_attachable(&bytes) {
        return Ok(shown(path, bytes, context));
    }
    let bytes = context.workspace.as_text(path, bytes)?;
    context.seen_files.note(path.as_str(), &bytes);
    let (content, lossy) = text::readable(&bytes);
    let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let first = args.offset.map_or(1, whole).max(1);
    let limit = args.limit.map_or(MAX_LINES, whole).clamp(1, MAX_LINES);
    let total = content.lines().count();
    if first > total.max(1) {
        return Ok(ToolResult::error(format!("'{path}' has only {}", text::count(total, "line"))));
    }

    let mut shown = String::new();
    let mut next = first;
    for line in content.lines().skip(first - 1).take(limit) {
        let line = format!("{next}\t{}\n", text::clip(line, MAX_LINE_CHARS));
        if shown.len() + line.len() > MAX_BYTES && next > first {
            break;
        }
        shown.push_str(&line);
        next += 1;
    }
    if total == 0 {
        shown.push_str("[the file is empty]\n");
    }
    if next <= total {
        shown.push_str(&format!("[lines {first} to {} of {total}; read on with offset {next}]\n", next - 1));
    }
    if lossy {
        shown.push_str(text::LOSSY_NOTE);
    }
    // What a server returned does not become trusted by lying in a file.
    let foreign = path.as_str().starts_with(RESULTS).then(|| SAVED_RESULT.into());
    Ok(ToolResult { files_read: vec![path.as_str().into()], foreign, ..ToolResult::ok(shown.trim_end_matches('\n')) })
}

/// An image or a document, which the model is shown with the result.
fn shown(path: &WorkPath, bytes: Vec<u8>, context: &ToolContext) -> ToolResult {
    let Some(data) = &context.data else {
        return ToolResult::error(format!(
            "'{path}' is an image or a document, and there is no data folder to keep it in"
        ));
    };
    match attach::attach(path.as_str(), bytes, &Artefacts::at(data)) {
        Err(why) => ToolResult::error(why.to_string()),
        Ok(attachment) => ToolResult {
            files_read: vec![path.as_str().into()],
            attachments: [attachment].into(),
            ..ToolResult::ok(format!("'{path}' is shown below"))
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::test_support::TestWorkspace;

    // OPTA-27
    #[tokio::test]
    async fn a_file_is_shown_with_line_numbers_and_reported_as_read() {
        let room = TestWorkspace::with(&[("src/a.txt", b"one\r\ntwo\n\nfour")]);
        let result = room.ok(tool(), r#"{"file_path": "./src//a.txt"}"#).await;
        assert_eq!(&*result.content, "1\tone\n2\ttwo\n3\t\n4\tfour");
        assert_eq!(result.files_read, ["src/a.txt".into()]);
        assert!(result.files_modified.is_empty());
    }

    #[tokio::test]
    async fn a_long_file_says_how_to_read_on() {
        let lines: String = (1..=5000).map(|n| format!("line {n}\n")).collect();
        let room = TestWorkspace::with(&[("long", lines.as_bytes())]);
        let first = room.ok(tool(), r#"{"path": "long"}"#).await.content;
        assert!(first.ends_with("2000\tline 2000\n[lines 1 to 2000 of 5000; read on with offset 2001]"), "{first}");
        let part = room.ok(tool(), r#"{"path": "long", "offset": "4999", "limit": 1}"#).await.content;
        assert_eq!(&*part, "4999\tline 4999\n[lines 4999 to 4999 of 5000; read on with offset 5000]");
        let last = room.ok(tool(), r#"{"path": "long", "offset": 5000}"#).await.content;
        assert_eq!(&*last, "5000\tline 5000");
        assert_eq!(room.error(tool(), r#"{"path": "long", "offset": 5001}"#).await, "'long' has only 5000 lines");
    }

    // F19, INV-9
    #[tokio::test]
    async fn a_line_without_end_is_cut_by_character_and_says_how_much_is_missing() {
        let line = "ü".repeat(10_000_000);
        let room = TestWorkspace::with(&[("line", line.as_bytes())]);
        let content = room.ok(tool(), r#"{"path": "line"}"#).await.content;
        assert!(content.ends_with("ü… [9998000 characters left out]"), "{} bytes", content.len());
        let wide: String = (0..100).map(|_| format!("{}\n", "x".repeat(1500))).collect();
        std::fs::write(room.path("wide"), wide).unwrap();
        let content = room.ok(tool(), r#"{"path": "wide"}"#).await.content;
        assert!(content.len() <= MAX_BYTES + 100 && content.contains("of 100; read on with offset"));
    }

    #[tokio::test]
    async fn empty_binary_and_broken_files_are_told_apart() {
        let room = TestWorkspace::with(&[("empty", b""), ("binary", b"\x7fELF\0\0"), ("latin", b"gr\xFC\xDFe\n")]);
        assert_eq!(&*room.ok(tool(), r#"{"path": "empty"}"#).await.content, "[the file is empty]");
        assert!(room.error(tool(), r#"{"path": "binary"}"#).await.contains("holds binary data (6 B)"));
        let latin = room.ok(tool(), r#"{"path": "latin"}"#).await.content;
        assert_eq!(&*latin, format!("1\tgr\u{FFFD}\u{FFFD}e\n{}", text::LOSSY_NOTE));
        assert!(room.error(tool(), r#"{"path": "none"}"#).await.starts_with("there is no 'none'"));
        assert!(room.error(tool(), r#"{"path": "."}"#).await.contains("is a folder"));
    }
}
