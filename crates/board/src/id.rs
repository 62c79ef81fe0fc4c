//! Names: of boards, of tasks, and of those who act on them.

use std::fmt;
use std::sync::Arc;

use agent::ThreadId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A board's name: the path of the folder that it belongs to, or a name that a person gave it, which has no `/`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BoardId(Arc<str>);

impl BoardId {
    /// A board's name as it was given or stored.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BoardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A task's name, unique in its board: `t12`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(Arc<str>);

impl TaskId {
    /// The name of the `number`th task of a board.
    pub fn of(number: u64) -> Self {
        Self(format!("t{number}").into())
    }

    /// The task that a text names, written as a task's name is; none for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.trim().strip_prefix(['t', 'T'])?;
        let number: u64 = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        (number > 0).then(|| Self::of(number))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its number in the board.
    pub fn number(&self) -> u64 {
        self.0.strip_prefix('t').and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who acts on a board.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Actor {
    /// A person, by whichever interface.
    Human,
    /// An agent, by its thread.
    Thread(ThreadId),
    /// The program itself.
    System,
}

impl Actor {
    /// The thread, where it is an agent.
    pub fn thread(&self) -> Option<&ThreadId> {
        match self {
            Actor::Thread(thread) => Some(thread),
            Actor::Human | Actor::System => None,
        }
    }

    /// The word for it on the wire: `human`, `system` or the thread's name.
    pub fn as_str(&self) -> &str {
        match self {
            Actor::Human => "human",
            Actor::Thread(thread) => thread.as_str(),
            Actor::System => "system",
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Actor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Actor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Arc::<str>::deserialize(deserializer)?;
        Ok(match &*text {
            "human" => Actor::Human,
            "system" => Actor::System,
            _ => Actor::Thread(ThreadId::new(text)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tasks_name_is_a_t_and_a_number() {
        assert_eq!(TaskId::parse("t12"), Some(TaskId::of(12)));
        assert_eq!(TaskId::parse(" T12 ").map(|task| task.number()), Some(12));
        for text in ["", "t", "t0", "t-1", "t+1", "12", "task1", "t1x", "t99999999999999999999"] {
            assert_eq!(TaskId::parse(text), None, "{text}");
        }
    }
}
