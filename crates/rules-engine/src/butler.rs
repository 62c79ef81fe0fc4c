//! The butler: understands a request, delegates each part to a specialist, and answers with all results.
//!
//! What a request means is decided from the person's words and from the [`Dialogue`], the state that the conversation so far leads to
//! (`dialogue`). Words that refer to what was said before are resolved in `reply`. Results decide what is said (`answer`) and what can be
//! done next (`offers`), never what is asked for beyond the plan.

mod answer;
mod coverage;
mod dialogue;
mod offers;
mod place;
mod questions;
mod readings;
mod reply;
mod thing;

use agent::Json;
use jiff::Zoned;
use provider::Said;
use serde_json::json;

use super::agent_context::AgentContext;
use super::conversation::Turn;
use super::intent::{Classification, Direct, Intent, classify};
use super::lexicon::{Concept, Hit, lexicon};
use super::phrases::plain;
use super::speech::Speech;
use super::task::{SpecialistTask, arguments};
use dialogue::Dialogue;
use household::time::words::{Word, words};
use questions::Asked;

/// What the first answer of a conversation ends with.
pub(super) const SIGNATURE: &str = "engine: rules";

/// The tool that delegates.
const DELEGATE: &str = "delegate";

/// One piece of work for a specialist.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    intent: Intent,
    task: String,
    entities: Vec<String>,
    time: Option<String>,
    reason: String,
}

/// What a request comes to.
#[derive(Clone, Debug, PartialEq)]
enum Plan {
    Say(Spoken),
    Hand(Vec<Step>),
}

/// What the butler says himself, and what a number or "yes" means behind it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Spoken {
    text: String,
    numbered: Vec<Step>,
    yes: Option<Step>,
}

impl Spoken {
    /// The numbered lines of a question, for interfaces that show them as choices.
    fn as_choices(&self) -> Vec<agent::message::Offer> {
        let line = |at: usize| {
            let mark = format!("{}. ", at + 1);
            self.text.lines().find_map(|line| line.strip_prefix(mark.as_str()))
        };
        let choice = |at: usize| {
            let label = plain(line(at)?, LONGEST_CHOICE);
            Some(agent::message::Offer { label: label.as_str().into(), say: (at + 1).to_string().into() })
        };
        (0..self.numbered.len()).filter_map(choice).collect()
    }
}

/// The most characters of a choice.
const LONGEST_CHOICE: usize = 80;

impl Plan {
    fn say(text: impl Into<String>) -> Self {
        Self::Say(Spoken { text: text.into(), ..Spoken::default() })
    }
}

/// What the butler does next.
pub(super) fn next(turns: &[Turn], cx: &AgentContext) -> Said {
    let Some((current, before)) = turns.split_last() else { return signed(turns, &help(cx.speech), &[], cx) };
    let (asked, _) = questions::followed(Dialogue::of(before, cx), current, cx);
    let is_work = asked.iter().any(|asked| matches!(asked.plan, Plan::Hand(_)));
    if !cx.can(DELEGATE) && (is_work || !needs_nothing(&current.said, cx)) {
        let text = if is_work { cx.speech.say("no_household", &[]) } else { without_household(&current.said, cx) };
        return signed(turns, &text, &[], cx);
    }
    match asked.iter().find_map(|asked| Some((asked, asked.open.as_ref()?))) {
        Some((asked, step)) => hand(step, &asked.turn, cx),
        None => told(turns, &asked, cx),
    }
}

/// What there is to say when nothing more may be called.
pub(super) fn closing(turns: &[Turn], cx: &AgentContext) -> Said {
    let Some((current, before)) = turns.split_last() else { return signed(turns, &help(cx.speech), &[], cx) };
    let (asked, _) = questions::followed(Dialogue::of(before, cx), current, cx);
    let is_answered = |asked: &Asked| matches!(asked.plan, Plan::Say(_)) || !asked.turn.calls.is_empty();
    let answered: Vec<Asked> = asked.into_iter().filter(is_answered).collect();
    match answered.is_empty() {
        true => signed(turns, &cx.speech.say("stopped", &[]), &[], cx),
        false => told(turns, &answered, cx),
    }
}

