//! Classifies a request: concepts are weighted by class, clause by clause, with a bonus for entities.
//!
//! The weights are data (`weights`); languages only add words for concepts. Where two classes are nearly as likely,
//! or none is likely enough, nothing is guessed: the [`Classification`] holds a question with choices.

mod clauses;
mod weights;

use std::sync::Arc;

use jiff::Zoned;

use super::entities::{self, Entities};
use super::lexicon::{Concept, Hit, lexicon};
use household::Vocabulary;
use household::time::words::{Word, fold};
use household::time::{self, Times};
use weights::{BEYOND, HEADS, MAKING, PAIRS, SPEECH, WEIGHTS};

/// The context of a request: the time at which it is made, and the people that the household knows.
#[derive(Clone, Debug)]
pub struct Context {
    /// What time it is for its owner.
    pub now: Zoned,
    /// Names of people.
    pub people: Vec<String>,
    /// The words of the household's own texts: they are no slips of the pen.
    pub words: Arc<Vocabulary>,
}

impl Context {
    /// The context of a request at this time, with the people that are known.
    pub fn new(now: Zoned, people: Vec<String>) -> Self {
        Self { now, people, words: Arc::default() }
    }

    /// The words of a text with slips set right; words of names and of the household are left as they are written.
    pub(super) fn mended(&self, text: &str, words: &[Word]) -> Vec<Word> {
        let names = entities::name_words(&self.people);
        lexicon().mended(text, words, &|word| names.contains(word) || self.words.knows(word))
    }
}

/// What one of the five specialists is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Intent {
    /// What came in, and what of it matters.
    Triage,
    /// Calendars: what is on, when there is time, a proposal.
    Schedule,
    /// A mail to be written.
    Draft,
    /// Notes to be found.
    Search,
    /// Preferences: what was learned, why, and what to forget.
    Learn,
}

/// Requests that the butler answers without a specialist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direct {
    /// A person says hello.
    Greeting,
    /// A person says thank you.
    Thanks,
    /// What can be asked.
    Help,
    /// Who is speaking.
    Identity,
    /// What time or day it is.
    Clock,
    /// Words that ask for nothing.
    Smalltalk,
    /// What the household cannot do without a model, or not at all.
    Unsupported,
}

/// What a request asks for. Exactly one of `intents`, `direct` and `question` says something.
#[derive(Clone, Debug, PartialEq)]
pub struct Classification {
    /// What is handed on, in order.
    pub intents: Vec<IntentMatch>,
    /// What is answered directly.
    pub direct: Option<Direct>,
    /// What has to be asked back.
    pub question: Option<Question>,
    /// How sure this is, from 0 to 1: the least sure of its intents.
    pub confidence: f64,
    /// By how much the likeliest class is ahead of the next, in points.
    pub margin: f64,
    /// What it is about.
    pub entities: Entities,
    /// What it says about time.
    pub times: Times,
}

/// One intent, and the words that ask for it.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentMatch {
    /// The intent.
    pub intent: Intent,
    /// The part of the request that says it.
    pub text: String,
    /// The words that decided.
    pub because: Vec<String>,
}

/// A question back, with what can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What may have been meant, likeliest first.
    pub choices: Vec<Intent>,
}

impl Intent {
    /// All five.
    pub const ALL: [Self; 5] = [Self::Triage, Self::Schedule, Self::Draft, Self::Search, Self::Learn];

    /// Its name in a delegation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Triage => "delegate_triage",
            Self::Schedule => "delegate_schedule",
            Self::Draft => "delegate_draft",
            Self::Search => "delegate_search",
            Self::Learn => "delegate_learn",
        }
    }

    /// The intent of a delegation by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|intent| intent.as_str() == name)
    }
}

impl Classification {
    /// What it comes to in a word for each intent: its name, else `direct`, else `clarify`.
    pub fn names(&self) -> Vec<&'static str> {
        match (&self.question, self.intents.is_empty()) {
            (Some(_), _) => vec!["clarify"],
            (None, true) => vec!["direct"],
            (None, false) => self.intents.iter().map(|meant| meant.intent.as_str()).collect(),
        }
    }
}

