//! The sentences of drafts, in three languages. Who is addressed formally is decided by [`Style`](super::style::Style).

use jiff::Zoned;
use serde::Deserialize;

use super::style::Manner;
use crate::text::Language;

/// What a letter is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Act {
    Accept,
    Decline,
    ProposeTimes,
    Ask,
    Acknowledge,
    FollowUp,
    Forward,
    Inform,
}

/// What an act says about: the subject, and a time where one is known.
pub(super) struct About<'a> {
    pub topic: &'a str,
    pub time: Option<String>,
}

/// The sentence of an act, and what it leaves open.
pub(super) fn sentence(act: Act, language: Language, manner: Manner, about: &About<'_>) -> String {
    use Language::{English, French, German};
    let topic = about.topic;
    let time = about.time.as_deref();
    let familiar = manner == Manner::Familiar;
    match (act, language) {
        (Act::Accept, English) => match time {
            Some(time) => format!("Thank you, {time} works for me. I look forward to it."),
            None => "Thank you, that works for me.".into(),
        },
        (Act::Accept, German) => match time {
            Some(time) => format!("vielen Dank, {time} passt mir gut. Ich freue mich darauf."),
            None => "vielen Dank, das passt mir gut.".into(),
        },
        (Act::Accept, French) => match time {
            Some(time) => format!("Merci, {time} me convient très bien."),
            None => "Merci, cela me convient très bien.".into(),
        },
        (Act::Decline, English) => "Thank you for asking. Unfortunately I have to decline this time.".into(),
        (Act::Decline, German) => "vielen Dank für die Anfrage. Leider muss ich diesmal absagen.".into(),
        (Act::Decline, French) => "Merci pour la proposition. Malheureusement, je dois décliner cette fois.".into(),
        (Act::ProposeTimes, English) => "Would one of these times suit you?".into(),
        (Act::ProposeTimes, German) if familiar => "würde dir einer dieser Termine passen?".into(),
        (Act::ProposeTimes, German) => "würde Ihnen einer dieser Termine passen?".into(),
        (Act::ProposeTimes, French) if familiar => "Est-ce que l'un de ces créneaux te conviendrait ?".into(),
        (Act::ProposeTimes, French) => "Est-ce que l'un de ces créneaux vous conviendrait ?".into(),
        (Act::Ask, English) => "I have a question:".into(),
        (Act::Ask, German) => "ich habe eine Frage:".into(),
        (Act::Ask, French) => "J'ai une question :".into(),
        (Act::Acknowledge, English) => "Thank you, I have received it. You will hear from me by [[date?]].".into(),
        (Act::Acknowledge, German) => "vielen Dank, es ist angekommen. Ich melde mich bis [[Datum?]].".into(),
        (Act::Acknowledge, French) if familiar => "Merci, bien reçu. Je reviens vers toi d'ici [[date ?]].".into(),
        (Act::Acknowledge, French) => "Merci, bien reçu. Je reviens vers vous d'ici [[date ?]].".into(),
        (Act::FollowUp, English) => format!("I would like to come back to “{topic}”. Is there any news?"),
        (Act::FollowUp, German) => format!("ich möchte auf „{topic}“ zurückkommen. Gibt es etwas Neues?"),
        (Act::FollowUp, French) => format!("Je me permets de revenir sur « {topic} ». Y a-t-il du nouveau ?"),
        (Act::Forward, English) => "Please see the mail below.".into(),
        (Act::Forward, German) if familiar => "siehe bitte die Mail unten.".into(),
        (Act::Forward, German) => "bitte sehen Sie die Mail unten.".into(),
        (Act::Forward, French) => "Voir le message ci-dessous.".into(),
        (Act::Inform, _) => String::new(),
    }
}

/// What stands where an act needs words that nobody gave.
pub(super) fn open(act: Act, language: Language) -> Option<&'static str> {
    match (act, language) {
        (Act::Ask, Language::English) => Some("[[question?]]"),
        (Act::Ask, Language::German) => Some("[[Frage?]]"),
        (Act::Ask, Language::French) => Some("[[question ?]]"),
        (Act::Inform, Language::English) => Some("[[message?]]"),
        (Act::Inform, Language::German) => Some("[[Nachricht?]]"),
        (Act::Inform, Language::French) => Some("[[message ?]]"),
        (Act::ProposeTimes, Language::English) => Some("[[date and time?]]"),
        (Act::ProposeTimes, Language::German) => Some("[[Datum und Uhrzeit?]]"),
        (Act::ProposeTimes, Language::French) => Some("[[date et heure ?]]"),
        _ => None,
    }
}

/// How somebody is greeted. Without a name nobody is guessed.
pub(super) fn greeting(language: Language, manner: Manner, first: Option<&str>, full: &str) -> String {
    match (language, manner, first) {
        (Language::English, Manner::Formal, Some(_)) => format!("Dear {full},"),
        (Language::English, Manner::Familiar, Some(first)) => format!("Hi {first},"),
        (Language::English, _, None) => "Hello,".into(),
        (Language::German, Manner::Familiar, Some(first)) => format!("Hallo {first},"),
        (Language::German, _, Some(_)) => format!("Guten Tag {full},"),
        (Language::German, _, None) => "Guten Tag,".into(),
        (Language::French, _, Some(first)) => format!("Bonjour {first},"),
        (Language::French, _, None) => "Bonjour,".into(),
    }
}

/// How the owner parts where nothing is known of it.
pub(super) fn parting(language: Language, manner: Manner) -> &'static str {
    match (language, manner) {
        (Language::English, Manner::Familiar) => "Best,",
        (Language::English, Manner::Formal) => "Kind regards,",
        (Language::German, Manner::Familiar) => "Viele Grüße",
        (Language::German, Manner::Formal) => "Mit freundlichen Grüßen",
        (Language::French, Manner::Familiar) => "À bientôt,",
        (Language::French, Manner::Formal) => "Cordialement,",
    }
}

/// A time from start to end, as one would say it: `Friday, 16 January, 10:00–10:30`.
pub(super) fn time(language: Language, start: &Zoned, end: Option<&Zoned>) -> String {
    let (weekdays, months) = match language {
        Language::English => (
            ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
            "January February March April May June July August September October November December",
        ),
        Language::German => (
            ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"],
            "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        ),
        Language::French => (
            ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
            "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        ),
    };
    let weekday = weekdays[start.weekday().to_monday_zero_offset().unsigned_abs() as usize];
    let month = months.split(' ').nth(usize::from(start.month().unsigned_abs()) - 1).unwrap_or_default();
    let day = start.day();
    let hours = match end {
        Some(end) => format!("{}–{}", start.strftime("%H:%M"), end.strftime("%H:%M")),
        None => start.strftime("%H:%M").to_string(),
    };
    match language {
        Language::English => format!("{weekday}, {day} {month}, {hours}"),
        Language::German => format!("{weekday}, {day}. {month}, {hours} Uhr"),
        Language::French => format!("{weekday} {day} {month}, {hours}"),
    }
}
