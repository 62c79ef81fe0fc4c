//! Things that an answer speaks of and that can be pointed at afterwards: mails, times, notes, events, people, drafts, habits.
//!
//! They are read from results by their ids. Text of others is kept only to recognise a thing by a word of it, and is never carried into a call.

use jiff::civil::Date;
use serde_json::Value;

use crate::agent_context::AgentContext;
use crate::conversation::{ToolCall, Turn};
use crate::intent::Intent;
use crate::navigator::NEAR;
use crate::phrases::{bare_name, list, plain, text_of, texts_of};
use household::time::words::fold;

/// A thing that was found and can be pointed at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Thing {
    /// A mail, by its id.
    Mail {
        id: String,
        from: String,
        subject: String,
        is_suspicious: bool,
        /// Whether an answer to it can be offered.
        is_answerable: bool,
        /// Whether all of it was told.
        is_whole: bool,
    },
    /// A time, from when to when.
    Slot(String),
    /// A note, by its path.
    Note { path: String, title: String },
    /// A habit that is proposed, by its key.
    Habit(String),
    /// An event of a calendar.
    Event {
        id: String,
        title: String,
        /// The day on which it begins.
        day: Option<Date>,
    },
    /// A person, by name.
    Person(String),
    /// A draft, by its id.
    Draft(String),
}

impl Thing {
    /// What is handed on to mean it.
    pub fn entity(&self) -> &str {
        match self {
            Self::Mail { id, .. } | Self::Event { id, .. } | Self::Draft(id) => id,
            Self::Note { path, .. } => path,
            Self::Slot(entity) | Self::Habit(entity) | Self::Person(entity) => entity,
        }
    }

    /// Its id for the line of details; a time, a person and a habit are named in the text.
    pub fn id(&self) -> Option<String> {
        match self {
            Self::Mail { id, .. } | Self::Event { id, .. } | Self::Draft(id) => Some(id.clone()),
            Self::Note { .. } | Self::Slot(_) | Self::Habit(_) | Self::Person(_) => None,
        }
    }

    /// What it is called by people.
    pub fn called(&self) -> String {
        match self {
            Self::Mail { from, subject, .. } => format!("{from}, \"{subject}\""),
            Self::Note { title, .. } => format!("\"{title}\""),
            Self::Event { title, .. } => format!("\"{title}\""),
            Self::Slot(entity) | Self::Habit(entity) | Self::Person(entity) | Self::Draft(entity) => entity.clone(),
        }
    }

    /// The words by which it may be meant, folded.
    pub fn words(&self) -> String {
        let said = match self {
            Self::Note { path, title } => format!("{path} {title}"),
            other => other.called(),
        };
        format!(" {} ", fold(&said).replace(|character: char| !character.is_alphanumeric(), " "))
    }
}

/// Whether something in the results of a turn answers a question, or comes near to it.
pub(super) fn comes_near(turn: &Turn, cx: &AgentContext) -> bool {
    let is_warned = |called: &ToolCall| {
        called.result.as_ref().is_some_and(|result| !list(&result.data["data"], "suspicious").is_empty())
    };
    turn.calls.iter().any(|called| !found(called).is_empty() || is_warned(called)) || is_about_focus(turn, cx)
}

/// Whether a result surely answers, with none of these words missing.
pub(super) fn is_sure_of(turn: &Turn, words: &[String]) -> bool {
    let results = turn.calls.iter().filter_map(|called| called.result.as_ref());
    let is_sure = |answer: &Value| {
        let missing = texts_of(answer, "missing");
        answer["sure"] == true && missing.len() < 2 && !missing.iter().any(|word| words.contains(word))
    };
    results.map(|result| &result.data["data"]).any(|data| list(data, "answers").iter().any(is_sure))
}

/// Whether a result of a turn surely answers.
pub(super) fn is_sure(turn: &Turn) -> bool {
    let results = turn.calls.iter().filter_map(|called| called.result.as_ref());
    results.map(|result| &result.data["data"]).any(|data| list(data, "answers").iter().any(|one| one["sure"] == true))
}

/// Whether what was being talked about was told once more, because nothing else answers.
pub(super) fn is_about_focus(turn: &Turn, cx: &AgentContext) -> bool {
    let sentence = cx.speech.say("in_focus", &[]);
    let told =
        turn.calls.last().and_then(|called| called.result.as_ref()).and_then(|result| result.data["summary"].as_str());
    told.is_some_and(|told| told.starts_with(&sentence))
}

/// Whether the results of a turn answer a question with all its words.
pub(super) fn is_plain(turn: &Turn) -> bool {
    let results = turn.calls.iter().filter_map(|called| called.result.as_ref());
    results.map(|result| &result.data["data"]).any(|data| match data["answers"].is_array() {
        true => list(data, "answers").iter().any(|best| best["sure"] == true && list(best, "missing").is_empty()),
        false => !list(data, "people").is_empty(),
    })
}

