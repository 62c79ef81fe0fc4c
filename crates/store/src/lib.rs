//! The memory: an append-only log of events, behind a small trait.
