//! The conversation as the model is shown it. It only grows, except where old results are masked in one batch,
//! or where the model's own summary takes its place.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::id::CallId;
use crate::message::{Message, Origin, Part, Role};

use super::unlogged;

/// A conversation, and what is known about its size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Talk {
    messages: Vec<Arc<Message>>,
    /// Raised whenever something already said changes: a conversation that was serialised earlier is serialised again from its start.
    epoch: u32,
    /// Tokens of everything up to and including the newest answer, as the provider counted them.
    known_tokens: Option<u64>,
    /// Bytes said since then; all bytes while nothing is known.
    bytes_since: usize,
    /// The most tokens that one request and its answer had: prompt tokens up to there were charged once.
    charged_tokens: u64,
    /// Tokens that fit into one request, answer included, as the provider said when one did not fit.
    window_tokens: Option<u64>,
    /// How often the provider found a conversation too long that was estimated to fit: each time, estimates become a quarter larger.
    misjudged: u32,
}

/// A result that is longer than this is worth masking.
const WORTH_MASKING: usize = 400;

/// Answers at the end of the conversation whose results stay.
const KEPT_ANSWERS: usize = 3;

/// A result is not cut to less than this.
const LEAST_OF_A_RESULT: usize = 400;

/// Estimates of tokens are raised by no more than these quarters.
const MOST_MISJUDGED: u32 = 8;

impl Talk {
    /// What was said, in order.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// Raised whenever something already said changes.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Whether the provider has counted this conversation.
    pub fn is_measured(&self) -> bool {
        self.known_tokens.is_some()
    }

    /// Tokens of the next prompt, roughly: `fixed` are the bytes of the system prompt and of the advertised tools,
    /// `upcoming` the bytes that will be said with it.
    pub fn prompt_tokens(&self, fixed: usize, upcoming: usize) -> u64 {
        let bytes = (self.bytes_since + upcoming) as u64;
        match self.known_tokens {
            // A provider's figure may be anything.
            Some(known) => known.saturating_add(self.tokens_of(bytes)),
            None => self.tokens_of(fixed as u64 + bytes),
        }
    }

    /// Tokens that fit into one request, answer included, as the provider said; none where it never had to.
    pub fn window_tokens(&self) -> Option<u64> {
        self.window_tokens
    }

    /// By how much a prompt that is estimated at so many tokens may be larger: what the provider has counted is certain.
    pub fn doubt(&self, prompt: u64) -> u64 {
        prompt.saturating_sub(self.known_tokens.unwrap_or(0)) / 8
    }

    /// Tokens of so many bytes, roughly.
    fn tokens_of(&self, bytes: u64) -> u64 {
        bytes.div_ceil(4).saturating_mul(4 + u64::from(self.misjudged)).div_ceil(4)
    }

    /// Bytes that have about so many tokens.
    pub fn bytes_of(&self, tokens: u64) -> u64 {
        tokens.saturating_mul(16) / (4 + u64::from(self.misjudged))
    }

    /// The provider found a request of `tokens` too long, prompt and answer together.
    pub(super) fn too_long(&mut self, tokens: u64, assumed: u64, told: Option<u64>) {
        let assumed = self.window_tokens.unwrap_or(assumed);
        let window = told.filter(|told| *told < assumed);
        self.window_tokens = window.or(self.window_tokens);
        if tokens <= window.unwrap_or(assumed) {
            self.misjudged = (self.misjudged + 1).min(MOST_MISJUDGED);
        }
    }

    /// How many of a request's prompt tokens were never charged before.
    pub fn fresh_tokens(&self, prompt: u64) -> u64 {
        prompt.saturating_sub(self.charged_tokens)
    }

    pub(super) fn push(&mut self, message: Message) {
        self.bytes_since += message.bytes();
        self.messages.push(Arc::new(message));
    }

    pub(super) fn learn(&mut self, tokens: u64) {
        self.known_tokens = Some(tokens);
        self.charged_tokens = self.charged_tokens.max(tokens);
        self.bytes_since = 0;
    }

