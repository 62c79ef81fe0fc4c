//! Requests that refer to what was said before: "yes", "the second one", "make it shorter", "and on Tuesday?", "cancel that", "call him".
//!
//! A request that is complete by itself is never taken for a reply. What can be resolved is resolved by number, ordinal, name, word or pronoun;
//! where several things could be meant, the butler asks one question with their names.

use super::dialogue::{Dialogue, Effect};
use super::offers::{step, usual};
use super::place::Place;
use super::thing::Thing;
use super::{Plan, Spoken, Step, reason};
use crate::agent_context::AgentContext;
use crate::intent::{Classification, Intent, classify};
use crate::lexicon::{Concept, Hit, lexicon};
use crate::phrases::plain;
use crate::task::{ABOUT, BEFORE};
use household::Household;
use household::time::words::{Word, words};

/// The most words of a request that only points back.
const LONGEST_FRAGMENT: usize = 10;
/// The most things that a question is looked for in.
const MOST_IN_FOCUS: usize = 10;
/// How far into a request what is to be said begins where it names no recipient, in bytes.
const MOST_BEFORE_CONTENT: usize = 30;
/// The most words of a bare answer such as "yes, please do that".
const LONGEST_ANSWER: usize = 6;

/// What a request comes to that points back; none where it stands on its own.
pub(super) fn resolve(dialogue: &Dialogue, said: &str, read: &Classification, cx: &AgentContext) -> Option<Plan> {
    let reply = Reply::new(said, read, dialogue, cx);
    reply
        .number()
        .or_else(|| reply.choosing())
        .or_else(|| reply.correcting())
        .or_else(|| reply.taking_back())
        .or_else(|| reply.following())
        .or_else(|| reply.sending())
        .or_else(|| reply.editing())
        .or_else(|| reply.who_is_that())
        .or_else(|| reply.about_a_person())
        .or_else(|| reply.pointing())
        .or_else(|| reply.yes_or_no())
        .or_else(|| reply.same_again())
        .or_else(|| reply.of_what_is_spoken_of())
        .or_else(|| reply.in_focus())
}

struct Reply<'a> {
    said: &'a str,
    read: &'a Classification,
    dialogue: &'a Dialogue,
    cx: &'a AgentContext,
    words: Vec<Word>,
    hits: Vec<Hit>,
}

impl<'a> Reply<'a> {
    fn new(said: &'a str, read: &'a Classification, dialogue: &'a Dialogue, cx: &'a AgentContext) -> Self {
        let plain = words(said);
        let words = cx.context.mended(said, &plain);
        let hits = lexicon().hits(&words);
        Self { said, read, dialogue, cx, words, hits }
    }

