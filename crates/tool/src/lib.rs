//! Tools that an agent may use, confined to a workspace.
//!
//! A [`Tool`] is a description for the model and an action; a [`Registry`] holds the tools of a process by name, and
//! [`CurrentTools`] publishes the one that is in force; a [`ToolContext`] is what one call works with. Every tool answers a wrong call with a sentence that names the right one, and bounds what it
//! returns. Files are reached beneath one directory handle and never by an ambient path; commands run with a cleaned
//! environment in a [`Sandbox`], and nothing that they start outlives them.
//!
//! Left to others: whether a call is allowed at all (the rules), when it runs and who stops it (the runtime), where its
//! result is kept (the store).
//!
//! Linux only: the process tree is read from `/proc`, and paths are resolved by `openat2`.

pub mod args;
mod artefacts;
mod ask_user;
mod attach;
mod command;
mod context;
pub mod diff;
mod edit_file;
mod error;
mod find_files;
mod list_dir;
mod memory;
pub mod named;
mod on_path;
mod preview;
mod protected;
mod read_file;
mod registry;
mod run_command;
mod sandbox;
mod search_files;
mod secrets;
mod seen_files;
mod text;
mod todo;
mod tool;
mod watch;
mod workspace;
mod write_file;

/// What a program needs to be a guard: `main` hands over to it if the first argument is the word.
pub mod guard {
    pub use ::guard::{WORD, main};
}

pub use artefacts::Artefacts;
pub use attach::{Refusal, attach, image_type, is_attachable};
pub use command::program::{Program, ProgramLife, ProgramSpec, watched};
pub use command::{CommandHost, Guard, search_path};
pub use context::{Asks, Nested, PriorConsent, Progress, ToolContext};
pub use error::Error;
pub use preview::{Preview, Replacement};
pub use protected::{is_protected, protect};
pub use read_file::RESULTS;
pub use registry::{Collision, CurrentTools, Origin, Registry, digest_of};
pub use sandbox::{Fact, Sandbox};
pub use secrets::keep_secret;
pub use seen_files::SeenFiles;
pub use tool::{Tool, info, plainly};
pub use watch::settle_left;
pub use workspace::leftover::{Cleared, clear_below, try_to_write};
pub use workspace::{Change, WorkPath, Workspace, is_local};
