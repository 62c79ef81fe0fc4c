//! What one decision says about habits: for each habit it touches, the way it went.
//!
//! Keys and values are made of a small alphabet and kept short: they end up in the briefs of agents, and part of them
//! (a sender's address) was chosen by strangers.

use jiff::Zoned;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::decision::{Decision, Kind};
use crate::times::Edge;

/// One sight of a habit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Observation {
    /// Which habit.
    pub key: String,
    /// Which way it went.
    pub value: String,
    /// The same in a few words, for people.
    pub words: String,
    /// The hour of the day, where it is about one.
    pub hour: Option<i8>,
}

/// What a decision says. Times are seen from the owner's zone.
pub(super) fn observe(decision: &Decision, zone: &TimeZone) -> Vec<Observation> {
    let text = |key: &str| decision.context.get(key).and_then(Value::as_str).unwrap_or("");
    let choice = one_line(&decision.choice);
    let subject = slug(&decision.subject);
    match decision.kind {
        Kind::Approve | Kind::Deny => {
            let verdict = decision.kind.as_str();
            let about = if choice.is_empty() { subject.clone() } else { format!("{subject} ({choice})") };
            let mut seen = vec![Observation::new(format!("consent.{subject}"), verdict, format!("{verdict}: {about}"))];
            // A time that was refused speaks for the other parts of the day, but for none of them in particular.
            if let Some(start) = moment(text("start"), zone).filter(|_| decision.kind == Kind::Deny) {
                let avoided = part_of_day(&start);
                let words = format!("refused {} for a meeting", start.strftime(SHOWN));
                seen.push(Observation::new("meeting.avoid".to_owned(), avoided, words));
            }
            seen
        }
        Kind::SlotChosen => {
            let Some(start) = moment(&choice, zone) else { return Vec::new() };
            let part = part_of_day(&start);
            // Where nothing else was offered, nothing was chosen.
            let offered = decision.context.get("offered").and_then(Value::as_array).into_iter().flatten();
            let offered: Vec<_> = offered.filter_map(|slot| moment(slot.as_str()?, zone)).collect();
            if !offered.is_empty() && offered.iter().all(|slot| part_of_day(slot) == part) {
                return Vec::new();
            }
            let with = Some(slug(text("with"))).filter(|with| !with.is_empty());
            let with = with.map_or_else(String::new, |with| format!(" with {with}"));
            let words = format!("took {} for a meeting{with}", start.strftime(SHOWN));
            vec![Observation {
                hour: Some(start.hour()),
                ..Observation::new("meeting.part_of_day".to_owned(), part, words)
            }]
        }
        Kind::Retriage => {
            let from = slug(text("from"));
            let mut seen = Vec::new();
            if !from.is_empty() {
                let words = format!("put a mail from {from} under \"{choice}\"");
                seen.push(Observation::new(sender_key(&from), &choice, words));
            }
            if !subject.is_empty() {
                let words = format!("put a mail of the kind {subject} under \"{choice}\"");
                seen.push(Observation::new(format!("triage.kind.{subject}"), &choice, words));
            }
            seen
        }
        Kind::DraftEdit => draft(decision),
        Kind::Opened if subject == "mail" => Vec::new(),
        Kind::Opened => {
            let path = choice.strip_prefix("para/").unwrap_or(&choice);
            let Some((folder, _)) = path.split_once('/') else { return Vec::new() };
            let folder = slug(folder);
            vec![Observation::new("notes.opened_from".to_owned(), &folder, format!("opened {path}"))]
        }
    }
}

/// How long a draft was left, how it begins and ends, and in which tone and language.
fn draft(decision: &Decision) -> Vec<Observation> {
    let text = |key: &str| decision.context.get(key).and_then(Value::as_str).unwrap_or("");
    let count = |key: &str| decision.context.get(key).and_then(Value::as_u64);
    let mut seen = Vec::new();
    if let Some(words) = count("after_words") {
        let length = match words {
            0..=60 => "short",
            61..=150 => "medium",
            _ => "long",
        };
        let before = count("before_words").map_or_else(String::new, |before| format!(" of {before}"));
        seen.push(Observation::new(
            "draft.length".to_owned(),
            length,
            format!("left {words} words{before} in a draft"),
        ));
    }
    // Each language has words of its own.
    let language = Some(slug(text("language"))).filter(|language| !language.is_empty());
    let told = [("sign_off", "ended a draft with"), ("greeting", "began a draft with"), ("tone", "made a draft")];
    for (habit, what) in told {
        let value = one_line(text(habit));
        if !value.is_empty() {
            let key = [Some("draft"), Some(habit), language.as_deref()].into_iter().flatten().collect::<Vec<_>>();
            seen.push(Observation::new(key.join("."), &value, format!("{what} \"{value}\"")));
        }
    }
    let person = slug(text("language_for"));
    if let Some(language) = language.filter(|_| !person.is_empty()) {
        let words = format!("wrote to {person} in the language \"{language}\"");
        seen.push(Observation::new(format!("draft.language.{person}"), &language, words));
    }
    seen
}

/// The habit of sorting what comes from an address.
pub(super) fn sender_key(address: &str) -> String {
    format!("triage.sender.{}", slug(address))
}

impl Observation {
    fn new(key: String, value: &str, words: String) -> Self {
        Self { key, value: value.to_owned(), words, hour: None }
    }
}

/// How a time is told to people.
const SHOWN: &str = "%A %H:%M";

fn moment(time: &str, zone: &TimeZone) -> Option<Zoned> {
    Some(crate::times::moment(time, zone, Edge::Start).ok()?.to_zoned(zone.clone()))
}

fn part_of_day(time: &Zoned) -> &'static str {
    match time.hour() {
        0..=11 => "morning",
        12..=16 => "afternoon",
        _ => "evening",
    }
}

/// The longest key or value, in characters.
const MAX_CHARS: usize = 80;

/// A name as a part of a key, or as a value.
pub(crate) fn slug(text: &str) -> String {
    let is_plain = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '@' | '_' | '-' | '+');
    text.trim().to_lowercase().chars().map(|c| if is_plain(&c) { c } else { '_' }).take(MAX_CHARS).collect()
}

/// A value of one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_CHARS).collect()
}
