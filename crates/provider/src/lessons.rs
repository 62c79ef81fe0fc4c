//! What a server has said about one conversation, where `compat.rs` holds what it said about a model: which of the thoughts and files so
//! far it does not take. It is kept with the conversation, because the server may want the thoughts of another one back, and another one
//! may have better files.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::compat::{Compat, Said, field};
use crate::history::{History, LeftOut};

/// How servers say that a thought is not one that they gave: another server, account or model did, or something has changed it.
fn refuses_thoughts(said: &Said) -> bool {
    const SIGNATURES: [&str; 4] = ["`signature`", "thinking.signature", "thought signature", "thought_signature"];
    const BLOCKS: [&str; 5] =
        ["encrypted content", "encrypted_content", "thinking_blocks", "reasoning_details", "extra_content"];
    const WRONG: [&str; 7] =
        ["invalid", "not valid", "corrupt", "could not be", "field required", "mismatch", "unable to"];
    (said.is_any(&SIGNATURES) && said.is_any(&WRONG))
        || (said.is_any(&BLOCKS) && (said.is_any(&WRONG) || said.is_refusal()))
        || said.has("invalid signature in thinking block")
        || (said.has("redacted_thinking") && said.has("cannot be modified"))
        || said.has("items are not persisted when `store` is set to false")
}

/// How servers say that they take files of this kind, but not this one.
const BAD_FILES: [&str; 14] = [
    "could not process",
    "unable to process",
    "is valid",
    "not valid",
    "invalid image",
    "invalid pdf",
    "invalid base64",
    "cannot decode",
    "failed to decode",
    "exceeds",
    "max allowed size",
    "too large",
    "a maximum of",
    "password",
];

/// What was learnt about one conversation.
#[derive(Debug, Default)]
pub(crate) struct Lessons(Mutex<State>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    left_out: LeftOut,
    /// Whether the model is not asked to think, where it was set to.
    is_unthinking: bool,
    /// Whether all that is said before the next request was said before it was shortened.
    is_shortened: bool,
}

impl Lessons {
    /// What is known of the same conversation after it was shortened: thoughts that were bound to what it was are left out at once.
    pub(crate) fn shortened(&self) -> Self {
        let State { left_out: LeftOut { thoughts, .. }, is_unthinking, .. } = *self.lock();
        let left_out = LeftOut { thoughts, ..LeftOut::default() };
        Self(Mutex::new(State { left_out, is_unthinking, is_shortened: true }))
    }

    /// What the next request leaves out, to a model of which so much is known.
    pub(crate) fn left_out(&self, history: &History, compat: &Compat) -> LeftOut {
        let mut state = self.lock();
        if std::mem::take(&mut state.is_shortened) && state.left_out.thoughts > 0 {
            state.left_out.thoughts = history.messages;
        }
        LeftOut { all_images: !compat.images, all_documents: !compat.documents, ..state.left_out }
    }

    /// The form of requests to a model, in this conversation.
    pub(crate) fn fit(&self, compat: &Compat) -> Compat {
        let mut compat = compat.clone();
        if self.lock().is_unthinking {
            compat.omitted.extend([field::THINKING, field::DISPLAY]);
        }
        compat
    }

    /// Learns from what a server said about a request for the next answer: what is done about it, if anything is.
    pub(crate) fn learn(&self, said: &str, history: &History) -> Option<&'static str> {
        let said = Said::new(said);
        let mut state = self.lock();
        let held = history.held(&state.left_out);
        // The provider checks that nothing before a thought has changed. It has where old results were left out to make room.
        if held.thoughts && said.has("bound to a different conversation") {
            state.left_out.thoughts = history.messages;
            return Some(
                "the model's earlier thoughts are left out, because the conversation before them was shortened",
            );
        }
        if held.thoughts && refuses_thoughts(&said) {
            state.left_out.thoughts = history.messages;
            return Some("the model's earlier thoughts are left out, because this server does not take them");
        }
        // A server that wants a thought before every call cannot have one before those of another model.
        if !state.is_unthinking && said.has("expected `thinking`") && said.has("when `thinking` is enabled") {
            state.is_unthinking = true;
            return Some("the model is asked not to think, because its earlier thoughts are not there");
        }
        if held.images && said.is_about_images() && said.is_any(&BAD_FILES) {
            state.left_out.images = history.messages;
            return Some("the images so far are left out");
        }
        if held.documents && said.is_about_documents() && said.is_any(&BAD_FILES) {
            state.left_out.documents = history.messages;
            return Some("the documents so far are left out");
        }
        None
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
