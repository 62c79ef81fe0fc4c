//! The same over real wires: what a provider is shown of the butler and of a specialist, and that the same tools are used.

use agent::Event;
use provider::Wire;
use testkit::model_server::{ModelServer, Request, Turn};
use testkit::world::{Done, World};

use crate::world;

/// A model that is asked on a wire.
fn model(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "anthropic/claude-sonnet-5-5",
        Wire::OpenAi => "openai/gpt-4o",
        Wire::Responses => "openai/gpt-6.1-sol",
        Wire::Gemini => "gemini/gemini-3.8-flash",
        Wire::Ollama => "ollama/qwen3:8b",
    }
}

/// What the butler says where the server is the provider.
fn ask(world: &World, wire: Wire, server: &ModelServer, words: &[&str]) -> Done {
    let mut command = world.command(&[&["run", "--demo", "-m", model(wire)], words].concat());
    command.envs(server.variables(wire));
    world.launch(command).done()
}

// ORION-21: two at the same time, and nothing of the one in any request of the other.
#[test]
fn specialists_that_work_at_the_same_time_share_nothing() {
    for wire in Wire::ALL {
        specialists_share_nothing(wire);
    }
}

fn specialists_share_nothing(wire: Wire) {
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
    let done = ask(&world, wire, &server, &["--set", "policy.max_concurrent=2", "Two secrets, please"]);
    assert_eq!(done.answer(0), "Both are out.", "{wire:?}");
    assert_eq!(server.refusals(), [""; 0], "{wire:?}");
    for (who, other) in [("Ann", "Bob"), ("Bob", "Ann")] {
        let requests = server.requests();
        let own: Vec<&Request> = requests
            .iter()
            .filter(|request| request.first_words.starts_with(&format!("Find the secret of {who}")))
            .collect();
        assert_eq!(own.len(), 2, "{wire:?} {who}");
        for request in own {
            let text = String::from_utf8_lossy(&request.raw);
            assert!(
                text.contains(who) && !text.contains(other),
                "{wire:?}: {who} was shown something of {other}: {text}"
            );
        }
    }
}

#[test]
fn a_provider_is_shown_one_verb_for_the_butler_and_nine_tools_for_triage() {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    for wire in Wire::ALL {
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
        let done = ask(&world, wire, &server, &["What urgent emails do I have?"]);
        assert_eq!(done.answer(0), "One mail needs you today.", "{wire:?}");
        assert_eq!(server.refusals(), [""; 0], "{wire:?}");
        let requests = server.requests();
        let [butler, triage, ..] = &requests[..] else { panic!("four requests") };
        assert_eq!(butler.tools(), ["delegate"]);
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
        let mut shown = triage.tools();
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
