//! A path from the workspace root, clean by construction: no `..`, nothing absolute, no surprises in its spelling.
//!
//! Cleanliness is for clear errors and for one name per file in reports; confinement is the directory handle's work.

use std::fmt;
use std::path::{Component, Path};

use crate::error::Error;
use crate::text;

/// The longest path that the kernel takes.
const MAX_BYTES: usize = 4095;

/// A path from the workspace root, with `/` between its parts; `.` for the root itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkPath(String);

impl WorkPath {
    /// Reads a path; an absolute one is accepted where it names something below one of `roots`, part by part.
    pub(crate) fn parse(text: &str, roots: &[&Path]) -> Result<Self, Error> {
        let refused = |why| Err(Error::Path { path: text::clip(text, 80).replace('\0', "\u{FFFD}"), why });
        if text.contains('\0') {
            return refused("it holds a NUL");
        }
        if text.len() > MAX_BYTES {
            return refused("it is too long");
        }
        let given = Path::new(text.trim());
        let below = roots.iter().find_map(|root| given.strip_prefix(root).ok()).unwrap_or(given);
        let mut clean = String::new();
        for (at, part) in below.components().enumerate() {
            match part {
                Component::CurDir => {}
                Component::Normal(part) => {
                    let part = part.to_str().expect("a part of a text path is text");
                    if at == 0 && part.starts_with('~') {
                        return refused("'~' is not expanded");
                    }
                    if !clean.is_empty() {
                        clean.push('/');
                    }
                    clean.push_str(part);
                }
                Component::ParentDir => return refused("it holds '..'"),
                Component::RootDir | Component::Prefix(_) => return refused("it lies outside the workspace"),
            }
        }
        if clean.is_empty() {
            clean.push('.');
        }
        Ok(Self(clean))
    }

    /// The path as text, as it stands in reports.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the workspace itself.
    pub fn is_root(&self) -> bool {
        self.0 == "."
    }

    pub(crate) fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }

    /// The folder (none for the root) and the name within it; none for the root itself.
    pub(super) fn split(&self) -> Option<(Option<&str>, &str)> {
        match self.0.rsplit_once('/') {
            Some((folder, name)) => Some((Some(folder), name)),
            None if self.is_root() => None,
            None => Some((None, &self.0)),
        }
    }

    /// The folders that hold this one, from the root down.
    pub(super) fn above(&self) -> impl Iterator<Item = WorkPath> + '_ {
        let root = (!self.is_root()).then(|| WorkPath(".".to_owned()));
        root.into_iter().chain(self.0.match_indices('/').map(|(end, _)| WorkPath(self.0[..end].to_owned())))
    }

    /// What a path of something below this one begins with.
    pub(crate) fn prefix(&self) -> String {
        if self.is_root() { String::new() } else { format!("{}/", self.0) }
    }
}

impl fmt::Display for WorkPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