/// Whether the answer is the same with and without a household.
fn needs_nothing(said: &str, cx: &AgentContext) -> bool {
    matches!(classify(said, &cx.context).direct, Some(Direct::Thanks | Direct::Clock))
}

/// What can be done where there is no household: how to have one, after a greeting where one was said.
fn without_household(said: &str, cx: &AgentContext) -> String {
    let missing = cx.speech.say("no_household", &[]);
    match classify(said, &cx.context).direct {
        Some(Direct::Greeting) => format!("{} {missing}", greeting(&cx.context.now, cx.speech)),
        _ => missing,
    }
}

fn greeting(now: &Zoned, speech: Speech) -> String {
    match now.hour() {
        5..12 => speech.say("greeting_morning", &[]),
        12..18 => speech.say("greeting_afternoon", &[]),
        _ => speech.say("greeting_evening", &[]),
    }
}

/// The answers to the questions of a request, the offers behind the last of them.
fn told(turns: &[Turn], asked: &[Asked], cx: &AgentContext) -> Said {
    let Some((last, before)) = asked.split_last() else { return signed(turns, &help(cx.speech), &[], cx) };
    let is_one = before.is_empty();
    let before = before.iter().map(|asked| answered(asked, false, cx));
    let mut all: Vec<Answered> = before.chain([answered(last, true, cx)]).collect();
    // Of two questions, the one that is not answered is named.
    for (asked, answer) in asked.iter().zip(&mut all).filter(|(_, answer)| !is_one && answer.is_unclear) {
        answer.text = cx.speech.say("part_unclear", &[("said", &plain(&asked.turn.said, 120))]);
        answer.offers.clear();
    }
    let text = all.iter().map(|answer| answer.text.as_str()).collect::<Vec<_>>().join("\n\n");
    let mut ids: Vec<String> = Vec::new();
    for id in all.iter().flat_map(|answer| &answer.ids) {
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
    let offers = all.pop().map(|answer| answer.offers).unwrap_or_default();
    Said { offers, ..signed(turns, &text, &ids, cx) }
}

/// The answer to one question.
struct Answered {
    text: String,
    /// What it speaks of.
    ids: Vec<String>,
    offers: Vec<agent::message::Offer>,
    /// Whether it only says that nothing is known, or asks what is meant.
    is_unclear: bool,
}

impl Answered {
    fn unclear(spoken: &Spoken) -> Self {
        Self { text: spoken.text.clone(), ids: Vec::new(), offers: spoken.as_choices(), is_unclear: true }
    }
}

fn answered(asked: &Asked, with_offers: bool, cx: &AgentContext) -> Answered {
    let (steps, current) = match &asked.plan {
        Plan::Say(spoken) => return Answered::unclear(spoken),
        Plan::Hand(steps) => (steps, &asked.turn),
    };
    let unsettled = in_vain(&current.said, current, cx).filter(|_| is_open_plan(steps));
    if let Some(spoken) = unsettled.or_else(|| readings::question(steps, current, cx)) {
        return Answered::unclear(&spoken);
    }
    let (steps, current, unsaid) = readings::chosen(steps, current, cx);
    let text = coverage::checked(&steps, &current, answer::of(&steps, &current, cx), unsaid, cx);
    let ids = current.calls.iter().flat_map(thing::found).filter_map(|thing| thing.id()).collect();
    if !with_offers {
        return Answered { text, ids, offers: Vec::new(), is_unclear: false };
    }
    let offers = answer::offers(&steps, &current, cx);
    let text = [Some(text), answer::offered(&offers, cx)].into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    Answered { text, ids, offers: offers.as_choices(cx.speech.tongue), is_unclear: false }
}

/// An answer with its last line: the ids of what it speaks of, and in the first answer of a conversation the engine. A request in a language
/// that is understood but not spoken gets a note on why the answer is in English.
fn signed(turns: &[Turn], text: &str, ids: &[String], cx: &AgentContext) -> Said {
    let said = turns.last().map_or("", |turn| turn.said.as_str());
    let language = lexicon().language(&words(said));
    let aside = ASIDES.iter().find(|(code, _)| *code == language);
    let aside = aside.map_or_else(String::new, |(_, aside)| format!("\n\n({aside})"));
    let mut details = Vec::new();
    if !ids.is_empty() {
        let shown: Vec<String> = ids.iter().take(MOST_IDS).map(|id| plain(id, 120)).collect();
        details.push(cx.speech.say("details", &[("ids", &shown.join(", "))]));
    }
    if turns.len() <= 1 {
        details.push(SIGNATURE.to_owned());
    }
    let last = if details.is_empty() { String::new() } else { format!("\n\n{}", details.join(" · ")) };
    Said::text(format!("{text}{aside}{last}"))
}

/// The most ids of one answer.
const MOST_IDS: usize = 12;

/// That answers are in English, in the languages that are understood but not spoken.
const ASIDES: [(&str, &str); 3] = [
    ("es", "Entiendo el español, pero sin un modelo de lenguaje respondo en inglés."),
    ("it", "Capisco l'italiano, ma senza un modello linguistico rispondo in inglese."),
    ("nl", "Ik versta Nederlands, maar zonder taalmodel antwoord ik in het Engels."),
];

fn plan(dialogue: &Dialogue, said: &str, cx: &AgentContext) -> Plan {
    let said = &*asked_for(said, cx);
    let read = classify(said, &cx.context);
    if let Some(plan) = reply::resolve(dialogue, said, &read, cx) {
        return plan;
    }
    if is_bare_time(&read, said, cx) {
        let intent = Intent::Schedule;
        let step = Step {
            intent,
            task: said.trim().to_owned(),
            entities: Vec::new(),
            time: read.times.words(said),
            reason: reason(intent, &[]),
        };
        return Plan::Hand(vec![step]);
    }
    if asks_for_files(said, cx) {
        let (intent, entities) = (Intent::Triage, read.entities.all());
        let (task, time) = (said.trim().to_owned(), read.times.words(said));
        return Plan::Hand(vec![Step { intent, task, entities, time, reason: reason(intent, &[]) }]);
    }
    if is_open(&read, said, cx) {
        return Plan::Hand(readings::with_other(open_steps(&read, said, cx), said, cx));
    }
    let hand = || Plan::Hand(readings::with_other(steps(&read, cx), said, cx));
    unanswered(said, &read, cx).map_or_else(hand, Plan::Say)
}

/// Whether it is asked what a person attached to a mail.
fn asks_for_files(said: &str, cx: &AgentContext) -> bool {
    let task = SpecialistTask::read(said, &cx.context);
    let is_file =
        task.says("attach attached attaches attachment attachments anhang anhange angehangt beigefugt jointe jointes");
    is_file && task.is_question() && task.person().is_some() && task.entities.ids.is_empty()
}

/// What is asked for: with slips set right, and without a courtesy or an answer before it ("Good. And Saturday?").
fn asked_for(said: &str, cx: &AgentContext) -> String {
    let said = crate::spelling::corrected(said.trim(), &cx.context);
    without_preamble(in_full(said, cx))
}

/// "Yes to Petra, Thursday at ten" in full: what is to be told, and to whom.
fn in_full(said: String, cx: &AgentContext) -> String {
    const ANSWERS: [&str; 9] = ["yes", "no", "ok", "okay", "ja", "nein", "oui", "non", "thanks"];
    const TO: [&str; 4] = ["to", "an", "a", "for"];
    let all = words(&said);
    let is_in = |list: &[&str], at: usize| all.get(at).is_some_and(|word| list.contains(&word.folded.as_str()));
    if all.len() < 3 || !(is_in(&ANSWERS, 0) && is_in(&TO, 1)) {
        return said;
    }
    let entities = classify(&said, &cx.context).entities;
    let Some(person) = entities.people.first().filter(|person| said.find(person.as_str()) == Some(all[2].at.start))
    else {
        return said;
    };
    let (answer, rest) =
        (&said[all[0].at.clone()], said[all[2].at.start + person.len()..].trim_start_matches([',', ' ', ':']));
    let tie = if rest.is_empty() { "" } else { ", " };
    format!("Tell {person}: {answer}{tie}{rest}")
}

fn without_preamble(said: String) -> String {
    let Some((before, rest)) = said.split_once(['.', '!', ',']) else { return said };
    let all = words(before);
    let hits = lexicon().hits(&all);
    let is_courtesy = |at: usize| {
        let mut own = hits.iter().filter(|hit| hit.words.contains(&at)).peekable();
        own.peek().is_some()
            && own.any(|hit| {
                use Concept::{Filler, Greeting, It, No, Smalltalk, Thanks, Undo, Yes};
                matches!(hit.concept, Yes | No | Undo | Smalltalk | Thanks | Greeting | Filler | It)
            })
    };
    let is_preamble = !all.is_empty() && all.len() <= 5 && (0..all.len()).all(is_courtesy);
    let goes_on = words(rest).len() > 1;
    if is_preamble && goes_on { without_preamble(rest.trim().to_owned()) } else { said }
}

/// What is said to a request that no specialist gets, or that was looked for in vain; none for one that a specialist gets.
fn unanswered(said: &str, read: &Classification, cx: &AgentContext) -> Option<Spoken> {
    if let Some(direct) = read.direct {
        return Some(Spoken { text: directly(direct, &cx.context.now, cx), ..Spoken::default() });
    }
    let question = read.question.as_ref()?;
    // Choices help where the words name something; otherwise it helps to know what can be asked.
    let names_something = read.entities.name_something() || !read.times.said.is_empty() || words(said).len() <= 3;
    let is_vague = lexicon().hits(&words(said)).iter().any(|hit| hit.concept == Concept::Vague);
    Some(match (names_something || is_vague) && !looks_like_code(said) {
        true => ask(said, read, &question.choices, cx),
        false => {
            let text = format!("{} {}", cx.speech.say("not_understood", &[]), cx.speech.say("help", &[]));
            Spoken { text, ..Spoken::default() }
        }
    })
}

/// Whether a word has the form of a file's name or of code: nothing of a household is called so.
fn looks_like_code(said: &str) -> bool {
    said.split_whitespace().any(|word| {
        let word = word.trim_end_matches(['.', ',', '?', '!', ':', ';']);
        let is_file = word.rsplit_once('.').is_some_and(|(name, ending)| {
            !name.is_empty() && (1..=4).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphabetic())
        });
        is_file && !word.ends_with(".md") && !word.contains('@')
    })
}

