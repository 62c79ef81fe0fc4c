//! A question to a person, and what came of it. It is asked in the log of the thread that wants something, is bound to exactly
//! what was shown, and is decided once.
//!
//! There are two kinds: whether a call may be made, which is allowed or denied, and what the agent wants to know (`ask_user`), or the
//! program behind a call that is under way, which is answered with a text.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{CallId, ThreadId, Time};
use crate::json::Json;
use crate::tools::{ASK_USER, Risk};

/// How long a question waits for an answer; then it counts as refused.
pub const EXPIRES_MS: u64 = 24 * 60 * 60 * 1000;

/// A question's name: that of the thread that asks, and a number, such as `20260115-k3f9.1/2`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalId(Arc<str>);

impl ApprovalId {
    /// The name of a thread's `number`th question, counted from 1.
    pub fn of(thread: &ThreadId, number: u32) -> Self {
        Self(format!("{thread}/{number}").into())
    }

    /// A name as it was given or stored.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The thread that asks.
    pub fn thread(&self) -> ThreadId {
        ThreadId::new(self.0.split_once('/').map_or(&*self.0, |(thread, _)| thread))
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A question to a person: who asks, what exactly, why, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Its name.
    pub id: ApprovalId,
    /// The call that waits for the answer.
    pub call: CallId,
    /// The tool.
    pub tool: Arc<str>,
    /// Its arguments, exactly as they will be used.
    pub input: Json,
    /// What the answer is bound to: tool, arguments, and what they lead to.
    pub digest: Arc<str>,
    /// The names of the agents from the root to the one who asks.
    pub path: Vec<Arc<str>>,
    /// The folder it works in.
    pub workspace: Arc<str>,
    /// The rule or the mode that wants a person to decide.
    pub why: Arc<str>,
    /// What it would do, in one sentence.
    pub effect: Arc<str>,
    /// How much to think before saying yes.
    pub risk: Risk,
    /// Protected places that it would change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<Arc<str>>,
    /// Whether the agent has read untrusted text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// The pattern that consent for more than once would cover; none where such consent is not offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Arc<str>>,
    /// What the agent wants to know; none where it asks for consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// The number of the request, where the server behind a call that is under way wants the model to be asked; `input` is what it wants to hear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<u32>,
    /// Places for sub-agents that are held until it is answered.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub places: u32,
    /// When it counts as refused.
    pub expires_at: Time,
}

impl Approval {
    /// The number of the question, where a call asks it that is under way.
    pub fn midway(&self) -> Option<u32> {
        self.question.as_ref().and_then(|question| question.midway).or(self.sampling)
    }

    /// What kind of answer is wanted.
    pub fn kind(&self) -> ApprovalKind {
        if self.question.is_some() { ApprovalKind::Question } else { ApprovalKind::Approval }
    }
}

/// What kind of answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalKind {
    /// Whether a call may be made.
    Approval,
    /// A text.
    Question,
}

/// What an agent wants to know from a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The question, as the agent wrote it.
    pub text: Arc<str>,
    /// Answers that it offers; a person may give another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Arc<str>>,
    /// Its number among the questions of a call that is under way: the call goes on, and the answer is handed to it. None where the question
    /// is the call itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub midway: Option<u32>,
}

impl Question {
    /// The question that a call asks; none where it is a call of another tool than `ask_user`, or holds no question.
    pub fn of(tool: &str, input: &Json) -> Option<Self> {
        if tool != ASK_USER {
            return None;
        }
        let input = input.value();
        let text = input.get("question")?.as_str().filter(|text| !text.trim().is_empty())?;
        // Models that call it `options` are understood, too.
        let choices = input.get("choices").or_else(|| input.get("options"));
        let choices = choices.and_then(|choices| choices.as_array()).into_iter().flatten();
        let choices = choices.filter_map(|choice| choice.as_str()).map(Arc::from).collect();
        Some(Self { text: text.into(), choices, midway: None })
    }

    /// The answer that a person typed: the number of a choice stands for that choice. None where nothing was typed.
    pub fn answer(&self, typed: &str) -> Option<Arc<str>> {
        let typed = typed.trim();
        let chosen = typed.parse::<usize>().ok().and_then(|number| self.choices.get(number.checked_sub(1)?));
        chosen.cloned().or_else(|| Some(typed.into()).filter(|_| !typed.is_empty()))
    }
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It may be done.
    Allow {
        /// How often.
        scope: Scope,
        /// With these arguments in the place of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Json>,
    },
    /// It may not be done.
    Deny {
        /// Why, for the agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Arc<str>>,
    },
    /// What the agent wanted to know.
    Answer {
        /// The answer.
        text: Arc<str>,
    },
}

impl Decision {
    /// This call may be made.
    pub fn allow() -> Self {
        Self::Allow { scope: Scope::Once, input: None }
    }

    /// This call may be made, and every other of the same thread that fits the pattern that was shown
    /// ([`Approval::standing`]); only this call where none was.
    pub fn allow_in_thread() -> Self {
        Self::Allow { scope: Scope::Thread, input: None }
    }

    /// This call may be made, and from now on every other that fits the pattern that was shown, in every thread; only this call where
    /// none was.
    pub fn allow_always() -> Self {
        Self::Allow { scope: Scope::Always, input: None }
    }

    /// The call may be made with these arguments in the place of its own.
    pub fn allow_with(input: Json) -> Self {
        Self::Allow { scope: Scope::Once, input: Some(input) }
    }

    /// The answer to what the agent wanted to know ([`Approval::question`]).
    pub fn answer(text: impl Into<Arc<str>>) -> Self {
        Self::Answer { text: text.into() }
    }

    /// The call may not be made, or the question is not answered. The agent is told why.
    pub fn deny(reason: impl Into<Arc<str>>) -> Self {
        Self::Deny { reason: Some(reason.into()) }
    }
}

/// How far consent goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This call.
    Once,
    /// This thread, for whatever fits the pattern that was shown.
    Thread,
    /// Every thread, by a rule that is written down.
    Always,
}

impl Scope {
    /// The word used on the wire and on screens.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Once => "once",
            Scope::Thread => "thread",
            Scope::Always => "always",
        }
    }
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// A person allowed it.
    Allowed {
        /// How far.
        scope: Scope,
        /// What the consent is bound to.
        digest: Arc<str>,
        /// The arguments that a person put in the place of the agent's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Json>,
    },
    /// A person answered what the agent wanted to know.
    Answered {
        /// The answer.
        text: Arc<str>,
    },
    /// A person refused it, or does not want to answer.
    Denied {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Arc<str>>,
    },
    /// A rule refuses it, whatever a person said.
    Forbidden {
        /// Which.
        rule: Arc<str>,
    },
    /// Nobody decided in time.
    Expired {
        /// The rule that would have allowed it.
        rule: Arc<str>,
    },
    /// Nobody can be asked any more.
    Unanswered {
        /// The rule that would have allowed it.
        rule: Arc<str>,
    },
    /// It was no longer of use: what it asks for has changed, or the thread ends.
    Withdrawn {
        /// Why.
        reason: Arc<str>,
    },
}

impl Resolution {
    /// The word used on the wire and on screens.
    pub fn as_str(&self) -> &'static str {
        match self {
            Resolution::Allowed { .. } => "approved",
            Resolution::Answered { .. } => "answered",
            Resolution::Denied { .. } => "denied",
            Resolution::Forbidden { .. } => "forbidden",
            Resolution::Expired { .. } => "expired",
            Resolution::Unanswered { .. } => "unanswered",
            Resolution::Withdrawn { .. } => "withdrawn",
        }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
