//! A program that embeds the library: what it can say on the builder, and what it gets back.

mod approvals;
mod lasting;
mod sent;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{StreamExt, TryStreamExt};
use majordomo::agent::model::CallError;
use majordomo::agent::{Event, InputId, Outcome};
use majordomo::provider::{Answering, Ask, Heard, Resident, Said};
use majordomo::tasks::TaskBoard;
use majordomo::tasks::board::{Actor, Assignee, BoardId, Change, Command, NewAgent, NewTask, Status, TaskId};
use majordomo::tasks::chores::{Scope, TaskChores};
use majordomo::worker::{Chores, Held, Worker};
use majordomo::{
    Agent, Decision, Environment, Error, Limits, Mode, Model, Rule, Staff, StaffBuilder, Tool, Update, Work,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Store, TaskQuery, ThreadQuery};
use testkit::scenes::{call, calls, never_answers, says, scene, spawn, whenever_asked};
use tokio::sync::Notify;

/// A builder that reads nothing from the machine, with a model that plays these scenes.
fn builder(scenes: &[String]) -> StaffBuilder {
    Staff::builder().environment(Environment::Ignored).model(Model::scripted(scenes.concat()))
}

async fn refused(builder: StaffBuilder) -> String {
    match builder.build().await {
        Ok(_) => panic!("it is wrong"),
        Err(error) => error.to_string(),
    }
}

#[derive(Deserialize, JsonSchema)]
struct Switch {
    /// Which lamp.
    lamp: String,
    on: bool,
}

/// Switches lamps, and counts how often.
fn lamps(count: &Arc<AtomicUsize>) -> Tool {
    let count = count.clone();
    Tool::from_fn("switch", "Switches a lamp", move |switch: Switch| {
        let count = count.clone();
        async move {
            if switch.lamp == "moon" {
                return Err("the moon is no lamp".into());
            }
            count.fetch_add(1, Ordering::Relaxed);
            Ok(format!("{} is {}", switch.lamp, if switch.on { "on" } else { "off" }))
        }
    })
}

fn switches(lamp: &str) -> String {
    call("switch", &format!("lamp = {lamp:?}, on = true"))
}

#[tokio::test]
async fn a_task_is_answered_and_nothing_is_left_running() {
    let scenes = [scene("the whole", &[calls(&[spawn("a part")]), says("done")]), scene("a part", &[says("part")])];
    let staff = builder(&scenes).build().await.expect("a staff");
    let report = staff.run("the whole").await.expect("a report");
    assert_eq!((report.outcome, &*report.text, report.tree.children), (Outcome::Completed, "done", 1));
    assert_eq!(&*report.answer().expect("an answer"), "done");
    staff.close().await;
    let error = staff.run("the whole").await.expect_err("it is closed");
    assert!(matches!(error, Error::Closed), "{error}");
}

