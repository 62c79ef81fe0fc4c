//! System prompt and tools at the beginning of every request, serialized once for all conversations that begin alike.
//!
//! Of a thousand children of one role each begins with the same few thousand bytes. The newest opening is kept and shared;
//! one that differs is written anew and takes its place, so that nothing has to expire.

use std::sync::{Arc, Mutex, PoisonError};

use agent::tools::ToolInfo;

use crate::config::Wire;
use crate::history::Opening;

/// The newest opening of one provider.
#[derive(Debug, Default)]
pub(crate) struct OpeningCache(Mutex<Option<Arc<Kept>>>);

#[derive(Debug)]
struct Kept {
    system: String,
    tools: Vec<ToolInfo>,
    opening: Opening,
}

impl OpeningCache {
    /// The opening of a conversation that begins so.
    pub(crate) fn of(&self, wire: Wire, system: &str, tools: &[ToolInfo]) -> Opening {
        let newest = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(kept) = newest
            && kept.system == system
            && kept.tools == tools
        {
            return kept.opening.clone();
        }
        let opening = wire.opening(system, tools);
        let kept = Kept { system: system.to_owned(), tools: tools.to_vec(), opening: opening.clone() };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(kept));
        opening
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_begin_alike_share_their_opening_and_others_get_their_own() {
        for wire in Wire::ALL {
            let opening_cache = OpeningCache::default();
            let first = opening_cache.of(wire, "be brief", &[]);
            let second = opening_cache.of(wire, "be brief", &[]);
            assert!(Arc::ptr_eq(&first.system, &second.system), "{wire:?}");
            let other = opening_cache.of(wire, "be thorough", &[]);
            assert!(other.system.contains("be thorough"), "{wire:?}");
            assert!(opening_cache.of(wire, "be brief", &[]).system.contains("be brief"), "{wire:?}");
        }
    }
}
