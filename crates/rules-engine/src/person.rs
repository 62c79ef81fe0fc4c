//! What is told about a person: the one thing that was asked for, or everything in a few lines.

use serde_json::Value;

use super::agent_context::AgentContext;
use super::lexicon::Concept;
use super::phrases::{list, text_of, texts_of};
use super::task::SpecialistTask;

/// What is asked about a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Everything,
    Phone,
    Mail,
    Birthday,
    Address,
    /// When the owner last wrote to them, or heard from them.
    LastWritten,
    LastHeard,
    Owed,
    /// Whether the owner answered them.
    Answered,
    NextMeeting,
    /// Something else, or nothing about a person.
    Nothing,
}

impl Asked {
    /// What a task asks.
    pub fn of(task: &SpecialistTask) -> Self {
        let says = |list: &str| task.says(list);
        let last = says("last latest recently zuletzt letzte letzten letztes dernier derniere dernierement");
        // "Who is" asks about the one who is named right behind it.
        let asks_who = || {
            let text = format!(" {} ", household::time::words::fold(&task.task));
            let name = task.person().map(household::time::words::fold).unwrap_or_default();
            let cues = ["who is ", "who's ", "who was ", "whos ", "wer ist ", "wer war ", "qui est ", "qui etait "];
            cues.iter()
                .filter_map(|cue| Some(text.find(cue)? + cue.len()))
                .any(|at| text[at..].find(&name).is_some_and(|far| far < 12))
        };
        let asks = |first: &[&str]| {
            let text = format!(" {} ", household::time::words::fold(&task.task));
            first.iter().any(|cue| text.contains(cue))
        };
        match () {
            () if task.has(Concept::Sent)
                && who_answers(task) != Some(Side::Them)
                && says("answer answered reply replied respond responded geantwortet beantwortet repondu back") =>
            {
                Self::Answered
            }
            () if says("job work role profession beruf arbeit travail metier funktion")
                && task.is_question()
                && !says("mail mails meeting") =>
            {
                Self::Everything
            }
            () if says("birthday geburtstag anniversaire born geboren birthdays bday")
                || asks(&["how old ", "wie alt ", "quel age "]) =>
            {
                Self::Birthday
            }
            // "On the phone she said …" is about what was said.
            () if says("phone telephone telefon telefonnummer handynummer handy mobile tel cell numero")
                && !asks(&["on the phone ", "am telefon ", "au telephone ", "by phone "]) =>
            {
                Self::Phone
            }
            () if says("number nummer") && is_of_person(task) => Self::Phone,
            () if asks(&[
                "email address",
                "mail address",
                "mailadresse",
                "e-mail-adresse",
                "e-mail adresse",
                "adresse mail",
                "adresse e-mail",
                "emailadresse",
                "'s email",
                "'s mail",
                "s email?",
            ]) =>
            {
                Self::Mail
            }
            () if is_bare(task, "email mail e-mail courriel adresse contact kontakt role rolle job position") => {
                Self::Everything
            }
            () if says("owe owed schulde schulden schuldet dois doit") => Self::Owed,
            () if last
                && says("me mir mich m")
                && !says("i ich je j")
                && says("write wrote written geschrieben ecrit schrieb") =>
            {
                Self::LastHeard
            }
            () if last
                && (is_to_person(task) || asks(&[" i ", " ich ", " je ", "ai-je"]))
                && says("write wrote written mail email geschrieben ecrit schrieb contact") =>
            {
                Self::LastWritten
            }
            () if last && says("hear heard from von write wrote ecrit gehort geschrieben") => Self::LastHeard,
            () if says("live lives wohnt habite adresse address anschrift") => Self::Address,
            () if says("see seeing meet meeting treffe sehe vois rencontre")
                && task.has_any(&[Concept::When, Concept::Question]) =>
            {
                Self::NextMeeting
            }
            () if asks_who() => Self::Everything,
            () if asks(&[
                "going on with",
                "tell me about",
                "what do you know about",
                "what do i know about",
                "everything about",
                "contact details",
                "kontaktdaten",
                "coordonnees",
                "was weiss",
                "erzahl mir von",
                "parle-moi de",
                "how do i reach",
                "how can i reach",
                "wie erreiche",
                "comment joindre",
                "comment contacter",
                "contact info",
            ]) =>
            {
                Self::Everything
            }
            () => Self::Nothing,
        }
    }
}

