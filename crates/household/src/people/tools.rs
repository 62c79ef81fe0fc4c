//! The tool that gathers what the household knows about one person.

use std::sync::Arc;

use agent::tools::{Reach, Risk};
use jiff::{SignedDuration, ToSpan};
use serde::Deserialize;
use serde_json::{Value, json};
use tool::Registry;

use super::{KnownPerson, resolve};
use crate::calendar::{Occurrence, Window};
use crate::error::Error;
use crate::household::Household;
use crate::mail::mailbox::{Filter, Mail, Mailbox};
use crate::passages::{gist, of_mail, words_of};
use crate::text::{self, fold};
use crate::times::shown;
use crate::tools::HouseholdTool;
use crate::{calendar, glossary, notes, triage};

/// The tool of persons, added to others.
pub(crate) fn add(household: &Arc<Household>, registry: Registry) -> Registry {
    registry.with(HouseholdTool::<About> {
        info: tool::info(
            "people_about",
            "What is known about a person: card, last mails both ways, what is unanswered, next and last meetings, notes, promises. \
             Found by name, address, or what they are to the owner (landlord, Mum).",
            r#"{"type":"object","properties":{"person":{"type":"string"}},"required":["person"]}"#,
            Reach::ReadOnly,
            true,
            Risk::Low,
        ),
        example: r#"{"person": "my landlord"}"#,
        foreign: Some("mail"),
        household: Arc::clone(household),
        act: about,
    })
}

#[derive(Deserialize)]
struct About {
    #[serde(alias = "query", alias = "name")]
    person: String,
}

/// The most of each kind that is told.
const MOST: usize = 3;
/// Mails that are looked at.
const MAILS: usize = 3_000;
/// Days within which a promise may still be open.
const PROMISE_DAYS: i64 = 45;

fn about(args: &About, household: &Household) -> Result<Value, Error> {
    let found = resolve(household, &args.person)?;
    let [person] = &found[..] else {
        let people: Vec<Value> = found
            .iter()
            .take(8)
            .map(|one| json!({ "name": one.name, "emails": one.addresses, "card": one.card }))
            .collect();
        return Ok(json!({ "asked": args.person, "people": people }));
    };
    let mut answer = json!({
        "asked": args.person,
        "people": [{ "name": person.name, "emails": person.addresses, "card": person.card }],
    });
    answer["notes"] = json!(notes::naming(household, &person_words(person), MOST)?);
    let (next, last) = meetings(household, person)?;
    answer["nextMeetings"] = next;
    answer["lastMeeting"] = last;
    put_mail(&mut answer, person, household)?;
    Ok(answer)
}

/// The words by which a person is known elsewhere: the first name, or the name of a firm, and what they are to the owner.
pub(crate) fn person_words(person: &KnownPerson) -> Vec<String> {
    let nicknames = person.card.iter().flat_map(|card| card.nicknames.iter());
    let mut words: Vec<String> = Vec::new();
    for name in std::iter::once(&person.name).chain(nicknames) {
        let own = words_of(name).into_iter().find(|word| word.len() > 2 && glossary::relation(word).is_none());
        words.extend(own);
    }
    let said = person.card.as_ref().and_then(|card| card.note.as_deref()).map(words_of).unwrap_or_default();
    words.extend(said.into_iter().filter(|word| glossary::relation(word).is_some()));
    words
}

/// The next meetings with a person, and the last one.
fn meetings(household: &Household, person: &KnownPerson) -> Result<(Value, Value), Error> {
    let now = household.now();
    let start = now.checked_sub(200.days()).unwrap_or(now.clone()).timestamp();
    let end = now.checked_add(365.days()).unwrap_or(now.clone()).timestamp();
    let snapshot = household.calendars().look()?.only(|calendar| !calendar.is_of_others(&household.options().me));
    let (found, _) = snapshot.expand(Window { start, end }, &household.options().zone);
    let (words, name) = (person_words(person), fold(&person.name));
    let with = |event: &&Occurrence| {
        let title = words_of(&event.details.title);
        let is_titled = words.iter().any(|word| title.contains(word));
        let is_asked = event.details.attendees.iter().any(|attendee| {
            person.addresses.contains(&attendee.address.to_lowercase())
                || attendee.name.as_deref().is_some_and(|called| fold(called) == name)
        });
        is_titled || is_asked
    };
    let with: Vec<&Occurrence> = found.iter().filter(with).collect();
    let (now, show) = (now.timestamp(), |event: &&Occurrence| calendar::tools::event_shown(event, household));
    let next: Vec<Value> = with.iter().filter(|event| event.window.end > now).take(MOST).map(show).collect();
    let last = with.iter().rev().find(|event| event.window.end <= now).map_or(Value::Null, show);
    Ok((json!(next), last))
}