/// Whether nothing but a time is said: "Thursday?" asks what is on.
fn is_bare_time(read: &Classification, said: &str, cx: &AgentContext) -> bool {
    let is_unsure = read.question.is_some() || read.direct == Some(Direct::Unsupported);
    is_unsure && read.times.when.is_some() && SpecialistTask::read(said, &cx.context).subject_words().is_empty()
}

/// Whether a request that no rule is sure about may be answered by what the household holds: it is looked for before anything is said.
fn is_open(read: &Classification, said: &str, cx: &AgentContext) -> bool {
    let all = words(said);
    let is_chat = matches!(read.direct, Some(Direct::Smalltalk | Direct::Thanks | Direct::Greeting)) && all.len() > 2;
    let is_unsure = read.question.is_some() || read.direct == Some(Direct::Unsupported) || is_chat;
    let hits = lexicon().hits(&all);
    let has = |concept: Concept| hits.iter().any(|hit| hit.concept == concept);
    let asks = asks(said, &hits);
    // A few nouns are a question in short ("library books due"); one alone may be anything.
    let subject = SpecialistTask::read(said, &cx.context).subject_words();
    let is_terse = !subject.is_empty() && (2..=LONGEST_TERSE).contains(&all.len());
    is_unsure
        && (asks && (!is_chat || all.len() > 4) || is_terse)
        && (!has(Concept::Send) || opens_with_question(&all))
        && !subject.is_empty()
        && !looks_like_code(said)
}

