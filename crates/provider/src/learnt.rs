//! What servers have said about their models while this process runs: the figures of their lists, and how many tokens fit into a request,
//! where one did not fit. It is remembered for all conversations with a model.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::models::ModelEntry;

/// What was learnt, by the whole name of a model.
#[derive(Debug, Default)]
pub(crate) struct Learnt(Mutex<BTreeMap<Arc<str>, Known>>);

#[derive(Clone, Debug, Default)]
struct Known {
    /// What its server says about it; none where it was not asked.
    figures: Option<ModelEntry>,
    /// The smallest size by which a request was refused.
    window_tokens: Option<u64>,
}

impl Learnt {
    /// What the server says about a model, as far as it was asked.
    pub(crate) fn figures(&self, model: &str) -> Option<ModelEntry> {
        self.lock().get(model)?.figures.clone()
    }

    /// The server was asked about a model.
    pub(crate) fn note_figures(&self, model: &str, figures: ModelEntry) {
        self.lock().entry(model.into()).or_default().figures = Some(figures);
    }

    /// How many tokens fit into a request, where one was refused.
    pub(crate) fn window_tokens(&self, model: &str) -> Option<u64> {
        self.lock().get(model)?.window_tokens
    }

    /// A request was refused because no more than these tokens fit.
    pub(crate) fn note_window(&self, model: &Arc<str>, tokens: u64) {
        let mut all = self.lock();
        let window = &mut all.entry(model.clone()).or_default().window_tokens;
        *window = Some(window.map_or(tokens, |before| before.min(tokens)));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
