//! Questions of agents: which one is asked, when keys may answer it, and what each key means.
//!
//! A key answers only a question that stood on the screen for a moment while nothing was typed, and only while the composer is empty, so
//! that nothing that was pressed before it appeared can answer it (T22). That it stands there is said by the terminal: behind the question it
//! is sent a request for its kind, and every key that comes before its reply was pressed before the question was seen, however far away the
//! terminal is. What it would change is on the screen by then. Ctrl-Y turns to it
//! at any time, Esc puts it off. Lines, where there are no keys, are in `typed`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::Json;
use agent::approval::{Approval, ApprovalId, Decision, Scope};
use termina::event::{KeyCode, KeyEvent};
use view::draw::Line;

use super::{Action, App, Composer, Keys, Open, Shown};
use crate::chat::{change, panel};

/// How long a question stands there, with no key pressed, before a key answers it.
const QUIET: Duration = Duration::from_millis(400);

/// A terminal that has not replied for so long never does.
const SILENT: Duration = Duration::from_secs(3);

/// A question that is being answered.
#[derive(Clone, Debug)]
pub struct Deciding {
    pub open: Open,
    pub stage: Stage,
    /// What stood in the composer before.
    pub draft: Composer,
}

/// What is wanted from the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// One of the choices.
    Choose,
    /// Whether it is to be allowed from now on.
    Always,
    /// A reason, in the composer.
    Reason,
    /// Other arguments, in the composer.
    Edit,
    /// Whether it is to be allowed with these.
    Edited(Json),
    /// An answer, in the composer.
    Answer,
}

impl Stage {
    /// Whether the answer is written in the composer.
    pub fn is_written(&self) -> bool {
        matches!(self, Stage::Reason | Stage::Edit | Stage::Answer)
    }
}

impl App {
    /// The question that is shown: the first that was not put off.
    pub fn front(&self) -> Option<&Open> {
        self.questions.iter().find(|open| !open.is_later)
    }

    /// The question was drawn, with what it would change. Whether the terminal is to be asked to reply to that.
    pub fn front_is_shown(&mut self, now: Instant) -> bool {
        let asked = self.asked_terminal + 1;
        match self.questions.iter_mut().find(|open| !open.is_later) {
            Some(open) if open.change.is_some() && open.shown.is_none() => {
                open.shown = Some(Shown { at: now, asked, seen_at: None });
                self.asked_terminal = asked;
                true
            }
            _ => false,
        }
    }

    /// The terminal has replied once more: what was drawn before it was asked is seen.
    pub(super) fn terminal_replied(&mut self, now: Instant) {
        self.replied = (self.replied + 1).min(self.asked_terminal);
        for shown in self.questions.iter_mut().filter_map(|open| open.shown.as_mut()) {
            if shown.asked <= self.replied {
                shown.seen_at.get_or_insert(now);
            }
        }
    }

    /// From when on keys answer a question that was drawn.
    pub fn armed_from(&self, shown: Shown) -> Instant {
        let seen_at = shown.seen_at.unwrap_or(shown.at + SILENT);
        self.last_key.map_or(seen_at, |key| key.max(seen_at)) + QUIET
    }

    /// Whether keys answer the question that is shown.
    pub fn is_armed(&self, now: Instant) -> bool {
        let shown = self.front().and_then(|open| open.shown);
        self.composer.is_empty() && shown.is_some_and(|shown| self.armed_from(shown) <= now)
    }

    /// Turns to a question.
    pub(super) fn turn_to(&mut self, question: Approval) -> Vec<Action> {
        let open = self.questions.iter().find(|open| open.question.id == question.id).cloned();
        let open = open.unwrap_or_else(|| Open::new(question));
        let wanted = open.wanted_change();
        let stage = if open.question.question.is_some() { Stage::Answer } else { Stage::Choose };
        let draft = self.composer.take_message();
        self.keys = Keys::Deciding(Box::new(Deciding { open, stage, draft }));
        wanted
    }

    /// What a call would change was read.
    pub(super) fn previewed(&mut self, id: &ApprovalId, change: &Arc<[Line]>) {
        let deciding = match &mut self.keys {
            Keys::Deciding(deciding) => Some(&mut deciding.open),
            _ => None,
        };
        let open = self.questions.iter_mut().chain(deciding).filter(|open| open.question.id == *id);
        open.for_each(|open| open.change = Some(change.clone()));
    }

    /// A key while a question is shown and nothing is written; none where the key is not an answer.
    pub(super) fn key_at_question(&mut self, key: KeyEvent, now: Instant) -> Option<Vec<Action>> {
        if !self.is_armed(now) {
            return None;
        }
        let question = self.front()?.question.clone();
        let is_asked = question.question.is_some();
        let answers = match key.code {
            KeyCode::Char(letter) if !is_asked => "ytane?".contains(letter.to_ascii_lowercase()),
            KeyCode::Char(_) | KeyCode::Enter => is_asked,
            KeyCode::Escape => true,
            _ => false,
        };
        if !answers || !key.modifiers.difference(termina::event::Modifiers::SHIFT).is_empty() {
            return None;
        }
        let mut actions = self.turn_to(question);
        if !(is_asked && key.code == KeyCode::Enter) {
            actions.extend(self.key_deciding(key, now));
        }
        Some(actions)
    }

