//! Turns what a person is to be told into sentences for a mail: "Ask Tom when he can meet" becomes "Could you tell me when you can
//! meet?".
//!
//! Only what is certain is rephrased; otherwise the draft has a placeholder.

use super::lexicon::Concept;
use super::task::SpecialistTask;

/// The sentences that a mail is to say.
pub(super) fn points(task: &SpecialistTask) -> Vec<String> {
    let told = match (task.content(), task.behind_person()) {
        (Some(content), _) if task.says("dass") => Some(sentence(&main_clause(&content))),
        (Some(content), _) => Some(sentence(&content)),
        (None, Some(rest)) if task.has(Concept::Ask) => asked(rest),
        (None, Some(rest)) if task.has(Concept::Acknowledge) => thanks(rest),
        (None, Some(rest)) if task.has(Concept::Tell) => statement(rest),
        // "Email Priya I come on Friday": a sentence of its own is what is to be said.
        (None, Some(rest)) if is_statement(rest) => Some(sentence(rest)),
        (None, _) => None,
    };
    // "Write to Brigitte, I pay tomorrow": what stands behind the comma is to be said.
    let behind_comma = || {
        let rest = task.behind_person()?;
        let is_cut = task.task.contains(&format!(", {rest}"));
        let opens = ["ob ", "dass ", "if ", "whether ", "that ", "que ", "qu'", "si ", "wenn ", "when "];
        let is_open = opens.iter().any(|open| rest.starts_with(open));
        (is_cut && !is_open && rest.split_whitespace().count() > 2).then(|| sentence(rest))
    };
    match told.or_else(behind_comma) {
        Some(told) => vec![told],
        None => task.entities.quoted.iter().map(|quoted| sentence(quoted)).collect(),
    }
}

/// What is to be added to a draft: what stands behind "add", "also say", "mention".
pub(super) fn added(task: &SpecialistTask) -> Option<Vec<String>> {
    let text = task.task.trim();
    let folded = text.to_lowercase();
    let (at, cue) = ADDING.iter().filter_map(|cue| Some((find_word(&folded, cue)?, *cue))).min()?;
    // Letters may change their length with their case; then there is no telling where the cue ends.
    let rest = text.get(at + cue.len()..).filter(|_| folded.len() == text.len())?;
    let rest = rest.trim_start_matches([':', ',', ' ', '"', '“', '„', '«']).trim_end_matches(['"', '”', '“', '»', ' ']);
    let opens =
        ["that ", "dass ", "que ", "a line that ", "a sentence that ", "a line saying ", "noch ", "bitte ", "auch "];
    let rest = opens.iter().fold(rest, |rest, open| rest.strip_prefix(open).unwrap_or(rest));
    let rest = rest.trim_end_matches(" hinzu").trim_end_matches(" hinzu.");
    (rest.split_whitespace().count() > 1 || rest.len() > 6).then(|| vec![sentence(rest)])
}

/// Words behind which stands what is to be added, the longer before those within them.
const ADDING: [&str; 24] = [
    "häng noch an",
    "hänge noch an",
    "also add",
    "also say",
    "also mention",
    "also tell",
    "also write",
    "and say",
    "add",
    "mention",
    "include",
    "ergänze",
    "ergänz",
    "füge hinzu",
    "füg hinzu",
    "füge",
    "füg",
    "erwähne",
    "erwähn",
    "schreib auch",
    "schreib noch",
    "ajoute",
    "rajoute",
    "mentionne",
];

fn find_word(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        let behind = text[at + word.len()..].chars().next();
        before.is_none_or(|before| !before.is_alphanumeric()) && behind.is_none_or(|behind| !behind.is_alphanumeric())
    })
}

/// What is to be said instead, without that word.
pub(super) fn instead(said: &str) -> String {
    let ends = [" instead", " stattdessen", " à la place", " plutôt"];
    let said = said.trim().trim_end_matches(['.', '!']);
    ends.iter().find_map(|end| said.strip_suffix(end)).unwrap_or(said).to_owned()
}

