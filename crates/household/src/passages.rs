//! Texts taken apart into sentences, and how well a sentence answers to the words of a question, across inflections and languages.
//!
//! Pure: texts come in, numbers go out. Left to `find`: where texts come from and which answer is good enough.

use crate::glossary;
use crate::text::fold;

/// One sentence of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    pub text: String,
    /// The line that it begins on, counted from 1.
    pub line: usize,
    /// The headings above it.
    pub under: String,
    pub is_heading: bool,
}

/// The sentences of a note in Markdown. An entry of a list or a row of a table is one sentence, whatever stands in it.
pub(crate) fn of_note(text: &str, first_line: usize) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let mut headings: Vec<(usize, String)> = Vec::new();
    let mut paragraph: Vec<(usize, &str)> = Vec::new();
    let under = |headings: &[(usize, String)]| {
        headings.iter().map(|(_, heading)| heading.as_str()).collect::<Vec<_>>().join(" ")
    };
    let lines: Vec<&str> = text.lines().collect();
    // The names of the columns of the table that is open: they say what its rows are about.
    let mut columns = String::new();
    for (at, line) in lines.iter().enumerate().skip(first_line) {
        let trimmed = line.trim();
        if !trimmed.starts_with('|') {
            columns.clear();
        } else if columns.is_empty() && lines.get(at + 1).is_some_and(|next| is_rule(next)) {
            split(&paragraph, &under(&headings), &mut sentences);
            paragraph.clear();
            columns = trimmed.split(['|', ' ']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            continue;
        }
        let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
        let is_heading = (1..=6).contains(&level) && trimmed[level..].starts_with(' ');
        let is_entry =
            ["- ", "* ", "+ ", "|", "> "].iter().any(|mark| trimmed.starts_with(mark)) || is_numbered(trimmed);
        if trimmed.is_empty() || is_heading || is_entry {
            split(&paragraph, &under(&headings), &mut sentences);
            paragraph.clear();
        }
        if is_heading {
            headings.retain(|(above, _)| *above < level);
            headings.push((level, trimmed[level..].trim().to_owned()));
            // A heading may itself be the answer ("Edinburgh, 12-15 June").
            sentences.push(Sentence {
                text: trimmed[level..].trim().to_owned(),
                line: at + 1,
                under: under(&headings),
                is_heading: true,
            });
        } else if is_entry {
            let entry = trimmed.trim_start_matches(['-', '*', '+', '>', ' ']);
            let entry = ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| entry.strip_prefix(mark)).unwrap_or(entry);
            if entry.chars().any(char::is_alphanumeric) {
                sentences.push(Sentence {
                    text: entry.trim().to_owned(),
                    line: at + 1,
                    under: format!("{} {columns}", under(&headings)).trim_end().to_owned(),
                    is_heading: false,
                });
            }
        } else if !trimmed.is_empty() {
            paragraph.push((at + 1, trimmed));
        }
    }
    split(&paragraph, &under(&headings), &mut sentences);
    sentences
}

/// The sentences of a mail that its writer wrote: without what is quoted, greeted and signed.
pub(crate) fn of_mail(text: &str) -> Vec<String> {
    let own = text.lines().map(str::trim).take_while(|line| *line != "--" && *line != "-- ");
    let lines: Vec<(usize, &str)> = own.filter(|line| !line.starts_with('>')).enumerate().collect();
    let mut sentences = Vec::new();
    for paragraph in lines.split(|(_, line)| line.is_empty()) {
        // An entry of a list begins a sentence, and goes on until the next entry. "… by Tuesday,\n20. January" is no entry.
        let mut open = 0;
        for at in 1..paragraph.len() {
            let (before, line) = (paragraph[at - 1].1, paragraph[at].1);
            let goes_on = before.ends_with(',') || before.chars().next_back().is_some_and(char::is_alphabetic);
            let is_entry = line.starts_with("- ") || line.starts_with("* ");
            let is_counted = is_numbered(line) && (!goes_on || is_numbered(before));
            if is_entry || is_counted {
                split(&paragraph[open..at], "", &mut sentences);
                open = at;
            }
        }
        split(&paragraph[open..], "", &mut sentences);
    }
    let last = sentences.len().saturating_sub(1);
    let is_frame = |at: usize, text: &str| {
        let few = text.split_whitespace().count() <= 5;
        let is_greeting = at == 0 && few && text.ends_with([',', '!']);
        let is_parting = at + 3 > last && few && !text.ends_with(['.', '?', '!']);
        (is_greeting || is_parting) && !text.chars().any(|character| character.is_ascii_digit())
    };
    let kept = sentences.iter().enumerate().filter(|(at, sentence)| !is_frame(*at, &sentence.text));
    kept.map(|(_, sentence)| sentence.text.clone()).collect()
}