/// The most words of a request that are looked at.
const MOST_WORDS: usize = 300;

/// Says what a request asks for.
pub fn classify(text: &str, context: &Context) -> Classification {
    let (mut entities, places) = entities::by_form(text);
    let mut plain = entities::words_outside(text, &places);
    plain.truncate(MOST_WORDS);
    let words = context.mended(text, &plain);
    let hits = lexicon().hits(&words);
    let times = time::parse_words(text, &words, &context.now);
    let told = entities::NamedThings { text, words: &words, hits: &hits, times: &times };
    told.add_to(&mut entities, &context.people);
    let reading = Reading { text, words: &words, hits: &hits, entities: &entities, times: &times };
    let decision = reading.decide();
    Classification {
        intents: decision.intents,
        direct: decision.direct,
        question: decision.question,
        confidence: decision.confidence,
        margin: decision.margin,
        entities,
        times,
    }
}

/// A class that has fewer points is not asked for.
const ENOUGH: f64 = 2.5;
/// A class that is not ahead by so many points is not certain.
const AHEAD: f64 = 0.75;

/// A text with all that was found in it.
struct Reading<'a> {
    text: &'a str,
    words: &'a [Word],
    hits: &'a [Hit],
    entities: &'a Entities,
    times: &'a Times,
}

/// The decision.
struct Decision {
    intents: Vec<IntentMatch>,
    direct: Option<Direct>,
    question: Option<Question>,
    confidence: f64,
    margin: f64,
}

/// Scores by class, in the order of [`Intent::ALL`], and for what is out of reach.
#[derive(Clone, Copy, Debug, Default)]
struct Scores {
    of: [f64; 5],
    beyond: f64,
}

impl Scores {
    fn best(&self) -> (Intent, f64) {
        let (index, points) = self
            .of
            .iter()
            .enumerate()
            .fold((0, f64::MIN), |best, (index, points)| if *points > best.1 { (index, *points) } else { best });
        (Intent::ALL[index], points)
    }

    /// How far the best is ahead of all else.
    fn margin(&self) -> f64 {
        let (best, points) = self.best();
        let others = Intent::ALL.iter().zip(self.of).filter(|(intent, _)| **intent != best).map(|(_, points)| points);
        points - others.fold(self.beyond.max(0.0), f64::max)
    }

    fn is_clear(&self) -> bool {
        self.best().1 >= ENOUGH && self.margin() >= AHEAD
    }

    fn confidence(&self) -> f64 {
        let sum: f64 = self.of.iter().map(|points| points.max(0.0)).sum::<f64>() + self.beyond + 1.0;
        (self.best().1.max(0.0) / sum).clamp(0.0, 1.0)
    }
}

