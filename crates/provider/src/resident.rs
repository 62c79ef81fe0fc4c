//! A model that lives in this process: no wire and no key. It hears the conversation as it was said, and the loop around it does
//! not know the difference. The rules engine is one; a program that embeds the library may bring another, for example a client of
//! its own for a model that is reached in another way.
//!
//! Who lives here is told to the providers (`Providers::with_resident`). Deliberately absent: state. A resident that reads its next
//! words off the conversation alone goes on at the right place in a process that starts again.

use std::pin::Pin;
use std::sync::Arc;

use agent::message::{Message, Offer, Origin, Part};
use agent::model::{Answer, CallError, StopReason, Tokens};
use agent::tools::ToolInfo;
use agent::{CallId, Json};

use crate::conversation::Ask;
use crate::failure::cancelled;
use crate::history::History;

/// A model that lives in this process.
pub trait Resident: std::fmt::Debug + Send + Sync {
    /// What it says next. It may wait, and must not block: it is asked on the thread that drives the agent. The future is dropped
    /// when the request is cancelled. Where `ask.calls_allowed` is false, calls are not wanted and are not run.
    fn answer<'a>(&'a self, heard: &'a Heard, ask: &'a Ask) -> Answering<'a>;
}

/// An answer on its way.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Said, CallError>> + Send + 'a>>;

/// All that a resident knows when it is asked.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools that it may call.
    pub tools: Vec<ToolInfo>,
    /// What was said, in order.
    pub messages: Vec<Message>,
}

/// What a resident says: words, then the tools that it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The words.
    pub text: String,
    /// Tools by name, with their arguments.
    pub calls: Vec<(Arc<str>, Json)>,
    /// What a person may answer. It is kept with the words, and interfaces show it as choices.
    pub offers: Vec<Offer>,
}

impl Said {
    /// Words and nothing else.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// One call and not a word.
    pub fn call(name: impl Into<Arc<str>>, input: Json) -> Self {
        Self { calls: vec![(name.into(), input)], ..Self::default() }
    }
}

/// Lets a resident answer and gives its words the form of any other answer.
pub(crate) async fn speak(
    resident: &dyn Resident,
    heard: &Heard,
    history: &History,
    ask: &Ask,
) -> Result<Answer, CallError> {
    let said = tokio::select! {
        biased;
        () = ask.cancel.cancelled() => return Err(cancelled()),
        said = resident.answer(heard, ask) => said?,
    };
    if let Some(sink) = &ask.deltas {
        for word in said.text.split_inclusive(' ') {
            sink.hear(word);
        }
    }
    let stop = if said.calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
    let mut parts = Vec::with_capacity(said.calls.len() + 2);
    if !said.text.is_empty() {
        parts.push(Part::Text { text: said.text.into(), origin: Origin::Model });
    }
    if !said.offers.is_empty() {
        parts.push(Part::offers(&said.offers));
    }
    parts.extend(said.calls.into_iter().enumerate().map(|(nth, (name, input))| Part::ToolCall {
        id: CallId::new(format!("call_{}_{nth}", history.assistant_messages)),
        name,
        input,
    }));
    // Nothing was read by a language model, so there is nothing to count and nothing to estimate.
    Ok(Answer { parts, stop, tokens: Some(Tokens::default()), malformed: Vec::new(), cut_call: None })
}

#[cfg(test)]
mod tests {
    use agent::model::CallErrorKind;
    use agent::tools::{Reach, Risk};
    use tokio_util::sync::CancellationToken;

    use std::sync::Mutex;

    use super::*;
    use crate::conversation::DeltaSink;
    use crate::models::ModelTable;
    use crate::providers::{Options, Providers};

    /// Calls the tool that it knows, then tells how many messages it has heard.
    #[derive(Debug)]
    struct Parrot;

    impl Resident for Parrot {
        fn answer<'a>(&'a self, heard: &'a Heard, ask: &'a Ask) -> Answering<'a> {
            Box::pin(std::future::ready(match heard.messages.len() {
                0 => Err(crate::failure::failed(CallErrorKind::Rejected, "nobody has spoken")),
                1 if ask.calls_allowed => Ok(Said::call(Arc::clone(&heard.tools[0].name), Json::object())),
                number => Ok(Said::text(format!("{}: heard {number}", heard.system))),
            }))
        }
    }

    fn providers() -> Providers {
        let providers = Providers::new(Vec::new(), ModelTable::builtin(), Options::default()).expect("providers");
        providers.with_resident("builtin/parrot", Arc::new(Parrot))
    }

    fn ask() -> Ask {
        Ask {
            max_tokens: 100,
            window_tokens: Some(8_192),
            may_wait: false,
            calls_allowed: true,
            output_schema: None,
            cancel: CancellationToken::new(),
            deltas: None,
            label: "test".into(),
        }
    }

    fn look() -> ToolInfo {
        ToolInfo {
            name: "look".into(),
            description: "Looks.".into(),
            schema: Json::object(),
            reach: Reach::ReadOnly,
            idempotent: true,
            risk: Risk::Low,
        }
    }

    #[tokio::test]
    async fn a_resident_hears_prompt_tools_and_messages_and_answers_like_any_model() {
        let mut conversation = providers().open("builtin/parrot").expect("it lives here");
        conversation.begin("polite", "", &[look()]);
        conversation.push(&Message::user("hello", Origin::Person));
        let first = conversation.ask(ask()).await.expect("an answer");
        assert_eq!(first.stop, StopReason::ToolUse);
        assert!(
            matches!(&first.parts[..], [Part::ToolCall { id, name, .. }] if id.as_str() == "call_0_0" && &**name == "look")
        );
        conversation.push(&Message { role: agent::message::Role::Assistant, parts: first.parts });
        let words: Arc<Mutex<String>> = Arc::default();
        let sink = DeltaSink::new({
            let words = words.clone();
            move |word| words.lock().expect("no panic").push_str(word)
        });
        let second = conversation.ask(Ask { deltas: Some(sink), ..ask() }).await.expect("an answer");
        assert_eq!(second.parts, [Part::Text { text: "polite: heard 2".into(), origin: Origin::Model }]);
        assert_eq!(second.tokens, Some(Tokens::default()), "no language model read or wrote anything");
        assert_eq!(*words.lock().expect("no panic"), "polite: heard 2");
    }

    #[tokio::test]
    async fn a_conversation_that_begins_again_forgets_what_a_resident_heard() {
        let mut conversation = providers().open("builtin/parrot").expect("it lives here");
        conversation.begin("one", "", &[look()]);
        conversation.push(&Message::user("hello", Origin::Person));
        conversation.begin("two", "", &[look()]);
        let error = conversation.ask(ask()).await.expect_err("nobody has spoken");
        assert_eq!(error.kind, CallErrorKind::Rejected);
        let stopped = ask();
        stopped.cancel.cancel();
        assert_eq!(conversation.ask(stopped).await.expect_err("stopped").kind, CallErrorKind::Cancelled);
    }

    #[test]
    fn a_resident_is_known_by_name_with_room_enough_and_costs_nothing() {
        let model = providers().model("builtin/parrot").expect("a model");
        assert_eq!((model.context_tokens, model.max_output_tokens), (1_000_000, 4_096));
        assert_eq!(model.price.map(|price| price.of(&Tokens { input: 9, output: 9, ..Tokens::default() })), Some(0));
        let error = providers().open("builtin/rules").expect_err("nobody of that name");
        assert_eq!(error.to_string(), "there is no provider `builtin`; known are scripted, builtin/parrot");
    }
}
