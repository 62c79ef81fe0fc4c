//! Names of things: threads, calls, positions in a log, moments.
//!
//! An id is never parsed out of prose; a thread's place in its family is read from its own dotted name.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A thread's name: a root such as `20260115-k3f9`, its first child `20260115-k3f9.1`, that one's second child `20260115-k3f9.1.2`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ThreadId(Arc<str>);

impl ThreadId {
    /// A thread's name as it was given or stored.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of this thread's `number`th child, counted from 1.
    pub fn child(&self, number: u32) -> Self {
        Self(format!("{}.{number}", self.0).into())
    }

    /// The root of the family that this thread belongs to.
    pub fn root(&self) -> Self {
        match self.0.split_once('.') {
            Some((root, _)) => Self(root.into()),
            None => self.clone(),
        }
    }

    /// The thread that started this one; none for a root.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('.').map(|(parent, _)| Self(parent.into()))
    }

    /// 0 for a root, 1 for its children, 2 for theirs.
    pub fn depth(&self) -> u32 {
        self.0.bytes().filter(|b| *b == b'.').count() as u32
    }

    /// Whether this is a root thread.
    pub fn is_root(&self) -> bool {
        !self.0.contains('.')
    }
}

impl From<ThreadId> for Arc<str> {
    fn from(thread: ThreadId) -> Self {
        thread.0
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A tool call's name, unique within its thread; on the wire it is `tool_use_id`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(Arc<str>);

impl CallId {
    /// A call's name as the model or the log gave it.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of an input that came from outside. Its sender chooses it, so that one message sent twice differs from two messages.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputId(pub Arc<str>);

impl InputId {
    /// An input's name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }
}

impl fmt::Debug for InputId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A moment, in milliseconds since 1970. Handed in by the driver, which never lets it run backwards within a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub i64);

impl Time {
    /// This moment and `ms` milliseconds.
    pub fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add_unsigned(ms))
    }

    /// Milliseconds from `earlier` to this moment; 0 where the clock went backwards.
    pub fn since_ms(self, earlier: Time) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}
