//! What a command does, in one form however it is spelt: `/usr/bin/git -C . push`, `env git push` and `sh -c 'git push'` all do
//! `git push`. Rules that deny or ask are compared with these forms; a rule that allows is compared with the text alone.
//!
//! A form begins with the name of the program without its folder. Wrappers are taken away, also several around each other,
//! and so are options that stand before the verb of a program. Text for a shell is read as a command of its own. What cannot
//! be told from the text stands as [`UNKNOWN`], and what is only possible is kept apart from what is certain.
//!
//! Deliberately absent: what a program does by itself. A script, a Makefile or a program under another name can do anything,
//! and only the sandbox bounds it.

mod options;
mod wrappers;

use std::collections::BTreeSet;

use agent::permission::UNKNOWN;

use crate::read;
use crate::script::{Call, Oddity, Script, Word, is_trusted};
use options::{Globals, Width};
use wrappers::{Inner, Wrapper};

/// Wrappers around each other, and texts for shells in each other.
const MAX_DEPTH: usize = 8;
/// Words of all calls that are looked at, wrapped and guessed ones among them.
const MAX_WORDS: usize = 48 * 1024;
/// Texts for shells that are read.
const MAX_TEXTS: usize = 64;
/// Words that may be the verb of one call.
const MAX_VERBS: usize = 8;
/// What a command does for certain is told in no more than this.
const MAX_BYTES: usize = 512 * 1024;
/// A command that may do more different things than these is one of which nothing is known.
const MAX_FORMS: usize = 1024;
/// Of what a command may do, no more is told: rules are shorter.
const MAX_CHARS: usize = 256;
/// A command with more words than these that may begin another one is not taken apart.
const MAX_GUESSED: usize = 64;

/// What a command does.
#[derive(Debug, Default)]
pub(crate) struct Acts {
    /// What it does for certain.
    pub certain: BTreeSet<String>,
    /// What it may do besides.
    pub perhaps: BTreeSet<String>,
}

/// What everything in a command does.
pub(crate) fn of(script: &Script) -> Acts {
    let mut finder = Finder::default();
    finder.script(script, 0);
    let Acts { certain, mut perhaps } = finder.acts;
    if perhaps.len() > MAX_FORMS {
        perhaps = [UNKNOWN.to_string()].into();
    }
    perhaps.retain(|form| form.contains(UNKNOWN) || !certain.contains(form));
    Acts { certain, perhaps }
}

/// A word as far as the text tells what the program gets.
#[derive(Clone, Debug)]
struct Piece {
    /// With [`UNKNOWN`] for what is computed at run time.
    text: String,
    /// As it was written.
    raw: String,
    /// Whether it holds no variable at all, not even one whose value is no secret and no option.
    is_fixed: bool,
    /// Whether names of files may take its place.
    is_glob: bool,
}

impl Piece {
    fn of(word: &Word, script: &Script) -> Self {
        // A parameter without a name is an argument of a text for a shell, which may be anything.
        let is_usual = |name: &String| {
            !name.is_empty()
                && is_trusted(name)
                && !script.assigned.iter().any(|one| one.name == *name)
                && !script.looped.contains(name)
        };
        let is_known = !word.is_computed && word.variables.iter().all(is_usual);
        let text = if is_known { word.text.clone() } else { format!("{}{UNKNOWN}", beginning(&word.text)) };
        let is_fixed = !word.is_computed && word.variables.is_empty();
        Self { text, raw: word.text.clone(), is_fixed, is_glob: word.is_glob }
    }

    fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), raw: text.to_owned(), is_fixed: true, is_glob: false }
    }

    fn is_known(&self) -> bool {
        !self.text.contains(UNKNOWN)
    }

    /// The program that it names, without its folder; none where it may be another one.
    fn program(&self) -> Option<&str> {
        let name = self.text.rsplit('/').next().unwrap_or_default();
        // A variable in the folder makes no difference.
        let is_settled = self.is_fixed || !name.is_empty() && !name.contains(['$', '`']);
        (self.is_known() && !self.is_glob && is_settled).then_some(name)
    }

    fn is_option(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with('-')
    }

    fn is_assignment(&self) -> bool {
        self.text.split_once('=').is_some_and(|(name, _)| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    }
}

/// What a word that is computed begins with in any case. Without a variable in it, it is not known where the rest begins.
fn beginning(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "-_./=:+,@%".contains(c))).unwrap_or(0);
    if text[end..].starts_with(['$', '`']) { &text[..end] } else { "" }
}

#[derive(Default)]
struct Finder {
    acts: Acts,
    /// How many guesses are open: what is found under one is not certain.
    guesses: usize,
    /// How many words were looked at: calls in calls, and guesses in guesses, grow fast.
    words: usize,
    /// How many texts were read, and how much is told.
    texts: usize,
    bytes: usize,
}

