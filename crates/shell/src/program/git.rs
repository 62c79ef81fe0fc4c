//! `git`: which of its verbs look, with which options, and which change what.
//!
//! Git runs programs at many doors: pagers, editors, helpers, drivers, hooks, and whatever an option before the verb
//! configures. The verbs that look do so only with options from the lists, before and after the verb. Options that a
//! repository's own configuration could set are not seen here: that `.git` cannot be written unseen is the sandbox's
//! business.

use crate::options::{Options, is_any_of};
use crate::script::Word;
use crate::verdict::Verdict;

use super::{is_outside, searches_home, unknown_use};

pub(super) fn verdict(args: &[Word]) -> Verdict {
    let (_, left) = before_verb(args);
    let Some((verb, rest)) = left.split_first() else {
        return Verdict::unsure("`git` is given no verb");
    };
    if verb.text.starts_with('-') || !verb.is_literal() {
        return Verdict::tricky(format!("`git` with `{}` before its verb can be made to run anything", verb.text));
    }
    let name = verb.text.as_str();
    if LOOKS.contains(&name) || NESTED.contains(&name) {
        match looks(name, rest) {
            Ok(true) => return Verdict::looks(),
            Err(odd) if LOOKS.contains(&name) => return unknown_use(&format!("git {name}"), odd),
            Ok(false) | Err(_) => {}
        }
    }
    if name == "grep" {
        return search(rest);
    }
    if let Some(odd) = rest.iter().find(|word| is_any_of(word, &NEVER)) {
        return unknown_use(&format!("git {name}"), odd);
    }
    changes(name, rest)
}

/// The folder that git is to work in, and the words from the verb on. Before the verb, only what takes things away from git
/// is believed, and a folder of the workspace.
fn before_verb(args: &[Word]) -> (Option<&str>, &[Word]) {
    let (mut folder, mut rest) = (None, args);
    loop {
        rest = match rest {
            [word, rest @ ..] if matches!(word.text.as_str(), "--no-pager" | "-P" | "--no-optional-locks") => rest,
            [word, to, rest @ ..] if word.text == "-C" && to.is_literal() && !is_outside(to) && folder.is_none() => {
                folder = Some(to.text.as_str());
                rest
            }
            rest => return (folder, rest),
        };
    }
}

/// The folder, the verb and what follows it.
pub(crate) fn verb(args: &[Word]) -> Option<(Option<&str>, &str, &[Word])> {
    let (folder, left) = before_verb(args);
    let (verb, rest) = left.split_first()?;
    Some((folder, verb.text.as_str(), rest))
}

/// Whether a call that does more than look writes the settings of its repository.
pub(crate) fn changes_settings(verb: &str, args: &[Word]) -> bool {
    let has = |words: &[&str]| args.iter().any(|word| words.contains(&word.text.split('=').next().unwrap_or_default()));
    match verb {
        "config" | "remote" | "submodule" | "sparse-checkout" | "maintenance" | "lfs" => true,
        "branch" => has(&[
            "-u",
            "--set-upstream-to",
            "--unset-upstream",
            "-t",
            "--track",
            "-m",
            "-M",
            "--move",
            "-c",
            "-C",
            "--copy",
            "--edit-description",
        ]),
        "checkout" | "switch" => has(&["-t", "--track"]),
        "push" => has(&["-u", "--set-upstream"]),
        _ => false,
    }
}

/// Verbs that look whatever they are given besides options.
const LOOKS: [&str; 26] = [
    "status",
    "log",
    "diff",
    "show",
    "rev-parse",
    "rev-list",
    "ls-files",
    "ls-tree",
    "blame",
    "annotate",
    "shortlog",
    "describe",
    "cat-file",
    "show-ref",
    "for-each-ref",
    "name-rev",
    "merge-base",
    "count-objects",
    "diff-tree",
    "diff-index",
    "whatchanged",
    "check-ignore",
    "check-attr",
    "cherry",
    "range-diff",
    "show-branch",
];

/// Verbs that look or change by what follows.
const NESTED: [&str; 9] =
    ["branch", "tag", "remote", "stash", "config", "worktree", "reflog", "submodule", "symbolic-ref"];

