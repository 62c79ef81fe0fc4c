//! The rules: a pure state machine for one agent.

pub mod birth;
pub mod brief;
pub mod budget;
pub mod context;
pub mod effect;
pub mod event;
pub mod house;
pub mod id;
pub mod input;
pub mod json;
mod machine;
pub mod message;
pub mod mode;
pub mod model;
pub mod policy;
pub mod report;
pub mod role;
pub mod thread;
pub mod tools;
mod turn;

pub use effect::Effect;
pub use event::Event;
pub use id::{CallId, InputId, ThreadId, Time};
pub use input::{Input, Outside, Strength};
pub use json::Json;
pub use machine::Step;
pub use mode::Mode;
pub use report::{Outcome, Report, Usage};
pub use thread::Thread;
