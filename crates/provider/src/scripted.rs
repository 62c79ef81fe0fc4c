//! `scripted/FILE`: a model whose replies are in a file, for tests, stories and demonstrations.
//!
//! Which reply comes next is read off the conversation alone (its first words choose the script, the number of the
//! model's messages chooses the reply), so that a process which starts again goes on at the right place. Only the count
//! of failed attempts is in memory. `SCRIPTED.md` beside this crate's manifest describes the format for its writers.

mod player;

use std::path::Path;

use agent::Json;
use agent::model::{CallErrorKind, StopReason};
use serde::Deserialize;

use crate::error::Error;

pub(crate) use player::ScriptPlayer;

/// A file of replies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Its scenes. The first one that fits the conversation is played.
    #[serde(rename = "script")]
    pub scenes: Vec<Scene>,
    /// Where it came from, for error texts.
    #[serde(skip)]
    pub name: String,
}

/// The replies for one kind of conversation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Fits when the first words of the world contain it. Empty fits always.
    #[serde(default)]
    pub on: String,
    /// The replies, in order.
    #[serde(rename = "reply", default)]
    pub replies: Vec<Reply>,
}

/// One reply.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// What is said. Beside an error: what had been said before it.
    #[serde(default)]
    pub text: String,
    /// Tools that are called.
    #[serde(default)]
    pub calls: Vec<ScriptedCall>,
    /// How long the model thinks.
    #[serde(default)]
    pub delay_ms: u64,
    /// How long it takes for each word.
    #[serde(default)]
    pub chunk_delay_ms: u64,
    /// Prompt tokens; estimated when it is not said.
    pub tokens_in: Option<u64>,
    /// Generated tokens; estimated when it is not said.
    pub tokens_out: Option<u64>,
    /// Why it stops; else by whether there are calls.
    pub stop: Option<StopReason>,
    /// How the call fails.
    pub error: Option<CallErrorKind>,
    /// How many attempts fail before one succeeds; all when it is not said.
    pub times: Option<u32>,
    /// The provider's wish beside the error.
    pub retry_after_ms: Option<u64>,
    /// Whether the last reply comes again and again.
    #[serde(default)]
    pub repeat: bool,
}

/// A tool call in a script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The tool.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub input: serde_json::Map<String, serde_json::Value>,
}

/// A reply together with its place in the script.
#[derive(Clone, Copy, Debug)]
pub struct Cue<'a> {
    /// The reply.
    pub reply: &'a Reply,
    /// How many messages the model had said before it.
    pub index: usize,
}

impl Script {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text =
            std::fs::read_to_string(path).map_err(|source| Error::ScriptFile { path: path.to_owned(), source })?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads a text, which errors call by `name`.
    pub fn parse(name: &str, toml: &str) -> Result<Self, Error> {
        let mut script: Self =
            toml::from_str(toml).map_err(|source| Error::Script { name: name.to_owned(), source: Box::new(source) })?;
        name.clone_into(&mut script.name);
        Ok(script)
    }

    /// The reply to a conversation that began with `first_words` and in which the model has spoken `index` times; else
    /// the sentence that says what is missing.
    pub fn cue(&self, first_words: &str, index: usize) -> Result<Cue<'_>, String> {
        let scene = self.scenes.iter().find(|scene| first_words.contains(&scene.on)).ok_or_else(|| {
            let words: String = first_words.chars().take(60).collect();
            format!("script {} has nothing for a conversation that begins with {words:?}", self.name)
        })?;
        let last = scene.replies.last().filter(|reply| reply.repeat);
        let reply = scene.replies.get(index).or(last).ok_or_else(|| {
            format!(
                "script {}, scene {:?}, has {} replies and was asked for number {}",
                self.name,
                scene.on,
                scene.replies.len(),
                index + 1
            )
        })?;
        Ok(Cue { reply, index })
    }
}

impl Cue<'_> {
    /// The id of the reply's `nth` call.
    pub fn call_id(&self, nth: usize) -> String {
        format!("call_{}_{nth}", self.index)
    }

    /// Why the model stops.
    pub fn stop(&self) -> StopReason {
        let by_calls = if self.reply.calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
        self.reply.stop.unwrap_or(by_calls)
    }

    /// Whether attempt number `attempt`, from 1, fails, and how.
    pub fn failure(&self, attempt: u32) -> Option<CallErrorKind> {
        self.reply.error.filter(|_| self.reply.times.is_none_or(|times| attempt <= times))
    }

    /// Generated tokens.
    pub fn tokens_out(&self) -> u64 {
        let calls = self.reply.calls.iter().map(|call| call.name.len() + call.input().text().len()).sum::<usize>();
        self.reply.tokens_out.unwrap_or_else(|| estimate(self.reply.text.len() + calls))
    }
}

impl ScriptedCall {
    /// The arguments as JSON.
    pub fn input(&self) -> Json {
        Json::of(&self.input)
    }
}

/// Tokens in so many bytes, roughly.
pub fn estimate(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}
