//! Rules that deny a command, held against other spellings of the same command and against commands that do something else.

use std::sync::Arc;

use agent::permission::{Action, Asked, Judgement, Layer, Rule, judge};
use agent::tools::{Assessment, RUN_COMMAND};
use agent::{Json, Mode};
use majordomo_tool::{CommandHost, Registry};

fn assess(registry: &Registry, command: &str) -> Assessment {
    let info = registry.get(RUN_COMMAND).expect("the tool that runs commands").info().clone();
    let folder = std::env::temp_dir().display().to_string();
    registry.assess(&folder, &info, &Json::of(&serde_json::json!({ "command": command })))
}

fn judged(mode: Mode, rules: &[Rule], assessment: &Assessment) -> Judgement {
    let asked = Asked { tool: RUN_COMMAND, assessment, foreign: false, asks: None };
    judge(&[Layer { agent: "general".into(), mode }], rules, &[], &asked)
}

fn rule(pattern: &str, action: Action) -> Rule {
    let pattern = Some(Arc::from(pattern));
    Rule { tool: RUN_COMMAND.into(), pattern, agent: None, action, origin: "".into() }
}

/// A rule, and the act that it denies: the program, options before its verb, and the rest.
struct Denied {
    pattern: &'static str,
    program: &'static str,
    globals: &'static [&'static str],
    rest: &'static str,
}

const DENIED: [Denied; 5] = [
    Denied {
        pattern: "git push*",
        program: "git",
        globals: &[
            "",
            "-C .",
            "-C sub/folder",
            "--no-pager",
            "-P",
            "-c user.name=x",
            "-c core.pager=cat -c a.b=c",
            "--git-dir=.git",
            "--git-dir .git --work-tree .",
            "--exec-path=/usr/lib/git-core",
            "--no-optional-locks --literal-pathspecs",
            "--namespace n",
            "--something-new",
            "--something-new value",
        ],
        rest: "push origin main",
    },
    Denied { pattern: "rm *", program: "rm", globals: &["", "-r", "-rf", "--recursive --force", "--"], rest: "notes" },
    Denied {
        pattern: "npm publish*",
        program: "npm",
        globals: &["", "--prefix pkg", "-w a", "--silent", "--registry=http://x", "--loglevel warn --json", "--new x"],
        rest: "publish --tag next",
    },
    Denied { pattern: "curl *", program: "curl", globals: &["", "-s", "-fsSL -o out"], rest: "http://example.org" },
    Denied {
        pattern: "cargo publish*",
        program: "cargo",
        globals: &["", "+nightly", "--offline", "--config net.retry=1", "-C sub", "-Z unstable", "--locked -v"],
        rest: "publish --dry-run",
    },
];

/// Other spellings of a program's name.
fn names(program: &str) -> Vec<String> {
    let (first, rest) = program.split_at(1);
    vec![
        program.to_owned(),
        format!("/usr/bin/{program}"),
        format!("/bin/../usr/bin/{program}"),
        format!("./bin/{program}"),
        format!("~/.local/bin/{program}"),
        format!("\\{program}"),
        format!("'{program}'"),
        format!("\"{program}\""),
        format!("{first}''{rest}"),
        format!("$'{program}'"),
        format!("{first}\\{rest}"),
        format!("$(which {program})"),
        format!("\"$PROGRAM\""),
        format!("/usr/bin/{first}*"),
        format!("`command -v {program}`"),
    ]
}

