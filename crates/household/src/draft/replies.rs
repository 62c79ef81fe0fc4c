//! Short answers in the language of the mail: "yes, Monday at ten works" becomes "vielen Dank, Montag, 19. Januar, 10:00 Uhr passt mir
//! gut." in a German mail.
//!
//! The answers are data (`replies.txt`). Words that are in the mail's language already stay as they were said. What is in another language and no
//! known answer stays as it was said too, marked as a placeholder: without a language model nothing is translated.

use std::sync::LazyLock;

use jiff::Zoned;

use super::phrases;
use crate::text::{Language, fold};
use crate::time::{self, When};

/// A sentence of a mail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reply {
    pub text: String,
    /// Whether it accepts, declines or thanks by itself.
    pub is_whole: bool,
    /// The words, where they could not be put into the language.
    pub untranslated: Option<String>,
}

struct Known {
    cues: Vec<String>,
    sentences: [&'static str; 3],
}

fn known() -> &'static [Known] {
    static BUILTIN: LazyLock<Vec<Known>> = LazyLock::new(|| {
        let mut all: Vec<Known> = Vec::new();
        for line in include_str!("replies.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if line.starts_with('[') {
                all.push(Known { cues: Vec::new(), sentences: ["", "", ""] });
                continue;
            }
            let (key, rest) = line.split_once(": ").expect("a line of replies.txt is `key: text`");
            let last = all.last_mut().expect("a reply begins with its name");
            match key {
                "cue" => last.cues = rest.split(", ").map(str::to_owned).collect(),
                "en" => last.sentences[0] = rest,
                "de" => last.sentences[1] = rest,
                "fr" => last.sentences[2] = rest,
                other => panic!("replies.txt has no `{other}`"),
            }
        }
        all
    });
    &BUILTIN
}

/// What is to be said, in a language.
pub(super) fn in_language(said: &str, language: Language, now: &Zoned) -> Reply {
    let folded = format!(" {} ", fold(said).replace([',', '.', '!', ';'], " "));
    let folded = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    let begins = |cue: &String| format!(" {folded}").contains(&format!(" {cue}"));
    let found = known().iter().find(|known| known.cues.iter().any(begins));
    let is_whole = found.is_some();
    // A known answer with more in it would lose that.
    let found = found.filter(|known| !says_more(said, known, now));
    if said.is_empty() || said.starts_with("[[") || language_of(said).is_none_or(|spoken| spoken == language) {
        return Reply { text: said.to_owned(), is_whole, untranslated: None };
    }
    let Some(found) = found else {
        // A day or an hour is told in the language of the mail; "the choir weekend" is none that is known.
        let is_one = |when: &time::When| when.end <= when.start.saturating_add(jiff::SignedDuration::from_hours(25));
        let when = time::parse(said, now).when.filter(is_one).map(|when| format!(" ({})", moment(language, &when)));
        if said.trim_end().ends_with('?') {
            let text = format!("[[{said}]]{}", when.unwrap_or_default());
            return Reply { text, is_whole, untranslated: Some(said.to_owned()) };
        }
        let thanks = match language {
            Language::English => "Thank you for your message. My answer to it:",
            Language::German => "vielen Dank für die Nachricht. Hier ist meine Antwort darauf:",
            Language::French => "Merci pour votre message. Voici ma réponse à ce sujet :",
        };
        let text = format!("{thanks} [[{said}]]{}", when.unwrap_or_default());
        return Reply { text, is_whole, untranslated: Some(said.to_owned()) };
    };
    let when = time::parse(said, now).when;
    let index = match language {
        Language::English => 0,
        Language::German => 1,
        Language::French => 2,
    };
    let sentence = found.sentences[index];
    let told = when.map(|when| format!(" {}", moment(language, &when))).unwrap_or_default();
    let text = match (told.is_empty(), sentence.contains(",{t}")) {
        // "Thank you, works for me" needs something that works.
        (true, true) => sentence.replace("{t}", [" that", " das", " cela"][index]),
        _ => sentence.replace("{t}", &told),
    };
    Reply { text, is_whole, untranslated: None }
}