/// Whether a request begins by asking when, what, who, where or how.
fn opens_with_question(all: &[Word]) -> bool {
    const BEFORE: &str = "and und et so until till til by bis jusqu a de";
    let is_in = |list: &str, word: &&Word| list.split_whitespace().any(|one| one == word.folded);
    let first = all.iter().find(|word| !is_in(BEFORE, word));
    first.is_some_and(|word| {
        is_in("when what whats who where which how why wann was wer wo welche wie warum quand que quoi qui ou", &word)
    })
}

/// More words than this are a sentence.
const LONGEST_TERSE: usize = 9;

fn asks(said: &str, hits: &[Hit]) -> bool {
    said.contains('?') || hits.iter().any(|hit| hit.concept == Concept::Question && hit.words.start <= 1)
}

/// Whether something is spoken of that mostly lies outside of any household.
fn is_beyond(said: &str) -> bool {
    lexicon().hits(&words(said)).iter().any(|hit| hit.concept == Concept::Beyond)
}

/// Whether something is told to be done that lies outside.
fn is_order_beyond(said: &str) -> bool {
    let hits = lexicon().hits(&words(said));
    let is_order = |hit: &Hit| hit.concept == Concept::Beyond && hit.words.len() > 1 && hit.words.start <= 1;
    !asks(said, &hits) && (hits.iter().any(is_order) || begins_with_order(&words(said)))
}

