//! Another model, another mode, and a summary that a person wants: from when on they hold, and what they never do.

use majordomo_agent::budget::Grant;
use majordomo_agent::event::TurnKind;
use majordomo_agent::model::Model;
use majordomo_agent::permission::Layer;
use majordomo_agent::policy::Policy;
use majordomo_agent::report::Usage;
use majordomo_agent::{Event, Input, InputId, Mode, Outcome, Outside, Thread, Time, context};

use super::room::{Room, world};

fn arrives(room: &mut Room, id: &str, input: Outside) {
    room.thread.apply(room.now, &Event::InputArrived { id: InputId::new(id), input });
    room.hears(Input::Arrived);
}

fn chooses(room: &mut Room, id: &str, mode: Mode) {
    arrives(room, id, Outside::Chosen { model: None, mode: Some(mode) });
}

fn other_model(room: &Room) -> Model {
    Model { name: "test/other".into(), context_tokens: 9_000, ..room.thread.model.clone() }
}

fn kinds(room: &Room) -> Vec<&'static str> {
    room.events.iter().map(Event::kind).collect()
}

fn texts(thread: &Thread) -> Vec<String> {
    thread.talk.messages().iter().map(|message| message.text()).collect()
}

#[test]
fn a_mode_that_is_chosen_while_a_thread_works_holds_from_its_next_turn_on() {
    let mut room = Room::with(Policy::default(), Mode::Auto, Grant::default());
    let system = context::system(&room.thread.created);
    chooses(&mut room, "m", Mode::Plan);
    assert_eq!(room.thread.mode, Mode::Auto, "the request that is under way was made before");
    room.calls(&[("edit_file", "{}")]);
    assert_eq!((room.run(), room.thread.mode), (1, Mode::Auto), "and so were its calls");
    let said_before = texts(&room.thread);
    room.returns("c1", "written");
    assert_eq!(room.thread.mode, Mode::Plan);
    room.calls(&[("edit_file", r#"{"path":"b"}"#)]);
    assert_eq!(room.run(), 1, "{:?}", kinds(&room));
    // What was said stays as it was, and so does the system prompt: the new mode is told behind all of it.
    let said = texts(&room.thread);
    assert_eq!(said[..said_before.len()], said_before[..]);
    assert!(said.iter().any(|text| text.contains("it is plan: you may only read")), "{said:?}");
    assert_eq!(context::system(&room.thread.created), system);
}

#[test]
fn an_idle_thread_takes_up_what_is_chosen_at_once_and_its_log_says_so() {
    let mut room = Room::with(Policy::default(), Mode::Ask, Grant::default());
    room.says("Good day.");
    let model = Box::new(other_model(&room));
    let epoch = room.thread.talk.epoch();
    arrives(&mut room, "m", Outside::Chosen { model: Some(model), mode: Some(Mode::Auto) });
    assert_eq!((&*room.thread.model.name, room.thread.mode), ("test/other", Mode::Auto));
    assert_eq!(room.thread.context_tokens(), 9_000);
    assert!(
        room.thread.talk.epoch() > epoch && !room.thread.talk.is_measured(),
        "the other model reads it from its start"
    );
    assert!(room.thread.run.is_none() && room.thread.inbox.arrived.is_empty());
    let Some(Event::SettingsChanged { model: Some(model), mode: Some(Mode::Auto), .. }) = room.events.last() else {
        panic!("{:?}", room.events.last())
    };
    assert_eq!(&*model.name, "test/other");
    room.is_told("And now?");
    room.calls(&[("spawn_agent", r#"{"task":"a"}"#)]);
    let child = room.spawned()[0];
    assert_eq!((&*child.role.model.name, child.mode), ("test/other", Mode::Auto), "sub-agents follow from what holds");
}

#[test]
fn nobody_gets_a_freer_mode_than_its_agent_and_those_above_it_may_have() {
    let all = [Mode::Plan, Mode::Ask, Mode::Auto, Mode::Dangerous];
    for above in all {
        for wanted in all {
            let mut room = Room::with(Policy::default(), Mode::Plan, Grant::default());
            room.thread.created.above = vec![Layer { agent: "general".into(), mode: above }];
            room.says("Good day.");
            chooses(&mut room, "m", wanted);
            assert_eq!(room.thread.mode, wanted.meet(above), "{wanted} below {above}");
        }
    }
    let mut world = world();
    let agent = world.catalog.agents.get("general").expect("an agent").clone().mode(Mode::Ask);
    world.catalog.agents.insert("general".into(), agent);
    let mut room = Room::of(world, "general", Policy::default(), Mode::Plan, Grant::default());
    room.says("Good day.");
    chooses(&mut room, "m", Mode::Dangerous);
    assert_eq!(room.thread.mode, Mode::Ask);
}

// Promise 5: a child may never do more than its parent.
#[test]
fn a_thread_with_sub_agents_gets_no_stricter_mode_than_theirs() {
    let mut room = Room::with(Policy::default(), Mode::Auto, Grant::default());
    room.calls(&[("spawn_agent", r#"{"task":"look"}"#)]);
    assert_eq!(room.thread.issued.children, 1, "{:?}", kinds(&room));
    chooses(&mut room, "m", Mode::Plan);
    room.reports("r.1", Outcome::Completed, Usage::default());
    assert_eq!(room.thread.mode, Mode::Auto);
    let dropped = room
        .events
        .iter()
        .any(|event| matches!(event, Event::InputDropped { reason, .. } if reason.contains("new conversation")));
    assert!(dropped, "{:?}", kinds(&room));
    chooses(&mut room, "n", Mode::Dangerous);
    room.says("Good day.");
    assert_eq!(room.thread.mode, Mode::Dangerous, "a freer one is no danger to what its sub-agents may not do");
}

#[test]
fn a_model_without_a_price_is_not_taken_where_money_is_limited() {
    let grant = Grant { cost_microusd: Some(1_000_000), ..Grant::default() };
    let mut room = Room::with(Policy::default(), Mode::Auto, grant);
    room.says("Good day.");
    let is_known = room.thread.model.has_known_cost();
    let model = Model { price: None, ..other_model(&room) };
    arrives(&mut room, "m", Outside::Chosen { model: Some(Box::new(model.clone())), mode: None });
    let is_taken = room.thread.model.name == model.name;
    assert_eq!(is_taken, model.has_known_cost() || !is_known, "{:?}", room.events.last());
    assert!(room.thread.inbox.arrived.is_empty());
}

#[test]
fn a_summary_that_a_person_wants_is_a_run_of_its_own_and_the_mode_is_not_forgotten() {
    let mut room = Room::with(Policy::default(), Mode::Auto, Grant::default());
    arrives(&mut room, "s", Outside::SummaryWanted { grant: None });
    assert_eq!(room.thread.issued.runs, 1, "it waits for the end of the run");
    room.says("Roses and violets.");
    let mut asked = room.events.iter().filter_map(|event| match event {
        Event::TurnStarted(turn) => Some(turn.kind.clone()),
        _ => None,
    });
    assert_eq!(asked.next_back(), Some(TurnKind::Compact));
    room.says("Flowers.");
    let Some(Event::Reported(report)) = room.events.last() else { panic!("{:?}", room.events.last()) };
    assert_eq!((report.outcome, &*report.text), (Outcome::Completed, "Flowers."));
    assert!(!texts(&room.thread).iter().any(|text| text.contains("violets")), "{:?}", texts(&room.thread));
    chooses(&mut room, "m", Mode::Plan);
    arrives(&mut room, "t", Outside::SummaryWanted { grant: None });
    room.says("Still flowers.");
    let said = texts(&room.thread);
    assert!(said[1].contains("Still flowers.") && said[1].contains("it is plan"), "{said:?}");
}

#[test]
fn an_empty_summary_leaves_the_conversation_as_it_was() {
    let mut room = Room::new(Policy::default());
    room.says("Roses.");
    arrives(&mut room, "s", Outside::SummaryWanted { grant: None });
    room.says("");
    let Some(Event::Reported(report)) = room.events.last() else { panic!("{:?}", room.events.last()) };
    assert_eq!(report.outcome, Outcome::NoOutput);
    assert!(texts(&room.thread).iter().any(|text| text.contains("Roses.")));
    assert!(!kinds(&room).contains(&"context_compacted"));
}

#[test]
fn a_log_with_changes_is_read_to_the_same_state() {
    let mut room = Room::new(Policy::default());
    let created = Event::ThreadCreated(Box::new(room.thread.created.clone()));
    room.says("Roses.");
    let before = room.events.len();
    chooses(&mut room, "m", Mode::Plan);
    let changed: Vec<Event> = room.events[before..].to_vec();
    let json = serde_json::to_string(&changed).expect("JSON");
    assert_eq!(serde_json::from_str::<Vec<Event>>(&json).expect("events"), changed);
    let mut thread = Thread::new(Time(0), &created);
    for event in &changed {
        thread.apply(Time(0), event);
    }
    assert_eq!(thread.mode, Mode::Plan);
}
