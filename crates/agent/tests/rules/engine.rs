//! The engine alone: rules, modes and layers, by table and by chance.

use std::sync::Arc;

use majordomo_agent::Mode;
use majordomo_agent::permission::{Action, Asked, Decider, Judgement, Layer, Rule, forbidden, judge, matches};
use majordomo_agent::tools::{Assessment, Reach, Risk};
use proptest::prelude::*;

#[test]
fn a_star_stands_for_any_text_and_the_rest_for_itself() {
    let yes = [("", ""), ("*", ""), ("*", "x y"), ("git status*", "git status -s"), ("a*b*c", "aXbYbZc"), ("a", "a")];
    for (pattern, text) in yes {
        assert!(matches(pattern, text), "{pattern} {text}");
    }
    let no = [("", "x"), ("git status", "git status -s"), ("a*c", "ab"), ("a*a", "a"), ("*b", "ba"), ("A", "a")];
    for (pattern, text) in no {
        assert!(!matches(pattern, text), "{pattern} {text}");
    }
}

#[test]
fn who_decided_is_said_apart_from_the_words() {
    // An agent or a rule may be named as our own words begin: that is not looked at.
    let general = |mode, rules: &[Rule], granted: &[Rule], assessment: &Assessment, asks| {
        let asked = Asked { tool: "write", assessment, foreign: false, asks };
        judge(&[layer("mode rule: ", mode)], rules, granted, &asked).decider
    };
    let (plain, allow) = (writes("mode "), rule("write", None, Action::Allow));
    let protected = Assessment { protected: vec![".git/hooks".into()], ..writes("a") };
    let why = Some("rule: always");
    assert_eq!(general(Mode::Auto, &[], &[], &plain, None), Decider::Mode);
    assert_eq!(general(Mode::Plan, std::slice::from_ref(&allow), &[], &plain, None), Decider::Mode);
    assert_eq!(general(Mode::Ask, std::slice::from_ref(&allow), &[], &plain, None), Decider::Rule);
    assert_eq!(general(Mode::Ask, &[], &[allow], &plain, None), Decider::Consent);
    assert_eq!(general(Mode::Ask, &[], &[], &protected, None), Decider::Protected);
    assert_eq!(general(Mode::Auto, &[], &[], &plain, why), Decider::Policy);
    assert_eq!(general(Mode::Dangerous, &[], &[], &plain, why), Decider::Mode);
}

#[test]
fn deny_wins_then_ask_then_allow_then_the_mode() {
    let rules = [
        rule("write", None, Action::Allow),
        rule("write", Some("a*"), Action::Ask),
        rule("*", Some("ab"), Action::Deny),
    ];
    let expected = [("z", Action::Allow), ("a", Action::Ask), ("ab", Action::Deny)];
    for (subject, action) in expected {
        let judged = alone(Mode::Ask, &rules, &writes(subject));
        assert_eq!(judged.action, action, "{subject}: {}", judged.by);
        assert!(judged.by.starts_with(&format!("rule: {action}")), "{}", judged.by);
    }
    assert_eq!(alone(Mode::Ask, &[], &writes("z")).action, Action::Ask);
    assert_eq!(&*alone(Mode::Ask, &[], &writes("z")).by, "mode ask: writing needs approval");
}

#[test]
fn plan_is_not_lifted_by_any_rule_and_dangerous_keeps_denies_and_protected_places() {
    let allow = [rule("*", None, Action::Allow)];
    assert_eq!(alone(Mode::Plan, &allow, &writes("a")).action, Action::Deny);
    assert_eq!(alone(Mode::Dangerous, &[rule("write", None, Action::Ask)], &writes("a")).action, Action::Allow);
    assert_eq!(alone(Mode::Dangerous, &[rule("write", None, Action::Deny)], &writes("a")).action, Action::Deny);
    // T19: everything is not a name
    let hook = Assessment { protected: vec![".git/hooks".into()], ..writes(".git/hooks/x") };
    for rules in [vec![], allow.to_vec(), vec![rule("write", Some("*"), Action::Allow)]] {
        assert_eq!(alone(Mode::Dangerous, &rules, &hook).action, Action::Deny);
        assert_eq!(alone(Mode::Auto, &rules, &hook).action, Action::Ask);
    }
    let named = [rule("write", Some(".git/hooks/*"), Action::Allow)];
    assert_eq!(alone(Mode::Auto, &named, &hook).action, Action::Allow);
}