impl Reading<'_> {
    fn decide(&self) -> Decision {
        let whole = self.points(0..self.before_content());
        let meant = self.meant(&whole);
        if !meant.is_empty() && !self.only_sends(&(0..self.words.len())) {
            let confidence = meant.iter().map(|(_, points)| points.confidence()).fold(1.0, f64::min);
            let margin = meant.iter().map(|(_, points)| points.margin()).fold(f64::MAX, f64::min);
            let intents = meant.into_iter().map(|(meant, _)| meant).collect();
            return Decision { intents, direct: None, question: None, confidence, margin };
        }
        let undecided = Decision {
            intents: Vec::new(),
            direct: None,
            question: None,
            confidence: whole.confidence(),
            margin: whole.margin(),
        };
        match self.direct(&whole) {
            Some(direct) => Decision { direct: Some(direct), ..undecided },
            None => Decision { question: Some(Question { choices: self.choices(&whole) }), ..undecided },
        }
    }

    /// The clear intents: those of the clauses that stand on their own, else that of the whole.
    fn meant(&self, whole: &Scores) -> Vec<(IntentMatch, Scores)> {
        let mut meant: Vec<(IntentMatch, Scores)> = Vec::new();
        for clause in self.clauses() {
            let points = self.points(clause.clone());
            let (intent, _) = points.best();
            let is_second = meant.len() == 1 && meant[0].0.intent != intent && self.is_listed(&clause);
            let stands = self.stands_alone(&clause) || is_second;
            let is_own = stands && points.is_clear() && meant.len() < MOST_INTENTS;
            let known = meant.iter_mut().rev().find(|(known, _)| !is_own || known.intent == intent);
            match known {
                // What does not stand on its own belongs to what was asked before it.
                Some((before, _)) => before.text = format!("{}, {}", before.text, self.clause_text(&clause)),
                None if is_own => meant.push((self.because(intent, clause), points)),
                None => {}
            }
        }
        if meant.is_empty() && whole.is_clear() {
            meant.push((self.because(whole.best().0, 0..self.words.len()), *whole));
        }
        if self.has(&(0..self.words.len()), Concept::Briefing) && meant.len() == 1 {
            let plan = IntentMatch { intent: Intent::Schedule, ..meant[0].0.clone() };
            meant.push((plan, meant[0].1));
        }
        // Whether a mail can be trusted is a question about that mail, whatever it is about.
        let all = 0..self.words.len();
        if self.has(&all, Concept::Genuine)
            && self.has(&all, Concept::Mail)
            && self.asks()
            && !meant.iter().any(|(meant, _)| meant.intent == Intent::Triage)
        {
            let points = meant.first().map_or(*whole, |(_, points)| *points);
            meant = vec![(self.because(Intent::Triage, all), points)];
        }
        // Whether something can be trusted is found out before anything is written.
        if self.has(&(0..self.words.len()), Concept::Genuine)
            && meant.iter().any(|(meant, _)| meant.intent == Intent::Triage)
        {
            meant.retain(|(meant, _)| meant.intent == Intent::Triage);
        }
        if let [(only, _)] = &mut meant[..] {
            // One request in many words: all of them say what it is about.
            self.text.trim().clone_into(&mut only.text);
        }
        meant
    }

    fn because(&self, intent: Intent, clause: std::ops::Range<usize>) -> IntentMatch {
        let says = |hit: &&Hit| WEIGHTS.iter().any(|(concept, of, _)| *concept == hit.concept && *of == intent);
        let inside = self.hits.iter().filter(|hit| clause.start <= hit.words.start && hit.words.end <= clause.end);
        let mut because: Vec<String> = Vec::new();
        for hit in inside.filter(says) {
            let words = self.text[self.place(&hit.words)].to_owned();
            if !because.contains(&words) {
                because.push(words);
            }
        }
        IntentMatch { intent, text: self.clause_text(&clause).to_owned(), because }
    }

    fn points(&self, clause: std::ops::Range<usize>) -> Scores {
        let mut points = Scores::default();
        let head = self.head(&clause);
        let clause = self.without_content(clause, head);
        let inside: Vec<&Hit> =
            self.hits.iter().filter(|hit| clause.start <= hit.words.start && hit.words.end <= clause.end).collect();
        let begins =
            |concept: Concept| inside.iter().any(|hit| Some(hit.words.start) == head && hit.concept == concept);
        let concepts: std::collections::BTreeSet<Concept> = inside.iter().map(|hit| hit.concept).collect();
        let mut add = |intent: Intent, by: f64| points.of[intent as usize] += by;
        let is_stranger = self.asks_about_a_stranger(&inside);
        for (concept, intent, weight) in WEIGHTS {
            if concepts.contains(concept) && !(is_stranger && *concept == Concept::Person) {
                add(*intent, *weight);
            }
        }
        for (one, other, intent, weight) in PAIRS {
            if concepts.contains(one) && concepts.contains(other) {
                add(*intent, *weight);
            }
        }
        for (concept, intent, weight) in HEADS {
            if begins(*concept) {
                add(*intent, *weight);
            }
        }
        let names_a_person = !(self.entities.people.is_empty() && self.entities.addresses.is_empty());
        if names_a_person && SPEECH.iter().any(|concept| begins(*concept)) {
            add(Intent::Draft, 1.0);
        }
        if names_a_person && concepts.contains(&Concept::Mail) && !concepts.contains(&Concept::Vague) {
            add(Intent::Triage, 0.8);
        }
        if head.is_some_and(|head| self.is_mail_verb(head)) {
            add(Intent::Draft, 4.0);
        }
        // "What did Sarah send?" asks what there is; nothing is to be written.
        let speaks = [Concept::Write, Concept::Send, Concept::Tell, Concept::Ask, Concept::Forward];
        if begins(Concept::Question)
            && speaks.iter().any(|concept| concepts.contains(concept))
            && !self.asks_what_to_do()
        {
            add(Intent::Draft, -4.0);
            if names_a_person || concepts.contains(&Concept::Mail) {
                add(Intent::Triage, 2.0);
            }
        }
        // "Do I need to answer anyone?" asks what is there to answer; "What should I answer?" asks for the answer.
        let asks = begins(Concept::Question) || begins(Concept::Look);
        if asks && concepts.contains(&Concept::Reply) && !self.asks_what_to_do() {
            add(Intent::Triage, 3.0);
            add(Intent::Draft, -2.0);
        }
        let is_looked_at = begins(Concept::Look) || begins(Concept::Question);
        if is_looked_at && self.entities.ids.iter().any(|id| !id.starts_with("draft")) {
            add(Intent::Triage, 1.5);
        }
        self.slots(&clause, &mut add);
        // "Show me Thursday": a day and nothing else is looked at in the calendar.
        let is_only_timed = points.best().0 == Intent::Schedule && points.best().1 < 1.0;
        if begins(Concept::Look) && is_only_timed && points.best().1 > 0.0 {
            points.of[Intent::Schedule as usize] += 2.0;
        }
        if concepts.contains(&Concept::Beyond) {
            // What is made, found or booked there is out of reach too; what a person is told about it is not.
            points.beyond = BEYOND + if MAKING.iter().any(|concept| begins(*concept)) { 1.5 } else { 0.0 };
        }
        points
    }

    /// Whether nothing but "who is" speaks for a person, and the household knows nobody of that name.
    fn asks_about_a_stranger(&self, inside: &[&Hit]) -> bool {
        let of_persons = inside.iter().filter(|hit| hit.concept == Concept::Person);
        let is_who = |hit: &&Hit| ["who", "wer", "qui"].contains(&self.words[hit.words.start].folded.as_str());
        self.entities.people.is_empty() && self.entities.addresses.is_empty() && of_persons.clone().all(is_who)
    }

    /// What stands in a clause besides words of meaning.
    fn slots(&self, clause: &std::ops::Range<usize>, add: &mut dyn FnMut(Intent, f64)) {
        let place = self.place(clause);
        let is_timed = self.times.said.iter().any(|said| place.start <= said.start && said.end <= place.end);
        let is_whole = clause.len() == self.words.len();
        if is_timed {
            add(Intent::Schedule, 0.6);
        }
        let names_who = !self.entities.people.is_empty() || !self.entities.addresses.is_empty();
        let speaks = SPEECH.iter().any(|concept| self.has(clause, *concept));
        if is_timed && names_who && self.asks() && !speaks && !self.has(clause, Concept::Mail) {
            add(Intent::Schedule, 1.5);
        }
        if is_timed && self.has(clause, Concept::Mail) {
            add(Intent::Triage, 0.8);
        }
        if is_timed && self.times.duration_min.is_some() {
            add(Intent::Schedule, 2.5);
            add(Intent::Search, -1.5);
        }
        if is_whole || clause.start == 0 {
            if self.entities.ids.iter().any(|id| id.starts_with("draft")) {
                add(Intent::Draft, 4.0);
            } else if !self.entities.ids.is_empty() {
                add(Intent::Triage, 2.0);
                add(Intent::Draft, 0.6);
            }
            if !self.entities.addresses.is_empty() {
                add(Intent::Draft, 1.0);
            }
            if !self.entities.paths.is_empty() {
                add(Intent::Search, 3.5);
            }
        }
    }

    /// What is answered without handing anything on; none where asking back is better.
    fn direct(&self, whole: &Scores) -> Option<Direct> {
        const KINDS: [(Concept, Direct); 6] = [
            (Concept::Clock, Direct::Clock),
            (Concept::Identity, Direct::Identity),
            (Concept::Help, Direct::Help),
            (Concept::Smalltalk, Direct::Smalltalk),
            (Concept::Greeting, Direct::Greeting),
            (Concept::Thanks, Direct::Thanks),
        ];
        let all = 0..self.words.len();
        let is_sure = whole.best().1 >= ENOUGH;
        if self.only_sends(&all) {
            return Some(Direct::Unsupported);
        }
        let said = KINDS.iter().find(|(concept, _)| self.has(&all, *concept)).map(|(_, direct)| *direct);
        // "… and until which date?" in a sentence about something else asks for no clock.
        let said = said.filter(|direct| *direct != Direct::Clock || self.unexplained() <= MOST_BESIDE_CLOCK);
        if self.words.is_empty() && self.entities.all().is_empty() {
            return Some(Direct::Help);
        }
        let is_polite = matches!(said, Some(Direct::Greeting | Direct::Thanks | Direct::Smalltalk));
        if is_polite && whole.beyond > 0.0 && !is_sure && self.words.len() > 2 {
            return Some(Direct::Unsupported);
        }
        if let Some(direct) = said
            && !is_sure
            && (!self.has(&all, Concept::Vague) || matches!(direct, Direct::Clock | Direct::Identity))
        {
            return Some(direct);
        }
        let hits: Vec<&Hit> = self.hits.iter().collect();
        let is_stranger = self.has(&all, Concept::Person) && self.asks_about_a_stranger(&hits);
        if whole.beyond > whole.best().1 || (is_stranger && !is_sure) {
            return Some(Direct::Unsupported);
        }
        let is_fragment = self.words.len() <= LONGEST_FRAGMENT && !self.asks();
        let has_trace = whole.best().1 > 0.9
            || self.entities.name_something()
            || !(self.entities.topics.is_empty() || self.asks())
            || !self.times.said.is_empty()
            || self.has(&all, Concept::Vague)
            || is_fragment;
        (!has_trace).then_some(Direct::Unsupported)
    }

    /// How many words of weight no cue explains.
    fn unexplained(&self) -> usize {
        let is_one = |at: &usize| {
            let word = &self.words[*at].folded;
            let is_known = self.hits.iter().any(|hit| hit.words.contains(at));
            word.chars().count() > 2 && !is_known && !household::words::is_light(word)
        };
        (0..self.words.len()).filter(is_one).count()
    }

    /// What may have been meant, likeliest first.
    fn choices(&self, whole: &Scores) -> Vec<Intent> {
        let mut likely: Vec<(f64, Intent)> =
            Intent::ALL.into_iter().zip(whole.of).filter(|(_, points)| *points > 0.5).map(|(i, p)| (p, i)).collect();
        likely.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let mut choices: Vec<Intent> = likely.into_iter().map(|(_, intent)| intent).collect();
        let about_people = !(self.entities.people.is_empty() && self.entities.addresses.is_empty());
        let more = match (about_people, self.times.when.is_some()) {
            (true, _) => [Intent::Triage, Intent::Draft, Intent::Schedule],
            (false, true) => [Intent::Schedule, Intent::Triage, Intent::Search],
            (false, false) => [Intent::Search, Intent::Triage, Intent::Draft],
        };
        for intent in more {
            if choices.len() < MOST_CHOICES && !choices.contains(&intent) {
                choices.push(intent);
            }
        }
        choices.truncate(MOST_CHOICES);
        choices
    }

    fn has(&self, clause: &std::ops::Range<usize>, concept: Concept) -> bool {
        self.hits
            .iter()
            .any(|hit| hit.concept == concept && clause.start <= hit.words.start && hit.words.end <= clause.end)
    }
}

/// The most intents of one request.
const MOST_INTENTS: usize = 3;
/// The most choices of a question.
const MOST_CHOICES: usize = 3;
/// A question about the time or the date names no more than this beside it.
const MOST_BESIDE_CLOCK: usize = 1;
/// So few words without a question are no request that could be beyond us.
const LONGEST_FRAGMENT: usize = 4;

#[cfg(test)]
mod tests;
