//! Scripts and programs of the workspace: running one is ordinary work there, bounded by the same sandbox as a build.
//!
//! Code that is given in line, to an interpreter or on its standard input, is not meant: nobody has written it down.

use crate::script::Word;
use crate::verdict::Verdict;

use super::builders::is_python;
use super::is_outside;

/// Interpreters, and the options before a script that only change how much they say or how strict they are.
const INTERPRETERS: [(&[&str], &[&str]); 5] = [
    (&["bash", "sh", "zsh", "dash", "ksh"], &["-e", "-u", "-x", "-eu", "-ex", "-eux", "-n", "-v"]),
    (&["node", "bun", "tsx", "ts-node"], &["--trace-warnings", "--enable-source-maps", "--test"]),
    (&["ruby", "perl"], &["-w", "-c", "-W"]),
    (&["php", "lua", "luajit", "Rscript", "julia", "tclsh"], &[]),
    (&["deno"], &["run"]),
];
const PYTHON: [&str; 7] = ["-u", "-B", "-O", "-OO", "-I", "-s", "-E"];

/// What an interpreter does with a script of the workspace; nothing if it is given anything else.
pub(super) fn verdict(name: &str, args: &[Word]) -> Option<Verdict> {
    let options: &[&str] = match is_python(name) {
        true => &PYTHON,
        false => INTERPRETERS.iter().find(|(names, _)| names.contains(&name))?.1,
    };
    let script = args.iter().find(|word| !options.contains(&word.text.as_str()))?;
    is_script(script).then(|| Verdict::works(format!("it runs the script `{}` of the workspace", script.text)))
}

/// Whether a name is an interpreter's.
pub(crate) fn is_interpreter(name: &str) -> bool {
    is_python(name) || INTERPRETERS.iter().any(|(names, _)| names.contains(&name))
}

/// What a program that is named by its path does; nothing if it may lie outside the workspace.
pub(crate) fn program(word: &Word) -> Option<Verdict> {
    let is_path = word.text.contains('/') && word.is_literal() && !is_outside(word);
    is_path.then(|| Verdict::works(format!("it runs `{}`, a program of the workspace", word.text)))
}

/// Whether a word names a file of the workspace. A name without a slash or a dot could be an option or a verb.
fn is_script(word: &Word) -> bool {
    let text = word.text.as_str();
    let is_file = text.contains('/') || text.contains('.');
    word.is_literal() && is_file && !text.starts_with('-') && !is_outside(word)
}
