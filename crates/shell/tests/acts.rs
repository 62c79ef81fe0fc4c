//! What a command does, however it is spelt: what is certain, what is only possible, and how much of it is told.

use agent::permission::UNKNOWN;
use proptest::prelude::*;
use shell::assess;

fn does(command: &str, act: &str) -> bool {
    assess(command).acts.iter().any(|form| form == act)
}

fn may(command: &str) -> Vec<String> {
    let unknown = |form: &String| form.contains(UNKNOWN);
    assess(command).perhaps.into_iter().filter(unknown).map(|form| form.replace(UNKNOWN, "?")).collect()
}

// T69
#[test]
fn wrappers_folders_and_options_before_the_verb_are_taken_away() {
    for command in [
        "git push x",
        "/usr/bin/git -C a --no-pager -c b=c push x",
        "env -u A B=c nice -n 5 timeout -k 1 9 git push x",
        "sh -c 'true; /bin/git --git-dir a push x'",
        "find . -exec git push x \\;",
        "busybox sh -c 'git push x'",
        "git-push x",
    ] {
        assert!(does(command, "git push x"), "{command}: {:?}", assess(command).acts);
    }
    assert!(does("ls | xargs -0 rm -f", &format!("rm -f {UNKNOWN}")));
    assert!(does("python3 -m pip --quiet install x", "pip install x"));
    assert!(does("cargo +nightly --offline publish", "cargo publish"));
    assert!(does("make -C sub A=b -j4 deploy", "make deploy"));
}

// T69
#[test]
fn what_the_text_does_not_tell_is_said_to_be_unknown() {
    assert_eq!(may("$X push"), ["?"]);
    assert_eq!(may("git $X"), ["git ?"]);
    assert_eq!(may("git -c alias.p=push p"), ["git ?"]);
    assert_eq!(may("git lg"), ["git ?"]);
    assert_eq!(may("bash script.sh"), ["?"]);
    assert_eq!(may("rm \"$X\""), ["rm ?"]);
    assert_eq!(may("cp --target=$X a"), ["cp --target=? a"]);
    for command in ["git log", "ls *.rs", "echo $HOME", "cargo test", "bash --version", "rm *.log"] {
        assert_eq!(may(command), [""; 0], "{command}");
    }
}

// T31, T69
#[test]
fn a_command_of_many_words_is_bounded() {
    let hostile = [
        "git env npx sh ".repeat(1000),
        "-a -b ".repeat(2500),
        "--long value ".repeat(1200),
        "npx ".repeat(63),
        "-exec find ".repeat(1400),
        "nice -n 1 env ".repeat(1000),
        format!("{} 'git push; {}'", "npx ".repeat(50), "ls a; ".repeat(400)),
        "sh -c 'ls'; ".repeat(400),
        "a=b ".repeat(3000),
        "$x ".repeat(4000),
    ];
    for program in ["npx", "env", "xargs", "parallel", "nice", "git", "rm", "find . -exec", "sudo", "watch", "eval"] {
        for words in &hostile {
            let told = assess(&format!("{program} {words}"));
            let bytes: usize = told.acts.iter().chain(&told.perhaps).map(String::len).sum();
            assert!(bytes < 1024 * 1024, "{program}: {bytes}");
            assert!(told.perhaps.len() <= 1025, "{program}: {}", told.perhaps.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    // T69
    #[test]
    fn an_act_is_found_behind_any_wrappers(
        wrappers in prop::collection::vec(
            prop::sample::select(vec!["env", "env A=b", "nice -n 3", "timeout 5", "command", "sudo -u x", "nohup", "stdbuf -oL"]),
            0..6,
        ),
        options in prop::collection::vec(prop::sample::select(vec!["-C .", "--no-pager", "-c a=b", "--git-dir=x"]), 0..4),
        folder in prop::sample::select(vec!["", "/usr/bin/", "./", "a/b/"]),
    ) {
        let command = format!("{} {folder}git {} push origin", wrappers.join(" "), options.join(" "));
        prop_assert!(does(command.trim(), "git push origin"), "{}", command);
    }
}
