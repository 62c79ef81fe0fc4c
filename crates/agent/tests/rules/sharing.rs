//! What a parent may share with a child, hear of it, and have from it a second time (OPTA-46, OPTA-47, OPTA-48).

use majordomo_agent::message::{Message, Part};
use majordomo_agent::policy::Policy;
use majordomo_agent::{Input, Outcome, ThreadId, Usage};

use super::room::Room;

const LOOK: (&str, &str) = ("spawn_agent", r#"{"task":"look","agent":"explore"}"#);

fn reusing() -> Room {
    Room::new(Policy { reuse_reports: true, ..Policy::default() })
}

fn newest_words(room: &Room) -> String {
    room.thread.talk.messages().last().map(|message| message.text()).unwrap_or_default()
}

// OPTA-46
#[test]
fn a_parent_hears_the_newest_words_of_a_child_that_it_asked_to_hear() {
    let mut room = Room::new(Policy::default());
    room.calls(&[
        ("spawn_agent", r#"{"task":"a","background":true,"progress":true}"#),
        ("spawn_agent", r#"{"task":"b","background":true}"#),
    ]);
    for (child, text) in [("r.1", "first"), ("r.1", "second"), ("r.2", "unheard"), ("r.9", "nobody")] {
        room.hears(Input::ChildSaid { child: ThreadId::new(child), text: text.into() });
    }
    room.calls(&[("list_agents", "{}")]);
    let words = newest_words(&room);
    assert!(words.contains("general (r.1) is still working and says:\nsecond"), "{words}");
    assert!(!words.contains("first") && !words.contains("unheard") && !words.contains("nobody"), "{words}");
    room.calls(&[("list_agents", "{}")]);
    assert!(!newest_words(&room).contains("second"), "it is told once");
}

// OPTA-46
#[test]
fn words_on_the_way_give_no_turn_of_their_own_and_are_dropped_by_the_report() {
    let mut room = Room::new(Policy::default());
    room.calls(&[("spawn_agent", r#"{"task":"a","background":true,"progress":true}"#)]);
    room.says("I wait");
    let turns = room.thread.turns;
    room.hears(Input::ChildSaid { child: ThreadId::new("r.1"), text: "on my way".into() });
    assert_eq!(room.thread.turns, turns);
    room.reports("r.1", Outcome::Completed, Usage::default());
    let words = newest_words(&room);
    assert!(words.contains("Background sub-agent finished") && !words.contains("on my way"), "{words}");
}

// OPTA-47
#[test]
fn a_child_is_shown_the_messages_that_its_parent_chose_and_no_others() {
    let mut room = Room::new(Policy::default());
    room.calls(&[("read_file", r#"{"path":"a"}"#)]);
    room.returns("c1", "SECRET RESULT");
    room.calls(&[("spawn_agent", r#"{"task":"a","messages":1}"#), ("spawn_agent", r#"{"task":"b"}"#)]);
    let briefs: Vec<String> = room.spawned().iter().map(|spawned| spawned.brief.text()).collect();
    assert!(briefs[0].contains("user said:\nGo"), "{}", briefs[0]);
    assert!(!briefs[0].contains("SECRET"), "results of tools are not messages: {}", briefs[0]);
    assert_eq!(briefs[1], "b");
}

// OPTA-47
#[test]
fn files_are_named_in_the_brief_for_those_who_may_read_them() {
    let mut room = Room::new(Policy::default());
    room.calls(&[("spawn_agent", r#"{"task":"a","files":["x.txt","y.txt"]}"#)]);
    let files: Vec<&str> = room.spawned()[0].brief.files.iter().map(AsRef::as_ref).collect();
    assert_eq!(files, ["x.txt", "y.txt"]);
}

// OPTA-48
#[test]
fn the_same_reading_task_is_answered_with_the_report_that_it_had() {
    let mut room = reusing();
    room.calls(&[LOOK]);
    room.reports("r.1", Outcome::Completed, Usage::default());
    room.calls(&[
        LOOK,
        ("delegate_task", r#"{"subtasks":[{"task":"look","agent":"explore"},{"task":"other","agent":"explore"}]}"#),
    ]);
    assert_eq!(room.spawned().len(), 2, "only the new task has a child");
    let (text, is_error) = room.results()[1];
    assert!(text.starts_with("The same task was done before in this run") && text.contains("(r.1)"), "{text}");
    assert!(!is_error);
    room.reports("r.2", Outcome::Completed, Usage::default());
    let (text, _) = room.results()[2];
    assert!(text.starts_with("2 of 2 subtasks brought a result"), "{text}");
}

// OPTA-48
#[test]
fn what_failed_what_may_write_and_what_was_written_since_is_done_again() {
    let mut room = reusing();
    room.calls(&[LOOK]);
    room.reports("r.1", Outcome::Error, Usage::default());
    room.calls(&[LOOK]);
    assert_eq!(room.spawned().len(), 2, "an error is no answer");
    room.reports("r.2", Outcome::Completed, Usage::default());
    room.calls(&[("edit_file", r#"{"path":"a"}"#)]);
    let call = room.thread.calls.slots()[0].call.clone();
    room.returns(call.as_str(), "written");
    room.calls(&[LOOK]);
    assert_eq!(room.spawned().len(), 3, "something may have changed");
    room.reports("r.3", Outcome::Completed, Usage::default());
    room.calls(&[("spawn_agent", r#"{"task":"write"}"#)]);
    room.reports("r.4", Outcome::Completed, Usage::default());
    room.calls(&[("spawn_agent", r#"{"task":"write"}"#)]);
    assert_eq!(room.spawned().len(), 5, "who may write is asked again");
    room.reports("r.5", Outcome::Completed, Usage::default());
    room.calls(&[LOOK]);
    assert_eq!(room.spawned().len(), 6, "and may have changed something");
}

// OPTA-48
#[test]
fn nothing_is_recalled_beside_a_writer_nor_from_before_it_ended() {
    let mut room = reusing();
    room.calls(&[LOOK]);
    room.reports("r.1", Outcome::Completed, Usage::default());
    room.calls(&[("spawn_agent", r#"{"task":"write","background":true}"#), LOOK]);
    assert_eq!(room.spawned().len(), 3, "a writer lives: the reader looks again");
    room.reports("r.2", Outcome::Completed, Usage::default());
    room.reports("r.3", Outcome::Completed, Usage::default());
    room.calls(&[LOOK]);
    assert_eq!(room.spawned().len(), 4, "the reader began before the writer was done");
}

#[test]
fn a_message_has_the_words_of_its_texts_alone() {
    let part = Part::ToolResult { id: majordomo_agent::CallId::new("c"), content: "result".into(), is_error: false };
    let message = Message { role: majordomo_agent::message::Role::User, parts: vec![part] };
    assert_eq!(message.text(), "");
}
