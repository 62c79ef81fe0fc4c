//! A person's decision on its way: delivered as every input is, bound to what was shown, and followed until it is known what came of
//! it. The process that owns the thread takes it up; it is never taken over here. Consent for ever is then in
//! force in every process, whichever interface it was given at and whether or not a process drives the run.

use std::sync::Arc;
use std::time::Duration;

use agent::approval::{Approval, Decision, Resolution, Scope};
use agent::permission::{Action, Rule};
use agent::{Event, InputId, Outside, ThreadId, Time};
use futures_util::StreamExt;
use runtime::Runtime;
use store::{Consent, InstallationEvent, Process, Record, Selection, Store, follow, replay};

use crate::threads::is_left;

/// After this long without anything new it is looked whether the owner is still there.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// What came of a decision.
#[derive(Debug)]
pub enum DecisionOutcome {
    /// Its owner took it up, and this is the end of the question.
    Resolved(Resolution),
    /// It came to nothing.
    Nothing(Arc<str>),
    /// It is in the log, and no process drives the thread.
    Kept,
}

/// A name for a decision on a question, which no other has.
pub(crate) fn input_of(shown: &Approval) -> InputId {
    InputId::new(format!("{}/{}/{}", Process::current().id, runtime::short_name(), shown.id))
}

/// Delivers a decision on what was shown, and waits for what comes of it.
/// Consent for ever is kept as [a standing consent](standing_consent) where it was accepted, or will be when the run goes on: also if
/// the caller gives up waiting, as the handler of a request does when its client goes away.
pub(crate) async fn decide(
    runtime: &Runtime,
    input: InputId,
    shown: &Approval,
    decision: Decision,
) -> Result<DecisionOutcome, runtime::Error> {
    let (runtime, shown) = (runtime.clone(), shown.clone());
    let deciding = tokio::spawn(async move { deliver_and_keep(&runtime, input, &shown, decision).await });
    match deciding.await {
        Ok(outcome) => outcome,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // This process is going away.
            Err(_) => Err(store::Error::Closed.into()),
        },
    }
}

async fn deliver_and_keep(
    runtime: &Runtime,
    input: InputId,
    shown: &Approval,
    decision: Decision,
) -> Result<DecisionOutcome, runtime::Error> {
    let is_always = matches!(decision, Decision::Allow { scope: Scope::Always, .. });
    let outcome = deliver(runtime, input, shown, decision).await?;
    let is_accepted = matches!(
        outcome,
        DecisionOutcome::Kept | DecisionOutcome::Resolved(Resolution::Allowed { scope: Scope::Always, .. })
    );
    if is_always
        && is_accepted
        && let Some(consent) = standing_consent(shown)
    {
        runtime.store().record(InstallationEvent::ConsentGiven(consent), now()).await?;
    }
    Ok(outcome)
}

/// Delivers a decision and waits for what comes of it.
async fn deliver(
    runtime: &Runtime,
    input: InputId,
    shown: &Approval,
    decision: Decision,
) -> Result<DecisionOutcome, runtime::Error> {
    let (store, thread) = (runtime.store(), shown.id.thread());
    let decided = Outside::Decided { approval: shown.id.clone(), digest: shown.digest.clone(), decision };
    let head = store.thread(&thread).await?.map_or(0, |row| row.head);
    let mut log = follow(store, Selection::thread(&thread).after(head));
    match runtime.send_as(input.clone(), &thread, decided).await {
        Ok(()) => {}
        Err(runtime::Error::Idle(_)) => return Ok(over(&**store, shown).await?),
        Err(error) => return Err(error),
    }
    let came_in = |page: &[Record]| page.iter().find_map(|record| came(&record.event, shown, &input));
    loop {
        // Looked at before the log: what an owner wrote before it went is then there.
        let is_alone = is_alone(&**store, &thread).await?;
        let mut page = log.ready().await?;
        while !page.is_empty() {
            if let Some(outcome) = came_in(&page) {
                return Ok(outcome);
            }
            page = log.ready().await?;
        }
        if is_alone {
            return Ok(left(&**store, shown, &input).await?);
        }
        // Nothing may happen for long; the owner may go without a word.
        if let Ok(Some(page)) = tokio::time::timeout(LOOK_AGAIN, log.next()).await
            && let Some(outcome) = came_in(&page?)
        {
            return Ok(outcome);
        }
    }
}

