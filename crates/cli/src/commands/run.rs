//! `majordomo run` and `majordomo thread resume`: one run, watched to its end.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{Event, Json, ThreadId};
use futures_util::{FutureExt, TryStreamExt};
use majordomo::config::Flags;
use majordomo::follow::{root_report, until_answered};
use majordomo::staff::{Staff, open_store};
use majordomo::tasks::TasksOfFamily;
use majordomo::{Assignment, Session, Update, Work};
use rustix::process::Signal;
use store::{ApprovalQuery, Record, ThreadQuery};
use tokio::signal::unix::{SignalKind, signal};

use super::{as_begun, configured, detach, staff, thread, trust};
use crate::arguments::{Approvals, Output, Questions, Run};
use crate::consent::{Asker, Asking};
use crate::error::{Failure, PROVIDER};
use crate::question::how_to_decide;
use crate::show::{Prepared, Show};
use crate::{out, prompt};

/// `majordomo run`.
pub async fn run(arguments: Run) -> Result<u8, Failure> {
    let Output { json, jsonl, output: ref file, ref dialect, .. } = arguments.output;
    let is_canonical = dialect.as_ref().is_none_or(|name| name == "canonical");
    let tells = (json || jsonl && is_canonical) && file.is_none() && !arguments.detached;
    let begun = match begin(arguments).await {
        Ok(begun) => begun,
        Err(failure) => {
            // A program that reads the result is told there, too; a command that is not understood has none.
            if tells && !failure.is_usage() {
                out::Result::Stdout.line(&failure.object(jsonl))?;
            }
            return Err(failure);
        }
    };
    match begun {
        Some((staff, run, show, asker)) => watch(&staff, run, show, asker).await,
        None => Ok(0),
    }
}

/// Begins a run; none where another process does.
async fn begin(arguments: Run) -> Result<Option<(Staff, majordomo::Run, Show, Option<Asker>)>, Failure> {
    if arguments.detached {
        detach::leave_terminal();
    }
    let may_ask = arguments.questions.approvals != Some(Approvals::Deny) && !arguments.detached;
    let flags = Flags { demo: arguments.demo, ..arguments.settings.flags() };
    let goes_on = match (&arguments.thread, arguments.continues) {
        (Some(name), _) => Some(name.clone()),
        (None, true) => Some(last_here(&flags).await?.to_string()),
        (None, false) => None,
    };
    let (surroundings, config) = match &goes_on {
        Some(name) => as_begun(name, &flags).await?,
        None => trust::settled(&flags, may_ask)?,
    };
    let prompt = match arguments.detached {
        true => prompt::piped()?,
        false => prompt::read(arguments.prompt.as_deref())?,
    };
    let output_schema = arguments.schema.as_deref().map(read_schema).transpose()?;
    if arguments.detach {
        let thread = detach::start(&config.data, &prompt)?;
        out::Result::Stdout.line(&thread)?;
        return Ok(None);
    }
    let output = if arguments.detached { detach::silent() } else { arguments.output };
    let quiet = output.quiet || output.jsonl;
    let prepared = Prepared::new(output, &config.dialect)?;
    let asking = Asking::new(&if arguments.detached { Questions::waiting() } else { arguments.questions });
    let staff = staff(&surroundings, config, asking.options()).await?;
    let named = prompt::files_in(&prompt);
    let files = arguments.file.into_iter().chain(named);
    let work = files.fold(Work::new(prompt), Work::file);
    let work = match output_schema {
        Some(schema) => work.schema(schema),
        None => work,
    };
    let work = if arguments.detached { work.unwatched() } else { work };
    let run = match &goes_on {
        Some(name) => {
            if arguments.settings.begins() {
                let what = "agent, model, mode, preset and limits of a conversation are chosen with its first message";
                return Err(Failure::usage(format!(
                    "{what}: leave them out, or start another without -c and --thread"
                )));
            }
            let (id, row) = thread::find(&**staff.store(), name).await?;
            let run = staff.session_of(&id).ask(&id, work).await?;
            if !quiet {
                out::note(&format!("model {} · thread {id}", row.model));
            }
            run
        }
        None => {
            let assignment = staff.assign(&work)?;
            if arguments.demo && staff.needs_model(&assignment)? {
                return Err(Failure::with_code(model_is_missing(&assignment.agent, &staff.config().preset), PROVIDER));
            }
            let run = staff.stream(work).await?;
            if !quiet {
                out::note(&format!("model {} · thread {}", assignment.model, run.root()));
                for hint in hints(&assignment, arguments.demo)
                    .into_iter()
                    .chain(offers(&staff, &assignment, arguments.demo).await)
                {
                    out::note(&hint);
                }
            }
            run
        }
    };
    if arguments.detached {
        detach::started(run.thread())?;
    }
    let show = Show::new(run.root().clone(), prepared, &asking, staff.runtime().clock());
    let asker = asker(&staff, &asking);
    Ok(Some((staff, run, show, asker)))
}

