//! Turns what a person is to be told into sentences for a mail: "Ask Tom when he can meet" becomes "Could you tell me when you can
//! meet?".
//!
//! Only what is certain is rephrased; otherwise the draft has a placeholder.

use super::lexicon::Concept;
use super::task::SpecialistTask;

/// The sentences that a mail is to say.
pub(super) fn points(task: &SpecialistTask) -> Vec<String> {
    let told = match (task.content(), task.behind_person()) {
        (Some(content), _) => Some(sentence(&content)),
        (None, Some(rest)) if task.has(Concept::Ask) => question(rest),
        (None, Some(rest)) if task.has(Concept::Acknowledge) => thanks(rest),
        (None, Some(rest)) if task.has(Concept::Tell) => statement(rest),
        (None, _) => None,
    };
    match told {
        Some(told) => vec![told],
        None => task.entities.quoted.iter().map(|quoted| sentence(quoted)).collect(),
    }
}

/// A capital at its beginning and a full stop at its end.
fn sentence(text: &str) -> String {
    let text = text.trim().trim_end_matches([',', ';']);
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let whole: String = first.chain(letters).collect();
    if whole.ends_with(['.', '!', '?', '…']) { whole } else { format!("{whole}.") }
}

/// "when he can meet", "to send it again", "for a quote", as a question to that person.
fn question(rest: &str) -> Option<String> {
    let (first, more) = rest.split_once(' ')?;
    let open = rest.trim_end_matches(['.', '?']);
    match first.to_lowercase().as_str() {
        "when" | "if" | "whether" | "what" | "which" | "how" | "where" | "why" | "who" => {
            Some(format!("Could you tell me {}?", to_you(open)))
        }
        "to" => Some(format!("Could you {}?", more.trim_end_matches(['.', '?']))),
        "for" | "about" => Some(format!("I would like to ask {open}.")),
        _ => None,
    }
}

/// "for the flowers".
fn thanks(rest: &str) -> Option<String> {
    let (first, more) = rest.split_once(' ')?;
    let thanks = match first.to_lowercase().as_str() {
        "for" => "Thank you for",
        "für" => "Danke für",
        "pour" => "Merci pour",
        _ => return None,
    };
    Some(sentence(&format!("{thanks} {more}")))
}

/// "I will be late", "to bring the papers".
fn statement(rest: &str) -> Option<String> {
    let (first, more) = rest.split_once(' ')?;
    match first.to_lowercase().as_str() {
        "to" => Some(sentence(&format!("Please {more}"))),
        "about" | "on" | "über" | "wegen" | "de" | "sur" => None,
        _ => Some(sentence(rest)),
    }
}

/// English that speaks of a person, as it speaks to them.
fn to_you(text: &str) -> String {
    let mut is_after_you = false;
    let turned = text.split(' ').map(|word| {
        let (after_you, lower) = (std::mem::take(&mut is_after_you), word.to_lowercase());
        match lower.as_str() {
            "he" | "she" | "they" => {
                is_after_you = true;
                "you"
            }
            "him" | "them" => "you",
            "his" | "her" | "their" => "your",
            "is" if after_you => "are",
            "has" if after_you => "have",
            "was" if after_you => "were",
            "wants" if after_you => "want",
            "needs" if after_you => "need",
            _ => word,
        }
    });
    turned.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intent::Context;

    #[test]
    fn what_is_to_be_told_becomes_sentences_to_that_person() {
        let now = "2026-01-15T11:00:00+01:00[Europe/Berlin]".parse().expect("a moment");
        let context = Context { now, people: vec!["Tom Becker".into(), "Anna Schmidt".into()] };
        for (task, told) in [
            ("Reply to Tom that I will sign today", "I will sign today."),
            ("Ask Tom when he can meet", "Could you tell me when you can meet?"),
            ("ask Anna if she is free on Friday", "Could you tell me if you are free on Friday?"),
            ("Could you ask Tom to send the contract again?", "Could you send the contract again?"),
            ("Ask Tom for a quote", "I would like to ask for a quote."),
            ("Thank Anna for the flowers", "Thank you for the flowers."),
            ("Bedanke dich bei Anna für das Essen", "Danke für das Essen."),
            ("Tell Tom the heating is broken", "The heating is broken."),
            ("Tell Tom to bring the papers", "Please bring the papers."),
            ("let Tom know I can't make it tomorrow", "I can't make it tomorrow."),
            ("Antworte Anna, dass Freitag passt", "Freitag passt."),
            ("Reply \"sounds good\" to Anna", "Sounds good."),
            ("Please answer Tom: yes, Tuesday works", "Yes, Tuesday works."),
        ] {
            assert_eq!(points(&SpecialistTask::read(task, &context)), [told], "{task}");
        }
        for task in ["Reply to that mail from Tom", "Email Tom about the invoice", "Frag Anna, ob sie Zeit hat"] {
            assert_eq!(points(&SpecialistTask::read(task, &context)), Vec::<String>::new(), "{task}");
        }
    }
}
