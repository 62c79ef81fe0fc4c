//! `majordomo approve`: the approvals and answers that agents wait for, and a person's decisions.
//!
//! A decision is bound to the digest that was read together with the question, goes into the log of the thread that asks,
//! in whichever process that runs, and is read by the process that owns the thread. Nothing is run here.

use std::io::IsTerminal;
use std::sync::Arc;

use agent::approval::{Approval, ApprovalKind, Decision, Resolution, Scope};
use agent::{Json, Time};
use majordomo::config::Flags;
use majordomo::decide::{self, DecisionOutcome};
use majordomo::staff::{Options, open_store};
use serde_json::{Value, json};
use store::{ApprovalQuery, ApprovalRow, ApprovalStatus, Store};
use view::draw::columns;
use view::safe;

use super::{configured, staff};
use crate::error::Failure;
use crate::out;
use crate::question::{self, Depth};

/// The longest sentence in a list.
const WORDS: usize = 60;
/// The least room for what a call would do, before other columns are left out.
const LEAST_EFFECT: usize = 12;
/// The longest reason that is shown.
const REASON: usize = 1000;

/// `majordomo approve ls`.
pub async fn ls(flags: &Flags, all: bool, json: bool, limit: usize) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let rows = open_store(&config)?.approvals(ApprovalQuery { open_only: !all, limit }).await?;
    let mut result = out::Result::Stdout;
    if json {
        let rows: Vec<Value> = rows.iter().map(|row| json!(row)).collect();
        result.line(&Value::from(rows).to_string())?;
        return Ok(0);
    }
    for line in table(&rows) {
        if !result.line(&line)? {
            break;
        }
    }
    if rows.is_empty() {
        out::note(if all { "there are no approvals" } else { "no approval is pending; --all shows earlier ones" });
    } else if rows.len() == limit {
        out::note(&format!("the newest {limit} are shown; -n shows more"));
    }
    Ok(0)
}

/// `majordomo approve show`.
pub async fn show(name: &str, flags: &Flags, json: bool) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let row = open_store(&config)?.find_approval(name).await?;
    let mut result = out::Result::Stdout;
    if json {
        result.line(&json!(row).to_string())?;
        return Ok(0);
    }
    let mut lines = vec![format!("{} is {}", row.question.id, stands(&row))];
    lines.extend(question::lines(&row.question, Depth::Whole, out::now()));
    for line in lines {
        if !result.line(&line)? {
            break;
        }
    }
    Ok(0)
}

/// `majordomo approve yes`.
pub async fn yes(name: &str, scope: Scope, input: Option<&str>, flags: &Flags) -> Result<u8, Failure> {
    let input = input.map(arguments).transpose()?;
    let decision = |shown: &Approval| {
        if shown.kind() == ApprovalKind::Question {
            let how = question::how_to_decide(&shown.id, shown.kind());
            return Err(Failure::usage(format!("{} is a question; {how}", shown.id)));
        }
        if scope == Scope::Once {
            return Ok(Decision::Allow { scope, input });
        }
        let Some(rule) = decide::standing_rule(shown) else {
            return Err(Failure::usage(format!(
                "{} can only be allowed once: majordomo approve yes {}",
                safe::line(&shown.tool, WORDS),
                shown.id
            )));
        };
        out::note(&format!("allowed from now on: {}", safe::line(&rule.to_string(), REASON)));
        Ok(Decision::Allow { scope, input })
    };
    let (shown, outcome) = decide(name, flags, decision).await?;
    let allowed = matches!(outcome, DecisionOutcome::Kept | DecisionOutcome::Resolved(Resolution::Allowed { .. }));
    if allowed && scope == Scope::Always {
        out::tell_consent(&shown);
    }
    tell(&shown, outcome, allowed)
}

/// `majordomo approve answer`.
pub async fn answer(name: &str, text: &str, flags: &Flags) -> Result<u8, Failure> {
    let decision = |shown: &Approval| {
        let Some(asked) = &shown.question else {
            let how = question::how_to_decide(&shown.id, shown.kind());
            return Err(Failure::usage(format!("{} asks whether a call may be made; {how}", shown.id)));
        };
        let text = asked.answer(text).ok_or_else(|| Failure::usage("the answer is empty"))?;
        Ok(Decision::Answer { text })
    };
    let (shown, outcome) = decide(name, flags, decision).await?;
    let answered = matches!(outcome, DecisionOutcome::Kept | DecisionOutcome::Resolved(Resolution::Answered { .. }));
    tell(&shown, outcome, answered)
}

/// `majordomo approve no`.
pub async fn no(name: &str, reason: Option<&str>, flags: &Flags) -> Result<u8, Failure> {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty()).map(Arc::from);
    let (shown, outcome) = decide(name, flags, |_| Ok(Decision::Deny { reason })).await?;
    let denied = matches!(outcome, DecisionOutcome::Kept | DecisionOutcome::Resolved(Resolution::Denied { .. }));
    tell(&shown, outcome, denied)
}

