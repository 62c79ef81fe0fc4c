//! `majordomo run` and `majordomo thread resume`: one run, watched to its end.

use agent::{Event, Json, Report, ThreadId};
use majordomo::SAMPLE;
use majordomo::config::{Config, Flags};
use majordomo::staff::{Staff, Work, open_store};
use runtime::{Fleeting, FleetingKind, RunHandle};
use store::{ApprovalQuery, Record};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::broadcast::{self, error::RecvError};

use super::{configured, staff, surroundings, trust};
use crate::arguments::{Approvals, Output, Questions, Run};
use crate::consent::{Asker, Asking};
use crate::error::Failure;
use crate::show::{Prepared, Show, how_to_decide};
use crate::{out, prompt};
use majordomo::follow::{Follower, passing};

/// `majordomo run`.
pub async fn run(arguments: Run) -> Result<u8, Failure> {
    let may_ask = arguments.questions.approvals != Some(Approvals::Deny);
    let flags = Flags { demo: arguments.demo, ..arguments.settings.flags() };
    let (surroundings, config) = trust::settled(&flags, may_ask)?;
    let prompt = prompt::read(arguments.prompt.as_deref())?;
    let output_schema = arguments.schema.as_deref().map(read_schema).transpose()?;
    let quiet = arguments.output.quiet || arguments.output.jsonl;
    let prepared = Prepared::new(arguments.output, &config.dialect)?;
    let asking = Asking::new(&arguments.questions);
    let house = staff(&surroundings, config, asking.options()).await?;
    let model = house.model()?.to_owned();
    let work = Work { prompt, output_schema, ..Work::default() };
    let fleeting = house.runtime().fleeting();
    let handle = house.start(work).await?;
    if !quiet {
        out::note(&format!("model {model} · thread {}", handle.thread));
        for hint in hints(&model, arguments.demo) {
            out::note(&hint);
        }
    }
    let show = Show::new(handle.thread.clone(), prepared, &asking);
    let asker = asker(&house, &asking);
    watch(&house, handle, show, asker, 0, fleeting).await
}

/// `majordomo thread resume`.
pub async fn resume(name: &str, flags: &Flags, questions: &Questions, output: Output) -> Result<u8, Failure> {
    let flags = as_begun(name, flags).await?;
    let (surroundings, config) = configured(&flags)?;
    let quiet = output.quiet || output.jsonl;
    let prepared = Prepared::new(output, &config.dialect)?;
    let asking = Asking::new(questions);
    let house = staff(&surroundings, config, asking.options()).await?;
    let store = house.runtime().store().clone();
    let thread = store.resolve(name).await?;
    if !thread.is_root() {
        let root = thread.root();
        return Err(Failure::usage(format!(
            "{thread} is a sub-agent; resume its root: majordomo thread resume {root}"
        )));
    }
    let mut show = Show::new(thread.clone(), prepared, &asking);
    let fleeting = house.runtime().fleeting();
    let before = Follower::new(store.clone(), thread.clone()).read_all().await?;
    let handle = match house.resume(&thread).await {
        Ok(handle) => handle,
        Err(majordomo::staff::Error::Runtime(runtime::Error::Idle(_))) => {
            // Another process may have gone on with it and come to its end since the log was read.
            let before = Follower::new(store, thread.clone()).read_all().await?;
            let report =
                before.iter().rev().find_map(|record| majordomo::follow::root_report(record, &thread)).cloned();
            let report = report.ok_or_else(|| Failure::failed(format!("thread {thread} has no run")))?;
            out::note("the run is already finished; this is its answer");
            show.catch_up(&before);
            let now = house.runtime().clock().now();
            house.runtime().leave().await;
            return Ok(show.finish(&report, now)?);
        }
        Err(error) => return Err(error.into()),
    };
    show.catch_up(&before);
    let mut asker = asker(&house, &asking);
    if let Some(asker) = &mut asker {
        asker.push(&before);
    }
    if matches!(asking, Asking::Elsewhere) && !quiet {
        remind(&house, &thread).await?;
    }
    let seen = before.last().map_or(0, |record| record.seq);
    watch(&house, handle, show, asker, seen, fleeting).await
}

/// What a person should know of a run without a language model, and of one in the sample household.
fn hints(model: &str, demo: bool) -> Vec<String> {
    let rules = "answers come from the offline rules engine; for a language model use -m ollama/MODEL, or set ANTHROPIC_API_KEY or OPENAI_API_KEY";
    let sample = "this is the sample household; its clock is set to 2026-01-15T10:00Z";
    let wanted = [(model == "builtin/rules", rules), (demo, sample)];
    wanted.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, hint)| format!("note: {hint}")).collect()
}