/// Whether the first word that says something tells to do what nothing here can do: to pay, to buy, to phone.
fn begins_with_order(all: &[Word]) -> bool {
    const POLITE: &str = "please can could would you bitte kannst konnen konnten du sie mir peux pouvez tu vous s il te plait just now go then";
    const ORDERS: &str = "pay buy purchase transfer wire translate calculate google browse delete erase unsubscribe print phone dial zahle zahl \
        bezahle bezahl uberweise uberweis kaufe kauf bestelle bestell ubersetze ubersetz losche losch drucke druck paie paye payez achete achetez \
        commande commandez traduis traduisez supprime supprimez imprime imprimez telephone";
    let is_in = |list: &str, word: &Word| list.split_whitespace().any(|one| one == word.folded);
    let asks =
        |word: &Word| is_in("when how what who where which why wann wie was wer wo quand comment combien qui ou", word);
    let first = all.iter().find(|word| !is_in(POLITE, word));
    all.len() > 1 && first.is_some_and(|word| is_in(ORDERS, word)) && !all.iter().any(asks)
}

/// The words that mostly lie outside and that the household's own texts do not hold.
fn beyond_words(said: &str, cx: &AgentContext) -> Vec<String> {
    let all = words(said);
    let hits = lexicon().hits(&all);
    let outside =
        hits.iter().filter(|hit| hit.concept == Concept::Beyond).flat_map(|hit| all[hit.words.clone()].iter());
    outside.map(|word| word.folded.clone()).filter(|word| !cx.context.words.holds(word)).collect()
}

/// Whether a plan is to look everywhere for the answer to an open question.
fn is_open_plan(steps: &[Step]) -> bool {
    !steps.is_empty() && steps.iter().all(|step| step.reason == OPEN && step.intent == Intent::Search)
}

const OPEN: &str = "It is a question, and something that the household holds may answer it.";

/// Where an open question is looked for: in the calendar first where it names a time, else everywhere.
fn open_steps(read: &Classification, said: &str, cx: &AgentContext) -> Vec<Step> {
    // "A recruiter wrote this week" is about a mail, whatever time it names.
    let hits = lexicon().hits(&words(said));
    let speaks = |hit: &Hit| {
        use Concept::{Ask, Mail, Propose, Tell, Write};
        matches!(hit.concept, Write | Tell | Ask | Propose | Mail)
    };
    let is_timed = read.times.when.is_some() && !is_beyond(said) && !hits.iter().any(speaks);
    let step = |said: &str, read: &Classification, intent: Intent| Step {
        intent,
        task: said.trim().to_owned(),
        entities: read.entities.all(),
        time: read.times.words(said),
        reason: OPEN.to_owned(),
    };
    if is_timed {
        return vec![step(said, read, Intent::Schedule)];
    }
    let person = read.entities.people.first();
    let said = without_occasion(said, person.map(String::as_str), cx);
    let said = person.map_or_else(|| said.to_owned(), |name| with_name(said, name));
    vec![step(&said, &classify(&said, &cx.context), Intent::Search)]
}

