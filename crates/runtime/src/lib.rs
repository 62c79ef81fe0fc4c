//! The heart: drives agents, performs their effects, keeps families together.