/// The flags, and what of those that a thread was begun with its log tells.
async fn as_begun(name: &str, flags: &Flags) -> Result<Flags, Failure> {
    let config = Config::load(&surroundings()?, flags)?;
    let store = open_store(&config)?;
    let thread = store.resolve(name).await?;
    let first = store.read(&thread, 0, 1).await?;
    store.close().await;
    let demo = first.iter().any(|record| match &*record.event {
        Event::ThreadCreated(created) => created.household.as_deref() == Some(SAMPLE),
        _ => false,
    });
    Ok(Flags { demo, ..flags.clone() })
}

/// Shows a run until it is over or a signal comes.
async fn watch(
    house: &Staff,
    handle: RunHandle,
    mut show: Show,
    mut asker: Option<Asker>,
    seen: u64,
    mut fleeting: broadcast::Receiver<Fleeting>,
) -> Result<u8, Failure> {
    let runtime = house.runtime();
    let (root, store) = (handle.thread.clone(), runtime.store().clone());
    let mut tail = store.tail();
    let mut follower = Follower::after(store, root.clone(), seen);
    let mut interrupts = signal(SignalKind::interrupt()).map_err(anyhow::Error::from)?;
    let mut terminations = signal(SignalKind::terminate()).map_err(anyhow::Error::from)?;
    let mut report = std::pin::pin!(handle.report());
    let mut ended: Option<Result<Report, runtime::Error>> = None;
    let report = loop {
        tail.borrow_and_update();
        let records = follower.read().await?;
        // Words are heard before the answer that holds them is written, and shown so; those of a later one are shown after it.
        let mut later = Vec::new();
        while show.wants_deltas() && !fleeting.is_empty() {
            match fleeting.recv().await {
                Ok(delta) if !is_held_by(&delta, &records) => later.push(Ok(delta)),
                heard => show_delta(&mut show, heard)?,
            }
        }
        let over = show.push(&records)?;
        for delta in later {
            show_delta(&mut show, delta)?;
        }
        if let Some(asker) = &mut asker {
            asker.push(&records);
        }
        if let Some(report) = over {
            break report;
        }
        if !records.is_empty() {
            continue;
        }
        if let Some(Err(error)) = ended {
            return Err(error.into());
        }
        let signal = tokio::select! {
            _ = interrupts.recv() => Some((130, "interrupted")),
            _ = terminations.recv() => Some((143, "terminated")),
            result = &mut report, if ended.is_none() => { ended = Some(result); None }
            delta = fleeting.recv(), if show.wants_deltas() => { show_delta(&mut show, delta)?; None }
            _ = tail.changed() => None,
        };
        if let Some((code, word)) = signal {
            out::note(&format!("{word}; continue with: majordomo thread resume {root}"));
            tokio::select! {
                () = runtime.leave() => {}
                _ = interrupts.recv() => {}
                _ = terminations.recv() => {}
            }
            return Ok(code);
        }
    };
    let now = runtime.clock().now();
    runtime.leave().await;
    let code = show.finish(&report, now)?;
    // If the database was deleted since the last commit, the answer is there and the run is not: that is told.
    runtime.store().thread(&root).await?;
    Ok(code)
}

/// Whether what was heard is a part of what these events tell whole.
fn is_held_by(heard: &Fleeting, records: &[Record]) -> bool {
    let holds = |event: &Event| match (event, &heard.what) {
        (Event::Answered(answered), FleetingKind::Turn(turn)) => answered.turn == *turn,
        (Event::CallFailed { turn: failed, .. }, FleetingKind::Turn(turn)) => failed == turn,
        (Event::ToolFinished { call: finished, .. }, FleetingKind::Call(call)) => finished == call,
        _ => false,
    };
    records.iter().any(|record| record.thread == heard.thread && holds(&record.event))
}

/// Who puts questions to the person at this terminal, if anybody is asked there.
fn asker(house: &Staff, asking: &Asking) -> Option<Asker> {
    let person = asking.person()?.clone();
    Some(Asker::new(person, house.runtime().store().clone()))
}

/// Says what of a run waits for a person since before it was resumed.
async fn remind(house: &Staff, root: &ThreadId) -> Result<(), Failure> {
    let open = ApprovalQuery { limit: usize::MAX, ..ApprovalQuery::default() };
    for row in house.runtime().store().approvals(open).await? {
        if row.root == *root {
            out::note(&how_to_decide(&row.question.id));
        }
    }
    Ok(())
}

/// Prints words while they come. Those that came faster than they could be printed are in the logged answer.
fn show_delta(show: &mut Show, delta: Result<Fleeting, RecvError>) -> anyhow::Result<()> {
    match delta {
        Ok(delta) => show.print(&passing(&delta)),
        Err(RecvError::Lagged(_) | RecvError::Closed) => Ok(()),
    }
}

fn read_schema(path: &std::path::Path) -> Result<Json, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read the schema {}: {error}", path.display())))?;
    Json::parse(&text)
        .map_err(|error| Failure::usage(format!("the schema {} is not valid JSON: {error}", path.display())))
}