/// What an agent is told whose run goes on after its model could not be asked.
const GO_ON: &str = "The model could not be reached, and your work was interrupted. Go on where you stopped.";

/// `majordomo thread resume`.
pub async fn resume(name: &str, flags: &Flags, questions: &Questions, output: Output) -> Result<u8, Failure> {
    let (surroundings, config) = as_begun(name, flags).await?;
    let quiet = output.quiet || output.jsonl;
    let prepared = Prepared::new(output, &config.dialect)?;
    let asking = Asking::new(questions);
    let staff = staff(&surroundings, config, asking.options()).await?;
    let thread = staff.runtime().store().resolve(name).await?;
    if !thread.is_root() && !stands_alone(&staff, &thread).await? {
        let root = thread.root();
        return Err(Failure::usage(format!(
            "{thread} is a sub-agent; resume its root: majordomo thread resume {root}, or ask it more: majordomo send {thread} TEXT"
        )));
    }
    if !thread.is_root() {
        return resume_alone(&staff, &thread, prepared, &asking).await;
    }
    let session = staff.session_of(&thread);
    let show = Show::new(thread.clone(), prepared, &asking, staff.runtime().clock());
    let run = match session.resume().await {
        Ok(run) => run,
        Err(majordomo::staff::Error::Runtime(runtime::Error::Idle(_))) => {
            let history = session.history().await?;
            let newest = history.iter().rev().find_map(|record| root_report(record, &thread));
            if newest.is_none_or(|report| report.cause.as_deref() != Some("provider")) {
                return show_last_report(&staff, &session, &thread, show).await;
            }
            out::note("the model could not be asked, and the run ended; it goes on");
            session.stream(Work::new(GO_ON.to_owned())).await?
        }
        Err(error) => return Err(error.into()),
    };
    if matches!(asking, Asking::Elsewhere) && !quiet {
        remind(&staff, &thread).await?;
    }
    let asker = asker(&staff, &asking);
    watch(&staff, run, show, asker).await
}

/// Shows how the last run of a conversation ended in which nothing is left to do.
async fn show_last_report(staff: &Staff, session: &Session, root: &ThreadId, mut show: Show) -> Result<u8, Failure> {
    let history = session.history().await?;
    let report = history.iter().rev().find_map(|record| root_report(record, root)).cloned();
    let report = report.ok_or_else(|| Failure::failed(format!("thread {root} has no run")))?;
    out::note("the run is already finished; this is its answer");
    show.catch_up(&history);
    let now = staff.runtime().clock().now();
    staff.runtime().leave().await;
    Ok(show.finish(&report, now)?)
}

/// What a person should know of the model of a run: that it ends soon, that it takes no tools, or that Ollama is running here where there is
/// no model.
async fn offers(staff: &Staff, assignment: &Assignment, demo: bool) -> Vec<String> {
    let model = &assignment.model;
    let is_without = model == "builtin/rules" && !demo;
    let offer = if is_without { staff.models().ollama().await } else { None };
    about_model(staff, model).into_iter().chain(offer.map(|offer| format!("note: {offer}"))).collect()
}

/// What a person should know of any model: that it ends soon, or that it takes no tools.
fn about_model(staff: &Staff, model: &str) -> Vec<String> {
    let end = staff.near_end(model).map(|end| format!("{end}; `majordomo models ls` lists others"));
    let no_tools = staff.models().takes_no_tools(model).then(|| "takes no tools, so its agents get none".to_owned());
    end.into_iter().chain(no_tools).map(|note| format!("note: {model} {note}")).collect()
}

/// The models of sub-agents, of each of which a person is told once what there is to know.
#[derive(Default)]
struct SubAgentModels(BTreeSet<Arc<str>>);

impl SubAgentModels {
    /// What a person should know of the models of sub-agents that were started: that one ends soon, that it takes no tools, or that a limit
    /// on money does not hold it.
    fn notes(&mut self, staff: &Staff, records: &[Record]) -> Vec<String> {
        let mut notes = Vec::new();
        for record in records {
            let Event::ThreadCreated(created) = &*record.event else { continue };
            let model = &created.role.model;
            if !self.0.insert(model.name.clone()) || created.id.is_root() {
                continue;
            }
            let name = &model.name;
            notes.extend(about_model(staff, name));
            if created.grant.cost_microusd.is_some() && !model.has_known_cost() {
                let note = "so the limit on money does not hold it: set";
                notes.push(format!("note: no price is known for {name}, {note} models.\"{name}\".price"));
            }
        }
        notes
    }
}

