//! Tools of other programs, by the Model Context Protocol: the client's side.
//!
//! [`Servers`] holds the configured servers of a process. It starts them, lists their tools, and makes a [`tool::Registry`] of those that a
//! person approved ([`Pins`]); whenever that set changes, it calls a function of its owner, who publishes the registry. A [`Server`] is one
//! connection: a program that talks over its input and output, or an address. It is made again, with growing pauses, after it broke; a call
//! that was under way when it broke ends as *outcome unknown* and is never made again.
//!
//! What a server says is untrusted: its tools ask before each call whatever their hints say (`tools.rs`), its texts are marked as foreign
//! and cut (`output.rs`), its lines are bounded before they are parsed (`pump.rs`).
//!
//! The crate `rmcp` speaks the protocol. Nothing of it, and nothing of `chrono` which it brings along, is part of what this crate shows.
//!
//! Left to others: which servers are configured and where approvals are kept (`crates/majordomo`), whether a call is allowed
//! (`crates/agent`), processes and sandboxes (`crates/tool`). Absent: the server's side of the protocol.

mod client;
mod content;
mod elicit;
mod error;
mod find;
mod http;
mod login;
mod names;
mod offered;
mod output;
mod pump;
mod sample;
mod server;
mod servers;
mod settings;
mod tools;

pub use content::{PromptInfo, ResourceInfo};
pub use error::Error;
pub use find::{CALL_TOOL, FIND_TOOLS};
pub use login::{Login, is_logged_in, log_out};
pub use names::{SEPARATOR, plain_name, tool_pattern};
pub use offered::{Change, Offered, Pinned, Pins};
pub use server::{Server, Surroundings};
pub use servers::{Servers, Status, ToolState};
pub use settings::{Connection, ServerSettings};
pub use tools::judged_only;
