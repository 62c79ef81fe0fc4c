//! Every field of the policy changes what happens (INV-6, OPTA-12): none is there for show.

use majordomo_agent::facts::Consent;
use majordomo_agent::policy::{
    ContextMode, CountMode, Lifecycle, OnError, Policy, ReportData, StartApproval, TokenCount,
};
use majordomo_agent::report::Report;
use majordomo_agent::role::Agent;
use majordomo_agent::tools::ToolResult;
use majordomo_agent::{CallId, Effect, Event, Input, Mode, Outcome, Thread, ThreadId, Usage};

use super::room::{self, Room};

/// A field, two policies that differ in it alone, and what is seen under each.
struct Field {
    name: &'static str,
    one: (fn(&mut Policy), &'static str),
    other: (fn(&mut Policy), &'static str),
    seen: fn(Policy) -> String,
}

const SPAWN: (&str, &str) = ("spawn_agent", r#"{"task":"a"}"#);
const READ: (&str, &str) = ("read_file", r#"{"path":"a"}"#);

const FIELDS: &[Field] = &[
    Field {
        name: "enabled",
        one: (|policy| policy.enabled = true, "6 verbs"),
        other: (|policy| policy.enabled = false, "0 verbs"),
        seen: |policy| format!("{} verbs", verbs(&Room::new(policy))),
    },
    Field {
        name: "max_depth",
        one: (|policy| policy.max_depth = 1, "depth 0"),
        other: (|policy| policy.max_depth = 3, "depth 2"),
        seen: |policy| format!("depth {}", after(policy, &[SPAWN]).spawned()[0].grant.depth),
    },
    Field {
        name: "max_children",
        one: (|policy| policy.max_children = 1, "1 of 3"),
        other: (|policy| policy.max_children = 2, "2 of 3"),
        seen: |policy| format!("{} of 3", after(policy, &[SPAWN; 3]).spawned().len()),
    },
    Field {
        name: "count_mode",
        one: (|policy| policy.count_mode = CountMode::Total, "15 left"),
        other: (|policy| policy.count_mode = CountMode::Active, "16 left"),
        seen: |policy| {
            let mut room = after(policy, &[SPAWN]);
            room.reports("r.1", Outcome::Completed, Usage::default());
            format!("{} left", room.thread.descendants_left())
        },
    },
    Field {
        name: "max_concurrent",
        one: (|policy| policy.max_concurrent = 1, "1 begun"),
        other: (|policy| policy.max_concurrent = 3, "3 begun"),
        seen: |policy| format!("{} begun", after(policy, &[SPAWN; 3]).started()),
    },
    Field {
        name: "max_subtasks",
        one: (|policy| policy.max_subtasks = 1, "0 begun"),
        other: (|policy| policy.max_subtasks = 2, "2 begun"),
        seen: |policy| format!("{} begun", after(policy, &[("delegate_task", r#"{"subtasks":["a","b"]}"#)]).started()),
    },
    Field {
        name: "max_calls_per_answer",
        one: (|policy| policy.max_calls_per_answer = 1, "1 run"),
        other: (|policy| policy.max_calls_per_answer = 3, "3 run"),
        seen: |policy| format!("{} run", after(policy, &[READ; 3]).run()),
    },
    Field {
        name: "child.max_tool_calls",
        one: (|policy| policy.child.max_tool_calls = 7, "7 calls"),
        other: (|policy| policy.child.max_tool_calls = 8, "8 calls"),
        seen: |policy| format!("{} calls", after(policy, &[SPAWN]).spawned()[0].grant.tool_calls.unwrap()),
    },
    Field {
        name: "child.max_tokens",
        one: (|policy| policy.child.max_tokens = 5000, "5000 tokens"),
        other: (|policy| policy.child.max_tokens = 6000, "6000 tokens"),
        seen: |policy| format!("{} tokens", after(policy, &[SPAWN]).spawned()[0].grant.tokens.unwrap()),
    },
    Field {
        name: "child.timeout_ms",
        one: (|policy| policy.child.timeout_ms = 5000, "5000 ms"),
        other: (|policy| policy.child.timeout_ms = 6000, "6000 ms"),
        seen: |policy| format!("{} ms", after(policy, &[SPAWN]).spawned()[0].grant.time_ms.unwrap()),
    },
    Field {
        // OPTA-13
        name: "max_child_tool_calls",
        one: (|policy| policy.max_child_tool_calls = 100, "100 calls"),
        other: (|policy| policy.max_child_tool_calls = 0, "900 calls"),
        seen: |policy| {
            let room = after(policy, &[("spawn_agent", r#"{"task":"a","max_tool_calls":900}"#)]);
            format!("{} calls", room.spawned()[0].grant.tool_calls.unwrap())
        },
    },
    Field {
        name: "min_child_tokens",
        one: (|policy| policy.min_child_tokens = 1024, "1 begun"),
        other: (|policy| policy.min_child_tokens = 4096, "0 begun"),
        seen: |policy| {
            format!("{} begun", after(policy, &[("spawn_agent", r#"{"task":"a","max_tokens":2000}"#)]).started())
        },
    },
    Field {
        // OPTA-14
        name: "min_child_timeout_ms",
        one: (|policy| policy.min_child_timeout_ms = 5000, "0 begun"),
        other: (|policy| policy.min_child_timeout_ms = 100, "1 begun"),
        seen: |policy| {
            format!("{} begun", after(policy, &[("spawn_agent", r#"{"task":"a","timeout_s":0.1}"#)]).started())
        },
    },
    Field {
        name: "token_count",
        one: (|policy| policy.token_count = TokenCount::Billed, "220 counted"),
        other: (|policy| policy.token_count = TokenCount::Fresh, "120 counted"),
        seen: |policy| {
            let mut room = after(policy, &[READ]);
            room.returns("c1", "text");
            room.says("Done.");
            format!("{} counted", room.thread.spending.used.counted_tokens)
        },
    },
    Field {
        // OPTA-18
        name: "inherit_mode",
        one: (|policy| policy.inherit_mode = true, "auto"),
        other: (|policy| policy.inherit_mode = false, "ask"),
        seen: |policy| after(policy, &[SPAWN]).spawned()[0].mode.to_string(),
    },
    Field {
        // OPTA-36
        name: "spawn_in_plan",
        one: (|policy| policy.spawn_in_plan = true, "6 verbs"),
        other: (|policy| policy.spawn_in_plan = false, "0 verbs"),
        seen: |policy| format!("{} verbs", verbs(&Room::with(policy, Mode::Plan, Default::default()))),
    },
    Field {
        // OPTA-17
        name: "children_may_ask",
        one: (|policy| policy.children_may_ask = true, "true"),
        other: (|policy| policy.children_may_ask = false, "false"),
        seen: |policy| {
            after(policy, &[SPAWN]).spawned()[0].role.tools.iter().any(|tool| &**tool == "ask_user").to_string()
        },
    },
    Field {
        name: "stall_ms",
        one: (|policy| policy.stall_ms = 5000, "Some(5000)"),
        other: (|policy| policy.stall_ms = 0, "None"),
        seen: |policy| {
            let room = Room::new(policy);
            format!("{:?}", room.thread.next_wake(None).map(|at| at.since_ms(room.now)))
        },
    },
    Field {
        // ZILEO-25, ZILEO-35
        name: "approval",
        one: (|policy| policy.approval = StartApproval::Always, "spawn asks, batch asks"),
        other: (|policy| policy.approval = StartApproval::ByRisk, "spawn is free, batch asks"),
        seen: |policy| format!("spawn {}, batch {}", asked(&policy, false), asked(&policy, true)),
    },
    Field {
        // OPTA-34
        name: "on_error",
        one: (|policy| policy.on_error = OnError::Continue, "0 stopped"),
        other: (|policy| policy.on_error = OnError::Stop, "1 stopped"),
        seen: |policy| {
            let mut room = after(policy, &[("delegate_task", r#"{"subtasks":["a","b"]}"#)]);
            room.reports("r.1", Outcome::Error, Usage::default());
            let stopped = room.effects.iter().filter(|effect| matches!(effect, Effect::StopChild { .. })).count();
            format!("{stopped} stopped")
        },
    },
    Field {
        // OPTA-48
        name: "reuse_reports",
        one: (|policy| policy.reuse_reports = true, "1 children"),
        other: (|policy| policy.reuse_reports = false, "2 children"),
        seen: |policy| {
            const LOOK: (&str, &str) = ("spawn_agent", r#"{"task":"look","agent":"explore"}"#);
            let mut room = after(policy, &[LOOK]);
            room.reports("r.1", Outcome::Completed, Usage::default());
            room.calls(&[LOOK]);
            format!("{} children", room.thread.issued.children)
        },
    },
    Field {
        name: "verbs",
        one: (|policy| policy.verbs = vec!["spawn_agent".into()], "1 verbs"),
        other: (|policy| policy.verbs = vec!["spawn_agent".into(), "wait_agents".into()], "2 verbs"),
        seen: |policy| format!("{} verbs", verbs(&Room::new(policy))),
    },
    Field {
        // OPTA-10
        name: "spawn_args",
        one: (|policy| policy.spawn_args = vec!["task".into()], "task; general"),
        other: (|policy| policy.spawn_args = vec!["task".into(), "agent".into()], "agent task; explore"),
        seen: |policy| {
            let room = after(policy, &[("spawn_agent", r#"{"task":"a","agent":"explore"}"#)]);
            let tools = majordomo_agent::creation::advertised(&room.thread, &room.world.catalog);
            let schema = tools.iter().find(|tool| &*tool.name == "spawn_agent").unwrap().schema.value();
            let shown: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            format!("{}; {}", shown.join(" "), room.spawned()[0].role.name)
        },
    },
    Field {
        name: "loop_refuse_at",
        one: (|policy| policy.loop_refuse_at = 2, "1 run"),
        other: (|policy| policy.loop_refuse_at = 4, "3 run"),
        seen: |policy| format!("{} run", after(policy, &[READ; 3]).run()),
    },
    Field {
        name: "delegates",
        one: (|policy| policy.delegates = vec![("delegate_scribe".into(), "scribe".into())], "scribe"),
        other: (|policy| policy.delegates = vec![("delegate_scribe".into(), "explore".into())], "explore"),
        seen: |policy| handed_over(policy).spawned()[0].role.name.to_string(),
    },
    Field {
        name: "context",
        one: (|policy| policy.context = ContextMode::Brief, "false"),
        other: (|policy| policy.context = ContextMode::Structured, "true"),
        seen: |policy| handed_over(policy).spawned()[0].brief.context.is_some().to_string(),
    },
    Field {
        name: "lifecycle",
        one: (|policy| policy.lifecycle = Lifecycle::Call, "false, completed"),
        other: (|policy| policy.lifecycle = Lifecycle::Persistent, "true, idle, was completed"),
        seen: |policy| {
            let mut room = after(policy, &[SPAWN]);
            let created = room.thread.child_created(&ThreadId::new("r.1")).expect("it was started");
            let is_told = majordomo_agent::context::system(&created).contains("You stay after it");
            room.reports("r.1", Outcome::Completed, Default::default());
            room.calls(&[("list_agents", "{}")]);
            let listed = room.results().last().expect("a list").0.to_owned();
            format!("{is_told}, {}", listed.rsplit(": ").next().unwrap_or_default())
        },
    },
    Field {
        name: "max_context_tokens",
        one: (|policy| (policy.context, policy.max_context_tokens) = (ContextMode::Structured, 10), "0 begun"),
        other: (|policy| (policy.context, policy.max_context_tokens) = (ContextMode::Structured, 100), "1 begun"),
        seen: |policy| format!("{} begun", handed_over(policy).started()),
    },
    Field {
        name: "report_data",
        one: (|policy| policy.report_data = ReportData::None, "None"),
        other: (|policy| policy.report_data = ReportData::LastResult, r#"Some({"n":1})"#),
        seen: |policy| {
            let mut room = after(policy, &[READ]);
            room.returns("c1", r#"{"n":1}"#);
            room.says("Done.");
            let Some(Event::Reported(report)) = room.events.last() else { panic!("a run ends with its report") };
            format!("{:?}", report.data)
        },
    },
    Field {
        name: "loop_end_at",
        one: (|policy| (policy.loop_refuse_at, policy.loop_end_at) = (1, 3), "ended"),
        other: (|policy| (policy.loop_refuse_at, policy.loop_end_at) = (1, 4), "going on"),
        seen: |policy| {
            let room = after(policy, &[READ; 3]);
            if room.thread.run.unwrap().closing.ending.is_some() { "ended".to_owned() } else { "going on".to_owned() }
        },
    },
    Field {
        // T70
        name: "loop_failed_at",
        one: (|policy| policy.loop_failed_at = 2, "ended"),
        other: (|policy| policy.loop_failed_at = 3, "going on"),
        seen: |policy| {
            let mut room = after(policy, &[("fly", "{}")]);
            room.calls(&[("swim", "{}")]);
            if room.thread.run.unwrap().closing.ending.is_some() { "ended".to_owned() } else { "going on".to_owned() }
        },
    },
    Field {
        // T70
        name: "max_rounds",
        one: (|policy| policy.max_rounds = 1, "asked 1 times, then refused"),
        other: (|policy| policy.max_rounds = 3, "asked 3 times, then refused"),
        seen: |policy| {
            let mut room = after(policy, &[SPAWN]);
            room.reports("r.1", Outcome::Completed, Default::default());
            let told = |room: &mut Room, asked: u32| {
                let words = format!(r#"{{"agent":"r.1","text":"Thanks! ({asked})"}}"#);
                room.calls(&[("message_agent", &words)]);
                let is_refused = room.results().last().is_some_and(|(told, _)| told.contains("policy.max_rounds"));
                let newest = room.events.iter().rev().find_map(|event| match event {
                    Event::ChildAsked(asked) => Some(asked.input.clone()),
                    _ => None,
                });
                let report = Report { asked: newest, ..room::report(Outcome::Completed, Default::default()) };
                room.hears(Input::ChildReported { child: ThreadId::new("r.1"), report: Box::new(report) });
                !is_refused
            };
            let asked = (0..10).take_while(|asked| told(&mut room, *asked)).count();
            format!("asked {asked} times, then refused")
        },
    },
    Field {
        name: "check_attempts",
        one: (|policy| policy.check_attempts = 1, "given up after 1"),
        other: (|policy| policy.check_attempts = 3, "given up after 3"),
        seen: |policy| {
            let mut room = Room::with(policy, Mode::Dangerous, Default::default());
            room.calls(&[("spawn_agent", r#"{"task":"a","checks":["test"]}"#)]);
            let created = room.thread.child_created(&ThreadId::new("r.1")).expect("it was started");
            room.thread = Thread::new(room.now, &Event::ThreadCreated(Box::new(created)));
            room.hears(Input::Begin);
            let mut failed = 0;
            while room.thread.run.is_some() {
                let answer = room.words("done");
                room.hears(answer);
                let call = CallId::new(format!("check-{}", room.thread.issued.turns));
                let result = ToolResult { executed: true, ..ToolResult::error("it failed") };
                room.hears(Input::ChecksFinished { call, result });
                failed += 1;
            }
            format!("given up after {failed}")
        },
    },
];

#[test]
fn every_field_of_the_policy_changes_what_happens() {
    for field in FIELDS {
        for (set, expected) in [field.one, field.other] {
            let mut policy = Policy::default();
            set(&mut policy);
            assert_eq!((field.seen)(policy), expected, "{}", field.name);
        }
    }
}

#[test]
fn no_field_of_the_policy_is_left_out() {
    let policy = serde_json::to_value(Policy::default()).unwrap();
    let mut fields = Vec::new();
    for (name, value) in policy.as_object().unwrap() {
        match value.as_object() {
            Some(inner) => fields.extend(inner.keys().map(|inner| format!("{name}.{inner}"))),
            None => fields.push(name.clone()),
        }
    }
    fields.sort();
    let mut tested: Vec<&str> = FIELDS.iter().map(|field| field.name).collect();
    tested.sort_unstable();
    assert_eq!(fields, tested);
}

#[test]
fn a_delegation_costs_its_parent_one_call() {
    // OPTA-29
    let room = after(Policy::default(), &[("delegate_task", r#"{"subtasks":["a","b","c"]}"#)]);
    assert_eq!(room.thread.spending.used.tool_calls, 1);
    assert!(room.events.iter().any(|event| matches!(event, Event::Delegated { .. })));
}

fn after(policy: Policy, calls: &[(&str, &str)]) -> Room {
    let mut room = Room::new(policy);
    room.calls(calls);
    room
}

/// After a butler has handed a task to the agent that its policy names.
fn handed_over(mut policy: Policy) -> Room {
    policy.verbs = vec!["delegate".into()];
    if policy.delegates.is_empty() {
        policy.delegates = vec![("delegate_scribe".into(), "scribe".into())];
    }
    let mut world = room::world();
    let butler = Agent { name: "butler".into(), ..world.catalog.agents["general"].clone() };
    world.catalog.agents.insert("butler".into(), butler);
    let mut room = Room::of(world, "butler", policy, Mode::Auto, Default::default());
    room.calls(&[("delegate", r#"{"intent":"delegate_scribe","task":"Write","delegationReasoning":"it writes"}"#)]);
    room
}

/// What becomes of the start of one sub-agent, or of a batch, where a person can be asked.
pub fn asked(policy: &Policy, is_batch: bool) -> &'static str {
    const ONE: (&str, &str) = ("DelegateTaskTool", r#"{"operation":"delegate","agent_id":"explore","prompt":"a"}"#);
    const BATCH: (&str, &str) =
        ("ParallelTasksTool", r#"{"operation":"execute_batch","tasks":[{"agent_id":"explore","prompt":"a"}]}"#);
    let verbs = vec![ONE.0.into(), BATCH.0.into()];
    let mut room = Room::new(Policy { verbs, ..policy.clone() });
    room.world.consent = Consent::Asked;
    room.calls(&[if is_batch { BATCH } else { ONE }]);
    if room.thread.approvals.open.is_empty() { "is free" } else { "asks" }
}

fn verbs(room: &Room) -> usize {
    let is_verb = |name: &std::sync::Arc<str>| majordomo_agent::policy::VERBS.contains(&&**name);
    room.advertised().iter().filter(|name| is_verb(name)).count()
}