/// What may stand around a command that does the same.
const AROUND: [&str; 64] = [
    "@",
    "env @",
    "env -i A=b C=d @",
    "env -u HOME -C . @",
    "/usr/bin/env @",
    "A=b @",
    "A=b C=d env E=f @",
    "command @",
    "command -p @",
    "exec @",
    "exec -a other @",
    "nohup @",
    "nice @",
    "nice -n 5 @",
    "nice -10 @",
    "ionice -c 3 @",
    "setsid -w @",
    "time @",
    "timeout 5 @",
    "timeout -k 1 --signal=KILL 5s @",
    "stdbuf -oL @",
    "sudo @",
    "sudo -u root -E A=b @",
    "doas -u root @",
    "env nice -n 1 timeout 5 sudo @",
    "xargs @",
    "echo x | xargs -n 1 -P 4 @",
    "xargs -I{} @ {}",
    "find . -name x -exec @ {} \\;",
    "find . -execdir @ {} +",
    "fd -x @",
    "flock /tmp/lock @",
    "strace -f -o out @",
    "unshare -r @",
    "systemd-run --user @",
    "parallel @ ::: a b",
    "npx -y @",
    "chroot /srv @",
    "taskset 1 @",
    "busybox env @",
    "watch -n 1 @",
    "watch '@'",
    "sh -c '@'",
    "bash -c '@'",
    "bash -lc '@'",
    "bash -o pipefail -ec '@'",
    "/bin/sh -c '@'",
    "env sh -c 'true; @'",
    "sh -c \"sh -c '@'\"",
    "env -S '@'",
    "eval '@'",
    "eval @",
    "trap '@' EXIT",
    "alias go='@'; go",
    "f() { @; }; f",
    "true && @",
    "false || @",
    "ls; @",
    "ls | @",
    "(cd /tmp; @)",
    "{ @; }",
    "if true; then @; fi",
    "for x in 1 2; do @; done",
    "echo $(@)",
];