    fn has(&self, concept: Concept) -> bool {
        self.hits.iter().any(|hit| hit.concept == concept)
    }

    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.folded.as_str())
    }

    fn any_word(&self, list: &str) -> bool {
        self.words.iter().any(|word| list.split_whitespace().any(|one| one == word.folded))
    }

    /// Whether it names something itself, so that it does not have to point.
    fn names_something(&self) -> bool {
        let entities = &self.read.entities;
        entities.name_something() || !entities.topics.is_empty()
    }

    /// Whether its words say nothing but the given concepts and fillers.
    fn only(&self, concepts: &[Concept]) -> bool {
        (0..self.words.len()).all(|at| {
            let mut hits = self.hits.iter().filter(|hit| hit.words.contains(&at)).peekable();
            let is_light = hits.peek().is_none() && household::words::is_light(self.word(at));
            is_light
                || hits.any(|hit| {
                    concepts.contains(&hit.concept)
                        || matches!(hit.concept, Concept::Filler | Concept::It | Concept::Thanks | Concept::Common)
                })
        })
    }

    /// A bare number: what it stands for in the last answer.
    fn number(&self) -> Option<Plan> {
        let bare = self.said.trim().trim_matches(['.', ')', '(', '#', ' ', '!']);
        let number = match bare.parse::<usize>() {
            Ok(number) => number,
            Err(_) => self.spoken_number()?,
        };
        let steps = &self.dialogue.numbered;
        match number.checked_sub(1).and_then(|at| steps.get(at)) {
            Some(step) => Some(Plan::Hand(vec![step.clone()])),
            None if steps.is_empty() => {
                let thing = number.checked_sub(1).and_then(|at| self.dialogue.things.get(at))?;
                Some(Plan::Hand(vec![usual(thing, self.dialogue.last.as_ref()?)]))
            }
            None => Some(self.which()),
        }
    }

    /// Behind a question with choices, a request that says no more than one of them.
    fn choosing(&self) -> Option<Plan> {
        let [meant] = &self.read.intents[..] else { return None };
        if !self.dialogue.is_asked || self.names_something() || !self.read.times.said.is_empty() {
            return None;
        }
        let choice = self.dialogue.numbered.iter().find(|step| step.intent == meant.intent)?;
        let task = format!("{} ({})", self.said.trim(), choice.task);
        Some(Plan::Hand(vec![Step { task, ..choice.clone() }]))
    }

    /// "number 2", "option two", "the second", without anything else to do.
    fn spoken_number(&self) -> Option<usize> {
        if self.words.len() > 4 || !self.read.intents.is_empty() && self.words.len() > 3 {
            return None;
        }
        // "The third one" has one number.
        let is_number = |word: &&Word| word.folded != "one" && number_of(&word.folded).is_some();
        let said: Vec<&Word> = self.words.iter().filter(is_number).collect();
        let rest = self.words.iter().filter(|word| !is_number(word));
        let is_bare = rest.clone().all(|word| COUNTERS.contains(&word.folded.as_str()));
        match &said[..] {
            [one] if is_bare => number_of(&one.folded),
            [] if is_bare && self.any_word("number option") && self.any_word("one") => Some(1),
            _ => None,
        }
    }

    /// "Cancel that", "undo", "never mind": what was done is taken back, where it can be.
    fn taking_back(&self) -> Option<Plan> {
        let is_bare = self.words.len() <= 2 && self.any_word(
                "cancel stop abbrechen storno annuler annule delete loschen losch losche verwerfen supprimer supprime effacer efface",
            );
        let is_undo = self.has(Concept::Undo) || is_bare;
        let begins = self.hits.iter().any(|hit| hit.concept == Concept::No && hit.words.start == 0);
        // "No, sorry, the second" chooses another one.
        let chooses = || self.ordinal(self.dialogue.things.len()).is_some();
        let is_no = begins && self.read.intents.is_empty() && self.words.len() <= LONGEST_ANSWER && !chooses();
        if !(is_undo || is_no) || self.names_something() && !self.any_word("draft entwurf brouillon proposal vorschlag")
        {
            return None;
        }
        let is_plain = self.only(&[
            Concept::Undo,
            Concept::No,
            Concept::Drafts,
            Concept::Smalltalk,
            Concept::Change,
            Concept::Beyond,
            Concept::Vague,
            Concept::Forget,
            Concept::Write,
        ]);
        // "Never mind. When is …?" asks something new.
        let asks_new = !is_plain && (!self.read.intents.is_empty() || self.said.trim_end().ends_with('?'));
        if is_undo && (asks_new || !is_plain && self.words.len() > LONGEST_FRAGMENT) {
            return None;
        }
        // "No" to an offer only leaves it; said behind something that was done, it takes it back.
        let is_refusal = !is_undo && !self.dialogue.just_done;
        let wants_draft = self.any_word("draft entwurf brouillon mail reply antwort reponse");
        let is_wanted = |effect: &&Effect| !wants_draft || matches!(effect, Effect::Draft(_));
        match self.dialogue.done.iter().rev().find(is_wanted) {
            _ if is_refusal => Some(Plan::say(self.cx.speech.say("very_well", &[]))),
            // What was offered and not done needs nothing but silence.
            Some(_) if !self.dialogue.just_done && self.dialogue.yes.is_some() && !wants_draft => {
                Some(Plan::say(self.cx.speech.say("very_well", &[])))
            }
            Some(effect) => Some(Plan::Hand(vec![undo(effect)])),
            None if self.dialogue.yes.is_some() || !self.dialogue.numbered.is_empty() => {
                Some(Plan::say(self.cx.speech.say("very_well", &[])))
            }
            None => Some(Plan::say(self.cx.speech.say("nothing_to_undo", &[]))),
        }
    }

    /// "Send it": never done here.
    fn sending(&self) -> Option<Plan> {
        self.dialogue.draft.as_ref()?;
        // "Add that I send it tomorrow" is about what the draft says.
        let begins_edit = self.hits.iter().any(|hit| hit.concept == Concept::Edit && hit.words.start <= 1);
        let is_sending =
            self.has(Concept::Send) && !begins_edit && !self.names_something() && self.words.len() <= LONGEST_FRAGMENT;
        let is_content = self.is_answer() && self.dialogue.just_done && self.only(&[Concept::Yes, Concept::Smalltalk]);
        (is_sending || is_content).then(|| Plan::say(self.cx.speech.say("draft_stays", &[])))
    }

    /// A change of the draft that is being worked on.
    fn editing(&self) -> Option<Plan> {
        let draft = self.dialogue.draft.as_ref()?;
        let is_near = self.dialogue.just_done;
        // "And ask him for the 45 dollars" goes on with the draft to him.
        let goes_on = ["and", "an", "und", "et", "also", "auch", "aussi"].contains(&self.word(0));
        if is_near && goes_on && self.spoken_to() == Some(2) {
            let name = self.dialogue.person.as_deref().unwrap_or_default();
            let rest = &self.said[self.words[2].at.end..];
            let told = format!("{} {name}{rest}", &self.said[self.words[1].at.clone()]);
            let points = crate::wording::points(&crate::task::SpecialistTask::read(&told, &self.cx.context));
            if !points.is_empty() {
                let (intent, task) = (Intent::Draft, format!("add: {}", points.join(" ")));
                let entities = vec![draft.clone()];
                return Some(Plan::Hand(vec![Step {
                    intent,
                    task,
                    entities,
                    time: None,
                    reason: reason(intent, &[]),
                }]));
            }
        }
        let is_edit = self.has(Concept::Edit);
        let says_draft = self.any_word("draft entwurf brouillon");
        let is_edit = is_edit || is_near && crate::wording::replacement(self.said).is_some();
        if !(is_edit && (is_near || says_draft)) {
            return None;
        }
        Some(Plan::Hand(vec![Step {
            intent: Intent::Draft,
            task: self.said.trim().to_owned(),
            entities: vec![draft.clone()],
            time: None,
            reason: reason(Intent::Draft, &[]),
        }]))
    }

    /// "The second one", "the one from Tom", "that mail", "it": something that was listed.
    fn pointing(&self) -> Option<Plan> {
        let things = &self.dialogue.things;
        if things.is_empty() {
            return None;
        }
        if let Some(at) = self.ordinal(things.len()) {
            // A place that the list does not have is asked about, never guessed.
            return Some(things.get(at).map_or_else(|| self.which(), |thing| self.take(thing)));
        }
        if let Some(thing) = self.by_words() {
            return Some(self.take(thing));
        }
        if let Some(slot) = self.slot_at() {
            return Some(self.take(&slot));
        }
        if let Some(plan) = self.passing_on() {
            return Some(plan);
        }
        if let Some(plan) = self.answering() {
            return Some(plan);
        }
        if self.names_something() || !self.read.times.said.is_empty() && self.dialogue.last.is_none() {
            return None;
        }
        if let Some(plan) = self.without_object() {
            return Some(plan);
        }
        let pointed = self.pointed()?;
        let task = crate::task::SpecialistTask::read(self.said, &self.cx.context);
        // "Which test was it that failed?" asks for something that one of them says.
        let asks = task.is_question() && !task.subject_words().is_empty() && self.words.len() > 3;
        let spoken_of = self.spoken_of();
        if asks && pointed == Pointed::Anything && self.is_open_here(&task) && !spoken_of.is_empty() {
            return Some(Plan::Hand(vec![self.looked_for_in(spoken_of, self.said.trim().to_owned())]));
        }
        let fitting: Vec<&Thing> = things.iter().filter(|thing| pointed.fits(thing)).collect();
        match &fitting[..] {
            [] => None,
            [only] => Some(self.take(only)),
            [first, ..] if matches!(first, Thing::Slot(_) | Thing::Event { .. }) => Some(self.take(first)),
            // Behind an answer by quotation, the first quotation is meant.
            [first, ..] if self.dialogue.by_quotation => Some(self.take(first)),
            _ => Some(self.which()),
        }
    }

    /// "Take two o'clock" behind times that were offered: the one at that hour, or one as long as they are on the same day.
    fn slot_at(&self) -> Option<Thing> {
        let first = self.dialogue.things.iter().find_map(|thing| match thing {
            Thing::Slot(slot) => slot.split_once('/'),
            _ => None,
        })?;
        let is_taken = self.read.intents.iter().all(|meant| meant.intent == Intent::Schedule)
            && (self.has(Concept::Book)
                || self.has(Concept::Yes)
                || self.any_word("take nimm nehme prends prenons lets"))
            && self.words.len() <= LONGEST_ANSWER
            && self.read.times.duration_min.is_none()
            && !self.said.trim_end().ends_with('?');
        if !is_taken || self.names_something() || !self.lacks_day() {
            return None;
        }
        let zone = self.cx.context.now.time_zone().clone();
        let at = |text: &str| Some(text.parse::<jiff::Timestamp>().ok()?.to_zoned(zone.clone()));
        let (start, end) = (at(first.0)?, at(first.1)?);
        let hour = self.read.times.when.as_ref().filter(|when| when.is_exact)?.start.time();
        // "Two" means the afternoon where the morning is not offered.
        let hours = [Some(hour), hour.checked_add(jiff::SignedDuration::from_hours(12)).ok()];
        let offered = self.dialogue.things.iter().find(|thing| match thing {
            Thing::Slot(slot) => slot
                .split_once('/')
                .and_then(|(start, _)| at(start))
                .is_some_and(|start| hours.contains(&Some(start.time()))),
            _ => false,
        });
        if let Some(slot) = offered {
            return Some(slot.clone());
        }
        let begin = start.with().time(hour).build().ok()?;
        let begin = if begin < self.cx.context.now {
            begin.checked_add(jiff::SignedDuration::from_hours(12)).ok()?
        } else {
            begin
        };
        let stop = begin.checked_add(start.duration_until(&end)).ok()?;
        Some(Thing::Slot(format!("{}/{}", crate::task::moment(&begin), crate::task::moment(&stop))))
    }

    /// "Reply: Mats will be there": behind one mail, who is named only in what is to be said is not the one who is written to.
    fn answering(&self) -> Option<Plan> {
        let task = crate::task::SpecialistTask::read(self.said, &self.cx.context);
        let content = task.content()?;
        let from = self.said.find(&content)?;
        let is_reply = self.hits.iter().any(|hit| hit.concept == Concept::Reply && hit.words.start <= 1);
        let entities = &self.read.entities;
        let mut names = entities.people.iter().chain(&entities.addresses);
        let is_named_before = names.any(|name| self.said.find(name.as_str()).is_none_or(|at| at < from));
        let one = match &self.dialogue.things[..] {
            [one @ Thing::Mail { is_suspicious: false, .. }] => one,
            _ => return None,
        };
        (is_reply && !is_named_before && from <= MOST_BEFORE_CONTENT).then(|| self.take_mail(one))
    }

    /// "Forward it to Paul": the mail that is spoken of, to the one who is named.
    fn passing_on(&self) -> Option<Plan> {
        let points =
            self.any_word(IT) || self.any_word("it that this das die es ihn le la ca") || self.pointed().is_some();
        let [mail @ Thing::Mail { is_suspicious, .. }, ..] = &self.dialogue.things[..] else { return None };
        if !self.has(Concept::Forward) || !points || self.words.len() > LONGEST_ANSWER + 2 || *is_suspicious {
            return None;
        }
        let Plan::Hand(mut steps) = self.take_mail(mail) else { return None };
        steps[0].entities.extend(self.read.entities.all());
        Some(Plan::Hand(steps))
    }

    /// A draft that answers a mail with the person's own words.
    fn take_mail(&self, mail: &Thing) -> Plan {
        let (intent, task) = (Intent::Draft, self.said.trim().to_owned());
        let (entities, time) = (vec![mail.entity().to_owned()], self.read.times.words(self.said));
        Plan::Hand(vec![Step { intent, task, entities, time, reason: reason(intent, &[]) }])
    }

    /// "Draft a reply", "who comes along?": a request without its object is about what was spoken of last.
    fn without_object(&self) -> Option<Plan> {
        let task = crate::task::SpecialistTask::read(self.said, &self.cx.context);
        let things = &self.dialogue.things;
        let is_reply =
            matches!(&self.read.intents[..], [meant] if meant.intent == Intent::Draft) && self.has(Concept::Reply);
        if is_reply
            && self.pointed().is_none()
            && let [first @ Thing::Mail { .. }, ..] = &things[..]
        {
            // Who or what is named and not found is asked about: a reply never goes to another one.
            if self.names_which() {
                return Some(self.which());
            }
            let is_one = things.len() == 1 || self.dialogue.yes.as_ref().is_some_and(|yes| yes.intent == Intent::Draft);
            return is_one.then(|| self.take(first));
        }
        let says = |phrases: &[&str]| {
            let said = household::time::words::fold(self.said);
            phrases.iter().any(|phrase| said.contains(phrase))
        };
        // "What should I do?" behind a mail, "why?" behind a habit.
        if let [first @ Thing::Mail { .. }] = &things[..]
            && says(&[
                "what should i do",
                "what do i have to do",
                "was soll ich tun",
                "was muss ich tun",
                "que dois-je faire",
            ])
        {
            return Some(Plan::Hand(vec![step(Intent::Triage, "How urgent is it", first)]));
        }
        if let [first @ Thing::Habit(_), ..] = &things[..]
            && self.words.len() <= 3
            && self.any_word("why warum wieso pourquoi")
        {
            return Some(Plan::Hand(vec![step(Intent::Learn, "Explain why you suggest it", first)]));
        }
        // "Where?" behind an answer from a note or a mail: the calendar may say it of the same thing.
        let last_subject = self
            .dialogue
            .last
            .as_ref()
            .map(|last| crate::task::SpecialistTask::read(&last.task, &self.cx.context).subject_words());
        let is_where = self.words.len() <= 2 && self.any_word("where wo ou");
        let has_event = things.iter().any(|thing| matches!(thing, Thing::Event { .. }));
        if let Some(subject) = last_subject.filter(|subject| is_where && !has_event && !subject.is_empty()) {
            let intent = Intent::Schedule;
            let task = format!("{} {subject}", self.said.trim().trim_end_matches('?'));
            let entities = self.dialogue.last.as_ref().map(|last| last.entities.clone()).unwrap_or_default();
            let entities =
                entities.into_iter().filter(|entity| !entity.contains(':') && !entity.contains('/')).collect();
            return Some(Plan::Hand(vec![Step { intent, task, entities, time: None, reason: reason(intent, &[]) }]));
        }
        // "Who is at the lunch?" behind a list of events is about the one that it names.
        let is_named = |thing: &&Thing| {
            let own = thing.words();
            let mut subject = words(&task.subject_words()).into_iter().map(|word| word.folded);
            matches!(thing, Thing::Event { .. })
                && subject.any(|word| {
                    word.len() > 2 && !household::words::is_light(&word) && own.contains(&format!(" {word} "))
                })
        };
        let named: Vec<&Thing> = things.iter().filter(is_named).collect();
        if let ([only], true) =
            (&named[..], things.len() > 1 && task.is_question() && self.words.len() <= LONGEST_ANSWER)
            && self.read.times.said.is_empty()
            && let Some(last) = &self.dialogue.last
        {
            return Some(Plan::Hand(vec![usual(only, last)]));
        }
        // A bare question about events is answered with the events.
        let asks = self.any_word("who where when how long wer wo wann wie qui ou quand") && task.is_question();
        let subject = task.subject_words();
        let is_bare = subject.split_whitespace().count() <= 2 && self.words.len() <= 5 && self.read.intents.is_empty();
        let is_event = things.iter().all(|thing| matches!(thing, Thing::Event { .. }));
        (asks && is_bare && is_event && self.read.times.said.is_empty())
            .then(|| self.dialogue.last.clone())
            .flatten()
            .map(|last| Plan::Hand(vec![last]))
    }

    /// How many words stand before what a reply is to say; all of them in other requests.
    fn head(&self) -> usize {
        let is_reply = matches!(&self.read.intents[..], [meant] if meant.intent == Intent::Draft);
        if !is_reply {
            return self.words.len();
        }
        let content = crate::task::SpecialistTask::read(self.said, &self.cx.context).content();
        let from = content.and_then(|content| self.said.find(&content)).unwrap_or(self.said.len());
        let cut = self.said[..from].find([',', ':', ';']).unwrap_or(from);
        self.words.iter().take_while(|word| word.at.start < cut).count()
    }

    /// An ordinal that points at a place of a list: behind an article or a preposition, and before nothing that it belongs to.
    fn place(&self) -> Option<Place> {
        let head = self.head();
        let folded: Vec<&str> = self.words[..head].iter().map(|word| word.folded.as_str()).collect();
        (1..head).find_map(|at| {
            let (place, count) = Place::read(&folded[at..])?;
            let is_marked = BEFORE_ORDINAL.split_whitespace().any(|one| one == folded[at - 1]);
            let ends = at + count == head || self.is_one_behind(at + count) || self.is_saying(at + count);
            (is_marked && ends && !self.is_time_beside(at, count)).then_some(place)
        })
    }

    /// Whether what is to be said begins with a word.
    fn is_saying(&self, at: usize) -> bool {
        self.hits.iter().any(|hit| hit.concept == Concept::Saying && hit.words.start == at)
            || ["dass", "das", "que", "qu", "that", "with", "mit", "avec", "davon", "von"].contains(&self.word(at))
    }

    /// Whether an ordinal is part of a time: "the fourth of May", not "the 4th" alone.
    fn is_time_beside(&self, at: usize, count: usize) -> bool {
        let is_more = |said: &std::ops::Range<usize>| {
            self.words.iter().enumerate().any(|(other, word)| {
                let is_own = (at..at + count).contains(&other);
                let is_mark = BEFORE_ORDINAL.split_whitespace().any(|one| one == word.folded);
                said.contains(&word.at.start) && !is_own && !is_mark
            })
        };
        let is_reply = self.has(Concept::Reply);
        let place = self.words[at].at.start;
        self.read.times.said.iter().any(|said| said.contains(&place) && (!is_reply || is_more(said)))
    }

    /// Whether a reply names the mail that it answers with words that say neither how nor what is to be answered.
    fn names_which(&self) -> bool {
        let head = self.head();
        let Some(verb) = self.hits.iter().find(|hit| hit.concept == Concept::Reply && hit.words.end <= head) else {
            return false;
        };
        let is_mark = |word: &str| BEFORE_ORDINAL.split_whitespace().any(|one| one == word);
        let marks = (verb.words.end..head).take_while(|at| is_mark(self.word(*at))).count();
        let at = verb.words.end + marks;
        if at >= head {
            return false;
        }
        let word = self.word(at);
        let is_name = self.said[self.words[at].at.clone()].chars().next().is_some_and(char::is_uppercase);
        let is_known = household::words::is_light(word)
            || self.kind_at(at).is_some()
            || self.hits.iter().any(|hit| hit.words.contains(&at) && !is_ordinal(hit.concept));
        let is_counted = Place::read(&[word]).is_some() || number_of(word).is_some();
        marks > 0 && (is_counted || !is_known) || is_name && !is_known
    }

    /// Which of several is meant by its place, counted from 0; a place behind the end of the list is one that it does not have.
    fn ordinal(&self, number: usize) -> Option<usize> {
        let head = self.head();
        let until = self.words.get(head).map_or(self.said.len(), |word| word.at.start);
        let entities = &self.read.entities;
        // Who is named in what is to be said is not the one who is written to.
        let is_place = |name: &str| Place::read(&[household::time::words::fold(name).as_str()]).is_some();
        let names_who = match head == self.words.len() {
            true => entities.name_something(),
            false => entities
                .all()
                .iter()
                .filter(|name| !is_place(name))
                .any(|name| self.said.find(name.as_str()).is_none_or(|at| at < until)),
        };
        if head > 14 || names_who || number == 0 {
            return None;
        }
        let numbered = (0..head).find_map(|at| {
            let before = at.checked_sub(1).map(|before| self.word(before)).unwrap_or_default();
            let is_marked = [
                "number", "nr", "nummer", "no", "option", "numero", "to", "auf", "au", "mail", "one", "zu", "die",
                "la", "le",
            ]
            .contains(&before);
            let is_time = self.read.times.said.iter().any(|said| said.contains(&self.words[at].at.start));
            self.word(at).parse::<usize>().ok().filter(|_| is_marked && !is_time)
        });
        if let Some(number) = numbered {
            return number.checked_sub(1);
        }
        if let Some(place) = self.place() {
            return Some(place.among(number).unwrap_or(usize::MAX));
        }
        // Mails are listed with the newest first.
        let is_mail = self.dialogue.things.iter().all(|thing| matches!(thing, Thing::Mail { .. }));
        if is_mail && self.words.len() <= 5 && self.any_word("latest newest neueste neuesten dernier derniere recent") {
            return Some(0);
        }
        let ordinals = [(Concept::First, 0), (Concept::Second, 1), (Concept::Third, 2)];
        let is_own = |hit: &&Hit| {
            // "first" before a verb is an order of things to do, "the first week" a time.
            let at = self.words[hit.words.start].at.start;
            !self.read.times.said.iter().any(|said| said.contains(&at))
                && (hit.words.end == self.words.len() || hit.words.len() > 1 || self.is_one_behind(hit.words.end))
        };
        let counted = ordinals
            .into_iter()
            .find(|(concept, _)| self.hits.iter().filter(|hit| hit.concept == *concept).any(|hit| is_own(&hit)));
        let last = || {
            let is_last = self.hits.iter().filter(|hit| hit.concept == Concept::Last).any(|hit| is_own(&hit));
            is_last.then(|| number - 1)
        };
        counted.map(|(_, at)| at).or_else(last)
    }

    /// Whether a noun for a thing of a list, or nothing of weight, follows.
    fn is_one_behind(&self, at: usize) -> bool {
        let next = self.word(at);
        [
            "", "one", "mail", "email", "message", "note", "slot", "time", "option", "please", "bitte", "termin",
            "notiz", "and", "und", "et", "teil", "dabei", "statt", "about", "say", "says", "start", "end", "over",
        ]
        .contains(&next)
            || self.kind_at(at).is_some()
    }

    /// The one thing of a list that a word of the request names, if the request does no more than choose.
    fn by_words(&self) -> Option<&Thing> {
        let is_choice =
            self.any_word("one die den das celui celle") || self.words.len() <= 4 && self.read.intents.is_empty();
        if !is_choice || self.dialogue.things.len() < 2 {
            return None;
        }
        let says_something = |word: &&Word| {
            word.folded.len() > 2
                && !self.hits.iter().any(|hit| {
                    self.words[hit.words.clone()].contains(word)
                        && matches!(
                            hit.concept,
                            Concept::Filler
                                | Concept::Question
                                | Concept::It
                                | Concept::Look
                                | Concept::Yes
                                | Concept::No
                                | Concept::Vague
                        )
                })
                && !["one", "from", "about", "with", "von", "mit", "zu", "de", "sur"].contains(&word.folded.as_str())
                && word.folded != "the"
        };
        let wanted: Vec<&Word> = self.words.iter().filter(says_something).collect();
        if wanted.is_empty() {
            return None;
        }
        let is_meant = |thing: &&Thing| {
            let words = thing.words();
            wanted
                .iter()
                .all(|word| words.contains(&format!(" {}", word.folded)) || Household::holds_word(&words, &word.folded))
        };
        let mut meant = self.dialogue.things.iter().filter(is_meant);
        match (meant.next(), meant.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }

    /// What a pronoun or "that mail" points at.
    fn pointed(&self) -> Option<Pointed> {
        (0..self.words.len()).find_map(|at| {
            let is_time = self.read.times.said.iter().any(|said| said.contains(&self.words[at].at.start));
            let (word, next) = (self.word(at), self.word(at + 1));
            let is_free = |list: &str| list.split_whitespace().any(|one| one == word);
            if is_free(DEMONSTRATIVES)
                && let Some(kind) = self.kind_at(at + 1)
            {
                return Some(kind);
            }
            let is_alone = next.is_empty() || BEHIND_PRONOUN.split_whitespace().any(|one| one == next);
            let is_it = is_free(IT) && !is_time && !self.has(Concept::Clock);
            let is_that = is_free("that this those these das dies diese ca cela")
                && is_alone
                && (next.is_empty() || !self.has(Concept::Saying));
            (is_it || is_that).then_some(Pointed::Anything)
        })
    }

    /// The kind of thing that a noun names.
    fn kind_at(&self, at: usize) -> Option<Pointed> {
        let noun = self.word(at);
        let is = |list: &str| !noun.is_empty() && list.split_whitespace().any(|one| one == noun);
        match () {
            () if is("mail email mails message letter thread conversation nachricht courriel mel") => {
                Some(Pointed::Mail)
            }
            () if is("note notiz page file document dokument") => Some(Pointed::Note),
            () if is("draft entwurf brouillon") => Some(Pointed::Draft),
            () if is("meeting appointment event termin call rendez reunion treffen") => Some(Pointed::Event),
            () if is("slot time zeit creneau") => Some(Pointed::Slot),
            () if is("one") => Some(Pointed::Anything),
            () => None,
        }
    }

    /// Does with a thing what was asked, or what follows from what it is.
    fn take(&self, thing: &Thing) -> Plan {
        let asked = self.read.intents.first();
        if let (Thing::Mail { is_suspicious: true, .. }, Some(Intent::Draft)) = (thing, asked.map(|meant| meant.intent))
        {
            return Plan::say(self.cx.speech.say("suspicious_not_answered", &[("why", "")]).trim_end().to_owned());
        }
        let last = self.dialogue.last.clone().unwrap_or_else(|| step(Intent::Triage, "", thing));
        let mut usual = usual(thing, &last);
        // "Take the first one for the planting plan" says what it is for.
        let purpose =
            ["for ", "für ", "pour "].iter().find_map(|mark| Some(self.said.split_once(&format!(" {mark}"))?.1.trim()));
        if let (Thing::Slot(_), Some(purpose)) = (thing, purpose.filter(|purpose| purpose.len() > 3)) {
            usual.task = format!("Book: {purpose}");
        }
        let task = crate::task::SpecialistTask::read(self.said, &self.cx.context);
        let asks = task.is_question() && !task.subject_words().is_empty();
        let Some(meant) = asked else {
            // When, where and with whom an event is, the calendar tells.
            let is_told = matches!(thing, Thing::Event { .. })
                && self
                    .any_word("who whom where when wer wem wo wann qui ou quand teil dabei attend attends attending");
            if is_told {
                return Plan::Hand(vec![usual]);
            }
            if asks && matches!(thing, Thing::Note { .. } | Thing::Event { .. }) {
                // "How long is it?" asks for something that the thing may say.
                let entities = vec![format!("{ABOUT}{}", thing.entity())];
                let (intent, task) = (Intent::Search, self.said.trim().to_owned());
                return Plan::Hand(vec![Step { intent, task, entities, time: None, reason: super::OPEN.to_owned() }]);
            }
            return Plan::Hand(vec![usual]);
        };
        let is_kind = match thing {
            // A time is taken, whatever the verb, unless a mail is to speak of it.
            Thing::Slot(_) => meant.intent == Intent::Draft,
            Thing::Mail { .. } => matches!(meant.intent, Intent::Triage | Intent::Draft),
            Thing::Note { .. } => matches!(meant.intent, Intent::Search | Intent::Draft),
            Thing::Habit(_) => meant.intent == Intent::Learn,
            Thing::Event { .. } | Thing::Person(_) | Thing::Draft(_) => true,
        };
        if !is_kind {
            return Plan::Hand(vec![usual]);
        }
        let mut entities = self.read.entities.all();
        entities.push(thing.entity().to_owned());
        let task = match thing {
            Thing::Event { title, .. } => format!("{} ({title})", self.said.trim()),
            _ => self.said.trim().to_owned(),
        };
        let time = self.read.times.words(self.said);
        Plan::Hand(vec![Step {
            intent: meant.intent,
            task,
            entities,
            time,
            reason: reason(meant.intent, &meant.because),
        }])
    }

    /// One question with the names of what may be meant.
    fn which(&self) -> Plan {
        let last = self.dialogue.last.clone();
        let things = self.dialogue.things.iter().take(5);
        let lines: Vec<String> = things
            .clone()
            .enumerate()
            .map(|(at, thing)| format!("{}. {}", at + 1, plain(&self.named(thing), 160)))
            .collect();
        let numbered = things.map(|thing| {
            let asked = self.read.intents.first();
            match (asked, &last) {
                (Some(meant), _) if self.words.len() > 1 => step(meant.intent, self.said.trim(), thing),
                (_, Some(last)) => usual(thing, last),
                (_, None) => step(Intent::Triage, self.said.trim(), thing),
            }
        });
        let speech = self.cx.speech;
        let text =
            format!("{}\n\n{}\n\n{}", speech.say("which", &[]), lines.join("\n"), speech.say("which_number", &[]));
        Plan::Say(Spoken { text, numbered: numbered.collect(), yes: None })
    }

    fn named(&self, thing: &Thing) -> String {
        match thing {
            Thing::Slot(slot) => {
                let (start, end) = slot.split_once('/').unwrap_or((slot, ""));
                self.cx.dates.span(start, end)
            }
            other => other.called(),
        }
    }

    /// "Yes" accepts what was offered, exactly as it was offered.
    fn yes_or_no(&self) -> Option<Plan> {
        let is_answer = self.read.intents.is_empty() || self.only(&[Concept::Yes]);
        if !(self.is_answer() && is_answer && self.words.len() <= LONGEST_ANSWER && !self.names_something()) {
            return None;
        }
        match &self.dialogue.yes {
            Some(step) => Some(Plan::Hand(vec![step.clone()])),
            None if self.dialogue.last.is_some() || self.dialogue.numbered.is_empty() => {
                let is_polite = self.has(Concept::Smalltalk) && self.dialogue.last.is_none();
                (!is_polite).then(|| Plan::say(self.cx.speech.say("gladly", &[])))
            }
            None => None,
        }
    }

    /// Whether it says yes, and does not ask for another time or thing with it.
    fn is_answer(&self) -> bool {
        self.has(Concept::Yes) && self.read.times.said.is_empty() && !self.said.trim_end().ends_with('?')
    }

    /// "What is her number?", "when did I last write to him?": the person who was spoken of.
    fn about_a_person(&self) -> Option<Plan> {
        let person = self.dialogue.person.as_ref()?;
        let names_who = !(self.read.entities.people.is_empty() && self.read.entities.addresses.is_empty());
        // "Write him that Dana gets access": who is written to stands before those who are spoken of.
        if names_who && self.spoken_to().is_none() {
            return None;
        }
        let at = (0..self.words.len()).find(|at| {
            let word = self.word(*at);
            // "Sie" in the middle of a sentence and written small is a person, or several.
            let is_sie = *at > 0 && &self.said[self.words[*at].at.clone()] == "sie";
            is_sie
                || PERSONS.split_whitespace().any(|one| one == word)
                || POSSESSIVES.split_whitespace().any(|one| one == word)
        })?;
        // "Her" is not the one who was "he" before: whom it is for has to be asked.
        let is_other = |gender: super::dialogue::Gender| self.dialogue.gender.is_some_and(|known| known != gender);
        if self.spoken_to() == Some(at) && super::dialogue::Gender::of(self.word(at)).is_some_and(is_other) {
            return Some(Plan::say(self.cx.speech.say("which_draft", &[])));
        }
        // "Tell her she …", "tell her that …" speak to a person; "her number" is about one.
        let is_in = |list: &str, word: &str| list.split_whitespace().any(|one| one == word);
        let is_object = at > 0 && is_in(SPEAKING, self.word(at - 1)) || is_in(BEHIND_OBJECT, self.word(at + 1));
        let is_possessive = is_in(POSSESSIVES, self.word(at)) && !self.word(at + 1).is_empty() && !is_object;
        let place = self.words[at].at.clone();
        let name = if is_possessive { format!("{person}'s") } else { person.clone() };
        let task = format!("{}{name}{}", &self.said[..place.start], &self.said[place.end..]);
        let task_said = task.clone();
        let read = classify(&task, &self.cx.context);
        let mut steps = super::steps(&read, self.cx);
        if steps.is_empty() {
            let intent = Intent::Search;
            steps.push(Step { intent, task, entities: Vec::new(), time: None, reason: reason(intent, &[]) });
        }
        // What is on a person's card is looked up there, whatever else the words may mean.
        let asked = crate::person::Asked::of(&crate::task::SpecialistTask::read(&task_said, &self.cx.context));
        use crate::person::Asked::{Address, Birthday, Mail, Phone};
        if matches!(asked, Phone | Mail | Birthday | Address) {
            let intent = Intent::Search;
            steps =
                vec![Step { intent, task: task_said, entities: Vec::new(), time: None, reason: reason(intent, &[]) }];
        }
        for step in &mut steps {
            step.entities.push(person.clone());
        }
        // What is spoken of may say it: "why can't she fetch it herself?".
        let (things, is_open) =
            (self.spoken_of(), self.is_open_here(&crate::task::SpecialistTask::read(self.said, &self.cx.context)));
        if let [only] = &mut steps[..]
            && only.intent == Intent::Search
            && asked == crate::person::Asked::Nothing
            && !things.is_empty()
            && is_open
        {
            return Some(Plan::Hand(vec![self.looked_for_in(things, only.task.clone())]));
        }
        // "Until when does she need it?": "it" is what was told.
        let own = words(&crate::task::SpecialistTask::read(self.said, &self.cx.context).subject_words());
        let has_own = own.iter().filter(|word| !household::words::is_light(&word.folded)).count() > 1;
        let points_at_thing =
            !has_own && self.any_word("it them es das davon ca cela en") && self.said.trim_end().ends_with('?');
        if let [only] = &mut steps[..]
            && matches!(only.intent, Intent::Schedule | Intent::Triage | Intent::Search)
            && points_at_thing
            && asked == crate::person::Asked::Nothing
            && self.spoken_to().is_none()
            && !self.spoken_of().is_empty()
        {
            return Some(Plan::Hand(vec![self.looked_for_in(self.spoken_of(), only.task.clone())]));
        }
        Some(Plan::Hand(steps))
    }

    /// "And who is that?": the one from whom the last answer came; where there are several, it is asked who is meant.
    fn who_is_that(&self) -> Option<Plan> {
        let folded: Vec<&str> = self.words.iter().map(|word| word.folded.as_str()).collect();
        let from = folded.iter().position(|word| !["and", "und", "et", "but", "aber", "so"].contains(word))?;
        let is_asked = match &folded[from..] {
            [who, verb, rest @ ..] | [who, verb, rest @ .., _] if rest.len() <= 2 => {
                ["who", "wer", "qui"].contains(who) && ["is", "are", "ist", "sind", "est"].contains(verb)
            }
            [who, rest @ ..] => ["whos", "who's"].contains(who) && rest.len() <= 2,
            _ => false,
        };
        let points = folded.iter().any(|word| WHO_IS.split_whitespace().any(|one| one == *word));
        if !is_asked || !points || !self.read.entities.people.is_empty() {
            return None;
        }
        let mut names: Vec<&String> = Vec::new();
        for thing in &self.dialogue.things {
            if let Thing::Mail { from: name, .. } | Thing::Person(name) = thing
                && !names.contains(&name)
            {
                names.push(name);
            }
        }
        // Who was named is meant, unless several things are spoken of.
        if names.len() < 2 {
            names = self.dialogue.person.iter().chain(names).take(1).collect();
        }
        let intent = Intent::Search;
        let about = |name: &String| Step {
            intent,
            task: format!("{} {name}?", self.cx.speech.say("who_is", &[])),
            entities: vec![name.clone()],
            time: None,
            reason: reason(intent, &[]),
        };
        match &names[..] {
            [] => None,
            [only] => Some(Plan::Hand(vec![about(only)])),
            several => {
                let shown = several.iter().take(MOST_NAMES);
                let lines: Vec<String> =
                    shown.clone().enumerate().map(|(at, name)| format!("{}. {}", at + 1, plain(name, 80))).collect();
                let speech = self.cx.speech;
                let text = format!(
                    "{}\n\n{}\n\n{}",
                    speech.say("which_person", &[]),
                    lines.join("\n"),
                    speech.say("number_enough", &[])
                );
                Some(Plan::Say(Spoken { text, numbered: shown.map(|name| about(name)).collect(), yes: None }))
            }
        }
    }

    /// Where the pronoun of the one who is to be told something stands, before any name: "write him that Dana …".
    fn spoken_to(&self) -> Option<usize> {
        let at = self.words.windows(2).position(|pair| {
            let is_in = |list: &str, word: &Word| list.split_whitespace().any(|one| one == word.folded);
            is_in(TELLING, &pair[0]) && is_in(PERSONS, &pair[1])
        })? + 1;
        let place = self.words[at].at.start;
        let entities = &self.read.entities;
        let mut named = entities.people.iter().chain(&entities.addresses).filter_map(|name| self.said.find(name));
        (at <= MOST_BEFORE && named.all(|named| named > place)).then_some(at)
    }

    /// "No, I meant Thursday", "rather an hour later": what was asked last, or done, for another time or person.
    fn correcting(&self) -> Option<Plan> {
        let last = self.dialogue.last.as_ref().filter(|last| last.intent != Intent::Draft)?;
        let folded = household::time::words::fold(self.said);
        let begins = CORRECTING.split_whitespace().any(|one| one == self.word(0));
        let means = MEANING.iter().any(|meaning| folded.contains(meaning));
        let entities = &self.read.entities;
        let names_who = !(entities.people.is_empty() && entities.addresses.is_empty());
        let changes =
            self.beside().is_some() || !self.read.times.said.is_empty() || names_who || self.bare_hour().is_some();
        let is_new = !means && !self.read.intents.is_empty() && self.words.len() > LONGEST_ANSWER;
        if !(begins || means) || !changes || is_new || self.words.len() > LONGEST_FRAGMENT + 2 {
            return None;
        }
        let step = self.edited(last, last.intent, names_who);
        // What was entered for the wrong time is taken back first.
        let undone =
            self.dialogue.done.last().filter(|effect| self.dialogue.just_done && matches!(effect, Effect::Proposal(_)));
        Some(Plan::Hand(undone.map(undo).into_iter().chain([step]).collect()))
    }

    /// A time that is told from the one that is spoken of: "the day after", "a week later", "an hour later", "the Thursday after that".
    fn beside(&self) -> Option<String> {
        let now = &self.cx.context.now;
        let base = self.dialogue.when(now)?;
        let folded = household::time::words::fold(self.said);
        let day = |days: i64| base.start.date().checked_add(jiff::Span::new().try_days(days).ok()?).ok();
        if let Some(day) = self.in_that_month(&base) {
            return Some(day);
        }
        let is_weekend = self.any_word("weekend wochenende") && AFTER.iter().any(|after| folded.contains(after));
        if is_weekend {
            let ahead = 6 - i64::from(base.start.weekday().to_monday_one_offset());
            let saturday = day(if ahead <= 0 { ahead + 7 } else { ahead })?;
            return Some(format!("from {saturday} to {}", saturday.tomorrow().ok()?));
        }
        let is_beside_today = self.any_word("tomorrow yesterday morgen gestern demain hier today heute");
        if let Some((_, days)) = BESIDE.iter().find(|(said, _)| folded.contains(said)).filter(|_| !is_beside_today) {
            return Some(day(*days)?.to_string());
        }
        if let Some(sign) = LATER.iter().find(|(said, _)| folded.contains(said)).map(|(_, sign)| *sign)
            && let Some(minutes) = self.read.times.duration_min.filter(|_| base.is_exact)
        {
            let then = base.start.checked_add(jiff::SignedDuration::from_mins(sign * minutes)).ok()?;
            return Some(then.strftime("%Y-%m-%d %H:%M").to_string());
        }
        // A weekday behind a day of another week is in that week, or behind that day where it says so.
        let said = self.read.times.when.as_ref().filter(|_| self.read.times.said.len() == 1)?;
        let is_bare = self.read.times.words(self.said).is_some_and(|words| words.split_whitespace().count() == 1);
        let is_day = said.start.checked_add(jiff::ToSpan::day(1)).ok().is_some_and(|end| end == said.end);
        let is_named = household::time::names_weekday(self.said);
        let is_far = base.start.date() > now.date().checked_add(jiff::ToSpan::days(6)).ok()?;
        let is_after = AFTER.iter().any(|after| folded.contains(after));
        if !(is_bare && is_day && is_named && (is_far || is_after)) {
            return None;
        }
        let ahead = i64::from(said.start.weekday().to_monday_zero_offset())
            - i64::from(base.start.weekday().to_monday_zero_offset());
        let ahead = if is_after && ahead <= 0 { ahead + 7 } else { ahead };
        Some(day(ahead)?.to_string())
    }

    /// "Make it ten instead": behind something that was entered, a bare number is an hour.
    fn bare_hour(&self) -> Option<String> {
        let is_entered = self.dialogue.just_done && matches!(self.dialogue.done.last(), Some(Effect::Proposal(_)));
        if !is_entered || !self.read.times.said.is_empty() || !self.read.entities.people.is_empty() {
            return None;
        }
        let hour = |word: &&Word| {
            let is_number = household::time::parse(&format!("at {}", word.folded), &self.cx.context.now).when.is_some();
            is_number && word.folded != "one"
        };
        self.words.iter().find(hour).map(|word| format!("at {}", word.folded))
    }

    /// "The 21st" behind a day of another month is in that month.
    fn in_that_month(&self, base: &household::time::When) -> Option<String> {
        let now = self.cx.context.now.date();
        let words = self.read.times.words(self.said)?;
        let folded = household::time::words::fold(&words);
        let bare = ["the ", "am ", "der ", "den ", "le "].iter().find_map(|mark| folded.strip_prefix(mark));
        let bare = bare.unwrap_or(&folded).trim_end_matches('.');
        let digits = bare.trim_end_matches(|character: char| character.is_ascii_alphabetic());
        let is_day =
            !digits.is_empty() && bare.len() - digits.len() <= 3 && !digits.contains(|c: char| !c.is_ascii_digit());
        let day: i8 = digits.parse().ok().filter(|_| is_day)?;
        let date = base.start.date();
        let is_other = (date.year(), date.month()) != (now.year(), now.month());
        jiff::civil::Date::new(date.year(), date.month(), day).ok().filter(|_| is_other).map(|date| date.to_string())
    }

    /// "And the one after that?": the next of the events that were spoken of.
    fn following(&self) -> Option<Plan> {
        let folded = household::time::words::fold(self.said);
        let is_meant = self.words.len() <= LONGEST_FRAGMENT && FOLLOWING.iter().any(|said| folded.contains(said));
        let [Thing::Event { title, day: Some(day), .. }, ..] = &self.dialogue.things[..] else { return None };
        let (title, from) = (title.clone(), day.tomorrow().ok().filter(|_| is_meant)?);
        let to = from.checked_add(jiff::ToSpan::days(MOST_DAYS_AHEAD)).ok()?;
        let time = format!("from {from} to {to}");
        let intent = Intent::Schedule;
        let task = format!("When is the next \"{title}\" {time}");
        Some(Plan::Hand(vec![Step {
            intent,
            task,
            entities: Vec::new(),
            time: Some(time),
            reason: reason(intent, &[]),
        }]))
    }

    /// What was asked last, with the time or the person that is said instead.
    fn edited(&self, last: &Step, intent: Intent, names_who: bool) -> Step {
        let own_time = self.beside().or_else(|| self.read.times.words(self.said)).or_else(|| self.bare_hour());
        let lacks_day = self.lacks_day() || self.bare_hour().is_some();
        let time = match (self.beside().is_none() && lacks_day && own_time.is_some(), &self.dialogue.day) {
            (true, Some(day)) => own_time.map(|own| format!("{day} {own}")),
            _ => own_time,
        };
        let read = classify(&last.task, &self.cx.context);
        // Another day alone leaves the hour as it was.
        let hour =
            read.times.when.as_ref().filter(|when| when.is_exact).map(|when| when.start.strftime("%H:%M").to_string());
        let names_hour = self.bare_hour().is_some()
            || self.read.times.when.as_ref().is_none_or(|when| when.is_exact)
            || self.read.times.part_of_day.is_some();
        let time = match (time, hour.filter(|_| !names_hour && self.dialogue.just_done)) {
            (Some(time), Some(hour)) => Some(format!("{time} {hour}")),
            (time, _) => time,
        };
        let before = without_times(&last.task, self.cx);
        // How long it takes stays, unless another length is said.
        let length = classify(&last.task, &self.cx.context).times.duration_min;
        let is_shift = self.beside().is_some();
        let length = length.filter(|_| is_shift || self.read.times.duration_min.is_none());
        let length = length.map(|minutes| format!(" for {minutes} min")).unwrap_or_default();
        let task = match (&time, names_who) {
            // Only the time is another: the request is the same with that time.
            (Some(time), false) => format!("{before} {time}{length}"),
            _ => format!("{} ({before})", self.said.trim()),
        };
        let mut entities = self.read.entities.all();
        if !names_who {
            let is_kept =
                |entity: &&String| !entity.contains('/') && !entity.ends_with(".md") && !entity.starts_with(ABOUT);
            entities.extend(last.entities.iter().filter(is_kept).cloned());
        }
        Step { intent, task, entities, time, reason: reason(intent, &[]) }
    }

    /// "And tomorrow?", "what about Tom?", "anything after six?": what was asked last, for another time, person or thing.
    fn same_again(&self) -> Option<Plan> {
        let last = self.dialogue.last.as_ref()?;
        // Behind a question about one of the events of a day, another day asks for its events.
        let is_inside = last.entities.iter().any(|entity| entity.starts_with(ABOUT));
        let is_event = matches!(self.dialogue.things[..], [Thing::Event { .. }, ..]);
        let is_day = (is_inside || last.time.is_none()) && is_event && self.words.len() <= 4 && !self.lacks_day();
        let last = self.dialogue.listing.as_ref().filter(|_| is_day).unwrap_or(last);
        let is_short = self.words.len() <= LONGEST_FRAGMENT;
        let begins = |list: &str| list.split_whitespace().any(|one| one == self.word(0));
        let openings = ["what about", "how about", "was ist mit", "wie sieht es", "und ", "and ", "et "];
        let lower = self.said.trim_start().to_lowercase();
        // "Good. And Saturday?"
        let rest = lower
            .split_once(['.', '!', ','])
            .map_or("", |(before, rest)| if before.len() < 12 { rest.trim_start() } else { "" });
        let is_about = openings.iter().any(|opening| lower.starts_with(opening) || rest.starts_with(opening));
        let goes_on = begins("and und et what how was wie") || !rest.is_empty();
        let entities = &self.read.entities;
        let is_timed = !self.read.times.said.is_empty();
        let names_who = !entities.people.is_empty() || !entities.addresses.is_empty();
        let is_new = !self.read.intents.is_empty() && !is_about;
        // A time of day alone belongs to the day that is spoken of.
        let lacks_day = is_timed && self.lacks_day();
        let is_same_kind = self.read.intents.iter().all(|meant| meant.intent == last.intent);
        let continues = is_short && lacks_day && is_same_kind && last.intent == Intent::Schedule && !names_who;
        let is_beside = self.beside().is_some();
        if continues
            || (is_short && is_beside && last.intent == Intent::Schedule)
            || (is_short
                && !is_new
                && (self.read.direct.is_none() || is_timed && self.is_courteous())
                && (is_timed || names_who)
                && (is_about || !self.has_own_subject()))
            || (is_short && is_about && goes_on && (is_timed || names_who))
        {
            let intent = match &self.read.intents[..] {
                [meant] if !is_about && !is_beside => meant.intent,
                _ => last.intent,
            };
            return Some(Plan::Hand(vec![self.edited(last, intent, names_who)]));
        }
        None
    }

    /// Whether it is taken for no more than a courtesy: "ok then".
    fn is_courteous(&self) -> bool {
        use crate::intent::Direct::{Greeting, Smalltalk, Thanks};
        matches!(self.read.direct, Some(Smalltalk | Thanks | Greeting))
    }

    /// Whether it says what it is about, besides a person and a time: then it is a question of its own.
    fn has_own_subject(&self) -> bool {
        let task = crate::task::SpecialistTask::read(self.said, &self.cx.context);
        let people: Vec<String> =
            self.read.entities.all().iter().flat_map(|name| words(name)).map(|word| word.folded).collect();
        let subject = words(&crate::scheduler::subject(&task));
        subject.iter().filter(|word| !people.contains(&word.folded) && word.folded.len() > 2).count() > 1
    }

    /// A question that names nothing new is looked for in what is spoken of, and only then everywhere: "what should we bring?".
    fn of_what_is_spoken_of(&self) -> Option<Plan> {
        let things = self.spoken_of();
        let is_short = self.words.len() <= LONGEST_FRAGMENT + 4;
        let is_new = self.names_something() || !self.read.times.said.is_empty() || self.has(Concept::Note);
        let task = crate::task::SpecialistTask::read(self.said, &self.cx.context);
        let asks = task.is_question() || !task.subject_words().is_empty() && self.words.len() <= LONGEST_FRAGMENT;
        if things.is_empty() || !is_short || !self.is_open_here(&task) || is_new || !asks {
            return None;
        }
        Some(Plan::Hand(vec![self.looked_for_in(things, self.said.trim().to_owned())]))
    }

    /// Mails, notes and events that are spoken of, as entities in which a question is looked for.
    fn spoken_of(&self) -> Vec<String> {
        let is_text = |thing: &&Thing| {
            matches!(thing, Thing::Mail { is_suspicious: false, .. } | Thing::Note { .. } | Thing::Event { .. })
        };
        let things = self.dialogue.things.iter().filter(is_text).take(MOST_IN_FOCUS);
        things.map(|thing| format!("{ABOUT}{}", thing.entity())).collect()
    }

    /// A search in what is spoken of, with the question that led to it.
    fn looked_for_in(&self, mut entities: Vec<String>, task: String) -> Step {
        entities.extend(self.dialogue.last.as_ref().map(|last| format!("{BEFORE}{}", plain(&last.task, 200))));
        Step { intent: Intent::Search, task, entities, time: None, reason: super::OPEN.to_owned() }
    }

    /// Whether a question does not say by itself where it is answered: no rule is sure, or it only asks where, who, how or why.
    fn is_open_here(&self, task: &crate::task::SpecialistTask) -> bool {
        use Concept::{
            Briefing, Busy, Calendar, Conflict, Day, Drafts, Genuine, Inbox, Learn, Preference, Unread, Urgent,
        };
        let is_unsure = self.read.question.is_some()
            || self.read.direct == Some(crate::intent::Direct::Unsupported)
            || matches!(&self.read.intents[..], [meant] if meant.intent == Intent::Search);
        let is_complete = task.has_any(&[
            Briefing, Busy, Calendar, Conflict, Day, Drafts, Genuine, Inbox, Learn, Preference, Unread, Urgent,
        ]);
        let is_looked_for =
            matches!(&self.read.intents[..], [meant] if matches!(meant.intent, Intent::Schedule | Intent::Triage));
        is_unsure || is_looked_for && !is_complete && (self.any_word(OPEN_QUESTIONS) || self.any_word(THINGS))
    }

    /// A short open question without a name is about the person who was spoken of: "flight number?" behind "when does Dad arrive?".
    fn in_focus(&self) -> Option<Plan> {
        let person = self.dialogue.person.as_ref().filter(|_| self.dialogue.last.is_some())?;
        let is_short = self.words.len() <= 6 && !self.names_something() && self.read.times.said.is_empty();
        let is_outside = self.has(Concept::Beyond) && !super::beyond_words(self.said, self.cx).is_empty();
        let is_new = !self.read.intents.is_empty() || is_outside && !self.has(Concept::Person);
        let task = crate::task::SpecialistTask::read(self.said, &self.cx.context);
        if !is_short
            || is_new
            || task.subject_words().is_empty()
            || !matches!(self.read.direct, None | Some(crate::intent::Direct::Unsupported))
        {
            return None;
        }
        let intent = Intent::Search;
        let said = self.said.trim().trim_end_matches('?').trim_end();
        let task = format!("{said} ({person})?");
        Some(Plan::Hand(vec![Step {
            intent,
            task,
            entities: vec![person.clone()],
            time: None,
            reason: reason(intent, &[]),
        }]))
    }

    /// Whether the time that is said names no day.
    fn lacks_day(&self) -> bool {
        let now = &self.cx.context.now;
        let Some(when) = &self.read.times.when else { return self.read.times.part_of_day.is_some() };
        let later = now.tomorrow().ok().and_then(|later| household::time::parse(self.said, &later).when);
        let moves = later.is_some_and(|later| later.start.date() != when.start.date());
        let is_relative = self.any_word(
            "today tomorrow tonight yesterday week weekend month now heute morgen gestern woche wochenende monat jetzt abend \
             aujourd hui demain hier semaine mois maintenant next this last nachste diese days tage jours",
        );
        moves && !is_relative
    }
}

