//! Grants of a run, and that the sum over the tree is what the root shows.

use provider::Wire;
use serde_json::{Value, json};
use testkit::model_server::{Fault, KEY, ModelServer, Turn};

use crate::heard;
use crate::setup::{Setup, of_type, server};

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

// A limit that cannot hold is no limit.
#[tokio::test]
async fn a_limit_on_money_does_not_start_a_model_without_a_known_price_unless_that_is_allowed() {
    let (_held, nowhere) = ModelServer::nowhere();
    // A server elsewhere, which nothing is asked of: a proxy at which nothing listens takes its place.
    let setup = Setup::new()
        .with("MAJORDOMO_PROVIDERS_WORK_BASE_URL", "http://work.invalid/v1")
        .with("MAJORDOMO_PROVIDERS_WORK_PROXY", &nowhere)
        .with("MAJORDOMO_PROVIDERS_WORK_RETRY_S", "0")
        .with("MAJORDOMO_PROVIDERS_WORK_RETRIES", "0");
    let limited = ["run", "-m", "work/unheard-of", "--max-cost", "1", "Go"];
    let told = setup.run(&limited).await.exits(3).stderr;
    for word in ["no price is known for work/unheard-of", "models.\"work/unheard-of\".price", "grant.unknown_price"] {
        assert!(told.contains(word), "{told}");
    }
    let price = "models.\"work/unheard-of\".price={ input = 1.0, output = 2.0 }";
    for (setting, warns) in [("grant.unknown_price=allow", true), (price, false)] {
        let words: Vec<&str> = limited.into_iter().chain(["--set", setting]).collect();
        let told = setup.run(&words).await.exits(4).stderr;
        assert_eq!(told.contains("no price is known"), warns, "{setting}: {told}");
    }
    let script = setup.scripted("[[script]]\n[[script.reply]]\ntext = \"Done.\"");
    setup.run(&["run", "-m", &script, "--max-cost", "1", "Go"]).await.exits(0);
}

/// An agent whose file names a model of its own.
fn with_own_model(setup: &Setup, model: &str) {
    let folder = setup.aside("home/.config/majordomo/agents");
    std::fs::create_dir_all(&folder).expect("a folder");
    let agent = format!("---\nname: helper\ndescription: helps\nmodel: {model}\n---\nYou help.\n");
    std::fs::write(folder.join("helper.md"), agent).expect("a file");
}

const HELPED: &str = r#"
[[script]]
on = "Go"
[[script.reply]]
calls = [{ name = "spawn_agent", input = { agent = "helper", task = "Help one" } }, { name = "spawn_agent", input = { agent = "helper", task = "Help two" } }]
[[script.reply]]
text = "Done."

[[script]]
on = "Help"
[[script.reply]]
text = "Helped."
"#;

