use std::path::PathBuf;

use agent::message::{Message, Role};
use agent::model::StopReason;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{Conversation, DeltaSink, ModelTable, Options, Providers};

const SCRIPT: &str = r#"
[[script]]
on = "count"
[[script.reply]]
text = "one two three"
chunk_delay_ms = 100
[[script.reply]]
calls = [{ name = "look", input = { at = "a" } }, { name = "look" }]
delay_ms = 5000
[[script.reply]]
error = "rate_limited"
times = 2
text = "done at last"
tokens_in = 7
tokens_out = 3

[[script]]
[[script.reply]]
text = "again"
repeat = true
"#;

struct Stage {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("replies.toml");
        std::fs::write(&path, SCRIPT).expect("a file");
        Self { _dir: dir, path }
    }

    /// A new process: nothing in memory, the conversation told anew.
    fn open(&self, prompt: &str, assistant_messages: usize) -> Conversation {
        let providers = Providers::new(Vec::new(), ModelTable::builtin(), Options::default()).expect("no providers");
        let mut conversation = providers.open(&format!("scripted/{}", self.path.display())).expect("a script");
        conversation.begin("be brief", "", &[]);
        conversation.push(&Message::user(prompt, Origin::Person));
        for n in 0..assistant_messages {
            let said = Part::Text { text: format!("reply {n}").into(), origin: Origin::Model };
            conversation.push(&Message { role: Role::Assistant, parts: vec![said] });
            conversation.push(&Message::user("go on", Origin::Program));
        }
        conversation
    }
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

#[tokio::test(start_paused = true)]
async fn the_first_words_choose_the_scene_and_the_models_messages_choose_the_reply() {
    // KATA-20
    let stage = Stage::new();
    let first = stage.open("please count", 0).ask(ask()).await.expect("an answer");
    assert!(matches!(&first.parts[..], [Part::Text { text, .. }] if &**text == "one two three"));
    let second = stage.open("please count", 1).ask(ask()).await.expect("an answer");
    assert_eq!(second.stop, StopReason::ToolUse);
    let ids: Vec<_> = second
        .parts
        .iter()
        .map(|part| match part {
            Part::ToolCall { id, input, .. } => (id.as_str().to_owned(), input.text().to_owned()),
            other => panic!("no call: {other:?}"),
        })
        .collect();
    assert_eq!(ids, [("call_1_0".into(), r#"{"at":"a"}"#.into()), ("call_1_1".to_owned(), "{}".to_owned())]);
    for n in [0, 1, 7] {
        let other = stage.open("hello", n).ask(ask()).await.expect("an answer");
        assert!(matches!(&other.parts[..], [Part::Text { text, .. }] if &**text == "again"));
    }
}

#[tokio::test(start_paused = true)]
async fn words_come_one_by_one_and_in_their_time() {
    let (sender, heard) = std::sync::mpsc::channel();
    let sink = DeltaSink::new(move |word| sender.send(word.to_owned()).expect("the receiver is open"));
    let before = Instant::now();
    let answer = Stage::new().open("count", 0).ask(Ask { deltas: Some(sink), ..ask() }).await;
    assert!(answer.is_ok());
    assert_eq!(before.elapsed(), Duration::from_millis(300));
    assert_eq!(heard.iter().collect::<Vec<_>>(), ["one ", "two ", "three"]);
}

#[tokio::test(start_paused = true)]
async fn a_reply_may_fail_a_number_of_times_first() {
    let conversation = Stage::new().open("count", 2);
    for _ in 0..2 {
        let error = conversation.ask(ask()).await.expect_err("scripted to fail");
        assert_eq!(error.kind, CallErrorKind::RateLimited);
        assert_eq!(error.partial.as_deref(), Some("done at last"));
    }
    let answer = conversation.ask(ask()).await.expect("the third attempt");
    assert_eq!(answer.tokens, Some(Tokens { input: 7, output: 3, ..Tokens::default() }));
}

#[tokio::test(start_paused = true)]
async fn past_the_end_the_script_says_what_is_missing() {
    let error = Stage::new().open("count", 3).ask(ask()).await.expect_err("no fourth reply");
    assert_eq!(error.kind, CallErrorKind::Rejected);
    assert!(error.message.ends_with(r#"scene "count", has 3 replies and was asked for number 4"#), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_ends_at_once() {
    let stage = Stage::new();
    let cancel = CancellationToken::new();
    let call = tokio::spawn(stage.open("count", 1).ask(Ask { cancel: cancel.clone(), ..ask() }));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = Instant::now();
    cancel.cancel();
    let error = call.await.expect("no panic").expect_err("cancelled");
    assert_eq!((error.kind, before.elapsed()), (CallErrorKind::Cancelled, Duration::ZERO));
}

#[test]
fn a_misspelt_script_is_refused_with_its_place() {
    let error = Script::parse("x.toml", "[[script]]\n[[script.reply]]\ntxt = 'a'").expect_err("no such field");
    let shown = error.to_string();
    assert!(shown.contains("x.toml") && shown.contains("line 3"), "{shown}");
}
