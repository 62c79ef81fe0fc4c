//! Grants of a run, and that the sum over the tree is what the root shows.

use provider::Wire;
use serde_json::Value;
use testkit::model_server::{ModelServer, Turn};

use crate::setup::{Setup, server};

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_the_grant_does_not_reach_for_is_not_made() {
    for flags in [["--max-tokens", "500"], ["--max-cost", "0.000001"]] {
        let server = ModelServer::start(|_| Turn::text("never said")).await;
        let setup = Setup::at(Wire::Anthropic, &server);
        let ran = setup.run(&["run", "--json", flags[0], flags[1], "Go"]).await.exits(6);
        assert!(server.requests().is_empty(), "{flags:?}");
        let told = ran.json();
        assert_eq!((&told["outcome"], &told["exit_code"]), (&"budget_exceeded".into(), &6.into()));
        let key = flags[0].trim_start_matches('-').replace('-', "_");
        assert!(ran.stderr.contains(&key), "{}", ran.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_at_its_limit_of_calls_has_one_last_word_and_no_more_tools() {
    let server = ModelServer::start(|request| match request.assistant_messages {
        0 => Turn::text("Half is done.").call("toolu_1", "list_dir", "{}"),
        _ => Turn::text("The other half is left."),
    })
    .await;
    let setup = Setup::at(Wire::Anthropic, &server);
    let ran = setup.run(&["run", "--max-tool-calls", "1", "Go"]).await.exits(6);
    assert_eq!(ran.stdout, "The other half is left.\n");
    let last = &server.requests()[1];
    assert_eq!(last.body["tool_choice"]["type"], "none");
    assert_eq!(last.body["tools"], server.requests()[0].body["tools"]);
}

// OPTA-39
#[tokio::test(flavor = "multi_thread")]
async fn a_run_at_the_end_of_its_tokens_makes_no_further_request_and_keeps_what_it_said() {
    let server = server(
        r#"
[[script]]
[[script.reply]]
tokens_in = 9000
tokens_out = 900
text = "Half is done."
calls = [{ name = "list_dir", input = { path = "." } }]
"#,
    )
    .await;
    let setup = Setup::at(Wire::Anthropic, &server);
    let ran = setup.run(&["run", "--max-tokens", "10000", "Go"]).await.exits(6);
    assert_eq!(ran.stdout, "Half is done.\n");
    assert_eq!(server.requests().len(), 1);
    let sent = server.requests()[0].body["max_tokens"].as_u64().expect("a number");
    assert!(sent < 10_000, "the answer that is asked for fits the grant too: {sent}");
}

// OPTA-50: a loop with a budget of five makes five calls, however many the model asks for.
#[tokio::test]
async fn a_root_with_five_calls_makes_five() {
    let setup = Setup::new();
    let model = setup.scripted(
        r#"
[[script]]
[[script.reply]]
calls = [
    { name = "find_files", input = { pattern = "a" } }, { name = "find_files", input = { pattern = "b" } },
    { name = "find_files", input = { pattern = "c" } }, { name = "find_files", input = { pattern = "d" } },
    { name = "find_files", input = { pattern = "e" } }, { name = "find_files", input = { pattern = "f" } },
]
[[script.reply]]
text = "Five places were searched."
"#,
    );
    let ran = setup.run(&["run", "-m", &model, "--max-tool-calls", "5", "--jsonl", "Go"]).await.exits(6);
    let frames = ran.frames();
    assert_eq!(frames.iter().filter(|frame| frame["type"] == "tool_start").count(), 5);
    assert_eq!(frames.last().expect("a last frame")["usage"]["self"]["tool_calls"], 5);
}

// OPTA-29
#[tokio::test(flavor = "multi_thread")]
async fn the_sum_over_the_tree_is_what_the_root_shows() {
    let server = server(
        r#"
[[script]]
on = "Root"
[[script.reply]]
tokens_in = 1000
tokens_out = 10
calls = [{ name = "spawn_agent", input = { task = "Branch" } }, { name = "spawn_agent", input = { task = "Leaf one" } }]
[[script.reply]]
tokens_in = 2000
tokens_out = 20
text = "Done."
[[script]]
on = "Branch"
[[script.reply]]
tokens_in = 300
tokens_out = 3
calls = [{ name = "spawn_agent", input = { task = "Leaf two" } }]
[[script.reply]]
tokens_in = 400
tokens_out = 4
text = "Branched."
[[script]]
on = "Leaf"
[[script.reply]]
tokens_in = 50
tokens_out = 5
calls = [{ name = "list_dir", input = { path = "." } }]
[[script.reply]]
tokens_in = 60
tokens_out = 6
text = "Left."
"#,
    )
    .await;
    let setup = Setup::at(Wire::Anthropic, &server);
    let told = setup.run(&["run", "--json", "Root"]).await.exits(0).json();
    assert_eq!(server.refusals(), [""; 0]);
    let (mut sum, mut threads) = ([0; 5], 0);
    let mut nodes = vec![&told["tree"]];
    while let Some(node) = nodes.pop() {
        threads += 1;
        for (sum, figure) in sum.iter_mut().zip(figures(&node["usage"]["self"])) {
            *sum += figure;
        }
        nodes.extend(node["children"].as_array().expect("a list"));
    }
    assert_eq!(threads, 4);
    assert_eq!(sum, figures(&told["usage"]["tree"]));
    assert_eq!(sum, figures(&told["tree"]["usage"]["tree"]));
    assert_eq!(sum[..4], [3920, 59, 8, 5]);
    assert!(sum[4] > 0, "this model has a price");
    assert_eq!(told["usage"]["self"]["tool_calls"], 2, "a spawn costs its parent one call");
}

// A limit that cannot hold is no secret.
#[tokio::test]
async fn a_limit_on_money_says_so_where_no_price_is_known() {
    let setup = Setup::new();
    let model = setup.scripted("[[script]]\n[[script.reply]]\ntext = \"Done.\"");
    let price = format!("models.\"{model}\".price={{ input = 1.0, output = 2.0 }}");
    let told = setup.run(&["run", "-m", &model, "--max-cost", "1", "Go"]).await.exits(0).stderr;
    assert!(told.contains("no price is known"), "{told}");
    for flags in [&["--max-cost", "1", "--set", &price][..], &[]] {
        let words: Vec<&str> = ["run", "-m", &model, "Go"].into_iter().chain(flags.iter().copied()).collect();
        let told = setup.run(&words).await.exits(0).stderr;
        assert!(!told.contains("no price"), "{told}");
    }
}

/// Input, output, model calls, tool calls, money.
fn figures(usage: &Value) -> [u64; 5] {
    let number = |value: &Value| value.as_u64().expect("a number");
    [
        number(&usage["tokens"]["input"]),
        number(&usage["tokens"]["output"]),
        number(&usage["model_calls"]),
        number(&usage["tool_calls"]),
        number(&usage["cost_microusd"]),
    ]
}
