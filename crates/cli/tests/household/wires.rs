//! The same over real wires: what a provider is shown of the butler and of a specialist, and that the same tools are used.

use agent::Event;
use provider::Wire;
use serde_json::Value;
use testkit::model_server::{KEY, ModelServer, Request, Turn};

use crate::world;

/// Both wires, with the provider whose variables carry address and key.
const WIRES: [(Wire, &str, &str); 2] =
    [(Wire::Anthropic, "ANTHROPIC", "anthropic/claude-sonnet-4-5"), (Wire::OpenAi, "OPENAI", "openai/gpt-5")];

fn tools(request: &Request) -> Vec<String> {
    let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).expect("a name").to_owned();
    request.body["tools"].as_array().expect("tools").iter().map(name).collect()
}

// ORION-21: two at the same time, and nothing of the one in any request of the other.
#[test]
fn specialists_that_work_at_the_same_time_share_nothing() {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().expect("a runtime");
    let order = |intent: &str, task: &str| {
        serde_json::json!({"intent": intent, "task": task, "delegationReasoning": "it is theirs"}).to_string()
    };
    let orders =
        [order("delegate_search", "Find the secret of Ann"), order("delegate_triage", "Find the secret of Bob")];
    // Neither goes on before the other has begun.
    let both = std::sync::Barrier::new(2);
    let server = tokio.block_on(ModelServer::start(move |request: &Request| {
        let who = ["Ann", "Bob"]
            .into_iter()
            .find(|who| request.first_words.starts_with(&format!("Find the secret of {who}")));
        match (who, request.assistant_messages) {
            (Some(who), 0) => {
                tokio::task::block_in_place(|| both.wait());
                let tool = if who == "Ann" { "notes_search" } else { "mail_list" };
                let arguments = if who == "Ann" { r#"{"query":"contract"}"# } else { "{}" };
                Turn::text(&format!("I know what {who} hides.")).call(&format!("call_{who}"), tool, arguments)
            }
            (Some(who), _) => Turn::text(&format!("The secret of {who} is out.")),
            (None, 0) => Turn::default().call("call_1", "delegate", &orders[0]).call("call_2", "delegate", &orders[1]),
            (None, _) => Turn::text("Both are out."),
        }
    }));
    let world = world(&[]);
    let words = ["run", "--demo", "-m", WIRES[0].2, "--set", "policy.max_concurrent=2", "Two secrets, please"];
    let mut command = world.command(&words);
    command.env("ANTHROPIC_BASE_URL", server.url(Wire::Anthropic)).env("ANTHROPIC_API_KEY", KEY);
    assert_eq!(world.launch(command).done().answer(0), "Both are out.");
    for (who, other) in [("Ann", "Bob"), ("Bob", "Ann")] {
        let requests = server.requests();
        let own: Vec<&Request> = requests
            .iter()
            .filter(|request| request.first_words.starts_with(&format!("Find the secret of {who}")))
            .collect();
        assert_eq!(own.len(), 2, "{who}");
        for request in own {
            let text = String::from_utf8_lossy(&request.raw);
            assert!(text.contains(who) && !text.contains(other), "{who} was shown something of {other}: {text}");
        }
    }
}

#[test]
fn a_provider_is_shown_one_verb_for_the_butler_and_nine_tools_for_triage() {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    for (wire, variables, model) in WIRES {
        let order = r#"{"intent":"delegate_triage","task":"See to it","delegationReasoning":"it is the inbox"}"#;
        let server = tokio.block_on(ModelServer::start(move |request: &Request| {
            let is_triage = request.first_words.starts_with("See to it");
            match (is_triage, request.assistant_messages) {
                (true, 0) => Turn::default().call("call_t", "mail_triage", r#"{"only":"urgent"}"#),
                (true, _) => Turn::text("The contract is urgent."),
                (false, 0) => Turn::default().call("call_b", "delegate", order),
                (false, _) => Turn::text("One mail needs you today."),
            }
        }));
        let world = world(&[]);
        let mut command = world.command(&["run", "--demo", "-m", model, "What urgent emails do I have?"]);
        command.env(format!("{variables}_BASE_URL"), server.url(wire)).env(format!("{variables}_API_KEY"), KEY);
        let done = world.launch(command).done();
        assert_eq!(done.answer(0), "One mail needs you today.");
        assert_eq!(server.refusals(), [""; 0]);
        let requests = server.requests();
        let [butler, triage, ..] = &requests[..] else { panic!("four requests") };
        assert_eq!(tools(butler), ["delegate"]);
        let expected = [
            "contacts_find",
            "household_find",
            "mail_feedback",
            "mail_flag",
            "mail_list",
            "mail_read",
            "mail_thread",
            "mail_triage",
            "people_about",
        ];
        let mut shown = tools(triage);
        shown.sort_unstable();
        assert_eq!(shown, expected);
        assert!(triage.first_words.contains(r#""originalUserMessage":"What urgent emails do I have?""#));
        // The day is the household's, not ours.
        assert!(String::from_utf8_lossy(triage.raw.as_ref()).contains("Today: 2026-01-15"));
        let read = |event: &Event| match event {
            Event::ToolFinished { result, .. } => Some(result.content.contains("msg_urgent_001")),
            _ => None,
        };
        let read: Vec<bool> = world.log().iter().filter_map(|record| read(&record.event)).collect();
        assert_eq!(read, [true, true], "what the tool found reaches triage, and the butler with it");
    }
}
