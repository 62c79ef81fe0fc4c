//! JSON Schema of the types of `crates/agent` that reach the HTTP API.
//!
//! The rules depend on serde alone, so their types cannot describe themselves. Types of `store` and `view` name the ones here with
//! `#[schemars(with = …)]`. Doc comments are the text of the API. A test compares the words with those of the rules.
//!
//! Absent: any behaviour.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A moment, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Moment(pub i64);

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// It waits: for its dependencies, for a place, or for a person.
    Pending,
    /// Its assignee works on it.
    InProgress,
    /// It cannot go on without a person or its creator; the reason is with it.
    Blocked,
    /// Its assignee, or a person, has said that it is done.
    Completed,
    /// It is out of the way.
    Archived,
}

/// Which tasks go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskPriority {
    /// Before all others.
    High,
    /// Where nothing is said.
    Medium,
    /// After all others.
    Low,
}

/// Something that a person may answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// What it would do.
    pub label: String,
    /// What to say to accept exactly that.
    pub say: String,
}

/// What an agent may do without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Read only.
    Plan,
    /// Writes ask.
    Ask,
    /// Writes are allowed, dangerous ones ask.
    Auto,
    /// Nothing asks.
    Dangerous,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent answered.
    Completed,
    /// The agent stopped without a word.
    NoOutput,
    /// A limit of tool calls, tokens or money was reached; the text says what is done and what is left.
    BudgetExceeded,
    /// The time was over.
    Timeout,
    /// It was refused, or no text came after a refusal.
    Refused,
    /// It was stopped.
    Cancelled,
    /// Its process is gone, and no other one resumed it.
    Interrupted,
    /// Something failed.
    Error,
}

/// Tokens of one or many calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    /// Prompt tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: u64,
    /// How many of those are kept for an hour; missing where there are none.
    #[serde(default, skip_serializing_if = "no_tokens")]
    pub cache_write_1h: u64,
    /// Generated tokens, thinking included.
    pub output: u64,
    /// How many of the generated tokens were thought; missing where there are none, or where the provider does not say.
    #[serde(default, skip_serializing_if = "no_tokens")]
    pub reasoning: u64,
}

fn no_tokens(count: &u64) -> bool {
    *count == 0
}

/// What was used: by one thread, or by a thread and all its descendants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens as the provider reported them, or as they were reserved where it reported nothing.
    pub tokens: Tokens,
    /// Tokens as they count against the grant.
    pub counted_tokens: u64,
    /// Money, in millionths of a dollar.
    pub cost_microusd: u64,
    /// Tool calls, denied ones included.
    pub tool_calls: u32,
    /// Answers of the model.
    pub model_calls: u32,
    /// Requests to models, those that failed or whose answer was lost included.
    pub requests: u32,
    /// Sub-agents that were begun.
    pub children: u32,
    /// How many of the tokens are not the provider's figures: reserved for a request whose answer was lost, or estimated because the
    /// provider reported nothing. Where there are any, the money is an estimate too.
    #[serde(default, skip_serializing_if = "is_none")]
    pub estimated_tokens: u64,
}

fn is_none(tokens: &u64) -> bool {
    *tokens == 0
}

/// What an agent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// Nothing: no run was asked for, or the last one is over.
    Idle,
    /// It was given something to do and has not asked the model yet.
    Initializing,
    /// Its conversation is read back from the log, or summed up to fit.
    LoadingContext,
    /// The model thinks, or its answer is being acted upon.
    Processing,
    /// A tool runs.
    WaitingForTool,
    /// A person is asked.
    WaitingForUser,
    /// A sub-agent runs, and there is nothing else to do.
    Delegating,
    /// It ends: what runs is ended, or it says its last words.
    Completing,
    /// It ended without a result.
    Error,
}

/// The word for what a thread is doing, or for how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadState {
    /// It has no task yet.
    Idle,
    /// It has a task and has not asked the model yet.
    Initializing,
    /// Its conversation is read back from the log, or is being summarised because it is too long.
    LoadingContext,
    /// The model works on an answer, or the answer is being acted upon.
    Processing,
    /// A tool runs.
    WaitingForTool,
    /// A person has to answer.
    WaitingForUser,
    /// Sub-agents run, and there is nothing else to do.
    Delegating,
    /// It is ending.
    Completing,
    /// It is in the middle of something, and its process is gone; or it ended so.
    Interrupted,
    /// It answered.
    Completed,
    /// It stopped without a word.
    NoOutput,
    /// It reached a limit.
    BudgetExceeded,
    /// Its time was over.
    Timeout,
    /// It was refused.
    Refused,
    /// It was stopped.
    Cancelled,
    /// It failed.
    Error,
}

