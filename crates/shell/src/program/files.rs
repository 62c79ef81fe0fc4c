//! Programs that make, move and remove files: ordinary work, as long as the files are the workspace's.

use crate::options::is_any_of;
use crate::script::Word;
use crate::verdict::Verdict;

/// What a program that changes files does; nothing if it is not one of them.
pub(super) fn verdict(name: &str, args: &[Word]) -> Option<Verdict> {
    match name {
        "rm" | "unlink" => return Some(removal(args)),
        "dd" => return Some(copy_of_blocks(args)),
        "tar" => return Some(archive(args)),
        _ => {}
    }
    let (_, does) = CHANGES.iter().find(|(names, _)| names.contains(&name))?;
    if let Some(odd) =
        args.iter().find(|word| is_any_of(word, &RUNS) || RUNS_SHORT.contains(&(name, word.text.as_str())))
    {
        return Some(super::unknown_use(name, odd));
    }
    if let Some(far) = args.iter().find(|word| is_outside(word)) {
        return Some(Verdict::unsure(format!("it {does}, and `{}` may lie outside the workspace", far.text)));
    }
    Some(Verdict::works(format!("it {does}")))
}

/// Whether a word names, or may name, something that is not beneath the workspace.
pub(crate) fn is_outside(word: &Word) -> bool {
    if word.is_inside {
        return false;
    }
    let text = word.text.as_str();
    let value = text.split_once('=').map_or(text, |(_, value)| value);
    let is_far = |path: &str| path.starts_with(['/', '~', '$']) || path.split('/').any(|step| step == "..");
    is_far(text) || is_far(value) || word.is_computed
}

const CHANGES: [(&[&str], &str); 10] = [
    (&["mkdir", "mktemp"], "makes folders or files"),
    (&["touch", "truncate"], "makes or empties files"),
    (&["cp", "install", "rsync"], "copies files"),
    (&["mv", "rename"], "moves files"),
    (&["ln"], "makes links"),
    (&["rmdir"], "removes empty folders"),
    (&["chmod"], "changes who may use files"),
    (&["tee", "split", "csplit"], "writes files"),
    (&["patch", "dos2unix", "unix2dos"], "edits files"),
    (&["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "zip", "unzip"], "packs or unpacks files"),
];

/// Options that make one of these run another program.
const RUNS: [&str; 7] =
    ["--rsh", "--rsync-path", "--filter", "--unzip-command", "--strip-program", "--daemon", "--files-from"];
const RUNS_SHORT: [(&str, &str); 4] = [("rsync", "-e"), ("zip", "-T"), ("zip", "-TT"), ("install", "-s")];

fn removal(args: &[Word]) -> Verdict {
    let is_vast = |word: &Word| {
        let path = word.text.trim_end_matches(['/', '*', '.']);
        matches!(path, "" | "~" | "$HOME" | "${HOME}") || path.matches('/').count() <= 1 && path.starts_with('/')
    };
    let options = |word: &&Word| word.text.starts_with('-');
    let recurses = |word: &Word| word.text.starts_with("--") || word.text.contains(['r', 'R']);
    let is_recursive = args.iter().filter(options).any(recurses);
    let mut targets = args.iter().filter(|word| !word.text.starts_with('-'));
    if is_recursive
        && (targets.clone().any(is_vast) || args.iter().any(|word| is_any_of(word, &["--no-preserve-root"])))
    {
        return Verdict::grave("it deletes everything below a place that holds everything");
    }
    if targets.any(is_outside) {
        let deletes = "it deletes files that may lie outside the workspace";
        return if is_recursive { Verdict::grave(deletes) } else { Verdict::unsure(deletes) };
    }
    // What a build has made can be made again.
    let is_output = |word: &Word| {
        let name = word.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        word.is_literal() && OUTPUT.contains(&name)
    };
    if is_recursive && !args.iter().filter(|word| !word.text.starts_with('-')).all(is_output) {
        return Verdict::hard_to_undo("it deletes folders with all that is in them");
    }
    // A pattern that names an ending or a beginning is as good as a name; one that fits everything is not.
    let is_told = |word: &Word| {
        let name = word.text.rsplit('/').next().unwrap_or_default();
        let letters = name.chars().filter(|c| c.is_ascii_alphanumeric()).count();
        word.is_literal() || (word.is_glob && !word.is_computed && word.variables.is_empty() && letters >= 2)
    };
    if !args.iter().all(is_told) {
        return Verdict::hard_to_undo("it deletes files that the command does not name");
    }
    Verdict::works("it deletes files of the workspace")
}

/// Folders that tools make and can make again.
const OUTPUT: [&str; 16] = [
    "target",
    "node_modules",
    "dist",
    "build",
    "out",
    "coverage",
    "htmlcov",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".gradle",
];

fn copy_of_blocks(args: &[Word]) -> Verdict {
    if args.iter().any(|word| word.text.starts_with("of=/dev/") && word.text != "of=/dev/null") {
        return Verdict::grave("it writes over a device");
    }
    Verdict::unsure("it copies blocks over whatever is there")
}

/// Packing and unpacking with nothing but the usual letters; listing is looked for before.
fn archive(args: &[Word]) -> Verdict {
    let is_usual = |(at, word): (usize, &Word)| {
        let text = word.text.as_str();
        let letters = text.strip_prefix('-').or((at == 0).then_some(text));
        letters.is_none_or(|letters| letters.chars().all(|c| "cxtvfzjJpkC".contains(c)))
            && !text.contains(':')
            && !word.is_loose
    };
    if let Some((_, odd)) = args.iter().enumerate().find(|one| !is_usual(*one)) {
        return super::unknown_use("tar", odd);
    }
    if args.iter().any(is_outside) {
        return Verdict::unsure("it packs or unpacks files that may lie outside the workspace");
    }
    Verdict::works("it packs or unpacks files")
}
