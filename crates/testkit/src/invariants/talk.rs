//! What a model is shown: every call has its answer, and nothing already said changes unsaid.

use std::sync::Arc;

use agent::message::{Message, Part, Role};
use agent::model::Answer;
use agent::{CallId, Event, Thread};

use super::{Broken, hold};

/// Every call of a conversation is answered once, in the message right after, in the order of the calls.
/// The calls of the newest answer may still be open.
pub fn answered_calls(thread: &Thread) -> Result<(), Broken> {
    const RULE: &str = "every call is answered once, in the message right after it, in the order of the calls";
    let messages = thread.talk.messages();
    let mut asked: Vec<&CallId> = Vec::new();
    for message in messages {
        let calls: Vec<&CallId> = message.parts.iter().filter_map(call).collect();
        let results: Vec<&CallId> = message.parts.iter().filter_map(result).collect();
        hold(RULE, results == asked, || format!("{asked:?} were asked and {results:?} answered"))?;
        let whole = message.role == Role::Assistant || calls.is_empty();
        hold("only a model calls", whole, || format!("{:?} calls {calls:?}", message.role))?;
        asked = calls;
    }
    let open: Vec<&CallId> = thread.calls.slots().iter().map(|slot| &slot.call).collect();
    hold(RULE, asked == open, || format!("{asked:?} stand last in the talk and {open:?} are under way"))
}

/// A call whose arguments could not be read is not run, whatever name it has in the conversation.
pub fn unreadable_calls(answer: &Answer, events: &[Event]) -> Result<(), Broken> {
    let Some(Event::Answered(answered)) = events.first() else { return Ok(()) };
    if answered.verdicts.is_empty() {
        return Ok(());
    }
    let is_unreadable = |part: &&Part| call(part).is_some_and(|id| answer.malformed.iter().any(|(call, _)| call == id));
    let mut unreadable: Vec<&Part> = Vec::new();
    for part in answer.parts.iter().filter(is_unreadable) {
        if !unreadable.contains(&part) {
            unreadable.push(part);
        }
    }
    let marked = answered.verdicts.iter().filter(|verdict| verdict.malformed).count();
    hold("what cannot be read is known as such", marked >= unreadable.len(), || format!("{marked} of {unreadable:?}"))
}

fn call(part: &Part) -> Option<&CallId> {
    match part {
        Part::ToolCall { id, .. } => Some(id),
        Part::Text { .. } | Part::ToolResult { .. } | Part::Attached(_) | Part::Opaque { .. } => None,
    }
}

fn result(part: &Part) -> Option<&CallId> {
    match part {
        Part::ToolResult { id, .. } => Some(id),
        Part::Text { .. } | Part::ToolCall { .. } | Part::Attached(_) | Part::Opaque { .. } => None,
    }
}

/// The newest prompt of a thread, to hold the next one against.
#[derive(Clone, Debug, Default)]
pub struct Prompts {
    newest: Option<(u32, Vec<Arc<Message>>)>,
}

impl Prompts {
    /// The model is asked: the prompt begins with the one before, unless the talk says that it started over.
    pub fn asked(&mut self, thread: &Thread) -> Result<(), Broken> {
        let messages = thread.talk.messages();
        if let Some((epoch, before)) = &self.newest
            && *epoch == thread.talk.epoch()
        {
            let grew = messages.len() >= before.len() && messages.iter().zip(before).all(|(now, then)| now == then);
            hold("a prompt only grows within an epoch", grew, || {
                format!("{} messages became {}", before.len(), messages.len())
            })?;
        }
        self.newest = Some((thread.talk.epoch(), messages.to_vec()));
        Ok(())
    }
}