#[tokio::test]
async fn a_staff_that_is_dropped_ends_its_runs_and_leaves_them_to_be_resumed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let scenes = [scene("Go", &[whenever_asked(&never_answers())])];
    let staff = builder(&scenes).data_folder(folder.path()).build().await.expect("a staff");
    let mut run = staff.stream("Go").await.expect("a run");
    let root = run.root().clone();
    run.next().await.expect("it has begun").expect("the log can be read");
    let runtime = staff.runtime().clone();
    drop(staff);
    assert!(runtime.drives(&root), "a run keeps its staff open");
    drop(run);
    assert!(runtime.is_leaving());
    tokio::time::timeout(Duration::from_secs(20), async {
        while runtime.drives(&root) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("its driver ends");
    runtime.leave().await;

    let later = builder(&scenes).data_folder(folder.path()).build().await.expect("a staff");
    let run = later.session_of(&root).resume().await.expect("it goes on");
    later.session_of(&root).stop(&root, majordomo::Strength::Kill, "enough").await.expect("it is stopped");
    assert_eq!(run.report().await.expect("a report").outcome, Outcome::Cancelled);
    later.close().await;
}

#[tokio::test]
async fn an_answer_is_a_value_of_a_type_and_is_asked_for_again_where_it_is_none() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct City {
        name: String,
        inhabitants: u32,
    }
    let lyon = r#"{"name": "Lyon", "inhabitants": 520000}"#;
    let scenes = [
        scene("city", &[says("Lyon, I think"), says(lyon)]),
        scene("list", &[says(r#"{"answer": ["Lyon", "Nice"]}"#)]),
        scene("never", &[whenever_asked(&says("no"))]),
    ];
    let staff = builder(&scenes).build().await.expect("a staff");
    let city: City = staff.run_as("Which city?").await.expect("a city");
    assert_eq!(city, City { name: "Lyon".into(), inhabitants: 520_000 });
    assert_eq!(staff.run_as::<Vec<String>>("A list").await.expect("a list"), ["Lyon", "Nice"]);
    let Err(Error::Ended(ended)) = staff.run_as::<City>("never").await else { panic!("it never fits") };
    assert_eq!((ended.0.outcome, ended.0.cause.as_deref()), (Outcome::Error, Some("schema")));
    assert!(ended.to_string().starts_with("the run ended without an answer (error): "), "{ended}");
}

#[tokio::test]
async fn a_conversation_asks_for_json_in_one_message_and_for_words_in_the_next() {
    let scenes = [scene("Count", &[says(r#"{"answer": 3}"#), says("three"), says(r#"{"answer": true}"#)])];
    let staff = builder(&scenes).build().await.expect("a staff");
    let session = staff.session();
    assert!(session.id().is_none() && session.history().await.expect("a log").is_empty());
    assert!(matches!(session.resume().await, Err(Error::NotBegun)));
    assert_eq!(session.send_as::<u32>("Count").await.expect("a number"), 3);
    let words = session.send("In words").await.expect("a report");
    assert_eq!((&*words.text, &words.data), ("three", &None));
    assert!(session.send_as::<bool>("Is that all?").await.expect("a word"));
    assert_eq!(session.history().await.expect("a log").len() as u64, session.newest().await.expect("a number"));
    let other = session.send(Work::new("More").agent("plan")).await.expect_err("it has begun");
    assert!(other.to_string().contains("chosen with its first message"), "{other}");
}

#[tokio::test]
async fn two_first_messages_of_one_session_are_one_conversation() {
    let scenes = [scene("", &[says("one"), says("two")])];
    let staff = builder(&scenes).build().await.expect("a staff");
    let session = staff.session();
    let (first, second) = tokio::join!(session.send("a"), session.send("b"));
    let mut texts = [first.expect("a report").text, second.expect("a report").text];
    texts.sort();
    assert_eq!(texts.map(|text| text.to_string()), ["one", "two"]);
}

#[tokio::test]
async fn a_stream_gives_text_before_the_event_that_holds_it_and_the_report_last() {
    let scenes = [scene("Say", &[says("one two three")])];
    let staff = builder(&scenes).build().await.expect("a staff");
    let updates: Vec<Update> = staff.stream("Say").await.expect("a run").try_collect().await.expect("a stream");
    let text: String = updates
        .iter()
        .filter_map(|update| match update {
            Update::Text(piece) => Some(piece.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, "one two three");
    let is_answer = |update: &Update| match update {
        Update::Events(records) => records.iter().any(|record| matches!(*record.event, Event::Answered(_))),
        _ => false,
    };
    let last_text = updates.iter().rposition(|update| matches!(update, Update::Text(_))).expect("text");
    assert!(updates.iter().position(is_answer).expect("an answer") > last_text);
    assert!(matches!(updates.last(), Some(Update::Done(report)) if &*report.text == "one two three"));
}

#[tokio::test]
async fn a_function_is_a_tool_whose_results_and_errors_the_model_reads() {
    #[derive(Serialize)]
    struct Weather {
        celsius: f64,
    }
    // As a program that does not depend on the crate itself.
    #[derive(Deserialize, majordomo::schemars::JsonSchema)]
    #[schemars(crate = "majordomo::schemars")]
    struct City {
        name: String,
    }
    let weather = Tool::from_fn("get_weather", "Current weather of a city", |city: City| async move {
        match city.name.as_str() {
            "Paris" => Ok(Weather { celsius: 21.5 }),
            "Nowhere" => Err("there is no such city".into()),
            _ => Err(std::io::Error::other("the station does not answer").into()),
        }
    });
    let clock = Tool::from_fn("clock", "The time", |(): ()| async { Ok("noon") }).read_only();
    let asks = |name: &str| call("get_weather", &format!("name = {name:?}"));
    let wrong = call("get_weather", "city = \"Paris\"");
    let unknown = call("get_weather", "name = \"Paris\", unit = \"F\"");
    let all = [asks("Paris"), asks("Nowhere"), asks("Atlantis"), wrong, unknown, call("clock", "")];
    let staff = builder(&[scene("Look", &[calls(&all), says("done")])])
        .tool(weather.read_only())
        .tool(clock)
        .build()
        .await
        .expect("a staff");
    let session = staff.session();
    session.send("Look").await.expect("a report");
    let mut results: Vec<String> = Vec::new();
    for record in session.history().await.expect("a log") {
        if let Event::ToolFinished { result, .. } = &*record.event {
            results.push(format!("{}{}", if result.is_error { "error: " } else { "" }, result.content));
        }
    }
    results.sort();
    assert_eq!(results.len(), 6, "{results:?}");
    let has = |text: &str| assert!(results.iter().any(|result| result == text), "{text} is not in {results:#?}");
    has(r#"{"celsius":21.5}"#);
    has("error: there is no such city");
    has("error: the station does not answer");
    has("noon");
    has("{\"celsius\":21.5}\n(ignored, for get_weather has no such arguments: unit)");
    let unread = "error: get_weather was not run, its arguments cannot be read: missing field `name`";
    assert!(results.iter().any(|result| result.starts_with(unread)), "{results:#?}");
}

#[tokio::test]
async fn a_tool_that_is_not_declared_read_only_needs_approval_and_the_report_names_the_rule() {
    let count = Arc::default();
    let scenes = [scene("Light", &[calls(&[switches("desk")]), says("it is dark")])];
    let staff = builder(&scenes).tool(lamps(&count)).build().await.expect("a staff");
    let report = staff.run("Light").await.expect("a report");
    assert_eq!(count.load(Ordering::Relaxed), 0);
    let rule =
        "switch: allowed by --mode dangerous, or by the rule {tool = \"switch\", pattern = \"*\", action = \"allow\"}";
    assert_eq!(report.unanswered.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), [rule]);

    let allowed = builder(&scenes).tool(lamps(&count)).rule(Rule::allow("switch")).build().await.expect("a staff");
    allowed.run("Light").await.expect("a report");
    assert_eq!(count.load(Ordering::Relaxed), 1, "a rule allows it");
    let work = Work::new("Light").mode(Mode::Dangerous);
    staff.run(work).await.expect("a report");
    assert_eq!(count.load(Ordering::Relaxed), 2, "nothing asks in this mode");
    let denied = builder(&scenes).tool(lamps(&count)).rule(Rule::deny("switch").on("*desk*")).mode(Mode::Dangerous);
    denied.build().await.expect("a staff").run("Light").await.expect("a report");
    assert_eq!(count.load(Ordering::Relaxed), 2, "a rule that denies holds in every mode");
}

#[tokio::test]
async fn the_handler_decides_for_agents_at_every_depth_several_at_a_time() {
    let count = Arc::default();
    let scenes = [
        scene("the building", &[calls(&[spawn("room 1"), spawn("room 2"), switches("hall")]), says("lit")]),
        scene("room 1", &[calls(&[switches("one")]), says("lit")]),
        scene("room 2", &[calls(&[switches("two")]), says("dark")]),
    ];
    // Each waits for the other two: decided one after the other they would wait for ever.
    let barrier = Arc::new(tokio::sync::Barrier::new(3));
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (met, noted) = (barrier.clone(), seen.clone());
    let staff = builder(&scenes)
        .tool(lamps(&count))
        .approve(move |request| {
            let (barrier, seen) = (met.clone(), noted.clone());
            async move {
                barrier.wait().await;
                let lamp = request.input.value()["lamp"].as_str().expect("a lamp").to_owned();
                seen.lock().expect("no panic").push((lamp.clone(), request.path.len()));
                if lamp == "two" { Decision::deny("someone sleeps there") } else { Decision::allow() }
            }
        })
        .build()
        .await
        .expect("a staff");
    let run = staff.run("the building");
    let report = tokio::time::timeout(Duration::from_secs(30), run).await.expect("in time").expect("a report");
    assert_eq!((&*report.text, count.load(Ordering::Relaxed)), ("lit", 2));
    assert!(report.unanswered.is_empty());
    let mut seen = seen.lock().expect("no panic").clone();
    seen.sort();
    assert_eq!(seen, [("hall".to_owned(), 1), ("one".to_owned(), 2), ("two".to_owned(), 2)]);
}

#[tokio::test]
async fn a_run_can_have_a_handler_of_its_own_and_one_that_panics_refuses() {
    let count = Arc::default();
    let scenes = [scene("Light", &[calls(&[switches("desk")]), says("done")])];
    let staff = builder(&scenes).tool(lamps(&count)).build().await.expect("a staff");
    let work = Work::new("Light").approve(|_| async { Decision::allow() });
    assert!(staff.run(work).await.expect("a report").unanswered.is_empty());
    assert_eq!(count.load(Ordering::Relaxed), 1);
    assert_eq!(staff.run("Light").await.expect("a report").unanswered.len(), 1, "the next run has none");

    let work = Work::new("Light").approve(|_| async { panic!("the handler is broken") });
    let run = tokio::time::timeout(Duration::from_secs(30), staff.run(work));
    assert_eq!(&*run.await.expect("it is refused at once").expect("a report").text, "done");
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn what_waits_in_the_inbox_is_decided_after_a_restart() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let count = Arc::default();
    let scenes = [scene("Light", &[calls(&[switches("desk")]), says("done")])];
    let builder = || builder(&scenes).tool(lamps(&count)).data_folder(folder.path());
    let first = builder().approve_in_inbox().build().await.expect("a staff");
    let mut run = first.stream("Light").await.expect("a run");
    let asked = |update: &Update| match update {
        Update::Events(records) => records.iter().any(|record| matches!(*record.event, Event::ApprovalRequested(_))),
        _ => false,
    };
    while !asked(&run.try_next().await.expect("a log").expect("it waits")) {}
    let root = run.root().clone();
    first.close().await;
    assert!(run.report().await.is_err());

    let later = builder().approve(|_| async { Decision::allow() }).build().await.expect("a staff");
    let report = later.session_of(&root).resume().await.expect("it goes on").report().await.expect("a report");
    assert_eq!((&*report.text, count.load(Ordering::Relaxed)), ("done", 1));
    later.close().await;
}

#[tokio::test]
async fn limits_of_the_builder_and_of_one_task_hold() {
    let scenes = [
        scene("Spend", &[whenever_asked(&calls(&[switches("desk")]))]),
        scene("Start", &[calls(&[spawn("Spend")]), says("done")]),
        scene("Wait", &[never_answers()]),
    ];
    let count = Arc::default();
    let staff = builder(&scenes)
        .tool(lamps(&count).read_only())
        .limits(Limits::new().requests(3))
        .build()
        .await
        .expect("a staff");
    let report = staff.run("Spend").await.expect("a report");
    assert_eq!((report.outcome, report.tree.requests), (Outcome::BudgetExceeded, 3));
    let work = Work::new("Spend").limits(Limits::new().tool_calls(1));
    assert_eq!(staff.run(work).await.expect("a report").usage.tool_calls, 1);
    let alone = staff.run(Work::new("Start").limits(Limits::new().depth(0))).await.expect("a report");
    assert_eq!(alone.tree.children, 0);
    let work = Work::new("Wait").limits(Limits::new().time(Duration::from_millis(50)));
    assert_eq!(staff.run(work).await.expect("a report").outcome, Outcome::Timeout);
    let none = staff.run(Work::new("Spend").limits(Limits::new().concurrent(0))).await.expect_err("no limit");
    assert!(none.to_string().contains("depth(0)"), "{none}");
}

#[tokio::test]
async fn agents_are_defined_in_line_and_in_files_and_one_gets_the_tasks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("critic.md");
    std::fs::write(&file, "---\ndescription: Finds mistakes.\n---\nYou find mistakes.\n").expect("a file");
    let hand_over = call("spawn_agent", r#"task = "Find mistakes", agent = "critic""#);
    let scenes = [scene("Write", &[calls(&[hand_over]), says("done")]), scene("Find", &[says("none")])];
    let staff = builder(&scenes)
        .define(Agent::new("poet", "Writes verse", "You write verse."))
        .define_file(&file)
        .agent("poet")
        .build()
        .await
        .expect("a staff");
    let session = staff.session();
    session.send("Write").await.expect("a report");
    let mut roles: Vec<String> = Vec::new();
    for record in session.history().await.expect("a log") {
        if let Event::ThreadCreated(created) = &*record.event {
            roles.push(format!("{}: {}", created.role.name, created.role.prompt));
        }
    }
    assert_eq!(roles, ["poet: You write verse.", "critic: You find mistakes."]);
    let error = staff.run(Work::new("Write").agent("critik")).await.expect_err("no such agent").to_string();
    assert!(error.starts_with("there is no agent 'critik'; did you mean critic?"), "{error}");
}

#[tokio::test]
async fn what_is_wrong_is_said_when_the_staff_is_built() {
    let scenes = [scene("", &[says("")])];
    let none = Staff::builder().environment(Environment::Ignored);
    let error = refused(none).await;
    assert!(error.contains(".model(\"anthropic/") && error.contains("ANTHROPIC_API_KEY"), "{error}");
    let keyless = Staff::builder().environment(Environment::Ignored).model("openai/gpt-5");
    assert_eq!(refused(keyless).await, "openai needs a key: set OPENAI_API_KEY");
    let keyed = Staff::builder().environment(Environment::Ignored).model("openai/gpt-5").api_key("openai", "sk-1");
    assert!(keyed.build().await.is_ok(), "a key that is given is enough");
    let error = refused(builder(&scenes).api_key("opnai", "sk-1")).await;
    assert!(error.contains("did you mean openai?"), "{error}");
    let error = refused(builder(&scenes).set("policy.max_dept", 3)).await;
    assert_eq!(error, "builder call set(): unknown key policy.max_dept; did you mean policy.max_depth?");
    let error = refused(builder(&scenes).set("policy.max_depth", "deep")).await;
    assert!(error.starts_with("builder call set(): policy.max_depth expects"), "{error}");
    let error = refused(builder(&scenes).agent("generla")).await;
    assert!(error.contains("did you mean general?"), "{error}");
    let critic = Agent::new("critic", "Finds mistakes", "Find them.").tools(["read_file"]);
    let error = refused(builder(&scenes).define(critic.clone())).await;
    assert!(
        error.ends_with("which does not exist; .workspace(folder) adds the tools for files and commands"),
        "{error}"
    );
    let error = refused(builder(&scenes).define(critic.clone().tools(["spawn_agents"])).define(critic)).await;
    assert!(error.contains("did you mean spawn_agent?"), "{error}");
    let tool = |name: &str| Tool::from_fn(name, "Does nothing", |(): ()| async { Ok(()) });
    assert!(refused(builder(&scenes).tool(tool("a tool"))).await.starts_with("tool 'a tool': a name has up to"));
    assert!(refused(builder(&scenes).tool(tool("spawn_agent"))).await.contains("choose another"));
    assert!(refused(builder(&scenes).tool(tool("twice")).tool(tool("twice"))).await.contains("two tools are named"));
    let text = Tool::from_fn("shout", "Shouts", |text: String| async move { Ok(text.to_uppercase()) });
    assert!(refused(builder(&scenes).tool(text)).await.contains("must be a struct"));
    let error = refused(builder(&scenes).model(Model::scripted("[[scrpt]]"))).await;
    assert!(error.contains("of the program"), "{error}");
    let error = refused(builder(&scenes).data_folder(OsStr::from_bytes(b"/tmp/no-such-\xff"))).await;
    assert!(error.starts_with("data_folder(/tmp/no-such-") && error.ends_with("the path is not UTF-8"), "{error}");
    let error = refused(builder(&scenes).workspace("/no/such/folder")).await;
    assert!(error.starts_with("workspace(/no/such/folder): "), "{error}");
}

#[tokio::test]
async fn without_a_workspace_there_are_no_tools_for_files_and_with_one_there_are() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("note.txt"), "buy milk").expect("a file");
    let scenes = [scene("Read", &[calls(&[call("read_file", r#"path = "note.txt""#)]), says("done")])];
    let read = async |builder: StaffBuilder| {
        let staff = builder.build().await.expect("a staff");
        let report = staff.run("Read").await.expect("a report");
        report.files_read.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(read(builder(&scenes)).await.is_empty());
    assert_eq!(read(builder(&scenes).workspace(folder.path())).await, ["note.txt"]);
}

#[tokio::test]
async fn in_memory_nothing_is_written_and_no_configuration_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ours = folder.path().join(".majordomo");
    std::fs::create_dir(&ours).expect("a folder");
    std::fs::write(ours.join("config.toml"), "agent = [").expect("a file that cannot be read");
    let scenes = [scene("Go", &[says("done")])];
    let staff = builder(&scenes).workspace(folder.path()).build().await.expect("the project's file is not read");
    staff.run("Go").await.expect("a report");
    staff.close().await;
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [ours]);
    assert!(!Path::new("/dev/null/majordomo").exists());
}

/// Repeats what it heard last, after a moment.
#[derive(Debug)]
struct Echo;

impl Resident for Echo {
    fn answer<'a>(&'a self, heard: &'a Heard, _: &'a Ask) -> Answering<'a> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            let last = heard.messages.last().map(majordomo::agent::message::Message::text).unwrap_or_default();
            Ok::<_, CallError>(Said::text(last))
        })
    }
}

#[tokio::test]
async fn a_model_can_be_an_object_of_the_program() {
    let staff = Staff::builder().environment(Environment::Ignored).model(Model::own("echo", Echo)).build().await;
    let staff = staff.expect("a staff");
    assert_eq!(staff.model().expect("a model"), "program/echo");
    assert_eq!(&*staff.run("Hello").await.expect("a report").text, "Hello");
}

#[tokio::test]
async fn the_program_may_bring_its_own_store() {
    let store: Arc<dyn majordomo::store::Store> = Arc::new(majordomo::store::MemoryStore::new());
    let scenes = [scene("Go", &[says("done"), says("again")])];
    let staff = builder(&scenes).store(store.clone()).build().await.expect("a staff");
    let session = staff.session();
    session.send("Go").await.expect("a report");
    let root = session.id().expect("begun").clone();
    staff.close().await;
    let later = builder(&scenes).store(store).build().await.expect("a staff");
    assert_eq!(&*later.session_of(&root).send("Again").await.expect("a report").text, "again");
}

#[tokio::test]
async fn a_task_starts_below_a_creator_that_a_notice_had_woken_in_a_process_that_is_gone() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let workspace = data.path().join("work");
    std::fs::create_dir(&workspace).expect("a folder");
    let scenes =
        [scene("Plan", &[says("planned"), whenever_asked(&never_answers())]), scene("Sweep", &[says("swept")])];
    let store = store::open(&store::Location::folder(data.path()), &store::Options::default()).expect("a store");
    let open = || builder(&scenes).store(store.clone()).workspace(&workspace).approve_in_inbox();
    let gone = open().build().await.expect("a staff");
    let run = gone.stream("Plan").await.expect("a run");
    let root = run.root().clone();
    run.report().await.expect("a report");
    let task = NewTask { assignee: Some(Assignee::New(NewAgent::default())), ..NewTask::titled("Sweep") };
    let desk = TaskBoard::new(store.clone(), gone.board(), workspace.to_string_lossy());
    let (add, now) = (Command::Add { tasks: vec![task] }, gone.runtime().clock().now());
    desk.ask(Actor::Thread(root.clone()), None, add, now).await.expect("a task");
    let notice = runtime::Notice::new("the board", "Look at the tasks");
    gone.runtime().notify(&root, InputId::new("notice"), notice).await.expect("it is woken");
    gone.runtime().leave().await;

    let staff = open().build().await.expect("a staff");
    let folder = workspace.canonicalize().expect("it exists");
    let never = Box::new(|_, _| unreachable!("the staff of the one folder is open"));
    let worker = Worker::new("work", store.clone(), never, 4, Vec::new()).with_staff(folder, staff.clone()).await;
    // The creator's process dies after the worker has looked for threads to adopt, and before it starts tasks.
    TaskChores::new(Scope::All, Vec::new()).perform(&worker).await.expect("chores are done");
    let task = desk.task(&TaskId::of(1)).await.expect("the task");
    assert_eq!(task.reason, None);
    assert_eq!(task.thread.and_then(|thread| thread.parent()), Some(root.clone()), "it works below its creator");
    assert!(staff.runtime().drives(&root), "its creator goes on here");
    worker.leave().await;
}

#[tokio::test]
async fn a_task_is_handed_to_a_thread_only_with_the_permissions_of_the_agent_that_wanted_it() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let scenes = [scene("Wait", &[says("ready"), says("swept")])];
    let store = store::open(&store::Location::folder(data.path()), &store::Options::default()).expect("a store");
    let staff = builder(&scenes).store(store.clone()).workspace(data.path()).mode(Mode::Auto).approve_in_inbox();
    let staff = staff.build().await.expect("a staff");
    let run = staff.stream("Wait").await.expect("a run");
    let root = run.root().clone();
    run.report().await.expect("a report");
    let desk = TaskBoard::new(store.clone(), staff.board(), data.path().to_string_lossy());
    let never = Box::new(|_, _| unreachable!("the staff of the one folder is open"));
    let folder = data.path().canonicalize().expect("it exists");
    let worker = Worker::new("work", store.clone(), never, 4, Vec::new()).with_staff(folder, staff.clone()).await;
    let to_root = |mode| {
        let mut task = NewTask { assignee: Some(Assignee::Thread(root.clone())), ..NewTask::titled("Sweep") };
        task.mode = Some(mode);
        task.budget.max_tokens = Some(5000);
        Command::Add { tasks: vec![task] }
    };
    let events = async || staff.session_of(&root).history().await.expect("its log");
    let before = events().await.len();
    for (nth, mode, is_begun) in [(1, Mode::Ask, false), (2, Mode::Auto, true)] {
        desk.ask(Actor::Human, None, to_root(mode), staff.runtime().clock().now()).await.expect("a task");
        TaskChores::new(Scope::All, Vec::new()).perform(&worker).await.expect("chores are done");
        let task = desk.task(&TaskId::of(nth)).await.expect("the task");
        assert_eq!(task.reason.is_none(), is_begun, "{:?}", task.reason);
        assert_eq!(events().await.len() > before, is_begun, "a thread is told of nothing that it does not get");
    }
    let reason = desk.task(&TaskId::of(1)).await.expect("the task").reason.expect("a reason");
    assert!(reason.contains("works in mode auto") && reason.contains("mode ask at most"), "{reason}");
    let granted = events().await.iter().rev().find_map(|record| match &*record.event {
        Event::RunStarted { grant, .. } => Some(grant.as_ref().and_then(|grant| grant.tokens)),
        _ => None,
    });
    assert_eq!(granted, Some(Some(5000)), "the run may spend what the task may");
    worker.leave().await;
}

#[tokio::test]
async fn a_notice_waits_for_a_recipient_whose_folder_cannot_be_opened() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let scenes = [scene("Plan", &[says("planned")])];
    let store = store::open(&store::Location::folder(data.path()), &store::Options::default()).expect("a store");
    let staff = builder(&scenes).store(store.clone()).workspace(data.path()).build().await.expect("a staff");
    let run = staff.stream("Plan").await.expect("a run");
    let root = run.root().clone();
    run.report().await.expect("a report");
    let desk = TaskBoard::new(store.clone(), staff.board(), data.path().to_string_lossy());
    let now = || staff.runtime().clock().now();
    let add = Command::Add { tasks: vec![NewTask::titled("Sweep")] };
    desk.ask(Actor::Thread(root), None, add, now()).await.expect("a task");
    let done = Command::Set { task: TaskId::of(1), change: Change::Completed { result: None }, note: None };
    desk.ask(Actor::Human, None, done, now()).await.expect("it is done");

    let broken =
        Box::new(|_, _| Box::pin(async { Err(Error::Setting("a wrong key".to_owned())) }) as BoxFuture<'static, _>);
    let worker = Worker::new("work", store.clone(), broken, 4, Vec::new());
    TaskChores::new(Scope::All, Vec::new()).perform(&worker).await.expect("chores are done");
    let events = store.board_events(desk.id(), 0, 100).await.expect("the board's log");
    let kinds: Vec<&str> = events.iter().map(|record| record.entry.event.kind()).collect();
    assert!(kinds.contains(&"told") && !kinds.contains(&"delivery_done"), "{kinds:?}");
}

#[tokio::test]
async fn a_worker_keeps_nothing_of_what_is_idle() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let scenes =
        [scene("Title: ", &[whenever_asked(&says("done"))]), scene("Wait", &[whenever_asked(&never_answers())])];
    let store = store::open(&store::Location::folder(data.path()), &store::Options::default()).expect("a store");
    let open = {
        let (scenes, folder) = (scenes.clone(), data.path().to_owned());
        move |_, store: Arc<dyn Store>| -> BoxFuture<'static, Result<Staff, Error>> {
            let builder = builder(&scenes).store(store).workspace(&folder).approve_in_inbox();
            Box::pin(async move { builder.build().await })
        }
    };
    // A conversation that no worker goes on with, whose process is gone.
    let gone = open(data.path().to_owned(), store.clone()).await.expect("a staff");
    let run = gone.stream("Wait").await.expect("a run");
    let left = run.root().clone();
    gone.runtime().leave().await;
    let tasks = |many: usize| {
        let new = NewAgent { agent: Some("general".into()), model: None };
        let task = NewTask { assignee: Some(Assignee::New(new)), ..NewTask::titled("Sweep") };
        Command::Add { tasks: vec![task; many] }
    };
    let desk = TaskBoard::new(store.clone(), BoardId::new("plan"), data.path().to_string_lossy());
    let now = || runtime::Clock::default().now();
    desk.ask(Actor::Human, None, tasks(12), now()).await.expect("tasks");
    let chores: Vec<Box<dyn Chores>> = vec![Box::new(TaskChores::new(Scope::All, Vec::new()))];
    let worker = Worker::new("work", store.clone(), Box::new(open), 4, chores).closing_after(Duration::ZERO);
    let mut held = Vec::new();
    let stop = async {
        // Each of them ends without completing its task, which is therefore blocked.
        loop {
            held.push(worker.held().await);
            let query = TaskQuery { status: Some(Status::Blocked), limit: 100, ..TaskQuery::of(desk.id()) };
            let is_done = store.tasks(query).await.expect("tasks").len() == 12;
            if is_done && worker.held().await.folders == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(worker.held().await, Held { folders: 0, passed_over: 1 }, "12 idle agents and 12 tasks later");
        assert_eq!(
            store.threads(ThreadQuery { of_tasks: true, ..ThreadQuery::default() }).await.expect("rows").len(),
            12
        );
        // One that is gone is forgotten.
        store.remove(&left, now()).await.expect("it is removed");
        while worker.held().await.passed_over > 0 {
            desk.ask(Actor::Human, None, tasks(1), now()).await.expect("a task");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    worker.work(stop).await.expect("it works");
    assert!(held.iter().all(|held| held.folders <= 1 && held.passed_over <= 1), "{held:?}");
}

/// Tells that the worker has looked for threads to go on with.
struct Looked(Arc<Notify>);

impl Chores for Looked {
    fn perform<'a>(&'a self, _: &'a Worker) -> BoxFuture<'a, Result<(), Error>> {
        self.0.notify_one();
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn a_worker_of_one_folder_leaves_threads_of_others_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (here, elsewhere) = (folder.path().join("here"), folder.path().join("elsewhere"));
    for folder in [&here, &elsewhere] {
        std::fs::create_dir(folder).expect("a folder");
    }
    let scenes = [scene("Wait", &[says("ready"), whenever_asked(&never_answers())])];
    let store = store::open(&store::Location::folder(folder.path()), &store::Options::default()).expect("a store");
    let open = || builder(&scenes).store(store.clone()).workspace(&here).approve_in_inbox();
    let gone = open().build().await.expect("a staff");
    let run = gone.stream("Wait").await.expect("a run");
    let root = run.root().clone();
    run.report().await.expect("a report");
    let notice = runtime::Notice::new("the board", "Look at the tasks");
    gone.runtime().notify(&root, InputId::new("notice"), notice).await.expect("it is woken");
    gone.runtime().leave().await;

    for (only, is_taken) in [(&elsewhere, false), (&here, true)] {
        let staff = open().build().await.expect("a staff");
        let looked = Arc::new(Notify::new());
        let never = Box::new(|_, _| unreachable!("the staff of the one folder is open"));
        let worker = Worker::new("chat", store.clone(), never, 4, vec![Box::new(Looked(looked.clone()))]).only_in(only);
        let worker = worker.with_staff(here.canonicalize().expect("it exists"), staff.clone()).await;
        let mut drives = false;
        let stop = async {
            looked.notified().await;
            drives = staff.runtime().drives(&root);
        };
        worker.work(stop).await.expect("it works");
        assert_eq!(drives, is_taken, "{}", only.display());
    }
}
