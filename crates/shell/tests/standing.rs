//! What "always allow" is kept as, and that it lets nothing else through.

use shell::assess;

fn standing(command: &str) -> Option<String> {
    assess(command).standing
}

/// How a rule decides: it may, and the star at the end of its pattern fits every part.
fn is_allowed_by(pattern: &str, command: &str) -> bool {
    let seen = assess(command);
    let fits = |part: &String| match pattern.strip_suffix('*') {
        Some(begin) => part.starts_with(begin),
        None => part == pattern,
    };
    seen.is_plain && !seen.parts.is_empty() && seen.parts.iter().all(fits)
}

#[test]
fn always_allowing_a_command_is_kept_by_its_verb() {
    let offered = [
        ("git status", "git status*"),
        ("git status -s", "git status*"),
        ("git commit -m 'a b'", "git commit*"),
        ("cargo test -p x", "cargo test*"),
        ("npm test", "npm test*"),
        ("npm run build -- --watch", "npm run build*"),
        ("go test ./...", "go test*"),
        ("ls -la", "ls *"),
        ("ls", "ls"),
        ("mkdir -p a/b", "mkdir *"),
        ("make test", "make test*"),
        ("pytest -q", "pytest *"),
    ];
    for (command, pattern) in offered {
        assert_eq!(standing(command).as_deref(), Some(pattern), "{command}");
        assert!(is_allowed_by(pattern, command), "{command} is allowed by what it offers");
    }
}

#[test]
fn always_allowing_git_status_allows_nothing_else() {
    // T26
    let pattern = standing("git status").expect("it has one");
    let others = [
        "git status; x",
        "git status && x",
        "git status | x",
        "git status & x",
        "git status\nx",
        "git -c core.pager=x status",
        "git status --output=x",
        "git status > x",
        "git status >> x",
        "GIT_DIR=x git status",
        "git status $(x)",
        "git status `x`",
        "git status <(x)",
        "git --git-dir=x status",
        "git -C /elsewhere status",
        "./git status",
        "env git status",
        "sudo git status",
        "\"git status\" x",
        "git status; git push",
        "git  stash drop",
        "(git status; x)",
        "cd /elsewhere && git status",
        "git status $X",
        "x=1; git status",
        "git() { x; }; git status",
        "git statu* ; x",
        "nohup git status",
    ];
    for other in others {
        assert!(!is_allowed_by(&pattern, other), "{other:?} is let through by {pattern}");
    }
    assert!(is_allowed_by(&pattern, "git   'status' -s"));
    assert!(is_allowed_by(&pattern, "git status && git status -sb"));
}

#[test]
fn what_would_allow_everything_is_never_always_allowed() {
    // T26
    let never = [
        "bash -c ls",
        "sh x",
        "python -c x",
        "python x.py",
        "node -e x",
        "env",
        "env ls",
        "xargs ls",
        "sudo ls",
        "find . -name x",
        "ssh host",
        "ls; ls",
        "ls && pwd",
        "ls | wc",
        "(ls)",
        "ls > x",
        "X=1 ls",
        "RUST_BACKTRACE=1 cargo test",
        "echo $(ls)",
        "timeout 5 ls",
        "command ls",
        "nohup cargo test",
        "rm a",
        "curl x",
        "git push",
        "./run",
        "/bin/ls",
        "unheard-of",
        "eval ls",
        "npm run",
        "npm install",
        "awk '{print}' x",
        "sed -n p x",
        "for f in a; do ls; done",
        "ls \"",
        "",
        "cargo --config x test",
        "cat .env",
        "git -c a=b status",
        "if ls; then ls; fi",
        "! ls | wc",
    ];
    for one in never {
        assert_eq!(standing(one), None, "{one}");
    }
}
