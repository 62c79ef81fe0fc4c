use agent::policy::{ContextMode, CountMode, OnError, ReportData, StartApproval, TokenCount};
use toml::Table;

use super::*;

fn keys(text: &str) -> Vec<Key> {
    of_text(text, |_| Origin::Default).expect("a preset is TOML").into_iter().map(|setting| setting.key).collect()
}

/// A value of the same kind that no preset has.
fn another(key: &str, value: &Value) -> Value {
    match (key, value) {
        (_, Value::Integer(number)) => Value::Integer(if *number > 1_000_000 { number - 1 } else { number + 1 }),
        (_, Value::Boolean(switch)) => Value::Boolean(!switch),
        (_, Value::Array(pairs)) if pairs.is_empty() => Value::Array(vec![vec!["delegate_triage", "triage"].into()]),
        (_, Value::Array(words)) => Value::Array(words[..words.len() - 1].to_vec()),
        (_, Value::String(word)) if word == "unlimited" => Value::Integer(7),
        ("context", Value::String(word)) => Value::from(if word == "brief" { "structured" } else { "brief" }),
        ("report_data", Value::String(word)) => Value::from(if word == "none" { "last_result" } else { "none" }),
        ("token_count", Value::String(word)) => Value::from(if word == "fresh" { "billed" } else { "fresh" }),
        ("count_mode", Value::String(word)) => Value::from(if word == "total" { "active" } else { "total" }),
        ("approval", Value::String(word)) => Value::from(if word == "never" { "always" } else { "never" }),
        ("lifecycle", Value::String(word)) => Value::from(if word == "call" { "persistent" } else { "call" }),
        ("on_error", Value::String(word)) => Value::from(if word == "stop" { "continue" } else { "stop" }),
        other => panic!("no other value is known for {other:?}"),
    }
}

#[test]
fn the_default_preset_names_every_field_and_agrees_with_the_rules() {
    assert_eq!(Preset::default().policy(), Policy::default());
    let fields = Table::try_from(Policy::default()).expect("a policy is a table");
    let child = fields["child"].as_table().expect("a table").len();
    let dialect = 1;
    assert_eq!(keys(TEXTS[0]).len(), fields.len() - 1 + child + dialect);
}

// INV-6
#[test]
fn changing_any_field_of_any_preset_changes_the_policy() {
    for (name, text) in NAMES.iter().zip(TEXTS) {
        let policy = Preset::parse(name, text).expect("valid").policy();
        for key in keys(text).iter().filter(|key| key.section() == "policy") {
            let mut table: Table = text.parse().expect("TOML");
            let (last, above) = key.parts().split_last().expect("parts");
            let place = above.iter().fold(&mut table, |table, part| table[part].as_table_mut().expect("a table"));
            let value = another(last, &place[last]);
            place.insert(last.clone(), value);
            let changed = Preset::parse(name, &table.to_string()).expect("valid").policy();
            assert_ne!(changed, policy, "{key} of {name} changes nothing");
        }
    }
}

// LACE-7, LACE-18, LACE-19
#[test]
fn lace_works_by_tasks_and_by_temporary_sub_agents_and_has_no_verb_that_spawns() {
    let preset = Preset::named("lace").expect("a preset");
    let policy = preset.policy();
    assert_eq!((policy.max_depth, policy.max_children, policy.max_concurrent), (1, u32::MAX, 10));
    assert_eq!(policy.verbs, ["delegate_task".into()]);
    assert_eq!(policy.lifecycle, agent::policy::Lifecycle::Persistent);
    assert_eq!((policy.approval, policy.on_error), (StartApproval::Never, OnError::Continue));
    let of_tasks: Vec<String> =
        preset.settings().iter().filter(|one| one.key.section() == "tasks").map(|one| one.key.to_string()).collect();
    assert_eq!(of_tasks, ["tasks.enabled", "tasks.max_concurrent"]);
}

// OPTA-5, OPTA-6, OPTA-10, OPTA-12, OPTA-13, OPTA-14, OPTA-33, OPTA-34
#[test]
fn opta_carries_the_values_of_its_seed() {
    let policy = Preset::named("opta").expect("a preset").policy();
    assert!(policy.enabled && policy.inherit_mode);
    assert_eq!((policy.max_depth, policy.max_concurrent, policy.max_subtasks), (2, 1, 5));
    assert_eq!(policy.max_children, u32::MAX);
    let child = &policy.child;
    assert_eq!((child.max_tool_calls, child.max_tokens, child.timeout_ms), (15, 8192, 60_000));
    assert_eq!((policy.max_child_tool_calls, policy.min_child_timeout_ms), (100, 5000));
    assert_eq!((policy.token_count, policy.on_error), (TokenCount::Fresh, OnError::Stop));
    assert_eq!(policy.verbs, ["spawn_agent", "delegate_task"].map(Into::into));
    assert_eq!(policy.spawn_args, ["task", "scope", "max_tool_calls", "mode"].map(Into::into));
}