/// How much a person should think before saying yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Nothing that matters changes.
    Low,
    /// Something changes that can be undone.
    Medium,
    /// Something changes that is hard to undo.
    High,
    /// Something leaves this machine.
    Critical,
}

/// How far consent goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This call.
    #[default]
    Once,
    /// This thread, for whatever fits the pattern that was shown.
    Thread,
    /// Every thread, by a rule that is written down.
    Always,
}

/// The kinds of failure of a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallErrorKind {
    /// Too many requests.
    RateLimited,
    /// The provider is overloaded.
    Overloaded,
    /// The provider failed.
    Server,
    /// It could not be reached.
    Connection,
    /// The answer broke off.
    Truncated,
    /// The key is refused.
    Auth,
    /// The request does not fit the model's window.
    ContextTooLong,
    /// The same request would fail again.
    Rejected,
    /// The server does not take a part of the request, and the next one is made without it.
    Unsupported,
    /// The answer could not be understood.
    Garbled,
    /// We ended it.
    Cancelled,
}

/// A question to a person, as it was asked.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// Its name: that of the thread that asks, and a number, such as `20260115-k3f9.1/2`. In an address, `/` is written `%2F`.
    pub id: String,
    /// The call that waits for the answer.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// Its arguments, exactly as they will be used.
    pub input: serde_json::Value,
    /// What the answer is bound to: tool, arguments, and what they lead to.
    pub digest: String,
    /// The names of the agents from the root to the one who asks.
    pub path: Vec<String>,
    /// The folder it works in.
    pub workspace: String,
    /// The rule or the mode that wants a person to decide.
    pub why: String,
    /// What it would do, in one sentence.
    pub effect: String,
    /// How much to think before saying yes.
    pub risk: Risk,
    /// Protected places that it would change; left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<String>,
    /// Whether the agent has read untrusted text; left out where it has not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// The pattern that consent for more than once would cover; left out where such consent is not offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// What the agent wants to know; left out where it asks for consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// Places for sub-agents that are held until it is answered; left out where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub places: u32,
    /// When it counts as refused.
    pub expires_at: Moment,
}

/// What kind of answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalKind {
    /// Whether a call may be made: allow or deny it.
    Approval,
    /// A text: the agent asks a question.
    Question,
}

/// What an agent wants to know from a person.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question.
    pub text: String,
    /// Answers that it offers, another may be given; left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Its number, where a call asks it that is under way; left out where the question is the call itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub midway: Option<u32>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use agent::{Mode, Outcome, State};
    use board::{Priority, Status};
    use schemars::{JsonSchema, schema_for};
    use serde_json::Value;

    /// The words that a schema lists.
    fn words<T: JsonSchema>() -> Vec<String> {
        let schema = schema_for!(T).to_value();
        let listed = schema["oneOf"].as_array().expect("a list of words").iter();
        listed.map(|one| one["const"].as_str().expect("a word").to_owned()).collect()
    }

    fn written<T: serde::Serialize>(values: &[T]) -> Vec<String> {
        let word = |value: &T| match serde_json::to_value(value) {
            Ok(Value::String(word)) => word,
            other => panic!("{other:?} is no word"),
        };
        values.iter().map(word).collect()
    }

    #[test]
    fn the_words_are_those_of_the_rules() {
        assert_eq!(words::<super::Outcome>(), written(&Outcome::ALL));
        assert_eq!(words::<super::AgentState>(), written(&State::ALL));
        assert_eq!(words::<super::Mode>(), written(&[Mode::Plan, Mode::Ask, Mode::Auto, Mode::Dangerous]));
        assert_eq!(words::<super::TaskStatus>(), Status::ALL.map(Status::as_str));
        let priorities = [Priority::High, Priority::Medium, Priority::Low].map(Priority::as_str);
        assert_eq!(words::<super::TaskPriority>(), priorities);
        let mut both = written(&State::ALL);
        both.extend(written(&Outcome::ALL).into_iter().filter(|word| word != "error"));
        both.sort();
        let mut shown = words::<super::ThreadState>();
        shown.sort();
        assert_eq!(shown, both, "a list shows a state or an outcome");
    }
}