#[test]
fn a_pattern_allows_only_what_it_tells_whole() {
    // T26
    let rules = [rule("run", Some("git status*"), Action::Allow), rule("run", Some("ls*"), Action::Allow)];
    let asked = |subjects: &[&str], is_plain: bool| {
        let subjects = subjects.iter().map(|subject| Arc::from(*subject)).collect();
        let assessment = Assessment { subjects, is_plain, reach: Reach::World, ..writes("") };
        let asked = Asked { tool: "run", assessment: &assessment, foreign: false, asks: None };
        judge(&[layer("general", Mode::Auto)], &rules, &[], &asked).action
    };
    assert_eq!(alone(Mode::Ask, &rules, &writes("git status")).action, Action::Ask, "the rule is for another tool");
    assert_eq!(asked(&["git status -s", "ls"], true), Action::Allow);
    assert_eq!(asked(&["git status", "rm x"], true), Action::Ask);
    assert_eq!(asked(&["git status"], false), Action::Ask);
    assert_eq!(asked(&[], true), Action::Ask);
}

#[test]
fn another_name_of_the_same_forbids_and_never_allows() {
    // T43
    let aliased = Assessment { also: vec!["/home/ann/garden/secret".into()], ..writes("secret") };
    let deny = [rule("write", None, Action::Allow), rule("write", Some("/home/ann/garden/*"), Action::Deny)];
    assert_eq!(alone(Mode::Auto, &deny, &aliased).action, Action::Deny);
    assert_eq!(
        alone(Mode::Ask, &[rule("write", Some("/home/ann/garden/*"), Action::Allow)], &aliased).action,
        Action::Ask
    );
    assert_eq!(alone(Mode::Ask, &[rule("write", Some("secret"), Action::Allow)], &aliased).action, Action::Allow);
}

#[test]
fn what_may_not_be_read_is_what_any_layer_is_denied() {
    // T43
    let denied =
        |pattern, agent: Option<&str>| Rule { agent: agent.map(Arc::from), ..rule("read_*", pattern, Action::Deny) };
    let rules = [
        denied(Some("*.env"), Some("explore")),
        denied(Some("keys/*"), Some("general")),
        denied(None, Some("general")),
        rule("read_file", Some("asked"), Action::Ask),
        rule("write_file", Some("written"), Action::Deny),
    ];
    let chain = [layer("general", Mode::Dangerous), layer("explore", Mode::Ask)];
    assert_eq!(forbidden(&chain, &rules, "read_file"), ["*.env".into(), "keys/*".into()]);
    assert_eq!(forbidden(&chain[..1], &rules, "read_file"), ["keys/*".into()]);
}

#[test]
fn a_protected_place_is_freed_only_by_a_rule_that_names_the_whole_of_it() {
    // T68
    let protected = |place: &str| Assessment { protected: vec![place.into()], ..writes(".git/new") };
    let freed = |pattern: &str, place: &str| {
        alone(Mode::Dangerous, &[rule("write", Some(pattern), Action::Allow)], &protected(place)).action
            == Action::Allow
    };
    for (pattern, place) in
        [("*.git/*", ".git"), ("*.vscode*", ".vscode"), ("cp a .vscode/b", ".vscode"), (".git/config", ".git/config")]
    {
        assert!(freed(pattern, place), "{pattern} names {place}");
    }
    for (pattern, place) in [
        (".gitignore", ".git"),
        ("*.gitattributes", ".git"),
        ("x.git", ".git"),
        ("*", ".git"),
        (".vscode-old", ".vscode"),
    ] {
        assert!(!freed(pattern, place), "{pattern} does not name {place}");
    }
}

#[test]
fn what_cannot_be_read_may_be_what_a_rule_forbids() {
    // T31
    let rules = [rule("write", Some("rm *"), Action::Deny)];
    let unreadable = Assessment { is_readable: false, is_plain: false, ..writes("$(x) y") };
    for mode in [Mode::Ask, Mode::Auto, Mode::Dangerous] {
        assert_eq!(alone(mode, &rules, &unreadable).action, Action::Deny, "{mode}");
    }
}

