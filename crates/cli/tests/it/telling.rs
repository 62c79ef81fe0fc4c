//! What a run tells: the result alone on stdout, in the form that was asked for; everything else on stderr.

use serde_json::json;

use crate::setup::{Ran, Setup, finish, of_type};

const FAMILY: &str = r#"
[[script]]
on = "Root"
[[script.reply]]
text = "I ask."
calls = [{ name = "spawn_agent", input = { task = "Leaf" } }]
[[script.reply]]
text = "The leaf is green."
[[script]]
on = "Leaf"
[[script.reply]]
calls = [{ name = "read_file", input = { path = "leaf.txt" } }]
[[script.reply]]
text = "Green."
"#;

async fn run(setup: &Setup, flags: &[&str]) -> Ran {
    setup.write("leaf.txt", "green\n");
    let model = setup.scripted(FAMILY);
    let words: Vec<&str> = ["run", "-m", &model, "Root"].into_iter().chain(flags.iter().copied()).collect();
    setup.run(&words).await
}

// OPTA-35, OPTA-51
#[tokio::test]
async fn a_single_turn_is_answered_and_nothing_else_happens() {
    let setup = Setup::new();
    let model = setup.scripted("[[script]]\n[[script.reply]]\ntext = \"Good evening.\"");
    let ran = setup.run(&["run", "-m", &model, "--jsonl", "Hello"]).await.exits(0);
    let frames = ran.frames();
    let kinds: Vec<_> =
        frames.iter().filter_map(|frame| frame["type"].as_str()).filter(|kind| *kind != "state").collect();
    assert_eq!(kinds, ["thread_created", "run_started", "agent_start", "text", "usage", "done"]);
    let usage = &frames.last().expect("a last frame")["usage"];
    assert_eq!(usage["self"], usage["tree"]);
    assert_eq!((&usage["tree"]["model_calls"], &usage["tree"]["tool_calls"]), (&1.into(), &0.into()));
    let ran = setup.run(&["run", "-m", &model, "Hello"]).await.exits(0);
    assert_eq!(ran.stdout, "Good evening.\n");
}

#[tokio::test]
async fn stdout_is_the_answer_alone_and_progress_goes_to_stderr() {
    let setup = Setup::new();
    let ran = run(&setup, &[]).await.exits(0);
    assert_eq!(ran.stdout, "The leaf is green.\n");
    assert!(ran.stderr.contains("read_file") && ran.stderr.contains("thread 2"), "{}", ran.stderr);
    let ran = run(&setup, &["--quiet"]).await.exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("The leaf is green.\n", ""));
}

#[tokio::test]
async fn json_is_one_object_however_talkative_the_log_is() {
    let setup = Setup::new().with("RUST_LOG", "trace");
    let ran = run(&setup, &["--json"]).await.exits(0);
    let told = ran.json();
    assert_eq!(told["answer"], "The leaf is green.");
    assert_eq!((&told["outcome"], &told["exit_code"]), (&"completed".into(), &0.into()));
    assert_eq!(told["tree"]["children"][0]["id"], format!("{}.1", told["id"].as_str().expect("an id")));
}

#[tokio::test]
async fn jsonl_is_a_frame_a_line_from_the_first_to_done() {
    let setup = Setup::new().with("RUST_LOG", "trace");
    let ran = run(&setup, &["--jsonl"]).await.exits(0);
    let frames = ran.frames();
    assert_eq!((&frames[0]["type"], &frames[1]["type"]), (&"thread_created".into(), &"run_started".into()));
    let last = frames.last().expect("a last frame");
    assert_eq!((&last["type"], &last["exit_code"]), (&"done".into(), &0.into()));
    assert_eq!(of_type(&frames, "done").len(), 1);
    assert_eq!(of_type(&frames, "sub_agent_complete").len(), 1);
    let seqs: Vec<u64> = frames.iter().map(|frame| frame["seq"].as_u64().expect("a number")).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "{seqs:?}");
    assert!(frames.iter().all(|frame| frame["run"] == frames[0]["thread"]));
}

#[tokio::test]
async fn words_are_told_while_they_come_only_when_asked_for_and_without_a_number() {
    let setup = Setup::new();
    let reply = "[[script.reply]]\nchunk_delay_ms = 20\ntext = \"one two three\"";
    let model = setup.scripted(&format!("[[script]]\n{reply}"));
    let frames = setup.run(&["run", "-m", &model, "--jsonl", "--deltas", "Count"]).await.exits(0).frames();
    let deltas = of_type(&frames, "text_delta");
    assert!(deltas.iter().all(|delta| delta.get("seq").is_none() && delta["run"] == frames[0]["run"]));
    assert_eq!(of_type(&frames, "text")[0]["content"], "one two three");
    let frames = setup.run(&["run", "-m", &model, "--jsonl", "Count"]).await.exits(0).frames();
    assert!(frames.iter().all(|frame| frame["seq"].is_u64()));
}

