//! Answers with the replies of a script in one conversation.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent::CallId;
use agent::message::{Origin, Part};
use agent::model::{Answer, CallError, CallErrorKind, Tokens};

use super::{Cue, Script, estimate};
use crate::conversation::Ask;
use crate::failure::{cancelled, failed};
use crate::history::History;

/// A script in one conversation.
#[derive(Debug)]
pub(crate) struct ScriptPlayer {
    script: Arc<Script>,
    /// The reply that was asked for last, and how often. Lost with the process: errors in a script are then told again.
    attempts: Mutex<(usize, u32)>,
}

impl ScriptPlayer {
    pub(crate) fn new(script: Arc<Script>) -> Self {
        Self { script, attempts: Mutex::new((0, 0)) }
    }

    /// Answers as the script says.
    pub(crate) async fn speak(&self, history: &History, ask: &Ask) -> Result<Answer, CallError> {
        tokio::select! {
            biased;
            () = ask.cancel.cancelled() => Err(cancelled()),
            answer = self.reply(history, ask) => answer,
        }
    }

    async fn reply(&self, history: &History, ask: &Ask) -> Result<Answer, CallError> {
        let first_words = history.first_user_text.as_deref().unwrap_or_default();
        let cue = self
            .script
            .cue(first_words, history.assistant_messages)
            .map_err(|missing| failed(CallErrorKind::Rejected, missing))?;
        let attempt = self.attempt(cue.index);
        tokio::time::sleep(Duration::from_millis(cue.reply.delay_ms)).await;
        self.say(&cue, ask).await;
        match cue.failure(attempt) {
            Some(kind) => Err(CallError {
                retry_after_ms: cue.reply.retry_after_ms,
                partial: (!cue.reply.text.is_empty()).then(|| cue.reply.text.as_str().into()),
                ..failed(kind, format!("script {} says so, attempt {attempt}", self.script.name))
            }),
            None => Ok(answer(&cue, history)),
        }
    }

    /// Words in passing, one by one.
    async fn say(&self, cue: &Cue<'_>, ask: &Ask) {
        for word in cue.reply.text.split_inclusive(' ') {
            if cue.reply.chunk_delay_ms > 0 {
                tokio::time::sleep(Duration::from_millis(cue.reply.chunk_delay_ms)).await;
            }
            if let Some(sink) = &ask.deltas {
                sink.hear(word);
            }
        }
    }

    fn attempt(&self, index: usize) -> u32 {
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        *attempts = if attempts.0 == index { (index, attempts.1 + 1) } else { (index, 1) };
        attempts.1
    }
}

fn answer(cue: &Cue<'_>, history: &History) -> Answer {
    let mut parts = Vec::new();
    if !cue.reply.text.is_empty() {
        parts.push(Part::Text { text: cue.reply.text.as_str().into(), origin: Origin::Model });
    }
    parts.extend(cue.reply.calls.iter().enumerate().map(|(nth, call)| Part::ToolCall {
        id: CallId::new(cue.call_id(nth)),
        name: call.name.as_str().into(),
        input: call.input(),
    }));
    let tokens = Tokens {
        input: cue.reply.tokens_in.unwrap_or_else(|| estimate(history.bytes)),
        output: cue.tokens_out(),
        ..Tokens::default()
    };
    Answer { parts, stop: cue.stop(), tokens: Some(tokens), malformed: Vec::new(), cut_call: None }
}

#[cfg(test)]
mod tests;
