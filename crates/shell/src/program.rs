//! What programs do, by name: the door to the tables.
//!
//! Only bare names are known, and the same names in the system's own folders; any other path could lead to anything.
//! The tables say what is known of a program. What none of them names is an unknown program, whatever it is called.

mod awk;
mod builders;
mod dangers;
mod files;
mod find;
mod git;
mod readers;
mod scripts;
mod sed;
mod wrappers;

use crate::script::Word;
use crate::secret;
use crate::verdict::Verdict;

pub(crate) use builders::verbs;
pub(crate) use files::is_outside;
pub(crate) use git::{changes_settings as changes_git_settings, verb as git_verb};
pub(crate) use scripts::{is_interpreter, program as of_workspace};
pub(crate) use wrappers::{is_wrapper, unwrapped};

/// The name that the tables know a program by, unless it is named by a path of its own.
pub(crate) fn known_name(word: &str) -> Option<&str> {
    let name = ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"]
        .iter()
        .find_map(|folder| word.strip_prefix(folder))
        .unwrap_or(word);
    // `.` reads a file into the shell; it is a name, not a path.
    (!name.contains('/')).then_some(name)
}

/// What a program does when it is given these words.
pub(crate) fn verdict(name: &str, args: &[Word]) -> Verdict {
    if asks_for_version(name, args) {
        return Verdict::looks();
    }
    match name {
        "git" => git::verdict(args),
        "find" => find::verdict(args),
        "sed" => sed::verdict(args),
        "awk" | "gawk" | "mawk" | "nawk" => awk::verdict(args),
        _ => readers::verdict(name, args)
            .or_else(|| files::verdict(name, args))
            .or_else(|| builders::verdict(name, args))
            .or_else(|| scripts::verdict(name, args))
            .or_else(|| dangers::verdict(name, args))
            .unwrap_or_else(|| Verdict::unsure(format!("it runs `{name}`, a program that is not known here"))),
    }
}

/// The command that a shell is given in line, if it is given nothing else and the text is known.
pub(crate) fn inline_script<'a>(name: &str, args: &'a [Word]) -> Option<&'a str> {
    let is_shell = matches!(name, "bash" | "sh" | "dash" | "zsh");
    match args {
        // `-i` reads start-up files, which any letter that is not listed might do too.
        [flag, script] if is_shell && script.is_literal() => {
            let letters = flag.text.strip_prefix('-').filter(|_| flag.is_literal())?;
            let is_plain = letters.ends_with('c') && letters.chars().all(|c| "ceux".contains(c));
            is_plain.then_some(script.text.as_str())
        }
        _ => None,
    }
}

/// Whether the argument at this place is a text to search for rather than the name of a file.
pub(crate) fn is_search_text(name: &str, args: &[Word], at: usize) -> bool {
    let is_search = matches!(name, "grep" | "egrep" | "fgrep" | "rg");
    let is_option = |word: &Word| word.text.starts_with('-');
    let is_first = !is_option(&args[at]) && args[..at].iter().all(is_option);
    // After `-f` stands a file, and it is read.
    let reads_file = at > 0 && (args[at - 1].text.contains('f') || args[at - 1].text == "--");
    is_search && is_first && !reads_file && !args[at].text.contains('/')
}

/// A question that programs answer without doing anything else.
fn asks_for_version(name: &str, args: &[Word]) -> bool {
    let [only] = args else { return false };
    match only.text.as_str() {
        "--version" => VERSIONED.contains(&name),
        "-V" => matches!(name, "python" | "python3" | "rustc" | "cargo" | "pip" | "pip3" | "rustfmt"),
        "-vV" => name == "rustc",
        "-v" => matches!(name, "node" | "npm" | "pnpm" | "yarn"),
        "-version" => name == "java",
        "version" => matches!(name, "go" | "git"),
        _ => false,
    }
}

const VERSIONED: [&str; 47] = [
    "cargo",
    "rustc",
    "rustup",
    "rustfmt",
    "git",
    "node",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "deno",
    "python",
    "python3",
    "pip",
    "pip3",
    "uv",
    "poetry",
    "ruby",
    "gem",
    "bundle",
    "perl",
    "php",
    "java",
    "javac",
    "mvn",
    "gradle",
    "gcc",
    "g++",
    "cc",
    "clang",
    "cmake",
    "make",
    "ninja",
    "docker",
    "kubectl",
    "terraform",
    "bash",
    "zsh",
    "tsc",
    "jq",
    "rg",
    "curl",
    "sqlite3",
    "psql",
    "awk",
    "sed",
    "pytest",
];

/// A program that searches contents: over a whole home it would search the secrets too.
fn searches_home(operands: &[&Word]) -> Option<Verdict> {
    operands
        .iter()
        .any(|word| secret::is_home(word))
        .then(|| Verdict::unsure("it searches a whole home or machine, secrets included"))
}

/// A known program with something in it that is not known to be harmless.
fn unknown_use(name: &str, word: &Word) -> Verdict {
    if word.is_loose {
        return Verdict::tricky(format!("`{}` may turn into an option of `{name}` at run time", word.text));
    }
    Verdict::tricky(format!("`{name}` with `{}` is not known to be harmless", word.text))
}
