//! The mirror: folds the log into frames, trees, transcripts and costs.
