//! The task of a specialist: what it is about and when, read from its brief.
//!
//! A brief is the task, then the context of the delegation as one JSON object; a specialist that a person talks to directly
//! has the person's words alone.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::conversation::object_in;
use super::entities::Entities;
use super::intent::{Context, classify};
use super::lexicon::{Concept, Hit, lexicon};
use household::time::words::{Word, words};
use household::time::{self, Times};

/// What a specialist was asked to do.
#[derive(Debug)]
pub(super) struct SpecialistTask {
    /// The task in a person's words.
    pub task: String,
    /// What its words stand for.
    pub concepts: BTreeSet<Concept>,
    /// What it is about, what it was handed with it included.
    pub entities: Entities,
    /// Ids of mails and events, and paths of notes, that are spoken of already and may hold the answer.
    pub about: Vec<String>,
    /// What was asked before, where this goes on from it.
    pub before: String,
    /// Times that can be had, if some were handed on: start and end as they were told.
    pub slots: Vec<(String, String)>,
    pub times: Times,
    hits: Vec<Hit>,
    words: Vec<Word>,
}

impl SpecialistTask {
    /// Reads a brief, or a person's own words.
    pub fn read(said: &str, context: &Context) -> Self {
        let (task, told) = match said.split_once("\n\nContext: ") {
            Some((task, rest)) => (task, object_in(rest)),
            None => (said, Value::Null),
        };
        let task = task.trim().to_owned();
        let classified = classify(&task, context);
        let words = context.mended(&task, &words(&task));
        let hits = lexicon().hits(&words);
        let mut task = Self {
            concepts: hits.iter().map(|hit| hit.concept).collect(),
            entities: classified.entities,
            times: classified.times,
            about: Vec::new(),
            before: String::new(),
            slots: Vec::new(),
            task,
            hits,
            words,
        };
        task.take_entities(&told, context);
        if task.times.when.is_none()
            && let Some(said) = told["timeConstraints"].as_str()
        {
            let times = time::parse(said, &context.now);
            task.times.when = times.when;
            task.times.part_of_day = task.times.part_of_day.or(times.part_of_day);
            task.times.duration_min = task.times.duration_min.or(times.duration_min);
        }
        task
    }

    pub fn has(&self, concept: Concept) -> bool {
        self.concepts.contains(&concept)
    }

    pub fn has_any(&self, concepts: &[Concept]) -> bool {
        concepts.iter().any(|concept| self.has(*concept))
    }

    /// Who is meant, as a name or an address.
    pub fn person(&self) -> Option<&str> {
        self.entities.addresses.first().or(self.entities.people.first()).map(String::as_str)
    }

    /// Whom mails are from: a person, else the word behind "from".
    pub fn sender(&self) -> Option<&str> {
        let is_from = |word: &Word| ["from", "von", "vom", "de", "da", "van"].contains(&word.folded.as_str());
        let is_article = |word: &&Word| ARTICLES.contains(&word.folded.as_str());
        let behind = || {
            let from = self.words.iter().position(is_from)?;
            let says_who = |word: &&Word| {
                let is_asking = self
                    .hits
                    .iter()
                    .any(|hit| self.words[hit.words.clone()].contains(word) && hit.concept != Concept::Common);
                let is_stop = STOP.split_whitespace().any(|stop| stop == word.folded);
                !self.is_time(word) && !is_asking && !is_stop
            };
            let first = self.words[from + 1..].iter().position(|word| !is_article(&word))? + from + 1;
            // "From Air Canada": a name may have several words.
            let named: Vec<&Word> = self.words[first..].iter().take(3).take_while(says_who).collect();
            let (first, last) = (named.first()?, named.last()?);
            Some(&self.task[first.at.start..last.at.end])
        };
        self.person().or_else(behind)
    }

    fn is_time(&self, word: &Word) -> bool {
        self.times.said.iter().any(|said| said.start <= word.at.start && word.at.end <= said.end)
    }

    /// From when and to when, as arguments.
    pub fn bounds(&self) -> (Option<String>, Option<String>) {
        match &self.times.when {
            Some(when) => (Some(moment(&when.start)), Some(moment(&when.end))),
            None => (None, None),
        }
    }

    /// Whether a concept stands before what is to be written.
    pub fn has_before_content(&self, concept: Concept) -> bool {
        let from = self.content().and_then(|content| self.task.find(&content)).unwrap_or(self.task.len());
        self.hits.iter().any(|hit| hit.concept == concept && self.words[hit.words.start].at.start < from)
    }

