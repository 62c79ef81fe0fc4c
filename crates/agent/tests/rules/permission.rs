//! What a thread may do, by its tools and its mode; a child never more than its parent.

use majordomo_agent::event::{Event, VerdictKind};
use majordomo_agent::policy::Policy;
use majordomo_agent::{Mode, Outcome};

use super::room::{Room, report};

const MODES: [Mode; 4] = [Mode::Plan, Mode::Ask, Mode::Auto, Mode::Dangerous];

#[test]
fn each_mode_allows_asks_and_denies_by_how_far_a_tool_reaches() {
    // T12, OPTA-21, OPTA-22: an ask is answered by policy where nobody is there, and never becomes an allow
    let expected = [
        (Mode::Plan, ["allow", "deny", "deny", "deny"]),
        (Mode::Ask, ["allow", "allow", "ask", "ask"]),
        (Mode::Auto, ["allow", "allow", "allow", "ask"]),
        (Mode::Dangerous, ["allow", "allow", "allow", "allow"]),
    ];
    for (mode, expected) in expected {
        let mut room = Room::with(Policy::default(), mode, Default::default());
        room.calls(&[("read_file", "{}"), ("todo", "{}"), ("edit_file", "{}"), ("run_command", "{}")]);
        assert_eq!(verdicts(&room), expected, "{mode}");
    }
}

#[test]
fn no_wish_gives_a_child_more_than_its_parent_has() {
    // T10, INV-5
    for parent in MODES {
        for wished in MODES {
            for agent in ["general", "explore", "scribe"] {
                for tools in [r#"["edit_file","run_command","read_file"]"#, r#"["read_file"]"#] {
                    let mut room = Room::with(Policy::default(), parent, Default::default());
                    let wish = format!(r#"{{"task":"t","mode":"{wished}","agent":"{agent}","tools":{tools}}}"#);
                    room.calls(&[("spawn_agent", &wish)]);
                    let child = room.spawned()[0].clone();
                    assert!(child.mode <= parent && child.mode <= wished, "{parent} {wish}");
                    assert!(agent != "explore" || child.mode == Mode::Plan, "{parent} {wish}");
                    let has = |tool| room.thread.created.role.tools.contains(tool);
                    assert!(child.role.tools.iter().all(has), "{parent} {wish}");
                    let is_cut = child.mode < wished;
                    assert_eq!(child.narrowed.iter().any(|note| note.starts_with("mode ")), is_cut, "{parent} {wish}");
                }
            }
        }
    }
}

#[test]
fn what_the_child_may_do_is_told_to_its_parent_with_the_result() {
    let mut room = Room::with(Policy::default(), Mode::Plan, Default::default());
    room.calls(&[("spawn_agent", r#"{"task":"t","mode":"auto"}"#)]);
    room.reports("r.1", Outcome::Completed, Default::default());
    assert!(room.results()[0].0.ends_with("(mode auto was cut to plan, the parent's own)"), "{:?}", room.results());
}

#[test]
fn a_child_that_ends_badly_is_an_error_for_its_parent_and_says_so_first() {
    // OPTA-30, OPTA-44: a limit is a normal end
    for outcome in Outcome::ALL {
        let mut room = Room::new(Policy::default());
        room.calls(&[("spawn_agent", r#"{"task":"t"}"#)]);
        let (child, report) = (room.spawned()[0].child.clone(), report(outcome, Default::default()));
        room.hears(majordomo_agent::Input::ChildReported { child, report: Box::new(report) });
        let results = room.results();
        let (text, is_error) = results[0];
        let is_good = matches!(outcome, Outcome::Completed | Outcome::BudgetExceeded);
        assert_eq!(is_error, !is_good, "{outcome}");
        let status = if outcome == Outcome::Completed {
            "[completed]".to_owned()
        } else {
            format!("[{outcome}]").to_uppercase()
        };
        assert!(text.starts_with(&format!("{status} general (r.1) · 0 tool calls · 0.0s")), "{text}");
    }
}

fn verdicts(room: &Room) -> Vec<&'static str> {
    let answered = room.events.iter().find_map(|event| match event {
        Event::Answered(answered) => Some(answered),
        _ => None,
    });
    let word = |what: &VerdictKind| match what {
        VerdictKind::Run { .. } => "allow",
        VerdictKind::Asked { .. } => "asked",
        VerdictKind::Verb => "verb",
        VerdictKind::VerbAsked => "verb asked",
        VerdictKind::Refused { rule: Some(_), .. } => "ask",
        VerdictKind::Refused { rule: None, .. } => "deny",
    };
    answered.expect("the model answered").verdicts.iter().map(|verdict| word(&verdict.what)).collect()
}