impl Finder {
    fn script(&mut self, script: &Script, depth: usize) {
        if script.assigned.iter().any(|one| one.name.starts_with("GIT_CONFIG")) {
            self.perhaps(format!("git {UNKNOWN}"));
        }
        // Which of the values is which variable's is not told, and it makes no difference.
        if script.assigned.iter().any(|one| RUN_LATER.contains(&one.name.as_str())) {
            script.loose.iter().for_each(|word| self.later(&Piece::of(word, script), depth));
        }
        if evaluates_unseen(script) {
            self.anything();
        }
        for call in &script.calls {
            let pieces: Vec<Piece> = call.words.iter().map(|word| Piece::of(word, script)).collect();
            self.call(&pieces, depth);
        }
    }

    /// A text that something runs later, if it is one.
    fn later(&mut self, text: &Piece, depth: usize) {
        self.guess(|finder| finder.joined_text(std::slice::from_ref(text), depth));
    }

    /// A text that a shell would run.
    fn text(&mut self, text: &str, depth: usize) {
        self.texts += 1;
        let script = (depth < MAX_DEPTH && self.texts <= MAX_TEXTS).then(|| read::script(text));
        match script {
            Some(Ok(script)) => self.script(&script, depth + 1),
            // Nothing at all is run.
            Some(Err(_)) if text.trim().is_empty() => {}
            Some(Err(_)) | None => self.anything(),
        }
    }

    /// The same for words that are joined to a text.
    fn joined_text(&mut self, words: &[Piece], depth: usize) {
        let raw: Vec<&str> = words.iter().map(|word| word.raw.as_str()).collect();
        if words.iter().all(Piece::is_known) {
            return self.text(&raw.join(" "), depth);
        }
        self.anything();
        self.guess(|finder| finder.text(&raw.join(" "), depth));
    }

    fn call(&mut self, words: &[Piece], depth: usize) {
        let Some((program, args)) = words.split_first() else { return };
        self.words += words.len();
        let Some(name) = program.program().filter(|_| depth <= MAX_DEPTH && self.words <= MAX_WORDS) else {
            return self.anything();
        };
        for name in names(name) {
            self.forms(&name, args);
        }
        let settings = args.iter().filter(|word| word.is_assignment());
        for (variable, value) in
            settings.filter_map(|word| word.raw.split_once('=').map(|(name, _)| name).zip(value(word)))
        {
            if RUN_LATER.contains(&variable) {
                self.later(&value, depth);
            }
        }
        for text in wrappers::texts(name, args) {
            self.later(&text, depth);
        }
        if let Some(wrapper) = Wrapper::named(name) {
            match wrapper.inner(args) {
                Inner::Call(inner) => self.call(&inner, depth + 1),
                Inner::Text(text) => self.joined_text(&text, depth),
                Inner::Several(calls) => calls.iter().for_each(|inner| self.call(inner, depth + 1)),
                Inner::Unclear => self.anything_in(args, depth),
                // A wrapper cannot run what is part of a shell.
                Inner::Anything if self.guesses > 0 && matches!(name, "." | "source") => {}
                Inner::Anything => self.anything(),
                Inner::Nothing => {}
            }
        }
    }

    /// All that some of these words could be: a command that begins with any of them, or a text for a shell.
    fn anything_in(&mut self, words: &[Piece], depth: usize) {
        if words.len() > MAX_GUESSED {
            return self.anything();
        }
        self.guess(|finder| {
            for (at, word) in words.iter().enumerate() {
                if !word.is_known() {
                    finder.anything();
                } else if word.text.contains(char::is_whitespace) {
                    finder.text(&word.text, depth + 1);
                } else if !word.is_option() {
                    finder.call(&words[at..], depth + 1);
                }
            }
        });
    }

    /// The forms of one call: as it stands, and from its verb on.
    fn forms(&mut self, name: &str, args: &[Piece]) {
        let globals = Globals::of(name);
        self.form(name, args);
        let verbs = find_verbs(&globals, args);
        if verbs.len() > MAX_VERBS {
            self.perhaps(format!("{name} {UNKNOWN}"));
        }
        for (at, is_certain) in verbs.into_iter().take(MAX_VERBS) {
            let (verb, from) = (&args[at], &args[at..]);
            // Names of files can take the place of a verb, and are nothing but names where there is none.
            if !verb.is_known() || globals.has_verbs() && (verb.is_glob || !verb.is_fixed) {
                self.perhaps(format!("{name} {UNKNOWN}"));
                continue;
            }
            let bare: Vec<Piece> = from.iter().filter(|word| !word.is_option()).cloned().collect();
            let is_value = |at: usize| at > 0 && from[at - 1].is_option() && !from[at - 1].text.contains('=');
            let spare = |at: &usize| !from[*at].is_option() && !is_value(*at);
            let spare: Vec<Piece> = (0..from.len()).filter(spare).map(|at| from[at].clone()).collect();
            let joined = from.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            let synonyms: Vec<Piece> = globals.synonyms(&joined).map(|words| Piece::plain(&words)).collect();
            let add = |finder: &mut Self| {
                finder.form(name, from);
                finder.form(name, &bare);
                synonyms.iter().for_each(|words| finder.form(name, std::slice::from_ref(words)));
            };
            match is_certain {
                true => add(self),
                false => self.guess(add),
            }
            // Not every option takes the word behind it.
            self.guess(|finder| finder.form(name, &spare));
            if !globals.knows(&verb.text) {
                self.perhaps(format!("{name} {UNKNOWN}"));
            }
        }
        if globals.defines(args) {
            self.perhaps(format!("{name} {UNKNOWN}"));
        }
    }

