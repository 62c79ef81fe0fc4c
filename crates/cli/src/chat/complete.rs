//! What can be meant by the word before the cursor: `/` commands and their first argument, `@` files, agents and threads.

use clap::CommandFactory;

use super::app::{App, COMMANDS};
use crate::arguments::Cli;

/// The most that is offered at once.
const MOST: usize = 8;

/// What can be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Where the word begins, in bytes.
    pub start: usize,
    pub offers: Vec<Offer>,
    pub selected: usize,
}

/// A word that can be meant, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub word: String,
    pub detail: String,
}

impl Completion {
    /// Whether commands are offered.
    pub fn is_command(&self) -> bool {
        self.offers.first().is_some_and(|offer| offer.word.starts_with('/'))
    }

    /// Whether the text is one of them already.
    pub fn is_exact(&self, text: &str) -> bool {
        self.offers.iter().any(|offer| offer.word == text.trim_end())
    }
}

/// The word before the cursor that can be completed, and where it begins.
pub fn word(before: &str) -> Option<(usize, &str)> {
    let start =
        before.rfind(char::is_whitespace).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let word = &before[start..];
    let is_command = word.starts_with('/') && start == 0 && !word[1..].contains('/');
    (is_command || word.starts_with('@')).then_some((start, word))
}

/// The command whose first argument is before the cursor, where that begins, and what was typed of it.
fn argument(before: &str) -> Option<(&str, usize, &str)> {
    let (command, typed) = before.split_once(' ')?;
    let is_first = command.starts_with('/') && !typed.contains(char::is_whitespace);
    is_first.then_some((command, command.len() + 1, typed))
}

/// Whether a word can be meant by what was typed of it. A model is also known by its name without its provider.
fn is_meant(word: &str, typed: &str) -> bool {
    word.starts_with(typed) || word.split_once('/').is_some_and(|(_, name)| name.starts_with(typed))
}

/// The words that one of our own commands can begin with, and what each does.
fn verbs(command: &str) -> Vec<(String, String)> {
    let cli = Cli::command();
    let verbs = cli.find_subcommand(command).into_iter().flat_map(|command| command.get_subcommands());
    let shown = verbs.filter(|verb| !verb.is_hide_set());
    shown
        .map(|verb| (verb.get_name().to_owned(), verb.get_about().map(ToString::to_string).unwrap_or_default()))
        .collect()
}

/// How well a name fits what was typed: the lower the better; none where it does not.
fn fit(name: &str, typed: &str) -> Option<usize> {
    let (name, typed) = (name.to_lowercase(), typed.to_lowercase());
    let last = name.rsplit('/').next().unwrap_or(&name);
    if last.starts_with(&typed) {
        return Some(name.len());
    }
    if let Some(at) = name.find(&typed) {
        return Some(1_000 + at + name.len());
    }
    // The letters in their order.
    let mut letters = typed.chars();
    let mut next = letters.next();
    for letter in name.chars() {
        if next == Some(letter) {
            next = letters.next();
        }
    }
    next.is_none().then_some(10_000 + name.len())
}

/// The words that fit best.
pub fn offers(typed: &str, files: &[String], agents: &[String], threads: &[(String, String)]) -> Vec<Offer> {
    let mut found: Vec<(usize, Offer)> = Vec::new();
    if typed.starts_with('/') {
        for command in COMMANDS {
            if let Some(fit) = command.name.starts_with(typed).then_some(0).or_else(|| fit(command.name, typed)) {
                found.push((
                    fit.min(20_000),
                    Offer { word: command.name.to_owned(), detail: command.sentence.to_owned() },
                ));
            }
        }
        found.sort_by_key(|(fit, _)| *fit);
        return found.into_iter().map(|(_, offer)| offer).collect();
    }
    let typed = typed.trim_start_matches('@');
    let offer = |name: &str, detail: &str| {
        Some((fit(name, typed)?, Offer { word: format!("@{name}"), detail: detail.to_owned() }))
    };
    found.extend(agents.iter().filter_map(|name| offer(name, "agent")));
    found.extend(threads.iter().filter_map(|(id, goal)| offer(id, goal)));
    found.extend(files.iter().filter_map(|name| offer(name, "")));
    found.sort_by(|(one, first), (other, second)| one.cmp(other).then_with(|| first.word.cmp(&second.word)));
    found.into_iter().map(|(_, offer)| offer).take(MOST).collect()
}