/// What was found in a turn and can be pointed at, as it was listed.
pub(super) fn listed(turn: &Turn) -> Vec<Thing> {
    turn.calls.iter().rev().map(found).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Whether the things of a turn were listed by number.
pub(super) fn is_numbered(turn: &Turn) -> bool {
    let data = turn.calls.last().and_then(|called| called.result.as_ref()).map(|result| &result.data["data"]);
    data.is_some_and(|data| {
        let is_list = ["items", "mails", "results"].iter().any(|key| list(data, key).len() > 1);
        is_list && !data["threadId"].is_string()
    })
}

/// What a later step of the same request gets from an earlier one.
pub(super) fn carried(called: &ToolCall, intent: Intent, is_pointing: bool) -> Vec<String> {
    let found = found(called);
    let found: Vec<&Thing> =
        found.iter().filter(|thing| !matches!(thing, Thing::Mail { is_suspicious: true, .. })).collect();
    let carried: Vec<&Thing> = match (intent, &found[..]) {
        (Intent::Draft, [Thing::Slot(_), ..]) => found.into_iter().take(3).collect(),
        (Intent::Draft | Intent::Triage | Intent::Search, [only]) => vec![only],
        (Intent::Draft, [first @ Thing::Mail { .. }, ..]) if is_pointing => vec![first],
        _ => Vec::new(),
    };
    carried.into_iter().map(|thing| thing.entity().to_owned()).collect()
}

/// The things of one result. Only what has the form of an id or a path is carried on: it goes into arguments, not into words.
pub(super) fn found(called: &ToolCall) -> Vec<Thing> {
    let Some(data) = called.result.as_ref().map(|result| &result.data["data"]) else { return Vec::new() };
    let mut things: Vec<Thing> = Vec::new();
    let mut add = |thing: Option<Thing>| {
        things.extend(thing.filter(|thing| is_carried(thing.entity())));
    };
    for key in ["items", "mails"] {
        list(data, key).iter().for_each(|item| add(mail(item)));
    }
    // One mail that was read is an object of its own.
    add(mail(data).filter(|_| data["body"].is_string() || data["gist"].is_string()));
    for slot in list(data, "suggestedSlots") {
        let times = slot["start"].as_str().zip(slot["end"].as_str());
        let is_time = |text: &str| text.parse::<jiff::Timestamp>().is_ok();
        add(times
            .filter(|(start, end)| is_time(start) && is_time(end))
            .map(|(start, end)| Thing::Slot(format!("{start}/{end}"))));
    }
    list(data, "results").iter().for_each(|note| add(self::note(note)));
    for habit in list(data, "preferences").iter().filter(|habit| habit["status"] == "proposed") {
        add(habit["key"].as_str().map(|key| Thing::Habit(key.to_owned())));
    }
    list(data, "events").iter().for_each(|event| add(self::event(event)));
    let is_near =
        |answer: &&Value| answer["sure"] == true || answer["covers"].as_f64().is_none_or(|covers| covers >= NEAR);
    let mut near: Vec<&Value> = list(data, "answers").iter().filter(is_near).collect();
    near.sort_by_key(|answer| answer["sure"] != true);
    for answer in near.into_iter().take(3) {
        add(match answer["kind"].as_str() {
            Some("note") => note(answer),
            // A mail that was quoted is not one that waits for an answer.
            Some("mail") => mail(answer).map(|thing| match thing {
                Thing::Mail { id, from, subject, is_suspicious, is_whole, .. } => {
                    Thing::Mail { id, from, subject, is_suspicious, is_answerable: false, is_whole }
                }
                other => other,
            }),
            Some("event") => event(answer),
            _ => answer["name"].as_str().map(|name| Thing::Person(name.to_owned())),
        });
    }
    for person in list(data, "people") {
        add(person["name"].as_str().map(|name| Thing::Person(name.to_owned())));
    }
    add(data["draftId"].as_str().filter(|_| data["discarded"] != true).map(|id| Thing::Draft(id.to_owned())));
    add(data["eventId"]
        .as_str()
        .filter(|_| data["withdrawn"] != true && data["title"].is_string())
        .map(|_| event(data))
        .unwrap_or(None));
    things.dedup();
    things
}

fn is_carried(entity: &str) -> bool {
    !entity.is_empty() && entity.len() <= 300 && !entity.chars().any(char::is_control)
}

fn mail(item: &Value) -> Option<Thing> {
    let id = item["emailId"].as_str().filter(|id| !id.contains(char::is_whitespace))?;
    let is_suspicious = item["category"] == "suspicious" || !list(item, "warnings").is_empty();
    let is_own = item["folder"] == "sent";
    let is_mass = item["category"] == "newsletter" || item["listId"].is_string();
    Some(Thing::Mail {
        id: id.to_owned(),
        from: bare_name(&text_of(item, "from")),
        subject: text_of(item, "subject"),
        is_suspicious: is_suspicious && item["category"].as_str().is_none_or(|category| category == "suspicious"),
        is_answerable: !is_suspicious && !is_own && !is_mass && item["answered"] != true,
        is_whole: item["body"].is_string(),
    })
}

fn note(note: &Value) -> Option<Thing> {
    let path = note["path"].as_str().filter(|path| path.ends_with(".md"))?;
    Some(Thing::Note { path: path.to_owned(), title: text_of(note, "title") })
}

fn event(event: &Value) -> Option<Thing> {
    let day = event["start"].as_str().and_then(|start| start.get(..10)?.parse().ok());
    Some(Thing::Event { id: event["eventId"].as_str()?.to_owned(), title: plain(event["title"].as_str()?, 120), day })
}
