//! A text as a program would read it, whatever was done to hide it from a search: letters that only look like others, letters
//! that are not seen, letters set apart, base64. Its sentences keep where a comma, a colon or a quotation stands, because
//! these tell who is spoken to. Left to `table`: what the words mean.

use crate::text::fold;

/// One word of a sentence, folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    /// What stands between this word and the next.
    pub after: Marks,
    /// Whether it is called as in `@assistant`.
    pub is_called: bool,
    /// Whether it stands in quotation marks.
    pub is_quoted: bool,
    /// Whether it is an address of mail or of a page.
    pub is_address: bool,
    /// Whether a hyphen joins it to the next.
    pub is_joined: bool,
    /// Whether it is written as names are.
    pub is_capital: bool,
}

/// Punctuation between two words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub comma: bool,
    pub colon: bool,
    /// A full stop, an exclamation or question mark, a dash, a bracket.
    pub stop: bool,
}

impl Marks {
    /// Whether there is any.
    pub fn any(self) -> bool {
        self.comma || self.colon || self.stop
    }

    fn add(&mut self, character: char) {
        match character {
            ',' | '،' | '、' => self.comma = true,
            ':' | '：' => self.colon = true,
            '.' | '!' | '?' | ';' | '…' | '–' | '—' | '(' | ')' | '[' | ']' | '<' | '>' | '{' | '}' | '|' | '¡'
            | '¿' => {
                self.stop = true;
            }
            _ => {}
        }
    }
}

/// Letters as they are read: invisible ones are gone, look-alikes are the letters that they imitate.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter_map(plain_character).collect()
}

fn plain_character(character: char) -> Option<char> {
    if character.is_ascii() {
        return Some(character);
    }
    let code = u32::from(character);
    let from = |start: u32, base: char| char::from_u32((code - start) % 26 + u32::from(base));
    match character {
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{180e}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}' => None,
        // Tags, which no screen shows and every model reads.
        '\u{e0020}'..='\u{e007e}' => char::from_u32(code - 0xe0000),
        '\u{e0000}'..='\u{e007f}' => None,
        '！'..='～' => char::from_u32(code - 0xfee0),
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => Some(' '),
        // Letters of formulas: thirteen alphabets of 52 letters each.
        '\u{1d400}'..='\u{1d6a3}' => from(0x1d400, 'a'),
        '\u{1f130}'..='\u{1f149}' => from(0x1f130, 'a'),
        'ⓐ'..='ⓩ' => from(0x24d0, 'a'),
        'Ⓐ'..='Ⓩ' => from(0x24b6, 'a'),
        _ => Some(TWINS.iter().find(|(twin, _)| *twin == character).map_or(character, |(_, meant)| *meant)),
    }
}

/// Letters of other alphabets that look like Latin ones.
const TWINS: [(char, char); 56] = [
    ('а', 'a'),
    ('А', 'A'),
    ('α', 'a'),
    ('Α', 'A'),
    ('ɑ', 'a'),
    ('в', 'b'),
    ('В', 'B'),
    ('Β', 'B'),
    ('с', 'c'),
    ('С', 'C'),
    ('ϲ', 'c'),
    ('ԁ', 'd'),
    ('е', 'e'),
    ('Е', 'E'),
    ('Ε', 'E'),
    ('ε', 'e'),
    ('ɡ', 'g'),
    ('һ', 'h'),
    ('Н', 'H'),
    ('Η', 'H'),
    ('і', 'i'),
    ('І', 'I'),
    ('ι', 'i'),
    ('Ι', 'I'),
    ('ı', 'i'),
    ('ј', 'j'),
    ('Ј', 'J'),
    ('к', 'k'),
    ('К', 'K'),
    ('κ', 'k'),
    ('Κ', 'K'),
    ('ӏ', 'l'),
    ('м', 'm'),
    ('М', 'M'),
    ('Μ', 'M'),
    ('п', 'n'),
    ('Ν', 'N'),
    ('ո', 'n'),
    ('о', 'o'),
    ('О', 'O'),
    ('ο', 'o'),
    ('Ο', 'O'),
    ('р', 'p'),
    ('Р', 'P'),
    ('ρ', 'p'),
    ('Ρ', 'P'),
    ('ԛ', 'q'),
    ('ѕ', 's'),
    ('Ѕ', 'S'),
    ('т', 't'),
    ('Т', 'T'),
    ('Τ', 'T'),
    ('υ', 'u'),
    ('ν', 'v'),
    ('х', 'x'),
    ('у', 'y'),
];