/// Whether the number that is asked for belongs to a person: "Ben's number", "her number", "the number of Ben", not "passport number".
fn is_of_person(task: &SpecialistTask) -> bool {
    const BEFORE: &str = "s the her his their my whats what is phone cell mobile work home office private direct ist die der das ihre seine meine \
        le son sa and und et contact get need give me";
    let words = household::time::words::words(&task.task);
    let person = task.person().map(household::time::words::fold).unwrap_or_default();
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|one| one == word);
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).map_or("", |before| words[before].folded.as_str());
        let name = before.trim_end_matches("'s");
        let is_name = is_in(&person, name)
            || is_in(&person, name.trim_end_matches('s'))
            || household::Household::is_relation(name);
        is_in("number nummer", &word.folded) && (before.is_empty() || is_in(BEFORE, before) || is_name)
    })
}

/// Whether a person is the one to whom something is written: "my last mail to Ben".
fn is_to_person(task: &SpecialistTask) -> bool {
    let words = household::time::words::words(&task.task);
    let person = task.person().map(household::time::words::fold).unwrap_or_default();
    let names: Vec<&str> = person.split_whitespace().collect();
    words
        .windows(2)
        .any(|pair| ["to", "an", "a"].contains(&pair[0].folded.as_str()) && names.contains(&pair[1].folded.as_str()))
}

/// Who does something: the owner, or another person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Me,
    Them,
}

/// Who is asked to have answered: the one who stands nearest before the verb.
pub(super) fn who_answers(task: &SpecialistTask) -> Option<Side> {
    const ANSWERED: &str = "answer answered reply replied respond responded geantwortet beantwortet repondu";
    const ME: &str = "i we ich wir je j nous";
    const THEM: &str = "he she they er sie il elle ils elles";
    let words = household::time::words::words(&task.task);
    let person = task.person().map(household::time::words::fold).unwrap_or_default();
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|one| one == word);
    let verb = words.iter().rposition(|word| is_in(ANSWERED, &word.folded))?;
    words[..verb].iter().rev().take(6).find_map(|word| match () {
        () if is_in(ME, &word.folded) => Some(Side::Me),
        () if is_in(THEM, &word.folded) || is_in(&person, &word.folded) => Some(Side::Them),
        () => None,
    })
}

/// Whether a task is no more than a person and one of these words: "Priya email".
fn is_bare(task: &SpecialistTask, list: &str) -> bool {
    let person = task.person().map(household::time::words::fold).unwrap_or_default();
    let words = household::time::words::words(&task.task);
    let is_name = |word: &str| !person.is_empty() && person.split_whitespace().any(|part| part == word);
    let rest: Vec<&str> = words.iter().map(|word| word.folded.as_str()).filter(|word| !is_name(word)).collect();
    matches!(rest[..], [only] if list.split_whitespace().any(|one| one == only))
}