/// "Say I am at home from two instead", "schreib lieber, dass …": the sentence that a draft is to say in place of its own. What is said
/// besides it ("also") is none.
pub(super) fn said_instead(said: &str) -> Option<String> {
    const VERBS: [&str; 12] = [
        "say",
        "write",
        "tell them",
        "tell her",
        "tell him",
        "sag",
        "sage",
        "schreib",
        "schreibe",
        "écris",
        "dis",
        "dites",
    ];
    const BESIDES: &str = "also too auch noch dazu aussi";
    const MARKS: [&str; 8] = ["instead ", "lieber", "stattdessen", "bitte", "plutôt", "please", "rather", "just "];
    const OPENINGS: [&str; 6] = ["that ", "dass ", "daß ", "que ", "qu'", "them that "];
    let said = said.trim();
    let folded = said.to_lowercase();
    if folded.len() != said.len() || folded.split_whitespace().any(|word| BESIDES.split(' ').any(|one| one == word)) {
        return None;
    }
    let verb =
        VERBS.iter().find(|verb| folded.strip_prefix(**verb).is_some_and(|rest| rest.starts_with([' ', ':'])))?;
    let ends_so = instead(said) != said.trim_end_matches(['.', '!']);
    let start = |text: &str| text.len() - text.trim_start_matches([' ', ',', ':']).len();
    let mut rest = &said[verb.len()..];
    let mut is_marked = ends_so;
    rest = &rest[start(rest)..];
    while let Some(mark) = MARKS.iter().find(|mark| rest.to_lowercase().starts_with(**mark)) {
        is_marked = true;
        rest = &rest[mark.len()..];
        rest = &rest[start(rest)..];
    }
    let is_clause = rest.starts_with("dass ") || rest.starts_with("daß ");
    rest = OPENINGS.iter().find_map(|opening| rest.strip_prefix(opening)).unwrap_or(rest);
    let rest = instead(rest);
    let whole = if is_clause { main_clause(&rest) } else { rest };
    (is_marked && whole.split_whitespace().count() > 1).then_some(whole)
}

/// "Actually make it half past four": what is to stand in a draft in place of something of its kind.
pub(super) fn replacement(said: &str) -> Option<&str> {
    let folded = said.to_lowercase();
    let (at, cue) = REPLACING.iter().filter_map(|cue| Some((find_word(&folded, cue)?, *cue))).min()?;
    let is_first = said.get(..at)?.split_whitespace().count() <= 2 && folded.len() == said.len();
    let rest = said.get(at + cue.len()..).filter(|_| is_first)?.trim().trim_end_matches(['.', '!']);
    let rest = [" instead", " please", " bitte", " stattdessen", " plutôt"]
        .iter()
        .fold(rest, |rest, end| rest.strip_suffix(end).unwrap_or(rest));
    let count = rest.split_whitespace().count();
    let is_value = rest
        .split_whitespace()
        .next()
        .is_some_and(|word| !household::words::is_light(&word.to_lowercase()) || count > 1);
    (is_value && (1..=5).contains(&count)).then_some(rest)
}

const REPLACING: [&str; 8] =
    ["make it", "make that", "change it to", "change that to", "mach es", "mach daraus", "mach draus", "mets plutôt"];

