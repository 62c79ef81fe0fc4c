//! The sentences that the sender of a mail wrote, without quotes and signature, prepared for searching phrases.

use crate::text::fold;

/// A mail's own sentences, in order. The subject is not among them.
pub(crate) fn sentences(text: &str) -> Vec<Sentence> {
    let own = own(text);
    let mut sentences = Vec::new();
    for paragraph in paragraphs(&own) {
        split(&paragraph, &mut |sentence| {
            if sentences.len() < 400 {
                sentences.push(Sentence::new(sentence));
            }
        });
    }
    sentences
}

/// All sentences of a mail as they were written: what it says, quotes and signs.
pub(crate) fn every_sentence(text: &str) -> Vec<String> {
    let bare: Vec<&str> = text.lines().map(|line| line.trim_start_matches(['>', ' ', '|'])).collect();
    let mut sentences = Vec::new();
    for paragraph in paragraphs(&bare.join("\n")) {
        split(&paragraph, &mut |sentence| sentences.push(sentence.trim().to_owned()));
    }
    sentences
}

/// A sentence as it was written, and made comparable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// As it was written.
    pub said: String,
    /// Its words, folded, with one space before, between and after them.
    words: String,
}

impl Sentence {
    /// A sentence.
    pub fn new(said: &str) -> Self {
        let mut words = String::from(" ");
        for character in fold(said).chars() {
            match character {
                character if character.is_alphanumeric() => words.push(character),
                _ if words.ends_with(' ') => {}
                _ => words.push(' '),
            }
        }
        if !words.ends_with(' ') {
            words.push(' ');
        }
        Self { said: said.trim().to_owned(), words }
    }

    /// Whether it has a phrase: whole words, or, with `*` at its end, the beginning of one.
    pub fn has(&self, phrase: &str) -> bool {
        let (phrase, is_stem) = phrase.strip_suffix('*').map_or((phrase, false), |stem| (stem, true));
        self.words.match_indices(phrase).any(|(at, _)| {
            let is_whole = is_stem || self.words[at + phrase.len()..].starts_with(' ');
            is_whole && self.words[..at].ends_with(' ')
        })
    }

    /// Whether it has one of these phrases, which stand between commas.
    pub fn has_any(&self, phrases: &str) -> bool {
        phrases.split(", ").any(|phrase| self.has(phrase))
    }

    /// Whether it asks.
    pub fn is_question(&self) -> bool {
        self.said.trim_end_matches(['"', '”', '»', ')', ' ']).ends_with('?')
    }

    /// Its words, folded.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.split_ascii_whitespace()
    }
}

/// The lines that the sender wrote: no quotes, no signature, no mail that is being answered.
fn own(text: &str) -> String {
    let mut own = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let bare = line.trim();
        let folded = fold(bare);
        if matches!(line.trim_end_matches('\r'), "-- " | "--")
            || (starts_answered(&folded, lines.peek()) && !own.trim().is_empty())
        {
            break;
        }
        if !bare.starts_with('>') && !folded.starts_with("sent from my") && !folded.starts_with("von meinem iphone") {
            own.push_str(line);
            own.push('\n');
        }
    }
    if own.trim().is_empty() { text.to_owned() } else { own }
}

/// Whether a line introduces the mail that is being answered. What is passed on is part of the message and stays.
fn starts_answered(folded: &str, next: Option<&&str>) -> bool {
    let next = next.map(|next| fold(next.trim())).unwrap_or_default();
    let writes = |line: &str| ["wrote:", "schrieb:", "a ecrit :", "a ecrit:"].iter().any(|verb| line.ends_with(verb));
    let begins = ["on ", "am ", "le ", "el "].iter().any(|word| folded.starts_with(word));
    let is_introduced = begins && (writes(folded) || writes(&next));
    let is_outlook = ["from: ", "von: ", "de : ", "de: "].iter().any(|word| folded.starts_with(word))
        && ["sent: ", "gesendet: ", "envoye : ", "envoye: ", "date: ", "datum: "]
            .iter()
            .any(|word| next.starts_with(word));
    is_introduced
        || is_outlook
        || folded.starts_with("-----original message")
        || folded.starts_with("-----ursprungliche")
}

