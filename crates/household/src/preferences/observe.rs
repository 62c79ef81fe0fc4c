//! What one decision says about habits: for each habit it touches, the way it went.
//!
//! Keys and values are made of a small alphabet and kept short: they end up in the briefs of agents, and part of them
//! (a sender's address) was chosen by strangers.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::Value;

use super::decision::{Decision, Kind};

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
                let words = format!("put a mail from {from} under {choice}");
                seen.push(Observation::new(format!("triage.sender.{from}"), &choice, words));
            }
            if !subject.is_empty() {
                let words = format!("put a mail of the kind {subject} under {choice}");
                seen.push(Observation::new(format!("triage.kind.{subject}"), &choice, words));
            }
            seen
        }
        Kind::DraftEdit => draft(decision),
        Kind::Opened => {
            let path = choice.strip_prefix("para/").unwrap_or(&choice);
            let Some((folder, _)) = path.split_once('/') else { return Vec::new() };
            let folder = slug(folder);
            vec![Observation::new("notes.opened_from".to_owned(), &folder, format!("opened {path}"))]
        }
    }
}

/// How long a draft was left, and how it ended.
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
    let sign_off = one_line(text("sign_off"));
    if !sign_off.is_empty() {
        // Each language has an ending of its own.
        let language = Some(slug(text("language"))).filter(|language| !language.is_empty());
        let key = language.map_or_else(|| "draft.sign_off".to_owned(), |language| format!("draft.sign_off.{language}"));
        seen.push(Observation::new(key, &sign_off, format!("ended a draft with \"{sign_off}\"")));
    }
    seen
}

impl Observation {
    fn new(key: String, value: &str, words: String) -> Self {
        Self { key, value: value.to_owned(), words, hour: None }
    }
}

/// How a time is told to people.
const SHOWN: &str = "%A %H:%M";

fn moment(time: &str, zone: &TimeZone) -> Option<Zoned> {
    Some(time.parse::<Timestamp>().ok()?.to_zoned(zone.clone()))
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

/// A name as a part of a key.
fn slug(text: &str) -> String {
    let is_plain = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '@' | '_' | '-' | '+');
    text.trim().to_lowercase().chars().map(|c| if is_plain(&c) { c } else { '_' }).take(MAX_CHARS).collect()
}

/// A value of one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_CHARS).collect()
}