// OPTA-17, OPTA-36
#[test]
fn opta_keeps_children_silent_and_the_verbs_out_of_plan_mode() {
    let policy = Preset::named("opta").expect("a preset").policy();
    assert!(!policy.children_may_ask);
    assert!(!policy.spawn_in_plan);
}

// OPTA-15: two levels need a grandchild that can still be granted something out of 8192 tokens.
#[test]
fn under_opta_a_child_can_afford_a_child() {
    let policy = Preset::named("opta").expect("a preset").policy();
    assert!(policy.min_child_tokens * 4 <= policy.child.max_tokens);
}

// ORION-1, ORION-3, ORION-18
#[test]
fn orion_carries_the_values_of_its_seed() {
    let policy = Preset::named("orion").expect("a preset").policy();
    assert!(policy.enabled && policy.inherit_mode);
    assert_eq!((policy.max_depth, policy.max_concurrent, policy.max_subtasks), (1, 1, 5));
    assert_eq!(policy.max_children, u32::MAX);
    assert_eq!((policy.context, policy.max_context_tokens), (ContextMode::Structured, 4000));
    assert_eq!((policy.report_data, policy.on_error), (ReportData::LastResult, OnError::Continue));
    assert_eq!(policy.approval, StartApproval::Never);
    assert_eq!(policy.verbs, ["delegate".into()]);
    let pairs: Vec<(&str, &str)> = policy.delegates.iter().map(|(intent, agent)| (&**intent, &**agent)).collect();
    let expected = [
        ("delegate_triage", "triage"),
        ("delegate_schedule", "scheduler"),
        ("delegate_draft", "communicator"),
        ("delegate_search", "navigator"),
        ("delegate_learn", "preference_learner"),
    ];
    assert_eq!(pairs, expected);
}

// KATA-1, KATA-7, KATA-17, KATA-22
#[test]
fn kata_carries_the_values_of_its_seed() {
    let policy = Preset::named("kata").expect("a preset").policy();
    assert_eq!((policy.max_depth, policy.max_children, policy.max_concurrent), (10, u32::MAX, 5));
    assert_eq!((policy.approval, policy.context), (StartApproval::Never, ContextMode::Brief));
    assert_eq!(policy.on_error, OnError::Continue, "a failed sub-agent is shown, and the others go on");
    assert_eq!(policy.verbs, ["Task".into()]);
    let types: Vec<(&str, &str)> = policy.delegates.iter().map(|(kind, agent)| (&**kind, &**agent)).collect();
    assert_eq!(types, [("general-purpose", "general"), ("Explore", "explore"), ("Plan", "plan")]);
}

// ZILEO-3, ZILEO-5, ZILEO-19, ZILEO-25, ZILEO-35
#[test]
fn zileo_carries_the_values_of_its_seed() {
    let policy = Preset::named("zileo").expect("a preset").policy();
    assert_eq!((policy.max_depth, policy.max_children, policy.count_mode), (1, 3, CountMode::Total));
    assert_eq!((policy.max_concurrent, policy.max_subtasks), (3, 3));
    assert_eq!((policy.approval, policy.on_error), (StartApproval::Always, OnError::Continue));
    assert_eq!(policy.verbs, ["SpawnAgentTool", "DelegateTaskTool", "ParallelTasksTool"].map(Into::into));
}

#[test]
fn a_field_that_a_preset_does_not_name_is_that_of_the_default() {
    let policy = Preset::parse("mine", "policy.max_depth = 7").expect("valid").policy();
    assert_eq!(policy, Policy { max_depth: 7, ..Policy::default() });
}

#[test]
fn an_unknown_field_in_a_preset_is_an_error_that_names_the_right_one() {
    let error = Preset::parse("mine", "[policy]\nmax_dept = 3").expect_err("unknown");
    assert_eq!(
        error.to_string(),
        "preset mine: policy.max_dept is no part of a preset; did you mean policy.max_depth?"
    );
}

// T47: a preset is a set of rules and can carry neither addresses nor freedom.
#[test]
fn a_preset_holds_rules_and_dialect_and_nothing_else() {
    for text in ["mode = \"auto\"", "providers.x.base_url = \"http://x\"", "data = \"/tmp\"", "grant.tokens = 5"] {
        assert!(matches!(Preset::parse("mine", text), Err(Error::PresetKey { .. })), "{text}");
    }
    assert!(matches!(Preset::parse("mine", "policy = 3"), Err(Error::Value { .. })));
}

#[test]
fn a_wrong_value_in_a_preset_is_an_error() {
    let error = Preset::parse("mine", "policy.max_concurrent = 0").expect_err("none could ever run");
    assert_eq!(
        error.to_string(),
        "preset mine: policy.max_concurrent expects a whole number of at least 1, or \"unlimited\", not 0"
    );
}

#[test]
fn there_is_no_preset_of_another_name() {
    assert!(Preset::named("zileo-chat").is_none());
}
