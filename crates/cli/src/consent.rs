//! Consent in line: what the run that is watched here asks, for consent or for an answer, put to the person at this terminal.
//!
//! Questions come from the log, in its order, and are asked one by one. An answer is for the question that stood there, by its
//! name and its digest, whatever came in meanwhile (T22); a question that is answered elsewhere is taken back. What is not
//! answered here stays pending, for `majordomo approve` and for a process that resumes the run.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::Arc;

use agent::approval::{Approval, ApprovalId, Decision, Question, Resolution, Scope};
use agent::{Event, Json};
use majordomo::decide::{self, DecisionOutcome};
use majordomo::staff::{Consent, Options, Staff};
use store::Record;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;
use view::safe;

use crate::arguments::{Approvals, Questions};
use crate::out;
use crate::person::{AtTerminal, Prompt, Reply, Withdrawal};
use crate::question::{self, Depth};

/// The longest reason or pattern that is shown.
const WORDS: usize = 1000;

/// How a person's consent is had for a run.
pub enum Asking {
    /// In line, at this terminal.
    Here(Arc<AtTerminal>),
    /// By a person in another interface, later.
    Elsewhere,
    /// Not at all: what needs it is refused at once.
    Nobody,
}

impl Asking {
    /// As the command line says; a person at a terminal is asked unless it says otherwise.
    pub fn new(questions: &Questions) -> Self {
        let unsaid = if std::io::stdin().is_terminal() { Approvals::Ask } else { Approvals::Deny };
        match questions.approvals.unwrap_or(unsaid) {
            Approvals::Ask => Asking::Here(Arc::default()),
            Approvals::Wait => Asking::Elsewhere,
            Approvals::Deny => Asking::Nobody,
        }
    }

    /// The person at this terminal, if anybody is asked here.
    pub fn person(&self) -> Option<&Arc<AtTerminal>> {
        match self {
            Asking::Here(person) => Some(person),
            Asking::Elsewhere | Asking::Nobody => None,
        }
    }

    /// A staff that can ask so.
    pub fn options(&self) -> Options {
        let consent = match self {
            Asking::Here(_) | Asking::Elsewhere => Consent::Asked,
            Asking::Nobody => Consent::Nobody,
        };
        Options { consent, ..Options::default() }
    }
}

/// Puts the questions of one family to the person at this terminal.
pub struct Asker {
    queue: UnboundedSender<(Approval, Withdrawal)>,
    open: HashMap<ApprovalId, Withdrawal>,
    worker: JoinHandle<()>,
}

impl Asker {
    /// Begins to ask.
    pub fn new(person: Arc<AtTerminal>, staff: Staff) -> Self {
        let (queue, questions) = mpsc::unbounded_channel();
        let worker = tokio::spawn(ask_all(person, staff, questions));
        Self { queue, open: HashMap::new(), worker }
    }

    /// Takes in what was written: what is asked stands in line, what is answered is taken back.
    pub fn push(&mut self, records: &[Record]) {
        for record in records {
            match &*record.event {
                Event::ApprovalRequested(question) => {
                    let over = Withdrawal::default();
                    self.open.insert(question.id.clone(), over.clone());
                    // The worker has left with the person.
                    let _ = self.queue.send(((**question).clone(), over));
                }
                Event::ApprovalResolved { approval, resolution, .. } => {
                    if let Some(over) = self.open.remove(approval) {
                        over.end(decide::words(resolution));
                    }
                }
                _ => {}
            }
        }
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.worker.abort();
    }
}

async fn ask_all(person: Arc<AtTerminal>, staff: Staff, mut questions: UnboundedReceiver<(Approval, Withdrawal)>) {
    while let Some((question, over)) = questions.recv().await {
        let prompt = person.take(over.clone()).await;
        if over.why().is_some() {
            continue;
        }
        let id = question.id.clone();
        let said = match &question.question {
            Some(asked) => answer(&prompt, &question, asked, questions.len()).await,
            None => consult(&prompt, &question, questions.len()).await,
        };
        match said {
            Said::Decided(decision) => {
                drop(prompt);
                hand_in(&staff, &question, decision).await;
            }
            Said::Withdrawn => {
                let why = over.why().unwrap_or_default();
                prompt.say(&format!("\n-- {id} needs no answer here any more: {why}\n"));
            }
            Said::Nothing => {
                drop(prompt);
                out::note(&format!("{id} is pending; {}", question::how_to_decide(&id, question.kind())));
            }
        }
    }
}

/// Sends a decision on its way. What comes of it is in the log, and shown from there.
async fn hand_in(staff: &Staff, question: &Approval, decision: Decision) {
    let is_always = matches!(decision, Decision::Allow { scope: Scope::Always, .. });
    match staff.session_of(&question.id.thread()).decide(question, decision).await {
        Ok(DecisionOutcome::Resolved(Resolution::Allowed { scope: Scope::Always, .. })) if is_always => {
            out::tell_consent(question);
        }
        Ok(_) => {}
        Err(error) => out::note(&format!("the decision on {} could not be written: {error}", question.id)),
    }
}

/// What a person said to a question.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Decided(Decision),
    /// It was answered elsewhere before.
    Withdrawn,
    /// Nobody answers here.
    Nothing,
}

