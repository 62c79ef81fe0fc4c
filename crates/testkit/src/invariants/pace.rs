//! How many requests a thread may make while nothing comes of them: a figure that follows from its policy, whatever the model says.
//!
//! Something comes of a request when a call succeeds, a child reports, or a person or another agent says something new. A process
//! that goes on with the thread starts the count again, too. How much a thread may do in all is bounded by its grant (`LogChecker`).

use agent::Event;
use agent::event::{ThreadCreated, TurnKind};
use agent::policy::Policy;

use super::{Broken, hold};

/// Answers in a row that can be cut off at their output limit before the text is taken as it is or the thread ends.
const CUT_ANSWERS: u32 = 5;

/// Whole answers that can miss the schema: the first, and two that were asked for again.
const SCHEMA_ANSWERS: u32 = 3;

/// Turns that lead to one answer: a request that is too long, a summary, the request again too long, and once more.
const TURNS_PER_ANSWER: u32 = 4;

/// Requests of one turn: the first, and four more where it fails in a way that may pass.
const REQUESTS_PER_TURN: u32 = 5;

/// The most answers that can come without anything coming of them. The last turn is one of them.
fn most_answers(policy: &Policy) -> u32 {
    let checked = policy.check_attempts + SCHEMA_ANSWERS.max(policy.check_attempts);
    policy.loop_failed_at + checked * (CUT_ANSWERS + 1) + 1
}

/// The most requests that can be made without anything coming of them.
fn most_requests(policy: &Policy) -> u32 {
    (most_answers(policy) + 1) * TURNS_PER_ANSWER * REQUESTS_PER_TURN
}

/// The pace of one thread, kept from its events.
#[derive(Clone, Debug)]
pub struct Pace {
    most_answers: u32,
    most_requests: u32,
    /// Answers since something last came of one; summaries are not among them.
    answers: u32,
    /// Requests since then.
    requests: u32,
    is_summary: bool,
}

impl Pace {
    /// Of a thread that came to be.
    pub fn new(created: &ThreadCreated) -> Self {
        let policy = &created.policy;
        Self {
            most_answers: most_answers(policy),
            most_requests: most_requests(policy),
            answers: 0,
            requests: 0,
            is_summary: false,
        }
    }

    /// An event was committed.
    pub fn see(&mut self, event: &Event) -> Result<(), Broken> {
        match event {
            Event::TurnStarted(turn) => {
                self.requests += 1;
                self.is_summary = turn.kind == TurnKind::Compact;
            }
            Event::CallFailed { retry_at: Some(_), .. } | Event::CallRepeated { .. } => self.requests += 1,
            Event::SamplingStarted(_) => self.requests += 1,
            Event::Answered(_) => self.answers += u32::from(!self.is_summary),
            Event::ToolFinished { result, .. } if !result.came_to_nothing() => self.start_again(),
            Event::RunStarted { .. }
            | Event::Steered { .. }
            | Event::ChildReported { .. }
            | Event::Reopened { .. }
            | Event::Reported(_) => self.start_again(),
            _ => {}
        }
        let (answers, requests) = (self.answers, self.requests);
        hold("answers of which nothing comes are few", answers <= self.most_answers, || {
            format!("{answers} in a row, and {} are the most", self.most_answers)
        })?;
        hold("requests of which nothing comes are few", requests <= self.most_requests, || {
            format!("{requests} in a row, and {} are the most", self.most_requests)
        })
    }

    fn start_again(&mut self) {
        (self.answers, self.requests) = (0, 0);
    }
}