#[test]
fn what_may_be_denied_is_asked_and_denied_where_nothing_asks() {
    // T69
    let rules = [rule("write", Some("git push*"), Action::Deny)];
    let undecided =
        |act: &str| Assessment { reach: Reach::ReadOnly, perhaps: vec![act.replace('?', "\0").into()], ..writes("x") };
    let may_push =
        ["?", "git ?", "? push", "git ? push", "git pu?", "git push ?", "g?h origin", "?git push", "git push?"];
    let does_not = ["rm ?", "git log ?", "git", "gi", "git pul?", "echo ? git push", ""];
    for (acts, is_meant) in [(&may_push[..], true), (&does_not[..], false)] {
        for act in acts {
            let assessment = undecided(act);
            let expected = |action| if is_meant { action } else { Action::Allow };
            for mode in [Mode::Plan, Mode::Ask, Mode::Auto] {
                let judged = alone(mode, &rules, &assessment);
                assert_eq!((judged.action, judged.is_undecided), (expected(Action::Ask), is_meant), "{mode} {act}");
            }
            assert_eq!(alone(Mode::Dangerous, &rules, &assessment).action, expected(Action::Deny), "{act}");
            let asks = [rule("write", Some("git push*"), Action::Ask)];
            assert_eq!(alone(Mode::Dangerous, &asks, &assessment).action, Action::Allow, "{act}");
            assert!(!alone(Mode::Auto, &asks, &assessment).is_undecided, "{act}");
            assert_eq!(alone(Mode::Auto, &asks, &assessment).action, expected(Action::Ask), "{act}");
        }
    }
    let allows = [rule("write", Some("git push*"), Action::Allow)];
    assert_eq!(
        alone(Mode::Ask, &allows, &Assessment { reach: Reach::World, ..undecided("git push") }).action,
        Action::Ask
    );
}

#[test]
fn a_rule_that_is_about_spelling_says_so() {
    // T69
    let run = |pattern, action| rule("run_command", Some(pattern), action).matches_text_only();
    for pattern in ["/usr/bin/git push*", "git -C * push", "rm -rf *", "FOO=1 make*", "a | b", "$X*"] {
        assert!(run(pattern, Action::Deny) && run(pattern, Action::Ask) && !run(pattern, Action::Allow), "{pattern}");
    }
    for pattern in ["git push*", "rm *", "npm publish*", "*", "git * push"] {
        assert!(!run(pattern, Action::Deny), "{pattern}");
    }
    assert!(!rule("write_file", Some("/etc/*"), Action::Deny).matches_text_only());
    assert!(!rule("run_command", None, Action::Deny).matches_text_only());
}

#[test]
fn after_foreign_text_a_write_asks_where_it_was_free() {
    let assessment = Assessment { risk: Risk::Medium, ..writes("a") };
    for (foreign, expected) in [(false, Action::Allow), (true, Action::Ask)] {
        let asked = Asked { tool: "write", assessment: &assessment, foreign, asks: None };
        assert_eq!(judge(&[layer("general", Mode::Auto)], &[], &[], &asked).action, expected);
    }
}