impl App {
    /// Looks what can be meant by the word before the cursor.
    pub fn complete(&mut self) {
        if let Some((command, start, typed)) = argument(self.composer.before()) {
            let mut offers: Vec<Offer> = Vec::new();
            for (word, detail) in self.arguments_of(command) {
                offers.extend(is_meant(&word, typed).then_some(Offer { word, detail }));
            }
            let is_done = offers.is_empty() || offers.len() == 1 && offers[0].word == typed;
            self.completion = (!is_done).then_some(Completion { start, offers, selected: 0 });
            return;
        }
        self.completion = word(self.composer.before()).and_then(|(start, typed)| {
            let offers = offers(typed, self.file_names(), &self.staffed.agents, &self.thread_names());
            let is_done = offers.is_empty() || offers.len() == 1 && offers[0].word == typed;
            (!is_done).then_some(Completion { start, offers, selected: 0 })
        });
    }

    /// What the first argument of a command can be.
    fn arguments_of(&self, command: &str) -> Vec<(String, String)> {
        match command {
            "/mode" => self.modes_menu().items.into_iter().map(|item| (item.label, item.detail)).collect(),
            "/model" => self.staffed.models.iter().map(|name| (name.clone(), String::new())).collect(),
            "/agents" => self.staffed.agents.iter().map(|name| (name.clone(), String::new())).collect(),
            "/look" | "/stop" => self.thread_names(),
            "/tasks" => verbs("task"),
            "/config" => verbs("config"),
            "/mcp" => verbs("mcp"),
            _ => Vec::new(),
        }
    }

    /// The chosen word takes the place of the one before the cursor.
    pub fn take_completion(&mut self) {
        if let Some(completion) = self.completion.take()
            && let Some(offer) = completion.offers.get(completion.selected)
        {
            let behind = if offer.word.ends_with('/') { "" } else { " " };
            self.composer.replace_from(completion.start, &format!("{}{behind}", offer.word));
        }
    }

    /// Moves the choice.
    pub fn move_completion(&mut self, step: isize) {
        if let Some(completion) = &mut self.completion {
            let last = completion.offers.len().saturating_sub(1);
            completion.selected = completion.selected.saturating_add_signed(step).min(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_before_the_cursor_is_completed_where_it_begins_with_a_sign() {
        assert_eq!(word("/mo"), Some((0, "/mo")));
        assert_eq!(word("look at @src/ma"), Some((8, "@src/ma")));
        assert_eq!(word("look /mo"), None);
        assert_eq!(word("/usr/bin"), None);
        assert_eq!(word("mail@example"), None);
    }

    #[test]
    fn the_first_argument_of_a_command_is_completed() {
        assert_eq!(argument("/mode pl"), Some(("/mode", 6, "pl")));
        assert_eq!(argument("/mode plan x"), None);
        assert_eq!(argument("say /mode"), None);
        assert!(verbs("task").iter().any(|(word, about)| word == "add" && !about.is_empty()));
        assert!(!verbs("config").is_empty() && !verbs("mcp").is_empty());
    }

    #[test]
    fn what_begins_with_the_letters_comes_before_what_holds_them() {
        let files = ["src/xmain.rs", "src/main.rs", "docs/domain.md", "m/a/i/n.txt"].map(str::to_owned);
        let words: Vec<String> = offers("@main", &files, &[], &[]).into_iter().map(|offer| offer.word).collect();
        assert_eq!(words, ["@src/main.rs", "@src/xmain.rs", "@docs/domain.md", "@m/a/i/n.txt"]);
        let words: Vec<String> = offers("/mo", &[], &[], &[]).into_iter().map(|offer| offer.word).take(2).collect();
        assert_eq!(words, ["/model", "/mode"]);
    }
}