/// A task without the words that say a time.
fn without_times(task: &str, cx: &AgentContext) -> String {
    let times = classify(task, &cx.context).times;
    let mut rest = task.to_owned();
    for said in times.said.iter().rev() {
        rest.replace_range(said.clone(), "");
    }
    let rest = rest.replace(" on ?", "?").replace(" am ?", "?");
    rest.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches(['?', '.', '!', ' ']).to_owned()
}

fn undo(effect: &Effect) -> Step {
    match effect {
        Effect::Draft(id) => step(Intent::Draft, "Discard the draft", &Thing::Draft(id.clone())),
        Effect::Proposal(id) => {
            let event = Thing::Event { id: id.clone(), title: String::new(), day: None };
            step(Intent::Schedule, "Withdraw the proposal", &event)
        }
        Effect::Mark { id, flag, on } => {
            let task = match (*flag, on) {
                ("seen", true) => "Mark it as unread",
                ("seen", false) => "Mark it as read",
                (_, true) => "Unflag it",
                (_, false) => "Flag it",
            };
            let thing = Thing::Mail {
                id: id.clone(),
                from: String::new(),
                subject: String::new(),
                is_suspicious: false,
                is_answerable: false,
                is_whole: true,
            };
            step(Intent::Triage, task, &thing)
        }
    }
}

