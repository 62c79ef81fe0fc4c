//! Whether a text says something: whole words without regard to capitals and accents, days and times in any of the ways that people say them,
//! amounts with any separator; and which language a text is in.

use jiff::civil::{Date, Time};

use super::case::Phrase;

/// A text that is looked at, prepared once.
pub struct Text {
    folded: String,
    /// The same without the separators of thousands.
    joined: String,
    words: Vec<String>,
    today: Date,
}

impl Text {
    pub fn new(text: &str, today: Date) -> Self {
        let folded = fold(text);
        let words =
            folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        Self { joined: joined(&folded), folded, words, today }
    }

    /// Whether it says one of the ways of a phrase.
    pub fn says(&self, phrase: &Phrase) -> bool {
        phrase.0.iter().any(|way| self.says_one(way))
    }

    /// Whether it holds one of several fixed words.
    pub fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| contains(&self.folded, word))
    }

    fn says_one(&self, way: &str) -> bool {
        if let Ok(date) = way.parse::<Date>() {
            return self.says_day(date);
        }
        if let Some(time) = way.split_once(':').filter(|_| way.len() == 5).and_then(|_| way.parse::<Time>().ok()) {
            return self.says_time(time);
        }
        let way = fold(way);
        contains(&self.folded, &way) || contains(&self.joined, &joined(&way))
    }

    /// Whether it says a time.
    pub fn says_time(&self, time: Time) -> bool {
        times(time).iter().any(|way| contains(&self.folded, way))
    }

    /// Whether it says a day by its date, or by its name.
    pub fn says_day_or_weekday(&self, date: Date) -> bool {
        let names = WEEKDAYS[usize::from(date.weekday().to_monday_zero_offset().unsigned_abs())];
        self.says_day(date) || self.has_any(&names)
    }

    fn says_day(&self, date: Date) -> bool {
        let (day, month) = (date.day(), date.month());
        let numeric = [
            date.to_string(),
            format!("{day:02}.{month:02}."),
            format!("{day}.{month}."),
            format!("{day:02}/{month:02}"),
            format!("{month:02}/{day:02}"),
        ];
        let near = match (date - self.today).get_days() {
            0 => &["today", "tonight", "heute", "aujourd'hui"][..],
            1 => &["tomorrow", "morgen", "demain"],
            -1 => &["yesterday", "gestern", "hier"],
            _ => &[],
        };
        if numeric.iter().any(|way| contains(&self.folded, way)) || self.has_any(near) {
            return true;
        }
        let is_day = |word: &String| {
            let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
            matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th" | "er" | "e") && digits.parse() == Ok(day)
        };
        let names = MONTHS[usize::from(month.unsigned_abs()) - 1];
        let is_month = |word: &str| names.split(' ').any(|name| name == word);
        let months = self.words.iter().enumerate().filter(|(_, word)| is_month(word));
        // "12 to 15 June" names two days, and "June 13" names the day after the month.
        let mut around = months.map(|(at, _)| &self.words[at.saturating_sub(4)..(at + 3).min(self.words.len())]);
        around.any(|words| words.iter().any(is_day))
    }
}

const MONTHS: [&str; 12] = [
    "january januar janvier jan janv",
    "february februar fevrier feb fevr",
    "march marz mars mar",
    "april avril apr avr",
    "may mai",
    "june juni juin jun",
    "july juli juillet jul juil",
    "august aout aug",
    "september septembre sep sept",
    "october oktober octobre oct okt",
    "november novembre nov",
    "december dezember decembre dec dez",
];

const WEEKDAYS: [[&str; 4]; 7] = [
    ["mon", "monday", "montag", "lundi"],
    ["tue", "tuesday", "dienstag", "mardi"],
    ["wed", "wednesday", "mittwoch", "mercredi"],
    ["thu", "thursday", "donnerstag", "jeudi"],
    ["fri", "friday", "freitag", "vendredi"],
    ["sat", "saturday", "samstag", "samedi"],
    ["sun", "sunday", "sonntag", "dimanche"],
];

