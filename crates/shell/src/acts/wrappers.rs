//! Programs that run another one: where in their arguments it stands.
//!
//! The common ones are read exactly, by the options that they have. The rare ones, and the common ones with options that are
//! not known here, are not: any of their words may then begin a command.

use agent::permission::UNKNOWN;

use super::Piece;

/// What a wrapper runs.
pub(super) enum Inner {
    /// A call.
    Call(Vec<Piece>),
    /// Several calls.
    Several(Vec<Vec<Piece>>),
    /// Words that are joined and given to a shell.
    Text(Vec<Piece>),
    /// Something among its arguments.
    Unclear,
    /// Something that is not in the text: a file, or what it reads.
    Anything,
    /// No other program.
    Nothing,
}

/// A program that runs another one.
#[derive(Clone, Copy)]
pub(super) enum Wrapper {
    /// Options, so many words, assignments, and then the call.
    Plain(Plain),
    Env,
    Find,
    Xargs,
    Shell,
    Eval,
    /// A text is kept and run later: the first word of `trap`, what stands behind `=` in `alias`.
    Trap,
    Alias,
    /// Its words are joined and given to a shell.
    Watch,
    /// Reads a file into the shell.
    Source,
    Python,
    /// Runs code that is given with one of these options.
    Code(&'static [&'static str]),
    Awk,
    Sed,
    /// Any of its words may begin a command.
    Guessed,
    /// The same, where one of these verbs is among its words.
    GuessedIf(&'static [&'static str]),
}

/// A wrapper with options of its own.
#[derive(Clone, Copy)]
pub(super) struct Plain {
    /// Letters without a value.
    flags: &'static str,
    /// Letters with a value, in the same word or the next.
    valued: &'static str,
    /// Long options whose value may be the next word.
    long: &'static [&'static str],
    /// Words before the call.
    operands: usize,
    assigns: bool,
}

const fn plain(flags: &'static str, valued: &'static str, long: &'static [&'static str], operands: usize) -> Wrapper {
    Wrapper::Plain(Plain { flags, valued, long, operands, assigns: false })
}

const SUDO: Wrapper = Wrapper::Plain(Plain {
    flags: "AbEeHKklnPSsivBN",
    valued: "CDghpRrtTUu",
    long: &[
        "user",
        "group",
        "host",
        "prompt",
        "chdir",
        "chroot",
        "close-from",
        "role",
        "type",
        "command-timeout",
        "other-user",
    ],
    operands: 0,
    assigns: true,
});

