//! What a butler hands to a specialist, and what the specialist hands back: two objects with the names that their readers
//! know, checked before they go anywhere.
//!
//! Who may be asked is data ([`Policy::delegates`](crate::policy::Policy)); that only the butler asks is part of the shape.
//! How the call is read and answered is in `vocabulary/own.rs`, what it does in `turn/hand_over.rs`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::policy::Policy;
use crate::report::{Outcome, Report};

#[cfg(test)]
mod tests;

/// The agent that hands work over, and the only one that does.
pub const BUTLER: &str = "butler";

/// Bytes of a token, as sizes are estimated.
const TOKEN_BYTES: u64 = 4;

/// All that a specialist should know besides its task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DelegationContext {
    /// Who hands it over.
    pub parent_agent: Arc<str>,
    /// Who takes it.
    pub target_agent: Arc<str>,
    /// What the message is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevant_entities: Option<Vec<Arc<str>>>,
    /// When, or until when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_constraints: Option<Arc<str>>,
    /// What the person prefers, as far as it matters to the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_preferences: Option<Vec<Preference>>,
    /// What was said before the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_history: Option<Vec<Said>>,
    /// The person's words.
    pub original_user_message: Arc<str>,
    /// Why this target.
    pub delegation_reasoning: Arc<str>,
}

/// Something that a person prefers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preference {
    /// What it is about.
    pub key: Arc<str>,
    /// What is preferred.
    pub value: Arc<str>,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Who said it.
    pub role: Speaker,
    /// The words.
    pub content: Arc<str>,
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// The program itself.
    System,
}

impl DelegationContext {
    /// Reads a context and checks it, or says what is wrong with it.
    pub fn read(json: &Json, policy: &Policy) -> Result<Self, String> {
        let context: Self = json.read().map_err(|error| format!("this is no delegation context: {error}"))?;
        context.check(policy)?;
        Ok(context)
    }

    /// Says what is wrong with it, if anything is.
    pub fn check(&self, policy: &Policy) -> Result<(), String> {
        if &*self.parent_agent != BUTLER {
            return Err(format!("parentAgent must be '{BUTLER}', not '{}': do the task yourself", self.parent_agent));
        }
        if !policy.delegates.iter().any(|(_, agent)| *agent == self.target_agent) {
            return Err(format!("Unknown agent type: {}", self.target_agent));
        }
        for (name, words) in
            [("originalUserMessage", &self.original_user_message), ("delegationReasoning", &self.delegation_reasoning)]
        {
            if words.trim().is_empty() {
                return Err(format!("a delegation needs {name}"));
            }
        }
        Ok(())
    }

    /// Makes it small enough, or says that it cannot be. The oldest of the history goes first, then the end of a long message;
    /// both leave a mark that says how much. The butler keeps all of it.
    pub fn fit(&mut self, max_tokens: u64) -> Result<(), String> {
        let said = self.conversation_history.take().unwrap_or_default();
        if said.is_empty() {
            return self.shorten(max_tokens);
        }
        self.conversation_history = Some(Vec::new());
        let room = |context: &Self| (max_tokens * TOKEN_BYTES).saturating_sub(context.bytes());
        if newest_within(&said, room(self)) == said.len() {
            self.conversation_history = Some(said);
            return Ok(());
        }
        let all = mark(&said, max_tokens);
        let kept = newest_within(&said, room(self).saturating_sub(written(&all)));
        let (left_out, recent) = said.split_at(said.len() - kept);
        let mark = mark(left_out, max_tokens);
        self.conversation_history = Some(std::iter::once(mark).chain(recent.iter().cloned()).collect());
        self.shorten(max_tokens)
    }

    /// Its size, in tokens of four bytes.
    pub fn tokens(&self) -> u64 {
        self.bytes().div_ceil(TOKEN_BYTES)
    }

    fn bytes(&self) -> u64 {
        Json::of(self).text().len() as u64
    }

    /// Cuts the end off a message that is too long.
    fn shorten(&mut self, max_tokens: u64) -> Result<(), String> {
        if self.tokens() <= max_tokens {
            return Ok(());
        }
        let whole = self.original_user_message.clone();
        let cut = |kept: &str, left_out: usize| {
            format!("{kept} [{left_out} more characters left out; the {BUTLER} has them]").into()
        };
        let characters = whole.chars().count();
        self.original_user_message = cut("", characters);
        let mut room = (max_tokens * TOKEN_BYTES).saturating_sub(self.bytes());
        let fits = |character: &char| {
            let bytes = written_bytes(*character);
            let is_room = bytes <= room;
            room = room.saturating_sub(bytes);
            is_room
        };
        let kept: String = whole.chars().take_while(fits).collect();
        if kept.is_empty() {
            return Err(format!(
                "the context is over {max_tokens} tokens (policy.max_context_tokens): say it in fewer words"
            ));
        }
        self.original_user_message = cut(&kept, characters - kept.chars().count());
        Ok(())
    }
}

/// How many of the newest messages fit into so many bytes.
fn newest_within(said: &[Said], mut room: u64) -> usize {
    let fits = |said: &&Said| {
        let bytes = written(said);
        let is_room = bytes <= room;
        room = room.saturating_sub(bytes);
        is_room
    };
    said.iter().rev().take_while(fits).count()
}

/// What stands where messages were left out.
fn mark(left_out: &[Said], max_tokens: u64) -> Said {
    let characters: usize = left_out.iter().map(|said| said.content.chars().count()).sum();
    let content = format!(
        "[{} earlier messages ({characters} characters) left out to stay within {max_tokens} tokens; the {BUTLER} has them]",
        left_out.len()
    );
    Said { role: Speaker::System, content: content.into() }
}

/// Bytes of a message as it is written, with the comma after it.
fn written(said: &Said) -> u64 {
    Json::of(said).text().len() as u64 + 1
}

/// Bytes of a character inside a JSON text.
fn written_bytes(character: char) -> u64 {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        control if control < ' ' => 6,
        other => other.len_utf8() as u64,
    }
}

/// What a specialist hands back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentResult {
    /// Who worked.
    pub agent_type: Arc<str>,
    /// Whether what came of it can be built upon.
    pub success: bool,
    /// Whether it was cut short by a budget.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// What its last tool answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// What it says; where it failed, why.
    pub summary: Arc<str>,
    /// What could be done next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_follow_up: Option<Arc<str>>,
    /// The tools that it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_used: Option<Vec<Arc<str>>>,
    /// Tokens of it and of those below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_used: Option<u64>,
}

impl AgentResult {
    /// A report as its receiver reads it.
    pub fn of(agent: &Arc<str>, report: &Report) -> Self {
        let text = report.text.trim();
        let reason = report.reason.as_deref().unwrap_or(report.outcome.as_str());
        let summary: Arc<str> = match (report.outcome.has_result(), text.is_empty()) {
            (true, false) => report.text.clone(),
            (_, true) => reason.into(),
            (false, false) => format!("{reason}\n\n{text}").into(),
        };
        let partial = report.outcome == Outcome::BudgetExceeded;
        Self {
            agent_type: agent.clone(),
            success: report.outcome.has_result(),
            partial,
            data: report.data.clone(),
            summary,
            suggested_follow_up: partial.then(|| format!("{reason}; ask again for what is left").into()),
            tools_used: Some(report.tools_used.clone()),
            tokens_used: Some(report.tree.tokens.total()),
        }
    }
}