/// Shows what an agent wants to know, and reads the answer. An empty line leaves it to the agent.
async fn answer(prompt: &Prompt, question: &Approval, asked: &Question, waiting: usize) -> Said {
    let head = format!("\n? {} {} asks{}\n", question.id, question::path(question), more(waiting));
    let lines: String = question::asked(asked).iter().map(|line| format!("{line}\n")).collect();
    let hint = "  type your answer; an empty line lets the agent decide\n> ";
    match prompt.ask(head + &lines + hint).await {
        Reply::Line(line) => Said::Decided(match asked.answer(&line) {
            Some(text) => Decision::Answer { text },
            None => Decision::Deny { reason: None },
        }),
        Reply::Withdrawn => Said::Withdrawn,
        Reply::Nobody => Said::Nothing,
    }
}

/// How many questions come after this one, in words.
fn more(waiting: usize) -> String {
    if waiting == 0 { String::new() } else { format!(" ({waiting} more waiting)") }
}

/// Shows a question and talks until it is decided. An empty line decides nothing.
async fn consult(prompt: &Prompt, question: &Approval, waiting: usize) -> Said {
    let head = format!("\n? {} needs your approval{}\n", question.id, more(waiting));
    let mut text = head + &shown(question, Depth::Short) + &choices(question);
    loop {
        let word = match prompt.ask(text).await {
            Reply::Line(line) => line.trim().to_lowercase(),
            Reply::Withdrawn => return Said::Withdrawn,
            Reply::Nobody => return Said::Nothing,
        };
        let said = match word.as_str() {
            "y" | "yes" => Ok(allow(Scope::Once, None)),
            "t" => for_thread(question),
            "a" => always(prompt, question).await,
            "n" | "no" => refused(prompt).await,
            "e" => edited(prompt).await,
            "?" => Err(Instead::Say(shown(question, Depth::Whole))),
            _ => Err(Instead::Say(String::new())),
        };
        text = match said {
            Ok(decision) => return Said::Decided(decision),
            Err(Instead::Say(words)) => words + &choices(question),
            Err(Instead::Reply(Reply::Withdrawn)) => return Said::Withdrawn,
            Err(Instead::Reply(_)) => return Said::Nothing,
        };
    }
}

/// What there is where there is no decision.
enum Instead {
    /// Words, before it is asked again.
    Say(String),
    /// The end of the talk.
    Reply(Reply),
}

fn for_thread(question: &Approval) -> Result<Decision, Instead> {
    match &question.standing {
        Some(_) => Ok(allow(Scope::Thread, None)),
        None => Err(not_offered()),
    }
}

async fn always(prompt: &Prompt, question: &Approval) -> Result<Decision, Instead> {
    let Some(rule) = decide::standing_rule(question) else { return Err(not_offered()) };
    let rule = safe::line(&rule.to_string(), WORDS);
    match line(prompt, format!("  rule: {rule}\n  allow this from now on? [y/N] ")).await?.as_str() {
        "y" | "yes" | "Y" => Ok(allow(Scope::Always, None)),
        _ => Err(Instead::Say(String::new())),
    }
}

async fn refused(prompt: &Prompt) -> Result<Decision, Instead> {
    let reason = line(prompt, "  reason for the agent (may be empty): ".to_owned()).await?;
    Ok(Decision::Deny { reason: Some(reason).filter(|reason| !reason.is_empty()).map(Arc::from) })
}

async fn edited(prompt: &Prompt) -> Result<Decision, Instead> {
    let text = line(prompt, "  the complete input as one line of JSON (empty to go back): ".to_owned()).await?;
    if text.is_empty() {
        return Err(Instead::Say(String::new()));
    }
    let input = match Json::parse(&text) {
        Ok(input) if input.value().is_object() => input,
        Ok(_) => return Err(Instead::Say("  this is not a JSON object\n".to_owned())),
        Err(error) => return Err(Instead::Say(format!("  this is not valid JSON: {error}\n"))),
    };
    let shown: String = question::input(&input, Depth::Whole).iter().map(|line| format!("{line}\n")).collect();
    match line(prompt, format!("{shown}  allow it once with this input? [y/N] ")).await?.as_str() {
        "y" | "yes" | "Y" => Ok(allow(Scope::Once, Some(input))),
        _ => Err(Instead::Say(String::new())),
    }
}

async fn line(prompt: &Prompt, text: String) -> Result<String, Instead> {
    match prompt.ask(text).await {
        Reply::Line(line) => Ok(line.trim().to_owned()),
        other => Err(Instead::Reply(other)),
    }
}

fn allow(scope: Scope, input: Option<Json>) -> Decision {
    Decision::Allow { scope, input }
}

fn not_offered() -> Instead {
    Instead::Say("  this call can only be allowed once\n".to_owned())
}

fn shown(question: &Approval, depth: Depth) -> String {
    question::lines(question, depth, out::now()).iter().map(|line| format!("{line}\n")).collect()
}

fn choices(question: &Approval) -> String {
    let more = if question.standing.is_some() { " · t allow in this thread · a always allow" } else { "" };
    format!("y allow once{more} · n deny · e edit input · ? details\n> ")
}

#[cfg(test)]
mod tests;