// The limit holds for the whole tree, so that it holds for the model of a sub-agent's own file, too.
#[tokio::test(flavor = "multi_thread")]
async fn a_limit_on_money_does_not_start_a_sub_agent_whose_own_model_has_no_known_price() {
    let server = server(HELPED).await;
    let setup = Setup::at(Wire::Anthropic, &server)
        .with("MAJORDOMO_PROVIDERS_WORK_BASE_URL", "http://work.invalid/v1")
        .with("MAJORDOMO_PROVIDERS_WORK_PROXY", &server.host())
        .with("MAJORDOMO_PROVIDERS_WORK_KEY_ENV", "WORK_KEY")
        .with("WORK_KEY", KEY);
    with_own_model(&setup, "work/unheard-of");
    let limited = ["run", "-m", "anthropic/claude-haiku-4-5", "--max-cost", "1", "Go"];
    setup.run(&limited).await.exits(0);
    assert_eq!(heard::of(&server, "Help").len(), 0, "nothing was asked of it");
    let told = heard::results(&heard::of(&server, "Go")[1]);
    assert!(told.iter().all(|(_, told)| told.contains("no price is known for work/unheard-of")), "{told:?}");
    let ran = setup.run(&[&limited[..], &["--set", "grant.unknown_price=allow"]].concat()).await.exits(0);
    assert_eq!(heard::of(&server, "Help").len(), 2, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("note: no price is known for work/unheard-of").count(), 1, "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_sub_agents_own_model_is_said_once() {
    let server = server(HELPED).await;
    let setup = Setup::at(Wire::Anthropic, &server);
    with_own_model(&setup, "anthropic/claude-sonnet-4-5");
    let ran = setup.run(&["run", "-m", "anthropic/claude-haiku-5-5", "Go"]).await.exits(0);
    assert_eq!(heard::of(&server, "Help").len(), 2, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("claude-sonnet-4-5 end").count(), 1, "{}", ran.stderr);
}

/// A server whose first answer to `Go` goes wrong, and whose others are good.
async fn first(turn: Turn) -> ModelServer {
    ModelServer::start(move |request| match (request.attempt, request.first_words.as_str()) {
        (1, "Go") => turn.clone(),
        _ => Turn::text("All is well."),
    })
    .await
}

// A request whose answer is lost is booked by what is known of it, and that is called an estimate wherever it is shown.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_reserved_for_a_lost_answer_is_an_estimate_everywhere() {
    for (wire, model) in [(Wire::Anthropic, "anthropic/claude-sonnet-4-5"), (Wire::OpenAi, "openai/gpt-5")] {
        let server = first(Turn::text("This sentence goes on and on until").fault(Fault::ResetAfter(500))).await;
        let setup = Setup::at(wire, &server);
        let frames = setup.run(&["run", "-m", model, "--jsonl", "Go"]).await.exits(0).frames();
        let usage = of_type(&frames, "usage");
        assert_eq!(usage.last().expect("a usage frame")["estimated"], true);
        let done = frames.last().expect("a last frame");
        for part in ["self", "tree"] {
            let used = &done["usage"][part];
            let (all, estimated) = (&used["counted_tokens"], used["estimated_tokens"].as_u64().expect("a number"));
            assert!(estimated > 1000 && estimated < all.as_u64().expect("a number"), "{used}");
            // The prompt and what had come of the answer; the longest answer that was reserved is over 60 000 tokens.
            assert!(estimated < 5000, "{used}");
        }
        let listed = setup.run(&["thread", "ls", "--json"]).await.exits(0).json();
        assert_eq!(listed[0]["tree"]["estimated"], true, "{listed}");
        assert_eq!(listed[0]["tree"]["tokens"], done["usage"]["tree"]["counted_tokens"], "{listed}");
        let table = setup.run(&["thread", "ls"]).await.exits(0).stdout;
        assert!(table.contains(" ~$0."), "{table}");
        let ran = setup.run(&["run", "-m", model, "--json", "Go on"]).await.exits(0);
        assert!(
            ran.json()["usage"]["tree"]["estimated_tokens"].is_null(),
            "the second run lost nothing: {}",
            ran.stdout
        );
        assert!(!ran.stderr.contains('~'), "{}", ran.stderr);
    }
}

// Where the provider has said what a lost answer used, that is booked, and it is no estimate.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_whose_bill_had_come_is_settled() {
    // The last event is missing, the one before it holds the figures: 15 tokens for each of the two answers.
    let server = first(Turn::text("This sentence goes on and on until").fault(Fault::Unclosed)).await;
    let setup = Setup::at(Wire::Anthropic, &server);
    let ran = setup.run(&["run", "-m", "anthropic/claude-sonnet-4-5", "--jsonl", "Go"]).await.exits(0);
    let frames = ran.frames();
    assert_eq!(of_type(&frames, "retry")[0]["kind"], "truncated");
    assert!(of_type(&frames, "usage").iter().all(|frame| frame["estimated"] == false), "{}", ran.stdout);
    let used = &frames.last().expect("a last frame")["usage"]["tree"];
    assert_eq!(used["counted_tokens"], 30, "{used}");
    assert_eq!(used["requests"], 2);
    let listed = setup.run(&["thread", "ls", "--json"]).await.exits(0).json();
    assert_eq!(listed[0]["tree"]["estimated"], false, "{listed}");
    assert_eq!(listed[0]["tree"]["tokens"], 30, "{listed}");
}

