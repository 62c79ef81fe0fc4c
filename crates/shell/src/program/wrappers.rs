//! Programs that run another one and add nothing to what it does: what they wrap is judged.

use crate::options::Options;
use crate::script::Word;
use crate::verdict::Verdict;

use super::{known_name, unknown_use};

/// A wrapper, its harmless options, and how many words stand before the program.
struct Wrapper {
    name: &'static str,
    options: Options,
    operands: usize,
}

const fn wrapper(name: &'static str, short: &'static str, valued: &'static str, operands: usize) -> Wrapper {
    Wrapper { name, options: Options { short, valued, long: &["preserve-status", "foreground"] }, operands }
}

const WRAPPERS: [Wrapper; 10] = [
    wrapper("command", "p", "", 0),
    wrapper("builtin", "", "", 0),
    wrapper("exec", "", "", 0),
    wrapper("nohup", "", "", 0),
    wrapper("setsid", "w", "", 0),
    wrapper("time", "pv", "", 0),
    wrapper("timeout", "v", "ks", 1),
    wrapper("nice", "0123456789", "n", 0),
    wrapper("ionice", "t", "cn", 0),
    wrapper("stdbuf", "", "ioe", 0),
];

/// Whether a name is a wrapper's.
pub(crate) fn is_wrapper(name: &str) -> bool {
    WRAPPERS.iter().any(|wrapper| wrapper.name == name)
}

/// What a wrapper wraps; nothing if the words begin with no wrapper, a verdict if it wraps nothing or not in a known
/// way.
pub(crate) fn unwrapped(words: &[Word]) -> Option<Result<&[Word], Verdict>> {
    let name = known_name(&words[0].text)?;
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
    let args = &words[1..];
    // `command -v` asks where a program is.
    if name == "command" && args.first().is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")) {
        return Some(Err(Verdict::looks()));
    }
    let mut at = 0;
    while let Some(word) = args.get(at).filter(|word| word.text.starts_with('-')) {
        // One option at a time, and its value with it, so that the options of the wrapped program are left to it.
        let takes_next = wrapper.options.valued.contains(word.text.trim_start_matches('-')) && word.text.len() == 2;
        if wrapper.options.operands(&args[at..=at]).is_err() {
            return Some(Err(unknown_use(name, word)));
        }
        at += if takes_next { 2 } else { 1 };
    }
    let inner = args.get(at + wrapper.operands..).filter(|inner| !inner.is_empty());
    let skipped = args.get(..at + wrapper.operands).unwrap_or_default();
    if let Some(odd) = skipped.iter().find(|word| !word.is_literal()) {
        return Some(Err(unknown_use(name, odd)));
    }
    Some(inner.ok_or_else(|| Verdict::unsure(format!("`{name}` is given nothing to run"))))
}