impl Wrapper {
    /// The wrapper of this name, if it is one.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "command" | "builtin" => plain("pvV", "", &[], 0),
            "exec" => plain("cl", "a", &[], 0),
            "nohup" | "noglob" | "nocorrect" => plain("", "", &[], 0),
            "setsid" => plain("cfw", "", &[], 0),
            "time" => plain("pvaqV", "fo", &["format", "output"], 0),
            "timeout" => plain("vpf", "ks", &["kill-after", "signal"], 1),
            "nice" => plain("0123456789", "n", &["adjustment"], 0),
            "ionice" => plain("t", "cn", &["class", "classdata"], 0),
            "stdbuf" => plain("", "ioe", &["input", "output", "error"], 0),
            "doas" => plain("Lns", "aCu", &[], 0),
            "chroot" => plain("", "", &["userspec", "groups"], 1),
            "taskset" => plain("a", "", &[], 1),
            "chrt" => plain("abdfiorRv", "TPD", &[], 1),
            "gosu" | "su-exec" => plain("", "", &[], 1),
            "busybox" | "toybox" => plain("", "", &[], 0),
            "sudo" => SUDO,
            "env" => Wrapper::Env,
            "find" | "gfind" | "fd" | "fdfind" => Wrapper::Find,
            "xargs" | "gxargs" => Wrapper::Xargs,
            "sh" | "bash" | "dash" | "zsh" | "ksh" | "mksh" | "ash" | "fish" | "csh" | "tcsh" | "rbash" => {
                Wrapper::Shell
            }
            "eval" => Wrapper::Eval,
            "trap" => Wrapper::Trap,
            "alias" => Wrapper::Alias,
            "watch" => Wrapper::Watch,
            "source" | "." | "at" | "batch" => Wrapper::Source,
            "perl" => Wrapper::Code(&["-e", "-E", "-ne", "-pe", "-nE", "-pE", "-i", "-pi"]),
            "ruby" | "lua" | "luajit" | "osascript" => Wrapper::Code(&["-e"]),
            "node" | "nodejs" | "bun" | "tsx" => Wrapper::Code(&["-e", "-p", "--eval", "--print"]),
            "php" => Wrapper::Code(&["-r"]),
            "awk" | "gawk" | "mawk" | "nawk" => Wrapper::Awk,
            "sed" | "gsed" => Wrapper::Sed,
            "npm" | "pnpm" | "yarn" => Wrapper::GuessedIf(&["exec", "x", "dlx", "npm"]),
            "docker" | "podman" | "nerdctl" | "kubectl" | "oc" => Wrapper::GuessedIf(&["exec", "run"]),
            "poetry" | "pipenv" | "uv" | "rustup" | "conda" | "mamba" | "bundle" | "mise" | "asdf" | "direnv"
            | "nix" => Wrapper::GuessedIf(&["run", "exec", "shell", "x", "develop"]),
            "git" => {
                Wrapper::GuessedIf(&["bisect", "submodule", "rebase", "filter-branch", "for-each-repo", "difftool"])
            }
            _ if is_python(name) => Wrapper::Python,
            _ if GUESSED.contains(&name) || name.starts_with("ld-linux") || name.starts_with("ld-musl") => {
                Wrapper::Guessed
            }
            _ => return None,
        })
    }

    /// What it runs with these arguments.
    pub fn inner(self, args: &[Piece]) -> Inner {
        match self {
            Wrapper::Plain(plain) => plain.inner(args),
            Wrapper::Env => env(args),
            Wrapper::Find => found(args),
            Wrapper::Xargs => xargs(args),
            Wrapper::Shell => shell(args),
            Wrapper::Eval => Inner::Text(args.to_vec()),
            Wrapper::Trap => Inner::Text(args.iter().find(|word| !word.is_option()).cloned().into_iter().collect()),
            Wrapper::Alias => aliases(args),
            Wrapper::Watch => watched(args),
            Wrapper::Source => Inner::Anything,
            Wrapper::Python => python(args),
            Wrapper::Code(options) => code(args, options),
            Wrapper::Awk => match args.iter().any(|word| !word.is_known() || starts_programs(&word.text, "|")) {
                true => Inner::Anything,
                false => Inner::Nothing,
            },
            Wrapper::Sed => match args.iter().any(|word| !word.is_known() || runs_lines(&word.text)) {
                true => Inner::Anything,
                false => Inner::Nothing,
            },
            Wrapper::Guessed => Inner::Unclear,
            Wrapper::GuessedIf(verbs) => match args.iter().any(|word| verbs.contains(&word.text.as_str())) {
                true => Inner::Unclear,
                false => Inner::Nothing,
            },
        }
    }
}

/// Texts among the arguments of a program that it gives to a shell, or that name a program.
pub(super) fn texts(name: &str, args: &[Piece]) -> Vec<Piece> {
    let Some((_, options)) = TEXT_OPTIONS.iter().find(|(names, _)| names.contains(&name)) else { return Vec::new() };
    let mut texts = Vec::new();
    for (at, word) in args.iter().enumerate() {
        for option in *options {
            let Some(rest) = word.raw.strip_prefix(option) else { continue };
            let is_long = option.starts_with("--");
            let text = match (rest, args.get(at + 1)) {
                ("", Some(next)) => next.clone(),
                ("", None) => continue,
                (rest, _) if is_long && !rest.starts_with('=') => continue,
                (rest, _) => Piece { raw: rest.trim_start_matches('=').to_owned(), ..word.clone() },
            };
            texts.push(text);
        }
    }
    // Behind the name of a setting, or of what is to be done with the text.
    let valued = texts.iter().filter_map(super::value).collect::<Vec<_>>();
    let bare = |text: Piece| Piece { raw: text.raw.trim_start_matches(['!', ':']).to_owned(), ..text };
    texts.into_iter().map(bare).chain(valued).collect()
}

