//! `sed`: whether a script only prints what it changes.
//!
//! Commands of the language that read, write or run something (`r`, `w`, `e`, and the flags of `s`) are not looked for;
//! the ones that do not are recognised, and every other letter counts as one that does.

use crate::options::Options;
use crate::script::Word;
use crate::verdict::Verdict;

use super::{is_outside, unknown_use};

const OPTIONS: Options = Options {
    short: "nErsuz",
    valued: "",
    long: &["quiet", "silent", "regexp-extended", "null-data", "separate", "unbuffered", "posix", "sandbox"],
};

pub(super) fn verdict(args: &[Word]) -> Verdict {
    let in_place = |word: &Word| {
        word.text == "-i" || word.text.starts_with("-i.") || word.text == "--in-place" || word.text == "-Ei"
    };
    let edits = args.iter().any(in_place);
    let mut rest: Vec<Word> = Vec::new();
    let mut scripts: Vec<&Word> = Vec::new();
    let mut words = args.iter().filter(|word| !in_place(word));
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-e" | "-ne" | "-ze" | "-Ee" | "--expression" => scripts.extend(words.next()),
            _ => rest.push(word.clone()),
        }
    }
    let operands = match OPTIONS.operands(&rest) {
        Ok(operands) => operands,
        Err(word) => return unknown_use("sed", word),
    };
    if scripts.is_empty() {
        scripts.extend(operands.first());
    }
    if edits && (operands.iter().any(|word| is_outside(word)) || scripts.iter().any(|script| script.text.is_empty())) {
        return Verdict::unsure("it edits files in place that may lie outside the workspace");
    }
    match scripts.iter().find(|script| !script.is_literal() || !only_prints(&script.text)) {
        Some(script) => unknown_use("sed", script),
        None if scripts.is_empty() => Verdict::unsure("`sed` is given no script"),
        None if edits => Verdict::works("it edits files in place"),
        None => Verdict::looks(),
    }
}

/// Whether a script consists of commands that are known to print and nothing else.
fn only_prints(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ';', '\n', '{', '}']);
        if rest.is_empty() {
            return true;
        }
        let Some(after) = addresses(rest).and_then(command) else { return false };
        rest = after.trim_start_matches([' ', '\t']);
        if !rest.is_empty() && !rest.starts_with([';', '\n', '}']) {
            return false;
        }
    }
}

/// What follows the addresses, and the brace that may open a group after them.
fn addresses(script: &str) -> Option<&str> {
    let mut rest = script;
    loop {
        rest = match rest.chars().next()? {
            '0'..='9' | '$' | ',' | '~' | '+' | '!' | ' ' | '{' => &rest[1..],
            '/' => expression(&rest[1..], '/')?.trim_start_matches(['I', 'M']),
            _ => return Some(rest),
        };
    }
}

/// What follows one harmless command.
fn command(script: &str) -> Option<&str> {
    let name = script.chars().next()?;
    let rest = &script[name.len_utf8()..];
    match name {
        'p' | 'P' | 'd' | 'D' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' => Some(rest),
        'q' | 'Q' | 'l' => Some(rest.trim_start_matches(|c: char| c.is_ascii_digit())),
        's' | 'y' => {
            let mark =
                rest.chars().next().filter(|mark| !mark.is_alphanumeric() && !mark.is_whitespace() && *mark != '\\')?;
            let replaced = delimited(expression(&rest[mark.len_utf8()..], mark)?, mark)?;
            Some(replaced.trim_start_matches(['g', 'p', 'i', 'I', '1', '2', '3', '4', '5', '6', '7', '8', '9']))
        }
        _ => None,
    }
}

/// What follows the next mark that no backslash stands before.
fn delimited(text: &str, mark: char) -> Option<&str> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == mark => return Some(&text[at + mark.len_utf8()..]),
            _ => {}
        }
    }
    None
}

/// The same for a regular expression. Seds differ on a mark or a backslash in brackets, so that is not understood.
fn expression(text: &str, mark: char) -> Option<&str> {
    let mut rest = text;
    loop {
        let c = rest.chars().next()?;
        rest = &rest[c.len_utf8()..];
        match c {
            '\n' => return None,
            c if c == mark => return Some(rest),
            '\\' => {
                let escaped = rest.chars().next()?;
                rest = &rest[escaped.len_utf8()..];
            }
            '[' => rest = bracket(rest, mark)?,
            _ => {}
        }
    }
}

/// What follows a bracket expression: its first character may be the one that closes it, and classes are bracketed
/// themselves.
fn bracket(text: &str, mark: char) -> Option<&str> {
    let inner = text.strip_prefix('^').unwrap_or(text);
    let mut at = if inner.starts_with(']') { 1 } else { 0 };
    loop {
        let c = inner[at..].chars().next()?;
        if c == mark || c == '\n' || inner[at..].starts_with("\\]") || inner[at..].starts_with("\\\\") {
            return None;
        }
        if inner[at..].starts_with("[:") {
            let class = inner[at + 2..].split_once(":]").map(|(class, _)| class)?;
            if !class.chars().all(|c| c.is_ascii_lowercase()) {
                return None;
            }
            at += class.len() + 4;
            continue;
        }
        at += c.len_utf8();
        match c {
            ']' => return Some(&inner[at..]),
            '[' => return None,
            _ => {}
        }
    }
}
