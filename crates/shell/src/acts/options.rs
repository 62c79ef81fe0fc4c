//! Options that stand before the verb of a program: `git -C folder push`, `npm --prefix folder publish`.
//!
//! What is not in these tables is not lost: an option that is not known is read in both ways, with a value and without.

use super::Piece;

/// How many words an option takes.
pub(super) enum Width {
    /// The word is no option.
    NoOption,
    /// The word ends the options.
    End,
    Words(usize),
    OneOrTwo,
}

/// What is known of the options of a program before its verb.
#[derive(Clone, Copy, Default)]
pub(super) struct Globals {
    names: &'static [&'static str],
    /// Options without a value.
    flags: &'static [&'static str],
    /// Options that take the next word, unless their value is in the same word.
    valued: &'static [&'static str],
    /// All verbs, where any other one may be an alias of one of them; empty where that is not known.
    verbs: &'static [&'static str],
    /// What an option's value begins with where it defines a verb.
    defining: &'static str,
    /// Verbs that are two names of one.
    same: &'static [(&'static str, &'static str)],
    /// Whether words such as `A=b` may stand before the verb.
    assigns: bool,
}

impl Globals {
    /// What is known of a program; nothing is known of most.
    pub fn of(name: &str) -> Self {
        PROGRAMS.iter().find(|program| program.names.contains(&name)).copied().unwrap_or_default()
    }

    pub fn width(&self, word: &Piece) -> Width {
        let text = word.text.as_str();
        if text == "--" {
            return Width::End;
        }
        if (self.assigns && word.is_assignment()) || (self.names == ["cargo"] && text.starts_with('+')) {
            return Width::Words(1);
        }
        if !word.is_option() {
            return Width::NoOption;
        }
        let is_short = !text.starts_with("--");
        let is_attached = |option: &&&str| is_short && option.len() == 2 && text.starts_with(**option);
        if text.contains('=') || self.flags.contains(&text) {
            Width::Words(1)
        } else if self.valued.contains(&text) {
            Width::Words(2)
        } else if self.valued.iter().any(|option| is_attached(&option)) {
            Width::Words(1)
        } else {
            Width::OneOrTwo
        }
    }

    /// The same words from the verb on under the other names of the verb.
    pub fn synonyms<'a>(&self, words: &'a str) -> impl Iterator<Item = String> + use<'a> {
        let both = self.same.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]);
        both.filter_map(move |(verb, other)| {
            let rest = words.strip_prefix(verb).filter(|rest| rest.is_empty() || rest.starts_with(' '))?;
            Some(format!("{other}{rest}"))
        })
    }

    /// Whether the program is known to have verbs.
    pub fn has_verbs(&self) -> bool {
        !self.names.is_empty()
    }

    /// Whether a verb is one of the program's own.
    pub fn knows(&self, verb: &str) -> bool {
        self.verbs.is_empty() || self.verbs.contains(&verb)
    }

    /// Whether the arguments define a verb for this one call.
    pub fn defines(&self, args: &[Piece]) -> bool {
        let defines = |word: &Piece| {
            let value = word.text.trim_start_matches("-c").trim_start_matches("--config=");
            value.starts_with(self.defining) || word.text.starts_with("--config-env")
        };
        !self.defining.is_empty() && args.iter().any(defines)
    }
}

const NONE: Globals =
    Globals { names: &[], flags: &[], valued: &[], verbs: &[], defining: "", same: &[], assigns: false };