/// Options of programs that take such a text, by the names of the programs.
const TEXT_OPTIONS: [(&[&str], &[&str]); 10] = [
    // Many settings name a program: a pager, an editor, a helper.
    (&["git"], &["-c", "--upload-pack", "--receive-pack", "--exec", "-x", "--extcmd"]),
    (
        &["tar", "gtar", "bsdtar"],
        &[
            "--checkpoint-action",
            "--to-command",
            "-I",
            "--use-compress-program",
            "-F",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
        ],
    ),
    (&["sort"], &["--compress-program"]),
    (&["split"], &["--filter"]),
    (&["rsync"], &["-e", "--rsh"]),
    (&["ssh", "scp", "sftp"], &["-o"]),
    (&["man"], &["-P", "--pager"]),
    (&["rg"], &["--pre"]),
    (&["vim", "vi", "nvim", "ex", "view", "gvim"], &["-c", "--cmd", "+"]),
    (&["complete", "compgen", "mapfile", "readarray"], &["-C"]),
];

/// Wrappers that are rare, or whose options are many.
const GUESSED: [&str; 60] = [
    "pwsh",
    "nu",
    "xonsh",
    "elvish",
    "yash",
    "osh",
    "parallel",
    "flock",
    "su",
    "runuser",
    "pkexec",
    "script",
    "strace",
    "ltrace",
    "perf",
    "unshare",
    "nsenter",
    "bwrap",
    "systemd-run",
    "setpriv",
    "prlimit",
    "numactl",
    "faketime",
    "unbuffer",
    "entr",
    "tmux",
    "screen",
    "ssh",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pipx",
    "corepack",
    "firejail",
    "valgrind",
    "gdb",
    "lldb",
    "rlwrap",
    "expect",
    "proot",
    "fakeroot",
    "tini",
    "dumb-init",
    "dbus-run-session",
    "xvfb-run",
    "choom",
    "chpst",
    "cgexec",
    "capsh",
    "runcon",
    "sg",
    "start-stop-daemon",
    "hyperfine",
    "coproc",
    "nix-shell",
    "caffeinate",
    "catchsegv",
    "ld.so",
    "mapfile",
];

impl Plain {
    fn inner(&self, args: &[Piece]) -> Inner {
        let Some(at) = self.options(args) else { return Inner::Unclear };
        let operands = at + self.operands;
        let skipped = args.iter().skip(operands).take_while(|word| self.assigns && word.is_assignment()).count();
        call(args.get(operands + skipped..).unwrap_or_default())
    }

    /// How many words the options take; none where one is not known.
    fn options(&self, args: &[Piece]) -> Option<usize> {
        let mut at = 0;
        let is_over = |word: &Piece| word.is_assignment() || word.is_known() && !word.is_option();
        while let Some(word) = args.get(at).filter(|word| !is_over(word)) {
            // Whether it is an option, and which, is only known when it runs.
            if !word.is_option() {
                return None;
            }
            if word.text == "--" {
                return Some(at + 1);
            }
            at += match word.text.strip_prefix("--") {
                Some(long) => 1 + usize::from(self.long.contains(&long)),
                None => self.cluster(&word.text[1..])?,
            };
        }
        Some(at)
    }

