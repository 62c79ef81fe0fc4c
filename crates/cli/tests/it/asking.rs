//! How a task reaches the binary: as an argument, on stdin, or both. And command lines that ask for nothing that can be done.

use testkit::model_server::{ModelServer, Turn};

use crate::setup::{Setup, finish};

async fn echoing() -> (ModelServer, Setup) {
    let server = ModelServer::start(|_| Turn::text("Heard.")).await;
    let setup = Setup::at(provider::Wire::Anthropic, &server);
    (server, setup)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_task_is_the_argument_or_the_whole_of_stdin() {
    for (words, input, heard) in [
        (&["run", "From the argument"][..], "", "From the argument"),
        (&["run", "-"], "From stdin,\nboth lines\n", "From stdin,\nboth lines\n"),
        (&["run"], "From stdin alone", "From stdin alone"),
        (&["run", "--", "--mode is a word"], "", "--mode is a word"),
    ] {
        let (server, setup) = echoing().await;
        setup.run_with_input(words, input).await.exits(0);
        assert_eq!(server.requests()[0].first_words, heard);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_piped_in_is_added_to_the_task() {
    let (server, setup) = echoing().await;
    setup.run_with_input(&["run", "Sum this up"], "line 1\nline 2").await.exits(0);
    assert_eq!(server.requests()[0].first_words, "Sum this up\n\n<stdin>\nline 1\nline 2\n</stdin>");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_stdin_that_says_nothing_is_not_waited_for() {
    let (server, setup) = echoing().await;
    let (reader, held_open) = std::io::pipe().expect("a pipe");
    let ran = finish(setup.command(&["run", "Go"]).stdin(reader).spawn().expect("the binary starts")).await.exits(0);
    drop(held_open);
    assert_eq!(ran.stdout, "Heard.\n");
    assert_eq!(server.requests()[0].first_words, "Go");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_task_is_a_wrong_command_line() {
    for (words, input) in [(&["run", "-"][..], " \n"), (&["run", ""], ""), (&["run"], "")] {
        let (server, setup) = echoing().await;
        let ran = setup.run_with_input(words, input).await.exits(2);
        assert_eq!(ran.stdout, "");
        assert!(server.requests().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_flags_exit_2_and_ask_nobody() {
    for words in [
        &["run", "--no-such-flag", "Go"][..],
        &["run", "--json", "--jsonl", "Go"],
        &["run", "--dialect", "opta", "Go"],
        &["run", "--jsonl", "--dialect", "klingon", "Go"],
        &["run", "--approvals", "perhaps", "Go"],
        &["run", "--schema", "missing.json", "Go"],
        &["run", "-o", "missing/folder/out.txt", "Go"],
        &["no-such-verb"],
        &["thread", "show", "20200101-none"],
        &["completion", "no-such-shell"],
    ] {
        let (server, setup) = echoing().await;
        let ran = setup.run(words).await.exits(2);
        assert_eq!(ran.stdout, "", "{words:?}");
        assert!(!ran.stderr.is_empty(), "{words:?}");
        assert!(server.requests().is_empty(), "{words:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_no_configuration_takes_exit_3_and_say_what_is_expected() {
    for (words, told) in [
        (&["--agent", "nobody"][..], "there are: butler, communicator, explore, general"),
        (&["--preset", "nothing"], "one of default, kata, lace, opta"),
        (&["--mode", "reckless"], "one of plan, ask, auto, dangerous"),
        (&["--set", "policy.max_depth=deep"], "policy.max_depth expects a whole number"),
        (&["--max-tokens", "many"], "flag --max-tokens: grant.tokens expects a whole number"),
    ] {
        let (server, setup) = echoing().await;
        let words: Vec<&str> = ["run", "Go"].into_iter().chain(words.iter().copied()).collect();
        let ran = setup.run(&words).await.exits(3);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        assert!(server.requests().is_empty());
    }
    let (_, setup) = echoing().await;
    std::fs::create_dir(setup.work(".majordomo")).expect("a folder");
    setup.write(".majordomo/config.toml", "agent = 7");
    let ran = setup.run(&["run", "Go"]).await.exits(3);
    assert!(ran.stderr.contains("config.toml"), "{}", ran.stderr);
}

#[tokio::test]
async fn without_a_model_it_exits_4_and_says_how_to_get_one() {
    let setup = Setup::new();
    let ran = setup.run(&["run", "-a", "general", "Go"]).await.exits(4);
    assert_eq!(ran.stdout, "");
    for hint in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "-m"] {
        assert!(ran.stderr.contains(hint), "{hint}: {}", ran.stderr);
    }
    let ran = setup.run(&["run", "-m", "nowhere/model", "Go"]).await.exits(4);
    assert!(ran.stderr.contains("there is no provider `nowhere`"), "{}", ran.stderr);
    setup.run(&["run", ""]).await.exits(2);
}

#[tokio::test]
async fn a_model_that_cannot_be_asked_is_found_before_a_thread_is_made() {
    let setup = Setup::new();
    for (model, told) in
        [("openai/gpt-5", "set OPENAI_API_KEY"), ("scripted/missing.toml", "missing.toml: No such file")]
    {
        let ran = setup.run(&["run", "-m", model, "Go"]).await.exits(4);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
    assert_eq!(setup.run(&["thread", "ls", "--json"]).await.exits(0).stdout, "[]\n");
}

#[tokio::test]
async fn an_agent_speaks_with_the_model_that_its_file_names() {
    let setup = Setup::new();
    std::fs::create_dir_all(setup.work(".majordomo/agents")).expect("a folder");
    for (file, words) in [("own.toml", "From its own."), ("other.toml", "From another.")] {
        setup.write(file, &format!("[[script]]\n[[script.reply]]\ntext = \"{words}\""));
    }
    let definition = "---\nname: clerk\ndescription: answers\nmodel: scripted/own.toml\n---\nYou answer.\n";
    setup.write(".majordomo/agents/clerk.md", definition);
    setup.run(&["trust", "--yes"]).await.exits(0);
    let ran = setup.run(&["run", "-a", "clerk", "Go"]).await.exits(0);
    assert_eq!(ran.stdout, "From its own.\n");
    assert!(ran.stderr.contains("model scripted/own.toml"), "{}", ran.stderr);
    let ran = setup.run(&["run", "-a", "clerk", "-m", "scripted/other.toml", "Go"]).await.exits(0);
    assert_eq!(ran.stdout, "From another.\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn config_set_changes_one_value_of_the_users_file_or_nothing() {
    let setup = Setup::new();
    let file = setup.aside("home/.config/majordomo/config.toml");
    let text = || std::fs::read_to_string(&file).unwrap_or_default();
    setup.run(&["config", "set", "policy.max_depth", "3"]).await.exits(0);
    assert_eq!(text(), "[policy]\nmax_depth = 3\n");
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().expect("a file").permissions());
    assert_eq!(mode & 0o077, 0, "it may come to hold secrets");
    std::fs::write(&file, "# mine\n[policy]\nmax_depth = 3 # deep\n").expect("a file");
    setup.run(&["config", "set", "policy.max_depth", "1"]).await.exits(0);
    setup.run(&["config", "set", "mode", "plan"]).await.exits(0);
    let shown = setup.run(&["config", "show"]).await.exits(0).stdout;
    assert!(shown.contains("max_depth") && text().contains("max_depth = 1 # deep") && text().contains("# mine"));
    let before = text();
    for (words, code, told) in [
        (&["config", "set", "polcy.max_depth", "3"][..], 2, "did you mean policy.max_depth?"),
        (&["config", "set", "policy.max_depth", "deep"], 3, "config set: policy.max_depth expects a whole number"),
        (&["config", "set", "mode", "reckless"], 3, "one of plan, ask, auto, dangerous"),
        (&["config", "unset", "policy.max_children"], 2, "policy.max_children is not set in"),
    ] {
        let ran = setup.run(words).await.exits(code);
        assert!(ran.stderr.contains(told), "{words:?}: {}", ran.stderr);
        assert_eq!(text(), before, "{words:?}");
    }
    let setup = setup.with("MAJORDOMO_MODE", "auto");
    let told = setup.run(&["config", "set", "mode", "ask"]).await.exits(0).stderr;
    assert!(told.contains("note: here it stays \"auto\", which is set by: env MAJORDOMO_MODE"), "{told}");
    setup.run(&["config", "unset", "policy.max_depth"]).await.exits(0);
    assert!(!text().contains("max_depth") && text().contains("mode = \"ask\""), "{}", text());
}
