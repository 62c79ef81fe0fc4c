//! The same frames in the shapes of other products. A dialect narrows and renames to exactly one shape, and never adds a fact.
//!
//! One file a dialect: a state that it keeps over a stream, and a function from a frame to at most one line.
//! At most one, so that the line goes out under the frame's own number and a reader can resume in any dialect.

mod kata;
mod lace;
mod opta;
mod orion;
mod zileo;

use crate::Frame;

/// A dialect, with its state over one stream.
#[derive(Clone, Debug)]
pub struct Dialect(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Canonical,
    Kata(kata::Tasks),
    Lace,
    Opta(opta::Phases),
    Orion,
    Zileo,
}

impl Dialect {
    /// The names by which dialects are asked for.
    pub const NAMES: [&str; 6] = ["canonical", "kata", "lace", "opta", "orion", "zileo"];

    /// A dialect by name, at the beginning of a stream.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "canonical" => Some(Self(Kind::Canonical)),
            "kata" => Some(Self(Kind::Kata(kata::Tasks::default()))),
            "lace" => Some(Self(Kind::Lace)),
            "opta" => Some(Self(Kind::Opta(opta::Phases::default()))),
            "orion" => Some(Self(Kind::Orion)),
            "zileo" => Some(Self(Kind::Zileo)),
            _ => None,
        }
    }

    /// Whether it is our own.
    pub fn is_canonical(&self) -> bool {
        matches!(self.0, Kind::Canonical)
    }

    /// The frame as one line of this dialect; none where the dialect has no line for it.
    /// Every frame of a family is handed in, in order: what a dialect says depends on what came before.
    pub fn map(&mut self, frame: &Frame) -> Option<String> {
        match &mut self.0 {
            Kind::Canonical => Some(frame.json()),
            Kind::Kata(tasks) => kata::map(tasks, frame),
            Kind::Lace => lace::map(frame),
            Kind::Opta(phases) => opta::map(phases, frame),
            Kind::Orion => orion::map(frame),
            Kind::Zileo => zileo::map(frame),
        }
    }
}

impl Default for Dialect {
    /// Our own frames.
    fn default() -> Self {
        Self(Kind::Canonical)
    }
}
