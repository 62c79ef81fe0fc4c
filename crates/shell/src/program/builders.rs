//! Tools that build, test and manage packages: what each of their verbs does.
//!
//! Building runs the code of the workspace, which is ordinary work there and bounded by the same sandbox. Verbs that
//! are not listed may come from anywhere, because most of these tools can be extended by programs of a matching name.

use crate::options::is_any_of;
use crate::script::Word;
use crate::verdict::Verdict;

/// A tool with verbs.
struct Tool {
    names: &'static [&'static str],
    /// Verbs that look, with the options under which they do.
    looks: &'static [(&'static str, &'static [&'static str])],
    works: &'static [&'static str],
    /// Verbs that fetch something from elsewhere, and often run it.
    fetches: &'static [&'static str],
    /// Verbs that send something elsewhere.
    sends: &'static [&'static str],
    /// Options that make it another tool.
    never: &'static [&'static str],
}

/// What a tool does; nothing if it is not in these tables.
pub(super) fn verdict(name: &str, args: &[Word]) -> Option<Verdict> {
    if let Some(tool) = TOOLS.iter().find(|tool| tool.names.contains(&name)) {
        return Some(tool.verdict(name, args));
    }
    if is_python(name) {
        return python_module(args);
    }
    let (_, never) = PLAIN.iter().find(|(names, _)| names.contains(&name))?;
    if let Some(odd) = args.iter().find(|word| is_never(word, never)) {
        return Some(super::unknown_use(name, odd));
    }
    Some(Verdict::works(format!("it runs `{name}` on the workspace")))
}

/// How many words after the name of a program say what it does.
pub(crate) fn verbs(name: &str) -> usize {
    match name {
        "npm" | "pnpm" | "yarn" | "bun" => 2,
        "git" | "systemctl" | "make" => 1,
        _ if TOOLS.iter().any(|tool| tool.names.contains(&name)) => 1,
        _ => 0,
    }
}

const TOOLS: [Tool; 9] = [
    Tool {
        names: &["cargo"],
        // Without these options the lock file may be written and the registry asked.
        looks: &[
            ("metadata", &["--no-deps", "--format-version", "--locked", "--offline", "--frozen"]),
            (
                "tree",
                &[
                    "--locked",
                    "--frozen",
                    "-i",
                    "--invert",
                    "-d",
                    "--duplicates",
                    "-p",
                    "--package",
                    "--depth",
                    "-e",
                    "--edges",
                ],
            ),
            ("locate-project", &["--workspace", "--message-format"]),
            ("version", &[]),
        ],
        works: &[
            "build",
            "b",
            "check",
            "c",
            "test",
            "t",
            "run",
            "r",
            "bench",
            "doc",
            "d",
            "clippy",
            "fmt",
            "nextest",
            "fix",
            "clean",
            "new",
            "init",
            "remove",
            "rm",
            "xtask",
            "metadata",
            "tree",
            "pkgid",
            "generate-lockfile",
            "package",
            "insta",
            "machete",
        ],
        fetches: &["install", "update", "fetch", "add", "vendor", "search", "info", "audit", "deny", "binstall"],
        sends: &["publish", "login", "logout", "owner", "yank"],
        never: &["--config", "-Z", "--artifact-dir"],
    },
    Tool {
        names: &["npm", "pnpm", "yarn", "bun"],
        looks: &[
            ("ls", &["--depth", "--all", "-a", "--json", "--depth=0", "--prod"]),
            ("list", &["--depth", "--depth=0", "--json"]),
            ("root", &[]),
            ("prefix", &[]),
        ],
        works: &[
            "test",
            "t",
            "run",
            "run-script",
            "start",
            "build",
            "lint",
            "format",
            "typecheck",
            "version",
            "pack",
            "rebuild",
            "prune",
            "dedupe",
        ],
        fetches: &[
            "install", "i", "ci", "add", "update", "upgrade", "outdated", "view", "info", "audit", "exec", "x", "dlx",
            "create", "init", "search", "link",
        ],
        sends: &["publish", "unpublish", "login", "adduser", "token", "owner", "access", "whoami"],
        never: &[
            "--script-shell",
            "--userconfig",
            "--globalconfig",
            "--node-options",
            "--shell",
            "--prefix",
            "--global",
            "-g",
        ],
    },
    Tool {
        names: &["go"],
        looks: &[("version", &[]), ("env", &["-json"])],
        works: &["build", "test", "vet", "fmt", "run", "generate", "clean", "doc", "list", "fix", "tool"],
        fetches: &["get", "install", "mod", "work"],
        sends: &[],
        never: &["-exec", "-toolexec", "-vettool", "-overlay", "-modfile"],
    },
    Tool {
        names: &["pip", "pip3"],
        looks: &[
            ("list", &["--format", "--format=json", "--format=columns", "--format=freeze"]),
            ("freeze", &[]),
            ("show", &["-f", "--files"]),
            ("check", &[]),
        ],
        works: &[],
        fetches: &["install", "download", "wheel", "index", "search", "uninstall"],
        sends: &[],
        never: &["--python"],
    },
    Tool {
        names: &["uv", "poetry", "pipenv", "bundle", "composer"],
        looks: &[],
        works: &["build", "check", "version"],
        fetches: &["install", "sync", "lock", "add", "remove", "update", "pip", "tool", "self"],
        sends: &["publish"],
        never: &["--config"],
    },
    Tool {
        names: &["rustup"],
        looks: &[("show", &["active-toolchain", "home"]), ("which", &[])],
        works: &[],
        fetches: &["update", "install", "toolchain", "component", "target", "default", "self"],
        sends: &[],
        never: &[],
    },
    Tool {
        names: &["dotnet", "swift", "flutter", "mix", "cabal", "stack", "zig", "dune"],
        looks: &[],
        works: &["build", "test", "clean", "format", "compile", "check", "fmt"],
        fetches: &["restore", "add", "install", "update", "get", "deps.get"],
        sends: &["publish", "nuget"],
        never: &[],
    },
    Tool {
        names: &["docker", "podman"],
        looks: &[],
        works: &[],
        fetches: &["pull", "build", "compose", "search"],
        sends: &["push", "login"],
        never: &[],
    },
    Tool {
        names: &["brew", "apt", "apt-get", "dnf", "yum", "pacman", "apk", "snap", "gem"],
        looks: &[],
        works: &[],
        fetches: &["install", "update", "upgrade", "search", "add"],
        sends: &["push"],
        never: &[],
    },
];