#[tokio::test]
async fn every_word_is_told_before_the_answer_that_holds_it_however_fast_it_came() {
    let setup = Setup::new();
    for pace in ["", "chunk_delay_ms = 20\n"] {
        let model = setup.scripted(&format!("[[script]]\n[[script.reply]]\n{pace}text = \"one two three\""));
        let frames = setup.run(&["run", "-m", &model, "--jsonl", "--deltas", "Count"]).await.exits(0).frames();
        let before: Vec<_> = frames.iter().take_while(|frame| frame["type"] != "text").cloned().collect();
        let heard: String =
            of_type(&before, "text_delta").iter().filter_map(|delta| delta["content"].as_str()).collect();
        assert_eq!(heard, "one two three", "{pace}");
    }
}

// OPTA-49
#[tokio::test]
async fn the_dialect_of_opta_tells_the_phases_of_sub_agents() {
    let setup = Setup::new();
    for flags in [&["--jsonl", "--dialect", "opta"][..], &["--jsonl", "--preset", "opta"]] {
        let frames = run(&setup, flags).await.exits(0).frames();
        let phases: Vec<_> = frames.iter().filter_map(|frame| frame["phase"].as_str()).collect();
        assert_eq!(phases, ["spawning", "thinking", "reading", "thinking", "done"]);
        let result = &frames.last().expect("a last frame")["result"];
        assert_eq!((&result["status"], &result["response"]), (&"completed".into(), &"Green.".into()));
        assert_eq!(result["filesRead"], json!(["leaf.txt"]));
    }
}

#[tokio::test]
async fn the_result_can_go_to_a_file() {
    let setup = Setup::new();
    let ran = run(&setup, &["-o", "answer.txt"]).await.exits(0);
    assert_eq!(ran.stdout, "");
    assert_eq!(std::fs::read_to_string(setup.work("answer.txt")).expect("the file"), "The leaf is green.\n");
    let ran = run(&setup, &["--json", "-o", "answer.json"]).await.exits(0);
    assert_eq!(ran.stdout, "");
    let text = std::fs::read_to_string(setup.work("answer.json")).expect("the file");
    let told: serde_json::Value = serde_json::from_str(&text).expect("one object");
    assert_eq!(told["exit_code"], 0);
}

// F45
#[tokio::test]
async fn a_reader_that_goes_away_is_no_failure() {
    let setup = Setup::new();
    setup.write("leaf.txt", "green\n");
    let model = setup.scripted(FAMILY);
    for words in [&["run", "-m", &model, "--jsonl", "Root"][..], &["completion", "bash"], &["config", "show"]] {
        let (_, writer) = std::io::pipe().expect("a pipe");
        let child = setup.command(words).stdout(writer).spawn().expect("the binary starts");
        let ran = finish(child).await.exits(0);
        assert!(!ran.stderr.contains("panicked") && !ran.stderr.contains("error:"), "{}", ran.stderr);
    }
}

#[tokio::test]
async fn an_answer_that_fits_the_schema_is_data_and_one_that_does_not_is_asked_for_again() {
    let schema = r#"{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}"#;
    let wrong = "[[script.reply]]\ntext = \"seven\"\n";
    let right = "[[script.reply]]\ntext = '{\"n\": 7}'\n";
    let setup = Setup::new();
    setup.write("schema.json", schema);
    for (replies, code) in [(vec![right], 0), (vec![wrong, right], 0), (vec![wrong; 3], 1)] {
        let model = setup.scripted(&format!("[[script]]\n{}", replies.concat()));
        let words = ["run", "-m", &model, "--schema", "schema.json", "--json", "How many?"];
        let told = setup.run(&words).await.exits(code).json();
        assert_eq!(told["usage"]["self"]["model_calls"], replies.len());
        match code {
            0 => assert_eq!(told["data"], json!({"n": 7})),
            _ => assert_eq!((&told["outcome"], &told["cause"]), (&"error".into(), &"schema".into())),
        }
    }
}

#[tokio::test]
async fn a_schema_that_is_none_is_found_before_anything_is_asked() {
    let setup = Setup::new();
    let model = setup.scripted("[[script]]");
    setup.write("broken.json", "{");
    setup.write("nonsense.json", r#"{"type": "nonsense"}"#);
    for (file, code) in [("broken.json", 2), ("nonsense.json", 3)] {
        let ran = setup.run(&["run", "-m", &model, "--schema", file, "How many?"]).await.exits(code);
        assert!(ran.stderr.contains("schema"), "{}", ran.stderr);
    }
    assert_eq!(setup.run(&["thread", "ls", "--json"]).await.exits(0).json(), json!([]));
}