/// The ways in which people say a time.
fn times(time: Time) -> Vec<String> {
    let (hour, minute) = (time.hour(), time.minute());
    let (half, mark) = (if hour % 12 == 0 { 12 } else { hour % 12 }, if hour < 12 { "am" } else { "pm" });
    let mut ways = vec![
        format!("{hour:02}:{minute:02}"),
        format!("{hour}:{minute:02}"),
        format!("{hour}.{minute:02}"),
        format!("{hour} h {minute:02}"),
        format!("{hour}h{minute:02}"),
        format!("{hour} uhr {minute:02}"),
        format!("{half}:{minute:02} {mark}"),
        format!("{half}:{minute:02}{mark}"),
    ];
    if minute == 0 {
        ways.extend(["h", " h", " uhr", " o'clock", "am", " am", "pm", " pm"].into_iter().filter_map(|ending| {
            match ending.trim() {
                "am" | "pm" => (ending.trim() == mark).then(|| format!("{half}{ending}")),
                "o'clock" => Some(format!("{half}{ending}")),
                _ => Some(format!("{hour}{ending}")),
            }
        }));
        ways.extend(
            (hour == 12).then(|| ["noon", "midday", "midi", "mittag"].map(str::to_owned)).into_iter().flatten(),
        );
    }
    if minute == 30 {
        const ENGLISH: [&str; 13] =
            ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
        const GERMAN: [&str; 14] = [
            "", "eins", "zwei", "drei", "vier", "funf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwolf",
            "eins",
        ];
        let half = usize::from(half.unsigned_abs());
        ways.extend([format!("half past {}", ENGLISH[half]), format!("halb {}", GERMAN[half + 1])]);
    }
    ways
}

/// Small letters without accents, one space between words, plain quotes and dashes.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for character in text.chars().flat_map(char::to_lowercase) {
        let plain = match character {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => "a",
            'ç' | 'ć' | 'č' => "c",
            'è' | 'é' | 'ê' | 'ë' => "e",
            'ì' | 'í' | 'î' | 'ï' => "i",
            'ñ' | 'ń' => "n",
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => "o",
            'ù' | 'ú' | 'û' | 'ü' => "u",
            'ý' | 'ÿ' => "y",
            'ł' => "l",
            'ś' | 'š' => "s",
            'ź' | 'ż' | 'ž' => "z",
            'œ' => "oe",
            'æ' => "ae",
            'ß' => "ss",
            '’' | '‘' => "'",
            '–' | '—' | '‑' => "-",
            other if other.is_whitespace() || matches!(other, '\u{a0}' | '\u{202f}') => " ",
            other => {
                folded.push(other);
                continue;
            }
        };
        if plain != " " || !folded.ends_with(' ') {
            folded.push_str(plain);
        }
    }
    folded.trim().to_owned()
}

/// Without the separators of thousands: `14,500`, `14 500` and `14.500` are `14500`.
fn joined(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    let is_separator = |at: usize| {
        matches!(letters[at], ',' | '.' | ' ' | '\'')
            && at > 0
            && is_digit(at - 1)
            && (1..=3).all(|next| is_digit(at + next))
            && !is_digit(at + 4)
    };
    letters.iter().enumerate().filter(|(at, _)| !is_separator(*at)).map(|(_, letter)| letter).collect()
}

/// Whether words are in a text, at the beginning of a word. Three letters or fewer must be a whole word, and a number a whole number.
fn contains(text: &str, words: &str) -> bool {
    let is_short = words.chars().count() <= 3 && words.chars().all(char::is_alphabetic);
    let (first, last) = (words.chars().next(), words.chars().next_back());
    let is_digit = |character: Option<char>| character.is_some_and(|character| character.is_ascii_digit());
    text.match_indices(words).any(|(at, _)| {
        let (mut before, mut after) = (text[..at].chars().rev(), text[at + words.len()..].chars());
        let (before, before_that) = (before.next(), before.next());
        let (after, after_that) = (after.next(), after.next());
        let is_part = |mark: Option<char>, beyond: Option<char>| {
            is_digit(mark) || (matches!(mark, Some(':' | '.' | ',')) && is_digit(beyond))
        };
        let begins = !before.is_some_and(char::is_alphanumeric);
        let is_whole =
            !(is_digit(first) && is_part(before, before_that)) && !(is_digit(last) && is_part(after, after_that));
        begins && is_whole && !(is_short && after.is_some_and(char::is_alphanumeric))
    })
}

