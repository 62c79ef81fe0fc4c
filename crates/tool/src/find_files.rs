//! `find_files`: paths that match a glob, what git ignores left out.

use std::ops::ControlFlow;

use agent::tools::ToolResult;
use serde::Deserialize;

use crate::context::ToolContext;
use crate::error::Error;
use crate::on_path::{OnPath, never};
use crate::text;
use crate::tool::{Tool, looks};
use crate::workspace::WorkPath;
use crate::workspace::walk::{Walked, glob, walk};

const MAX_HITS: usize = 300;

pub(crate) fn tool() -> impl Tool {
    OnPath {
        info: looks("find_files", DESCRIPTION, SCHEMA),
        example: r#"{"pattern": "src/**/*.rs"}"#,
        usual: Some("."),
        act,
        at_once: never,
    }
}

const DESCRIPTION: &str = "Find files by glob, such as *.rs or src/**/test_*. Ignored files (.gitignore) are left out.";

const SCHEMA: &str = r#"{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string","description":"folder to look in"}},"required":["pattern"]}"#;

#[derive(Deserialize)]
struct Args {
    #[serde(alias = "glob")]
    pattern: String,
}

fn act(args: &Args, from: &WorkPath, context: &ToolContext) -> Result<ToolResult, Error> {
    let pattern = match glob(&args.pattern) {
        Ok(pattern) => pattern,
        Err(why) => return Ok(ToolResult::error(why)),
    };
    let below = from.prefix().len();
    let mut hits = Vec::new();
    let walked = walk(&context.workspace, from, &context.stop, |entry| {
        if pattern.is_match(&entry.path[below..]) {
            if hits.len() == MAX_HITS {
                return ControlFlow::Break(());
            }
            hits.push(text::readable(entry.path.as_bytes()).0);
        }
        ControlFlow::Continue(())
    })?;
    if hits.is_empty() && walked == Walked::All {
        return Ok(ToolResult::ok(format!("no file in {from} matches {}", text::clip(&args.pattern, 200))));
    }
    Ok(ToolResult::ok(format!("{}{}", hits.join("\n"), walked.note("pattern or the path"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::test_support::TestWorkspace;

    #[tokio::test]
    async fn a_glob_without_a_slash_finds_names_at_any_depth() {
        let room = TestWorkspace::with(&[("a.rs", b""), ("src/b.rs", b""), ("src/deep/c.rs", b""), ("src/d.txt", b"")]);
        let find = async |input: &str| room.ok(tool(), input).await.content.to_string();
        assert_eq!(find(r#"{"pattern": "*.rs"}"#).await, "a.rs\nsrc/b.rs\nsrc/deep/c.rs");
        assert_eq!(find(r#"{"pattern": "src/*.rs"}"#).await, "src/b.rs");
        assert_eq!(find(r#"{"pattern": "**/*.{rs,txt}", "path": "src"}"#).await, "src/b.rs\nsrc/d.txt\nsrc/deep/c.rs");
        assert_eq!(find(r#"{"pattern": "*.py"}"#).await, "no file in . matches *.py");
        assert!(
            room.error(tool(), r#"{"pattern": "a[", "path": "."}"#).await.starts_with("the glob 'a[' cannot be read")
        );
    }

    #[tokio::test]
    async fn ignored_files_are_left_out_as_git_does_it() {
        let room = TestWorkspace::with(&[
            (".gitignore", b"*.log\n/build/\n!keep.log\n"),
            ("x.log", b""),
            ("keep.log", b""),
            ("build/out.txt", b""),
            ("sub/build/in.txt", b""),
            ("sub/.gitignore", b"*.txt\n!x.log\n"),
            ("sub/x.log", b""),
            ("sub/y.txt", b""),
            (".git/config", b""),
            (".hidden", b""),
        ]);
        let all = room.ok(tool(), r#"{"pattern": "*"}"#).await.content;
        assert_eq!(&*all, ".gitignore\n.hidden\nkeep.log\nsub/.gitignore\nsub/x.log");
        let sub = room.ok(tool(), r#"{"pattern": "*.log", "path": "sub"}"#).await.content;
        assert_eq!(&*sub, "sub/x.log");
        let asked_for = room.ok(tool(), r#"{"pattern": "*", "path": "build"}"#).await.content;
        assert_eq!(&*asked_for, "build/out.txt", "an ignored folder that is named is looked into");
    }

    #[tokio::test]
    async fn many_hits_end_with_a_mark() {
        let room = TestWorkspace::with(&[]);
        for n in 0..400 {
            std::fs::write(room.path(&format!("f{n}")), "").unwrap();
        }
        let content = room.ok(tool(), r#"{"pattern": "f*"}"#).await.content;
        assert_eq!(content.lines().count(), MAX_HITS + 1);
        assert!(content.ends_with("[there may be more: narrow the pattern or the path]"));
    }
}
