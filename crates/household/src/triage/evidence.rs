//! The evidence for and against the priority of a mail: each item with its weight and a sentence that explains it.

use jiff::civil::Time;
use jiff::{Unit, Zoned};

use super::deadline::{Mention, about, mentions};
use super::lexicon::{
    ANNOUNCED, ANSWERS, BROKEN, CALM, MEETING, MISSING, MOVED, OFFICES, ORDERS, OTHERWISE, POLITE, PRESENT, PROMOTION,
    REQUEST, SETTLED, SUPPOSED, TELLS, TRANSACTION, URGENT, WAITING,
};
use super::words::{Sentence, sentences};
use super::{AgreedUrgency, MailContext};
use crate::mail::message::MailMessage;
use crate::text::fold;

/// One reason.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reason {
    /// Above zero it speaks for the mail, below against it.
    pub weight: f64,
    pub sentence: String,
}

/// Everything that was found in a mail.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub reasons: Vec<Reason>,
    /// Its own sentences, and whether each wants something.
    pub sentences: Vec<(Sentence, bool)>,
    /// The end that matters most, and the hours until then.
    pub deadline: Option<(Mention, f64)>,
    pub is_mass: bool,
    /// Whether it is a person's word to a list that the owner is on.
    pub is_talk: bool,
    pub is_promotion: bool,
    pub is_transaction: bool,
    pub is_request: bool,
    pub is_question: bool,
    pub is_urgent: bool,
    pub is_broken: bool,
    /// Whether it is about the day on which it is read.
    pub is_today: bool,
    /// Whether it names an hour that is still to come on that day.
    pub comes_today: bool,
    /// Whether a person is waiting right now.
    pub is_present: bool,
    /// Whether something is not there that the owner should have given.
    pub is_missing: bool,
    /// Whether it says what happens where nothing is done.
    pub has_stakes: bool,
    pub is_calm: bool,
    pub is_settled: bool,
    pub is_meeting: bool,
    pub is_waiting: bool,
    pub only_tells: bool,
    pub is_for_me: bool,
    /// Days since it was written.
    pub age_d: f64,
}

impl Evidence {
    /// Looks at a mail.
    pub fn of(message: &MailMessage, at: &MailContext) -> Self {
        let mut evidence = Self::read(message, at);
        evidence.weigh(message, at);
        evidence
    }

    fn read(message: &MailMessage, at: &MailContext) -> Self {
        let subject = Sentence::new(message.topic());
        // With the tags in brackets, which are no part of the topic: `[CRITICAL] disk`.
        let tagged = Sentence::new(&message.subject);
        let body = sentences(&message.text);
        let all = || std::iter::once(&subject).chain(&body);
        let any = |words: &str| all().any(|sentence| sentence.has_any(words));
        let is_calm = any(CALM);
        let said = |words: &str| all().any(|sentence| says(sentence, words));
        // The subject of an answer is the other side's.
        let is_fresh = !tagged.words().next().is_some_and(|first| ANSWERS.split(", ").any(|mark| mark == first));
        let promotions = PROMOTION.split(", ").filter(|phrase| all().any(|sentence| sentence.has(phrase))).count();
        let is_known = at.written_to > 0 || at.is_contact || at.answers_me;
        let is_mass = (!message.list.is_empty() || message.unsubscribe || message.bulk)
            && !(at.answers_me || (is_known && is_colleague(message, at)));
        let is_talk = !message.list.is_empty() && promotions == 0 && !message.automatic && is_person(message);
        let is_promotion = !is_known && promotions >= 2 || is_mass && promotions >= 1;
        let marked: Vec<_> = body.iter().map(|sentence| (sentence.clone(), is_request(sentence))).collect();
        let is_meeting = message.invite.as_ref().is_some_and(|invite| invite.asks())
            || marked.iter().any(|(sentence, wants)| (*wants || sentence.is_question()) && sentence.has_any(MEETING));
        let is_invited = message.invite.is_some();
        // A subject names the day of a meeting as often as the end of something.
        let first = (&subject, is_request(&subject) || subject.has_any(URGENT));
        let written: Vec<_> = std::iter::once(first)
            .chain(marked.iter().map(|(sentence, wants)| (sentence, *wants)))
            .map(|(sentence, wants)| (sentence, wants && !is_invited))
            .collect();
        let hours: Vec<Option<Time>> =
            all().filter_map(|sentence| about(at.now.date(), sentence, &at.written)).collect();
        let announces = subject.has_any(ANNOUNCED);
        Self {
            reasons: Vec::new(),
            deadline: deadline(&written, at),
            is_mass: is_mass && !is_talk,
            is_talk: is_mass && is_talk,
            is_promotion,
            is_transaction: any(TRANSACTION),
            is_request: marked.iter().any(|(_, wants)| *wants) || is_request(&subject),
            is_question: body.iter().any(Sentence::is_question) || subject.is_question(),
            is_urgent: is_urgent(&subject, &body, is_meeting, message),
            is_broken: body.iter().any(|sentence| says(sentence, BROKEN)) || is_fresh && says(&tagged, BROKEN),
            is_today: !hours.is_empty(),
            comes_today: hours.iter().flatten().any(|hour| *hour > at.now.time()),
            is_present: said(PRESENT),
            is_missing: said(MISSING),
            has_stakes: any(OTHERWISE),
            is_calm,
            is_settled: any(SETTLED),
            is_meeting: is_meeting || announces || subject.has_any(MEETING) && marked.iter().any(|(_, wants)| *wants),
            is_waiting: any(WAITING),
            only_tells: any(TELLS),
            is_for_me: is_for_me(message, &body, at),
            sentences: marked,
            age_d: at.now.duration_since(&at.written).as_hours() as f64 / 24.0,
        }
    }