    fn form(&mut self, name: &str, args: &[Piece]) {
        let words = std::iter::once(name).chain(args.iter().map(|word| word.text.as_str()));
        let form = words.collect::<Vec<_>>().join(" ");
        if form.contains(UNKNOWN) || self.guesses > 0 {
            self.perhaps(form.clone());
        }
        if self.guesses > 0 {
            return;
        }
        self.bytes += form.len();
        if self.bytes > MAX_BYTES {
            self.anything();
        } else {
            self.acts.certain.insert(form);
        }
    }

    fn perhaps(&mut self, mut form: String) {
        if let Some((end, _)) = form.char_indices().nth(MAX_CHARS) {
            form.truncate(end);
            form.push(UNKNOWN);
        }
        if self.acts.perhaps.len() <= MAX_FORMS {
            self.acts.perhaps.insert(form);
        }
    }

    fn anything(&mut self) {
        self.perhaps(UNKNOWN.to_string());
    }

    fn guess(&mut self, find: impl FnOnce(&mut Self)) {
        self.guesses += 1;
        find(self);
        self.guesses -= 1;
    }
}

/// Variables whose value is run as a command by what comes after.
const RUN_LATER: [&str; 18] = [
    "PS4",
    "PROMPT_COMMAND",
    "BASH_ENV",
    "ENV",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "LESSOPEN",
    "RUSTC_WRAPPER",
];

/// Builtins that evaluate the subscript of an array that they are given, commands in it included.
const EVALUATING: [&str; 16] = [
    "let",
    "printf",
    "read",
    "test",
    "[",
    "unset",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "wait",
    "mapfile",
    "readarray",
    "getopts",
    "hash",
];

/// Whether the shell runs something in a place that is not read: in a document, in a subscript that is quoted, in a value that is
/// shown as a prompt.
fn evaluates_unseen(script: &Script) -> bool {
    let holds_command = |word: &Word| !word.is_computed && (word.text.contains("$(") || word.text.contains('`'));
    let is_document = |word: &Word| word.is_computed && word.text.is_empty();
    let called = || script.calls.iter().flat_map(|call| &call.words).chain(&script.loose);
    // A variable in a sum, a subscript or an offset is evaluated in its turn.
    let computes = called().any(|word| word.is_opaque)
        || script.oddities.iter().any(|oddity| matches!(oddity, Oddity::Arithmetic | Oddity::EvaluatingTest));
    let evaluates = |call: &Call| {
        let (name, args) = (call.words[0].text.as_str(), &call.words[1..]);
        let renames = match name {
            "hash" => args.iter().any(|word| word.text.starts_with("-p")),
            "alias" => args.iter().any(|word| word.text.contains('=')),
            _ => false,
        };
        EVALUATING.contains(&name) && args.iter().any(|word| holds_command(word) && word.text.contains('[')) || renames
    };
    called().any(|word| word.text.contains("@P"))
        || script.loose.iter().any(|word| is_document(word) || computes && holds_command(word))
        || script.calls.iter().any(evaluates)
}

/// What stands behind the first `=` of a word.
fn value(word: &Piece) -> Option<Piece> {
    let after = |text: &str| text.split_once('=').map(|(_, value)| value.trim_start_matches('!').to_owned());
    Some(Piece { text: after(&word.text)?, raw: after(&word.raw)?, is_fixed: word.is_fixed, is_glob: false })
}

/// The names that a rule may give a program: its own, without a version at its end, and `git push` for `git-push`.
fn names(name: &str) -> Vec<String> {
    let mut names = vec![name.to_owned()];
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if bare.len() < name.len() && !bare.is_empty() {
        names.push(bare.to_owned());
    }
    if let Some((program, verb)) = name.split_once('-').filter(|(program, _)| matches!(*program, "git" | "cargo")) {
        names.push(format!("{program} {verb}"));
    }
    names
}

/// Where the verb of a program may stand, and whether that is certain. An option that is not known may take the word behind it.
fn find_verbs(globals: &Globals, args: &[Piece]) -> BTreeSet<(usize, bool)> {
    let (mut verbs, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![(0, true)]);
    while let Some((at, is_certain)) = open.pop() {
        let Some(word) = args.get(at).filter(|_| seen.insert((at, is_certain))) else { continue };
        match globals.width(word) {
            Width::NoOption => drop(verbs.insert((at, is_certain))),
            Width::End if at + 1 < args.len() => drop(verbs.insert((at + 1, is_certain))),
            Width::End => {}
            Width::Words(width) => open.push((at + width, is_certain)),
            Width::OneOrTwo => open.extend([(at + 1, is_certain), (at + 2, false)]),
        }
    }
    verbs
}