/// The language that a text is most probably in, or none where its small words do not tell.
pub fn language(text: &str) -> Option<&'static str> {
    let text = fold(text);
    let words: Vec<&str> = text.split(|c: char| !c.is_alphabetic()).collect();
    let counts = SMALL_WORDS.map(|(language, small)| {
        (small.split(' ').map(|small| words.iter().filter(|word| **word == small).count()).sum::<usize>(), language)
    });
    let (most, language) = counts.into_iter().max_by_key(|(count, _)| *count)?;
    let is_alone = counts.iter().filter(|(count, _)| *count == most).count() == 1;
    (most > 0 && is_alone).then_some(language)
}

const SMALL_WORDS: [(&str, &str); 3] = [
    ("en", "the and is are you your i to of for with that this it at on will be have not from my thanks thank best"),
    (
        "de",
        "der die das und ist sind sie ich zu von fur mit dass dies es um am im wird haben nicht aus mein danke viele grusse \
         liebe guten den dem ein eine kein keine ihr ihre",
    ),
    (
        "fr",
        "le la les et est sont vous je de du pour avec que ce il au aux sera avoir pas mon merci bonjour cordialement un une \
         des aucun aucune votre vos bien nous",
    ),
];

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn says(text: &str, ways: &[&str]) -> bool {
        let phrase = Phrase(ways.iter().map(|way| (*way).to_owned()).collect());
        Text::new(text, date(2026, 9, 15)).says(&phrase)
    }

    #[test]
    fn times_are_known_in_the_ways_in_which_people_say_them() {
        for text in ["at 15:30", "15 h 30", "15h30", "3:30 pm", "at half past three", "um halb vier", "15.30 Uhr"] {
            assert!(says(text, &["15:30"]), "{text}");
        }
        for text in ["at 15:00", "15 Uhr", "à 15 h", "3 pm", "at 3 o'clock"] {
            assert!(says(text, &["15:00"]), "{text}");
        }
        for text in ["5:30", "15:35", "115:30", "13 h 30"] {
            assert!(!says(text, &["15:30"]), "{text}");
        }
    }

    #[test]
    fn days_are_known_in_the_ways_in_which_people_say_them() {
        for text in ["22 September", "September 22nd", "am 22. September", "le 22 septembre", "22.09.", "20 to 22 Sept"]
        {
            assert!(says(text, &["2026-09-22"]), "{text}");
        }
        assert!(says("le 1er octobre", &["2026-10-01"]));
        assert!(says("It is tomorrow.", &["2026-09-16"]) && says("Heute", &["2026-09-15"]));
        for text in ["22 October", "September", "tomorrow", "2 September"] {
            assert!(!says(text, &["2026-09-22"]), "{text}");
        }
    }

    #[test]
    fn amounts_and_short_words_are_whole() {
        assert!(says("14.500 $", &["14,500"]) && says("14 500", &["14,500"]) && says("It costs 14500.", &["14,500"]));
        assert!(!says("114,500", &["14,500"]) && !says("at 15:30", &["30"]) && !says("4.8 kPa", &["8"]));
        assert!(says("No, not yet.", &["no"]) && !says("In November", &["no"]));
        assert!(says("FRENES", &["frênes"]) && !says("underground", &["ground"]));
    }

    #[test]
    fn a_language_is_known_by_its_small_words() {
        assert_eq!(language("Guten Tag, das passt am Donnerstag. Viele Grüße"), Some("de"));
        assert_eq!(language("Bonjour, jeudi me convient. Bien à vous"), Some("fr"));
        assert_eq!(language("I will be there at three."), Some("en"));
        assert_eq!(language("14:00 Keller"), None);
    }
}
