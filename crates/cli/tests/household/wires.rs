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

#[test]
fn a_provider_is_shown_one_verb_for_the_butler_and_seven_tools_for_triage() {
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
        let expected =
            ["contacts_find", "mail_feedback", "mail_flag", "mail_list", "mail_read", "mail_thread", "mail_triage"];
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