/// What a mail says in a few of its own sentences: how it begins, and those that say most about dates, sums and wishes.
pub(crate) fn gist(text: &str) -> String {
    let sentences = of_mail(text);
    let weight = |sentence: &String| {
        let has_digit = sentence.chars().any(|character| character.is_ascii_digit());
        let asks = sentence.trim_end().ends_with('?');
        let folded = fold(sentence);
        let wishes =
            ["please", "could you", "can you", "bitte", "konnen sie", "pourriez", "merci de", "need", "deadline"];
        3 * usize::from(asks)
            + 2 * usize::from(has_digit)
            + usize::from(wishes.iter().any(|wish| folded.contains(wish)))
    };
    let Some(first) = sentences.first() else { return String::new() };
    let mut ranked: Vec<(usize, usize)> =
        sentences.iter().enumerate().skip(1).map(|(at, sentence)| (weight(sentence), at)).collect();
    ranked.sort_by_key(|(weight, at)| (std::cmp::Reverse(*weight), *at));
    let is_weighty = ranked.first().is_some_and(|(most, _)| *most > 0);
    let length = |at: usize| sentences[at].chars().count();
    if let [(most, at), ..] = ranked[..]
        && length(at) + length(0) >= LONGEST_GIST
    {
        return if most > weight(first) { sentences[at].clone() } else { first.clone() };
    }
    // How it begins, and what says most; without dates, sums and wishes, how it goes on.
    let (mut chosen, mut long) = (vec![0], length(0));
    for (weight, at) in ranked {
        let fits = long + length(at) < if is_weighty { LONGEST_GIST } else { SHORT_GIST };
        if fits && chosen.len() < 3 && (weight > 0 || !is_weighty && at == 1) {
            long += length(at);
            chosen.push(at);
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|at| sentences[at].as_str()).collect::<Vec<_>>().join(" ")
}

/// How long the sentences of a gist are together, and where none of them has weight.
const LONGEST_GIST: usize = 320;
const SHORT_GIST: usize = 200;

/// Whether a line divides the names of a table's columns from its rows.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.contains('-') && line.chars().all(|mark| matches!(mark, '|' | '-' | ':' | ' '))
}

fn is_numbered(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (1..=3).contains(&digits) && (line[digits..].starts_with(". ") || line[digits..].starts_with(") "))
}

/// Cuts the lines of a paragraph into sentences.
fn split(lines: &[(usize, &str)], under: &str, sentences: &mut Vec<Sentence>) {
    let mut open: Option<(usize, String)> = None;
    let words: Vec<(usize, &str)> =
        lines.iter().flat_map(|(at, line)| line.split_whitespace().map(move |word| (*at, word))).collect();
    for (number, (at, word)) in words.iter().enumerate() {
        let (_, text) = open.get_or_insert_with(|| (*at, String::new()));
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
        let next = words.get(number + 1).map_or("", |(_, next)| next);
        if ends_sentence(word, next)
            && let Some((line, text)) = open.take()
        {
            sentences.push(Sentence { text, line, under: under.to_owned(), is_heading: false });
        }
    }
    if let Some((line, text)) = open {
        sentences.push(Sentence { text, line, under: under.to_owned(), is_heading: false });
    }
}

/// Whether a sentence ends with a word: not behind an abbreviation, an initial or a day of a month (`Dr.`, `19. Januar`).
fn ends_sentence(word: &str, next: &str) -> bool {
    let bare = word.trim_end_matches(['"', ')', '»', '”', '“', '\'']).trim_start_matches(['(', '"', '„', '«']);
    if bare.ends_with(['!', '?', '…']) {
        return true;
    }
    let Some(before) = bare.strip_suffix('.') else { return false };
    let month: String = fold(next).chars().take(3).collect();
    let is_month =
        ["jan", "feb", "mar", "apr", "mai", "may", "jun", "jul", "aug", "sep", "okt", "oct", "nov", "dez", "dec"]
            .contains(&month.as_str());
    let goes_on = is_month || next.chars().next().is_some_and(|first| first.is_lowercase() || first.is_ascii_digit());
    let is_number = before.chars().all(|character| character.is_ascii_digit()) && goes_on;
    // "dim. 4", "Abb. 3": a short word before a number is mostly shortened.
    let is_cut = before.chars().count() <= 4
        && before.chars().all(char::is_alphabetic)
        && next.starts_with(|first: char| first.is_ascii_digit());
    let is_short = before.chars().count() <= 3 && before.chars().next().is_some_and(char::is_uppercase);
    let known = ["nr", "str", "ca", "bzw", "etc", "z.b", "u.a", "e.g", "i.e", "no", "st", "inkl", "evtl", "usw", "tel"];
    !(is_number || is_cut || is_short || known.contains(&fold(before).as_str()))
}