    /// The calls whose results can be masked with the characters of each, and how many bytes that would save.
    pub fn maskable(&self) -> (Vec<(CallId, usize)>, u64) {
        let answers = self.messages.iter().filter(|message| message.role == Role::Assistant).count();
        let (mut seen, mut calls, mut bytes) = (0, Vec::new(), 0u64);
        for message in &self.messages {
            if message.role == Role::Assistant {
                seen += 1;
                if seen + KEPT_ANSWERS > answers {
                    break;
                }
                continue;
            }
            for part in &message.parts {
                if let Part::ToolResult { id, content, .. } = part
                    && content.len() > WORTH_MASKING
                {
                    calls.push((id.clone(), content.chars().count()));
                    bytes += content.len() as u64;
                }
            }
        }
        (calls, bytes)
    }

    /// The results that would be cut so that `excess` bytes are saved, the longest first, with the characters that stay of each. Those
    /// of `upcoming` are said with the next request. Each keeps at least `least` bytes. As much as can be saved where that is not enough.
    pub fn cuttable<'a>(
        &'a self,
        upcoming: impl Iterator<Item = (&'a CallId, &'a str)>,
        excess: usize,
        least: usize,
    ) -> Vec<(&'a CallId, &'a str, usize)> {
        let said = self.messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
            Part::ToolResult { id, content, .. } => Some((id, &**content)),
            Part::Text { .. } | Part::ToolCall { .. } | Part::Attached(_) | Part::Opaque { .. } => None,
        });
        let mut all: Vec<(&CallId, &str)> =
            said.chain(upcoming).filter(|(_, content)| content.len() > 2 * LEAST_OF_A_RESULT).collect();
        all.sort_by_key(|(_, content)| std::cmp::Reverse(content.len()));
        // The longest are cut to one length, which is as large as can be.
        let saved = |most: usize| all.iter().map(|(_, content)| content.len().saturating_sub(most)).sum::<usize>();
        let (mut least, mut most) = (least.max(LEAST_OF_A_RESULT), all.first().map_or(0, |(_, content)| content.len()));
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            if saved(middle) >= excess { least = middle } else { most = middle - 1 }
        }
        all.retain(|(_, content)| content.len() > least + LEAST_OF_A_RESULT);
        all.into_iter().map(|(call, content)| (call, content, least)).collect()
    }

    pub(super) fn mask(&mut self, calls: &[CallId], told: &[Arc<str>]) {
        let calls: BTreeMap<&CallId, usize> = calls.iter().zip(0..).collect();
        for message in &mut self.messages {
            let touched = |part: &Part| matches!(part, Part::ToolResult { id, .. } if calls.contains_key(id));
            if !message.parts.iter().any(touched) {
                continue;
            }
            let mut masked = (**message).clone();
            for part in &mut masked.parts {
                if let Part::ToolResult { id, content, .. } = part
                    && let Some(place) = calls.get(id)
                {
                    let shown = || unlogged::masked(content.chars().count()).into();
                    *content = told.get(*place).cloned().unwrap_or_else(shown);
                }
            }
            *message = Arc::new(masked);
        }
        self.restart();
    }

    /// Keeps the brief, or the first prompt, and puts `summary` in the place of the rest.
    pub(super) fn compact(&mut self, summary: &str) {
        let newest_prompt = self.messages.iter().skip(1).rfind(|message| is_prompt(message)).cloned();
        self.messages.truncate(1);
        let mut parts = vec![Part::Text { text: summary.into(), origin: Origin::Program }];
        if let Some(prompt) = newest_prompt {
            parts.extend(prompt.parts.iter().filter(|part| is_person(part)).cloned());
        }
        self.messages.push(Arc::new(Message { role: Role::User, parts }));
        self.restart();
    }

    /// Another model reads the conversation: what was learnt of the one before does not hold for it, and it is charged for all of it.
    pub(super) fn change_model(&mut self) {
        (self.charged_tokens, self.window_tokens, self.misjudged) = (0, None, 0);
        self.restart();
    }

    /// Has the conversation rendered and counted anew: something that the model was shown has changed.
    pub(super) fn restart(&mut self) {
        self.epoch += 1;
        self.known_tokens = None;
        self.bytes_since = self.messages.iter().map(|message| message.bytes()).sum();
    }
}

fn is_prompt(message: &Message) -> bool {
    message.role == Role::User && message.parts.iter().any(is_person)
}

fn is_person(part: &Part) -> bool {
    matches!(part, Part::Text { origin: Origin::Person, .. })
}
