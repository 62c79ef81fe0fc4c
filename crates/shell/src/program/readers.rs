//! Programs that look, and under which options they do nothing else.
//!
//! A program is listed with any options only if none of them, in any of its implementations, writes a file or runs a
//! program.

use crate::options::Options;
use crate::script::Word;
use crate::verdict::Verdict;

use super::{searches_home, unknown_use};

/// What a program that looks says, and what it is given that is more than looking; nothing if it is not in these
/// tables.
pub(super) fn verdict(name: &str, args: &[Word]) -> Option<Verdict> {
    if ALWAYS.contains(&name) {
        return Some(Verdict::looks());
    }
    if let Some((_, options, operands)) = WITH_OPTIONS.iter().find(|(names, ..)| names.contains(&name)) {
        return Some(match options.operands(args) {
            Err(word) => unknown_use(name, word),
            Ok(left) if left.len() > *operands => unknown_use(name, left[*operands]),
            Ok(left) if name == "rg" => searches_home(&left).unwrap_or_else(Verdict::looks),
            Ok(left) if matches!(name, "jq" | "yq") => filter(name, &left),
            Ok(_) => Verdict::looks(),
        });
    }
    let by_words = match name {
        "grep" | "egrep" | "fgrep" => grep(args),
        "test" | "[" => test(args),
        "date" => {
            by(args, name, |text| DATE_WORDS.contains(&text) || DATE_BEGINNINGS.iter().any(|one| text.starts_with(one)))
        }
        "set" if !args.is_empty() => by(args, name, |text| SHELL_OPTIONS.contains(&text)),
        "ps" => by(args, name, |text| PS.contains(&text) || text.starts_with(|c: char| c.is_ascii_digit())),
        "man" => by(args, name, |text| text == "-k" || text == "-f" || !(text.starts_with('-') || text.contains('/'))),
        "printf" => printf(args),
        "wait" => by(args, name, |text| {
            matches!(text, "-n" | "-f" | "$!")
                || text.strip_prefix('%').unwrap_or(text).bytes().all(|b| b.is_ascii_digit())
        }),
        "systemctl" => systemctl(args),
        "unzip" => unzip_lists(args)?,
        "tar" => tar_lists(args)?,
        _ => return None,
    };
    Some(by_words)
}

/// Looks, if every word is of a known kind.
fn by(args: &[Word], name: &str, is_known: impl Fn(&str) -> bool) -> Verdict {
    match args.iter().find(|word| word.is_loose || !is_known(&word.text)) {
        Some(word) => unknown_use(name, word),
        None => Verdict::looks(),
    }
}

const ALWAYS: [&str; 74] = [
    // contents
    "cat",
    "head",
    "tail",
    "tac",
    "nl",
    "wc",
    "cut",
    "tr",
    "paste",
    "join",
    "comm",
    "fold",
    "fmt",
    "expand",
    "unexpand",
    "rev",
    "od",
    "hexdump",
    "strings",
    "column",
    "diff",
    "cmp",
    "base64",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "md5sum",
    "b2sum",
    "cksum",
    "numfmt",
    "zcat",
    // files
    "ls",
    "exa",
    "eza",
    "stat",
    "du",
    "df",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "pathchk",
    // the machine
    "whoami",
    "id",
    "groups",
    "uname",
    "arch",
    "nproc",
    "uptime",
    "free",
    "lsblk",
    "lscpu",
    "tty",
    "who",
    "users",
    "locale",
    "which",
    "whereis",
    // the shell
    "echo",
    "true",
    "false",
    ":",
    "pwd",
    "cd",
    "type",
    "exit",
    "break",
    "continue",
    "return",
    "sleep",
    "seq",
    "expr",
];

const MANY: usize = usize::MAX;