/// The words of a text, folded.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let folded = fold(text);
    let is_inside = |character: char| character.is_alphanumeric() || character == '@' || character == '_';
    folded.split(|character: char| !is_inside(character)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A word of a question, with everything that counts as it.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    /// The word, folded.
    pub said: String,
    stem: String,
    others: Vec<String>,
    /// Names and addresses of the person that it means.
    pub names: Vec<String>,
    /// Whether it is a name: then no other word counts as it.
    pub is_name: bool,
}

/// What a match by a word from the glossary is worth beside one of the word itself.
const BY_GLOSSARY: f64 = 0.8;

/// What a match by a compound that a word from the glossary is part of is worth.
const BY_COMPOUND: f64 = 0.7;

impl Term {
    pub fn new(said: &str) -> Self {
        let said = fold(said);
        // A compound means what its parts mean: `Zahnarzttermin` is about the dentist.
        let known = match glossary::others(&said) {
            others if others.is_empty() => match glossary::within(&said) {
                parts if parts.is_empty() => glossary::nearest(&said),
                parts => parts,
            },
            others => others,
        };
        let others = known.into_iter().map(stem).collect();
        Self { stem: stem(&said), others, names: Vec::new(), is_name: false, said }
    }

    /// Whether it means a person or an institution that the household knows.
    pub fn means_someone(&self) -> bool {
        self.is_name || !self.names.is_empty()
    }

    /// How well the best of some words answers to this one, from 0 to 1.
    pub fn worth(&self, words: &[String]) -> f64 {
        words.iter().map(|word| self.worth_of(word)).fold(0.0, f64::max)
    }

    /// The word that answers best to this one, if any does.
    pub fn best_of<'a>(&self, words: &'a [String]) -> Option<&'a str> {
        let best = words.iter().max_by(|one, other| self.worth_of(one).total_cmp(&self.worth_of(other)))?;
        (self.worth_of(best) > 0.0).then_some(best.as_str())
    }

    fn worth_of(&self, word: &str) -> f64 {
        let is_long = |word: &str| word.len() >= 4;
        if word == self.said || self.names.iter().any(|name| name == word) {
            return 1.0;
        }
        if self.is_name {
            return if word.strip_suffix('s') == Some(&self.said) { 0.95 } else { 0.0 };
        }
        let root = stem(word);
        if root == self.stem {
            return 0.95;
        }
        if self.others.contains(&root) {
            return BY_GLOSSARY;
        }
        let begins =
            |long: &str, short: &str| is_long(short) && long.starts_with(short) && long.len() - short.len() <= 4;
        if begins(&root, &self.stem) || begins(&self.stem, &root) {
            return 0.8;
        }
        let within = |long: &str, short: &str| short.len() >= 5 && long.len() > short.len() && long.contains(short);
        if within(word, &self.stem) || within(&self.said, &root) {
            return 0.7;
        }
        let ends = |long: &str, short: &str| short.len() >= 4 && long.len() > short.len() && long.ends_with(short);
        if self.others.iter().any(|other| within(word, other) || ends(word, other)) {
            return BY_COMPOUND;
        }
        if is_slip(&self.said, word) { 0.6 } else { 0.0 }
    }

    /// Whether a text holds this word in some form.
    pub fn is_in(&self, text: &str) -> bool {
        self.worth(&words_of(text)) >= 0.6
    }

    /// What to look for in an index by the beginnings of words: the word, its stem, the glossary's words and the names.
    pub fn search_words(&self) -> Vec<String> {
        let own = [self.stem.clone()].into_iter().chain(self.others.iter().cloned()).chain(self.names.iter().cloned());
        own.filter(|word| word.chars().count() > 1).collect()
    }

    /// The other words by which something was found in a text, if not by the word itself.
    pub fn read_as(&self, words: &[String]) -> Option<String> {
        let best =
            words.iter().map(|word| (self.worth_of(word), word)).max_by(|one, other| one.0.total_cmp(&other.0))?;
        (best.0 > 0.0 && best.0 <= BY_GLOSSARY && !best.1.starts_with(&*self.stem)).then(|| best.1.clone())
    }
}

