//! The clauses of a request, and which of them ask for something of their own.

use std::ops::Range;

use super::Reading;
use crate::lexicon::{Concept, Hit};

impl Reading<'_> {
    /// The clauses, by their words: cut at the ends of sentences, at commas and semicolons, and at words that go on ("and",
    /// "then").
    pub(super) fn clauses(&self) -> Vec<Range<usize>> {
        let mut clauses = Vec::new();
        let mut start = 0;
        let all = self.before_content();
        for at in 1..all {
            let between = &self.text[self.words[at - 1].at.end..self.words[at].at.start];
            let goes_on = GOES_ON.contains(&self.words[at].folded.as_str());
            let is_cut = between.contains(['.', '?', '!', ';', '\n', ':']) || (between.contains(',') && !goes_on);
            if is_cut || self.ties(at) {
                clauses.push(start..at);
                start = at;
            }
        }
        if start < all {
            clauses.push(start..all);
        }
        clauses
    }

    /// How many words stand before what is to be written: behind "mail Ben:" nothing is asked for.
    pub(super) fn before_content(&self) -> usize {
        let Some(colon) = self.text.find(": ") else { return self.words.len() };
        let before = self.words.iter().take_while(|word| word.at.end <= colon).count();
        let speaks = |hit: &Hit| hit.words.start < before && (is_speech(hit.concept) || matches!(hit.concept, Concept::Mail | Concept::Drafts));
        match before > 0 && self.hits.iter().any(speaks) {
            true => before,
            false => self.words.len(),
        }
    }

    /// Whether a clause asks for something: it begins, after words that say nothing, with a verb of ours or with a question.
    pub(super) fn stands_alone(&self, clause: &Range<usize>) -> bool {
        let Some(head) = self.head(clause) else { return false };
        self.is_mail_verb(head) || self.hits.iter().any(|hit| hit.words.start == head && asks(hit.concept))
    }

    /// Whether a clause is one more thing of a list that is looked at ("my urgent mails and today's meetings").
    pub(super) fn is_listed(&self, clause: &Range<usize>) -> bool {
        let first = self.head(&(0..self.words.len()));
        let is_look = |hit: &Hit| {
            Some(hit.words.start) == first && matches!(hit.concept, Concept::Look | Concept::Question | Concept::Urgent)
        };
        clause.len() <= 5 && self.ties(clause.start) && self.hits.iter().any(is_look)
    }

    /// Whether nothing is asked for but that something be sent, which is never done.
    pub(super) fn only_sends(&self, clause: &Range<usize>) -> bool {
        let says = |concept: Concept| !matches!(concept, Concept::Filler | Concept::Common | Concept::Question);
        let mut concepts = self.hits.iter().map(|hit| hit.concept).filter(|concept| says(*concept));
        let is_sending = concepts.all(|concept| {
            matches!(concept, Concept::Send | Concept::It | Concept::Drafts | Concept::Yes | Concept::Vague)
        });
        is_sending && self.has(clause, Concept::Send) && self.entities.all().is_empty()
    }

    /// The first word of a clause that says something.
    pub(super) fn head(&self, clause: &Range<usize>) -> Option<usize> {
        let says_something = |at: &usize| {
            let hits = || self.hits.iter().filter(|hit| hit.words.contains(at));
            let is_filler = |hit: &Hit| matches!(hit.concept, Concept::Filler | Concept::Greeting | Concept::Thanks);
            // A filler that also begins a cue of meaning ("let … know", "have time") is none.
            let begins_cue =
                |hit: &Hit| hit.words.start == *at && asks(hit.concept) && hit.concept != Concept::Question;
            let begins_question = |hit: &Hit| hit.words.start == *at && hit.concept == Concept::Question;
            let is_first = *at == clause.start;
            !(hits().any(is_filler) || self.ties(*at))
                || hits().any(begins_cue)
                || (is_first && hits().any(begins_question))
        };
        clause.clone().find(says_something)
    }

    /// A clause without what is to be written: behind "Tell Anna that …" nothing is asked for.
    pub(super) fn without_content(&self, clause: Range<usize>, head: Option<usize>) -> Range<usize> {
        let is_speech = |hit: &Hit| Some(hit.words.start) == head && is_speech(hit.concept);
        if !self.hits.iter().any(is_speech) {
            return clause;
        }
        let is_told = self
            .hits
            .iter()
            .any(|hit| Some(hit.words.start) == head && matches!(hit.concept, Concept::Tell | Concept::Ask));
        let is_content = |hit: &&Hit| {
            let opens = hit.concept == Concept::Saying
                || (is_told
                    && hit.concept == Concept::Question
                    && OPENS.contains(&self.words[hit.words.start].folded.as_str()))
                || (is_told && hit.concept == Concept::When);
            opens && clause.contains(&hit.words.start)
        };
        let behind_head = |hit: &&Hit| head.is_some_and(|head| hit.words.start > head);
        let content = self.hits.iter().filter(is_content).filter(behind_head).map(|hit| hit.words.start).min();
        clause.start..content.unwrap_or(clause.end)
    }

    /// "Email Tom about …": the noun is a verb when a person stands behind it.
    pub(super) fn is_mail_verb(&self, at: usize) -> bool {
        let is_mail = ["email", "mail", "message", "maile"].contains(&self.words[at].folded.as_str());
        let Some(next) = self.words.get(at + 1).filter(|_| is_mail) else { return false };
        let is_person = |name: &String| super::fold(name).split(' ').any(|part| part == next.folded);
        let is_pronoun = |hit: &Hit| hit.concept == Concept::It && hit.words.start == at + 1;
        self.entities.people.iter().any(is_person)
            || self.text[next.at.end..].starts_with('@')
            || self.hits.iter().any(is_pronoun)
    }

    /// Whether it is asked what to do, rather than what there is.
    pub(super) fn asks_what_to_do(&self) -> bool {
        let has = |words: &[&str]| self.words.iter().any(|word| words.contains(&word.folded.as_str()));
        has(&["what", "how", "was", "wie", "comment", "que"]) && has(&["should", "soll", "sollte", "dois", "could"])
    }

    /// Whether the text is a question.
    pub(super) fn asks(&self) -> bool {
        let begins = self.hits.iter().any(|hit| hit.concept == Concept::Question && hit.words.start <= 1);
        begins || self.text.trim_end().ends_with('?')
    }

    /// Where some words stand.
    pub(super) fn place(&self, words: &Range<usize>) -> Range<usize> {
        let start = self.words.get(words.start).map_or(self.text.len(), |word| word.at.start);
        let last = words.end.checked_sub(1).and_then(|last| self.words.get(last));
        start..last.map_or(start, |word| word.at.end.max(start))
    }

    /// The text of a clause without the words that only tie it to the one before, and with what was left out of the words (a
    /// quoted phrase, an address).
    pub(super) fn clause_text(&self, clause: &Range<usize>) -> &str {
        let first = clause.clone().find(|at| !self.ties(*at)).unwrap_or(clause.start);
        let start = if first == 0 { 0 } else { self.words.get(first).map_or(self.text.len(), |word| word.at.start) };
        let end = self.words.get(clause.end).map_or(self.text.len(), |next| next.at.start);
        self.text[start..end].trim_matches(|character: char| character.is_whitespace() || ",;.".contains(character))
    }

    /// Whether a word ties a clause to the one before.
    fn ties(&self, at: usize) -> bool {
        const CONNECTIVES: [&str; 20] = [
            "and",
            "then",
            "afterwards",
            "plus",
            "und",
            "dann",
            "danach",
            "anschliessend",
            "sowie",
            "et",
            "puis",
            "ensuite",
            "y",
            "luego",
            "despues",
            "e",
            "poi",
            "en",
            "daarna",
            "dan",
        ];
        CONNECTIVES.contains(&self.words[at].folded.as_str())
    }
}