/// Finds a question that can still be decided, and decides it as `decision` says, unless that says why it cannot.
async fn decide(
    name: &str,
    flags: &Flags,
    decision: impl FnOnce(&Approval) -> Result<Decision, Failure>,
) -> Result<(Approval, DecisionOutcome), Failure> {
    let (surroundings, config) = configured(flags)?;
    let staff = staff(&surroundings, config, Options::default()).await?;
    let decided: Result<_, Failure> = async {
        let shown = pending(&**staff.runtime().store(), name).await?;
        let decision = decision(&shown)?;
        let outcome = staff.session_of(&shown.id.thread()).decide(&shown, decision).await?;
        Ok((shown, outcome))
    }
    .await;
    staff.runtime().leave().await;
    decided
}

/// A question that can still be decided.
async fn pending(store: &dyn Store, name: &str) -> Result<Approval, Failure> {
    let row = store.find_approval(name).await?;
    let id = &row.question.id;
    match row.status {
        ApprovalStatus::Pending if row.question.expires_at <= out::now() => {
            Err(Failure::usage(format!("{id} has expired and counts as denied")))
        }
        ApprovalStatus::Pending => Ok(row.question),
        ApprovalStatus::Decided => {
            let resume = format!("majordomo thread resume {}", row.root);
            Err(Failure::usage(format!("{id} is already decided; the decision takes effect with: {resume}")))
        }
        _ => Err(Failure::usage(format!("{id} is {} already", stands(&row)))),
    }
}

/// Says what came of a decision; whether that is what was decided is the exit code.
fn tell(shown: &Approval, outcome: DecisionOutcome, is_as_decided: bool) -> Result<u8, Failure> {
    let id = &shown.id;
    match outcome {
        DecisionOutcome::Resolved(resolution) if is_as_decided => {
            out::note(&format!("{id} is {}", decide::words(&resolution)));
            Ok(0)
        }
        DecisionOutcome::Resolved(resolution) => Err(Failure::usage(format!("{id} is {}", decide::words(&resolution)))),
        DecisionOutcome::Nothing(reason) => {
            Err(Failure::usage(format!("the decision on {id} has no effect: {}", safe::line(&reason, REASON))))
        }
        DecisionOutcome::Kept => {
            let root = id.thread().root();
            out::note(&format!(
                "recorded for {id}, whose process has ended; it takes effect with: majordomo thread resume {root}"
            ));
            Ok(0)
        }
    }
}

fn arguments(text: &str) -> Result<Json, Failure> {
    let input = Json::parse(text).map_err(|error| Failure::usage(format!("--input is not valid JSON: {error}")))?;
    if !input.value().is_object() {
        return Err(Failure::usage("--input must be a JSON object: tools take named arguments"));
    }
    Ok(input)
}

/// What has come of a question, as the end of a sentence.
fn stands(row: &ApprovalRow) -> String {
    match row.reason.as_ref().or(row.answer.as_ref()) {
        Some(reason) => format!("{} ({})", row.status, safe::line(reason, REASON)),
        None => row.status.to_string(),
    }
}

/// Questions as lines whose columns are as wide as they must be.
fn table(rows: &[ApprovalRow]) -> Vec<String> {
    let zone = majordomo::zone::local();
    let when = |at: Time| {
        let moment = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
        moment.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
    };
    let cells = |row: &ApprovalRow| {
        let asked = &row.question;
        let (risk, tool) = (asked.risk.as_str().to_owned(), safe::line(&asked.tool, WORDS));
        [asked.id.to_string(), row.status.to_string(), when(row.requested_at), risk, question::path(asked), tool]
    };
    let cells: Vec<[String; 6]> = rows.iter().map(cells).collect();
    let wide = |column: usize| cells.iter().map(|cells| columns::width(&cells[column])).max().unwrap_or(0);
    let mut widths = [0, 1, 2, 3, 4, 5].map(wide);
    let stdout = std::io::stdout();
    let room = if stdout.is_terminal() { out::width(&stdout) } else { usize::MAX };
    // A narrow terminal loses the moment first, then the agents, the status and the risk; `approve show` has all of it.
    let room = columns::leave_out(&mut widths, &[2, 4, 1, 3], LEAST_EFFECT, room).min(WORDS);
    let line = |(row, cells): (&ApprovalRow, &[String; 6])| {
        let effect = columns::cut(&safe::line(&row.question.effect, WORDS), room, '…');
        let shown = cells.iter().zip(widths).filter(|(_, wide)| *wide > 0);
        let line: String = shown.map(|(cell, wide)| format!("{} ", columns::left(cell, wide))).collect();
        (line + &effect).trim_end().to_owned()
    };
    rows.iter().zip(&cells).map(line).collect()
}