/// A text in which a value stands in place of the one of its kind: a count beside the same unit, a time, a day. None where there is no such.
pub(super) fn replaced(body: &str, value: &str, now: &jiff::Zoned) -> Option<String> {
    let own = body.find("\n>").unwrap_or(body.len());
    let (text, quoted) = body.split_at(own);
    let all = household::time::words::words(text);
    let said = household::time::words::words(value);
    let kind = |text: &str| household::time::parse(text, now).when.map(|when| when.is_exact);
    // "Fifteen minutes": the count beside that unit.
    if let [count, unit] = &said[..] {
        let is_unit = |word: &str| word.trim_end_matches('s') == unit.folded.trim_end_matches('s');
        let place = all.windows(2).find(|pair| is_unit(&pair[1].folded)).map(|pair| pair[0].at.clone());
        if let Some(place) = place {
            let count = &value[count.at.clone()];
            return Some(format!("{}{count}{}{quoted}", &text[..place.start], &text[place.end..]));
        }
    }
    let wanted = kind(value).or_else(|| kind(&format!("at {value}")))?;
    let times = household::time::parse(text, now).said;
    let is_kind = |place: &&std::ops::Range<usize>| kind(&text[(*place).clone()]) == Some(wanted);
    let number = || {
        let is_hour = |word: &&household::time::words::Word| word.folded.parse::<u8>().is_ok_and(|hour| hour <= 24);
        all.iter().find(is_hour).map(|word| word.at.clone()).filter(|_| wanted)
    };
    let place = times.iter().find(is_kind).cloned().or_else(number)?;
    // Words in another language are followed by their time in the language of the mail: that one goes with the old words.
    let behind = &text[place.end..];
    let restated = behind.find("]] (").filter(|at| !behind[..*at].contains("[[")).map(|at| at + 2);
    let restated = restated.and_then(|from| Some(from..from + behind[from..].find(')')? + 1));
    let behind = match restated {
        Some(restated) => format!("{}{}", &behind[..restated.start], &behind[restated.end..]),
        None => behind.to_owned(),
    };
    // Of several times, nothing says which one is meant.
    if kind(&behind) == Some(wanted) {
        return None;
    }
    let before = &text[place.clone()];
    let mark = ["at ", "um ", "à "].iter().find(|mark| before.starts_with(**mark)).copied().unwrap_or_default();
    Some(format!("{}{mark}{value}{behind}{quoted}", &text[..place.start]))
}

/// A German clause behind "dass", as a sentence of its own: "ich gern singe" is "ich singe gern", "ich das Rad abhole" is "ich hole das Rad
/// ab". Where the order is not certain, the clause stays as it was said, behind words that it can follow.
fn main_clause(content: &str) -> String {
    let content = content.trim_end_matches(['.', '!']);
    let words: Vec<&str> = content.split_whitespace().collect();
    let as_said = || format!("ich wollte sagen, dass {content}");
    let has_more = content.contains([',', ';', '.'])
        || words.iter().any(|word| ["und", "oder", "aber", "weil", "wenn"].contains(word));
    if has_more && words.len() > 2 {
        return as_said();
    }
    let articles = ["der", "die", "das", "den", "mein", "meine", "unser", "unsere", "ein", "eine", "mir", "uns"];
    let subject = match words.first() {
        Some(first)
            if articles.contains(&first.to_lowercase().as_str())
                && words.len() > 3
                && !["mir", "uns"].contains(first) =>
        {
            2
        }
        Some(first) if *first == "mir" || *first == "uns" => return content.to_owned(),
        _ => 1,
    };
    let Some((verb, rest)) =
        words.split_last().filter(|(verb, rest)| !rest.is_empty() && verb.chars().all(char::is_lowercase))
    else {
        return content.to_owned();
    };
    match separated(verb) {
        Separable::No if rest.len() > subject => {
            let (subject, more) = rest.split_at(subject);
            [subject, &[*verb], more].concat().join(" ")
        }
        Separable::No => content.to_owned(),
        Separable::Yes(prefix, stem) => {
            let (subject, more) = rest.split_at(subject.min(rest.len()));
            [subject, &[stem], more, &[prefix]].concat().join(" ")
        }
        Separable::Unknown => as_said(),
    }
}

/// Whether a verb at the end of a German clause comes apart in a main clause.
enum Separable<'a> {
    Yes(&'a str, &'a str),
    No,
    /// It may: "umgehen" is two verbs.
    Unknown,
}

