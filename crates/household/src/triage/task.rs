//! The tasks that a mail asks for, as a list.

use jiff::civil::Date;

use super::MailContext;
use super::deadline::mentions;
use super::words::Sentence;
use crate::text::{self, fold};

/// Something to be done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Task {
    pub title: String,
    /// How sure it is that it was asked for.
    pub confidence: f64,
    pub due: Option<Date>,
}

/// Things that are asked for, at most five. A day that only one sentence names holds for all of them.
pub(super) fn tasks(sentences: &[(Sentence, bool)], subject: &str, at: &MailContext) -> Vec<Task> {
    let days = |sentence: &Sentence| mentions(sentence, &at.written).into_iter().map(|mention| mention.day).min();
    let named: Vec<Date> = sentences.iter().map(|(sentence, _)| sentence).filter_map(days).collect();
    let shared = match &*named {
        [only] => Some(*only),
        _ => days(&Sentence::new(subject)),
    };
    let mut tasks: Vec<Task> = Vec::new();
    for (sentence, _) in sentences.iter().filter(|(_, wants)| *wants) {
        let Some(title) = title(&sentence.said) else { continue };
        let own = days(sentence);
        let confidence = match own {
            Some(_) => 0.92,
            None if sentence.is_question() => 0.7,
            None => 0.78,
        };
        if tasks.len() < 5 && tasks.iter().all(|task| task.title != title) {
            tasks.push(Task { title, confidence, due: own.or(shared) });
        }
    }
    tasks
}

/// What is asked, without the words of asking: `Could you please send me the file?` is `Send me the file`. A condition stays,
/// as what is asked under it is not asked without it.
fn title(said: &str) -> Option<String> {
    const ASKING: &str = " please, could you, can you, would you, will you, kindly, i need you to, we need you to, \
        you need to, konnten sie, konnen sie, kannst du, konntest du, bitte, pouvez-vous, pourriez-vous, peux-tu, \
        pourrais-tu, merci de, veuillez";
    const CONDITIONS: [&str; 6] = ["if", "falls", "wenn", "si", "unless", "sobald"];
    let folded = |word: &str| fold(word.trim_matches(|character: char| !character.is_alphanumeric()));
    let words: Vec<&str> = said.split_whitespace().collect();
    let bare: Vec<String> = words.iter().map(|word| folded(word)).collect();
    let mut from = 0;
    if !bare.first().is_some_and(|first| CONDITIONS.contains(&&**first)) {
        for asking in ASKING.trim().split(", ") {
            let asking: Vec<&str> = asking.split(' ').collect();
            // Words of asking may stand twice: `could you please`.
            if let Some(at) = bare.windows(asking.len()).position(|window| window == asking) {
                from = from.max(at + asking.len());
            }
        }
    }
    let rest = words.get(from..)?.join(" ");
    let rest = rest.trim_matches(['.', '!', '?', ' ', ':', ',']);
    let mut letters = rest.chars();
    let first = letters.next()?;
    let title: String = first.to_uppercase().chain(letters).collect();
    (title.split_whitespace().count() > 1).then(|| text::line(&title, 100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_what_is_to_be_done_without_the_words_of_asking() {
        for (said, title_) in [
            ("Could you please send me the file?", Some("Send me the file")),
            ("Please, review the contract by EOD.", Some("Review the contract by EOD")),
            ("Können Sie bitte den Vertrag prüfen?", Some("Den Vertrag prüfen")),
            ("Merci de valider le devis.", Some("Valider le devis")),
            ("So that you get paid, please fill in the form", Some("Fill in the form")),
            ("If it rains, please call me", Some("If it rains, please call me")),
            ("Please!", None),
            ("Please", None),
            ("ŉ ŉ", Some("ʼN ŉ")),
        ] {
            assert_eq!(title(said).as_deref(), title_, "{said}");
        }
    }
}