/// Words behind a comma that go on with the clause before it.
const GOES_ON: [&str; 12] =
    ["ob", "dass", "wenn", "weil", "if", "whether", "that", "because", "que", "si", "which", "damit"];

/// Question words that open what a person is to be asked.
const OPENS: [&str; 14] =
    ["what", "which", "who", "where", "why", "how", "was", "wer", "wo", "warum", "wie", "comment", "pourquoi", "qui"];

/// Verbs behind which stands what is to be written.
fn is_speech(concept: Concept) -> bool {
    use Concept::*;
    matches!(concept, Tell | Reply | Write | Ask | Acknowledge | FollowUp | Send | Decline | Accept)
}

/// Concepts with which a request begins.
fn asks(concept: Concept) -> bool {
    use Concept::*;
    match concept {
        Look | Find | Know | Backlinks | Triage | Briefing | Book | Change | Free | Busy | Conflict | Day | When
        | Write | Reply | Accept | Decline | Propose | Ask | Acknowledge | FollowUp | Forward | Tell | Send
        | Drafts | Learn | Prefer | Always | Forget | Explain | Apply | Question | Urgent | Unread | Inbox
        | Calendar | Person | Sent | Genuine => true,
        Mail | Event | Saying | Note | Recent | Preference | Greeting | Thanks | Help | Identity | Clock
        | Smalltalk | Beyond | Vague | Yes | No | First | Second | Third | Last | It | Filler | Common | Thread
        | Edit | Undo => false,
    }
}
