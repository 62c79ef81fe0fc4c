//! Conversations, event by event, and what is learnt from them: once, and only what the owner decided.

use std::sync::{Arc, Mutex};

use agent::approval::Scope;
use agent::event::Answered;
use agent::model::{StopReason, Tokens};
use agent::tools::ToolResult;
use agent::{InputId, Time};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::household::{Household, Options};
use crate::preferences::log::{Log, LogPage};

/// A conversation of one agent, as the log keeps it.
#[derive(Default)]
struct Talk {
    events: Vec<LogEvent>,
    calls: u32,
}

impl Talk {
    fn add(&mut self, event: Event) {
        let n = self.events.len() as u64 + 1;
        let at = Time(1_768_471_200_000 + n as i64);
        self.events.push(LogEvent { thread: ThreadId::new("20260115-talk"), n, at, event: Arc::new(event) });
    }

    /// The owner speaks.
    fn hear(&mut self) {
        let input = InputId::new(format!("said {}", self.events.len()));
        self.add(Event::run_started(input, 1, "Please"));
    }

    /// A call is made, and has no result yet.
    fn ask(&mut self, tool: &str, input: &Value) -> CallId {
        self.calls += 1;
        let call = CallId::new(format!("call_{}", self.calls));
        let part = Part::ToolCall { id: call.clone(), name: tool.into(), input: Json::of(input) };
        self.add(Event::Answered(Answered {
            turn: 1,
            parts: vec![part],
            stop: StopReason::ToolUse,
            tokens: Tokens::default(),
            counted_tokens: 0,
            cost_microusd: 0,
            estimated: false,
            schema_error: None,
            cut_call: None,
            verdicts: Vec::new(),
            next: None,
        }));
        call
    }

    fn end(&mut self, call: CallId, result: ToolResult) {
        self.add(Event::ToolFinished { call, result, duration_ms: Some(1), told: None });
    }

    /// A call is made and comes to a good end.
    fn call(&mut self, tool: &str, input: &Value, data: &Value) {
        let call = self.ask(tool, input);
        self.end(call, ToolResult { foreign: Some("mail".into()), ..ToolResult::ok(data.to_string()) });
    }

    fn resolve(&mut self, call: &CallId, input: Option<&str>, resolution: Resolution) {
        let approval = ApprovalId::new(format!("20260115-talk/{call}"));
        let input = input.map(InputId::new);
        self.add(Event::ApprovalResolved { approval, call: call.clone(), input, resolution });
    }

    fn offer(&mut self) {
        let slots: Vec<Value> = SLOTS.iter().map(|start| json!({ "start": start })).collect();
        self.call("calendar_free", &json!({}), &json!({ "suggestedSlots": slots }));
    }

    fn propose(&mut self, start: &str) {
        self.call(
            "calendar_propose",
            &json!({ "start": start, "attendees": ["Ana <ana@a.example>"] }),
            &json!({ "start": start }),
        );
    }

    fn feedback(&mut self) {
        let data = json!({ "emailId": "m", "from": "ana@a.example", "was": "urgent", "said": "not urgent" });
        self.call("mail_feedback", &json!({ "id": "m", "urgent": false }), &data);
    }

    /// What was decided, in a few words each.
    fn decided(&self) -> Vec<String> {
        let told = |(_, decision): &(String, Decision)| {
            let Decision { kind, subject, choice, .. } = decision;
            format!("{} {subject} {choice}", kind.as_str()).replace("  ", " ")
        };
        witness(&self.events).decisions.iter().map(told).collect()
    }
}

const SLOTS: [&str; 2] = ["2026-01-16T09:00:00+01:00", "2026-01-16T14:00:00+01:00"];

#[test]
fn a_time_is_chosen_where_the_owner_spoke_after_it_was_offered() {
    let mut talk = Talk::default();
    talk.hear();
    talk.offer();
    talk.propose(SLOTS[0]);
    assert!(talk.decided().is_empty(), "an agent that takes one itself decides nothing for the owner");
    talk.hear();
    talk.propose("2026-01-16T16:00:00+01:00");
    assert!(talk.decided().is_empty(), "what was not offered is not chosen out of anything");
    talk.propose(SLOTS[1]);
    assert_eq!(talk.decided(), ["slot_chosen meeting 2026-01-16T14:00:00+01:00"]);
    let (_, chosen) = &witness(&talk.events).decisions[0];
    assert_eq!((&chosen.context["offered"], &chosen.context["with"]), (&json!(SLOTS), &json!("ana@a.example")));
}

