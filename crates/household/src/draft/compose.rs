//! Composes a draft: recipients, subject, language and text.

use jiff::Zoned;

use super::message::Message;
use super::phrases::{About, DraftPurpose, greeting, open, parting, sentence, time};
use super::replies::{self, Reply};
use super::style::Style;
use crate::error::Error;
use crate::household::Household;
use crate::mail::address::Person;
use crate::mail::folder::SENT;
use crate::mail::mailbox::{Filter, Mail, Mailbox};
use crate::preferences::Applied;
use crate::text::{self, Language};

/// What a draft is to be.
#[derive(Debug, Default)]
pub(super) struct DraftRequest {
    pub reply_to: Option<String>,
    /// Names or addresses.
    pub to: Vec<String>,
    pub subject: Option<String>,
    pub act: Option<DraftPurpose>,
    /// What is to be said.
    pub points: Vec<String>,
    /// Times, with their ends.
    pub slots: Vec<(Zoned, Option<Zoned>)>,
    /// The whole text, where a person has written it already.
    pub body: Option<String>,
    pub language: Option<Language>,
}

/// A draft, and what it was made from.
pub(super) struct Composed {
    pub message: Message,
    pub tone: String,
    pub based_on: Vec<String>,
    /// People without an address.
    pub unknown: Vec<String>,
    /// What is odd about the mail that it answers.
    pub warnings: Vec<String>,
    pub language: Language,
    /// What is to be said but could not be put into the language of the mail; it stands there as a placeholder.
    pub untranslated: Vec<String>,
}

/// Composes a draft, as the owner writes and with what the owner agreed to.
pub(super) fn compose(
    wish: &DraftRequest,
    habits: &Applied,
    mailbox: &Mailbox<'_>,
    household: &Household,
) -> Result<Composed, Error> {
    let me = mailbox.me()?;
    let answered = wish.reply_to.as_deref().map(|id| mailbox.find(id)).transpose()?;
    let act = wish.act.unwrap_or(if wish.slots.is_empty() { DraftPurpose::Inform } else { DraftPurpose::ProposeTimes });
    let (mut to, unknown) = recipients(wish, household)?;
    for person in &to {
        refuse_hostile(person, mailbox, household)?;
    }
    if let Some(mail) =
        answered.as_ref().filter(|_| to.is_empty() && unknown.is_empty() && act != DraftPurpose::Forward)
    {
        to = answer_to(mail, &me);
    }
    let agreed = to.first().and_then(|person| habits.value(&format!("draft.language.{}", person.address)));
    let agreed = agreed.and_then(Language::named);
    let language = match wish.language.or(agreed) {
        Some(language) => language,
        None => spoken(wish, answered.as_ref(), to.first(), mailbox)?,
    };
    let said: Vec<Reply> = wish
        .points
        .iter()
        .map(|point| replies::in_language(&text::harmless(point.trim()), language, &household.now()))
        .filter(|reply| !reply.text.is_empty())
        .collect();
    // A sentence that says by itself what the mail is to do needs no other beside it.
    let act = match said.iter().any(|reply| reply.is_whole) {
        true if matches!(act, DraftPurpose::Accept | DraftPurpose::Decline | DraftPurpose::Acknowledge) => {
            DraftPurpose::Inform
        }
        _ => act,
    };
    let untranslated = said.iter().filter_map(|reply| reply.untranslated.clone()).collect();
    let style = Style::of(mailbox, to.first().map(|person| &*person.address), language)?;
    let style = style.agreed(habits, language, to.first());
    let topic = answered.as_ref().map(|mail| mail.message.topic()).unwrap_or_default();
    let subject = match (&wish.subject, act) {
        (Some(subject), _) => subject.clone(),
        (None, DraftPurpose::Forward) if answered.is_some() => format!("Fwd: {topic}"),
        (None, _) if answered.is_some() => format!("Re: {topic}"),
        _ => "[[subject?]]".to_owned(),
    };
    let body = match &wish.body {
        Some(body) => text::harmless(body),
        None => words(wish, &said, act, language, &style, to.first(), answered.as_ref(), household),
    };
    let mut message = Message {
        from: owner(&style, &me),
        to,
        subject: text::line(&text::harmless(&subject), 200),
        body,
        ..Message::default()
    };
    let mut warnings = Vec::new();
    if let Some(mail) = &answered {
        warnings = crate::triage::warnings(mailbox, &mail.message, household)?;
        if act != DraftPurpose::Forward {
            message.in_reply_to = mail.message.message_id.clone();
            message.references = mail.message.references.clone();
            message.references.push(mail.message.message_id.clone());
        }
    }
    let based_on = answered.iter().map(|mail| mail.id.clone()).chain(style.based_on.iter().cloned()).collect();
    Ok(Composed { message, tone: style.tone(), based_on, unknown, warnings, language, untranslated })
}