/// The rule that consent for ever stands for; none where such consent is not offered.
pub fn standing_rule(question: &Approval) -> Option<Rule> {
    let pattern = question.standing.clone()?;
    let tool = question.tool.clone();
    Some(Rule { tool, pattern: Some(pattern), agent: None, action: Action::Allow, origin: "".into() })
}

/// What consent for ever to a question is kept as; none where such consent is not offered.
pub fn standing_consent(question: &Approval) -> Option<Consent> {
    let rule = standing_rule(question)?;
    Some(Consent { approval: Some(question.id.clone()), ..crate::rules::consent(&rule, now()) })
}

/// What was decided, as the end of a sentence.
pub fn words(resolution: &Resolution) -> String {
    use view::safe::line;
    const WORDS: usize = 1000;
    match resolution {
        Resolution::Allowed { scope: Scope::Once, input: None, .. } => "approved, once".to_owned(),
        Resolution::Allowed { scope: Scope::Once, input: Some(_), .. } => "approved, with other arguments".to_owned(),
        Resolution::Allowed { scope: Scope::Thread, .. } => "approved, for this thread".to_owned(),
        Resolution::Allowed { scope: Scope::Always, .. } => "approved, for ever".to_owned(),
        Resolution::Answered { text } => format!("answered: {}", line(text, WORDS)),
        Resolution::Denied { reason: None } => "denied".to_owned(),
        Resolution::Denied { reason: Some(reason) } => format!("denied: {}", line(reason, WORDS)),
        Resolution::Forbidden { rule } => format!("forbidden, whatever a person says: {}", line(rule, WORDS)),
        Resolution::Expired { .. } => "expired: nobody decided in time".to_owned(),
        Resolution::Unanswered { .. } => "refused, for nobody could be asked any more".to_owned(),
        Resolution::Withdrawn { reason } => format!("withdrawn: {}", line(reason, WORDS)),
    }
}

fn now() -> Time {
    runtime::Clock::default().now()
}

fn came(event: &Event, shown: &Approval, sent: &InputId) -> Option<DecisionOutcome> {
    match event {
        Event::ApprovalResolved { approval, input, resolution, .. } if *approval == shown.id => {
            Some(if input.as_ref() == Some(sent) {
                DecisionOutcome::Resolved(resolution.clone())
            } else {
                DecisionOutcome::Nothing(format!("it is {}", words(resolution)).into())
            })
        }
        Event::InputDropped { input, reason } if input == sent => Some(DecisionOutcome::Nothing(reason.clone())),
        Event::Reported(_) => Some(DecisionOutcome::Nothing("the thread is over".into())),
        _ => None,
    }
}

/// What a decision is on a question of a thread that is over.
async fn over(store: &dyn Store, shown: &Approval) -> Result<DecisionOutcome, store::Error> {
    let row = store.approval(&shown.id).await?;
    let status = row.map(|row| row.status).filter(|status| !status.is_open());
    Ok(DecisionOutcome::Nothing(match status {
        Some(status) => format!("it is {status}").into(),
        None => "the thread is over".into(),
    }))
}

/// What becomes of a decision that no process takes up: kept, if it is the first one on a question that is still open.
async fn left(store: &dyn Store, shown: &Approval, sent: &InputId) -> Result<DecisionOutcome, store::Error> {
    let row = store.approval(&shown.id).await?;
    match row.map(|row| row.status) {
        Some(status) if status.is_open() => {}
        Some(status) => return Ok(DecisionOutcome::Nothing(format!("it is {status}").into())),
        None => return Ok(DecisionOutcome::Nothing("its thread was removed".into())),
    }
    let mut standing = Vec::new();
    let see = |record: Record| match &*record.event {
        Event::InputArrived { id, input: Outside::Decided { approval, .. } } if *approval == shown.id => {
            standing.push(id.clone());
        }
        Event::InputDropped { input, .. } => standing.retain(|id| id != input),
        _ => {}
    };
    replay(store, Selection::thread(&shown.id.thread()), see).await?;
    let is_first = standing.first() == Some(sent);
    Ok(if is_first {
        DecisionOutcome::Kept
    } else {
        DecisionOutcome::Nothing("it was already decided elsewhere".into())
    })
}

/// Whether no process drives the thread.
async fn is_alone(store: &dyn Store, thread: &ThreadId) -> Result<bool, store::Error> {
    let row = store.thread(thread).await?;
    let living = store.living(now()).await?;
    Ok(row.is_none_or(|row| !row.state.is_live() || is_left(&row, &living)))
}