#[test]
fn a_result_is_opened_where_the_owner_asked_for_it() {
    let mut talk = Talk::default();
    talk.hear();
    talk.call(
        "notes_search",
        &json!({ "query": "roof" }),
        &json!({ "results": [{ "path": "A/a.md" }, { "path": "B/b.md" }] }),
    );
    talk.call("notes_read", &json!({ "path": "A/a.md" }), &json!({ "path": "A/a.md" }));
    assert!(talk.decided().is_empty());
    talk.hear();
    talk.call("notes_read", &json!({ "path": "B/b.md" }), &json!({ "path": "B/b.md" }));
    talk.call("notes_read", &json!({ "path": "C/c.md" }), &json!({ "path": "C/c.md" }));
    assert_eq!(talk.decided(), ["opened note B/b.md"]);
    talk.call("mail_list", &json!({ "query": "roof" }), &json!({ "mails": [{ "emailId": "m1" }] }));
    talk.hear();
    talk.call("mail_read", &json!({ "id": "m1" }), &json!({ "emailId": "m1", "from": "Ana <ana@a.example>" }));
    let seen = witness(&talk.events).decisions;
    assert_eq!((&*seen[1].1.choice, &seen[1].1.context["from"]), ("m1", &json!("ana@a.example")));
}

// A mail that says "mark me as important" is read, and that is not the owner's wish.
#[test]
fn a_word_about_a_mail_counts_only_before_a_strangers_words_were_read() {
    let mut talk = Talk::default();
    talk.hear();
    talk.call("mail_read", &json!({ "id": "m" }), &json!({ "emailId": "m", "from": "eve@e.example" }));
    talk.feedback();
    assert!(talk.decided().is_empty());
    talk.hear();
    talk.feedback();
    assert_eq!(talk.decided(), ["retriage not urgent"]);
}

#[test]
fn consent_counts_once_its_call_is_done_and_a_refusal_at_once() {
    let allowed = |input: Option<Json>| Resolution::Allowed { scope: Scope::Once, digest: "d".into(), input };
    let mut talk = Talk::default();
    talk.hear();
    let call = talk.ask("mail_flag", &json!({ "id": "m", "flag": "seen" }));
    talk.resolve(&call, Some("desk"), allowed(Some(Json::of(&json!({ "id": "m", "flag": "flagged" })))));
    assert!(talk.decided().is_empty());
    talk.end(call, ToolResult::ok("{}"));
    assert_eq!(talk.decided(), ["approve mail_flag flagged"], "what a person put in its place was agreed to");
    let call = talk.ask("mail_flag", &json!({ "id": "m", "flag": "seen" }));
    talk.resolve(&call, Some("desk"), allowed(None));
    talk.end(call, ToolResult::error("the disk is full"));
    let call = talk.ask("mail_flag", &json!({ "id": "m", "flag": "seen" }));
    talk.resolve(&call, None, Resolution::Expired { rule: "r".into() });
    let call = talk.ask("prefs_apply", &json!({ "key": "meeting.part_of_day" }));
    talk.resolve(&call, Some("desk"), Resolution::Denied { reason: None });
    let call = talk.ask("run_command", &json!({ "command": "ls" }));
    talk.resolve(&call, Some("desk"), Resolution::Denied { reason: None });
    assert_eq!(talk.decided().len(), 1, "failed, expired, about habits, and not the household's");
    let call = talk.ask("mail_flag", &json!({ "id": "m", "flag": "seen" }));
    talk.resolve(&call, Some("desk"), Resolution::Denied { reason: None });
    assert_eq!(talk.decided()[1], "deny mail_flag seen");
}

#[test]
fn a_draft_that_is_changed_by_hand_or_by_wish_teaches_how_it_should_have_been() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = Arc::new(Growing::default());
    let kept: Arc<dyn Log> = Arc::<Growing>::clone(&log);
    let household =
        Household::open(Options { log: Some(kept), ..Options::in_folder(folder.path()) }).expect("a household");
    let call = |tool: &str, args: &Value| crate::tools::test_calls::call(&household, tool, args).expect(tool);
    let cases = || {
        let why = crate::tools::test_calls::call(&household, "prefs_explain", &json!({ "key": "draft.sign_off.en" }));
        why.map_or(0, |why| why["cases"].as_u64().expect("a number"))
    };
    let body = |end: &str| format!("Hi Ana,\n\nThank you for the plan, it is fine with me.\n\n{end}");
    let (mut talk, to) = (Talk::default(), "Ana Bell <ana@a.example>");
    let write = |talk: &mut Talk, tool: &str, args: Value| {
        let data = call(tool, &args);
        talk.call(tool, &args, &data);
        *log.0.lock().expect("nobody fell over") = talk.events.clone();
        data["draftId"].as_str().expect("an id").to_owned()
    };
    talk.hear();
    let args = json!({ "to": [to], "subject": "Plan", "body": body("Kind regards\nAlex") });
    let id = write(&mut talk, "draft_create", args.clone());
    assert_eq!(cases(), 0, "nobody has changed it");
    let path = folder.path().join(format!("mail/.Drafts/cur/{id}:2,DS"));
    let file = std::fs::read_to_string(&path).expect("a draft");
    std::fs::write(&path, file.replace("Kind regards", "Best,")).expect("changed by hand");
    assert_eq!((cases(), cases()), (1, 1), "a change counts once");

    // By another wish of the owner's.
    let id = write(&mut talk, "draft_create", args.clone());
    write(&mut talk, "draft_update", json!({ "id": id, "body": body("Yours,\nAlex") }));
    assert_eq!(cases(), 1, "an agent that thinks again decides nothing");
    talk.hear();
    write(&mut talk, "draft_update", json!({ "id": id, "body": body("Best,\nAlex") }));
    assert_eq!(cases(), 2);

    // Sent by a mail program, under another name and with another end.
    let id = write(&mut talk, "draft_create", args);
    let draft = folder.path().join(format!("mail/.Drafts/cur/{id}:2,DS"));
    let file = std::fs::read_to_string(&draft).expect("a draft").replace("Kind regards", "Best,");
    std::fs::create_dir_all(folder.path().join("mail/.Sent/cur")).expect("a folder");
    std::fs::write(folder.path().join("mail/.Sent/cur/1768500000.M1:2,S"), file).expect("sent");
    std::fs::remove_file(draft).expect("gone from the drafts");
    assert_eq!(cases(), 3);
}

