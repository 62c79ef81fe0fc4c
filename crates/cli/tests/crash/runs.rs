//! The runs that are killed. Each is the same every time, but for the order in which those who work at once get there.
//!
//! Every command leaves its own word in a file, so that it shows how often it ran.

use testkit::scenes::{call, calls, command, fails, says, scene, spawn, spawn_with, whenever_asked};

/// The task of every root.
pub const TASK: &str = "the whole";
/// Where commands leave their words.
pub const EFFECTS: &str = "effects";
/// What the single agent writes, and where.
pub const WRITTEN: (&str, &str) = ("plan.txt", "first this, then that");

/// A run that can be had again and again.
pub struct Scripted {
    /// What its models say.
    pub scenes: Vec<String>,
    /// What its root answers.
    pub answer: &'static str,
    /// What a person tells the root from outside, once it waits for its children.
    pub steer: Option<&'static str>,
    /// Whether a person is asked about everything but looking, and allows it.
    pub asks: bool,
}

/// One agent that reads, writes a file, and runs a command.
pub fn alone() -> Scripted {
    let (file, text) = WRITTEN;
    let looks = [call("list_dir", "path = \".\""), call("find_files", "pattern = \"*\"")];
    let writes = call("write_file", &format!("path = {file:?}, content = {text:?}"));
    let reads = call("read_file", &format!("path = {file:?}"));
    let scenes = vec![scene(
        TASK,
        &[calls(&looks), calls(&[writes]), calls(&[reads, leaves("alone")]), says("read, written and run")],
    )];
    Scripted { scenes, answer: "read, written and run", steer: None, asks: false }
}

/// Three levels, two abreast, with a side effect on each.
pub fn tree() -> Scripted {
    let scenes = vec![
        scene(
            TASK,
            &[
                calls(&[spawn("take the left"), spawn("take the right"), leaves("root")]),
                says("left and right are back"),
            ],
        ),
        scene(
            "take the left",
            &[calls(&[spawn("dig here"), spawn("dig there")]), calls(&[leaves("left")]), says("left is done")],
        ),
        scene("take the right", &[calls(&[leaves("right")]), says("right is done")]),
        scene("dig here", &[calls(&[leaves("here")]), says("here is nothing")]),
        scene("dig there", &[calls(&[leaves("there")]), says("there is something")]),
    ];
    Scripted { scenes, answer: "left and right are back", steer: None, asks: false }
}

/// Two children in the background: one is told something and goes on, the other fails. A child that has answered when the
/// message reaches it is asked once more, and says the same.
pub fn background() -> Scripted {
    let beside = |task: &str, name: &str| spawn_with(task, &format!(", name = {name:?}, background = true"));
    let tell = call("message_agent", "agent = \"listener\", text = \"look left\"");
    let listens = command(&format!("echo listens >> {EFFECTS}; until [ -e go ]; do sleep 0.02; done"));
    let scenes = vec![
        scene(
            TASK,
            &[
                calls(&[beside("listen to me", "listener"), beside("fail for me", "failing")]),
                calls(&[tell, call("wait_agents", "")]),
                whenever_asked(&says("one came back")),
            ],
        ),
        scene("listen to me", &[calls(&[listens]), whenever_asked(&says("I have listened"))]),
        scene("fail for me", &[fails()]),
    ];
    Scripted { scenes, answer: "one came back", steer: Some("be brief"), asks: false }
}

/// A child that asks before it writes, and a root that asks before it runs a command.
pub fn asking() -> Scripted {
    let (file, text) = WRITTEN;
    let writes = call("write_file", &format!("path = {file:?}, content = {text:?}"));
    let scenes = vec![
        scene(TASK, &[calls(&[spawn("write it down")]), calls(&[leaves("root")]), says("written and run")]),
        scene("write it down", &[calls(&[writes]), says("it is written")]),
    ];
    Scripted { scenes, answer: "written and run", steer: None, asks: true }
}

/// A child that is asked more after its report, twice, the second time beside its parent.
pub fn asked_more() -> Scripted {
    let more =
        |text: &str, arguments: &str| call("message_agent", &format!("agent = \"1\", text = {text:?}{arguments}"));
    let scenes = vec![
        scene(
            TASK,
            &[
                calls(&[spawn("look around")]),
                calls(&[more("and behind it?", "")]),
                calls(&[more("and above?", ", background = true"), call("wait_agents", "")]),
                whenever_asked(&says("all of it is known")),
            ],
        ),
        scene(
            "look around",
            &[
                calls(&[leaves("around")]),
                says("a door"),
                calls(&[leaves("behind")]),
                says("a stair"),
                calls(&[leaves("above")]),
                says("a roof"),
            ],
        ),
    ];
    Scripted { scenes, answer: "all of it is known", steer: None, asks: false }
}

/// A command that leaves its word.
fn leaves(word: &str) -> String {
    command(&format!("echo {word} >> {EFFECTS}"))
}
