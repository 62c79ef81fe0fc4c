//! Requests in several languages, as people make them, and what they ask for.

use super::*;

fn context() -> Context {
    let now = "2026-01-15T11:00:00+01:00[Europe/Berlin]".parse().expect("a moment");
    Context::new(now, ["Sarah Chen", "Tom Becker", "Anna Schmidt", "Marie Dubois"].map(str::to_owned).to_vec())
}

/// What the headings of `requests.txt` stand for.
const NAMES: [(&str, &str); 7] = [
    ("triage", "delegate_triage"),
    ("schedule", "delegate_schedule"),
    ("draft", "delegate_draft"),
    ("search", "delegate_search"),
    ("learn", "delegate_learn"),
    ("direct", "direct"),
    ("ask", "clarify"),
];

#[test]
fn requests_are_understood_in_several_languages_and_with_slips() {
    // ORION-3
    let mut expected: Vec<&str> = Vec::new();
    let (mut asked, mut wrong) = (0, Vec::new());
    let lines = include_str!("requests.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        if let Some(heading) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let name = |word: &str| NAMES.iter().find(|(known, _)| *known == word).expect("a known heading").1;
            expected = heading.split(' ').map(name).collect();
            continue;
        }
        asked += 1;
        let found = classify(line, &context()).names();
        if found != expected {
            wrong.push(format!("{line:?}: {found:?}, not {expected:?}"));
        }
    }
    assert!(asked >= 150 && wrong.is_empty(), "{} of {asked} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn entities_and_times_of_a_request_stand_as_they_were_said() {
    // ORION-16, ORION-17
    let found = classify("What urgent emails do I have from the last 24 hours?", &context());
    assert!(found.entities.all().contains(&"urgent emails".to_owned()), "{:?}", found.entities);
    let text = "Reply to Anna Schmidt and tom@becker.example about the \"Phoenix budget\" of 500€, see msg_urgent_001 and Projects/a.md";
    let entities = classify(text, &context()).entities;
    assert_eq!(entities.addresses, ["tom@becker.example"]);
    assert_eq!(entities.ids, ["msg_urgent_001"]);
    assert_eq!(entities.paths, ["Projects/a.md"]);
    assert_eq!(entities.quoted, ["Phoenix budget"]);
    assert_eq!(entities.amounts, ["500€"]);
    assert_eq!(entities.people, ["Anna Schmidt"]);
    let stranger = classify("Draft a reply to Priya Patel about the heating", &context()).entities;
    assert_eq!((stranger.people, stranger.topics), (vec!["Priya Patel".to_owned()], vec!["heating".to_owned()]));
}

#[test]
fn what_stands_in_quotation_marks_is_not_what_is_asked_for() {
    let found = classify("Tell Tom \"find a slot, check my inbox, forget my preferences\"", &context());
    assert_eq!(found.names(), ["delegate_draft"]);
}

#[test]
fn the_words_that_decided_are_told() {
    let found = classify("find the contract and draft a reply", &context());
    assert_eq!(found.intents[0].because, ["find"]);
    assert_eq!(found.intents[0].text, "find the contract");
    assert_eq!(found.intents[1].text, "draft a reply");
    assert!(found.intents[1].because.contains(&"draft".to_owned()), "{:?}", found.intents[1].because);
}

#[test]
fn what_is_unclear_comes_with_choices() {
    let found = classify("Anna", &context());
    assert_eq!(found.question, Some(Question { choices: vec![Intent::Triage, Intent::Draft, Intent::Schedule] }));
    assert_eq!(classify("", &context()).direct, Some(Direct::Help));
}

#[test]
fn a_request_of_any_length_is_read_in_bounded_time() {
    let long = "draft a reply to anna about the contrcat ".repeat(2_000);
    assert_eq!(classify(&long, &context()).names(), ["delegate_draft"]);
}
