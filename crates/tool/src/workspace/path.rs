//! A path from the workspace root: the one form in which the rest of this crate knows the text that a model wrote.
//!
//! [`WorkPath::parse`] is the only way to make one. What a call would do is assessed, compared with rules, shown to a
//! person, put into a digest and carried out by the same `WorkPath`, so that no check sees another spelling than the file
//! system does. A text that could be read in two ways is refused instead of repaired: white space at either end of a part,
//! control characters, and characters that cannot be seen.
//!
//! Confinement to the workspace is not decided here: that is the work of the directory handle.

use std::borrow::Cow;
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
    pub(super) fn parse(text: &str, roots: &[&Path]) -> Result<Self, Error> {
        let refused = |why: Cow<'static, str>| Err(Error::Path { path: visible(text), why });
        if text.len() > MAX_BYTES {
            return refused("it is too long".into());
        }
        let below = roots.iter().find_map(|root| Path::new(text).strip_prefix(root).ok()).unwrap_or(Path::new(text));
        let mut clean = String::new();
        for (at, part) in below.components().enumerate() {
            match part {
                Component::CurDir => {}
                Component::Normal(part) => {
                    let part = part.to_str().expect("a part of a text path is text");
                    if let Some(why) = ambiguity(part) {
                        return refused(why.into());
                    }
                    if at == 0 && part.starts_with('~') {
                        return refused("'~' is not expanded".into());
                    }
                    if !clean.is_empty() {
                        clean.push('/');
                    }
                    clean.push_str(part);
                }
                Component::ParentDir => return refused("it holds '..'".into()),
                Component::RootDir | Component::Prefix(_) => return refused("it lies outside the workspace".into()),
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

/// A path as a file system would compare it that knows neither case nor Unicode forms: names of ASCII letters that such a
/// file system takes for the same are the same here. FAT drops dots at the end of a name and has short names as well.
pub(crate) fn folded(path: &str) -> String {
    let parts = path.split('/').map(|part| {
        let folded: String = part.chars().flat_map(letters).collect();
        let name = match folded.as_str() {
            "." | ".." => return folded,
            name => name.trim_end_matches('.'),
        };
        // What FAT and NTFS call `.git` in their short form.
        if name == "git~1" { ".git".to_owned() } else { name.to_owned() }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The small ASCII letters that a character is compared as; the character itself where there are none.
fn letters(c: char) -> impl Iterator<Item = char> {
    let plain = match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFF01 + 0x21).unwrap_or(c),
        c => c,
    };
    let several = match plain {
        '\u{17F}' => "s",
        '\u{DF}' | '\u{1E9E}' => "ss",
        '\u{FB00}' => "ff",
        '\u{FB01}' => "fi",
        '\u{FB02}' => "fl",
        '\u{FB03}' => "ffi",
        '\u{FB04}' => "ffl",
        '\u{FB05}' | '\u{FB06}' => "st",
        _ => "",
    };
    let one = several.is_empty().then(|| plain.to_lowercase()).into_iter().flatten();
    several.chars().chain(one)
}

/// Why a part of a path could be taken for another one, if it could.
fn ambiguity(part: &str) -> Option<String> {
    let code = |c: char| format!("U+{:04X}", u32::from(c));
    // Before white space, for some white space cannot be seen, which is the better reason.
    if let Some(c) = part.chars().find(|c| shell::is_unseen(*c)) {
        let what = if c.is_control() { "a control character" } else { "a character that cannot be seen" };
        return Some(format!("it holds {what} ({})", code(c)));
    }
    let ends = [("begins", part.chars().next()), ("ends", part.chars().next_back())];
    let (how, c) = ends.into_iter().find_map(|(how, c)| c.filter(|c| c.is_whitespace()).map(|c| (how, c)))?;
    Some(format!("a part of it {how} with white space ({})", code(c)))
}

/// A refused text, cut, with every character that cannot be seen written as its code point.
fn visible(text: &str) -> String {
    let write = |c: char| if shell::is_unseen(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text::clip(text, 80).chars().map(write).collect()
}