fn put_mail(answer: &mut Value, person: &KnownPerson, household: &Household) -> Result<(), Error> {
    let mailbox = household.mailbox()?;
    let me = mailbox.me()?;
    let (mails, _) = mailbox.list(&Filter::default(), MAILS)?;
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for mail in mails {
        if person.is(&mail.message.from) {
            from.push(mail);
        } else if me.contains(&mail.message.from.address) && mail.message.recipients().any(|one| person.is(one)) {
            to.push(mail);
        }
    }
    answer["signature"] = json!(from.iter().find_map(|mail| signature(&mail.message.text, &person.name)));
    let show = |mail: &Mail| brief(mail, &mailbox, household);
    answer["received"] = json!({ "total": from.len(), "last": from.first().map(show).transpose()? });
    answer["sent"] = json!({ "total": to.len(), "last": to.first().map(show).transpose()? });
    let mut open = Vec::new();
    for mail in from.iter().take(20) {
        let is_later = to.iter().any(|sent| sent.sent > mail.sent);
        if open.len() < MOST && mail.message.list.is_empty() && !is_later && !mailbox.is_answered(mail)? {
            open.push(show(mail)?);
        }
    }
    answer["unanswered"] = json!(open);
    let since = household.now().timestamp().saturating_sub(SignedDuration::from_hours(24 * PROMISE_DAYS));
    let since = since.unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let mut promises = Vec::new();
    for (mail, by_me) in to.iter().map(|mail| (mail, true)).chain(from.iter().map(|mail| (mail, false))) {
        for sentence in of_mail(&mail.message.text) {
            if mail.sent >= since && promises.len() < 2 * MOST && is_promise(&sentence, by_me) {
                promises.push(json!({
                    "by": if by_me { "you" } else { "them" },
                    "quote": text::line(&sentence, 200),
                    "emailId": mail.id,
                    "date": shown(mail.sent, &household.options().zone),
                }));
            }
        }
    }
    answer["promises"] = json!(promises);
    Ok(())
}

/// What stands below a mail beside the writer's name: their work, their number.
fn signature(text: &str, name: &str) -> Option<String> {
    let own: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.starts_with('>') && !line.is_empty()).collect();
    let first = words_of(name).into_iter().next()?;
    let at = own.iter().rposition(|line| line.split_whitespace().count() <= 6 && words_of(line).contains(&first))?;
    let below: Vec<&str> = own[at..].iter().take(4).copied().filter(|line| *line != "--").collect();
    let told = text::line(&text::harmless(&below.join(", ")), 160);
    (words_of(&told).len() > words_of(name).len()).then_some(told)
}

/// A mail in few words.
fn brief(mail: &Mail, mailbox: &Mailbox<'_>, household: &Household) -> Result<Value, Error> {
    Ok(json!({
        "emailId": mail.id,
        "from": mail.message.from.to_string(),
        "subject": mail.message.subject,
        "date": shown(mail.sent, &household.options().zone),
        "gist": text::line(&gist(&mail.message.text), 320),
        "answered": mailbox.is_answered(mail)?,
        "warnings": triage::warnings(mailbox, &mail.message, household)?,
    }))
}

/// Whether a sentence promises something, or says that something is owed.
fn is_promise(sentence: &str, by_me: bool) -> bool {
    const OWED: [&str; 9] =
        ["you owe", "i owe", "owe me", "owe you", "schuldest", "schulde", "tu me dois", "je te dois", "je vous dois"];
    const MINE: [&str; 22] = [
        "i will",
        "i'll",
        "will do",
        "you have it by",
        "you will have",
        "i bring",
        "on its way",
        "i look at",
        "i promise",
        "ich werde",
        "ich bringe",
        "ich schicke",
        "ich melde",
        "sie haben das",
        "du hast das",
        "kommen bis",
        "kommt bis",
        "je vous envoie",
        "je t'envoie",
        "je vais",
        "je ferai",
        "i confirm",
    ];
    let sentence = fold(sentence);
    let says = |cues: &[&str]| cues.iter().any(|cue| sentence.contains(cue));
    says(&OWED) || (by_me && says(&MINE))
}