    fn weigh(&mut self, message: &MailMessage, at: &MailContext) {
        let sender = message.from.called().to_owned();
        let mut reasons = Vec::new();
        let mut note = |weight: f64, sentence: String| reasons.push(Reason { weight, sentence });
        let is_mine = |address: &String| at.me.contains(address);
        let in_to = message.to.iter().any(|person| is_mine(&person.address));
        match () {
            () if in_to && message.to.len() == 1 && message.cc.is_empty() => {
                note(0.5, "It is written to you alone.".into());
            }
            () if in_to => note(0.3, "It is written to you.".into()),
            () if message.cc.iter().any(|person| is_mine(&person.address)) => {
                note(-0.9, "You only got a copy of it.".into());
            }
            () => note(-0.3, "You are not named among those it is written to.".into()),
        }
        if !self.is_for_me {
            note(-1.8, "It is addressed to another person.".into());
        }
        if self.is_mass {
            note(-2.5, "It went to many at once.".into());
        }
        if self.is_talk {
            note(-0.8, "It went to a list that you are on.".into());
        }
        if message.automatic {
            note(-0.8, "A program wrote it.".into());
        }
        if self.is_promotion {
            note(-1.5, "It advertises something.".into());
        }
        match at.written_to {
            0 if at.is_contact => note(0.4, format!("{sender} is in your address book.")),
            0 => {}
            1 => note(0.5, format!("You have written to {sender} before.")),
            times => note(0.6, format!("You have written to {sender} {times} times.")),
        }
        if at.answers_me {
            note(0.6, "It belongs to a conversation that you take part in.".into());
        }
        if let Some((mention, hours)) = self.deadline {
            let (weight, when) = due(mention, hours, &at.now);
            note(weight, when);
        } else if self.is_today {
            note(0.9, "It is about today.".into());
        }
        if self.is_present {
            note(0.9, "A person is waiting right now.".into());
        }
        if self.is_missing {
            note(0.5, "Something is missing that you should give.".into());
        }
        if self.has_stakes {
            note(0.8, "It says what happens otherwise.".into());
        }
        if self.is_request {
            note(0.9, format!("{sender} asks you to do something."));
        } else if self.is_question {
            note(0.4, format!("{sender} asks you a question."));
        }
        if self.is_urgent {
            note(1.5, "It says that it is urgent.".into());
        }
        if self.is_broken {
            note(1.8, "It says that something is broken or has gone wrong.".into());
        }
        if self.is_calm {
            note(-2.2, "It says that it can wait.".into());
        }
        if self.is_settled {
            note(-1.6, "It says that the matter is settled.".into());
        }
        match message.importance {
            1 => note(0.8, "Its sender marked it as important.".into()),
            -1 => note(-0.6, "Its sender marked it as unimportant.".into()),
            _ => {}
        }
        if self.only_tells {
            note(-0.8, "It only wants you to know.".into());
        }
        if let Some(invite) = message.invite.as_ref().filter(|invite| invite.asks()) {
            let hours = invite.start.map(|start| start.duration_since(at.now.timestamp()).as_hours());
            match hours {
                Some(0..=24) => note(1.0, "It invites you to something within a day.".into()),
                _ => note(0.5, "It invites you to something.".into()),
            }
        }
        match self.age_d {
            days if days > 30.0 => note(-1.2, "It is more than a month old.".into()),
            days if days > 7.0 => note(-0.6, "It is more than a week old.".into()),
            days if days <= 1.0 => note(0.2, "It came within the last day.".into()),
            _ => {}
        }
        if at.is_flagged {
            note(0.6, "You flagged it.".into());
        }
        if at.is_unread {
            note(0.1, "You have not read it.".into());
        }
        match at.agreed {
            Some(AgreedUrgency::Urgent) => note(3.0, format!("You agreed that mail from {sender} is urgent.")),
            Some(AgreedUrgency::NotUrgent) => note(-3.0, format!("You agreed that mail from {sender} can wait.")),
            None => {}
        }
        if at.is_answered {
            note(-2.4, "You have answered it.".into());
        }
        reasons.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
        self.reasons = reasons;
    }

