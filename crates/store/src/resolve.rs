//! Which thread a person means, and which question.

use agent::ThreadId;

use crate::approvals::ApprovalRow;
use crate::error::Error;

/// How many candidates an ambiguous name is answered with.
const CANDIDATES: usize = 10;

/// The thread that `text` names, given all roots. A name with a dot names a descendant, of which only the root's part is
/// guessed; whether that descendant exists is left to the caller.
pub(crate) fn pick(text: &str, roots: &[ThreadId]) -> Result<ThreadId, Error> {
    let (root_text, below) = match text.split_once('.') {
        Some((root, below)) => (root, Some(below)),
        None => (text, None),
    };
    if root_text.is_empty() {
        return Err(Error::UnknownThread(text.into()));
    }
    // The first way in which anything fits decides: what is exact wins over what is a beginning.
    let ways: [fn(&str, &str) -> bool; 4] = [
        |root, text| root == text,
        |root, text| after_date(root) == text,
        |root, text| root.starts_with(text),
        |root, text| after_date(root).starts_with(text),
    ];
    for fits in ways {
        let mut fitting = roots.iter().filter(|root| fits(root.as_str(), root_text));
        let Some(first) = fitting.next() else { continue };
        let others: Vec<_> = fitting.take(CANDIDATES - 1).cloned().collect();
        if others.is_empty() {
            return Ok(match below {
                Some(below) => ThreadId::new(format!("{first}.{below}")),
                None => first.clone(),
            });
        }
        let candidates = std::iter::once(first.clone()).chain(others).collect();
        return Err(Error::Ambiguous { text: text.into(), candidates });
    }
    Err(Error::UnknownThread(text.into()))
}

/// The question that `text` names, given all of them. One with a stroke names its number, which is never guessed; without
/// one, a beginning is enough where only one question has it.
pub(crate) fn pick_approval(text: &str, rows: Vec<ApprovalRow>) -> Result<ApprovalRow, Error> {
    let unknown = || Error::UnknownApproval(text.into());
    let fitting: Vec<ApprovalRow> = match text.split_once('/') {
        Some((thread, number)) => {
            let mut roots: Vec<ThreadId> = rows.iter().map(|row| row.root.clone()).collect();
            roots.sort();
            roots.dedup();
            let thread = match pick(thread, &roots) {
                Err(Error::UnknownThread(_)) => return Err(unknown()),
                picked => picked?,
            };
            let name = format!("{thread}/{number}");
            rows.into_iter().filter(|row| row.question.id.as_str() == name).collect()
        }
        None if text.is_empty() => Vec::new(),
        None => {
            let fits = |id: &str| id.starts_with(text) || after_date(id).starts_with(text);
            rows.into_iter().filter(|row| fits(row.question.id.as_str())).collect()
        }
    };
    if fitting.len() > 1 {
        let candidates = fitting.iter().take(CANDIDATES).map(|row| row.question.id.clone()).collect();
        return Err(Error::AmbiguousApproval { text: text.into(), candidates });
    }
    fitting.into_iter().next().ok_or_else(unknown)
}

fn after_date(root: &str) -> &str {
    root.split_once('-').map_or(root, |(_, after)| after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick_of(text: &str, roots: &[&str]) -> Result<String, Error> {
        let roots: Vec<_> = roots.iter().map(|root| ThreadId::new(*root)).collect();
        pick(text, &roots).map(|thread| thread.to_string())
    }

    #[test]
    fn what_is_exact_wins_over_what_is_a_beginning() {
        let roots = ["20260115-k3", "20260115-k3f9", "20260116-2026"];
        assert_eq!(pick_of("20260115-k3", &roots).unwrap(), "20260115-k3");
        assert_eq!(pick_of("k3", &roots).unwrap(), "20260115-k3");
        assert_eq!(pick_of("2026", &roots).unwrap(), "20260116-2026");
        assert_eq!(pick_of("k3f", &roots).unwrap(), "20260115-k3f9");
    }

    #[test]
    fn a_childs_place_is_never_guessed() {
        assert_eq!(pick_of("k3.1", &["20260115-k3f9"]).unwrap(), "20260115-k3f9.1");
    }

    #[test]
    fn the_same_tail_on_two_days_is_ambiguous() {
        let error = pick_of("k3f9", &["20260115-k3f9", "20260116-k3f9"]).unwrap_err();
        assert_eq!(error.to_string(), "'k3f9' may be any of 20260115-k3f9, 20260116-k3f9");
    }

    #[test]
    fn nothing_and_a_stranger_are_unknown() {
        for text in ["", ".1", "zzzz"] {
            assert!(matches!(pick_of(text, &["20260115-k3f9"]), Err(Error::UnknownThread(_))), "{text}");
        }
    }
}