/// A log that grows.
#[derive(Default)]
struct Growing(Mutex<Vec<LogEvent>>);

impl Log for Growing {
    fn since(&self, position: u64) -> Result<LogPage, String> {
        let events = self.0.lock().expect("nobody fell over").clone();
        let new = events.len() as u64;
        let families = if new > position { vec![events] } else { Vec::new() };
        Ok(LogPage { families, position: new })
    }
}

/// What may happen next in a conversation.
#[derive(Clone, Copy, Debug)]
enum Step {
    Hear,
    Offer,
    Propose(usize),
    Stranger,
    Feedback,
    Failed,
    Refused,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => Just(Step::Hear),
        2 => Just(Step::Offer),
        2 => (0..SLOTS.len()).prop_map(Step::Propose),
        1 => Just(Step::Stranger),
        3 => Just(Step::Feedback),
        1 => Just(Step::Failed),
        1 => Just(Step::Refused),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// However often and wherever in between the log is read, and however often it is read anew after a crash: each decision is
    /// written down once, and only decisions are.
    #[test]
    fn each_decision_is_written_down_once(
        steps in prop::collection::vec(step(), 0..40),
        looks in prop::collection::vec(0_usize..200, 0..6),
    ) {
        let mut talk = Talk::default();
        let (mut offered, mut spoken, mut is_swayed) = (None, 0, false);
        let mut expected = 0_u32;
        for step in steps {
            match step {
                Step::Hear => {
                    talk.hear();
                    (spoken, is_swayed) = (spoken + 1, false);
                }
                Step::Offer => {
                    talk.offer();
                    (offered, is_swayed) = (Some(spoken), true);
                }
                Step::Propose(number) => {
                    talk.propose(SLOTS[number]);
                    expected += u32::from(offered.is_some_and(|offered| offered < spoken));
                    is_swayed = true;
                }
                Step::Stranger => {
                    talk.call("mail_read", &json!({ "id": "m" }), &json!({ "emailId": "m" }));
                    is_swayed = true;
                }
                Step::Feedback => {
                    talk.feedback();
                    expected += u32::from(!is_swayed);
                    is_swayed = true;
                }
                Step::Failed => {
                    let call = talk.ask("mail_feedback", &json!({ "id": "m", "urgent": true }));
                    talk.end(call, ToolResult::error("there is no mail `m`"));
                }
                Step::Refused => {
                    let call = talk.ask("mail_feedback", &json!({ "id": "m", "urgent": true }));
                    let result = ToolResult::error("a rule denies it");
                    talk.add(Event::ToolFinished { call, result, duration_ms: None, told: None });
                }
            }
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = Arc::new(Growing::default());
        let open = || {
            let index = Some(folder.path().join("household.db"));
            let log: Arc<dyn Log> = Arc::<Growing>::clone(&log);
            Household::open(Options { index, log: Some(log), ..Options::default() }).expect("a household")
        };
        let mut ends: Vec<usize> = looks.into_iter().map(|end| end.min(talk.events.len())).collect();
        ends.sort_unstable();
        ends.push(talk.events.len());
        for end in ends {
            *log.0.lock().expect("nobody fell over") = talk.events[..end].to_vec();
            // Another process each time.
            open().catch_up().expect("the log is read");
        }
        let household = open();
        // A process that lost its place reads everything again.
        household.index().lock().execute("DELETE FROM pref_log", []).expect("forgotten");
        household.catch_up().expect("the log is read");
        let count = "SELECT count(*) FROM pref_decision";
        let count = household.index().lock().query_row(count, [], |row| row.get::<_, u32>(0));
        prop_assert_eq!(count.expect("a count"), expected);
    }
}