/// Tools that need no verb to do their work, and the options that make them another tool.
const PLAIN: [(&[&str], &[&str]); 5] = [
    (
        &["make", "gmake"],
        &[
            "-f",
            "--file",
            "--makefile",
            "--eval",
            "-E",
            "-C",
            "--directory",
            "-I",
            "--include-dir",
            "SHELL=",
            "MAKEFLAGS=",
        ],
    ),
    (
        &["ninja", "ctest", "cmake", "meson", "just", "bazel"],
        &["-E", "-P", "-S/", "--shell", "-f", "-C/", "--justfile", "--overlay"],
    ),
    (
        &["pytest", "tox", "nox", "ruff", "black", "isort", "flake8", "mypy", "pylint", "pyright"],
        &["-p", "--rootdir", "-c", "--config-file", "--rcfile", "--init-hook", "--load-plugins"],
    ),
    (
        &["eslint", "prettier", "tsc", "jest", "vitest", "mocha", "biome"],
        &[
            "--rulesdir",
            "--plugin",
            "--resolve-plugins-relative-to",
            "--require",
            "-r",
            "--config",
            "-c",
            "--globalSetup",
        ],
    ),
    (
        &[
            "gcc",
            "g++",
            "cc",
            "c++",
            "clang",
            "clang++",
            "rustc",
            "javac",
            "rustfmt",
            "gofmt",
            "clang-format",
            "mvn",
            "gradle",
        ],
        &["-wrapper", "-fplugin", "-B", "-specs", "--init-script", "-I/", "-Clinker", "-C", "-load"],
    ),
];

impl Tool {
    fn verdict(&self, name: &str, args: &[Word]) -> Verdict {
        if let Some(odd) = args.iter().find(|word| is_never(word, self.never)) {
            return super::unknown_use(name, odd);
        }
        // `cargo +nightly build` and `cargo --offline build` have their verb later.
        let mut rest = args.iter().skip_while(|word| word.text.starts_with(['+', '-']));
        let Some(verb) = rest.next() else {
            return Verdict::unsure(format!("`{name}` without a verb is not known to be harmless"));
        };
        let text = verb.text.as_str();
        if !verb.is_literal() {
            return super::unknown_use(name, verb);
        }
        let is_asked = |known: &[&str]| {
            args.iter().filter(|word| word.text.starts_with('-')).all(|word| known.contains(&word.text.as_str()))
        };
        // A verb that also works looks only if it is told not to write.
        let is_held = |known: &[&str]| {
            !self.works.contains(&text)
                || args.iter().any(|word| {
                    ["--locked", "--frozen", "--no-deps"].contains(&word.text.as_str())
                        && known.contains(&word.text.as_str())
                })
        };
        if self.looks.iter().any(|(one, known)| *one == text && is_asked(known) && is_held(known))
            && !args.iter().any(|word| word.is_loose)
        {
            return Verdict::looks();
        }
        if self.sends.contains(&text) {
            return Verdict::grave(format!("`{name} {text}` sends something to another machine")).with_network();
        }
        if self.fetches.contains(&text) {
            return Verdict::unsure(format!("`{name} {text}` brings in things from elsewhere, which may run code"))
                .with_network();
        }
        if self.works.contains(&text) {
            return Verdict::works(format!("it runs `{name} {text}` on the workspace"));
        }
        Verdict::unsure(format!("`{name} {text}` is not known to be harmless"))
    }
}

/// Whether a word is one of these options, alone, with a value, or abbreviated; short ones may have their value in the
/// same word.
fn is_never(word: &Word, never: &[&str]) -> bool {
    let is_option = |option: &&str| {
        let text = word.text.as_str();
        let is_short = option.len() == 2 && option.starts_with('-');
        text == *option
            || text.starts_with(&format!("{option}="))
            || ((is_short || !option.starts_with("--")) && text.starts_with(option))
    };
    never.iter().any(is_option) || is_any_of(word, never)
}

pub(super) fn is_python(name: &str) -> bool {
    name.strip_prefix("python").is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// `python -m pytest` and its kind; anything else that Python is given is code.
fn python_module(args: &[Word]) -> Option<Verdict> {
    let (flag, rest) = args.split_first()?;
    let module = rest.first().filter(|_| flag.text == "-m")?.text.as_str();
    match module {
        "pytest" | "unittest" | "mypy" | "black" | "ruff" | "flake8" | "isort" | "compileall" | "doctest" => {
            Some(Verdict::works(format!("it runs `{module}` on the workspace")))
        }
        "pip" => verdict("pip", &rest[1..]),
        "http.server" => Some(Verdict::grave("it serves files to anyone who connects").with_network()),
        _ => None,
    }
}
