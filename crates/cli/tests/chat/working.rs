//! A chat works on the tasks of its folder while it is open.

use serde_json::Value;
use testkit::scenes::{call, calls, says, scene};
use testkit::world::until;

use crate::room::{Chat, world};

#[test]
fn a_chat_takes_the_tasks_of_its_folder_and_no_others() {
    let done = calls(&[call("task_update", "status = \"completed\", note = \"watered\"")]);
    let world = world(&[
        scene("Hello", &[says("Good day.")]),
        scene("Title: ", &[done.clone(), says("done"), done, says("done")]),
    ]);
    world.call(&["task", "add", "Elsewhere", "--assign", "new:general", "--board", "other"]).answer(0);
    world.call(&["task", "add", "Water", "--assign", "new:general"]).answer(0);
    let shown = |words: &[&str]| -> Value {
        let shown = world.call(&[&["task", "show", "t1", "--json"], words].concat());
        serde_json::from_str(shown.answer(0)).expect("JSON")
    };
    assert_eq!(shown(&[])["status"], "pending");
    let mut chat = Chat::open(&world, &[], (80, 24));
    until("its task to be completed", || (shown(&[])["status"] == "completed").then_some(()));
    // One that is added meanwhile is taken, too, and the conversation goes on beside it.
    chat.say("Hello");
    chat.until_shown("Good day.");
    world.call(&["task", "reopen", "t1"]).answer(0);
    until("its agent to be asked again", || (shown(&[])["note_count"] == 2).then_some(()));
    assert_eq!(chat.leave(), Some(0));
    let other = shown(&["--board", "other"]);
    assert_eq!((&other["status"], &other["thread"]), (&"pending".into(), &Value::Null), "{other}");
}