    /// How sure the reasons make us that it matters.
    pub fn priority(&self) -> f64 {
        const AT_REST: f64 = -1.6;
        let sum: f64 = AT_REST + self.reasons.iter().map(|reason| reason.weight).sum::<f64>();
        (100.0 / (1.0 + (-sum).exp())).round() / 100.0
    }
}

/// Whether a sentence wants something of its reader.
pub(super) fn is_request(sentence: &Sentence) -> bool {
    if sentence.has_any(POLITE) {
        return false;
    }
    let first =
        sentence.words().find(|word| !matches!(*word, "and" | "then" | "also" | "so" | "just")).unwrap_or_default();
    sentence.has_any(REQUEST) || ORDERS.split(", ").any(|order| order == first) && sentence.words().count() > 1
}

/// Whether words are said and not denied: `not urgent` holds the word that it denies.
fn says(sentence: &Sentence, words: &str) -> bool {
    sentence.has_any(words) && ![CALM, SETTLED, SUPPOSED].iter().any(|denials| sentence.has_any(denials))
}

/// Whether it is said to be urgent: in its own words, or in a subject that is followed by a wish. An `emergency drill` is to
/// be planned like any meeting.
fn is_urgent(subject: &Sentence, body: &[Sentence], is_meeting: bool, message: &MailMessage) -> bool {
    let wants = || body.iter().any(|sentence| is_request(sentence) || sentence.is_question()) || is_request(subject);
    let is_shouted = message.subject.split(|message: char| !message.is_alphanumeric()).any(|word| word == "URGENT");
    body.iter().any(|sentence| says(sentence, URGENT))
        || says(subject, URGENT) && wants() && (!is_meeting || is_shouted)
}

/// The end that comes next, or the last one that has just passed. A meeting's hour is no end.
fn deadline(sentences: &[(&Sentence, bool)], at: &MailContext) -> Option<(Mention, f64)> {
    let mut ends: Vec<(Mention, f64)> = Vec::new();
    for (sentence, wants) in sentences {
        let is_meeting = sentence.has_any(MEETING);
        let named = mentions(sentence, &at.written);
        // Of a day that took the place of another only the later one counts.
        let skipped = if sentence.has_any(MOVED) { named.len().saturating_sub(1) } else { 0 };
        for mention in named.into_iter().skip(skipped) {
            if mention.is_limit || (*wants && !is_meeting) {
                ends.push((mention, hours_until(mention, &at.now)));
            }
        }
    }
    let next = |ends: &[(Mention, f64)]| {
        ends.iter().copied().filter(|(_, hours)| *hours >= 0.0).min_by(|a, b| a.1.total_cmp(&b.1))
    };
    next(&ends).or_else(|| ends.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)))
}

fn hours_until(mention: Mention, now: &Zoned) -> f64 {
    let end = mention.hour.unwrap_or(Time::constant(23, 59, 0, 0));
    let Ok(end) = mention.day.to_datetime(end).to_zoned(now.time_zone().clone()) else { return f64::INFINITY };
    end.duration_since(now).as_secs_f64() / 3600.0
}

fn due(mention: Mention, hours: f64, now: &Zoned) -> (f64, String) {
    let days = now.date().until((Unit::Day, mention.day)).map_or(0, |span| span.get_days());
    match days {
        _ if hours < -48.0 => (-0.3, format!("What it wanted was due on {}.", day(mention))),
        _ if hours < 0.0 => (1.9, "What it wants was due a short while ago.".to_owned()),
        ..=0 => (2.2, "It is due today.".to_owned()),
        1 => (1.8, "It is due tomorrow.".to_owned()),
        2..=3 => (0.9, format!("It is due on {}.", day(mention))),
        4..=7 => (0.5, format!("It is due on {}.", day(mention))),
        _ => (0.2, format!("It is due on {}.", day(mention))),
    }
}

fn day(mention: Mention) -> String {
    mention.day.strftime("%A, %-d %B").to_string()
}

/// Whether a person from the owner's own domain wrote it.
fn is_colleague(message: &MailMessage, at: &MailContext) -> bool {
    at.me.iter().any(|address| crate::mail::address::domain(address) == message.from.domain())
}

/// Whether a person wrote it, as far as its address tells.
fn is_person(message: &MailMessage) -> bool {
    let office = Sentence::new(message.from.address.split('@').next().unwrap_or_default());
    message.from.first_name().is_some() && !office.has_any(OFFICES)
}

/// Whether it speaks to the owner: not so where the owner got a copy and another person is greeted.
fn is_for_me(message: &MailMessage, body: &[Sentence], at: &MailContext) -> bool {
    if message.to.iter().any(|person| at.me.contains(&person.address)) {
        return true;
    }
    let others: Vec<String> = message.to.iter().filter_map(|person| person.first_name()).map(fold).collect();
    let greeting: Vec<&str> = body.first().map(|sentence| sentence.words().take(4).collect()).unwrap_or_default();
    !others.iter().any(|name| greeting.contains(&name.as_str()))
}
