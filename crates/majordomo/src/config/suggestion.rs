//! What was probably meant: the most similar of several words, or none when nothing is similar.

/// How much alike two words must be before one is offered for the other; below this, guesses annoy.
const ENOUGH: f64 = 0.7;

/// How much alike two words are, from 0 to 1.
pub(crate) fn likeness(one: &str, other: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(&one.to_lowercase(), &other.to_lowercase())
}

/// The candidate that `score` likes best, if it likes it enough. Of equals, the first.
pub(crate) fn nearest<T>(candidates: &[T], score: impl Fn(&T) -> f64) -> Option<&T> {
    let mut best = None;
    for candidate in candidates {
        let score = score(candidate);
        if score >= ENOUGH && best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// A clause to end a message with: `; did you mean X?`, or nothing.
pub(crate) fn clause(meant: Option<impl std::fmt::Display>) -> String {
    meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default()
}