/// Programs, the options under which they only look, and how many files they may then be given.
const WITH_OPTIONS: [(&[&str], Options, usize); 14] = [
    (
        &["sort"],
        Options {
            short: "bdfghiMnRrVcCmszu",
            valued: "kSt",
            long: &[
                "numeric-sort",
                "reverse",
                "unique",
                "key",
                "field-separator",
                "ignore-case",
                "human-numeric-sort",
                "version-sort",
                "stable",
                "check",
                "zero-terminated",
                "general-numeric-sort",
            ],
        },
        MANY,
    ),
    (&["uniq"], Options { short: "cdDiuz", valued: "fsw", long: &["count", "repeated", "unique", "ignore-case"] }, 1),
    (
        &["rg"],
        Options {
            short: "nilLvwcoxFPHNIsSUuaqhbp.0",
            valued: "eABCgtTmMjrdE",
            long: &[
                "line-number",
                "no-line-number",
                "ignore-case",
                "smart-case",
                "case-sensitive",
                "files-with-matches",
                "files-without-match",
                "files",
                "count",
                "count-matches",
                "word-regexp",
                "fixed-strings",
                "invert-match",
                "only-matching",
                "multiline",
                "pcre2",
                "hidden",
                "no-ignore",
                "no-ignore-vcs",
                "glob",
                "iglob",
                "type",
                "type-not",
                "type-list",
                "max-count",
                "max-depth",
                "max-columns",
                "max-filesize",
                "context",
                "after-context",
                "before-context",
                "no-heading",
                "heading",
                "with-filename",
                "no-filename",
                "color",
                "sort",
                "sortr",
                "stats",
                "json",
                "vimgrep",
                "trim",
                "replace",
                "regexp",
                "column",
                "follow",
                "text",
                "quiet",
                "null",
                "passthru",
            ],
        },
        MANY,
    ),
    (
        &["fd", "fdfind"],
        Options {
            short: "HIsigapLFu0q1",
            valued: "etdEcSj",
            long: &[
                "hidden",
                "no-ignore",
                "type",
                "extension",
                "max-depth",
                "min-depth",
                "exclude",
                "glob",
                "full-path",
                "follow",
                "absolute-path",
                "size",
                "changed-within",
                "changed-before",
                "color",
                "ignore-case",
                "case-sensitive",
                "print0",
                "max-results",
                "fixed-strings",
            ],
        },
        MANY,
    ),
    (
        &["tree"],
        Options {
            short: "adfispughDFCnrtUvcA",
            valued: "LIP",
            long: &["dirsfirst", "gitignore", "prune", "noreport", "du", "si"],
        },
        MANY,
    ),
    (
        &["file"],
        Options {
            short: "bhiLkN0",
            valued: "F",
            long: &["brief", "mime", "mime-type", "mime-encoding", "dereference"],
        },
        MANY,
    ),
    (&["xxd"], Options { short: "abeipu", valued: "cgls", long: &[] }, 1),
    (
        &["jq", "yq"],
        Options {
            short: "nrcsaeSCMjR",
            valued: "",
            long: &[
                "null-input",
                "raw-output",
                "compact-output",
                "slurp",
                "exit-status",
                "sort-keys",
                "tab",
                "arg",
                "argjson",
                "raw-input",
                "join-output",
            ],
        },
        MANY,
    ),
    (
        &["bat", "batcat"],
        Options {
            short: "pnA",
            valued: "lr",
            long: &["plain", "number", "language", "line-range", "style", "color", "paging"],
        },
        MANY,
    ),
    (&["hostname"], Options { short: "fsIidAy", valued: "", long: &["fqdn", "short", "ip-address"] }, 0),
    (&["pgrep"], Options { short: "flxnoac", valued: "uPgtUG", long: &[] }, MANY),
    (&["ss"], Options { short: "tulpnaHs46", valued: "", long: &[] }, 0),
    (
        &["journalctl"],
        Options {
            short: "xefkrbq",
            valued: "unpSUt",
            long: &[
                "no-pager",
                "unit",
                "since",
                "until",
                "lines",
                "follow",
                "boot",
                "priority",
                "reverse",
                "user",
                "disk-usage",
                "list-boots",
            ],
        },
        0,
    ),
    (
        &["shellcheck"],
        Options { short: "ax", valued: "sefoS", long: &["shell", "severity", "exclude", "format", "color"] },
        MANY,
    ),
];