/// Lines with letters that were set apart put together again: `a s s i s t a n t`, `a.s.s.i.s.t.a.n.t`. Two spaces divide words;
/// where there are none, `cut` divides them.
pub(super) fn together(text: &str, cut: impl Fn(&str) -> String) -> String {
    let lines = text.lines().map(|line| {
        let chunks: Vec<&str> = line.split(' ').collect();
        let mut joined = String::with_capacity(line.len());
        let mut at = 0;
        while at < chunks.len() {
            let is_single = |chunk: &&str| chunk.chars().count() <= 1;
            let run = chunks[at..].iter().take_while(|chunk| is_single(chunk)).count();
            let letters = chunks[at..at + run].iter().filter(|chunk| chunk.chars().all(char::is_alphabetic));
            if letters.filter(|chunk| !chunk.is_empty()).count() >= 6 {
                let run_text = chunks[at..at + run].join(" ");
                let words = run_text.split("  ").map(|word| word.replace(' ', "")).filter(|word| !word.is_empty());
                joined.push_str(&words.map(|word| cut(&word)).collect::<Vec<_>>().join(" "));
                at += run;
            } else {
                joined.push_str(&dotted(chunks[at]));
                at += 1;
            }
            joined.push(' ');
        }
        joined.truncate(joined.trim_end().len());
        joined
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A word whose letters were divided by signs, without them.
fn dotted(chunk: &str) -> String {
    let bare = chunk.trim_end_matches(|character: char| !character.is_alphanumeric());
    let letters: Vec<char> = bare.chars().collect();
    let sign = letters.get(1).copied().filter(|sign| matches!(sign, '.' | '-' | '_' | '*' | '·' | '~' | '/'));
    let is_divided = |sign: char| {
        letters.len() >= 9
            && letters.chunks(2).all(|pair| pair[0].is_alphabetic() && pair.get(1).is_none_or(|next| *next == sign))
    };
    match sign {
        Some(sign) if is_divided(sign) => letters.into_iter().step_by(2).chain(chunk[bare.len()..].chars()).collect(),
        _ => chunk.to_owned(),
    }
}

/// Texts that stand in a text as base64.
pub(super) fn decoded(text: &str) -> Vec<String> {
    // Long ones are broken into lines.
    let mut runs: Vec<String> = vec![String::new()];
    for chunk in text.split_whitespace() {
        let chunk =
            chunk.trim_matches(|character: char| !(character.is_ascii_alphanumeric() || "+/=".contains(character)));
        if chunk.len() >= 16 && chunk.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte)) {
            runs.last_mut().expect("there is always one").push_str(chunk);
        } else if runs.last().is_some_and(|run| !run.is_empty()) {
            runs.push(String::new());
        }
    }
    let texts = runs.iter().filter_map(|run| String::from_utf8(base64(run)?).ok());
    texts
        .filter(|text| {
            text.contains(' ') && !text.contains(|character: char| character.is_control() && character != '\n')
        })
        .collect()
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let (mut bits, mut filled) = (0_u32, 0);
    for byte in text.bytes().take_while(|byte| *byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        filled += 6;
        if filled >= 8 {
            filled -= 8;
            bytes.push((bits >> filled) as u8);
            bits &= (1 << filled) - 1;
        }
    }
    (!bytes.is_empty()).then_some(bytes)
}

/// The words of a sentence.
pub(super) fn words(sentence: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut is_quoted = false;
    for chunk in sentence.split_whitespace() {
        if is_address(chunk) {
            let mut after = Marks::default();
            chunk
                .chars()
                .rev()
                .take_while(|character| !character.is_alphanumeric())
                .for_each(|character| after.add(character));
            words.push(Word {
                text: "@".into(),
                after,
                is_called: false,
                is_quoted,
                is_address: true,
                is_joined: false,
                is_capital: false,
            });
            continue;
        }
        // A dash that stands alone divides; one in a word joins.
        if chunk == "-"
            && let Some(last) = words.last_mut()
        {
            last.after.stop = true;
        }
        let letters: Vec<char> = fold(chunk).chars().collect();
        let is_capital = is_capital(chunk);
        let mut open = false;
        for (at, character) in letters.iter().enumerate() {
            let is_inside = at > 0
                && letters[at - 1].is_alphanumeric()
                && letters.get(at + 1).is_some_and(|next| next.is_alphanumeric() || *next == '$');
            match character {
                character
                    if character.is_alphanumeric()
                        || *character == '_'
                        || (*character == '$' && (is_inside || open)) =>
                {
                    let character = if *character == '$' { 's' } else { *character };
                    if !open {
                        let is_called = at > 0 && letters[at - 1] == '@';
                        let after = Marks::default();
                        words.push(Word {
                            text: String::new(),
                            after,
                            is_called,
                            is_quoted,
                            is_address: false,
                            is_joined: false,
                            is_capital,
                        });
                        open = true;
                    }
                    words.last_mut().expect("it was just added").text.push(character);
                }
                mark => {
                    open = false;
                    match mark {
                        '"' => is_quoted = !is_quoted,
                        '“' if is_quoted => is_quoted = false,
                        '“' | '„' | '«' => is_quoted = true,
                        '”' | '»' => is_quoted = false,
                        _ => {}
                    }
                    if let Some(last) = words.last_mut() {
                        last.after.add(*mark);
                        last.is_joined = *mark == '-' && is_inside;
                    }
                }
            }
        }
    }
    words
}

/// Whether a word is written as a name: one capital letter, and small ones.
fn is_capital(chunk: &str) -> bool {
    let mut letters = chunk.chars().filter(|character| character.is_alphabetic());
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
}

fn is_address(chunk: &str) -> bool {
    let is_mail = chunk.find('@').is_some_and(|at| at > 0 && chunk[at..].contains('.'));
    is_mail || chunk.contains("://") || chunk.starts_with("www.")
}

/// Letters that were written as digits: `a5s1stant`.
pub(super) fn without_digits(word: &str) -> String {
    let meant = |character| match character {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        other => other,
    };
    word.chars().map(meant).collect()
}