/// What a person should know of a run without a language model, of one in the sample household, and of one that the prompt gave to
/// the butler.
fn hints(assignment: &Assignment, demo: bool) -> Vec<String> {
    let Assignment { agent, model, is_routed } = assignment;
    let rules = "answers come from the offline rules engine; for a language model use -m ollama/MODEL, or set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY";
    let sample = "this is the sample household; its clock is set to 2026-01-15T10:00Z";
    let routed = format!(
        "the prompt is about your household, so the agent {agent} answers; {model} gets the mail, calendar entries, notes and contacts \
         that it reads (for another agent: -a general, or household.route = \"off\")"
    );
    let wanted = [(model == "builtin/rules", rules), (demo, sample), (*is_routed, &routed)];
    wanted.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, hint)| format!("note: {hint}")).collect()
}

/// Why an agent that needs a model does nothing in the sample household, and what to do.
fn model_is_missing(agent: &str, preset: &str) -> String {
    format!(
        "the agent {agent} needs a language model with the preset {preset}: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or \
         name a local one with -m ollama/MODEL. Without a model, -a butler answers from the sample household, with its own preset"
    )
}

/// The last conversation that was begun in this folder.
pub async fn last_here(flags: &Flags) -> Result<ThreadId, Failure> {
    let (here, config) = configured(flags)?;
    let folder = here.cwd.canonicalize().unwrap_or_else(|_| here.cwd.clone());
    let store = open_store(&config)?;
    let mut query = ThreadQuery { root_only: true, archived: Some(false), ..ThreadQuery::default() };
    loop {
        let rows = store.threads(query.clone()).await?;
        for row in &rows {
            let first = store.read(&row.id, 0, 1).await?;
            let is_here = first.iter().any(|record| match &*record.event {
                Event::ThreadCreated(created) => Path::new(&*created.workspace) == folder,
                _ => false,
            });
            if is_here {
                store.close().await;
                return Ok(row.id.clone());
            }
        }
        match rows.last() {
            Some(last) if rows.len() == query.limit => query.before = Some(last.id.clone()),
            _ => {
                return Err(Failure::usage(
                    "there is no conversation in this folder yet; majordomo run \"…\" starts one",
                ));
            }
        }
    }
}

/// Whether a run of a sub-agent goes on that its parent does not wait for: a person has spoken to it, or it belongs to a task.
async fn stands_alone(staff: &Staff, thread: &ThreadId) -> Result<bool, Failure> {
    let is_live = |row: Option<store::ThreadRow>| row.is_some_and(|row| row.state.is_live());
    let root = staff.store().thread(&thread.root()).await?;
    Ok(!is_live(root) && is_live(staff.store().thread(thread).await?))
}

/// Goes on with a sub-agent whose parent does not wait for it.
async fn resume_alone(staff: &Staff, id: &ThreadId, prepared: Prepared, asking: &Asking) -> Result<u8, Failure> {
    let seq = staff.session_of(id).newest().await?;
    staff.runtime().resume(id).await?;
    let run = majordomo::Run::after(staff.runtime(), id, seq);
    let show = Show::new(id.root(), prepared, asking, staff.runtime().clock());
    let asker = asker(staff, asking);
    watch(staff, run, show, asker).await
}

/// How long a run of many agents is left alone after so many updates came at once: this thread would otherwise be woken for each of them, on a
/// processor that the agents need.
const REST: (Duration, usize) = (Duration::from_millis(3), 16);
/// Updates that are taken in before it is looked whether a signal has come.
const AT_ONCE: usize = 256;