// `thread ls` shows what a whole tree cost, not its root alone.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_threads_shows_what_each_tree_cost() {
    let setup = Setup::new();
    let script = r#"
        [[script]]
        on = "Go"
        [[script.reply]]
        tokens_in = 1000
        tokens_out = 0
        calls = [{ name = "spawn_agent", input = { task = "Help" } }]
        [[script.reply]]
        tokens_in = 1000
        tokens_out = 0
        text = "Done."
        [[script]]
        on = "Help"
        [[script.reply]]
        tokens_in = 5000
        tokens_out = 0
        text = "Helped."
    "#;
    let model = setup.scripted(script);
    let price = format!("models.\"{model}\".price={{ input = 10.0, output = 10.0 }}");
    setup.run(&["run", "-m", &model, "--set", &price, "Go"]).await.exits(0);
    let listed = setup.run(&["thread", "ls", "--all", "--json"]).await.exits(0).json();
    let costs: Vec<(u64, u64)> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| (row["cost_microusd"].as_u64().unwrap(), row["tree"]["cost_microusd"].as_u64().unwrap()))
        .collect();
    assert!(costs.contains(&(20_000, 70_000)) && costs.contains(&(50_000, 50_000)), "{listed}");
    let table = setup.run(&["thread", "ls"]).await.exits(0).stdout;
    assert!(table.contains(" $0.07 "), "{table}");
}

// A copy of a conversation holds requests that were paid once.
#[tokio::test(flavor = "multi_thread")]
async fn usage_adds_up_what_was_used_by_model_agent_and_day_and_counts_copies_once() {
    let setup = Setup::new();
    let nothing = setup.run(&["usage"]).await.exits(0);
    assert!(nothing.stdout.is_empty() && nothing.stderr.contains("nothing was used yet"), "{}", nothing.stderr);
    assert_eq!(setup.run(&["usage", "--json"]).await.exits(0).json(), json!([]));
    let script = r#"
        [[script]]
        on = "Go"
        [[script.reply]]
        tokens_in = 1000
        tokens_out = 0
        calls = [{ name = "spawn_agent", input = { task = "Help", agent = "explore" } }]
        [[script.reply]]
        tokens_in = 1000
        tokens_out = 0
        text = "Done."
        [[script.reply]]
        tokens_in = 3000
        tokens_out = 0
        text = "Done again."
        [[script]]
        on = "Help"
        [[script.reply]]
        tokens_in = 5000
        tokens_out = 0
        text = "Helped."
    "#;
    let model = setup.scripted(script);
    let price = format!("models.\"{model}\".price={{ input = 10.0, output = 10.0 }}");
    setup.run(&["run", "-m", &model, "--set", &price, "Go"]).await.exits(0);
    let root = setup.run(&["thread", "ls", "--json"]).await.exits(0).json()[0]["id"].as_str().unwrap().to_owned();
    let used = async |words: &[&str]| {
        let words: Vec<&str> = ["usage", "--json"].iter().chain(words).copied().collect();
        let listed = setup.run(&words).await.exits(0).json();
        let sum = |row: &Value| {
            (row["id"].as_str().unwrap().to_owned(), row["requests"].as_u64(), row["cost_microusd"].as_u64())
        };
        listed.as_array().expect("a list").iter().map(sum).collect::<Vec<_>>()
    };
    assert_eq!(used(&[]).await, [(model.clone(), Some(3), Some(70_000))]);
    let by_agent = [("explore".to_owned(), Some(1), Some(50_000)), ("general".to_owned(), Some(2), Some(20_000))];
    assert_eq!(used(&["--by", "agent"]).await, by_agent);
    assert_eq!(used(&["--by", "agent", "--since", "1h"]).await, by_agent);
    assert_eq!(used(&["--since", "0m"]).await, []);
    let days = used(&["--by", "day"]).await;
    assert!(days.iter().all(|(day, ..)| day.len() == 10 && day.starts_with("20")), "{days:?}");
    assert_eq!(days.iter().filter_map(|(.., cost)| *cost).sum::<u64>(), 70_000);

    // The copy goes on and uses something itself.
    let copy = setup.run(&["thread", "fork", &root]).await.exits(0).stdout.trim().to_owned();
    assert_eq!(used(&[]).await, [(model.clone(), Some(3), Some(70_000))], "nothing was asked for the copy");
    setup.run(&["run", "--thread", &copy, "Again"]).await.exits(0);
    assert_eq!(used(&[]).await, [(model.clone(), Some(4), Some(100_000))]);
    let table = setup.run(&["usage", "--by", "agent"]).await.exits(0).stdout;
    assert!(table.lines().count() == 3 && table.contains("total") && table.contains("$0.10"), "{table}");
    // What was taken over counts where the original is gone.
    setup.run(&["thread", "rm", &root]).await.exits(0);
    assert_eq!(used(&[]).await, [(model, Some(4), Some(100_000))]);
    let wrong = setup.run(&["usage", "--since", "soon"]).await.exits(2);
    assert!(wrong.stderr.contains("such as 7d, not 'soon'"), "{}", wrong.stderr);
}