const PROGRAMS: [Globals; 12] = [
    Globals {
        names: &["git"],
        flags: &[
            "-p",
            "--paginate",
            "-P",
            "--no-pager",
            "--no-replace-objects",
            "--bare",
            "--literal-pathspecs",
            "--glob-pathspecs",
            "--noglob-pathspecs",
            "--icase-pathspecs",
            "--no-optional-locks",
            "--no-lazy-fetch",
            "--no-advice",
            "--html-path",
            "--man-path",
            "--info-path",
            "--exec-path",
            "--version",
            "-v",
            "--help",
            "-h",
        ],
        valued: &[
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--super-prefix",
            "--config-env",
            "--attr-source",
        ],
        verbs: &GIT_VERBS,
        same: &[("stage", "add"), ("annotate", "blame")],
        defining: "alias.",
        ..NONE
    },
    Globals {
        names: &["cargo"],
        flags: &["-v", "-vv", "--verbose", "-q", "--quiet", "--locked", "--offline", "--frozen", "-V", "--list", "-h"],
        valued: &["--config", "--color", "-C", "-Z", "--explain"],
        same: &[("b", "build"), ("c", "check"), ("t", "test"), ("r", "run"), ("d", "doc"), ("rm", "remove")],
        defining: "alias.",
        ..NONE
    },
    Globals {
        names: &["npm"],
        flags: &[
            "-g",
            "--global",
            "-s",
            "--silent",
            "-q",
            "--quiet",
            "-d",
            "--verbose",
            "--json",
            "-y",
            "--yes",
            "-f",
            "--force",
            "--workspaces",
            "-ws",
            "--offline",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
        ],
        valued: &[
            "--prefix",
            "-C",
            "-w",
            "--workspace",
            "--registry",
            "--loglevel",
            "--userconfig",
            "--globalconfig",
            "--cache",
            "--tag",
            "--otp",
            "--access",
        ],
        verbs: &NPM_VERBS,
        same: &[
            ("i", "install"),
            ("add", "install"),
            ("rm", "uninstall"),
            ("remove", "uninstall"),
            ("un", "uninstall"),
            ("unlink", "uninstall"),
            ("r", "uninstall"),
            ("t", "test"),
            ("tst", "test"),
            ("run-script", "run"),
            ("up", "update"),
            ("upgrade", "update"),
            ("x", "exec"),
            ("clean-install", "ci"),
        ],
        ..NONE
    },
    Globals {
        names: &["pnpm", "yarn", "bun"],
        flags: &["-s", "--silent", "-r", "--recursive", "-w", "--offline", "--json", "--verbose", "-q", "--quiet"],
        valued: &["-C", "--dir", "--cwd", "--prefix", "--filter", "-F", "--config", "--registry"],
        ..NONE
    },
    Globals {
        names: &["docker", "podman", "nerdctl"],
        flags: &["-D", "--debug", "--tls", "--tlsverify", "--remote", "-r"],
        valued: &[
            "--host",
            "-H",
            "--context",
            "-c",
            "--config",
            "--log-level",
            "-l",
            "--tlscacert",
            "--tlscert",
            "--tlskey",
            "--url",
            "--connection",
            "--root",
            "--runroot",
            "--namespace",
            "-n",
        ],
        same: &[
            ("image push", "push"),
            ("image pull", "pull"),
            ("image rm", "rmi"),
            ("image build", "build"),
            ("buildx build", "build"),
            ("container rm", "rm"),
            ("container run", "run"),
            ("container exec", "exec"),
            ("container stop", "stop"),
            ("container kill", "kill"),
        ],
        ..NONE
    },
    Globals {
        names: &["kubectl", "oc", "helm"],
        flags: &["--insecure-skip-tls-verify", "--debug", "--warnings-as-errors", "--match-server-version"],
        valued: &[
            "-n",
            "--namespace",
            "--context",
            "--cluster",
            "--kubeconfig",
            "--user",
            "--token",
            "-s",
            "--server",
            "--as",
            "--as-group",
            "--request-timeout",
            "-v",
            "--kube-context",
            "--cache-dir",
            "--certificate-authority",
        ],
        ..NONE
    },
    Globals {
        names: &["make", "gmake"],
        flags: &["-k", "-s", "-n", "-B", "-i", "-r", "-R", "-w", "-e", "-q", "-t", "-d", "-S", "-j"],
        valued: &["-C", "--directory", "-f", "--file", "--makefile", "-I", "--include-dir", "-o", "-W", "--eval", "-E"],
        assigns: true,
        ..NONE
    },
    Globals {
        names: &["systemctl", "journalctl"],
        flags: &["--user", "--system", "--no-pager", "-q", "--quiet", "--no-block", "--now", "-f", "--force", "-a"],
        valued: &[
            "-H",
            "--host",
            "-M",
            "--machine",
            "-t",
            "--type",
            "--root",
            "-p",
            "--property",
            "-n",
            "--lines",
            "-o",
        ],
        ..NONE
    },
    Globals { names: &["go"], valued: &["-C"], ..NONE },
    Globals {
        names: &["pip"],
        flags: &["-v", "-q", "--quiet", "--verbose", "--isolated", "--require-virtualenv", "--no-input", "--debug"],
        valued: &["--python", "--log", "--proxy", "--retries", "--timeout", "--cert", "--cache-dir", "--trusted-host"],
        ..NONE
    },
    Globals {
        names: &["apt", "apt-get", "dnf", "yum", "brew", "apk", "gem"],
        flags: &["-y", "--yes", "-q", "-qq", "--quiet", "--assume-yes", "-v", "--verbose", "--no-cache"],
        valued: &["-o", "--option", "-c", "--config-file", "-t", "--target-release", "--repo", "-p", "--root"],
        ..NONE
    },
    Globals {
        names: &["gh", "terraform", "aws", "gcloud", "az"],
        flags: &["--debug", "--no-paginate", "--quiet", "-q", "--verbose"],
        valued: &[
            "-R",
            "--repo",
            "--region",
            "--profile",
            "--output",
            "--endpoint-url",
            "--project",
            "--account",
            "--format",
            "--subscription",
        ],
        ..NONE
    },
];

