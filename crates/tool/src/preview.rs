//! What a call of `edit_file`, `write_file` or `run_command` would do, for a person who decides on it. The arguments are read by the
//! same function and into the same structs as for the call itself, so that each name of an argument counts here as it counts there
//! (T25).
//!
//! None where something in the arguments is not part of the answer: a field that the tool does not have, or arguments that it refuses.
//! They are then shown as they stand. Left to others: how it is drawn.

use agent::Json;

use crate::args::Call;
use crate::{edit_file, run_command, write_file};

/// What a call would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preview {
    /// A command is run.
    Command {
        /// The command.
        command: String,
        /// The folder that it runs in; the workspace where none is given.
        folder: Option<String>,
        /// When it is ended; the usual time where none is given.
        timeout_s: Option<u64>,
        /// Whether it asks for a network.
        network: bool,
    },
    /// Pieces of a file are replaced, in this order.
    Edits {
        /// The file, as it was given.
        path: String,
        /// The pieces.
        edits: Vec<Replacement>,
    },
    /// A file is written whole.
    File {
        /// The file, as it was given.
        path: String,
        /// What stands in it then.
        content: String,
    },
}

/// A piece of a file, and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// What is there.
    pub old: String,
    /// What will be there.
    pub new: String,
    /// Whether every place is meant.
    pub all: bool,
}

impl Preview {
    /// What a call would do; none where it cannot be said whole.
    pub fn of(tool: &str, input: &Json) -> Option<Self> {
        match tool {
            edit_file::NAME => {
                let (path, Call { args, ignored }) = Call::<edit_file::Args>::read_with_path(input, tool, "").ok()?;
                let edits = args.edits().ok().filter(|_| ignored.is_empty())?;
                let piece =
                    |edit: edit_file::Edit| Replacement { old: edit.old_text, new: edit.new_text, all: edit.all };
                Some(Self::Edits { path: path?, edits: edits.into_iter().map(piece).collect() })
            }
            write_file::NAME => {
                let (path, Call { args, ignored }) = Call::<write_file::Args>::read_with_path(input, tool, "").ok()?;
                ignored.is_empty().then_some(Self::File { path: path?, content: args.content })
            }
            run_command::NAME => {
                let Call { args, ignored } = Call::<run_command::Args>::read(input, tool, "").ok()?;
                let run_command::Args { command, timeout_s, cwd, network } = args;
                ignored.is_empty().then_some(Self::Command { command, folder: cwd, timeout_s, network })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: &str, input: &str) -> Option<Preview> {
        Preview::of(tool, &Json::parse(input).expect("the test's text is JSON"))
    }

    fn edits(input: &str) -> Option<Vec<(String, String, bool)>> {
        match of("edit_file", input)? {
            Preview::Edits { edits, .. } => {
                Some(edits.into_iter().map(|edit| (edit.old, edit.new, edit.all)).collect())
            }
            other => panic!("{other:?}"),
        }
    }

    fn piece(old: &str, new: &str, all: bool) -> (String, String, bool) {
        (old.to_owned(), new.to_owned(), all)
    }

    // T25
    #[test]
    fn an_edit_is_read_by_the_names_that_the_tool_reads() {
        let plain = Some(vec![piece("a", "b", false)]);
        assert_eq!(edits(r#"{"path": "f", "old_text": "a", "new_text": "b"}"#), plain);
        assert_eq!(edits(r#"{"file": "f", "old_string": "a", "new_string": "b"}"#), plain);
        let all = Some(vec![piece("a", "b", true)]);
        assert_eq!(edits(r#"{"path": "f", "old_text": "a", "new_text": "b", "replace_all": "true"}"#), all);
        let two = r#"{"path": "f", "edits": [{"old_text": "a", "new_text": "b"}, {"old_string": "c", "new_string": "d", "all": true}]}"#;
        assert_eq!(edits(two), Some(vec![piece("a", "b", false), piece("c", "d", true)]));
    }

    // T25
    #[test]
    fn arguments_that_say_something_else_besides_have_no_preview() {
        let wrong = [
            ("edit_file", r#"{"path": "f", "old": "a", "new": "b", "old_string": "x", "new_string": "evil"}"#),
            ("edit_file", r#"{"path": "f", "old_text": "a", "new_text": "b", "old_string": "x"}"#),
            ("edit_file", r#"{"path": "f", "file": "g", "old_text": "a", "new_text": "b"}"#),
            (
                "edit_file",
                r#"{"path": "f", "old_text": "a", "new_text": "b", "edits": [{"old_text": "c", "new_text": "d"}]}"#,
            ),
            ("edit_file", r#"{"old_text": "a", "new_text": "b"}"#),
            ("write_file", r#"{"path": "f", "content": "a", "text": "b"}"#),
            ("write_file", r#"{"path": "f", "content": "a", "mode": "0777"}"#),
            ("run_command", r#"{"command": "ls", "cmd": "rm x"}"#),
            ("run_command", r#"{"command": "ls", "env": {"PATH": "/tmp"}}"#),
            ("delete_file", r#"{"path": "f"}"#),
        ];
        for (tool, input) in wrong {
            assert_eq!(of(tool, input), None, "{input}");
        }
    }

    // T25
    #[test]
    fn a_command_is_read_with_its_folder_its_time_and_its_network() {
        let read = of("run_command", r#"{"cmd": "make", "workdir": "sub", "timeout": "7", "network": true}"#);
        let (command, folder) = ("make".to_owned(), Some("sub".to_owned()));
        assert_eq!(read, Some(Preview::Command { command, folder, timeout_s: Some(7), network: true }));
        let read = of("write_file", r#"{"filename": "f", "contents": "a"}"#);
        assert_eq!(read, Some(Preview::File { path: "f".to_owned(), content: "a".to_owned() }));
    }
}
