//! `list_dir`: what a folder holds, hidden and ignored things included.
//!
//! Deeper levels leave closed what is large and not written by hand.

use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStringExt;

use agent::tools::ToolResult;
use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use serde::Deserialize;

use crate::args;
use crate::context::ToolContext;
use crate::error::Error;
use crate::on_path::OnPath;
use crate::text;
use crate::tool::{Tool, looks};
use crate::workspace::WorkPath;

const MAX_ENTRIES: usize = 500;
const MAX_DEPTH: u64 = 6;
/// The most entries that are listed without leaving the thread.
const FEW: usize = 64;
const LEFT_CLOSED: [&str; 5] = [".git", "node_modules", "target", "__pycache__", ".venv"];

pub(crate) fn tool() -> impl Tool {
    OnPath {
        info: looks("list_dir", DESCRIPTION, SCHEMA),
        example: r#"{"path": "src", "depth": 2}"#,
        usual: Some("."),
        act,
        at_once,
    }
}

const DESCRIPTION: &str = "List a folder: folders end in /, links in @, files have their size.";

const SCHEMA: &str = r#"{"type":"object","properties":{"path":{"type":"string","description":"default: the workspace"},"depth":{"type":"integer","description":"levels, default 1"}}}"#;

#[derive(Deserialize)]
struct Args {
    #[serde(default, deserialize_with = "args::number")]
    depth: Option<u64>,
}

fn act(args: &Args, path: &WorkPath, context: &ToolContext) -> Result<ToolResult, Error> {
    list(args, path, context, Listing::default()).map(Listing::told)
}

/// Lists a small folder.
fn at_once(args: &Args, path: &WorkPath, context: &ToolContext) -> Option<Result<ToolResult, Error>> {
    match list(args, path, context, Listing { left: Some(FEW), ..Listing::default() }) {
        Ok(listing) => (listing.left != Some(0)).then(|| Ok(listing.told())),
        Err(error) => Some(Err(error)),
    }
}

fn list(args: &Args, path: &WorkPath, context: &ToolContext, mut listing: Listing) -> Result<Listing, Error> {
    let (folder, real) = context.workspace.folder_and_place(path)?;
    let levels = args.depth.unwrap_or(1).clamp(1, MAX_DEPTH);
    let secrets = context.workspace.secrets();
    let is_secret = |below: &str| secrets.covers(&real.join(below));
    listing.add(&folder, "", levels, &is_secret).map_err(|source| Error::at(path.as_str(), source))?;
    Ok(listing)
}

#[derive(Default)]
struct Listing {
    lines: Vec<String>,
    full: bool,
    /// How many entries may still be looked at; it is given up at 0. None where there is no such bound.
    left: Option<usize>,
}

impl Listing {
    fn told(mut self) -> ToolResult {
        if self.lines.is_empty() {
            self.lines.push("[the folder is empty]".to_owned());
        }
        if self.full {
            self.lines.push(format!("[the first {MAX_ENTRIES} entries; list a folder below, or use find_files]"));
        }
        ToolResult::ok(self.lines.join("\n"))
    }

    fn add(&mut self, folder: &Dir, prefix: &str, levels: u64, is_secret: &dyn Fn(&str) -> bool) -> io::Result<()> {
        let mut entries = self.entries(folder)?;
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        for (name, kind, size) in entries {
            if self.lines.len() == MAX_ENTRIES {
                self.full = true;
                return Ok(());
            }
            // A name has no NUL in it, and what is no text in it is shown as such.
            let path = [prefix, &name.to_string_lossy()].concat();
            if kind == FileType::Directory {
                self.lines.push([&path, "/"].concat());
                let closed = LEFT_CLOSED.iter().any(|closed| name == *closed) || is_secret(&path);
                if levels > 1 && !closed
                    // A folder that cannot be opened, or has become a link that leads out, is shown and left closed.
                    && let Ok(below) = folder.open_dir(&name)
                {
                    let _ = self.add(&below, &format!("{path}/"), levels - 1, is_secret);
                }
            } else if kind == FileType::Symlink {
                self.lines.push([&path, "@"].concat());
            } else if kind == FileType::RegularFile {
                self.lines.push([&path, "  ", &text::size(size)].concat());
            } else {
                self.lines.push([&path, "  [not a file]"].concat());
            }
        }
        Ok(())
    }