/// Spellings that fit into none of the tables.
const ODD: [(&str, &str); 87] = [
    ("git push*", "git -c alias.p=push p origin"),
    ("git push*", "git -calias.p=push p"),
    ("git push*", "git -c alias.p='!git push' p"),
    ("git push*", "git --config-env=alias.p=V p"),
    ("git push*", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p"),
    ("git push*", "git p"),
    ("git push*", "git $VERB"),
    ("git push*", "git pus?"),
    ("git push*", "git {push,origin}"),
    ("git push*", "{git,push}"),
    ("git push*", "/usr/lib/git-core/git-push origin"),
    ("git push*", "git-push"),
    ("git push*", "v=push; git \"$v\""),
    ("git push*", "echo push | xargs git"),
    ("git push*", "sh -c 'git \"$0\"' push"),
    ("git push*", "sh -c 'git \"$@\"' x push"),
    ("git push*", "bash -c \"$SCRIPT\""),
    ("git push*", "echo 'git push' | sh"),
    ("git push*", "bash <<< 'git push'"),
    ("git push*", "bash ./push.sh"),
    ("git push*", "source ./push.sh"),
    ("git push*", ". ./push.sh"),
    ("git push*", "git submodule foreach git push"),
    ("git push*", "git submodule foreach 'git push'"),
    ("git push*", "git rebase -x 'git push' main"),
    ("git push*", "git bisect run git push"),
    ("git push*", "python3 -c 'import os; os.system(\"git push\")'"),
    ("git push*", "perl -e 'system(\"git push\")'"),
    ("git push*", "awk 'BEGIN { system(\"git push\") }'"),
    ("git push*", "/lib64/ld-linux-x86-64.so.2 /usr/bin/git push"),
    ("rm *", "busybox rm -rf notes"),
    ("rm *", "ls | xargs -I% sh -c 'rm %'"),
    ("npm publish*", "npm pub"),
    ("pip install*", "python3.12 -m pip install x"),
    ("git push*", "env - git push"),
    ("git push*", "env -u A -S 'git push'"),
    ("git push*", "cat <<EOF\n$(git push)\nEOF"),
    ("git push*", "let 'a[$(git push)]'"),
    ("git push*", "printf -v 'a[`git push`]' x"),
    ("git push*", "[[ -v 'a[$(git push)]' ]]"),
    ("git push*", "x='a[$(git push)]'; ((x))"),
    ("git push*", "x='$(git push)'; echo \"${x@P}\""),
    ("git push*", "PS4='$(git push)'; set -x; ls"),
    ("git push*", "GIT_EDITOR='git push' git commit"),
    ("git push*", "env GIT_SSH_COMMAND='git push' git fetch"),
    ("git push*", "export PAGER='git push'; git log"),
    ("git push*", "git -c core.editor='git push' commit"),
    ("git push*", "git -c core.pager='!git push' log"),
    ("git push*", "hash -p /usr/bin/git g; g push"),
    ("git push*", "pwsh -c 'git push'"),
    ("git push*", "perl -e'system(qw(git push))'"),
    ("git push*", "coproc git push"),
    ("git push*", "! git push"),
    ("git push*", "git \\\n push"),
    ("git push*", "git${IFS}push"),
    ("npm publish*", "yarn npm publish"),
    ("git push*", "$SHELL -c 'git push'"),
    ("git push*", "HOME=push; git $HOME"),
    ("git push*", "for LANG in push; do git $LANG; done"),
    ("git push*", "read -r TERM <<< push; git $TERM"),
    ("git push*", "HOME='git push'; $HOME"),
    ("git push*", "$HOME/bin/git push"),
    ("deploy now*", "HOME=now; deploy $HOME"),
    ("docker push*", "docker --context x image push y"),
    ("docker image push*", "docker push y"),
    ("npm install*", "npm i left-pad"),
    ("cargo build*", "cargo --offline b"),
    ("git push*", "shopt -s expand_aliases\nalias p=git\np push"),
    ("git push*", "sed '1e git push' file"),
    ("git push*", "sed 's/.*/git push/e' file"),
    ("git push*", "sed -n '/x/s,.*,git push,ge' file"),
    ("git push*", "sed -n '1{s/.*/git push/;e\n}' file"),
    ("git push*", "tar cf x --checkpoint=1 --checkpoint-action=exec='git push' y"),
    ("git push*", "tar cf x -I 'sh -c \"git push\"' y"),
    ("git push*", "tar xf x --to-command 'git push'"),
    ("git push*", "split --filter='git push' x"),
    ("git push*", "vim -es -c '!git push' -c q"),
    ("git push*", "compgen -C 'git push' x"),
    ("git push*", "rsync -e 'git push' a b:c"),
    ("git push*", "x='a[$(git push)]'; echo $((x))"),
    ("git push*", "x='a[$(git push)]'; echo ${y:x}"),
    ("git push*", "a=(git push); \"${a[@]}\""),
    ("git push*", "set -- git push; \"$@\""),
    ("git push*", "exec 3<<<'git push'; bash <&3"),
    ("git push*", "xargs -I{} {} push <<< git"),
    ("git push*", "f() { \"$@\"; }; f git push"),
    ("git push*", "declare -n r=v; v=push; git $r"),
];

fn variants() -> Vec<(&'static str, String)> {
    let mut all: Vec<(&str, String)> = ODD.iter().map(|(pattern, command)| (*pattern, (*command).to_owned())).collect();
    for Denied { pattern, program, globals, rest } in DENIED {
        let words = |name: &str, options: &str| format!("{name} {options} {rest}").replace("  ", " ");
        let with_globals = globals.iter().map(|options| words(program, options));
        let with_names = names(program).into_iter().map(|name| words(&name, globals[globals.len() / 2]));
        let cores: Vec<String> = with_globals.chain(with_names).collect();
        for core in &cores {
            for around in AROUND {
                // A quote in quotes is another text.
                if !(core.contains('\'') && around.contains('\'')) {
                    all.push((pattern, around.replace('@', core)));
                }
            }
        }
    }
    all
}

// T69
#[test]
fn no_other_spelling_of_an_act_passes_a_rule_that_denies_it() {
    let registry = Registry::standard(CommandHost::default());
    let variants = variants();
    let mut passed = Vec::new();
    let mut asked = 0;
    for (pattern, command) in &variants {
        let assessment = assess(&registry, command);
        let denies = [rule(pattern, Action::Deny)];
        let asks = [rule(pattern, Action::Ask)];
        for mode in [Mode::Ask, Mode::Auto] {
            let judged_by = [judged(mode, &denies, &assessment), judged(mode, &asks, &assessment)];
            asked += usize::from(judged_by[0].action == Action::Ask);
            if judged_by.iter().any(|judged| judged.action == Action::Allow || !judged.by.starts_with("rule: ")) {
                passed.push(format!("{mode} {pattern}: {command}"));
            }
        }
        if judged(Mode::Dangerous, &denies, &assessment).action != Action::Deny {
            passed.push(format!("dangerous {pattern}: {command} {:?} {:?}", assessment.also, assessment.perhaps));
        }
        // What widens a rule that denies must not widen one that allows.
        let allows = [rule(pattern, Action::Allow)];
        let is_literal = assessment.subjects.iter().any(|part| agent::permission::matches(pattern, part));
        if !is_literal && judged(Mode::Auto, &allows, &assessment).by.starts_with("rule: ") {
            passed.push(format!("allowed {pattern}: {command}"));
        }
    }
    assert!(passed.is_empty(), "{} of {}:\n{}", passed.len(), variants.len(), passed.join("\n"));
    // Where the text tells everything it is denied in every mode; only the rest is asked about.
    assert!(variants.len() > 5_000 && asked < variants.len(), "{} {asked}", variants.len());
}

// T69
#[test]
fn a_rule_does_not_touch_what_does_something_else() {
    let harmless = [
        "git log --grep push",
        "git log --oneline -- push",
        "git --no-pager log push",
        "git -C push status",
        "git commit -m 'git push'",
        "git stash push -m x",
        "git pull",
        "git worktree list",
        "git write-tree",
        "git branch push-notes",
        "git config --get remote.pushdefault",
        "git log $(git rev-parse HEAD)",
        "git diff \"$BASE\"",
        "echo git push",
        "echo 'rm -rf /'",
        "printf '%s\\n' 'npm publish'",
        "grep -rn \"git push\" .",
        "grep -rn 'curl ' docs",
        "rg 'cargo publish' README.md",
        "env A=b grep rm file",
        "timeout 60 cargo test publish",
        "cargo test -- publish",
        "cargo run -p publish",
        "npm run publish-docs",
        "npm --prefix publish test",
        "npm install rm",
        "cat curl rm",
        "ls *.rm | head",
        "ls $HOME",
        "cat \"$FILE\"",
        "for f in *.txt; do wc -l \"$f\"; done",
        "find . -name rm -print",
        "find . -type f -exec grep -l rm {} +",
        "find . -name '*.rs' | xargs wc -l",
        "sh -c 'echo git push'",
        "bash -c 'ls && cat rm'",
        "bash --version",
        "python3 -m pytest -k publish",
        "python3 -c 'print(1)'",
        "python3 script.py",
        "awk '{print $1}' file",
        "make push",
        "docker push image",
        "docker compose up -d",
        "rmdir x",
        "true",
        "cd sub && cargo build",
        "git -C $HOME/project status",
        "sed -n '1,5p' file",
        "sed -i 's/old/the new/g' file",
        "sed -e 's/a/b/' -e '/^e/d' file",
        "sed 's|a/e|b/e|' file",
        "tar czf out.tgz src",
        "sort -k 2 file",
        "vim --version",
        "ls $PWD/src",
        "GIT_EDITOR=true git rebase --continue",
        "git -c core.pager=cat log -3",
        "cat > notes.md <<'EOF'\nRun `git push` or $(rm x)\nEOF",
        "cat <<EOF\n$HOME\nEOF",
        "printf '%s' \"$(date)\"",
        "test -n \"$CI\" && echo yes",
        "export NODE_ENV=test; npm test",
        "[ -d target ] || mkdir target",
    ];
    let registry = Registry::standard(CommandHost::default());
    let rules: Vec<Rule> = DENIED.iter().map(|denied| rule(denied.pattern, Action::Deny)).collect();
    let mut touched = Vec::new();
    let looks = include_str!("../../shell/tests/looks.txt").lines();
    let looks = looks.filter(|line| !line.is_empty() && !line.starts_with('#'));
    for command in harmless.into_iter().chain(looks) {
        let assessment = assess(&registry, command);
        let judged = judged(Mode::Dangerous, &rules, &assessment);
        if judged.action != Action::Allow {
            touched.push(format!("{command}: {} {:?} {:?}", judged.by, assessment.also, assessment.perhaps));
        }
    }
    assert!(touched.is_empty(), "{}", touched.join("\n"));
}

// T69, T31
#[test]
fn a_command_that_cannot_be_read_is_denied_as_before() {
    let registry = Registry::standard(CommandHost::default());
    let rules = [rule("git push*", Action::Deny)];
    for command in ["if then", "git push\u{202E}", "echo \"unclosed", &"a".repeat(20_000)] {
        let assessment = assess(&registry, command);
        for mode in [Mode::Ask, Mode::Auto, Mode::Dangerous] {
            assert_eq!(judged(mode, &rules, &assessment).action, Action::Deny, "{mode} {command}");
        }
    }
}
