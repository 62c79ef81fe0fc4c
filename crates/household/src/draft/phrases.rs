//! The sentences of drafts, in three languages. [`Style`](super::style::Style) decides whether they are formal.

use jiff::Zoned;
use serde::Deserialize;

use super::style::Formality;
use crate::text::Language;

/// What a mail is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DraftPurpose {
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
pub(super) fn sentence(act: DraftPurpose, language: Language, manner: Formality, about: &About<'_>) -> String {
    use Language::{English, French, German};
    let topic = about.topic;
    let time = about.time.as_deref();
    let familiar = manner == Formality::Familiar;
    match (act, language) {
        (DraftPurpose::Accept, English) => match time {
            Some(time) => format!("Thank you, {time} works for me. I look forward to it."),
            None => "Thank you, that works for me.".into(),
        },
        (DraftPurpose::Accept, German) => match time {
            Some(time) => format!("vielen Dank, {time} passt mir gut. Ich freue mich darauf."),
            None => "vielen Dank, das passt mir gut.".into(),
        },
        (DraftPurpose::Accept, French) => match time {
            Some(time) => format!("Merci, {time} me convient très bien."),
            None => "Merci, cela me convient très bien.".into(),
        },
        (DraftPurpose::Decline, English) => "Thank you for asking. Unfortunately I have to decline this time.".into(),
        (DraftPurpose::Decline, German) => "vielen Dank für die Anfrage. Leider muss ich diesmal absagen.".into(),
        (DraftPurpose::Decline, French) => {
            "Merci pour la proposition. Malheureusement, je dois décliner cette fois.".into()
        }
        (DraftPurpose::ProposeTimes, English) => "Would one of these times suit you?".into(),
        (DraftPurpose::ProposeTimes, German) if familiar => "würde dir einer dieser Termine passen?".into(),
        (DraftPurpose::ProposeTimes, German) => "würde Ihnen einer dieser Termine passen?".into(),
        (DraftPurpose::ProposeTimes, French) if familiar => "Est-ce que l'un de ces créneaux te conviendrait ?".into(),
        (DraftPurpose::ProposeTimes, French) => "Est-ce que l'un de ces créneaux vous conviendrait ?".into(),
        (DraftPurpose::Ask, English) => "I have a question:".into(),
        (DraftPurpose::Ask, German) => "ich habe eine Frage:".into(),
        (DraftPurpose::Ask, French) => "J'ai une question :".into(),
        (DraftPurpose::Acknowledge, English) => {
            "Thank you, I have received it. You will hear from me by [[date?]].".into()
        }
        (DraftPurpose::Acknowledge, German) => "vielen Dank, es ist angekommen. Ich melde mich bis [[Datum?]].".into(),
        (DraftPurpose::Acknowledge, French) if familiar => {
            "Merci, bien reçu. Je reviens vers toi d'ici [[date ?]].".into()
        }
        (DraftPurpose::Acknowledge, French) => "Merci, bien reçu. Je reviens vers vous d'ici [[date ?]].".into(),
        (DraftPurpose::FollowUp, English) => format!("I would like to come back to “{topic}”. Is there any news?"),
        (DraftPurpose::FollowUp, German) => format!("ich möchte auf „{topic}“ zurückkommen. Gibt es etwas Neues?"),
        (DraftPurpose::FollowUp, French) => format!("Je me permets de revenir sur « {topic} ». Y a-t-il du nouveau ?"),
        (DraftPurpose::Forward, English) => "Please see the mail below.".into(),
        (DraftPurpose::Forward, German) if familiar => "siehe bitte die Mail unten.".into(),
        (DraftPurpose::Forward, German) => "bitte sehen Sie die Mail unten.".into(),
        (DraftPurpose::Forward, French) => "Voir le message ci-dessous.".into(),
        (DraftPurpose::Inform, _) => String::new(),
    }
}

/// What stands where an act needs words that nobody gave.
pub(super) fn open(act: DraftPurpose, language: Language) -> Option<&'static str> {
    match (act, language) {
        (DraftPurpose::Ask, Language::English) => Some("[[question?]]"),
        (DraftPurpose::Ask, Language::German) => Some("[[Frage?]]"),
        (DraftPurpose::Ask, Language::French) => Some("[[question ?]]"),
        (DraftPurpose::Inform, Language::English) => Some("[[message?]]"),
        (DraftPurpose::Inform, Language::German) => Some("[[Nachricht?]]"),
        (DraftPurpose::Inform, Language::French) => Some("[[message ?]]"),
        (DraftPurpose::ProposeTimes, Language::English) => Some("[[date and time?]]"),
        (DraftPurpose::ProposeTimes, Language::German) => Some("[[Datum und Uhrzeit?]]"),
        (DraftPurpose::ProposeTimes, Language::French) => Some("[[date et heure ?]]"),
        _ => None,
    }
}

/// How a person is greeted. Without a name nobody is guessed.
pub(super) fn greeting(language: Language, manner: Formality, first: Option<&str>, full: &str) -> String {
    match (language, manner, first) {
        (Language::English, Formality::Formal, Some(_)) => format!("Dear {full},"),
        (Language::English, Formality::Familiar, Some(first)) => format!("Hi {first},"),
        (Language::English, _, None) => "Hello,".into(),
        (Language::German, Formality::Familiar, Some(first)) => format!("Hallo {first},"),
        (Language::German, _, Some(_)) => format!("Guten Tag {full},"),
        (Language::German, _, None) => "Guten Tag,".into(),
        (Language::French, _, Some(first)) => format!("Bonjour {first},"),
        (Language::French, _, None) => "Bonjour,".into(),
    }
}

/// How the owner parts where nothing is known of it.
pub(super) fn parting(language: Language, manner: Formality) -> &'static str {
    match (language, manner) {
        (Language::English, Formality::Familiar) => "Best,",
        (Language::English, Formality::Formal) => "Kind regards,",
        (Language::German, Formality::Familiar) => "Viele Grüße",
        (Language::German, Formality::Formal) => "Mit freundlichen Grüßen",
        (Language::French, Formality::Familiar) => "À bientôt,",
        (Language::French, Formality::Formal) => "Cordialement,",
    }
}

/// A sentence that makes a mail friendlier, whatever it is about.
pub(super) fn kind_wish(language: Language) -> &'static str {
    match language {
        Language::English => "Have a lovely day!",
        Language::German => "Ich wünsche noch einen schönen Tag!",
        Language::French => "Belle journée !",
    }
}

/// A time from start to end, as one would say it: `Friday, 16 January, 10:00–10:30`.
pub(super) fn time(language: Language, start: &Zoned, end: Option<&Zoned>) -> String {
    let hours = match end {
        Some(end) => format!("{}–{}", start.strftime("%H:%M"), end.strftime("%H:%M")),
        None => start.strftime("%H:%M").to_string(),
    };
    let day = day(language, start);
    match language {
        Language::German => format!("{day}, {hours} Uhr"),
        Language::English | Language::French => format!("{day}, {hours}"),
    }
}

/// A day, as one would say it: `Friday, 16 January`.
pub(super) fn day(language: Language, at: &Zoned) -> String {
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
    let weekday = weekdays[at.weekday().to_monday_zero_offset().unsigned_abs() as usize];
    let month = months.split(' ').nth(usize::from(at.month().unsigned_abs()) - 1).unwrap_or_default();
    match language {
        Language::English => format!("{weekday}, {} {month}", at.day()),
        Language::German => format!("{weekday}, {}. {month}", at.day()),
        Language::French => format!("{weekday} {} {month}", at.day()),
    }
}
