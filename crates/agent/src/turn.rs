//! One file per thing that can happen to an agent.

pub(crate) mod answer;
pub(crate) mod approval;
pub(crate) mod begin;
pub(crate) mod checks;
pub(crate) mod child;
pub(crate) mod delegate;
pub(crate) mod failure;
pub(crate) mod finish;
pub(crate) mod hand_over;
pub(crate) mod inbox;
pub(crate) mod needs;
pub(crate) mod permission;
pub(crate) mod reopen;
pub(crate) mod sampling;
pub(crate) mod settings;
pub(crate) mod spawn;
pub(crate) mod starting;
pub(crate) mod stop;
pub(crate) mod time;
pub(crate) mod tool_calls;
pub(crate) mod tools;
pub(crate) mod verbs;
pub(crate) mod window;