#[test]
fn a_persons_consent_turns_a_question_into_leave_and_nothing_else() {
    let granted = [rule("write", Some("a*"), Action::Allow)];
    let judged = |mode, rules: &[Rule], subject| {
        let assessment = writes(subject);
        let asked = Asked { tool: "write", assessment: &assessment, foreign: false, asks: None };
        judge(&[layer("general", mode)], rules, &granted, &asked).action
    };
    assert_eq!(judged(Mode::Ask, &[], "ab"), Action::Allow);
    assert_eq!(judged(Mode::Ask, &[], "b"), Action::Ask);
    assert_eq!(judged(Mode::Plan, &[], "ab"), Action::Deny);
    assert_eq!(judged(Mode::Ask, &[rule("*", None, Action::Deny)], "ab"), Action::Deny);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// T11, T12: whatever the rules and modes, nobody below does more than anybody above, and each one's own denies stay.
    #[test]
    fn a_child_never_does_more_than_those_above_it(
        chain in prop::collection::vec(any_layer(), 1..6),
        rules in prop::collection::vec(any_rule(), 0..8),
        assessment in any_assessment(),
        tool in 0..3usize,
        foreign in any::<bool>(),
    ) {
        let asked = Asked { tool: TOOLS[tool], assessment: &assessment, foreign, asks: None };
        let whole = judge(&chain, &rules, &[], &asked);
        for length in 1..=chain.len() {
            let above = judge(&chain[..length], &rules, &[], &asked);
            prop_assert!(above.action <= whole.action, "{above:?} {whole:?}");
        }
        for single in &chain {
            let own = judge(std::slice::from_ref(single), &rules, &[], &asked);
            prop_assert!(own.action <= whole.action, "{own:?} {whole:?}");
        }
        prop_assert_eq!(whole.action, whole.chain.iter().map(|link| link.action).max().unwrap_or(Action::Deny));
    }

    /// T10: a rule more of denying or asking never frees anything, and a stricter mode never does.
    #[test]
    fn tightening_only_ever_tightens(
        chain in prop::collection::vec(any_layer(), 1..4),
        rules in prop::collection::vec(any_rule(), 0..6),
        more in any_rule(),
        assessment in any_assessment(),
        stricter in any_mode(),
        at in any::<prop::sample::Index>(),
    ) {
        let asked = Asked { tool: TOOLS[0], assessment: &assessment, foreign: false, asks: None };
        let before = judge(&chain, &rules, &[], &asked).action;
        if more.action != Action::Allow {
            let tightened: Vec<Rule> = rules.iter().cloned().chain([more]).collect();
            let after = judge(&chain, &tightened, &[], &asked).action;
            prop_assert!(before <= after, "{before} {after}");
        }
        let mut narrowed = chain;
        let place = at.index(narrowed.len());
        if stricter < narrowed[place].mode && assessment.protected.is_empty() {
            narrowed[place].mode = stricter;
            prop_assert!(before <= judge(&narrowed, &rules, &[], &asked).action);
        }
    }
}

const TOOLS: [&str; 3] = ["write", "run", "look"];
const AGENTS: [&str; 3] = ["general", "explore", "*"];
const SUBJECTS: [&str; 4] = ["a", "ab", "rm x", ".git/hooks/x"];

fn any_mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::Plan, Mode::Ask, Mode::Auto, Mode::Dangerous])
}

fn any_layer() -> impl Strategy<Value = Layer> {
    (any_mode(), 0..2usize).prop_map(|(mode, agent)| layer(AGENTS[agent], mode))
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let pattern = prop::option::of(prop::sample::select(vec!["a*", "*", "rm *", "ab", ".git/hooks/*"]));
    let agent = prop::option::of(prop::sample::select(AGENTS.to_vec()));
    let tool = prop::sample::select(vec!["write", "run", "*"]);
    let action = prop::sample::select(vec![Action::Allow, Action::Ask, Action::Deny]);
    (tool, pattern, agent, action)
        .prop_map(|(tool, pattern, agent, action)| Rule { agent: agent.map(Arc::from), ..rule(tool, pattern, action) })
}

fn any_assessment() -> impl Strategy<Value = Assessment> {
    let reach = prop::sample::select(vec![Reach::ReadOnly, Reach::Own, Reach::Workspace, Reach::World]);
    let risk = prop::sample::select(vec![Risk::Low, Risk::Medium, Risk::High, Risk::Critical]);
    let subjects = prop::collection::vec(prop::sample::select(SUBJECTS.to_vec()), 0..3);
    (reach, risk, subjects, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(reach, risk, subjects, is_plain, is_readable, is_protected)| Assessment {
            reach,
            risk,
            subjects: subjects.into_iter().map(Arc::from).collect(),
            is_plain,
            is_readable,
            protected: is_protected.then(|| ".git/hooks".into()).into_iter().collect(),
            ..writes("")
        },
    )
}

fn alone(mode: Mode, rules: &[Rule], assessment: &Assessment) -> Judgement {
    let asked = Asked { tool: "write", assessment, foreign: false, asks: None };
    judge(&[layer("general", mode)], rules, &[], &asked)
}

fn layer(agent: &str, mode: Mode) -> Layer {
    Layer { agent: agent.into(), mode }
}

fn rule(tool: &str, pattern: Option<&str>, action: Action) -> Rule {
    Rule { tool: tool.into(), pattern: pattern.map(Arc::from), agent: None, action, origin: "".into() }
}

fn writes(subject: &str) -> Assessment {
    Assessment {
        reach: Reach::Workspace,
        risk: Risk::Low,
        effect: "writes".into(),
        subjects: vec![subject.into()],
        also: Vec::new(),
        perhaps: Vec::new(),
        is_plain: true,
        is_readable: true,
        protected: Vec::new(),
        standing: None,
        digest: "d".into(),
    }
}