/// Whether one word is another with one slip of the pen: a letter too many or too few, two that changed places, or another vowel. Words that begin
/// differently, or differ in a consonant ("bounced", "bounded"), are mostly different words.
pub(crate) fn is_slip(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let is_long = one.len().min(other.len()) >= if one.len() == other.len() { 5 } else { 4 };
    let differing: Vec<usize> = (0..one.len().min(other.len())).filter(|at| one[*at] != other[*at]).collect();
    let is_vowel = |letter: char| "aeiouy".contains(letter);
    let is_plain = one.len() != other.len()
        || matches!(differing[..], [first, second] if second == first + 1)
        || matches!(differing[..], [at] if is_vowel(one[at]) && is_vowel(other[at]));
    is_long
        && one.first() == other.first()
        && is_plain
        && strsim::osa_distance(&one.iter().collect::<String>(), &other.iter().collect::<String>()) == 1
}

/// A word without the ending that its number, case or tense gives it, as far as that can be told without knowing its language.
pub(crate) fn stem(word: &str) -> String {
    const ENDINGS: [&str; 16] =
        ["ungen", "ingen", "ings", "ing", "ung", "ies", "ed", "en", "er", "em", "es", "e", "n", "s", "x", "y"];
    let ending = ENDINGS.iter().find(|ending| {
        word.len() >= ending.len() + 4 && word.ends_with(**ending) && word.is_char_boundary(word.len() - ending.len())
    });
    ending.map_or(word, |ending| &word[..word.len() - ending.len()]).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_cut_into_sentences_with_their_lines_and_headings() {
        let note = "# Dentist\n\nDr. Aydin, check-up twice a year, next one on 19. January at half past eight. Wisdom\ntooth: watch.\n\n## Open\n- [x] Pay 30 EUR. Done\n";
        let told: Vec<(String, usize)> =
            of_note(note, 0).into_iter().map(|sentence| (sentence.text, sentence.line)).collect();
        assert_eq!(
            told,
            [
                ("Dentist".to_owned(), 1),
                ("Dr. Aydin, check-up twice a year, next one on 19. January at half past eight.".to_owned(), 3),
                ("Wisdom tooth: watch.".to_owned(), 3),
                ("Open".to_owned(), 6),
                ("Pay 30 EUR. Done".to_owned(), 7),
            ]
        );
        assert_eq!(of_note(note, 0)[4].under, "Dentist Open");
    }

    #[test]
    fn the_names_of_a_tables_columns_say_what_its_rows_are_about() {
        let note =
            "# Rehearsals\n\n| date | what went wrong |\n|---|---|\n| 8 January | sequences |\n\nPeople: Dana.\n";
        let told: Vec<(String, String)> =
            of_note(note, 0).into_iter().map(|sentence| (sentence.text, sentence.under)).collect();
        assert_eq!(told[1], ("| 8 January | sequences |".to_owned(), "Rehearsals date what went wrong".to_owned()));
        assert_eq!(told[2], ("People: Dana.".to_owned(), "Rehearsals".to_owned()));
    }

    #[test]
    fn a_shortened_word_before_a_number_ends_no_sentence() {
        assert_eq!(
            of_mail("Retour dim. 4 octobre, 17 h 30. A bientôt."),
            ["Retour dim. 4 octobre, 17 h 30.", "A bientôt."]
        );
    }

    #[test]
    fn a_mail_is_told_by_its_own_sentences() {
        let mail = "Hi Alex,\n\nthanks for the draft. Could you sign it by Friday, 16 January?\n\nBest regards,\nSarah\n\n> old words\n--\nSarah Chen\n";
        assert_eq!(of_mail(mail), ["thanks for the draft.", "Could you sign it by Friday, 16 January?"]);
        assert_eq!(gist(mail), "thanks for the draft. Could you sign it by Friday, 16 January?");
        assert_eq!(gist(""), "");
    }

    #[test]
    fn words_meet_across_endings_and_languages() {
        let worth = |term: &str, text: &str| Term::new(term).worth(&words_of(text));
        assert!(worth("invoices", "the invoice") > 0.9);
        assert!((worth("landlord", "Hausverwaltung Lindner") - BY_GLOSSARY).abs() < 1e-9);
        assert!(worth("bread", "Sauerteigbrot") > 0.5);
        assert!(worth("tax", "taxi") < 0.9);
        assert!(worth("dentist", "choir") < f64::EPSILON);
    }
}