/// What a word points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pointed {
    Mail,
    Note,
    Draft,
    Event,
    Slot,
    Anything,
}

impl Pointed {
    fn fits(self, thing: &Thing) -> bool {
        match self {
            Self::Anything => !matches!(thing, Thing::Person(_)),
            Self::Mail => matches!(thing, Thing::Mail { .. }),
            Self::Note => matches!(thing, Thing::Note { .. }),
            Self::Draft => matches!(thing, Thing::Draft(_)),
            Self::Event => matches!(thing, Thing::Event { .. } | Thing::Slot(_)),
            Self::Slot => matches!(thing, Thing::Slot(_)),
        }
    }
}

/// Pronouns for a person in a question who it is, and the most names that are offered for them.
const WHO_IS: &str = "that this he she it they these those das dies er sie es c ca ce cela il elle";
const MOST_NAMES: usize = 5;

/// Pronouns for things that were spoken of.
const THINGS: &str = "it them that those these they davon dazu sie es en y";

/// Words that ask for something which may stand in what was spoken of.
const OPEN_QUESTIONS: &str = "where how why who which whom wo wie warum wieso wer wem welche welcher welches ou comment combien pourquoi qui quel quelle";

/// Words that point, folded: before a noun, alone, and for people.
const DEMONSTRATIVES: &str = "that this the dieser diese dieses diesen diesem der die das dem den cette ce cet le la";
const IT: &str = "it ihn darauf davon dazu damit celui celle lui";
const BEHIND_PRONOUN: &str =
    "to in for with as please again from then now up out down off and or about bitte nochmal an auf de";
