//! What a command may write, as far as its text tells: the names that stand in calls which do more than read, and what git
//! is asked to bring into the work tree.
//!
//! The names are for a question to a person before the command runs. They are not what keeps a file: a program can write
//! what its command does not name, and the sandbox and a comparison afterwards see to that.

use crate::program;
use crate::script::Word;

/// What a command may write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Words, and pieces of words, that may name a file.
    pub names: Vec<String>,
    /// Calls of git that change the work tree or the repository.
    pub git: Vec<GitCall>,
}

/// A call of git that changes something, of which every word is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitCall {
    /// The folder that it works in, if it is told one.
    pub folder: Option<String>,
    /// What it does.
    pub verb: String,
    /// The words after the verb.
    pub args: Vec<String>,
}

/// Characters that stand around the name of a file in code that is given in line.
const AROUND: [char; 17] = ['=', ' ', '\t', '\n', '"', '\'', '`', '(', ')', '[', ']', '{', '}', ',', ';', '<', '>'];

impl Touched {
    /// A word that may name a file.
    pub(crate) fn name(&mut self, word: &Word) {
        self.names.push(word.text.clone());
        if word.text.contains(AROUND) {
            let pieces = word.text.split(AROUND).filter(|piece| !piece.is_empty());
            self.names.extend(pieces.map(str::to_owned));
        }
    }

    /// A call that does more than read.
    pub(crate) fn call(&mut self, name: &str, args: &[Word]) {
        // What git commits, and with which words, it does not write into the work tree.
        if name != "git" {
            return args.iter().for_each(|word| self.name(word));
        }
        let Some((folder, verb, rest)) = program::git_verb(args) else { return };
        if program::changes_git_settings(verb, rest) {
            self.names.push(format!("{}.git/config", folder.map(|folder| format!("{folder}/")).unwrap_or_default()));
        }
        if matches!(verb, "mv" | "rm" | "clone" | "init" | "apply" | "am" | "bundle" | "archive" | "format-patch") {
            rest.iter().for_each(|word| self.name(word));
        }
        let args = rest.iter().map(|word| word.text.clone()).collect();
        self.git.push(GitCall { folder: folder.map(str::to_owned), verb: verb.to_owned(), args });
    }

    /// What another command may write too.
    pub(crate) fn add(&mut self, other: Self) {
        self.names.extend(other.names);
        self.git.extend(other.git);
    }
}
