//! Gives any language model a staff: the library to embed.
//!
//! An agent hands work to sub-agents; each gets one brief, its own context, a grant cut from its parent's, and hands back one
//! report. [`Staff`] is built from a [`Config`](config::Config) and starts conversations; [`Work`] is what it is given; a [`Session`] is
//! one conversation; a [`Run`] goes from a message to its [`Report`].
//!
//! ```no_run
//! use majordomo::config::{Config, Flags, Surroundings};
//! use majordomo::{Options, Staff, Work};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let surroundings = Surroundings::of_process()?;
//! let flags = Flags { model: Some("ollama/qwen3".into()), ..Flags::default() };
//! let config = Config::load(&surroundings, &flags)?;
//! let staff = Staff::open(&surroundings, config, Options::default()).await?;
//! let report = staff.run(Work::new("Summarise what is in this folder")).await?;
//! println!("{}: {}", report.outcome, report.text);
//! staff.runtime().leave().await;
//! # Ok(())
//! # }
//! ```
//!
//! A whole program, with a tool of its own and no key, is `examples/embed.rs`.
//! [`Run::next`] gives what happens while a run goes on: events, to be folded with [`view`], and the text of answers while it is
//! streamed. [`Staff::session`] finds a conversation again, also one that another process drives: send, steer, decide, stop, follow.
//!
//! The other crates are re-exported for programs that need one of them alone.

pub mod agents;
pub mod config;
pub mod decide;
mod decisions;
pub mod follow;
mod home;
pub mod kept;
pub mod presets;
mod route;
pub mod rules;
pub mod session;
pub mod staff;
pub mod threads;
pub mod trust;

pub use agent::{Outcome, Report, ThreadId};
pub use follow::{Update, Updates};
pub use home::SAMPLE;
pub use session::{Run, Session};
pub use staff::{Assignment, Error, Options, Staff, Work};
pub use {agent, household, provider, runtime, store, tool, view};
