//! Known values of variables, put into the words that use them.
//!
//! A variable that a command sets only to texts which stand in it (`for x in a b`, `x=a`) has one of those values wherever
//! it is used. Which of them holds at which moment is not followed: every call is judged once for each. A variable with
//! any other value may be anything, an option too, in quotes or not.

use std::collections::BTreeMap;

use crate::script::{Call, Piece, Redirect, Script, Word, is_trusted};

/// More combinations of values than this are not tried; the variables then count as unknown.
const MAX_COMBINATIONS: usize = 64;
/// How often a value may be put into another value.
const MAX_ROUNDS: usize = 6;

/// One value for each known variable.
type Choice<'a> = BTreeMap<&'a str, &'a Word>;

/// Replaces the calls, redirections and loose words of a script by those with every known value put in.
pub(crate) fn put_in(script: &mut Script) {
    let values = settled(std::mem::take(&mut script.values));
    let calls = std::mem::take(&mut script.calls);
    script.calls = calls.iter().flat_map(|call| calls_with(call, &values)).collect();
    let redirects = std::mem::take(&mut script.redirects);
    let opened = |one: &Redirect| -> Vec<Redirect> {
        let writes = one.writes;
        each(&one.target, &values).into_iter().map(|target| Redirect { writes, target }).collect()
    };
    script.redirects = redirects.iter().flat_map(opened).collect();
    let loose = std::mem::take(&mut script.loose);
    script.loose = loose.iter().flat_map(|word| each(word, &values)).collect();
    script.values = values.into_iter().map(|(name, known)| (name, Some(known))).collect();
}

/// The variables of which all values are known, with values put into values.
fn settled(values: BTreeMap<String, Option<Vec<Word>>>) -> BTreeMap<String, Vec<Word>> {
    let mut known: BTreeMap<String, Vec<Word>> =
        values.into_iter().filter_map(|(name, all)| Some((name, all.filter(|all| !all.is_empty())?))).collect();
    let is_open = |word: &Word| word.variables.iter().any(|name| !name.is_empty());
    for _ in 0..MAX_ROUNDS {
        let open: Vec<String> =
            known.iter().filter(|(_, all)| all.iter().any(is_open)).map(|(name, _)| name.clone()).collect();
        for name in open {
            let all = known.get(&name).into_iter().flatten().flat_map(|word| each(word, &known)).collect::<Vec<_>>();
            known.insert(name, all);
        }
        known.retain(|_, all| all.len() <= MAX_COMBINATIONS);
    }
    known.retain(|_, all| !all.iter().any(is_open));
    known
}

/// A call with every combination of the known values that it uses.
fn calls_with(call: &Call, values: &BTreeMap<String, Vec<Word>>) -> Vec<Call> {
    let with = |choice: &Choice<'_>| {
        let words: Vec<Word> = call.words.iter().flat_map(|word| with_values(word, choice)).collect();
        // A name that comes out empty leaves the next word as the program; without any, nothing is called.
        (!words.is_empty()).then_some(Call { words })
    };
    choices(call.words.iter(), values).iter().filter_map(with).collect()
}

/// A word that stands alone, with every combination of the known values in it.
fn each(word: &Word, values: &BTreeMap<String, Vec<Word>>) -> Vec<Word> {
    choices(std::iter::once(word), values).iter().flat_map(|choice| with_values(word, choice)).collect()
}

/// Every combination of the known values that these words use; one with none of them if they are too many.
fn choices<'a>(words: impl Iterator<Item = &'a Word>, values: &'a BTreeMap<String, Vec<Word>>) -> Vec<Choice<'a>> {
    let mut all: Vec<Choice<'a>> = vec![Choice::new()];
    for name in words.flat_map(|word| &word.variables) {
        let Some((name, known)) = values.get_key_value(name).filter(|_| !all[0].contains_key(name.as_str())) else {
            continue;
        };
        if all.len() * known.len() > MAX_COMBINATIONS {
            return vec![Choice::new()];
        }
        let with = |choice: &Choice<'a>, value: &'a Word| {
            let mut choice = choice.clone();
            choice.insert(name, value);
            choice
        };
        all = all.iter().flat_map(|choice| known.iter().map(move |value| with(choice, value))).collect();
    }
    all
}

/// The words that a word becomes with these values: several, or none, where an unquoted value is split.
fn with_values(word: &Word, choice: &Choice<'_>) -> Vec<Word> {
    if word.variables.is_empty() {
        return vec![word.clone()];
    }
    // A word that is nothing but one unquoted variable is split as the shell splits it.
    if let [Piece::Variable { name, is_quoted: false, .. }] = word.pieces.as_slice()
        && let Some(value) = choice.get(name.as_str())
        && !value.is_glob
        && !value.text.contains(['*', '?', '['])
    {
        let part = |text: &str| Word { text: text.to_owned(), is_substituted: true, ..Word::default() };
        return value.text.split([' ', '\t', '\n']).filter(|text| !text.is_empty()).map(part).collect();
    }
    let mut made = Word { text: String::new(), variables: Vec::new(), pieces: Vec::new(), ..word.clone() };
    for piece in &word.pieces {
        match piece {
            Piece::Text(text) => made.text.push_str(text),
            Piece::Variable { name, source, is_quoted } => match choice.get(name.as_str()) {
                Some(value) => {
                    let is_split =
                        !is_quoted && (value.is_glob || value.text.contains([' ', '\t', '\n', '*', '?', '[']));
                    made.is_loose |= is_split || (made.text.is_empty() && value.is_loose);
                    made.is_glob |= value.is_glob;
                    made.is_substituted = true;
                    made.text.push_str(&value.text);
                }
                None => {
                    made.is_loose |= !is_trusted(name) || (!is_quoted && may_hold_spaces(name));
                    made.variables.push(name.clone());
                    made.text.push_str(source);
                }
            },
        }
    }
    // A name that is put together from known pieces is known.
    made.is_pieced &= !made.variables.is_empty();
    vec![made]
}

/// Folders that a command can go to may have any name.
fn may_hold_spaces(name: &str) -> bool {
    matches!(name, "PWD" | "OLDPWD")
}
