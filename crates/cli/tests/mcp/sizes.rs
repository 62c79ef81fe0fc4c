//! What a server with many tools costs in each request: next to nothing.

use provider::Wire;
use testkit::model_server::{KEY, ModelServer, Request, Turn};

use crate::{configure, world};

/// A model that finds the right one of 300 tools and calls it, itself and by a sub-agent.
fn turn(request: &Request) -> Turn {
    let is_child = request.first_words.contains("from below");
    match (request.assistant_messages, is_child) {
        (0, _) => Turn::default().call("a", "find_tools", r#"{"query": "yearly report 217"}"#),
        (1, _) => Turn::default().call("b", "call_tool", r#"{"name": "kit__report_217", "arguments": {"text": "x"}}"#),
        (2, false) => Turn::default().call("c", "spawn_agent", r#"{"task": "Report from below"}"#),
        _ => Turn::text("Done."),
    }
}

#[test]
fn with_three_hundred_tools_the_first_request_of_a_root_and_of_a_leaf_stay_small() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let server = runtime.block_on(ModelServer::start(turn));
    let world = world(&[]);
    configure(&world, "kit", "tools=300", "[[rules]]\ntool = \"kit__*\"\naction = \"allow\"\n");
    let mut command =
        world.command(&["run", "Make report 217", "--jsonl", "--mode", "ask", "--set", "policy.max_depth=1"]);
    command.env("ANTHROPIC_BASE_URL", server.url(Wire::Anthropic)).env("ANTHROPIC_API_KEY", KEY);
    let done = world.launch(command).done();
    done.answer(0);
    assert_eq!(server.refusals(), [""; 0]);
    let requests = server.requests();
    let first = |is_child: bool| {
        let found = requests.iter().find(|request| request.first_words.contains("from below") == is_child);
        found.unwrap_or_else(|| panic!("there is a request: {}", done.out)).raw.len() / 4
    };
    let (root, leaf) = (first(false), first(true));
    println!("first request of a root: {root} tokens, of a leaf: {leaf} tokens");
    assert!(root <= 2_500, "{root} tokens");
    assert!(leaf <= 1_500, "{leaf} tokens");
    assert_eq!(
        done.out.matches("called report_217").count(),
        2,
        "the right one is found and called by both: {}",
        done.out
    );
    let shown: Vec<String> = requests
        .iter()
        .filter(|request| !request.first_words.contains("from below"))
        .map(|request| request.body["tools"].to_string())
        .collect();
    assert!(shown.windows(2).all(|two| two[0] == two[1]), "the tools of the request never change");
}