// What is not known is not shown as nothing, and a part is not shown as the whole.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_threads_says_where_a_price_is_unknown() {
    let server = server(HELPED).await;
    let setup = Setup::at(Wire::Anthropic, &server)
        .with("MAJORDOMO_PROVIDERS_WORK_BASE_URL", "http://work.invalid/v1")
        .with("MAJORDOMO_PROVIDERS_WORK_PROXY", &server.host())
        .with("MAJORDOMO_PROVIDERS_WORK_KEY_ENV", "WORK_KEY")
        .with("WORK_KEY", KEY);
    with_own_model(&setup, "work/unheard-of");
    setup.run(&["run", "-m", "anthropic/claude-haiku-4-5", "Go"]).await.exits(0);
    let listed = setup.run(&["thread", "ls", "--all", "--json"]).await.exits(0).json();
    let trees: Vec<bool> =
        listed.as_array().expect("a list").iter().map(|row| row["tree"]["price_unknown"] == true).collect();
    assert!(trees.len() > 1 && trees.iter().all(|unknown| *unknown), "the root's tree holds its sub-agents: {listed}");
    let table = setup.run(&["thread", "ls", "--all"]).await.exits(0).stdout;
    let (root, children): (Vec<&str>, Vec<&str>) = table.lines().partition(|line| line.contains(" over $0."));
    assert!(root.len() == 1 && children.iter().all(|line| line.contains(" price unknown ")), "{table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_answered_on_this_machine_costs_nothing_and_the_rules_engine_uses_no_tokens() {
    let server = ModelServer::start(|_| Turn::text("All is well.")).await;
    let setup = Setup::at(Wire::OpenAi, &server);
    let last = |stderr: &str| stderr.lines().find(|line| line.starts_with("+ ")).unwrap_or_default().to_owned();
    let ran = setup.run(&["run", "-m", "openai/unheard-of", "Go"]).await.exits(0);
    assert!(last(&ran.stderr).ends_with(" $0.00"), "on this machine: {}", ran.stderr);
    let ran = setup.run(&["run", "--demo", "What urgent emails do I have?"]).await.exits(0);
    assert!(last(&ran.stderr).contains("  0  $0.00"), "the rules engine has no tokens: {}", ran.stderr);
    let table = setup.run(&["thread", "ls"]).await.exits(0).stdout;
    assert_eq!(table.matches(" $0.00 ").count(), 2, "{table}");
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

#[tokio::test(flavor = "multi_thread")]
async fn a_long_prompt_is_counted_at_its_own_price_and_tokens_that_were_thought_are_told_apart() {
    let server = ModelServer::start(|_| Turn::text("done").used(150_000, 1_000)).await;
    let words = ["run", "-m", "anthropic/claude-haiku-5-5", "--json", "Go"];
    let ran = Setup::at(Wire::Anthropic, &server).run(&words).await.exits(0);
    // Above 100 000 tokens: half a dollar and two and a half for a million.
    assert_eq!(ran.json()["usage"]["tree"]["cost_microusd"], 75_000 + 2_500, "{}", ran.stdout);

    let server = ModelServer::start(|_| Turn::text("done").used(2_000, 1_000).cached(6_000).reasoned(700)).await;
    for wire in [Wire::Anthropic, Wire::OpenAi, Wire::Responses, Wire::Gemini] {
        let setup = Setup::knowing(wire, &server.url(wire), KEY);
        let ran = setup.run(&["run", "--json", "Go"]).await.exits(0);
        let tokens = &ran.json()["usage"]["tree"]["tokens"];
        let told = (&tokens["input"], &tokens["cache_read"], &tokens["output"], &tokens["reasoning"]);
        assert_eq!(told, (&json!(2_000), &json!(6_000), &json!(1_000), &json!(700)), "{wire:?}");
        let shown = setup.run(&["run", "Go"]).await.exits(0).stderr;
        assert!(shown.contains("tokens=9000 (75% cached, 700 reasoning)"), "{wire:?}: {shown}");
    }
}
