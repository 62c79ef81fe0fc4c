//! A walk through a folder that never leaves its handle and leaves out what `.gitignore` and `.ignore` name.
//!
//! The walkers of the `ignore` crate work on ambient paths and open ignore files whatever they are; a named pipe called
//! `.gitignore` would hold them for ever. Here every folder is opened from its parent's handle, ignore files are read like
//! any other file, and only the matching of patterns is theirs. Rules from outside the workspace do not apply.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cap_std::fs::{Dir, FileType};
use globset::{GlobBuilder, GlobMatcher};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tokio_util::sync::CancellationToken;

use super::file::{self, Links};
use super::leftover::open_itself;
use super::unreadable::real_path;
use super::{WorkPath, Workspace};
use crate::error::Error;
use crate::secrets::Secrets;

const MAX_ENTRIES: usize = 200_000;
const MAX_DEPTH: usize = 64;
const MAX_TIME: Duration = Duration::from_secs(30);

/// A thing that is no folder.
pub(crate) struct Entry<'a> {
    /// Its path from the workspace root, with `/`.
    pub path: &'a str,
    /// The folder that holds it.
    pub folder: &'a Dir,
    /// Its name in that folder.
    pub name: &'a OsStr,
}

/// How far a walk came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walked {
    /// Everywhere.
    All,
    /// As far as the visitor wanted.
    Enough,
    /// Until the call was stopped.
    Stopped,
    /// To a limit on entries or time.
    Limited,
}

impl Walked {
    /// What is said below a result of this walk.
    pub fn note(self, narrow: &str) -> String {
        match self {
            Walked::All => String::new(),
            Walked::Enough => format!("\n[there may be more: narrow the {narrow}]"),
            Walked::Stopped => "\n[stopped before the end]".to_owned(),
            Walked::Limited => {
                format!("\n[not everything was looked at, the workspace is too large: narrow the {narrow}]")
            }
        }
    }
}

/// Visits everything below `from` that is no folder and not ignored, in the order of names.
pub(crate) fn walk(
    workspace: &Workspace,
    from: &WorkPath,
    stop: &CancellationToken,
    mut visit: impl FnMut(&Entry<'_>) -> ControlFlow<()>,
) -> Result<Walked, Error> {
    let folder = workspace.folder(from)?;
    let prefix = from.prefix();
    let real = real_path(&folder).map_err(|source| Error::at(from.as_str(), source))?;
    let mut walk = Walk {
        stop,
        visit: &mut visit,
        rules: Vec::new(),
        left: MAX_ENTRIES,
        until: Instant::now() + MAX_TIME,
        secrets: workspace.secrets(),
        from: (prefix.len(), real),
    };
    // What the folders above say holds below too.
    for above in from.above() {
        walk.learn(&workspace.folder(&above)?, &above.prefix());
    }
    Ok(match walk.folder(&folder, &prefix, 0) {
        ControlFlow::Continue(()) => Walked::All,
        ControlFlow::Break(why) => why,
    })
}

struct Walk<'a> {
    stop: &'a CancellationToken,
    visit: &'a mut dyn FnMut(&Entry<'_>) -> ControlFlow<()>,
    /// What the ignore files say, from the workspace root down to the folder that is being walked.
    rules: Vec<Rules>,
    left: usize,
    until: Instant,
    /// What is passed over.
    secrets: Secrets,
    /// How long the prefix of the folder is in which the walk began, and where that really is. No link is followed below it.
    from: (usize, PathBuf),
}

/// What one ignore file says about paths that begin as its folder's does.
struct Rules {
    prefix_len: usize,
    patterns: Gitignore,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Dir, prefix: &str, depth: usize) -> ControlFlow<Walked> {
        let known = self.rules.len();
        self.learn(folder, prefix);
        for (name, kind) in self.entries(folder)? {
            if self.stop.is_cancelled() {
                return ControlFlow::Break(Walked::Stopped);
            }
            if Instant::now() > self.until {
                return ControlFlow::Break(Walked::Limited);
            }
            let path = format!("{prefix}{}", name.to_string_lossy());
            let is_secret = || self.secrets.covers(&self.from.1.join(&path[self.from.0..]));
            if name == ".git" || self.ignored(&path, kind.is_dir()) || is_secret() {
                continue;
            }
            if !kind.is_dir() {
                if (self.visit)(&Entry { path: &path, folder, name: &name }).is_break() {
                    return ControlFlow::Break(Walked::Enough);
                }
            } else if depth == MAX_DEPTH {
                return ControlFlow::Break(Walked::Limited);
            } else if let Some(below) = open_itself(folder, &name) {
                self.folder(&below, &format!("{path}/"), depth + 1)?;
            }
        }
        self.rules.truncate(known);
        ControlFlow::Continue(())
    }

    /// A folder's names in order. What cannot be listed holds nothing to see.
    fn entries(&mut self, folder: &Dir) -> ControlFlow<Walked, Vec<(OsString, FileType)>> {
        let mut entries = Vec::new();
        for entry in folder.entries().into_iter().flatten().flatten() {
            if self.left == 0 {
                return ControlFlow::Break(Walked::Limited);
            }
            self.left -= 1;
            if let Ok(kind) = entry.file_type() {
                entries.push((entry.file_name(), kind));
            }
        }
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        ControlFlow::Continue(entries)
    }

    fn learn(&mut self, folder: &Dir, prefix: &str) {
        for name in [".gitignore", ".ignore"] {
            let Ok(found) = file::read(folder, name, name, Links::Inside) else { continue };
            let mut builder = GitignoreBuilder::new(".");
            for line in String::from_utf8_lossy(&found.bytes).trim_start_matches('\u{FEFF}').lines() {
                // A line that is no pattern says nothing; git passes over it too.
                let _ = builder.add_line(None, line);
            }
            if let Ok(patterns) = builder.build() {
                self.rules.push(Rules { prefix_len: prefix.len(), patterns });
            }
        }
    }

    /// The nearest ignore file that has something to say about a path decides.
    fn ignored(&self, path: &str, is_dir: bool) -> bool {
        let said = |rules: &Rules| match rules.patterns.matched(&path[rules.prefix_len..], is_dir) {
            ignore::Match::None => None,
            found => Some(found.is_ignore()),
        };
        self.rules.iter().rev().find_map(said).unwrap_or(false)
    }
}

/// A glob as people write it: one without `/` means a name at any depth.
pub(crate) fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    let trimmed = pattern.trim().trim_start_matches("./").trim_start_matches('/');
    let anywhere = if trimmed.contains('/') { trimmed.to_owned() } else { format!("**/{trimmed}") };
    match GlobBuilder::new(&anywhere).literal_separator(true).build() {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => {
            Err(format!("the glob '{pattern}' cannot be read: {}; examples: *.rs, src/**/*.{{js,ts}}", error.kind()))
        }
    }
}