/// Letters that are harmless for every verb that looks. Letters with a value of one verb and none for another are in
/// neither list.
const OPTIONS: Options = Options {
    short: "pswbvuazqircReEFPgtldmh0123456789",
    valued: "nLSGUMC",
    long: &[
        "oneline",
        "stat",
        "shortstat",
        "numstat",
        "name-only",
        "name-status",
        "graph",
        "decorate",
        "all",
        "since",
        "until",
        "after",
        "before",
        "author",
        "committer",
        "grep",
        "format",
        "pretty",
        "abbrev-commit",
        "abbrev",
        "no-abbrev-commit",
        "no-merges",
        "merges",
        "first-parent",
        "reverse",
        "date",
        "follow",
        "max-count",
        "skip",
        "patch",
        "no-patch",
        "cached",
        "staged",
        "unified",
        "color",
        "no-color",
        "word-diff",
        "color-words",
        "ignore-all-space",
        "ignore-space-change",
        "ignore-blank-lines",
        "porcelain",
        "short",
        "long",
        "branch",
        "branches",
        "remotes",
        "tags",
        "untracked-files",
        "ignored",
        "ignore-submodules",
        "show-current",
        "list",
        "verbose",
        "contains",
        "no-contains",
        "merged",
        "no-merged",
        "sort",
        "points-at",
        "heads",
        "always",
        "dirty",
        "exact-match",
        "match",
        "show-toplevel",
        "git-dir",
        "git-common-dir",
        "absolute-git-dir",
        "is-inside-work-tree",
        "is-bare-repository",
        "show-prefix",
        "show-cdup",
        "abbrev-ref",
        "symbolic-full-name",
        "verify",
        "quiet",
        "others",
        "modified",
        "deleted",
        "exclude-standard",
        "stage",
        "unmerged",
        "full-name",
        "full-tree",
        "error-unmatch",
        "summary",
        "numbered",
        "email",
        "left-right",
        "cherry-pick",
        "cherry-mark",
        "topo-order",
        "date-order",
        "author-date-order",
        "no-ext-diff",
        "no-textconv",
        "no-renames",
        "find-renames",
        "find-copies",
        "diff-filter",
        "raw",
        "minimal",
        "patience",
        "histogram",
        "diff-algorithm",
        "compact-summary",
        "dirstat",
        "full-index",
        "binary",
        "check",
        "exit-code",
        "root",
        "cc",
        "pickaxe-regex",
        "pickaxe-all",
        "relative",
        "no-relative",
        "line-porcelain",
        "show-name",
        "show-email",
        "show-stash",
        "ahead-behind",
        "no-ahead-behind",
        "column",
        "no-column",
        "simplify-by-decoration",
        "ancestry-path",
        "boundary",
        "count",
        "not",
        "objects",
        "no-index",
        "merge-base",
        "is-ancestor",
        "octopus",
        "fork-point",
        "independent",
        "regexp-ignore-case",
        "invert-grep",
        "all-match",
        "walk-reflogs",
        "no-walk",
        "no-decorate",
        "null",
        "text",
        "ignore-cr-at-eol",
        "function-context",
        "inter-hunk-context",
        "submodule",
        "no-prefix",
        "src-prefix",
        "dst-prefix",
        "indent-heuristic",
        "recursive",
        "global",
        "local",
        "system",
        "get",
        "get-all",
        "get-regexp",
        "show-origin",
        "show-scope",
        "name-rev",
        "refs",
        "batch-check",
        "dereference",
        "expand-tabs",
        "no-expand-tabs",
        "cumulative",
        "ita-invisible-in-index",
    ],
};

/// Whether a verb only looks with these words, or the word that is not known to.
fn looks<'a>(name: &str, args: &'a [Word]) -> Result<bool, &'a Word> {
    // A format can ask for signatures, which another program checks.
    if let Some(odd) = args.iter().find(|word| word.text.contains("%G") || is_editing(name, word)) {
        return Err(odd);
    }
    let operands = OPTIONS.operands(args)?;
    let has =
        |options: &[&str]| args.iter().any(|word| options.contains(&word.text.split('=').next().unwrap_or_default()));
    let first = operands.first().map_or("", |word| word.text.as_str());
    Ok(match name {
        "branch" => {
            operands.is_empty()
                || has(&["--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"])
        }
        "tag" => operands.is_empty() || has(&["--list", "-l", "--contains", "--merged", "--points-at"]),
        "remote" => operands.is_empty() || first == "get-url",
        "stash" => matches!(first, "list" | "show"),
        "config" => {
            has(&["--get", "--get-all", "--get-regexp", "--list", "-l"]) && operands.len() <= 1
                || (operands.len() == 1 && first.contains('.'))
        }
        "worktree" => first == "list",
        "reflog" => matches!(first, "" | "show" | "HEAD"),
        "submodule" => matches!(first, "" | "status" | "summary"),
        "symbolic-ref" => operands.len() == 1 && !has(&["-d", "-m"]),
        _ => true,
    })
}

/// Letters that look for one verb and change something for another.
fn is_editing(name: &str, word: &Word) -> bool {
    let letters = word.text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    let changing = match name {
        "branch" => "dDmMcCfuti",
        "tag" => "adsuFmfe",
        "config" => "eE",
        "symbolic-ref" => "dm",
        "reflog" | "stash" | "worktree" | "submodule" | "remote" => "dDfmu",
        _ => "",
    };
    letters.contains(|letter| changing.contains(letter))
}