fn separated(verb: &str) -> Separable<'_> {
    // The longer before those that they begin with.
    const PREFIXES: [&str; 45] = [
        "zusammen",
        "entgegen",
        "zurecht",
        "hinterher",
        "herunter",
        "hinunter",
        "hinüber",
        "herüber",
        "dazwischen",
        "vorbei",
        "zurück",
        "weiter",
        "heraus",
        "hinaus",
        "herein",
        "hinein",
        "herauf",
        "hinauf",
        "vorher",
        "voran",
        "voraus",
        "dabei",
        "statt",
        "heran",
        "umher",
        "wieder",
        "bereit",
        "teil",
        "fest",
        "fort",
        "heim",
        "nach",
        "weg",
        "los",
        "mit",
        "aus",
        "auf",
        "bei",
        "ein",
        "her",
        "hin",
        "vor",
        "ab",
        "an",
        "zu",
    ];
    const WHOLE: [&str; 22] = [
        "antwort",
        "ängst",
        "anker",
        "wiederhol",
        "einig",
        "eine",
        "herrsch",
        "hinder",
        "hink",
        "zuck",
        "zünd",
        "zürn",
        "zieh",
        "beicht",
        "beiß",
        "beißt",
        "ausser",
        "festig",
        "abend",
        "mitt",
        "weger",
        "aufs",
    ];
    let has_sound = |stem: &str| stem.chars().count() >= 3 && stem.contains(['a', 'e', 'i', 'o', 'u', 'ä', 'ö', 'ü']);
    if WHOLE.iter().any(|whole| verb.starts_with(whole)) {
        return Separable::No;
    }
    let split =
        |prefix: &&'static str| verb.strip_prefix(*prefix).filter(|stem| has_sound(stem)).map(|stem| (*prefix, stem));
    if let Some((prefix, stem)) = PREFIXES.iter().find_map(split) {
        return Separable::Yes(prefix, stem);
    }
    let is_open = ["um", "durch"].iter().any(|prefix| verb.strip_prefix(prefix).is_some_and(has_sound));
    if is_open { Separable::Unknown } else { Separable::No }
}

/// A capital at its beginning and a full stop at its end.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim().trim_end_matches([',', ';']);
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let whole: String = first.chain(letters).collect();
    if whole.ends_with(['.', '!', '?', '…']) { whole } else { format!("{whole}.") }
}

/// What is to be asked: as a question to that person, else in the words that were said, marked as such.
fn asked(rest: &str) -> Option<String> {
    let cues = ["and ask ", "to ask ", "und frag ", "und frage ", "et demande "];
    let rest = cues.iter().find_map(|cue| Some(rest.split_once(cue)?.1)).unwrap_or(rest);
    let pronouns = ["him ", "her ", "them ", "ihn ", "sie ", "lui "];
    let rest = pronouns.iter().find_map(|pronoun| rest.strip_prefix(pronoun)).unwrap_or(rest);
    let open = rest.trim().trim_end_matches(['.', '?', ' ']);
    let is_said = open.split_whitespace().count() > 2;
    question(rest).or_else(|| french_question(open)).or_else(|| is_said.then(|| format!("[[{open}]]")))
}

/// "si elle a reçu les photos", as a question to that person, where the verb is a common one.
fn french_question(open: &str) -> Option<String> {
    const VERBS: [(&str, &str); 9] = [
        ("a", "avez"),
        ("est", "êtes"),
        ("peut", "pouvez"),
        ("veut", "voulez"),
        ("vient", "venez"),
        ("sera", "serez"),
        ("doit", "devez"),
        ("pourrait", "pourriez"),
        ("connaît", "connaissez"),
    ];
    let rest = open.strip_prefix("si ").or_else(|| open.strip_prefix("s'"))?;
    let rest = rest.strip_prefix("elle ").or_else(|| rest.strip_prefix("il "))?;
    let (verb, rest) = rest.split_once(' ')?;
    let (_, yours) = VERBS.iter().find(|(theirs, _)| *theirs == verb)?;
    Some(format!("Pourriez-vous me dire si vous {yours} {rest} ?"))
}