    /// How many words a group of letters takes.
    fn cluster(&self, letters: &str) -> Option<usize> {
        for (at, letter) in letters.char_indices() {
            if self.valued.contains(letter) {
                return Some(if at + letter.len_utf8() == letters.len() { 2 } else { 1 });
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some(1)
    }
}

fn call(words: &[Piece]) -> Inner {
    if words.is_empty() { Inner::Nothing } else { Inner::Call(words.to_vec()) }
}

fn env(args: &[Piece]) -> Inner {
    const OPTIONS: Plain =
        Plain { flags: "i0v", valued: "uCa", long: &["unset", "chdir", "argv0"], operands: 0, assigns: true };
    // A lone dash takes all variables away.
    let args = match args.split_first() {
        Some((dash, rest)) if dash.text == "-" => rest,
        _ => args,
    };
    // `-S` splits a text into words, and what follows it is put behind them.
    let split = args.iter().position(|word| {
        word.text.starts_with("--split-string")
            || word.is_option() && !word.text.starts_with("--") && word.text.contains('S')
    });
    let before_call = args.iter().position(|word| !word.is_option() && !word.is_assignment()).unwrap_or(args.len());
    let Some(at) = split.filter(|at| *at <= before_call) else { return OPTIONS.inner(args) };
    let attached = args[at].text.split_once(['S', '=']).map(|(_, text)| text).filter(|text| !text.is_empty());
    let rest = args[at + 1..].iter().cloned();
    Inner::Text(match attached {
        Some(text) => std::iter::once(Piece::plain(text)).chain(rest).collect(),
        None => rest.collect(),
    })
}

fn found(args: &[Piece]) -> Inner {
    let runs = |word: &Piece| {
        matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch")
    };
    let (mut calls, mut rest) = (Vec::new(), args);
    while let Some(at) = rest.iter().position(runs) {
        let inner = &rest[at + 1..];
        let end = inner.iter().position(|word| matches!(word.text.as_str(), ";" | "+")).unwrap_or(inner.len());
        calls.push(inner[..end].iter().map(|word| replaced(word, "{}")).collect());
        rest = &inner[end..];
    }
    Inner::Several(calls)
}

fn xargs(args: &[Piece]) -> Inner {
    const OPTIONS: Plain = Plain {
        flags: "0oprtx",
        valued: "adEILnPsJRS",
        long: &["arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars", "process-slot-var"],
        operands: 0,
        assigns: false,
    };
    let Some(at) = OPTIONS.options(args) else { return Inner::Unclear };
    let (options, inner) = args.split_at(at.min(args.len()));
    if inner.is_empty() {
        return Inner::Nothing;
    }
    let mut marks = options.iter().enumerate().rev().filter_map(|(at, word)| match word.text.strip_prefix("-I")? {
        "" => args.get(at + 1).map(|mark| mark.text.clone()),
        mark => Some(mark.to_owned()),
    });
    let mark = marks.next().unwrap_or_else(|| "{}".to_owned());
    let mut inner: Vec<Piece> = inner.iter().map(|word| replaced(word, &mark)).collect();
    // Its input comes behind the words.
    inner.push(Piece { text: UNKNOWN.to_string(), raw: String::new(), is_fixed: false, is_glob: false });
    Inner::Call(inner)
}

/// A word in which something takes the place of a mark.
fn replaced(word: &Piece, mark: &str) -> Piece {
    let text = if mark.is_empty() { word.text.clone() } else { word.text.replace(mark, &UNKNOWN.to_string()) };
    Piece { text, ..word.clone() }
}

fn shell(args: &[Piece]) -> Inner {
    if let [only] = args
        && matches!(only.text.as_str(), "--version" | "--help")
    {
        return Inner::Nothing;
    }
    let (mut at, mut takes_text) = (0, false);
    while let Some(word) = args.get(at).filter(|word| word.is_option() || word.text.starts_with('+')) {
        if !word.is_known() {
            return Inner::Anything;
        }
        let text = word.text.as_str();
        if text == "--" {
            at += 1;
            break;
        }
        let is_long = text.starts_with("--");
        takes_text |= !is_long && text.starts_with('-') && text.contains('c') || text == "--command";
        let takes_next =
            matches!(text, "--rcfile" | "--init-file") || !is_long && text.ends_with(['o', 'O']) && text.len() <= 4;
        at += 1 + usize::from(takes_next);
    }
    match args.get(at).filter(|_| takes_text) {
        Some(text) => Inner::Text(vec![text.clone()]),
        None => Inner::Anything,
    }
}

fn aliases(args: &[Piece]) -> Inner {
    // Each word of a value is read as one of the call's, as a shell would split it.
    let texts = args.iter().filter_map(|word| word.raw.split_once('=').map(|(_, text)| (word.is_known(), text)));
    let mut joined = Vec::new();
    for (is_known, text) in texts {
        if !is_known {
            return Inner::Anything;
        }
        joined.push(Piece::plain(text));
        joined.push(Piece::plain(";"));
    }
    joined.pop();
    if joined.is_empty() { Inner::Nothing } else { Inner::Text(joined) }
}

fn watched(args: &[Piece]) -> Inner {
    const OPTIONS: Plain = Plain {
        flags: "bcCdegprtwx",
        valued: "nqs",
        long: &["interval", "equexit", "shotsdir"],
        operands: 0,
        assigns: false,
    };
    match OPTIONS.options(args) {
        Some(at) => match args.get(at..).unwrap_or_default() {
            [] => Inner::Nothing,
            words => Inner::Text(words.to_vec()),
        },
        None => Inner::Unclear,
    }
}

fn is_python(name: &str) -> bool {
    ["python", "pypy"].iter().any(|program| {
        name.strip_prefix(program).is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
    })
}

fn python(args: &[Piece]) -> Inner {
    match args.iter().position(|word| matches!(word.text.as_str(), "-m" | "-c") || !word.is_option()) {
        Some(at) if args[at].text == "-m" => call(&args[at + 1..]),
        Some(at) if args[at].text == "-c" => code(&args[at..], &["-c"]),
        Some(_) | None => Inner::Nothing,
    }
}

/// Code in the text is not read. It can start programs by many ways, of which the usual ones are looked for.
fn code(args: &[Piece], options: &[&str]) -> Inner {
    let is_given = |at: usize| at > 0 && options.contains(&args[at - 1].text.as_str());
    let starts = |word: &Piece| !word.is_known() || starts_programs(&word.text, "`");
    let is_attached = |word: &Piece| options.iter().any(|option| option.len() == 2 && word.text.starts_with(option));
    if (0..args.len()).any(|at| (is_given(at) || is_attached(&args[at])) && starts(&args[at])) {
        Inner::Anything
    } else {
        Inner::Nothing
    }
}

/// Whether a script of `sed` has the command `e`, or the flag of that name behind a replacement: both run a line as a command. What
/// only looks like it counts too.
fn runs_lines(script: &str) -> bool {
    let runs = |line: &str| {
        let command = line.trim_start_matches(|c: char| c.is_ascii_digit() || " \t,$!~+".contains(c));
        // Behind a pattern that chooses lines.
        let command = match command.strip_prefix('/') {
            Some(rest) => rest.rsplit_once('/').map_or("", |(_, rest)| rest.trim_start_matches([' ', '!'])),
            None => command,
        };
        let flags = command.strip_prefix('s').and_then(|rest| {
            let mark = rest.chars().next()?;
            rest.rsplit(mark).next()
        });
        let has_flag = |flags: &str| flags.contains('e') && flags.chars().all(|c| "egpiImM0123456789 ".contains(c));
        command == "e" || command.starts_with("e ") || flags.is_some_and(has_flag)
    };
    // An address in front of a replacement is another one's pattern to the check above.
    script
        .split(['\n', ';', '{', '}'])
        .any(|line| runs(line) || line.split_once('s').is_some_and(|(before, _)| runs(&line[before.len()..])))
}

fn starts_programs(code: &str, mark: &str) -> bool {
    const WAYS: [&str; 12] = [
        "system",
        "exec",
        "spawn",
        "popen",
        "subprocess",
        "child_process",
        "import os",
        "__import__",
        "qx",
        "%x",
        "pty",
        "Command",
    ];
    code.contains(mark) || WAYS.iter().any(|way| code.contains(way))
}
