//! The verbs: the calls by which an agent starts, tells and stops other agents. They are answered by the rules themselves and not
//! by a tool.
//!
//! Each is one value here, with its name, its risk, what it can start and the words in which it is called. How they are advertised
//! is in `context/verbs.rs`, how a call is read and answered in `vocabulary.rs`, what it does in `turn/verbs.rs`.

use crate::tools::Risk;

/// A verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Starts one sub-agent.
    SpawnAgent,
    /// Starts a sub-agent for each of several subtasks, which may depend on each other.
    DelegateTask,
    /// Tells a running sub-agent something.
    MessageAgent,
    /// Waits for sub-agents in the background.
    WaitAgents,
    /// Stops a sub-agent.
    StopAgent,
    /// Lists agents and sub-agents.
    ListAgents,
    /// Starts the agent to which an intent leads (`policy.delegates`).
    Delegate,
    /// Starts, lists and stops temporary sub-agents.
    SpawnAgentTool,
    /// Starts an agent of the catalogue, or lists them.
    DelegateTaskTool,
    /// Starts several agents of the catalogue at the same time.
    ParallelTasksTool,
    /// Starts one sub-agent of a type.
    Task,
}

/// What a verb can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// No sub-agent: it is always free.
    Nothing,
    /// One sub-agent.
    One,
    /// Several sub-agents.
    Several,
}

/// The words in which a verb is called and answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vocabulary {
    /// One verb for each thing, answered in plain text.
    Own,
    /// One verb for several operations, answered in JSON.
    Operations,
}

impl Verb {
    /// All verbs, in the order in which they are advertised.
    pub const ALL: [Self; 11] = [
        Self::SpawnAgent,
        Self::DelegateTask,
        Self::MessageAgent,
        Self::WaitAgents,
        Self::StopAgent,
        Self::ListAgents,
        Self::Delegate,
        Self::SpawnAgentTool,
        Self::DelegateTaskTool,
        Self::ParallelTasksTool,
        Self::Task,
    ];

    /// The verb of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.name() == name)
    }

    /// The name by which a model calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SpawnAgent => "spawn_agent",
            Self::DelegateTask => "delegate_task",
            Self::MessageAgent => "message_agent",
            Self::WaitAgents => "wait_agents",
            Self::StopAgent => "stop_agent",
            Self::ListAgents => "list_agents",
            Self::Delegate => "delegate",
            Self::SpawnAgentTool => "SpawnAgentTool",
            Self::DelegateTaskTool => "DelegateTaskTool",
            Self::ParallelTasksTool => "ParallelTasksTool",
            Self::Task => "Task",
        }
    }

    /// How much a person should think before saying yes (ZILEO-25). For most that is little: a grant limits what a sub-agent
    /// spends, and each of its calls is judged when it is made.
    pub const fn risk(self) -> Risk {
        match self {
            Self::SpawnAgentTool | Self::DelegateTaskTool => Risk::Medium,
            Self::ParallelTasksTool => Risk::High,
            Self::SpawnAgent
            | Self::DelegateTask
            | Self::MessageAgent
            | Self::WaitAgents
            | Self::StopAgent
            | Self::ListAgents
            | Self::Delegate
            | Self::Task => Risk::Low,
        }
    }

    /// What it can start: an agent that has such a verb needs places for sub-agents.
    pub const fn starts(self) -> Starts {
        match self {
            Self::SpawnAgent | Self::Delegate | Self::SpawnAgentTool | Self::DelegateTaskTool | Self::Task => {
                Starts::One
            }
            Self::DelegateTask | Self::ParallelTasksTool => Starts::Several,
            Self::MessageAgent | Self::WaitAgents | Self::StopAgent | Self::ListAgents => Starts::Nothing,
        }
    }

    /// In which words it is called and answered.
    pub const fn vocabulary(self) -> Vocabulary {
        match self {
            Self::SpawnAgent
            | Self::DelegateTask
            | Self::MessageAgent
            | Self::WaitAgents
            | Self::StopAgent
            | Self::ListAgents
            | Self::Delegate
            | Self::Task => Vocabulary::Own,
            Self::SpawnAgentTool | Self::DelegateTaskTool | Self::ParallelTasksTool => Vocabulary::Operations,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{OPERATION_VERBS, STARTING_VERBS, USUAL_VERBS, VERBS};

    #[test]
    fn the_lists_of_names_are_those_of_the_verbs() {
        assert_eq!(VERBS, Verb::ALL.map(Verb::name));
        let named =
            |is_wanted: fn(Verb) -> bool| Verb::ALL.into_iter().filter(move |verb| is_wanted(*verb)).map(Verb::name);
        assert!(named(|verb| verb.starts() != Starts::Nothing).eq(STARTING_VERBS));
        assert!(named(|verb| verb.vocabulary() == Vocabulary::Operations).eq(OPERATION_VERBS));
        assert!(named(|verb| verb < Verb::Delegate).eq(USUAL_VERBS));
        assert!(Verb::ALL.into_iter().all(|verb| Verb::of(verb.name()) == Some(verb)));
        assert_eq!(Verb::of("no_verb"), None);
    }
}
