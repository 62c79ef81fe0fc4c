//! What a seed got to see, so that a test can tell that nothing was left out.

use std::collections::BTreeMap;

use agent::Outcome;

/// What a seed got to see.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Things that came to pass.
    pub steps: u32,
    /// Agents that were begun, the root included.
    pub threads: u32,
    /// Requests to models.
    pub requests: u32,
    /// Moments between two things at which a process could have gone away.
    pub moments: u64,
    /// How often each situation came about.
    pub sights: BTreeMap<Sight, u32>,
    /// How often each kind of event was committed.
    pub events: BTreeMap<&'static str, u32>,
    /// How often a run ended in each way.
    pub outcomes: BTreeMap<&'static str, u32>,
}

/// A situation that the rules must live through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    /// A process went away.
    Crash,
    /// A process stood still for a while.
    Stall,
    /// The code around the rules failed.
    Panic,
    /// A commit was refused because another process had written meanwhile.
    Conflict,
    /// A thread was taken from a process that was not gone.
    Takeover,
    /// A process whose thread had been taken tried to write, and was refused.
    Refusal,
    /// A process whose thread had been taken did something for it before it knew.
    StaleDeed,
    /// A thread without a process was ended by the process that had stopped it.
    EndedByAnother,
    /// A child's report was fetched from its log by a process that did not drive the child.
    FetchedReport,
    /// A person wrote to a thread whose run was over.
    IdleMessage,
    /// A later run began on the same thread.
    LaterRun,
    /// A stop reached a thread that was ending.
    DoubleStop,
    /// A stop reached a thread in its last turn.
    StopInLastTurn,
    /// Words reached a thread that was ending.
    SteerAfterStop,
    /// A thread was taken up by a process whose clock was days ahead.
    ClockAhead,
    /// A thread was taken up by a process whose clock was behind its newest event.
    ClockBehind,
    /// An agent was begun three levels below the root.
    DepthThree,
    /// A person was asked.
    Asked,
    /// A person was asked once more about the same call, for what it leads to had changed.
    AskedAgain,
    /// A person said yes.
    Allowed,
    /// A person said yes to all that is like it.
    AllowedForThread,
    /// A person said yes to something else than what was asked.
    Edited,
    /// A person said no.
    Denied,
    /// A person said yes, and a rule no.
    Forbidden,
    /// A person answered what an agent wanted to know.
    Answered,
    /// Nobody answered in time.
    Expired,
    /// No person could be asked any more.
    Unanswered,
    /// A question was taken back.
    Withdrawn,
    /// What a person had allowed was no longer what it would have done, and was not run.
    ChangedBeforeRun,
    /// A parent in another process saw that its child waits for a person.
    PausedElsewhere,
    /// A person was asked before a sub-agent was started.
    StartAsked,
    /// A batch was begun that is answered with its first result.
    FirstIsEnough,
    /// A sub-agent that had reported went on with what it was asked: by its parent, or by the program.
    AskedMore,
    /// A person's message began a run in a sub-agent.
    PersonAsksChild,
    /// A question of a parent was withdrawn before its child began with it.
    QuestionDropped,
    /// A notice reached a thread whose run was over.
    NoticeWakes,
    /// A notice reached a thread that was ending: it has no turn left in which to read it, and begins another run for it.
    NoticeWhileEnding,
}

impl Sight {
    /// All of them.
    pub const ALL: [Self; 36] = [
        Self::Crash,
        Self::Stall,
        Self::Panic,
        Self::Conflict,
        Self::Takeover,
        Self::Refusal,
        Self::StaleDeed,
        Self::EndedByAnother,
        Self::FetchedReport,
        Self::IdleMessage,
        Self::LaterRun,
        Self::DoubleStop,
        Self::StopInLastTurn,
        Self::SteerAfterStop,
        Self::ClockAhead,
        Self::ClockBehind,
        Self::DepthThree,
        Self::Asked,
        Self::AskedAgain,
        Self::Allowed,
        Self::AllowedForThread,
        Self::Edited,
        Self::Denied,
        Self::Forbidden,
        Self::Expired,
        Self::Unanswered,
        Self::Withdrawn,
        Self::ChangedBeforeRun,
        Self::PausedElsewhere,
        Self::StartAsked,
        Self::FirstIsEnough,
        Self::AskedMore,
        Self::PersonAsksChild,
        Self::QuestionDropped,
        Self::NoticeWakes,
        Self::NoticeWhileEnding,
    ];
}

impl Summary {
    /// The sum of two.
    pub fn add(&mut self, other: &Summary) {
        self.steps += other.steps;
        self.threads += other.threads;
        self.requests += other.requests;
        self.moments += other.moments;
        for (sight, count) in &other.sights {
            *self.sights.entry(*sight).or_default() += count;
        }
        for (kind, count) in &other.events {
            *self.events.entry(kind).or_default() += count;
        }
        for (outcome, count) in &other.outcomes {
            *self.outcomes.entry(outcome).or_default() += count;
        }
    }

    /// How often a situation came about.
    pub fn count(&self, sight: Sight) -> u32 {
        self.sights.get(&sight).copied().unwrap_or(0)
    }

    /// Whether a run ended in this way.
    pub fn saw(&self, outcome: Outcome) -> bool {
        self.outcomes.contains_key(outcome.as_str())
    }

    pub(super) fn see(&mut self, sight: Sight) {
        *self.sights.entry(sight).or_default() += 1;
    }
}
