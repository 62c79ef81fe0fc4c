//! Lines, where lines are read and not keys: messages, commands, numbers of a list, and answers to questions.
//!
//! A question is printed with a number of its own, and a line answers it only by that number: what was meant for one question never
//! answers the next one. A line that was read before the question was printed answers nothing (T22).

use std::sync::Arc;
use std::time::Instant;

use agent::Json;
use agent::approval::{Approval, ApprovalId, Decision, Scope};
use view::draw::{Line, Style};

use super::deciding::allow;
use super::{Action, App, Keys, Open};
use crate::chat::change;
use crate::question::{self, Depth};

/// A question that was printed; its number is its place in the list, from 1.
#[derive(Debug)]
pub struct Printed {
    question: Approval,
    is_open: bool,
}

/// What stands behind the number of a question.
#[derive(Debug, PartialEq, Eq)]
enum Said<'a> {
    /// `.2`, and perhaps more.
    Choice(usize, &'a str),
    /// `: words`.
    Words(&'a str),
}

impl App {
    /// A line. So many questions had been printed when it was read.
    pub(super) fn typed(&mut self, line: String, printed: usize, now: Instant) -> Vec<Action> {
        let begun = self.unfinished.take();
        let is_first = begun.is_none();
        let line = match begun {
            Some(begun) => format!("{begun}\n{line}"),
            None => line,
        };
        if let Some(begun) = line.strip_suffix('\\') {
            self.unfinished = Some(begun.to_owned());
            return Vec::new();
        }
        if is_first && matches!(self.keys, Keys::Menu(_)) {
            let Keys::Menu(menu) = std::mem::replace(&mut self.keys, Keys::Writing) else { return Vec::new() };
            if let Ok(number) = line.trim().parse::<usize>() {
                let chosen = number.checked_sub(1).and_then(|at| menu.items.get(at)).map(|item| item.pick.clone());
                if let Some(pick) = chosen {
                    return self.picked(pick, now);
                }
                self.tell(&format!("the list has no number {number}; nothing was chosen"), Style::PLAIN);
                return Vec::new();
            }
        }
        if is_first && let Some((number, said)) = numbered(&line) {
            let known = number.checked_sub(1).and_then(|at| self.printed.get(at));
            if known.is_some_and(|known| known.question.question.is_some() || matches!(said, Said::Choice(..))) {
                return self.answered(number, &said, printed);
            }
        }
        if line.trim().is_empty() {
            return Vec::new();
        }
        self.composer.set(line);
        self.enter(now)
    }

    /// No line will come any more.
    pub(super) fn ended(&mut self, now: Instant) -> Vec<Action> {
        match self.unfinished.take() {
            Some(line) if !line.trim().is_empty() => {
                self.composer.set(line);
                self.enter(now)
            }
            _ => Vec::new(),
        }
    }

    /// Whether the next line can be taken: what was said before it has arrived where it is kept.
    pub fn takes_lines(&self) -> bool {
        self.is_ready && !self.is_under_way()
    }

    /// How many questions were printed.
    pub fn printed(&self) -> usize {
        self.printed.len()
    }

    fn answered(&mut self, number: usize, said: &Said<'_>, printed: usize) -> Vec<Action> {
        let known = &self.printed[number - 1];
        let question = known.question.clone();
        let refused = if number > printed {
            Some(format!("question {number} was not printed yet when this line was read; nothing was decided or sent"))
        } else if !known.is_open {
            Some(format!("question {number} is not open any more; nothing was decided or sent"))
        } else {
            None
        };
        let decision = match refused {
            Some(why) => Err(why),
            None if question.question.is_some() => answer(&question, said),
            None => choice(number, &question, said),
        };
        match decision {
            Ok(decision) => {
                self.printed[number - 1].is_open = false;
                self.questions.retain(|open| open.question.id != question.id);
                vec![Action::Decide { question: Box::new(question), decision }]
            }
            Err(why) => {
                self.tell(&why, Style::PLAIN);
                Vec::new()
            }
        }
    }

    /// A question was decided.
    pub(super) fn close_printed(&mut self, id: &ApprovalId) {
        self.printed.iter_mut().filter(|known| known.question.id == *id).for_each(|known| known.is_open = false);
    }

    /// Prints a question that was chosen from a list, once it is known what the call would change.
    pub(super) fn print_again(&mut self, question: Approval) -> Vec<Action> {
        let id = question.id.clone();
        if self.questions.iter().all(|open| open.question.id != id) {
            self.questions.push(Open::new(question));
        }
        self.raise(&id)
    }

    /// Prints a question with its number and its choices.
    pub(super) fn print(&mut self, open: &Open) {
        let at = self.printed.iter().position(|known| known.question.id == open.question.id);
        let known = Printed { question: open.question.clone(), is_open: true };
        let number = match at {
            Some(at) => {
                self.printed[at] = known;
                at + 1
            }
            None => {
                self.printed.push(known);
                self.printed.len()
            }
        };
        self.stay.extend(lines(number, open));
    }
}

fn answer(question: &Approval, said: &Said<'_>) -> Result<Decision, String> {
    let Some(asked) = &question.question else { return Err("it is not a question".to_owned()) };
    match said {
        Said::Choice(choice, "") if (1..=asked.choices.len()).contains(choice) => {
            Ok(Decision::Answer { text: asked.choices[choice - 1].clone() })
        }
        Said::Choice(choice, _) => Err(format!("there is no choice {choice}; nothing was sent")),
        Said::Words(words) => Ok(match asked.answer(words) {
            Some(text) => Decision::Answer { text },
            None => Decision::Deny { reason: None },
        }),
    }
}

fn choice(number: usize, question: &Approval, said: &Said<'_>) -> Result<Decision, String> {
    let Said::Choice(choice, rest) = said else { return Err("type the number of a choice".to_owned()) };
    let can_stand = question.standing.is_some();
    match (choice, *rest) {
        (1, "") => Ok(allow(Scope::Once, None)),
        (2, "") if can_stand => Ok(allow(Scope::Thread, None)),
        (3, "yes") if can_stand => Ok(allow(Scope::Always, None)),
        (3, "") if can_stand => Err(format!(
            "this would hold from now on, in every conversation, for '{}'; to allow it type: {number}.3 yes",
            view::safe::line(question.standing.as_deref().unwrap_or_default(), 2000)
        )),
        (4, "") => Ok(Decision::Deny { reason: None }),
        (4, reason) => Ok(Decision::Deny { reason: Some(Arc::from(reason)) }),
        (5, "") => Err(format!("type the complete input behind it, as JSON in one line: {number}.5 {{…}}")),
        (5, input) => match Json::parse(input) {
            Ok(input) if input.value().is_object() => Ok(allow(Scope::Once, Some(input))),
            Ok(_) => Err("this is not a JSON object; nothing was decided".to_owned()),
            Err(error) => Err(format!("this is not valid JSON: {error}; nothing was decided")),
        },
        _ => Err(format!("question {number} has no choice '{choice} {rest}'; nothing was decided")),
    }
}

/// The number of a question at the beginning of a line, with what stands behind it.
fn numbered(line: &str) -> Option<(usize, Said<'_>)> {
    let line = line.trim();
    let behind = |text: &str| text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = line.split_at(behind(line));
    let number = number.parse().ok()?;
    if let Some(words) = rest.strip_prefix(':') {
        return Some((number, Said::Words(words.trim())));
    }
    let rest = rest.strip_prefix('.')?;
    let (choice, rest) = rest.split_at(behind(rest));
    let is_apart = rest.is_empty() || rest.starts_with(char::is_whitespace);
    Some((number, Said::Choice(choice.parse().ok().filter(|_| is_apart)?, rest.trim())))
}

/// A question as lines, with numbered choices.
fn lines(number: usize, open: &Open) -> Vec<Line> {
    let question = &open.question;
    let say = |words: String| Line::new(words, Style::PLAIN);
    let mut lines = vec![Line::default()];
    if let Some(asked) = &question.question {
        lines.push(say(format!("question {number} of {} ({}):", question::path(question), question.id)));
        lines.extend(view::safe::block(&asked.text).lines().map(|line| say(format!("  {line}"))));
        let choices = asked.choices.iter().enumerate();
        lines.extend(
            choices.map(|(nth, choice)| say(format!("  {number}.{} {}", nth + 1, view::safe::line(choice, 400)))),
        );
        let choose = if asked.choices.is_empty() { "" } else { "the number of a choice, or " };
        lines.push(say(format!("type {choose}{number}: and your answer; {number}: alone lets the agent decide")));
        return lines;
    }
    lines.push(say(format!("approval {number} ({}):", question.id)));
    lines.extend(question::lines(question, Depth::Short, crate::out::now()).into_iter().map(say));
    let change = open.change.clone().unwrap_or_else(|| change::as_it_stands(question).into());
    lines.extend(change.iter().map(|line| say(line.text())));
    lines.push(say(format!("  {number}.1 allow once")));
    if question.standing.is_some() {
        lines.push(say(format!("  {number}.2 allow in this thread")));
        lines.push(say(format!("  {number}.3 always allow")));
    }
    lines.push(say(format!("  {number}.4 deny; a reason may stand behind it")));
    lines.push(say(format!("  {number}.5 allow with other input, which stands behind it as JSON")));
    lines.push(say(format!("type the number of a choice, such as {number}.1")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_question_by_its_number_and_is_a_message_otherwise() {
        assert_eq!(numbered(" 1.2 "), Some((1, Said::Choice(2, ""))));
        assert_eq!(numbered("12.4 not now"), Some((12, Said::Choice(4, "not now"))));
        assert_eq!(numbered("3: a daisy"), Some((3, Said::Words("a daisy"))));
        assert_eq!(numbered("3:"), Some((3, Said::Words(""))));
        for message in ["1", "1. first", "1.2.3", "2nd", "one", ".1", "", "1.x"] {
            assert_eq!(numbered(message), None, "{message}");
        }
    }
}