    /// What stands behind "saying", "that" or a colon: what a person is to be told.
    pub fn content(&self) -> Option<String> {
        let colon = self.task.find(": ").map(|at| at + 2);
        let head = self.hits.iter().find(|hit| SPEECH.contains(&hit.concept)).map_or(0, |hit| hit.words.start);
        // "That mail" points; "that I agree" tells.
        let points = |hit: &Hit| {
            self.hits.iter().any(|noun| {
                noun.words.start == hit.words.end
                    && matches!(noun.concept, Concept::Mail | Concept::Event | Concept::Drafts)
            })
        };
        let is_marker = |hit: &&Hit| hit.concept == Concept::Saying && hit.words.start > head && !points(hit);
        let marker = self.hits.iter().find(is_marker);
        let behind = marker.map(|hit| self.words[hit.words.end - 1].at.end);
        let from = match (colon, behind) {
            (Some(colon), Some(behind)) => colon.min(behind),
            (one, other) => one.or(other)?,
        };
        let content = self.task[from..].trim().trim_matches(['"', '“', '”', '„', '«', '»']).trim();
        (!content.is_empty()).then(|| content.to_owned())
    }

    /// What stands behind the name of whom it is for.
    pub fn behind_person(&self) -> Option<&str> {
        let person = self.person()?;
        let named = self.task.find(person)? + person.len();
        // "Miriam asks … Tell her yes": what is to be said stands behind the pronoun.
        let is_in = |list: &str, word: &Word| list.split_whitespace().any(|one| one == word.folded);
        let spoken_to =
            |pair: &&[Word]| is_in(SPEAKING, &pair[0]) && is_in(PRONOUNS, &pair[1]) && pair[0].at.start >= named;
        let named = self.words.windows(2).find(spoken_to).map_or(named, |pair| pair[1].at.end);
        let rest = &self.task[named..];
        let rest = rest.trim_start_matches(|character: char| character.is_whitespace() || character == ',');
        let verb = ["know ", "wissen ", "Bescheid ", "mit "].into_iter().find(|verb| rest.starts_with(verb));
        let rest = rest[verb.map_or(0, str::len)..].trim();
        (!rest.is_empty() && !rest.starts_with('\'')).then_some(rest)
    }

    /// The words that say what is looked for: without those that ask, and without those of time.
    pub fn subject_words(&self) -> String {
        if let Some(quoted) = self.entities.quoted.first() {
            return quoted.clone();
        }
        let is_asking =
            |at: usize| self.hits.iter().any(|hit| hit.words.contains(&at) && ASKING.contains(&hit.concept));
        let kept = self.words.iter().enumerate().filter(|(at, word)| {
            let is_stop = STOP.split_whitespace().any(|stop| stop == word.folded);
            !is_asking(*at) && !self.is_time(word) && !is_stop && word.folded.chars().count() > 1
        });
        kept.map(|(_, word)| &self.task[word.at.clone()]).collect::<Vec<_>>().join(" ")
    }

    /// Words of what is looked for, without those that only name the kind of thing.
    pub fn subject_without(&self, generic: &str) -> String {
        let subject = self.subject_words();
        let kept = words(&subject).into_iter().filter(|word| !generic.split_whitespace().any(|one| one == word.folded));
        kept.map(|word| subject[word.at].to_owned()).collect::<Vec<_>>().join(" ")
    }

    /// Words of what is looked for that nothing explains: neither the kind of thing nor a cue of these concepts.
    pub fn unexplained(&self, generic: &str, concepts: &[Concept]) -> String {
        // A cue with a gap explains its ends; what stands in the gap is what is asked about.
        let explains = |at: usize| {
            self.hits.iter().any(|hit| {
                let is_end = at == hit.words.start || at + 1 == hit.words.end;
                concepts.contains(&hit.concept) && hit.words.contains(&at) && (hit.words.len() <= 2 || is_end)
            })
        };
        let explained: Vec<&str> =
            (0..self.words.len()).filter(|at| explains(*at)).map(|at| self.words[at].folded.as_str()).collect();
        let subject = self.subject_without(generic);
        let kept = words(&subject).into_iter().filter(|word| !explained.contains(&word.folded.as_str()));
        kept.map(|word| subject[word.at].to_owned()).collect::<Vec<_>>().join(" ")
    }

    /// Whether it is a question: it begins with a word that asks, after words that say nothing, or ends with the mark.
    pub fn is_question(&self) -> bool {
        const ASK: &str = "what whats which who whom whose when where why how did do does is are was were have has am was welche welcher welches wer wem \
            wann wo warum wie wieviel hat habe ist sind war quel quelle quels quelles qui quand ou comment combien que est ai";
        let asks = |word: &Word| ASK.split_whitespace().any(|one| one == word.folded);
        self.task.trim_end().ends_with('?') || self.words.first().is_some_and(asks)
    }

    /// Whether it asks what there is, rather than for something to be done: "did I already put it into my calendar?".
    pub fn asks_what_is(&self) -> bool {
        const VERBS: &str = "did have has had is are was were do does am hab habe haben hat ist sind war steht stehen gibt ai as est a avons y";
        const SUBJECTS: &str = "i we it there that the this he she they my our ich wir es das der die mein meine unser je nous il elle on ce";
        let is_in = |list: &str, word: &Word| list.split_whitespace().any(|one| one == word.folded);
        let asks = |pair: &[Word]| is_in(VERBS, &pair[0]) && is_in(SUBJECTS, &pair[1]);
        self.words.windows(2).any(asks) && (self.task.trim_end().ends_with('?') || self.is_question())
    }