/// A question without the sentence before it that only says why it is asked: "I am at the pet shop. How much does the cat eat?".
/// It is kept where the question says too little by itself, or points back to it.
fn without_occasion<'a>(said: &'a str, person: Option<&str>, cx: &AgentContext) -> &'a str {
    const POINTS: &str = "it its that this those these there then they them one ones he she him her his sie es er ihn ihr dies davon \
        dazu dort dann il elle lui ca cela";
    const SEVERAL: &str = "them they their ihnen ils elles leur leurs eux";
    let Some(end) = said.trim_end().strip_suffix('?') else { return said };
    let Some((before, question)) = end.rsplit_once(". ") else { return said };
    let all = words(question);
    let is_weighty = |word: &&Word| word.folded.chars().count() > 2 && !household::words::is_light(&word.folded);
    let subject = SpecialistTask::read(question, &cx.context).subject_words();
    let names_who = person.is_some_and(|person| before.contains(person));
    let points = all.iter().any(|word| POINTS.split_whitespace().any(|one| one == word.folded));
    let is_own = words(&subject).iter().filter(is_weighty).count() >= if names_who { 1 } else { 2 };
    // A pronoun for the person who was named is filled in; other words that point back need the sentence.
    // Several people are named in the sentence before, not in the question.
    let points_at_several = all.iter().any(|word| SEVERAL.split_whitespace().any(|one| one == word.folded));
    if before.contains('?') || !is_own || points && (!names_who || points_at_several) {
        said
    } else {
        said[before.len() + 2..].trim_start()
    }
}

/// A question with the name of the person in place of the pronoun that means them, where it names no person itself.
fn with_name(said: &str, name: &str) -> String {
    const ALONE: [&str; 8] = ["he", "she", "him", "they", "er", "ihm", "il", "elle"];
    const OWN: [&str; 3] = ["his", "her", "their"];
    let all = words(said);
    let is_in = |list: &[&str], word: &Word| list.contains(&word.folded.as_str());
    let place = all.iter().find(|word| is_in(&ALONE, word) || is_in(&OWN, word));
    let Some(word) = place.filter(|_| !said.contains(name)) else { return said.to_owned() };
    let own = if is_in(&OWN, word) { "'s" } else { "" };
    format!("{}{name}{own}{}", &said[..word.at.start], &said[word.at.end..])
}

/// What to say where an open question was looked for in vain; none where it was answered, or was none.
fn in_vain(said: &str, current: &Turn, cx: &AgentContext) -> Option<Spoken> {
    let said = &*asked_for(said, cx);
    let read = classify(said, &cx.context);
    // Of what mostly lies outside, only what is plainly in the household counts.
    let outside = beyond_words(said, cx);
    let is_found = match is_beyond(said) {
        // "Turn the heating down" asks for no sentence about the heating.
        true if is_order_beyond(said) => false,
        // Words that the household's own texts hold are nothing of another world in a question.
        true if outside.is_empty() && opens_with_question(&words(said)) => thing::comes_near(current, cx),
        true => thing::is_plain(current) || thing::is_sure_of(current, &outside),
        false => thing::comes_near(current, cx),
    };
    if !is_open(&read, said, cx) || is_found {
        return None;
    }
    // It was looked for: to ask where to look would lead nowhere.
    let words_looked_for = current.calls.iter().filter_map(|called| called.result.as_ref()).rev().find_map(|result| {
        let words = super::phrases::texts_of(&result.data["data"], "words");
        (!words.is_empty()).then(|| words.join(", "))
    });
    let text = match read.direct {
        // A question is answered with what was looked for; what is to be done is refused.
        Some(Direct::Unsupported) if !is_order_beyond(said) && words_looked_for.is_some() => {
            let words = words_looked_for.unwrap_or_default();
            let nothing = cx.speech.say("nothing_says", &[("words", &words)]);
            format!("{nothing} {}", directly(Direct::Unsupported, &cx.context.now, cx))
        }
        Some(direct) => directly(direct, &cx.context.now, cx),
        None => format!("{} {}", cx.speech.say("not_understood", &[]), cx.speech.say("help", &[])),
    };
    Some(Spoken { text, ..Spoken::default() })
}

