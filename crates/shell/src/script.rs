//! A command after it was read: what would be called, and with what around it.
//!
//! The shape of the shell's language is flattened on purpose. Whether a command stands in a chain, a loop or a
//! substitution does not change what it would do once it runs, and the worst of all is what counts.

use std::collections::BTreeMap;

/// Everything in a command that has a say in its verdict.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// Every simple command, in the order of the text; what stands in a substitution comes after the command that holds
    /// it.
    pub calls: Vec<Call>,
    /// Files that are opened by redirection.
    pub redirects: Vec<Redirect>,
    /// Words that stand outside of any call and may still name something: values of a loop, subjects of a `case`,
    /// here-strings.
    pub loose: Vec<Word>,
    /// Variables that are set, before a command or on their own.
    pub assigned: Vec<Assigned>,
    /// Variables that a loop sets to its values.
    pub looped: Vec<String>,
    /// What each variable may be set to; `None` where that cannot be told from the text.
    pub values: BTreeMap<String, Option<Vec<Word>>>,
    /// Whatever else makes a difference.
    pub oddities: Vec<Oddity>,
    /// Whether it is one simple command and nothing around it.
    pub is_single: bool,
}

impl Script {
    /// Marks the words that name something in a workspace by its whole path.
    pub fn place(&mut self, workspace: &str) {
        let words = self.calls.iter_mut().flat_map(|call| &mut call.words);
        for word in words.chain(self.redirects.iter_mut().map(|one| &mut one.target)) {
            let below = word.text.strip_prefix(workspace).filter(|rest| rest.is_empty() || rest.starts_with('/'));
            word.is_inside = word.is_literal() && below.is_some_and(|rest| rest.split('/').all(|step| step != ".."));
        }
    }
}

/// A program and its arguments. There is always a first word.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub words: Vec<Word>,
}

/// A variable that is set.
#[derive(Debug)]
pub(crate) struct Assigned {
    pub name: String,
    /// Whether the assignment is a command of its own. Before a command it changes that command's environment.
    pub is_alone: bool,
}

/// A word as the program would get it, as far as the text tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    /// Without its quotes. What is computed at run time stands as it was written.
    pub text: String,
    /// Variables that are simply inserted and whose values are not known.
    pub variables: Vec<String>,
    /// The text and the variables, in order: what known values are put into.
    pub pieces: Vec<Piece>,
    /// Whether something in it is computed: a substitution, an operator on a variable, arithmetic with names.
    pub is_computed: bool,
    /// Whether it is computed by other than commands, which are judged themselves.
    pub is_opaque: bool,
    /// Whether it may become several words, or one that begins otherwise than the text does: an option, for example.
    pub is_loose: bool,
    /// Whether it holds an unquoted `*`, `?` or `[`.
    pub is_glob: bool,
    /// Whether a variable touches text other than a slash, so that a name may be put together from pieces.
    pub is_pieced: bool,
    /// Whether braces made it one of several.
    pub is_braced: bool,
    /// Whether what was put on last is a variable.
    pub ends_in_variable: bool,
    /// Whether the text holds the value of a variable.
    pub is_substituted: bool,
    /// Whether it names the workspace, or something in it, by its whole path.
    pub is_inside: bool,
}

/// A piece of a word.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// Text that the program gets as it is.
    Text(String),
    /// A variable, as it is written.
    Variable { name: String, source: String, is_quoted: bool },
}

/// Variables that Majordomo itself sets for a command, and whose values are no secret and no options.
const TRUSTED: [&str; 14] = [
    "", "HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "HOSTNAME", "SHELL", "PATH", "LANG", "TERM", "TMPDIR", "SECONDS",
    "RANDOM",
];

/// Whether the value of a variable is known to be harmless wherever it is inserted. Parameters without a name have an
/// empty one.
pub(crate) fn is_trusted(variable: &str) -> bool {
    TRUSTED.contains(&variable)
}

impl Word {
    /// Whether the program gets exactly this text.
    pub fn is_literal(&self) -> bool {
        !(self.is_computed || self.is_glob || self.is_braced) && self.variables.is_empty()
    }

    /// Adds text that the program gets as it is.
    pub fn push_text(&mut self, text: &str) {
        if let Some(first) = text.chars().next() {
            self.is_pieced |= self.ends_in_variable && first != '/';
            self.ends_in_variable = false;
            self.text.push_str(text);
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }

    /// Adds a variable, as it is written.
    pub fn push_variable(&mut self, name: &str, source: &str, is_quoted: bool) {
        self.is_pieced |= self.text.chars().next_back().is_some_and(|last| last != '/');
        self.ends_in_variable = true;
        self.variables.push(name.to_owned());
        self.text.push_str(source);
        let (name, source) = (name.to_owned(), source.to_owned());
        self.pieces.push(Piece::Variable { name, source, is_quoted });
    }

    /// Adds what the shell itself computes in ways that are not followed here, as it is written.
    pub fn push_opaque(&mut self, source: &str) {
        self.is_opaque = true;
        self.push_computed(source);
    }

    /// Adds what a command will give, as it is written.
    pub fn push_computed(&mut self, source: &str) {
        self.is_computed = true;
        self.text.push_str(source);
        self.pieces.push(Piece::Text(source.to_owned()));
    }
}

/// A file opened for a command.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    pub writes: bool,
    pub target: Word,
}

/// A thing in the text that changes what the rest means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// A function: from here on a name means something else.
    Function,
    /// `((…))` and arithmetic loops, which can assign and, through subscripts, run commands.
    Arithmetic,
    /// `$(…)`, backquotes, `<(…)`: what they give is not in the text.
    Substitution,
    /// `[[ … ]]` with something that is evaluated further than it looks.
    EvaluatingTest,
}