/// `git grep` has letters of its own, among them one that opens a pager.
fn search(args: &[Word]) -> Verdict {
    const OPTIONS: Options = Options {
        short: "nilLvwcoEFPGHhaIpWq0123456789",
        valued: "eABCm",
        long: &[
            "line-number",
            "ignore-case",
            "files-with-matches",
            "name-only",
            "count",
            "word-regexp",
            "fixed-strings",
            "extended-regexp",
            "perl-regexp",
            "cached",
            "untracked",
            "heading",
            "break",
            "show-function",
            "all-match",
            "and",
            "or",
            "not",
            "no-index",
            "max-depth",
            "context",
        ],
    };
    match OPTIONS.operands(args) {
        Ok(operands) => searches_home(&operands).unwrap_or_else(Verdict::looks),
        Err(odd) => unknown_use("git grep", odd),
    }
}

/// Options that run a program or write elsewhere, for any verb.
const NEVER: [&str; 19] = [
    "--exec",
    "--upload-pack",
    "--receive-pack",
    "--template",
    "--config",
    "--ext-diff",
    "--textconv",
    "--output",
    "--output-directory",
    "--open-files-in-pager",
    "--paginate",
    "--git-dir",
    "--work-tree",
    "--exec-path",
    "--separate-git-dir",
    "--reference",
    "--editor",
    "--interactive",
    "--extcmd",
];

/// What a verb that does not only look would change.
fn changes(name: &str, args: &[Word]) -> Verdict {
    let has = |words: &[&str]| args.iter().any(|word| words.contains(&word.text.as_str()));
    let first = args.first().map_or("", |word| word.text.as_str());
    match name {
        "push" => Verdict::grave("it sends commits to another machine").with_network(),
        "send-email" | "request-pull" | "svn" | "p4" | "daemon" | "instaweb" | "http-push" => {
            Verdict::grave("it sends data to another machine").with_network()
        }
        "clone" | "fetch" | "pull" | "ls-remote" => Verdict::unsure("it fetches from another machine").with_network(),
        "submodule" => Verdict::unsure("it fetches or changes other repositories").with_network(),
        "remote" if matches!(first, "show" | "update" | "prune") => {
            Verdict::unsure("it asks another machine").with_network()
        }
        "remote" => Verdict::tricky("it changes where commits are sent"),
        "config" => Verdict::tricky("it changes how git works, which can make it run programs"),
        "reset" if has(&["--hard", "--merge", "--keep"]) => {
            Verdict::hard_to_undo("it throws away changes that are not committed")
        }
        "checkout" if has(&["--", ".", "-f", "--force", "-B"]) => {
            Verdict::hard_to_undo("it throws away changes that are not committed")
        }
        "switch" if has(&["-f", "--force", "--discard-changes", "-C"]) => {
            Verdict::hard_to_undo("it throws away changes that are not committed")
        }
        "restore" if !has(&["--staged", "-S"]) => {
            Verdict::hard_to_undo("it throws away changes that are not committed")
        }
        "clean" => Verdict::hard_to_undo("it deletes files that git does not know"),
        // `git branch -d` refuses to remove a branch whose commits are nowhere else.
        "branch" if has(&["-d", "--delete"]) && !has(&["-D", "-f", "--force", "-r", "--remotes"]) => {
            Verdict::works("it removes the name of a branch that is merged")
        }
        "branch" | "tag" if has(&["-D", "-d", "-f", "--delete", "--force", "-M"]) => {
            Verdict::hard_to_undo("it removes or moves a name that holds commits")
        }
        "stash" if matches!(first, "drop" | "clear") => Verdict::hard_to_undo("it removes a stash"),
        "reflog" | "gc" | "prune" | "update-ref" | "worktree" if !has(&["add"]) => {
            Verdict::hard_to_undo("it removes what git could bring back")
        }
        "rebase" if has(&["-i", "-x"]) || args.iter().any(|word| word.text.starts_with("-x")) => {
            Verdict::tricky("it can run programs between commits")
        }
        "bisect" if first == "run" => Verdict::tricky("it runs a program at every step"),
        "add" | "commit" | "checkout" | "switch" | "branch" | "tag" | "merge" | "stash" | "restore" | "mv" | "rm"
        | "cherry-pick" | "revert" | "init" | "apply" | "am" | "worktree" | "bisect" | "notes" | "rebase" | "reset"
        | "gc" | "sparse-checkout" => Verdict::works(format!("it changes the repository (`git {name}`)")),
        _ => Verdict::unsure(format!("`git {name}` is not known to be harmless")),
    }
}