/// The steps of a request that is understood.
fn steps(read: &Classification, cx: &AgentContext) -> Vec<Step> {
    let step = |meant: &super::intent::IntentMatch| Step {
        intent: match meant.intent {
            Intent::Draft if asks_about_writing(meant, cx) => Intent::Search,
            // "Priya email" may ask for her address or her mails: her card tells both.
            Intent::Triage if is_about_card(&meant.text, cx) => Intent::Search,
            // "Is Fatou available on Wednesdays?" is about her ways, not about the owner's free time.
            Intent::Schedule if asks_about_ways(&meant.text, cx) => Intent::Search,
            // "Anything on the 22nd?" names nothing but a day.
            Intent::Search if is_only_timed(&meant.text, cx) => Intent::Schedule,
            intent => intent,
        },
        task: meant.text.clone(),
        entities: read.entities.all(),
        time: classify(&meant.text, &cx.context).times.words(&meant.text),
        reason: reason(meant.intent, &meant.because),
    };
    read.intents.iter().map(step).collect()
}

/// Whether what is on a person's card is asked for, with no more than a name and a word.
fn is_about_card(said: &str, cx: &AgentContext) -> bool {
    let task = SpecialistTask::read(said, &cx.context);
    words(said).len() <= 3
        && task.person().is_some()
        && super::person::Asked::of(&task) == super::person::Asked::Everything
}

/// Whether it is asked when a person can, in general: the owner's calendar cannot say it, a card or a note may.
fn asks_about_ways(said: &str, cx: &AgentContext) -> bool {
    const OPENS: &str = "is are does do ist sind hat kann est can";
    const DAYS: &str = "mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends weekdays usually normally generally montags \
        dienstags mittwochs donnerstags freitags samstags sonntags normalerweise sonst habituellement normalement";
    let (task, all) = (SpecialistTask::read(said, &cx.context), words(said));
    let Some(person) = task.person() else { return false };
    let is_in = |list: &str, word: &Word| list.split_whitespace().any(|one| one == word.folded);
    let named = words(person).iter().any(|part| all.get(1).is_some_and(|word| word.folded == part.folded));
    let is_habit = all.iter().any(|word| is_in(DAYS, word));
    all.first().is_some_and(|word| is_in(OPENS, word)) && named && is_habit
}

/// Whether nothing is named but a time.
fn is_only_timed(said: &str, cx: &AgentContext) -> bool {
    let task = SpecialistTask::read(said, &cx.context);
    let says_something = |word: &Word| word.folded.chars().count() > 2 && !household::words::is_light(&word.folded);
    task.times.when.is_some() && !words(&task.subject_words()).iter().any(says_something) && task.person().is_none()
}

/// Whether a question only speaks of something that is to be written: nothing is drafted for it.
fn asks_about_writing(meant: &super::intent::IntentMatch, cx: &AgentContext) -> bool {
    let all = words(&meant.text);
    if meant.intent != Intent::Draft || !(meant.text.trim_end().ends_with('?') || opens_with_question(&all)) {
        return false;
    }
    let task = SpecialistTask::read(&meant.text, &cx.context);
    // "Should I write to Tom?" asks for a mail; "how long should it be?" does not.
    let opens = words(&meant.text)
        .first()
        .is_some_and(|word| ["shall", "should", "soll", "dois"].contains(&word.folded.as_str()));
    let is_request = opens || task.says("you please kannst konntest bitte peux pourrais pouvez pourriez tu du");
    !is_request && task.content().is_none() && (task.asks_what_is() || task.person().is_none())
}

/// Delegates a step, with what earlier steps of the same request found.
fn hand(step: &Step, current: &Turn, cx: &AgentContext) -> Said {
    let mut entities = step.entities.clone();
    let is_pointing = points_at_one(&step.task);
    for called in current.calls.iter().filter(|_| !readings::is_other(step)) {
        entities.extend(thing::carried(called, step.intent, is_pointing));
        // "Find the contract and draft a reply": the reply is about what was looked for.
        if step.intent == Intent::Draft && called.input["intent"] == Intent::Search.as_str() {
            let searched =
                SpecialistTask::read(called.input["task"].as_str().unwrap_or(""), &cx.context).subject_words();
            entities.extend(Some(searched).filter(|searched| !searched.is_empty()));
        }
    }
    let mut seen = std::collections::HashSet::new();
    entities.retain(|entity| seen.insert(entity.to_lowercase()));
    Said::call(
        DELEGATE,
        Json::of(&arguments(json!({
            "intent": step.intent.as_str(),
            "task": step.task,
            "relevantEntities": entities,
            "timeConstraints": step.time,
            "delegationReasoning": step.reason,
        }))),
    )
}

