//! A sub-agent that has reported is asked something more: by its parent, by a person, by the program.

use majordomo_agent::budget::Grant;
use majordomo_agent::event::{ChildAsked, ThreadCreated};
use majordomo_agent::policy::{CountMode, Policy, StartApproval};
use majordomo_agent::{
    Effect, Event, Input, InputId, Mode, Outcome, Outside, Report, Strength, Thread, ThreadId, Time, Usage,
};

use super::room::{self, Room, report};

const SPAWN: (&str, &str) = ("spawn_agent", r#"{"task":"a"}"#);
const MORE: (&str, &str) = ("message_agent", r#"{"agent":"r.1","text":"And the tests?"}"#);
const MORE_LATER: (&str, &str) = ("message_agent", r#"{"agent":"1","text":"And the tests?","background":true}"#);

/// A root whose child has reported once.
fn after_a_report(policy: Policy) -> Room {
    let mut room = Room::new(policy);
    room.calls(&[SPAWN]);
    room.reports("r.1", Outcome::Completed, Usage::default());
    room
}

fn asked(room: &Room) -> Vec<&ChildAsked> {
    let asked = room.events.iter().filter_map(|event| match event {
        Event::ChildAsked(asked) => Some(&**asked),
        _ => None,
    });
    asked.collect()
}

fn answers(room: &mut Room, input: Option<&str>) {
    let report = Report { asked: input.map(InputId::new), ..report(Outcome::Completed, Usage::default()) };
    room.hears(Input::ChildReported { child: ThreadId::new("r.1"), report: Box::new(report) });
}

#[test]
fn a_finished_child_goes_on_when_its_parent_asks_and_its_answer_is_the_result_of_the_call() {
    // LACE-7, LACE-18: the same verbs start it and ask it more
    let mut room = after_a_report(Policy::default());
    room.calls(&[MORE]);
    let input = asked(&room)[0].input.clone();
    assert_eq!((asked(&room).len(), room.started()), (1, 2));
    let (id, question) = room.thread.child_question(&ThreadId::new("r.1")).expect("it is asked");
    assert!(matches!(&question, Outside::Asked { text, .. } if &**text == "And the tests?"));
    assert_eq!((id, room.thread.child_created(&ThreadId::new("r.1"))), (input.clone(), None));
    answers(&mut room, None);
    answers(&mut room, Some("a person's message"));
    assert_eq!(room.results().len(), 1, "neither an old report nor one for another message answers it");
    answers(&mut room, Some(&input.0));
    assert_eq!((room.results().len(), room.results()[1].1), (2, false));
    assert_eq!(room.thread.spending.used.children, 1, "it is no new sub-agent");
    room.calls(&[MORE_LATER]);
    assert!(room.results()[2].0.contains("goes on in the background"), "{:?}", room.results());
    let second = asked(&room)[1].input.clone();
    assert_ne!(second, input);
    room.says("I have it.");
    assert!(room.thread.run.is_some(), "it is not done while a child lives");
    answers(&mut room, Some(&second.0));
    room.says("All of it.");
    assert!(matches!(room.events.last(), Some(Event::Reported(report)) if report.asked.is_none()));
}

#[test]
fn what_it_may_spend_is_carved_anew_and_comes_back() {
    let grant = Grant { tokens: Some(100_000), requests: Some(100), ..Grant::default() };
    let mut room = Room::with(Policy::default(), Mode::Auto, grant);
    room.calls(&[SPAWN]);
    room.reports("r.1", Outcome::Completed, Usage { counted_tokens: 30_000, requests: 10, ..Usage::default() });
    room.calls(&[MORE]);
    let given = asked(&room)[0].grant.clone();
    assert!(given.tokens.is_some_and(|tokens| tokens > 4096 && tokens < 70_000), "{given:?}");
    assert!(given.requests.is_some_and(|given| given < 90), "{given:?}");
    assert_eq!(Some(room.thread.spending.carved.tokens), given.tokens);
    let input = asked(&room)[0].input.clone();
    let spent = Usage { counted_tokens: 1_000, requests: 1, ..Usage::default() };
    let report = Report { asked: Some(input), ..report(Outcome::Completed, spent) };
    room.hears(Input::ChildReported { child: ThreadId::new("r.1"), report: Box::new(report) });
    assert_eq!(room.thread.spending.carved.tokens, 0, "what it did not spend is back");

    let mut poor = Room::with(Policy::default(), Mode::Auto, Grant { tokens: Some(30_000), ..Grant::default() });
    poor.calls(&[SPAWN]);
    poor.reports("r.1", Outcome::Completed, Usage { counted_tokens: 27_000, ..Usage::default() });
    poor.calls(&[MORE]);
    assert!(asked(&poor).is_empty());
    assert!(poor.results()[1].0.contains("policy.min_child_tokens"), "{:?}", poor.results());
}

#[test]
fn it_needs_no_place_where_each_child_has_one_for_life_and_one_where_only_those_count_that_are_not_over() {
    let mut total = after_a_report(Policy { max_children: 1, max_depth: 1, ..Policy::default() });
    assert_eq!(total.thread.descendants_left(), 0);
    total.calls(&[MORE]);
    assert_eq!((asked(&total).len(), total.thread.descendants_left()), (1, 0));

    let active = Policy { max_children: 1, max_depth: 1, count_mode: CountMode::Active, ..Policy::default() };
    let mut active = after_a_report(active);
    assert_eq!(active.thread.descendants_left(), 1);
    active.calls(&[SPAWN, MORE]);
    assert!(asked(&active).is_empty(), "the other child has the only place");
    assert!(active.results()[1].0.contains("policy.max_children"), "{:?}", active.results());
}

#[test]
fn a_child_is_found_by_name_and_one_that_never_began_is_not_asked() {
    let mut room = Room::new(Policy { max_concurrent: 1, ..Policy::default() });
    let named = |name: &str| format!(r#"{{"task":"a","name":"{name}","background":true}}"#);
    room.calls(&[("spawn_agent", &named("ann")), ("spawn_agent", &named("ann")), ("spawn_agent", &named("bob"))]);
    room.calls(&[("stop_agent", r#"{"agent":"bob"}"#)]);
    room.reports("r.1", Outcome::Completed, Usage::default());
    room.reports("r.2", Outcome::Completed, Usage::default());
    let ask = |who: &str| format!(r#"{{"agent":"{who}","text":"more"}}"#);
    for (who, why) in
        [("ann", "use an id: r.1, r.2"), ("bob", "was never begun"), ("cid", "there is no sub-agent 'cid'")]
    {
        room.calls(&[("message_agent", &ask(who))]);
        let (text, is_error) = room.results().last().copied().expect("a result");
        assert!(is_error && text.contains(why), "{who}: {text}");
    }
    room.calls(&[("message_agent", &ask("r.2"))]);
    assert_eq!(asked(&room)[0].child, ThreadId::new("r.2"));
}

#[test]
fn in_a_copy_a_child_is_found_by_the_name_that_it_had_before() {
    let mut room = after_a_report(Policy::default());
    room.thread.created.copied_from = vec![ThreadId::new("older"), ThreadId::new("old")];
    let ask = |who: &str| format!(r#"{{"agent":"{who}","text":"more"}}"#);
    room.calls(&[("message_agent", &ask("old.1"))]);
    assert_eq!(asked(&room)[0].child, ThreadId::new("r.1"));
    for who in ["old.9", "other.1", "old"] {
        room.calls(&[("message_agent", &ask(who))]);
        assert_eq!(asked(&room).len(), 1, "{who} is no child of this thread");
    }
}

#[test]
fn where_every_start_needs_approval_so_does_a_question_to_a_finished_child() {
    // T56: a task that no person saw is not begun under the approval of another
    let mut room = after_a_report(Policy { approval: StartApproval::Never, ..Policy::default() });
    room.calls(&[MORE]);
    assert_eq!(asked(&room).len(), 1);
    let mut world = room::world();
    world.consent = majordomo_agent::Consent::Asked;
    let policy = Policy { approval: StartApproval::Always, ..Policy::default() };
    let mut room = Room::of(world, "general", policy, Mode::Auto, Grant::default());
    room.calls(&[SPAWN]);
    assert_eq!(room.thread.approvals.open.len(), 1, "the start is asked about");
}

/// The child of a root that was started, with its own log.
fn child() -> (Room, Thread, Vec<Event>) {
    let mut room = Room::new(Policy::default());
    room.calls(&[SPAWN]);
    let created: ThreadCreated = room.thread.child_created(&ThreadId::new("r.1")).expect("it was started");
    let thread = Thread::new(room.now, &Event::ThreadCreated(Box::new(created)));
    (room, thread, Vec::new())
}

/// A child on its own: what reaches it, and what its model says to each request.
struct Alone {
    room: Room,
    thread: Thread,
    events: Vec<Event>,
    effects: Vec<Effect>,
}

impl Alone {
    fn new() -> Self {
        let (room, thread, events) = child();
        let mut alone = Self { room, thread, events, effects: Vec::new() };
        alone.hears(Input::Begin);
        alone
    }

    fn hears(&mut self, input: Input) {
        let facts = self.room.world.facts(&self.thread, &input, self.room.now);
        let step = self.thread.handle(input, &facts, self.room.now);
        self.events.extend(step.events);
        self.effects.extend(step.effects);
    }

    fn receives(&mut self, id: &str, input: Outside) {
        let event = Event::InputArrived { id: InputId::new(id), input };
        self.thread.apply(self.room.now, &event);
        self.events.push(event);
        self.hears(Input::Arrived);
    }

    fn says(&mut self, text: &str) {
        std::mem::swap(&mut self.thread, &mut self.room.thread);
        let answer = self.room.words(text);
        std::mem::swap(&mut self.thread, &mut self.room.thread);
        self.hears(answer);
    }

    fn reports(&self) -> Vec<&Report> {
        let reports = self.events.iter().filter_map(|event| match event {
            Event::Reported(report) => Some(&**report),
            _ => None,
        });
        reports.collect()
    }
}

fn question(text: &str) -> Outside {
    let grant = Grant { tool_calls: Some(1), tokens: Some(50_000), ..Grant::default() };
    Outside::Asked { text: text.into(), from: "general".into(), grant: Box::new(grant), foreign: true }
}

#[test]
fn a_child_that_works_takes_a_question_up_when_its_run_is_over_and_each_run_has_one_report() {
    // INV-1
    let mut child = Alone::new();
    child.receives("p", Outside::said("a person's"));
    child.receives("q", question("a parent's"));
    assert!(child.thread.foreign, "who asks had read untrusted text");
    child.says("one");
    child.says("two");
    assert_eq!(child.thread.grant().tool_calls, Some(1), "the parent's question has a grant of its own");
    child.says("three");
    let asked: Vec<Option<&str>> =
        child.reports().iter().map(|report| report.asked.as_ref().map(|id| &*id.0)).collect();
    assert_eq!(asked, [None, Some("p"), Some("q")]);
    assert!(child.thread.is_over() && child.thread.issued.runs == 3);
    let talk: Vec<String> = child.thread.talk.messages().iter().map(|message| message.text()).collect();
    assert_eq!(talk, ["a", "one", "a person's", "two", "Message from general:\na parent's", "three"]);
    child.receives("q", question("a parent's"));
    assert_eq!(child.reports().len(), 3, "sent twice it is one question");
}

#[test]
fn a_stop_ends_the_question_that_it_is_about_and_no_other_run() {
    let mut child = Alone::new();
    child.says("one");
    child.receives("p", Outside::said("a person's"));
    child.receives("q", question("a parent's"));
    let stop = |run: &str| Outside::Stopped {
        strength: Strength::Kill,
        reason: "enough".into(),
        run: Some(InputId::new(run)),
    };
    child.receives("s", stop("q"));
    assert!(child.thread.run.as_ref().is_some_and(|run| run.closing.ending.is_none()), "the person's run goes on");
    let dropped = |id: &str| {
        let is_it = |event: &&Event| matches!(event, Event::InputDropped { input, .. } if &*input.0 == id);
        child.events.iter().filter(is_it).count()
    };
    assert_eq!((dropped("q"), dropped("s")), (1, 1));
    child.says("two");
    assert!(child.thread.is_over(), "the question is not begun");
    child.receives("q2", question("another"));
    child.receives("s2", stop("q2"));
    let asking = child.thread.run.as_ref().expect("it ends").closing.ending.clone().expect("it was stopped");
    assert_eq!(asking.outcome, Outcome::Cancelled);
}

#[test]
fn a_notice_is_read_at_the_next_turn_and_wakes_one_that_is_idle() {
    // INV-8
    let notice = |text: &str| Outside::Noticed {
        text: text.into(),
        from: "a board".into(),
        grant: None,
        foreign: false,
        tools: Vec::new(),
    };
    let mut child = Alone::new();
    child.receives("n1", notice("task 1 is done"));
    child.says("one");
    assert!(child.thread.run.is_some(), "what came between the last look and the end is read first");
    child.says("two");
    assert_eq!(child.reports().len(), 1);
    child.receives("n2", notice("task 2 is done"));
    child.receives("n3", notice("task 3 is done"));
    child.says("three");
    child.says("four");
    assert_eq!((child.reports().len(), child.thread.issued.runs), (2, 2), "both are read in one run");
    // One that is ending reads nothing more: the notice begins the next run.
    child.receives("p", Outside::said("go on"));
    child.receives("s", Outside::stopped(Strength::Cancel, "enough"));
    child.receives("n4", notice("task 4 is done"));
    assert!(child.thread.inbox.asks_for_run());
}

#[test]
fn a_tool_that_comes_with_a_notice_is_there_at_the_next_turn_and_stays() {
    let mut room = Room::new(Policy::default());
    let mut info = room.world.catalog.tools.values().next().expect("a tool").clone();
    info.name = "task_update".into();
    room.world.catalog.tools.insert("task_update".into(), info);
    room.world.catalog.reserved.insert("task_update".into());
    let notice = |tools: &[&str]| Outside::Noticed {
        text: "a task".into(),
        from: "a board".into(),
        grant: None,
        foreign: false,
        tools: tools.iter().copied().map(Into::into).collect(),
    };
    let arrives = |room: &mut Room, id: &str, tools: &[&str]| {
        let event = Event::InputArrived { id: InputId::new(id), input: notice(tools) };
        room.thread.apply(room.now, &event);
        room.hears(Input::Arrived);
    };
    let changes = |room: &Room| room.events.iter().filter(|event| event.kind() == "tools_changed").count();
    room.says("done");
    arrives(&mut room, "n1", &[]);
    room.says("heard");
    assert_eq!((changes(&room), room.advertised().contains(&"task_update".into())), (0, false));
    arrives(&mut room, "n2", &["task_update", "unknown"]);
    assert!(room.advertised().contains(&"task_update".into()) && !room.advertised().contains(&"unknown".into()));
    room.says("heard");
    // Once is enough, also where other tools are published.
    arrives(&mut room, "n3", &["task_update"]);
    room.says("heard");
    assert_eq!(changes(&room), 1);
    room.world.catalog.version = "another".into();
    arrives(&mut room, "n4", &[]);
    assert!(room.advertised().contains(&"task_update".into()));
}

#[test]
fn the_number_of_a_child_of_a_task_is_shared_with_ordinary_ones() {
    // LACE-4
    let mut room = Room::new(Policy::default());
    room.calls(&[SPAWN]);
    let event = Event::InputArrived { id: InputId::new("t1"), input: Outside::ChildWanted };
    room.thread.apply(room.now, &event);
    room.hears(Input::Arrived);
    let issued = room.events.iter().find_map(|event| match event {
        Event::ChildIssued { child, .. } => Some(child.clone()),
        _ => None,
    });
    assert_eq!(issued, Some(ThreadId::new("r.2")));
    room.reports("r.1", Outcome::Completed, Usage::default());
    room.calls(&[SPAWN]);
    assert_eq!(room.spawned()[1].child, ThreadId::new("r.3"));
    assert!(!room.thread.children.live.contains_key(&ThreadId::new("r.2")), "its parent neither waits for it nor pays");
}

#[test]
fn what_people_say_of_a_thread_concerns_no_run() {
    let mut room = Room::new(Policy::default());
    let before = room.thread.clone();
    let marked = Outside::Marked { title: Some("The doors".into()), archived: Some(true), read: true };
    room.thread.apply(Time(5), &Event::InputArrived { id: InputId::new("m"), input: marked });
    assert_eq!((room.thread.run.clone(), room.thread.inbox.arrived.len()), (before.run, 0));
    room.hears(Input::Arrived);
    assert!(room.thread.inbox.arrived.is_empty());
}
