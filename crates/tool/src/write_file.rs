//! `write_file`: a new file, or a file replaced whole.
//!
//! A file that the thread has not read, or that has changed since, is not overwritten: the workspace refuses, and the
//! error asks for a read.

use agent::tools::{Reach, Risk, ToolResult};
use serde::Deserialize;

use crate::context::ToolContext;
use crate::error::Error;
use crate::on_path::{OnPath, never};
use crate::text;
use crate::tool::{Tool, info};
use crate::workspace::WorkPath;

/// What models call it by.
pub(crate) const NAME: &str = "write_file";

pub(crate) fn tool() -> impl Tool {
    OnPath {
        info: info(NAME, DESCRIPTION, SCHEMA, Reach::Workspace, false, Risk::Medium),
        example: r#"{"path": "src/new.rs", "content": "fn main() {}\n"}"#,
        usual: None,
        act,
        at_once: never,
    }
}

const DESCRIPTION: &str =
    "Create a file with its folders, or replace one that you have read. To change a part, use edit_file.";

const SCHEMA: &str = r#"{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}"#;

#[derive(Deserialize)]
pub(crate) struct Args {
    #[serde(alias = "contents", alias = "text")]
    pub content: String,
}

fn act(args: &Args, path: &WorkPath, context: &ToolContext) -> Result<ToolResult, Error> {
    let lines = args.content.lines().count();
    let change = context.workspace.change(path, &context.seen_files, |_| Ok(args.content.as_bytes().to_vec()))?;
    let did = if change.before.is_some() { "replaced" } else { "created" };
    let size = text::size(change.after.len() as u64);
    let said = format!("{did} {path}: {}, {size}", text::count(lines, "line"));
    Ok(ToolResult { files_modified: vec![path.as_str().into()], ..ToolResult::ok(said) })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::read_file;
    use crate::tool::test_support::TestWorkspace;

    // OPTA-27
    #[tokio::test]
    async fn a_new_file_is_created_with_its_folders_and_reported_as_modified() {
        let room = TestWorkspace::with(&[]);
        let result = room.ok(tool(), r#"{"path": "a/b/c.txt", "content": "x\ny\n"}"#).await;
        assert_eq!(&*result.content, "created a/b/c.txt: 2 lines, 4 B");
        assert_eq!(result.files_modified, ["a/b/c.txt".into()]);
        assert!(result.files_read.is_empty());
        assert_eq!(room.text("a/b/c.txt"), "x\ny\n");
        let left = std::fs::read_dir(room.path("a/b")).unwrap().count();
        assert_eq!(left, 1, "no passing file stays behind");
    }

    // T46
    #[tokio::test]
    async fn a_file_is_replaced_only_as_it_was_read() {
        let room = TestWorkspace::with(&[("a", b"theirs")]);
        let write = r#"{"path": "a", "content": "mine"}"#;
        assert!(room.error(tool(), write).await.contains("is not read yet"));
        room.ok(read_file::tool(), r#"{"path": "a"}"#).await;
        std::fs::write(room.path("a"), "theirs, changed").unwrap();
        assert!(room.error(tool(), write).await.starts_with("conflict: 'a' has changed since it was read"));
        assert_eq!(room.text("a"), "theirs, changed");
        room.ok(read_file::tool(), r#"{"path": "a"}"#).await;
        assert_eq!(&*room.ok(tool(), write).await.content, "replaced a: 1 line, 4 B");
        room.ok(tool(), r#"{"path": "a", "content": "mine again"}"#).await;
        assert_eq!(room.text("a"), "mine again");
    }

    // T46
    #[tokio::test]
    async fn after_a_restart_a_file_must_be_read_again() {
        let mut room = TestWorkspace::with(&[]);
        room.ok(tool(), r#"{"path": "a", "content": "1"}"#).await;
        room.context.seen_files = std::sync::Arc::default();
        assert!(room.error(tool(), r#"{"path": "a", "content": "2"}"#).await.contains("was read before a restart"));
    }

    #[tokio::test]
    async fn a_replaced_file_keeps_its_permissions() {
        let room = TestWorkspace::with(&[("run.sh", b"#!/bin/sh\n")]);
        std::fs::set_permissions(room.path("run.sh"), PermissionsExt::from_mode(0o750)).unwrap();
        room.ok(read_file::tool(), r#"{"path": "run.sh"}"#).await;
        room.ok(tool(), r##"{"path": "run.sh", "content": "#!/bin/sh\necho\n"}"##).await;
        assert_eq!(std::fs::metadata(room.path("run.sh")).unwrap().permissions().mode() & 0o777, 0o750);
    }
}