/// All verbs of git; any other one is an alias, or a program `git-…` of another origin.
const GIT_VERBS: [&str; 167] = [
    "add",
    "am",
    "annotate",
    "apply",
    "archimport",
    "archive",
    "backfill",
    "bisect",
    "blame",
    "branch",
    "bugreport",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "checkout",
    "checkout-index",
    "cherry",
    "cherry-pick",
    "citool",
    "clean",
    "clone",
    "column",
    "commit",
    "commit-graph",
    "commit-tree",
    "config",
    "count-objects",
    "credential",
    "credential-cache",
    "credential-store",
    "cvsexportcommit",
    "cvsimport",
    "cvsserver",
    "daemon",
    "describe",
    "diagnose",
    "diff",
    "diff-files",
    "diff-index",
    "diff-pairs",
    "diff-tree",
    "difftool",
    "fast-export",
    "fast-import",
    "fetch",
    "fetch-pack",
    "filter-branch",
    "fmt-merge-msg",
    "for-each-ref",
    "for-each-repo",
    "format-patch",
    "fsck",
    "fsmonitor--daemon",
    "gc",
    "get-tar-commit-id",
    "gitk",
    "gitweb",
    "grep",
    "gui",
    "hash-object",
    "help",
    "hook",
    "http-backend",
    "http-fetch",
    "http-push",
    "imap-send",
    "index-pack",
    "init",
    "init-db",
    "instaweb",
    "interpret-trailers",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "mailinfo",
    "mailsplit",
    "maintenance",
    "merge",
    "merge-base",
    "merge-file",
    "merge-index",
    "merge-one-file",
    "merge-tree",
    "mergetool",
    "mktag",
    "mktree",
    "multi-pack-index",
    "mv",
    "name-rev",
    "notes",
    "p4",
    "pack-objects",
    "pack-redundant",
    "pack-refs",
    "patch-id",
    "prune",
    "prune-packed",
    "pull",
    "push",
    "quiltimport",
    "range-diff",
    "read-tree",
    "rebase",
    "receive-pack",
    "reflog",
    "refs",
    "remote",
    "repack",
    "replace",
    "replay",
    "request-pull",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "scalar",
    "send-email",
    "send-pack",
    "shell",
    "shortlog",
    "show",
    "show-branch",
    "show-index",
    "show-ref",
    "sparse-checkout",
    "stage",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "svn",
    "switch",
    "symbolic-ref",
    "tag",
    "unpack-file",
    "unpack-objects",
    "update-index",
    "update-ref",
    "update-server-info",
    "upload-archive",
    "upload-pack",
    "var",
    "verify-commit",
    "verify-pack",
    "verify-tag",
    "fsck-objects",
    "merge-octopus",
    "merge-ours",
    "merge-recursive",
    "merge-recursive-ours",
    "merge-recursive-theirs",
    "merge-resolve",
    "merge-subtree",
    "pickaxe",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
    "web--browse",
    "lfs",
];

/// The verbs of npm that are not asked about; npm takes any other word for the beginning of one.
const NPM_VERBS: [&str; 98] = [
    "access",
    "adduser",
    "audit",
    "bugs",
    "cache",
    "ci",
    "completion",
    "config",
    "dedupe",
    "deprecate",
    "diff",
    "dist-tag",
    "docs",
    "doctor",
    "edit",
    "exec",
    "explain",
    "explore",
    "find-dupes",
    "fund",
    "get",
    "help",
    "help-search",
    "init",
    "install",
    "i",
    "install-ci-test",
    "install-test",
    "link",
    "ll",
    "login",
    "logout",
    "ls",
    "list",
    "org",
    "outdated",
    "owner",
    "pack",
    "ping",
    "pkg",
    "prefix",
    "profile",
    "prune",
    "publish",
    "query",
    "rebuild",
    "repo",
    "restart",
    "root",
    "run",
    "run-script",
    "sbom",
    "search",
    "set",
    "shrinkwrap",
    "star",
    "stars",
    "start",
    "stop",
    "team",
    "test",
    "t",
    "tst",
    "token",
    "undeprecate",
    "uninstall",
    "unpublish",
    "unstar",
    "update",
    "version",
    "view",
    "whoami",
    "add",
    "rm",
    "remove",
    "un",
    "unlink",
    "r",
    "up",
    "upgrade",
    "x",
    "clean-install",
    "create",
    "c",
    "ln",
    "la",
    "show",
    "info",
    "v",
    "why",
    "home",
    "issues",
    "s",
    "find",
    "author",
    "it",
    "cit",
    "ddp",
];