/// Whether a task means one of several things without naming it.
fn points_at_one(task: &str) -> bool {
    lexicon().hits(&words(task)).iter().any(|hit| matches!(hit.concept, Concept::First | Concept::It))
}

/// Why a specialist is asked: the words that decided.
fn reason(intent: Intent, because: &[String]) -> String {
    let words: Vec<String> = because.iter().map(|word| format!("\"{word}\"")).collect();
    let about = match intent {
        Intent::Triage => "this is about what came in",
        Intent::Schedule => "this is about the calendar",
        Intent::Draft => "a mail is to be written",
        Intent::Search => "something is looked for in the notes",
        Intent::Learn => "this is about preferences",
    };
    match words.is_empty() {
        true => format!("It follows from what was said before that {about}."),
        false => format!("The words {} say that {about}.", words.join(", ")),
    }
}

/// One question with choices; a number does what it says with the words that were said.
fn ask(said: &str, read: &Classification, choices: &[Intent], cx: &AgentContext) -> Spoken {
    let does = |intent: &Intent| match intent {
        Intent::Triage => "do_triage",
        Intent::Schedule => "do_schedule",
        Intent::Draft => "do_draft",
        Intent::Search => "do_search",
        Intent::Learn => "do_learn",
    };
    let lines: Vec<String> = choices
        .iter()
        .enumerate()
        .map(|(number, intent)| format!("{}. {}", number + 1, cx.speech.say(does(intent), &[])))
        .collect();
    let numbered = choices.iter().map(|intent| Step {
        intent: *intent,
        task: said.trim().to_owned(),
        entities: read.entities.all(),
        time: read.times.words(said),
        reason: reason(*intent, &[]),
    });
    let head = cx.speech.say("unsure", &[("said", &plain(said, 80))]);
    let text = format!("{head}\n\n{}\n\n{}", lines.join("\n"), cx.speech.say("number_enough", &[]));
    Spoken { text, numbered: numbered.collect(), yes: None }
}

fn directly(direct: Direct, now: &Zoned, cx: &AgentContext) -> String {
    let speech = cx.speech;
    match direct {
        Direct::Greeting => format!("{} {}", greeting(now, speech), speech.say("greeting_offer", &[])),
        Direct::Thanks => speech.say("thanks", &[]),
        Direct::Help => help(speech),
        Direct::Identity => speech.say("identity", &[]),
        Direct::Clock => {
            let month = speech.names("months")[usize::from(now.month().unsigned_abs()) - 1];
            let weekday = speech.names("weekdays")[usize::from(now.weekday().to_monday_zero_offset().unsigned_abs())];
            let (day, year) = (now.day().to_string(), now.year().to_string());
            let parts = [("weekday", weekday), ("day", &*day), ("month", month), ("year", &*year)];
            let date = speech.say("date_year", &parts);
            let zone = now.time_zone().iana_name().unwrap_or("local time");
            speech.say("clock", &[("time", &now.strftime("%H:%M").to_string()), ("date", &date), ("zone", zone)])
        }
        Direct::Smalltalk => speech.say("smalltalk", &[]),
        Direct::Unsupported => {
            let all = ["beyond", "help", "help_more"].map(|sentence| speech.say(sentence, &[]));
            all.join(" ")
        }
    }
}

/// What can be done, four examples, and how to have more.
fn help(speech: Speech) -> String {
    format!(
        "{}\n\n{}\n\
         - {}\n\n{}",
        speech.say("help", &[]),
        speech.say("help_examples", &[]),
        speech.say("help_example", &[]).replace("; ", "\n- "),
        speech.say("help_more", &[])
    )
}
