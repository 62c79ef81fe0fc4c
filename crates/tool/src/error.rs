//! What can go wrong with files, in sentences that a model can act on.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

/// What can go wrong with files. The words are read by models, so each says what to do next where something can be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The workspace cannot be opened.
    #[error("{} cannot be a workspace: {source}", path.display())]
    Root {
        /// The folder that was asked for.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A path that is not even tried.
    #[error("the path '{path}' is refused: {why}; give a path from the workspace root, such as src/main.rs")]
    Path {
        /// The path as it was given, cut, with characters that cannot be seen written as their code points.
        path: String,
        /// Why.
        why: Cow<'static, str>,
    },
    /// A link leads out of the workspace.
    #[error("'{path}' leads out of the workspace through a link and is refused")]
    Outside {
        /// The path.
        path: String,
    },
    /// A link leads into a protected place that the path does not name.
    #[error("'{path}' leads into the protected place '{place}' through a link; name the file by its own path")]
    Disguised {
        /// The path.
        path: String,
        /// The place.
        place: &'static str,
    },
    /// A link that is not followed here.
    #[error("'{path}' is a link that is not followed; name the file itself")]
    Link {
        /// The path.
        path: String,
    },
    /// A rule forbids reading it.
    #[error("'{path}' may not be read: a rule forbids it. Go on without it")]
    Unreadable {
        /// The path.
        path: String,
    },
    /// It lies in a secret place.
    #[error(
        "'{path}' may not be read or changed: keys, tokens or the state of Majordomo are kept there, which no agent reaches. Go on without it"
    )]
    Secret {
        /// The path.
        path: String,
    },
    /// It holds no text.
    #[error("'{path}' holds binary data ({size}); look at it with run_command")]
    Binary {
        /// The path.
        path: String,
        /// How much of it, for people.
        size: String,
    },
    /// There is no such thing.
    #[error("there is no '{path}'; list_dir and find_files show what there is")]
    Missing {
        /// The path.
        path: String,
    },
    /// Something that has no content to read or replace.
    #[error("'{path}' is {what}, not a file")]
    NotAFile {
        /// The path.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// A file, where a folder is needed.
    #[error("'{path}' is not a folder, or a part of it is not")]
    NotAFolder {
        /// The path.
        path: String,
    },
    /// More than is ever held in memory.
    #[error("'{path}' is larger than {limit_mib} MiB; work on parts of it with run_command")]
    TooLarge {
        /// The path.
        path: String,
        /// The limit.
        limit_mib: u64,
    },
    /// A change to a file that the thread has not seen.
    #[error("'{path}' exists and is not read yet (or was read before a restart); call read_file on it, then try again")]
    Unread {
        /// The path.
        path: String,
    },
    /// A change to a file that another program has changed.
    #[error("conflict: '{path}' has changed since it was read; read it again and redo the change on what it holds")]
    Changed {
        /// The path.
        path: String,
    },
    /// A change to a file that is known elsewhere under another name.
    #[error(
        "'{path}' has a second name elsewhere (a hard link) and is not changed; copy it to a new file and change that"
    )]
    SecondName {
        /// The path.
        path: String,
    },
    /// A change that could not be made.
    #[error("'{path}' is unchanged: {why}")]
    Unchanged {
        /// The path.
        path: String,
        /// Why.
        why: String,
    },
    /// Anything else that the system says.
    #[error("'{path}': {source}")]
    Io {
        /// The path.
        path: String,
        /// What it says.
        source: io::Error,
    },
}

impl Error {
    /// What the system said about a path, in the words of this enum.
    pub(crate) fn at(path: &str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.raw_os_error().map(Errno::from_raw_os_error) {
            // The directory handle's own refusal carries no number.
            None if source.kind() == io::ErrorKind::PermissionDenied => Self::Outside { path },
            Some(Errno::XDEV) => Self::Outside { path },
            Some(Errno::LOOP) => Self::Link { path },
            Some(Errno::NOENT) => Self::Missing { path },
            Some(Errno::NOTDIR) => Self::NotAFolder { path },
            Some(Errno::ISDIR) => Self::NotAFile { path, what: "a folder" },
            Some(Errno::NXIO) => Self::NotAFile { path, what: "a socket or a device" },
            Some(Errno::NAMETOOLONG) => {
                Self::Path { path: crate::text::clip(&path, 80).into_owned(), why: "it is too long".into() }
            }
            _ => Self::Io { path, source },
        }
    }
}