    /// A key while a question is being answered.
    pub(super) fn key_deciding(&mut self, key: KeyEvent, now: Instant) -> Vec<Action> {
        let columns = self.columns();
        let Keys::Deciding(deciding) = &self.keys else { return Vec::new() };
        if key.code == KeyCode::Escape {
            return self.put_off(now);
        }
        let standing = deciding.open.question.standing.is_some();
        let letter = if let KeyCode::Char(letter) = key.code { letter.to_ascii_lowercase() } else { ' ' };
        if deciding.open.change.is_none() && deciding.stage == Stage::Choose && "yta".contains(letter) {
            self.hint("one moment: what it would change is being read", now);
            return Vec::new();
        }
        match (&deciding.stage, letter) {
            (Stage::Choose, 'y') => self.decide(allow(Scope::Once, None)),
            (Stage::Choose, 't') if standing => self.decide(allow(Scope::Thread, None)),
            (Stage::Choose, 'a') if standing => self.at_stage(Stage::Always, ""),
            (Stage::Choose, 't' | 'a') => {
                self.hint("this call can only be allowed once", now);
                Vec::new()
            }
            (Stage::Choose, 'n') => self.at_stage(Stage::Reason, ""),
            (Stage::Choose, 'e') => {
                let input = deciding.open.question.input.value();
                let text = serde_json::to_string_pretty(&input).unwrap_or_default();
                self.at_stage(Stage::Edit, &text)
            }
            (Stage::Choose, '?') => {
                let lines = panel::whole(&deciding.open, columns);
                self.stay.extend(lines);
                Vec::new()
            }
            (Stage::Always, 'y') => self.decide(allow(Scope::Always, None)),
            (Stage::Edited(input), 'y') => {
                let input = input.clone();
                self.decide(allow(Scope::Once, Some(input)))
            }
            (Stage::Always | Stage::Edited(_), _) => self.at_stage(Stage::Choose, ""),
            (Stage::Choose, _) => Vec::new(),
            (Stage::Reason | Stage::Edit | Stage::Answer, _) => match key.code {
                KeyCode::Enter if key.modifiers.is_empty() => self.written(now),
                _ => {
                    self.write(key, now);
                    Vec::new()
                }
            },
        }
    }

    /// What was written for a question is sent.
    fn written(&mut self, now: Instant) -> Vec<Action> {
        let Keys::Deciding(deciding) = &self.keys else { return Vec::new() };
        let (stage, question) = (deciding.stage.clone(), deciding.open.question.clone());
        let text = self.composer.whole();
        match stage {
            Stage::Reason => {
                let reason = Some(text.trim()).filter(|reason| !reason.is_empty()).map(Arc::from);
                self.decide(Decision::Deny { reason })
            }
            Stage::Answer => {
                let answer = question.question.as_ref().and_then(|asked| asked.answer(&text));
                self.decide(match answer {
                    Some(text) => Decision::Answer { text },
                    None => Decision::Deny { reason: None },
                })
            }
            Stage::Edit => match Json::parse(&text) {
                Ok(input) if input.value().is_object() => self.at_stage(Stage::Edited(input), ""),
                Ok(_) => {
                    self.hint("this is not a JSON object", now);
                    Vec::new()
                }
                Err(error) => {
                    self.hint(format!("this is not valid JSON: {error}"), now);
                    Vec::new()
                }
            },
            Stage::Choose | Stage::Always | Stage::Edited(_) => Vec::new(),
        }
    }

    fn at_stage(&mut self, stage: Stage, text: &str) -> Vec<Action> {
        if let Keys::Deciding(deciding) = &mut self.keys {
            deciding.stage = stage;
            self.composer.set(text);
        }
        Vec::new()
    }

    fn decide(&mut self, decision: Decision) -> Vec<Action> {
        let Keys::Deciding(deciding) = std::mem::replace(&mut self.keys, Keys::Writing) else { return Vec::new() };
        let Deciding { open, draft, .. } = *deciding;
        self.composer = draft;
        self.questions.retain(|other| other.question.id != open.question.id);
        vec![Action::Decide { question: Box::new(open.question), decision }]
    }

    /// The question stays open, and is counted; Ctrl-Y or `/approvals` leads back to it.
    fn put_off(&mut self, now: Instant) -> Vec<Action> {
        self.close();
        self.hint("put off; Ctrl-Y comes back to it", now);
        Vec::new()
    }
}

impl Open {
    /// A question that was not shown yet.
    pub fn new(question: Approval) -> Self {
        let change = change::at_once(&question);
        Self { question, change, shown: None, is_later: false }
    }

    /// What is to be read before it can be decided.
    pub fn wanted_change(&self) -> Vec<Action> {
        match self.change {
            Some(_) => Vec::new(),
            None => vec![Action::Preview(Box::new(self.question.clone()))],
        }
    }
}

pub(super) fn allow(scope: Scope, input: Option<Json>) -> Decision {
    Decision::Allow { scope, input }
}