/// Whether words behind a name are a sentence of their own: it begins with who or what it speaks of.
fn is_statement(rest: &str) -> bool {
    const SUBJECTS: &str = "i i'm i'll i've we we'll we're it it's there my our yes no thanks ich wir es mein meine unser je j'ai nous mon ma oui non";
    let first = rest.split_whitespace().next().unwrap_or_default().to_lowercase();
    let first = first.trim_end_matches(',');
    SUBJECTS.split_whitespace().any(|subject| subject == first) && rest.split_whitespace().count() > 2
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
    let Some((first, more)) = rest.split_once(' ') else {
        let word = rest.trim_end_matches(['.', '!']).to_lowercase();
        return ["yes", "no", "ok", "okay", "ja", "nein", "oui", "non", "thanks", "danke", "merci"]
            .contains(&word.as_str())
            .then(|| sentence(rest));
    };
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
            "still" | "also" | "already" | "really" | "always" | "often" | "ever" if after_you => {
                is_after_you = true;
                word
            }
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
    fn a_value_in_a_draft_is_replaced_by_one_of_its_kind() {
        let now = "2026-01-15T11:00:00+01:00[Europe/Berlin]".parse().expect("a moment");
        for (body, said, told) in [
            ("I am ten minutes late.", "actually make it fifteen minutes", "I am fifteen minutes late."),
            ("Let us meet at 3 pm.", "make it half past four", "Let us meet at half past four."),
            ("I come on Tuesday.", "make that next Wednesday", "I come on next Wednesday."),
        ] {
            let value = replacement(said).expect("a value");
            assert_eq!(replaced(body, value, &now).as_deref(), Some(told), "{said}");
        }
        assert_eq!(replacement("make it shorter please and send it to all of them"), None);
        assert_eq!(replaced("Thank you.", "half past four", &now), None);
        let stated = "Hier ist meine Antwort darauf: [[come at 3 pm.]] (heute, 15:00 Uhr)";
        let told = "Hier ist meine Antwort darauf: [[come at half past four.]]";
        assert_eq!(replaced(stated, "half past four", &now).as_deref(), Some(told), "no second time stays");
        assert_eq!(replaced("I come at 3 pm and leave at 5 pm.", "half past four", &now), None, "which of the two?");
        for (said, told) in [
            ("say I am at home from 2 pm instead", Some("I am at home from 2 pm")),
            ("schreib lieber, dass ich den Schlüssel abhole", Some("ich hole den Schlüssel ab")),
            ("écris plutôt que je viens demain", Some("je viens demain")),
            ("also say that I come", None),
            ("say it", None),
        ] {
            assert_eq!(said_instead(said).as_deref(), told, "{said}");
        }
    }

    #[test]
    fn what_is_to_be_told_becomes_sentences_to_that_person() {
        let now = "2026-01-15T11:00:00+01:00[Europe/Berlin]".parse().expect("a moment");
        let context = Context::new(now, vec!["Tom Becker".into(), "Anna Schmidt".into()]);
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
        for (task, told) in [
            ("Schreib Anna, dass ich das Fahrrad abhole", "Ich hole das Fahrrad ab."),
            ("Schreib Anna, dass ich morgen teilnehme", "Ich nehme morgen teil."),
            ("Schreib Anna, dass ich zurückrufe", "Ich rufe zurück."),
            ("Schreib Anna, dass ich den Vertrag unterschreibe", "Ich unterschreibe den Vertrag."),
            ("Schreib Anna, dass ich morgen antworte", "Ich antworte morgen."),
            ("Schreib Anna, dass ich das abgeholt habe", "Ich habe das abgeholt."),
            ("Schreib Anna, dass ich im Mai umziehe", "Ich wollte sagen, dass ich im Mai umziehe."),
            (
                "Schreib Anna, dass ich komme und Kuchen mitbringe",
                "Ich wollte sagen, dass ich komme und Kuchen mitbringe.",
            ),
        ] {
            assert_eq!(points(&SpecialistTask::read(task, &context)), [told], "{task}");
        }
        for (task, told) in [
            ("Frag Anna, ob sie Zeit hat", "[[ob sie Zeit hat]]"),
            (
                "Could you write to Tom and ask whether he still needs it?",
                "Could you tell me whether you still need it?",
            ),
            ("email Tom I come on Friday", "I come on Friday."),
            ("Demande à Anna si elle a reçu les photos", "Pourriez-vous me dire si vous avez reçu les photos ?"),
        ] {
            assert_eq!(points(&SpecialistTask::read(task, &context)), [told], "{task}");
        }
        for task in ["Reply to that mail from Tom", "Email Tom about the invoice"] {
            assert_eq!(points(&SpecialistTask::read(task, &context)), Vec::<String>::new(), "{task}");
        }
    }
}
