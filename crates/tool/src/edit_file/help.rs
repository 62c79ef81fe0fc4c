//! What to say when a text to replace is not there, or there too often.

use similar::get_close_matches;

use crate::text;

/// How much of a file is searched for something similar.
const MAX_LINES: usize = 5000;
const MAX_LINE_BYTES: usize = 300;

/// Why a text was not found, with the nearest thing that is there.
pub(super) fn not_found(content: &str, old: &str) -> String {
    if content.contains(&without_numbers(old)) {
        return "old_text was not found with the line numbers that read_file shows; leave them out".to_owned();
    }
    let Some(wanted) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return "old_text is only white space and was not found".to_owned();
    };
    let lines = || content.lines().enumerate().map(|(at, line)| (at + 1, line));
    if let Some((number, line)) = lines().find(|(_, line)| line.trim() == wanted) {
        return format!(
            "old_text was not found, though line {number} is like its first line: {:?}; \
             it differs in white space or in the lines that follow, so read that part again",
            text::clip(line, 200)
        );
    }
    let near: Vec<&str> =
        content.lines().take(MAX_LINES).map(str::trim).filter(|l| l.len() <= MAX_LINE_BYTES).collect();
    let nearest = match wanted.len() {
        0..=MAX_LINE_BYTES => get_close_matches(wanted, &near, 1, 0.6).first().copied(),
        _ => None,
    };
    match nearest.and_then(|nearest| lines().find(|(_, line)| line.trim() == nearest)) {
        Some((number, line)) => {
            format!("old_text was not found; nearest is line {number}: {:?}", text::clip(line, 200))
        }
        None => "old_text was not found and nothing is similar; read the file again".to_owned(),
    }
}

/// Where a text is, when it is there more than once.
pub(super) fn ambiguous(content: &str, old: &str, found: usize) -> String {
    const SHOWN: usize = 8;
    let line_of = |at: usize| (1 + content[..at].matches('\n').count()).to_string();
    let places: Vec<_> = content.match_indices(old).take(SHOWN).map(|(at, _)| line_of(at)).collect();
    let more = if found > SHOWN { ", …" } else { "" };
    format!(
        "old_text occurs {found} times (lines {}{more}); add lines around it until it is unique, or set all",
        places.join(", ")
    )
}

/// A text as it would be without the numbers in front of its lines.
fn without_numbers(old: &str) -> String {
    let bare = |line: &str| match line.split_once('\t') {
        Some((number, rest)) if number.trim().parse::<u32>().is_ok() => Some(rest.to_owned()),
        _ => None,
    };
    match old.lines().map(bare).collect::<Option<Vec<_>>>() {
        Some(lines) if !lines.is_empty() => lines.join("\n"),
        _ => old.to_owned(),
    }
}