const PERSONS: &str = "he him she her they them ihm ihn ihr er elle lui";
const POSSESSIVES: &str = "his her their hers seine seiner ihre ihrer ihren son sa ses leur";

/// Verbs behind which stands whom they are said to, and words that stand behind a person.
const SPEAKING: &str =
    "tell ask let give write send remind thank call email mail text inform show invite about to from with for";
/// Verbs behind which stands to whom something is said, and how far into a request that may be.
const TELLING: &str = "tell ask write answer remind inform thank email mail text let sag sage frag frage schreib schreibe antworte \
     dis ecris reponds demande";
const MOST_BEFORE: usize = 5;
const BEHIND_OBJECT: &str = "she he they i we it that this the a an to about if when whether know yes no again please and or dass ob bitte que si";

/// How a correction begins, and what it says.
const CORRECTING: &str = "hm hmm no nope oh ah wait sorry actually hmm rather instead nein ne doch ach moment lieber non pardon euh plutot attends";
const MEANING: [&str; 12] = [
    "i meant",
    "i ment",
    "i mean",
    "instead",
    "rather",
    "meinte",
    "meine ich",
    "lieber",
    "stattdessen",
    "je voulais dire",
    "plutot",
    "a la place",
];

/// Days that are told from the day that is spoken of: how they are said, and how many days they lie from it. Weeks keep the day.
const BESIDE: [(&str, i64); 28] = [
    ("same day", 0),
    ("selben tag", 0),
    ("gleichen tag", 0),
    ("meme jour", 0),
    ("the day after", 1),
    ("day after that", 1),
    ("following day", 1),
    ("the next day", 1),
    ("tag danach", 1),
    ("tag darauf", 1),
    ("tags darauf", 1),
    ("lendemain", 1),
    ("jour suivant", 1),
    ("jour d'apres", 1),
    ("the day before", -1),
    ("tag davor", -1),
    ("tag zuvor", -1),
    ("la veille", -1),
    ("week later", 7),
    ("the week after", 7),
    ("week after that", 7),
    ("following week", 7),
    ("woche spater", 7),
    ("woche darauf", 7),
    ("woche danach", 7),
    ("semaine plus tard", 7),
    ("semaine suivante", 7),
    ("semaine d'apres", 7),
];

