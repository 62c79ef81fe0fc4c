//! Gives any language model a staff: the library to embed.
