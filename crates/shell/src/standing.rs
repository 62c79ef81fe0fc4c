//! The pattern that "always allow" would be kept as: wide enough to be of use next time, too narrow to let another
//! thing through.

use crate::program;
use crate::script::Script;

/// Programs that do what their arguments say, so that allowing them once would allow everything.
const NEVER: [&str; 17] = [
    "env", "xargs", "sudo", "find", "fd", "fdfind", "ssh", "awk", "gawk", "mawk", "sed", "tar", "tee", "cp", "mv",
    "ln", "rm",
];

/// The pattern for a command that is plain and at most of medium risk. Chains and wrapped commands have none.
pub(crate) fn pattern(script: &Script) -> Option<String> {
    let [call] = script.calls.as_slice() else { return None };
    let name = call.words[0].text.as_str();
    if !script.is_single
        || !script.redirects.is_empty()
        || name.contains('/')
        || NEVER.contains(&name)
        || program::is_wrapper(name)
        || program::is_interpreter(name)
    {
        return None;
    }
    let depth = program::verbs(name);
    if depth == 0 {
        // A star right after a name would also fit the names that begin with it.
        return Some(if call.words.len() == 1 { name.to_owned() } else { format!("{name} *") });
    }
    let verbs: Vec<&str> = call.words.iter().skip(1).take(depth).map(|word| word.text.as_str()).collect();
    let first = verbs.first().filter(|verb| is_verb(verb))?;
    // Under `npm run` it is the script that says what is done.
    let is_second = matches!(*first, "run" | "run-script") && depth > 1;
    match verbs.get(1).filter(|verb| is_second && is_verb(verb)) {
        Some(second) => Some(format!("{name} {first} {second}*")),
        None if is_second => None,
        None => Some(format!("{name} {first}*")),
    }
}

fn is_verb(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
}