/// Whether words say more than a known answer and a time.
fn says_more(said: &str, known: &Known, now: &Zoned) -> bool {
    const LITTLE: &str = " i we you it that this the a an is are am be will would can to for me my your us our at on in by and so then just please yes \
        no ok okay hi hello with him her them they he she there of very much too also well all good great fine perfect gladly works work \
        ich wir sie du es das der die den dem ein eine ist sind bin wird kann um am an im bei zu mir mich uns ihnen dir und so dann bitte ja nein \
        gut gern auch sehr mit ihm ihr hallo schon sage doch prima \
        je nous vous tu il elle le la les un une est sont suis sera serai peux a au en pour me moi te et alors oui non bien tres avec lui c'est \
        ce cela ca avec plaisir ";
    let times = time::parse(said, now).said;
    let mut rest = said.to_owned();
    for place in times.iter().rev() {
        rest.replace_range(place.clone(), " ");
    }
    let rest = fold(&rest);
    let cue_words: Vec<&str> = known.cues.iter().flat_map(|cue| cue.split(' ')).collect();
    rest.split(|character: char| !(character.is_alphanumeric() || character == '\''))
        .filter(|word| !word.is_empty())
        .any(|word| {
            !cue_words.contains(&word) && !LITTLE.contains(&format!(" {word} ")) && word.parse::<u32>().is_err()
        })
}

/// The language of a few words; none where they are too few to tell.
fn language_of(said: &str) -> Option<Language> {
    let languages = [Language::English, Language::German, Language::French];
    let marked: Vec<Language> = languages.into_iter().filter(|language| speaks(*language, said)).collect();
    match &marked[..] {
        [one] => Some(*one),
        [] => None,
        _ => Some(Language::of(said)),
    }
}

fn speaks(language: Language, said: &str) -> bool {
    const ENGLISH: &str = " i the is are will be you it that we to on at for my your can can't cannot and works with he she they of this \
        have has not yes please thanks thank by ";
    const GERMAN: &str = " ich der die das ist sind wird werden wir sie es und passt mir am um bis mit nicht ja nein gern danke den dem ein \
        eine kann komme auf fur zu im bei ";
    const FRENCH: &str = " je le la les est sont vous nous il elle et me convient pour avec pas oui non merci de du un une peux a au ce \
        cela c'est d'accord serai sera ";
    let list = match language {
        Language::English => ENGLISH,
        Language::German => GERMAN,
        Language::French => FRENCH,
    };
    let folded = fold(said);
    folded
        .split(|character: char| !(character.is_alphanumeric() || character == '\''))
        .any(|word| list.contains(&format!(" {word} ")))
}

fn moment(language: Language, when: &When) -> String {
    match when.is_exact {
        true => {
            let end = (when.end > when.start).then_some(&when.end);
            phrases::time(language, &when.start, end)
        }
        false => phrases::day(language, &when.start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_answers_are_said_in_the_language_of_the_mail() {
        let now: Zoned = "2026-01-15T11:00:00+01:00[Europe/Berlin]".parse().expect("a moment");
        let said = |text: &str, language| in_language(text, language, &now).text;
        assert_eq!(said("Monday works for me.", Language::English), "Monday works for me.");
        assert_eq!(
            said("Yes, Wednesday at 14:00 works for me.", Language::German),
            "vielen Dank, Mittwoch, 21. Januar, 14:00 Uhr passt mir gut."
        );
        assert_eq!(said("That works for me.", Language::German), "vielen Dank, das passt mir gut.");
        assert_eq!(
            said("I can't make it on Tuesday.", Language::French),
            "Malheureusement, je ne peux pas mardi 20 janvier."
        );
        assert_eq!(said("Ich komme am Montag.", Language::English), "I will be there Monday, 19 January.");
        assert!(said("The libraries stay mine.", Language::German).ends_with("[[The libraries stay mine.]]"));
        assert!(
            said("I will come by bike on Monday.", Language::German)
                .contains("[[I will come by bike on Monday.]] (Montag, 19. Januar)")
        );
        let reply = in_language("The libraries stay mine.", Language::German, &now);
        assert_eq!(reply.untranslated.as_deref(), Some("The libraries stay mine."));
    }
}
