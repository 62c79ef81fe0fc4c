//! The clauses of a request, and which of them ask for something of their own.

use std::ops::Range;

use super::Reading;
use crate::rules::lexicon::{Concept, Hit};

impl Reading<'_> {
    /// The clauses, by their words: cut at the ends of sentences, at commas and semicolons, and at words that go on ("and",
    /// "then").
    pub(super) fn clauses(&self) -> Vec<Range<usize>> {
        let mut clauses = Vec::new();
        let mut start = 0;
        for at in 1..self.words.len() {
            let between = &self.text[self.words[at - 1].at.end..self.words[at].at.start];
            if between.contains(['.', '?', '!', ';', ',', '\n', ':']) || self.ties(at) {
                clauses.push(start..at);
                start = at;
            }
        }
        if start < self.words.len() {
            clauses.push(start..self.words.len());
        }
        clauses
    }

    /// Whether a clause asks for something: it begins, after words that say nothing, with a verb of ours or with a question.
    pub(super) fn stands_alone(&self, clause: &Range<usize>) -> bool {
        let Some(head) = self.head(clause) else { return false };
        self.hits.iter().any(|hit| hit.words.start == head && asks(hit.concept))
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
        let is_content = |hit: &&Hit| hit.concept == Concept::Saying && clause.contains(&hit.words.start);
        let behind_head = |hit: &&Hit| head.is_some_and(|head| hit.words.start > head);
        let content = self.hits.iter().filter(is_content).filter(behind_head).map(|hit| hit.words.start).min();
        clause.start..content.unwrap_or(clause.end)
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
        | Calendar => true,
        Mail | Event | Saying | Note | Recent | Preference | Greeting | Thanks | Help | Identity | Clock
        | Smalltalk | Beyond | Vague | Yes | No | First | Second | Third | Last | It | Filler | Common => false,
    }
}