    /// What is in a folder, with the sizes of files; nothing where the bound is reached.
    fn entries(&mut self, folder: &Dir) -> io::Result<Vec<(OsString, FileType, u64)>> {
        // Opened anew: copies of a handle read on where another one has stopped.
        let opened = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(folder, ".", opened, Mode::empty())?;
        let mut space = [MaybeUninit::uninit(); 8192];
        let mut read = RawDir::new(&opened, &mut space);
        let mut entries = Vec::new();
        while let Some(entry) = read.next() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if let Some(left) = &mut self.left {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    return Ok(Vec::new());
                }
            }
            let (mut kind, mut size) = (entry.file_type(), 0);
            if matches!(kind, FileType::RegularFile | FileType::Unknown) {
                // What is gone by now is shown as it was.
                if let Ok(there) = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW) {
                    kind = FileType::from_raw_mode(there.st_mode);
                    size = u64::try_from(there.st_size).unwrap_or(0);
                }
            }
            entries.push((OsString::from_vec(name.to_bytes().to_vec()), kind, size));
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::test_support::TestWorkspace;

    #[tokio::test]
    async fn a_folder_is_listed_by_name_with_kinds_and_sizes() {
        let room =
            TestWorkspace::with(&[("b.txt", b"12345"), ("a/deep/x", b""), (".hidden", b""), ("target/junk", b"")]);
        std::os::unix::fs::symlink("b.txt", room.path("link")).unwrap();
        let top = room.ok(tool(), "{}").await.content;
        assert_eq!(&*top, ".hidden  0 B\na/\nb.txt  5 B\nlink@\ntarget/");
        let deep = room.ok(tool(), r#"{"path": ".", "depth": 9}"#).await.content;
        assert_eq!(&*deep, ".hidden  0 B\na/\na/deep/\na/deep/x  0 B\nb.txt  5 B\nlink@\ntarget/");
        assert_eq!(&*room.ok(tool(), r#"{"path": "target"}"#).await.content, "junk  0 B");
    }

    #[tokio::test]
    async fn a_folder_is_listed_in_the_same_way_at_once_and_later() {
        let room = TestWorkspace::with(&[]);
        for n in 0..FEW + 2 {
            let (args, path) = (Args { depth: None }, room.context.workspace.path(".").unwrap());
            let now = at_once(&args, &path, &room.context).map(|result| result.unwrap().content);
            let later = act(&args, &path, &room.context).unwrap().content;
            assert_eq!(now, (n < FEW).then_some(later), "{n} files");
            std::fs::write(room.path(&format!("f{n:03}")), "").unwrap();
        }
    }

    #[tokio::test]
    async fn a_long_list_ends_with_a_mark() {
        let room = TestWorkspace::with(&[]);
        for n in 0..600 {
            std::fs::write(room.path(&format!("f{n:03}")), "").unwrap();
        }
        let content = room.ok(tool(), "{}").await.content;
        assert_eq!(content.lines().count(), MAX_ENTRIES + 1);
        assert!(content.ends_with("[the first 500 entries; list a folder below, or use find_files]"));
    }

    #[tokio::test]
    async fn what_is_no_folder_is_an_error() {
        let room = TestWorkspace::with(&[("a", b"")]);
        assert!(room.error(tool(), r#"{"path": "a"}"#).await.contains("is not a folder"));
        assert!(room.error(tool(), r#"{"path": "b"}"#).await.starts_with("there is no 'b'"));
        std::fs::create_dir(room.path("empty")).unwrap();
        assert_eq!(&*room.ok(tool(), r#"{"path": "empty"}"#).await.content, "[the folder is empty]");
    }
}