/// The thing that was asked for; none where this does not answer it.
pub(super) fn answer(task: &SpecialistTask, cx: &AgentContext, data: &Value) -> Option<String> {
    let (asked, speech) = (Asked::of(task), cx.speech);
    let people = meant(task, list(data, "people"));
    let [person] = people else {
        return match people.is_empty() {
            true => None,
            false => Some(several(cx, people)),
        };
    };
    let who = text_of(person, "name");
    let card = &person["card"];
    let value = |value: String, of: &str, none: &str| match value.is_empty() {
        true => None.or_else(|| (none == "no_mail_address").then(|| speech.say(none, &[("who", &who)]))),
        false => Some(speech.say(of, &[("who", &who), ("value", &value)])),
    };
    let met = |key: &str, of: &str| met(cx, data, &who, key, of);
    match asked {
        Asked::Everything => Some(told(task, cx, data)),
        Asked::Phone => {
            let phones = texts_of(card, "phones");
            let phones = if phones.is_empty() { text_of(card, "phone") } else { phones.join(", ") };
            value(phones, "phone_of", "no_phone")
        }
        Asked::Mail => value(texts_of(person, "emails").join(", "), "mail_of", "no_mail_address"),
        Asked::Birthday => {
            let day = card["birthday"].as_str();
            let birthday = day.map(|day| cx.dates.birthday(day)).unwrap_or_default();
            let age = day.and_then(|day| cx.dates.next_age(day)).map(|(age, when)| {
                let told = [("age", age.to_string()), ("before", (age - 1).to_string()), ("when", when)];
                let told: Vec<(&str, &str)> = told.iter().map(|(slot, value)| (*slot, value.as_str())).collect();
                speech.say("turns", &told)
            });
            let told = value(birthday, "birthday_of", "no_birthday");
            told.map(|told| age.map_or(told.clone(), |age| format!("{told} ({age})")))
        }
        Asked::Address => value(text_of(card, "address"), "address_of", "no_postal"),
        Asked::LastWritten => {
            Some(met("sent", "last_written").unwrap_or_else(|| speech.say("never_written", &[("who", &who)])))
        }
        Asked::LastHeard => {
            Some(met("received", "last_received").unwrap_or_else(|| speech.say("never_received", &[("who", &who)])))
        }
        Asked::NextMeeting => {
            let events = list(data, "nextMeetings");
            (!events.is_empty()).then(|| cx.dates.events(events))
        }
        Asked::Answered => {
            let open = list(data, "unanswered").first();
            match open {
                Some(mail) => {
                    let when = mail["date"].as_str().map(|date| cx.dates.moment(date)).unwrap_or_default();
                    let told = [("who", who.as_str()), ("when", when.as_str()), ("subject", &text_of(mail, "subject"))];
                    let gist = speech.say("it_says", &[("text", &text_of(mail, "gist"))]);
                    Some(format!("{}\n{gist}", speech.say("not_answered_yet", &told)))
                }
                None => {
                    Some(met("sent", "yes_answered").unwrap_or_else(|| speech.say("never_written", &[("who", &who)])))
                }
            }
        }
        Asked::Owed | Asked::Nothing => None,
    }
}

/// The last mail from a person or to them, with what it says.
fn met(cx: &AgentContext, data: &Value, who: &str, key: &str, of: &str) -> Option<String> {
    let mail = &data[key]["last"];
    mail.is_object().then(|| {
        let when = mail["date"].as_str().map(|date| cx.dates.moment(date)).unwrap_or_default();
        let told = cx.speech.say(of, &[("who", who), ("when", &when), ("subject", &text_of(mail, "subject"))]);
        let gist = text_of(mail, "gist");
        if gist.is_empty() { told } else { format!("{told}\n{}", cx.speech.say("it_says", &[("text", &gist)])) }
    })
}

/// What the one person who is meant wrote last.
pub(super) fn last_heard(cx: &AgentContext, data: &Value) -> Option<String> {
    let [person] = list(data, "people") else { return None };
    // What is suspicious is never quoted.
    if !list(&data["received"]["last"], "warnings").is_empty() {
        return None;
    }
    met(cx, data, &text_of(person, "name"), "received", "last_received")
}