/// Refuses an address that the owner has never written to and that a suspicious mail names: its writer may want something sent there.
fn refuse_hostile(person: &Person, mailbox: &Mailbox<'_>, household: &Household) -> Result<(), Error> {
    if household.contact_for(&person.address).is_some() || mailbox.written_to(&person.address)? > 0 {
        return Ok(());
    }
    let words = person.address.split(['@', '.', '-', '_', '+']).filter(|word| word.len() > 2).map(str::to_owned);
    let filter = Filter { any: words.collect(), ..Filter::default() };
    let names_it = |mail: &Mail| {
        let message = &mail.message;
        let people = std::iter::once(&message.from).chain(&message.reply_to);
        let told = format!("{} {}", message.text, message.order.as_ref().map(|order| order.reason()).unwrap_or_default());
        people.map(|one| &one.address).any(|address| *address == person.address) || text::fold(&told).contains(&person.address)
    };
    for mail in mailbox.list(&filter, 200)?.0.iter().filter(|mail| names_it(mail)) {
        let warnings = crate::triage::warnings(mailbox, &mail.message, household)?;
        if let Some(warning) = warnings.first() {
            return Err(Error::request(format!(
                "no draft to {} is written: a suspicious mail names this address (\"{}\" {warning})",
                person.address,
                text::line(&mail.message.subject, 80)
            )));
        }
    }
    Ok(())
}

/// Who is meant: an address as it is, a name as the address book knows it.
fn recipients(wish: &DraftRequest, household: &Household) -> Result<(Vec<Person>, Vec<String>), Error> {
    let (mut people, mut unknown) = (Vec::new(), Vec::new());
    for said in wish.to.iter().filter(|said| !said.trim().is_empty()) {
        if let Some(person) = addressed(said) {
            let name = household.contact_for(&person.address).map(|contact| contact.name);
            people.push(Person {
                name: if person.name.is_empty() { name.unwrap_or_default() } else { person.name },
                ..person
            });
            continue;
        }
        let mut fitting = household.contacts_like(said);
        fitting.retain(|contact| !contact.emails.is_empty());
        match &*fitting {
            [] => unknown.push(text::line(said, 80)),
            [one] => people.push(Person { name: one.name.clone(), address: one.emails[0].clone() }),
            [one, ..] if text::fold(&one.name) == text::fold(said.trim()) => {
                people.push(Person { name: one.name.clone(), address: one.emails[0].clone() });
            }
            several => {
                let names: Vec<_> =
                    several.iter().take(5).map(|contact| format!("{} <{}>", contact.name, contact.emails[0])).collect();
                return Err(Error::request(format!("`{said}` could be {}: say which", names.join(" or "))));
            }
        }
    }
    Ok((people, unknown))
}

/// `a@b.example` or `Name <a@b.example>`.
pub(super) fn addressed(said: &str) -> Option<Person> {
    let (name, address) = match said.trim().strip_suffix('>').and_then(|said| said.split_once('<')) {
        Some((name, address)) => (name.trim().trim_matches('"'), address.trim()),
        None => ("", said.trim()),
    };
    let (local, domain) = address.rsplit_once('@')?;
    let is_plain = |part: &str| {
        !part.is_empty()
            && part.chars().all(|character| character.is_ascii_graphic() && !"<>,;:\"()[]\\".contains(character))
    };
    (is_plain(local) && is_plain(domain))
        .then(|| Person { name: text::line(&text::harmless(name), 100), address: address.to_lowercase() })
}

/// Whom an answer goes to: the sender, or, to one's own mail, those that it went to.
fn answer_to(mail: &Mail, me: &[String]) -> Vec<Person> {
    let mail_message = &mail.message;
    match me.contains(&mail_message.from.address) {
        true => mail_message.to.clone(),
        false => vec![mail_message.reply_to.clone().unwrap_or_else(|| mail_message.from.clone())],
    }
}

