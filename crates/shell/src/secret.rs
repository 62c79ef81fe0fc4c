//! Places that hold keys, passwords and tokens. Naming one is never "only looking", whatever the program.
//!
//! The names are those that people keep secrets under; that they cannot be opened is the sandbox's business. A pattern
//! is compared with the names too, as far as it shows what it is after: `.ss?` is, a lone `*` is not, and does not
//! match hidden names.

use crate::script::Word;

/// Names of files and folders that are secret wherever they lie.
const NAMES: [&str; 43] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".gpg",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".kube",
    ".docker",
    ".azure",
    ".gcloud",
    ".env",
    ".envrc",
    ".git-credentials",
    ".password-store",
    ".vault-token",
    ".htpasswd",
    ".my.cnf",
    ".bash_history",
    ".zsh_history",
    ".mozilla",
    ".terraformrc",
    ".credentials",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "secrets",
    "secrets.json",
    "secrets.yml",
    "secrets.yaml",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "shadow",
    "gshadow",
    "sudoers",
    "environ",
    "keyrings",
    "keychains",
    "server.token",
    "authorized_keys",
];
/// Endings of files that hold keys.
const ENDINGS: [&str; 8] = [".pem", ".key", ".p12", ".pfx", ".keystore", ".jks", ".kdbx", ".ppk"];
/// What gives a file away wherever it stands in the name.
const TRACES: [&str; 6] = ["id_rsa", "id_ed25519", "id_ecdsa", "private_key", "access_token", "api_key"];

/// Whether a word names such a place, or may.
pub(crate) fn is_named_by(word: &Word) -> bool {
    let lower = word.text.to_lowercase();
    lower
        .split(['/', '=', ':', ',', '@', ' ', '"', '\''])
        .any(|name| if word.is_glob { is_sought_by(name) } else { is_name(name) })
}

/// Whether a word is a whole home, or the whole machine, so that to search it is to search its secrets.
pub(crate) fn is_home(word: &Word) -> bool {
    if word.text.starts_with('*') {
        return false;
    }
    let path = word.text.trim_end_matches('*').trim_end_matches('/');
    let depth = path.matches('/').count();
    matches!(path, "" | "$HOME" | "${HOME}" | "/etc" | "/proc" | "/home" | "/root" | "/Users")
        || (path.starts_with('~') && depth == 0)
        || (depth == 2 && ["/home/", "/Users/", "/proc/"].iter().any(|parent| path.starts_with(parent)))
}

fn is_name(name: &str) -> bool {
    // `.env.example` is written to be read.
    let is_sample = [".example", ".sample", ".template", ".dist"].iter().any(|ending| name.ends_with(ending));
    if is_sample || name.ends_with(".pub") {
        return false;
    }
    NAMES.contains(&name)
        || name.starts_with(".env.")
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || TRACES.iter().any(|trace| name.contains(trace))
}

fn is_sought_by(pattern: &str) -> bool {
    let is_hidden = pattern.starts_with('.');
    let told = pattern.chars().filter(|c| !matches!(c, '*' | '?' | '[' | ']')).count();
    if !pattern.contains(['*', '?', '[']) {
        return is_name(pattern);
    }
    // A pattern that begins with a star is after an ending; only those of keys are a sign.
    let is_aimed = is_hidden || (told >= 2 && !pattern.starts_with(['*', '?', '[']));
    let could_be = |name: &&str| is_aimed && matches(pattern, name);
    NAMES.iter().chain(&[".env.local", "server.key", "server.pem"]).any(could_be)
        || TRACES.iter().any(|trace| pattern.contains(trace))
        || ENDINGS.iter().any(|ending| pattern.ends_with(ending))
}

/// Whether a pattern fits a name; a bracket fits any one character, which can only be too much.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (steps(pattern), name.as_bytes());
    let (mut at, mut seen) = (0, 0);
    // The last star, and how much of the name it has taken.
    let mut star: Option<(usize, usize)> = None;
    while seen < name.len() {
        match pattern.get(at) {
            Some(Step::Many) => {
                star = Some((at, seen));
                at += 1;
            }
            Some(Step::One) => (at, seen) = (at + 1, seen + 1),
            Some(Step::Just(byte)) if *byte == name[seen] => (at, seen) = (at + 1, seen + 1),
            _ => match star {
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    (at, seen) = (place + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|step| matches!(step, Step::Many))
}

enum Step {
    Many,
    One,
    Just(u8),
}

fn steps(pattern: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = pattern.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        steps.push(match first {
            b'*' => Step::Many,
            b'?' => Step::One,
            b'[' => {
                let end = after.iter().skip(1).position(|b| *b == b']').map_or(after.len(), |at| at + 2);
                rest = &after[end..];
                Step::One
            }
            byte => Step::Just(*byte),
        });
    }
    steps
}