/// Everything that is known, in a few lines.
pub(super) fn told(task: &SpecialistTask, cx: &AgentContext, data: &Value) -> String {
    let speech = cx.speech;
    let people = meant(task, list(data, "people"));
    let person = match people {
        [] => {
            let who = Some(text_of(data, "asked")).filter(|who| !who.is_empty());
            let who = who.or_else(|| task.person().map(str::to_owned)).unwrap_or_default();
            return speech.say("unknown_person", &[("who", &who)]);
        }
        [one] => one,
        several => return self::several(cx, several),
    };
    let (who, card) = (text_of(person, "name"), &person["card"]);
    let none = match Asked::of(task) {
        Asked::Phone => Some("no_phone"),
        Asked::Birthday => Some("no_birthday"),
        Asked::Address => Some("no_postal"),
        Asked::Owed => Some("nothing_owed"),
        Asked::NextMeeting => Some("no_meeting"),
        _ => None,
    };
    let mut lines = vec![match none {
        Some(none) => speech.say(none, &[("who", &who)]),
        None => who,
    }];
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            lines.push(format!("- {}", speech.say(name, &[("value", &value)])));
        }
    };
    add("person_note", text_of(card, "note"));
    add("person_role", text_of(card, "role"));
    add("person_works", text_of(card, "organization"));
    add("person_signature", text_of(data, "signature"));
    let phones = texts_of(card, "phones");
    add("person_phone", if phones.is_empty() { text_of(card, "phone") } else { phones.join(", ") });
    add("person_mail", texts_of(person, "emails").join(", "));
    add("person_birthday", card["birthday"].as_str().map(|day| cx.dates.birthday(day)).unwrap_or_default());
    add("person_address", text_of(card, "address"));
    let when = |value: &Value| value["date"].as_str().map(|date| cx.dates.moment(date)).unwrap_or_default();
    for (key, name) in [("received", "person_received"), ("sent", "person_sent")] {
        let mail = &data[key]["last"];
        if mail.is_object() {
            lines.push(format!(
                "- {}",
                speech.say(name, &[("when", &when(mail)), ("subject", &text_of(mail, "subject"))])
            ));
        }
    }
    for mail in list(data, "unanswered").iter().take(1) {
        let told = [("when", when(mail)), ("subject", text_of(mail, "subject"))];
        let told: Vec<(&str, &str)> = told.iter().map(|(slot, value)| (*slot, value.as_str())).collect();
        lines.push(format!("- {}", speech.say("person_open", &told)));
    }
    for event in list(data, "nextMeetings").iter().take(1) {
        let told =
            speech.say("person_next", &[("when", &cx.dates.event_time(event)), ("title", &text_of(event, "title"))]);
        lines.push(format!("- {told}"));
    }
    if data["lastMeeting"].is_object() && list(data, "nextMeetings").is_empty() {
        let event = &data["lastMeeting"];
        let told =
            speech.say("person_last", &[("when", &cx.dates.event_time(event)), ("title", &text_of(event, "title"))]);
        lines.push(format!("- {told}"));
    }
    for promise in list(data, "promises").iter().take(2) {
        let name = if promise["by"] == "you" { "person_promise_you" } else { "person_promise_them" };
        lines.push(format!(
            "- {}",
            speech.say(name, &[("quote", &text_of(promise, "quote")), ("when", &when(promise))])
        ));
    }
    for note in list(data, "notes").iter().take(1) {
        let line = note["line"].as_u64().unwrap_or(1).to_string();
        let told = [("quote", text_of(note, "quote")), ("path", text_of(note, "path")), ("line", line)];
        let told: Vec<(&str, &str)> = told.iter().map(|(slot, value)| (*slot, value.as_str())).collect();
        lines.push(format!("- {}", speech.say("person_in_notes", &told)));
    }
    lines.join("\n")
}

/// Of several people of one kind, the one whose card speaks of who else is named: "the teacher of Ebba".
fn meant<'a>(task: &SpecialistTask, people: &'a [Value]) -> &'a [Value] {
    let said = household::time::words::words(&task.task);
    let is_named = |person: &Value| {
        let card = household::time::words::words(&text_of(&person["card"], "note"));
        let is_name = |word: &str| word.len() > 2 && word.chars().next().is_some_and(char::is_uppercase);
        let told = text_of(&person["card"], "note");
        card.iter().filter(|word| is_name(&told[word.at.clone()])).any(|word| {
            said.iter().any(|one| one.folded == word.folded || one.folded.strip_suffix('s') == Some(&word.folded))
        })
    };
    let mut fitting = (0..people.len()).filter(|at| is_named(&people[*at]));
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => &people[only..=only],
        _ => people,
    }
}

fn several(cx: &AgentContext, people: &[Value]) -> String {
    let names: Vec<String> = people
        .iter()
        .take(6)
        .map(|person| {
            let note = Some(text_of(&person["card"], "note")).filter(|note| !note.is_empty());
            format!("{}{}", text_of(person, "name"), note.map(|note| format!(" ({note})")).unwrap_or_default())
        })
        .collect();
    cx.speech.say("several_people", &[("names", &names.join(", "))])
}
