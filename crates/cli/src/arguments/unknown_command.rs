//! What to suggest for a command that does not exist: what the words of other tools are called here, else the nearest command.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Two words that are less alike than this are not taken for a typing error.
const ALIKE: f64 = 0.55;

/// Commands that people know from other tools or expect to exist, and what to use.
const KNOWN_ELSEWHERE: &[(&[&str], &str)] = &[
    (&["repl", "interactive", "tui"], "majordomo chat"),
    (
        &["ask", "exec", "prompt"],
        "majordomo run \"…\" for one task, majordomo chat for a conversation, majordomo serve for one in the browser",
    ),
    (&["version", "v"], "majordomo --version"),
    (
        &["session", "sessions", "conversation", "conversations", "threads", "history", "runs", "list", "ls"],
        "majordomo thread ls",
    ),
    (&["resume", "continue"], "majordomo -c to say more, majordomo thread resume ID after an interruption"),
    (&["show", "log", "logs"], "majordomo thread show ID"),
    (
        &["export", "import", "fork", "rename", "archive"],
        "majordomo thread export ID (also import, fork, rename, archive)",
    ),
    (
        &["login", "auth", "setup", "init"],
        "majordomo doctor, which says which model is used and how to choose another (-m PROVIDER/MODEL)",
    ),
    (&["model", "providers"], "majordomo models ls"),
    (&["web", "ui", "server", "api", "dashboard"], "majordomo serve"),
    (&["kill", "cancel", "abort"], "majordomo stop ID"),
    (&["message", "tell", "reply"], "majordomo send ID TEXT"),
    (&["approvals", "approval", "allow", "yes", "permissions"], "majordomo approve ls"),
    (&["agent", "subagents"], "majordomo agents ls"),
    (&["settings", "configure", "configuration"], "majordomo config show"),
    (&["status", "top", "tree"], "majordomo ps"),
    (&["check", "diagnose", "health"], "majordomo doctor"),
    (&["completions", "autocomplete"], "majordomo completion SHELL"),
];

/// The message for a command line that names an unknown command at the top level; none for any other error.
pub fn message(error: &clap::Error, cli: &Command) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    // A command below another one, such as `thread lst`, is clap's to answer.
    if !error.get(ContextKind::Usage)?.to_string().contains("majordomo <COMMAND>") {
        return None;
    }
    let known = KNOWN_ELSEWHERE.iter().find(|(words, _)| words.contains(&word.to_lowercase().as_str()));
    let use_instead = match known {
        Some((_, instead)) => format!("use: {instead}"),
        None => match nearest(word, cli) {
            Some(name) => format!("did you mean: majordomo {name}"),
            None => format!("to run a task: majordomo run \"{word} …\""),
        },
    };
    Some(format!("there is no command '{word}'; {use_instead}\nall commands: majordomo --help"))
}

fn nearest(word: &str, cli: &Command) -> Option<String> {
    let alike = |name: &str| strsim::normalized_damerau_levenshtein(&word.to_lowercase(), name);
    let names = cli.get_subcommands().map(Command::get_name);
    let best = names.max_by(|one, other| alike(one).total_cmp(&alike(other)))?;
    (alike(best) >= ALIKE).then(|| best.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::arguments::Cli;

    fn said(words: &[&str]) -> Option<String> {
        let error = Cli::try_parse_from([&["majordomo"], words].concat()).expect_err("it is wrong");
        message(&error, &Cli::command())
    }

    #[test]
    fn a_wrong_command_names_the_right_one() {
        for (word, right) in [
            ("repl", "majordomo chat"),
            ("exec", "majordomo run"),
            ("version", "majordomo --version"),
            ("session", "majordomo thread ls"),
            ("providers", "majordomo models ls"),
            ("login", "majordomo doctor"),
            ("rnu", "did you mean: majordomo run"),
            ("thraed", "did you mean: majordomo thread"),
            ("aprove", "did you mean: majordomo approve"),
            ("summarise", "majordomo run \"summarise …\""),
        ] {
            let said = said(&[word]).expect("a message");
            assert!(said.contains(right), "{word}: {said}");
        }
    }

    #[test]
    fn other_errors_are_left_as_they_are() {
        assert_eq!(said(&["run", "--nonsense"]), None);
        assert_eq!(said(&["thread", "lst"]), None);
    }

    #[test]
    fn every_word_of_the_table_is_no_command() {
        let cli = Cli::command();
        for word in KNOWN_ELSEWHERE.iter().flat_map(|(words, _)| *words) {
            assert!(cli.find_subcommand(word).is_none(), "{word} is a command and needs no hint");
        }
    }
}