/// The language of the mail that is answered, else the one in which the owner and this person wrote last, else of what is to be said.
fn spoken(
    wish: &DraftRequest,
    answered: Option<&Mail>,
    to: Option<&Person>,
    mailbox: &Mailbox<'_>,
) -> Result<Language, Error> {
    let of = |mail: &Mail| Language::of(&format!("{} {}", mail.message.subject, mail.message.text));
    if let Some(mail) = answered {
        return Ok(of(mail));
    }
    if let Some(to) = to {
        let recipients = vec![to.address.clone()];
        let filter = Filter { folder: Some(SENT.into()), recipients: recipients.clone(), ..Filter::default() };
        let sent = mailbox.list(&filter, 1)?.0;
        let received = || mailbox.list(&Filter { senders: recipients, ..Filter::default() }, 1);
        if let Some(mail) = sent.first() {
            return Ok(of(mail));
        }
        if let Some(mail) = received()?.0.first() {
            return Ok(of(mail));
        }
    }
    Ok(Language::of(&format!("{} {}", wish.points.join(" "), wish.subject.as_deref().unwrap_or_default())))
}

#[expect(clippy::too_many_arguments, reason = "everything that a text is made of, used once")]
fn words(
    wish: &DraftRequest,
    said: &[Reply],
    act: DraftPurpose,
    language: Language,
    style: &Style,
    to: Option<&Person>,
    answered: Option<&Mail>,
    household: &Household,
) -> String {
    let zone = &household.options().zone;
    let invited = answered.and_then(|mail| mail.message.invite.as_ref()).and_then(|invite| {
        let at = |moment: jiff::Timestamp| moment.to_zoned(zone.clone());
        Some(time(language, &at(invite.start?), invite.end.map(at).as_ref()))
    });
    let chosen = wish.slots.first().map(|(start, end)| time(language, start, end.as_ref())).or(invited);
    let topic = answered.map_or("[[subject?]]", |mail| mail.message.topic());
    let about = About { topic, time: chosen.filter(|_| act == DraftPurpose::Accept) };
    let mut paragraphs = vec![sentence(act, language, style.manner, &about)];
    match (act, &*wish.slots) {
        (DraftPurpose::ProposeTimes, []) => paragraphs.push(format!("- {}", open(act, language).unwrap_or_default())),
        (DraftPurpose::ProposeTimes, slots) => {
            let times: Vec<_> =
                slots.iter().map(|(start, end)| format!("- {}", time(language, start, end.as_ref()))).collect();
            paragraphs.push(times.join("\n"));
        }
        _ => {}
    }
    let points: Vec<String> = said.iter().map(|reply| reply.text.clone()).collect();
    match &*points {
        [] => paragraphs.extend(open(act, language).filter(|_| act != DraftPurpose::ProposeTimes).map(str::to_owned)),
        [one] => paragraphs.push(one.clone()),
        several => paragraphs.push(several.iter().map(|point| format!("- {point}")).collect::<Vec<_>>().join("\n")),
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    let hello = style.greeting.clone().unwrap_or_else(|| {
        greeting(language, style.manner, to.and_then(Person::first_name), to.map_or("", |person| person.called()))
    });
    let goodbye = style.parting.clone().unwrap_or_else(|| {
        let name = style.owner.first_name().unwrap_or_default();
        format!("{}\n{name}", parting(language, style.manner)).trim_end().to_owned()
    });
    let below = answered.filter(|_| act == DraftPurpose::Forward).map(|mail| {
        let mail_message = &mail.message;
        format!(
            "\n\n---------- Forwarded message ----------\nFrom: {}\nDate: {}\nSubject: {}\n\n{}",
            mail_message.from,
            crate::times::shown(mail.sent, zone),
            mail_message.subject,
            mail_message.text
        )
    });
    format!("{hello}\n\n{}\n\n{goodbye}{}", paragraphs.join("\n\n"), below.unwrap_or_default())
}

/// The owner as the draft names them: by the name on what was sent, at the address that the household was told.
fn owner(style: &Style, me: &[String]) -> Person {
    match me.first() {
        Some(address) => Person { name: style.owner.name.clone(), address: address.clone() },
        None => style.owner.clone(),
    }
}