/// Words that may stand alone, and beginnings of words whose rest is a value.
const DATE_WORDS: [&str; 5] = ["-u", "--utc", "-R", "--rfc-email", "--iso-8601"];
const DATE_BEGINNINGS: [&str; 7] = ["+", "-I", "-d", "-r", "--date=", "--rfc-3339=", "--reference="];
const SHELL_OPTIONS: [&str; 13] =
    ["-e", "-u", "-x", "-eu", "-ex", "-eux", "-o", "+e", "+x", "pipefail", "-euo", "-euxo", "-eo"];
/// The letter `e` without a dash would show what other programs keep in their environment.
const PS: [&str; 12] = ["aux", "auxf", "auxw", "auxww", "ax", "-ef", "-e", "-A", "-f", "-p", "-eo", "-o"];

/// None of the options of grep writes or runs anything.
fn grep(args: &[Word]) -> Verdict {
    let is_recursive = |word: &Word| {
        let text = word.text.as_str();
        text.contains("recursive")
            || (text.starts_with('-') && !text.starts_with("--") && text.contains(['r', 'R', 'd']))
            || word.is_loose
    };
    let everything: Vec<&Word> = args.iter().collect();
    let searched = if args.iter().any(is_recursive) { searches_home(&everything) } else { None };
    searched.unwrap_or_else(Verdict::looks)
}

/// The option `-v` sets a variable, and evaluates the subscript in its name, commands and all. Only the first word can be
/// an option.
fn printf(args: &[Word]) -> Verdict {
    match args.first().filter(|first| first.is_loose || (first.text.starts_with('-') && first.text != "--")) {
        Some(word) => unknown_use("printf", word),
        None => Verdict::looks(),
    }
}

/// The shell evaluates subscripts, and with them commands, in what a test names.
fn test(args: &[Word]) -> Verdict {
    let evaluates =
        |word: &&Word| word.text.contains(['[', '`']) || word.text.contains("$(") || word.text == "-v" || word.is_loose;
    match args.iter().find(evaluates) {
        Some(word) => unknown_use("test", word),
        None => Verdict::looks(),
    }
}

/// A filter may ask for the environment, and a module may be anything.
fn filter(name: &str, operands: &[&Word]) -> Verdict {
    let tells = |word: &&&Word| {
        !word.is_literal()
            || ["env", "ENV", "import", "include", "load", "$__prog"].iter().any(|one| word.text.contains(one))
    };
    match operands.iter().find(tells) {
        Some(word) => unknown_use(name, word),
        None => Verdict::looks(),
    }
}

fn systemctl(args: &[Word]) -> Verdict {
    const LOOKS: [&str; 7] =
        ["status", "is-active", "is-enabled", "is-failed", "list-units", "list-unit-files", "list-timers"];
    const OPTIONS: Options =
        Options { short: "la", valued: "nt", long: &["no-pager", "user", "all", "full", "lines", "type", "failed"] };
    match OPTIONS.operands(args) {
        Err(word) => unknown_use("systemctl", word),
        Ok(operands) => match operands.first() {
            Some(verb) if LOOKS.contains(&verb.text.as_str()) => Verdict::looks(),
            _ => Verdict::grave("it changes services of the machine"),
        },
    }
}

fn unzip_lists(args: &[Word]) -> Option<Verdict> {
    let (first, rest) = args.split_first()?;
    let is_name = |word: &Word| word.is_literal() && !word.text.starts_with('-');
    (first.text == "-l" && rest.iter().all(is_name)).then(Verdict::looks)
}

/// Listing an archive, if nothing but a listing is asked for; a colon in its name would be another machine.
fn tar_lists(args: &[Word]) -> Option<Verdict> {
    let (letters, rest) = args.split_first()?;
    let letters = letters.text.strip_prefix('-').unwrap_or(&letters.text);
    let is_list = letters.contains('t') && letters.chars().all(|c| "tvfzjJ".contains(c));
    let is_plain = |word: &Word| word.is_literal() && !word.text.starts_with('-') && !word.text.contains(':');
    (is_list && rest.iter().all(is_plain)).then(Verdict::looks)
}