/// How much later, or earlier, than what is spoken of.
const LATER: [(&str, i64); 8] = [
    ("later", 1),
    ("spater", 1),
    ("plus tard", 1),
    ("earlier", -1),
    ("fruher", -1),
    ("plus tot", -1),
    ("sooner", -1),
    ("eher", -1),
];
/// How the next of a series of events is asked for, and how many days it is looked for in.
const FOLLOWING: [&str; 14] = [
    "the one after",
    "one after that",
    "the next one",
    "the following one",
    "and after that",
    "ubernachste",
    "die danach",
    "der danach",
    "das danach",
    "celle d'apres",
    "celui d'apres",
    "la suivante",
    "le suivant",
    "la prochaine apres",
];
const MOST_DAYS_AHEAD: i64 = 120;
const AFTER: [&str; 6] = ["after that", "after it", "darauf", "danach", "d'apres", "suivant"];

fn is_ordinal(concept: Concept) -> bool {
    matches!(concept, Concept::First | Concept::Second | Concept::Third | Concept::Last)
}

/// Articles and prepositions before an ordinal that points.
const BEFORE_ORDINAL: &str = "the to number die der den dem das des auf an zu zum zur beim von vom le la l au aux a du de sur number nummer numero";

/// Words around a bare number.
const COUNTERS: [&str; 22] = [
    "number", "no", "nr", "nummer", "numero", "option", "the", "one", "take", "open", "show", "read", "please",
    "bitte", "die", "der", "das", "le", "la", "nimm", "zeig", "prends",
];

/// The names of small numbers, from one.
const NUMBERS: [[&str; 6]; 5] = [
    ["one", "eins", "un", "une", "eine", "erste"],
    ["two", "zwei", "deux", "second", "zweite", "deuxieme"],
    ["three", "drei", "trois", "third", "dritte", "troisieme"],
    ["four", "vier", "quatre", "fourth", "vierte", "quatrieme"],
    ["five", "funf", "cinq", "fifth", "funfte", "cinquieme"],
];

fn number_of(word: &str) -> Option<usize> {
    word.parse().ok().or_else(|| NUMBERS.iter().position(|names| names.contains(&word)).map(|at| at + 1))
}