    /// Whether one of some words stands in the task.
    pub fn says(&self, list: &str) -> bool {
        self.words.iter().any(|word| list.split_whitespace().any(|one| one == word.folded))
    }

    /// The words of a concept as they stand in the task.
    pub fn words_of(&self, concept: Concept) -> Option<&str> {
        let hit = self.hits.iter().find(|hit| hit.concept == concept)?;
        Some(&self.task[self.words[hit.words.start].at.start..self.words[hit.words.end - 1].at.end])
    }

    /// Entities that were handed on count as if they stood in the task.
    fn take_entities(&mut self, told: &Value, context: &Context) {
        for entity in told["relevantEntities"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if let Some(said) = entity.strip_prefix(BEFORE) {
                said.clone_into(&mut self.before);
                continue;
            }
            if let Some(id) = entity.strip_prefix(ABOUT) {
                self.about.push(id.to_owned());
                continue;
            }
            if let Some((start, end)) = entity.split_once('/').filter(|(start, end)| is_moment(start) && is_moment(end))
            {
                self.slots.push((start.to_owned(), end.to_owned()));
                continue;
            }
            if entity.ends_with(".md") {
                // A path may hold spaces.
                if !self.entities.paths.iter().any(|path| path == entity) {
                    self.entities.paths.insert(0, entity.to_owned());
                }
                continue;
            }
            let (formed, _) = super::entities::by_form(entity);
            let is_person = context.people.iter().any(|name| name.eq_ignore_ascii_case(entity));
            let lists = [
                (&mut self.entities.ids, formed.ids),
                (&mut self.entities.addresses, formed.addresses),
                (&mut self.entities.paths, formed.paths),
            ];
            let mut is_formed = false;
            for (list, more) in lists {
                is_formed |= !more.is_empty();
                list.extend(more.into_iter().filter(|entity| !list.contains(entity)).collect::<Vec<_>>());
            }
            let list = if is_person { &mut self.entities.people } else { &mut self.entities.topics };
            let is_known = list.iter().any(|known| known.eq_ignore_ascii_case(entity));
            if !is_formed && !is_known && !self.task.contains(entity) {
                list.push(entity.to_owned());
            }
        }
    }
}

/// What stands before the id of something that a question may be about.
pub(super) const ABOUT: &str = "about:";
/// What stands before the question that was asked last.
pub(super) const BEFORE: &str = "before:";

/// A moment as tools take and tell it.
pub(super) fn moment(at: &jiff::Zoned) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// An object without its empty members.
pub(super) fn arguments(members: Value) -> Value {
    match members {
        Value::Object(members) => {
            let is_said = |value: &Value| !(value.is_null() || *value == json!([]) || *value == json!(""));
            Value::Object(members.into_iter().filter(|(_, value)| is_said(value)).collect())
        }
        other => other,
    }
}

fn is_moment(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
}

/// Verbs behind which stands what is to be written.
const SPEECH: [Concept; 9] = [
    Concept::Tell,
    Concept::Reply,
    Concept::Write,
    Concept::Ask,
    Concept::Acknowledge,
    Concept::FollowUp,
    Concept::Send,
    Concept::Decline,
    Concept::Accept,
];

/// Verbs of speaking, and pronouns for whom it is said to.
const SPEAKING: &str =
    "tell ask thank let inform remind answer write sag sage frag frage schreib schreibe antworte dis ecris reponds";
const PRONOUNS: &str = "her him them ihr ihm ihnen lui leur";

/// Concepts whose words only ask.
const ASKING: [Concept; 15] = [
    Concept::Find,
    Concept::Know,
    Concept::Look,
    Concept::Question,
    Concept::Filler,
    Concept::Greeting,
    Concept::Thanks,
    Concept::Write,
    Concept::Reply,
    Concept::Tell,
    Concept::Send,
    Concept::Saying,
    Concept::Backlinks,
    Concept::Recent,
    Concept::It,
];

/// Words between "from" and the name.
const ARTICLES: [&str; 14] =
    ["the", "my", "our", "a", "an", "der", "dem", "den", "meinem", "meiner", "la", "le", "l", "el"];

/// Words that no note and no mail is found by.
const STOP: &str = "the a an of to in on at by for from with about my your his her our their and or not is are was were be do \
    does did have has had will would can could should i you he she we they it this that these those me us some any all note \
    notes notebook document documents doc docs file files page pages email emails mail mails message messages der die das den \
    dem des ein eine einen einem einer eines und oder nicht mit fur von vom zu zum zur bei nach uber auf an am im in ist sind \
    war ich du er sie es wir ihr mich mir mein meine meinen meinem meiner notiz notizen dokument dokumente datei dateien \
    unterlagen le la les un une des du de au aux et ou je tu il elle nous vous mon ma mes pour sur avec dans est sont fichier \
    fichiers el los las una del al y con para por en mis lo gli dei della nel het een van met voor over mijn notities notas \
    nota appunti aantekeningen was wo wer wie what which where who how when why";