/// Shows a run until it is over or a signal comes.
pub async fn watch(
    staff: &Staff,
    run: majordomo::Run,
    mut show: Show,
    mut asker: Option<Asker>,
) -> Result<u8, Failure> {
    let mut run = if show.wants_deltas() { run } else { run.without_text() };
    let (runtime, root) = (staff.runtime(), run.root().clone());
    let mut interrupts = signal(SignalKind::interrupt()).map_err(anyhow::Error::from)?;
    let mut terminations = signal(SignalKind::terminate()).map_err(anyhow::Error::from)?;
    let mut resizes = signal(SignalKind::window_change()).map_err(anyhow::Error::from)?;
    let mut stops = signal(SignalKind::from_raw(Signal::TSTP.as_raw())).map_err(anyhow::Error::from)?;
    let mut continuations = signal(SignalKind::from_raw(Signal::CONT.as_raw())).map_err(anyhow::Error::from)?;
    let mut report = None;
    let mut models = SubAgentModels::default();
    let mut tasks = show.wants_tasks().then(|| TasksOfFamily::new(runtime.store(), root.clone()));
    let mut rests_until = None;
    loop {
        let (code, word) = tokio::select! {
            _ = interrupts.recv() => (130, "interrupted"),
            _ = terminations.recv() => (143, "terminated"),
            () = until(show.due()) => {
                show.draw();
                continue;
            }
            _ = resizes.recv() => {
                show.draw();
                continue;
            }
            _ = stops.recv() => {
                show.stop();
                continue;
            }
            _ = continuations.recv() => {
                show.continues();
                continue;
            }
            frames = next_tasks(&mut tasks) => {
                show.push_tasks(&frames?)?;
                continue;
            }
            () = until(rests_until), if rests_until.is_some() => {
                rests_until = None;
                continue;
            }
            update = run.try_next(), if rests_until.is_none() => {
                let mut next = Some(update?);
                let mut count = 0;
                let mut is_over = false;
                while let Some(update) = next.take() {
                    count += 1;
                    // What a call did to a board was written before its result.
                    if let Some(tasks) = &mut tasks {
                        show.push_tasks(&tasks.ready().await?)?;
                    }
                    match update {
                        Some(Update::Text(piece)) => show.hear(&piece)?,
                        Some(Update::Past(records)) => {
                            show.catch_up(&records);
                            asker.iter_mut().for_each(|asker| asker.push(&records));
                        }
                        Some(Update::Events(records)) => {
                            for note in models.notes(staff, &records) {
                                show.note(note);
                            }
                            show.push(&records)?;
                            asker.iter_mut().for_each(|asker| asker.push(&records));
                        }
                        Some(Update::Done(last)) => report = Some(last),
                        None => is_over = true,
                    }
                    if !is_over && count < AT_ONCE {
                        next = run.try_next().now_or_never().transpose()?;
                    }
                }
                if is_over {
                    break;
                }
                let (rest, many) = REST;
                rests_until = (count >= many && report.is_none()).then(|| Instant::now() + rest);
                continue;
            }
        };
        show.interrupted(code, word)?;
        show.leave();
        out::note(&format!("{word}; continue with: majordomo thread resume {root}"));
        tokio::select! {
            () = runtime.leave() => {}
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {}
        }
        return Ok(code);
    }
    let report = report.ok_or(runtime::Error::Left)?;
    let now = runtime.clock().now();
    let code = show.finish(&report, now)?;
    if report.cause.as_deref() == Some("provider") {
        out::note(&format!("continue later with: majordomo thread resume {root}"));
    }
    // What others sent to these threads meanwhile was taken up here.
    tokio::select! {
        () = runtime.until_idle() => {}
        _ = interrupts.recv() => {}
        _ = terminations.recv() => {}
    }
    staff.end_sessions().await;
    runtime.leave().await;
    // If the database was deleted since the last commit, the answer is there and the run is not: that is told.
    tokio::select! {
        row = until_answered(|| runtime.store().thread(&root)) => drop(row?),
        _ = interrupts.recv() => {}
        _ = terminations.recv() => {}
    }
    Ok(code)
}

/// What happens to tasks; for ever nothing where it is not wanted.
async fn next_tasks(tasks: &mut Option<TasksOfFamily>) -> Result<Vec<serde_json::Value>, store::Error> {
    if let Some(followed) = tasks {
        match followed.next().await? {
            Some(frames) => return Ok(frames),
            None => *tasks = None,
        }
    }
    std::future::pending().await
}

/// Waits for a moment; for ever where there is none.
async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

/// Who puts questions to the person at this terminal, if anybody is asked there.
pub fn asker(staff: &Staff, asking: &Asking) -> Option<Asker> {
    let person = asking.person()?.clone();
    Some(Asker::new(person, staff.clone()))
}

/// Says what of a run waits for a person since before it was resumed.
async fn remind(staff: &Staff, root: &ThreadId) -> Result<(), Failure> {
    let open = ApprovalQuery { limit: usize::MAX, ..ApprovalQuery::default() };
    for row in staff.runtime().store().approvals(open).await? {
        if row.root == *root {
            out::note(&how_to_decide(&row.question.id, row.kind));
        }
    }
    Ok(())
}

fn read_schema(path: &std::path::Path) -> Result<Json, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read the schema {}: {error}", path.display())))?;
    Json::parse(&text)
        .map_err(|error| Failure::usage(format!("the schema {} is not valid JSON: {error}", path.display())))
}