/// Lines that belong together: broken by an empty line, a list's mark, or a line too short to have been broken.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut last_length = 0;
    for line in text.lines().map(str::trim) {
        let begins_item = line.starts_with(['-', '*', '•', '–']) || numbered(line);
        let last = paragraphs.last_mut().expect("there is always a paragraph");
        if line.is_empty() || begins_item || last_length < 45 {
            paragraphs.push(line.trim_start_matches(['-', '*', '•', '–', ' ']).to_owned());
        } else {
            last.push(' ');
            last.push_str(line);
        }
        last_length = line.chars().count();
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

fn numbered(line: &str) -> bool {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    (1..=2).contains(&digits) && line[digits..].starts_with([')', '.']) && line[digits + 1..].starts_with(' ')
}

fn split(paragraph: &str, add: &mut impl FnMut(&str)) {
    const SHORT: [&str; 14] =
        ["dr", "mr", "mrs", "ms", "prof", "z.b", "e.g", "i.e", "ca", "nr", "no", "st", "a.m", "p.m"];
    let mut from = 0;
    let mut found = |sentence: &str| {
        if sentence.chars().any(char::is_alphanumeric) {
            add(sentence);
        }
    };
    for (at, character) in
        paragraph.char_indices().filter(|(_, character)| matches!(character, '.' | '!' | '?' | ';' | '…'))
    {
        let end = at + character.len_utf8();
        let before = paragraph[from..at].rsplit(char::is_whitespace).next().unwrap_or_default();
        // `16. Januar` and `Dr. Chen` go on.
        let goes_on = character == '.' && (is_ordinal(before) || SHORT.contains(&&*fold(before)));
        let is_end = paragraph[end..].chars().next().is_none_or(|next| next.is_whitespace() || "\"”»)".contains(next));
        if is_end && !goes_on {
            found(&paragraph[from..end]);
            from = end;
        }
    }
    found(&paragraph[from..]);
}

/// `16` of `16. Januar`, and no year.
fn is_ordinal(word: &str) -> bool {
    let last = word.rsplit(['.', '(']).next().unwrap_or(word);
    (1..=2).contains(&last.len()) && last.chars().all(|character| character.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<String> {
        sentences(text).into_iter().map(|sentence| sentence.said).collect()
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        assert_eq!(
            said("It ends on 16 January 2026. Renew it at 10:00. Bye"),
            ["It ends on 16 January 2026.", "Renew it at 10:00.", "Bye"]
        );
        let text = "Hi Alex,\nplease call Dr. Chen by 16. Januar. Is that fine?\n\nThis line is long enough to have been \
            broken by\nthe mail program!\n- one\n- two\n";
        assert_eq!(
            said(text),
            [
                "Hi Alex,",
                "please call Dr. Chen by 16. Januar.",
                "Is that fine?",
                "This line is long enough to have been broken by the mail program!",
                "one",
                "two",
            ]
        );
    }

    #[test]
    fn what_is_quoted_or_signed_is_not_said() {
        assert_eq!(said("Fine.\n\nOn Thu, Jan 15, Bo wrote:\n> please do it today\n"), ["Fine."]);
        assert_eq!(said("Gut.\n\nAm 15.01.2026 um 10:00\nBo <bo@x.example> schrieb:\nbitte heute\n"), ["Gut."]);
        assert_eq!(said("Ok.\n-- \nBo\nUrgent Care Ltd\n"), ["Ok."]);
        assert_eq!(said("Ok.\nFrom: Bo\nSent: today\nUrgent!"), ["Ok."]);
        assert_eq!(said("> only a quote"), ["> only a quote"]);
    }

    #[test]
    fn phrases_are_found_as_whole_words_or_as_beginnings() {
        let sentence = Sentence::new("C’est URGENT, d'ici ce soir – bestätigen!");
        assert!(sentence.has("urgent") && sentence.has("d ici") && sentence.has("bestatig*"));
        assert!(!sentence.has("urg") && !sentence.has("soir bestatig"));
    }
}
