//! The voices: language models over their own wire formats.
