//! Gives any language model a staff: the library to embed.
//!
//! An agent hands work to sub-agents; each gets one brief, its own context, a grant cut from its parent's, and hands back one
//! report. Limits, permissions and approvals hold for the whole tree, and everything is in an append-only log.
//!
//! ```no_run
//! use majordomo::Staff;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), majordomo::Error> {
//!     let staff = Staff::builder().model("anthropic/claude-sonnet-5-5").build().await?;
//!     let report = staff.run("Name three rivers of France").await?;
//!     println!("{}", report.answer()?);
//!     staff.close().await;
//!     Ok(())
//! }
//! ```
//!
//! | to | use |
//! |---|---|
//! | put a staff together: model, tools, agents, limits, permissions, where it is kept | [`Staff::builder`] |
//! | give one task and wait for the report | [`Staff::run`] |
//! | have the answer as a value of a Rust type | [`Staff::run_as`] |
//! | see events and text while they come | [`Staff::stream`], a [`Run`] |
//! | hold a conversation, also over restarts | [`Staff::session`], [`Session`] |
//! | choose agent, mode, limits or folder for one task | [`Work`] |
//! | give agents a function of the program | [`Tool::from_fn`] |
//! | decide what needs approval | [`StaffBuilder::approve`], [`Rule`] |
//!
//! `docs/embedding.md` of the repository compares it with other libraries, and `examples/` has a program for each of these.
//!
//! # For interfaces
//! The command line and the server are built on the same types. What else they use is in modules of its own: [`config`] (layers of
//! configuration with their origins), [`trust`] and [`rules`] (what a project's files may say), [`agents`] (agents in files), [`threads`]
//! and [`decide`] (lists and approvals), [`follow`] (the log of a conversation). The crates below are re-exported: [`agent`] (events and
//! rules), [`provider`], [`store`], [`tool`], [`runtime`], [`household`] and [`view`] (events folded into trees, transcripts and frames), and
//! so is [`schemars`], by whose trait types are described.

pub mod agents;
mod approvals;
mod builder;
pub mod config;
pub mod connection;
pub mod decide;
mod decisions;
pub mod files;
pub mod follow;
mod home;
pub mod hooks;
pub mod instructions;
pub mod kept;
mod limits;
mod mentions;
mod model;
pub mod models;
mod named;
mod own;
pub mod presets;
mod program_tool;
mod route;
pub mod rules;
mod run;
pub mod servers;
mod session;
pub mod skills;
pub mod spending;
pub mod staff;
pub mod tasks;
pub mod threads;
pub mod transfer;
pub mod trust;
mod typed;
mod work;
pub mod worker;
pub mod zone;

/// The code on the page is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
struct EmbeddingPage;

pub use agent::approval::{Approval, Decision, Scope};
pub use agent::permission::{Action, Rule};
pub use agent::report::Ended;
pub use agent::role::Agent;
pub use agent::tools::{Reach, Risk};
pub use agent::{Event, Json, Mode, Outcome, Report, Strength, ThreadId, Usage};
pub use builder::{Environment, StaffBuilder};
pub use decide::DecisionOutcome;
pub use home::SAMPLE;
pub use limits::Limits;
pub use model::Model;
pub use program_tool::{Tool, ToolError};
pub use run::{Run, Update};
pub use session::Session;
pub use staff::{Assignment, Error, Kept, Options, Staff};
pub use store::Record;
pub use work::Work;
pub use {agent, household, provider, runtime, schemars, store, tool, view};
