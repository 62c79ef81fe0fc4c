//! Conversations as files, and copies of them: export, import, fork, and the move to another store.
//!
//! A file holds the events of a root and all its descendants, a line of JSON for each, after a line that says what it is, and then the
//! images and documents that they name (`files.rs`). What comes in is data: it is read as a log before anything is written, only runs that
//! are over are taken, nothing that a person once allowed in it is in force here, and its threads count as having read untrusted text. All of it
//! is written, or nothing.

mod files;
mod rename;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use agent::approval::{Resolution, Scope};
use agent::message::Attachment;
use agent::{Event, Mode, Outside, Thread, ThreadId, Time};
use async_recursion::async_recursion as boxed;
use serde::{Deserialize, Serialize};
use store::{
    Commit, InstallationEvent, Process, ProcessId, Record, Selection, Store, ThreadQuery, UnfinishedConversation,
    read_all,
};
use tool::Artefacts;
use view::{Entry, Transcript};

use crate::follow::logged;
use files::{FileLine, Files};
use rename::Renaming;

/// The version of a file that holds events alone.
const EVENTS: u32 = 1;
/// The version of a file that also holds the bytes of images and documents.
const WITH_FILES: u32 = 2;

/// Events of the installation that are read in one go.
const INSTALLATION_PAGE: usize = 500;

/// The first line of a file.
#[derive(Serialize, Deserialize)]
struct Head {
    /// The version.
    majordomo_thread: u32,
    /// The root.
    root: ThreadId,
}

/// An event as it stands in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    thread: ThreadId,
    at: Time,
    event: Event,
}

/// Why a conversation cannot be taken in or copied.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A line of the file is wrong.
    #[error("line {line}: {why}; nothing was imported")]
    Line {
        /// Which, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A thread of that name exists.
    #[error("thread {0} exists already; nothing was imported")]
    Exists(ThreadId),
    /// There is no such message, or it is no answer.
    #[error("{0}")]
    Message(String),
    /// No run of it is over.
    #[error("no run of thread {0} is over")]
    Nothing(ThreadId),
    /// An image or a document could not be kept.
    #[error("the files of the conversation cannot be kept; nothing was imported")]
    Files(#[source] std::io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// How a conversation is taken in.
#[derive(Clone, Debug)]
pub struct Taking {
    /// The folder that its agents work in from now on.
    pub workspace: Arc<str>,
    /// The most that they may do without approval.
    pub mode: Mode,
}

/// A conversation as it is written to a file.
#[derive(Clone, Debug)]
pub struct Export {
    events: Vec<String>,
    files: Vec<Arc<str>>,
    artefacts: Artefacts,
    /// Images and documents that are named without their bytes: they are gone, or all together are too large.
    pub left_out: Vec<Attachment>,
}

impl Export {
    /// The lines of the file. The bytes of images and documents are read one by one.
    pub fn into_lines(self) -> impl Iterator<Item = String> + Send {
        let Self { events, files, artefacts, .. } = self;
        events.into_iter().chain(files.into_iter().filter_map(move |digest| files::line(&artefacts, &digest)))
    }
}

/// A root and all its descendants, with the images and documents that they name.
#[boxed]
pub async fn export(store: &dyn Store, root: &ThreadId, artefacts: &Artefacts) -> Result<Export, Error> {
    let records = read_all(store, Selection::tree(root)).await?;
    let (mut files, mut left_out, mut total) = (Vec::new(), Vec::new(), 0);
    for (digest, attachment) in files::named_by_all(records.iter().map(|record| &*record.event)) {
        total += attachment.bytes;
        if total <= files::MAX_BYTES && artefacts.holds(&digest, attachment.bytes) {
            files.push(digest);
        } else {
            total -= attachment.bytes;
            left_out.push(attachment.clone());
        }
    }
    let version = if files.is_empty() { EVENTS } else { WITH_FILES };
    let head = Head { majordomo_thread: version, root: root.clone() };
    let head = serde_json::to_string(&head).expect("our own types serialise to JSON");
    let lines = records.iter().map(|record| {
        let line = Line { thread: record.thread.clone(), at: record.at, event: (*record.event).clone() };
        serde_json::to_string(&line).expect("events serialise to JSON")
    });
    let events = std::iter::once(head).chain(lines).collect();
    Ok(Export { events, files, artefacts: artefacts.clone(), left_out })
}

/// A conversation with all its sub-agents, to read.
#[boxed]
pub async fn markdown(store: &dyn Store, root: &ThreadId) -> Result<String, Error> {
    let records = read_all(store, Selection::tree(root)).await?;
    let family = ThreadQuery { root: Some(root.clone()), limit: usize::MAX, ..ThreadQuery::default() };
    let mut rows = store.threads(family).await?;
    rows.reverse();
    let mut text = String::new();
    for row in &rows {
        let called = row.title.as_deref().unwrap_or(&row.goal);
        let mark = if row.id.is_root() { "#" } else { "##" };
        let _ = write!(text, "{mark} {} ({}): {called}\n\n", row.name, row.id);
        let mut transcript = Transcript::new(row.id.clone());
        records.iter().for_each(|record| transcript.push(&logged(record)));
        for entry in transcript.entries() {
            if let Some(paragraph) = paragraph(entry) {
                text.push_str(&paragraph);
                text.push_str("\n\n");
            }
        }
    }
    Ok(text.trim_end().to_owned())
}

/// A conversation that was taken in.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its root.
    pub root: ThreadId,
    /// Images and documents that it names and whose bytes are not here.
    pub missing: Vec<Attachment>,
}

/// Takes a conversation in from the lines of a file, under its own name.
#[boxed]
pub async fn import(
    store: &Arc<dyn Store>,
    artefacts: &Artefacts,
    text: &str,
    taking: &Taking,
    now: Time,
) -> Result<Imported, Error> {
    let FileContents { root, lines, files } = read(text)?;
    clear_unfinished(&**store, now).await?;
    if store.thread(&root).await?.is_some() {
        return Err(Error::Exists(root));
    }
    let lines = at_rest(lines, &root, None).ok_or_else(|| Error::Nothing(root.clone()))?;
    let lines: Vec<Line> = lines.into_iter().map(|line| Line { event: taken(line.event, taking), ..line }).collect();
    let named = files::named_by_all(lines.iter().map(|line| &line.event));
    let is_here = |attachment: &Attachment| {
        files.has(&attachment.digest) || artefacts.holds(&attachment.digest, attachment.bytes)
    };
    let missing = named.into_values().filter(|attachment| !is_here(attachment)).cloned().collect();
    // Bytes are on the disk before anything in the log names them. Without an event that names them they do no harm.
    files.keep(artefacts).map_err(Error::Files)?;
    write(store, &root, lines, now).await?;
    Ok(Imported { root, missing })
}

/// Moves a conversation of which no run is under way to another store, under the same names and with all that was allowed in it.
#[boxed]
pub async fn relocate(from: &Arc<dyn Store>, to: &Arc<dyn Store>, root: &ThreadId, now: Time) -> Result<(), Error> {
    clear_unfinished(&**to, now).await?;
    if to.thread(root).await?.is_some() {
        return Err(Error::Exists(root.clone()));
    }
    let records = read_all(&**from, Selection::tree(root)).await?;
    let last = records.last().map_or(0, |record| record.seq);
    let machine = to.machine().and_then(|machine| machine.of_folders().cloned());
    let line = |record: Record| {
        let event = placed((*record.event).clone(), machine.as_ref());
        Line { thread: record.thread, at: record.at, event }
    };
    write(to, root, records.into_iter().map(line).collect(), now).await?;
    // What arrived meanwhile would be lost; what cannot be removed would be there twice.
    if let Err(error) = from.remove_if(root, Some(last), now).await {
        // What was said to the copy in the meantime stays, too.
        if let Err(store::Error::Conflict { .. }) = to.remove_if(root, Some(last), now).await {
            let why = format!("thread {root} was written to in both stores meanwhile: delete one with `thread rm`");
            return Err(Error::Message(why));
        }
        return Err(match error {
            store::Error::Conflict { .. } => {
                Error::Message(format!("thread {root} was written to meanwhile; nothing was moved"))
            }
            error => error.into(),
        });
    }
    Ok(())
}

/// Copies a conversation, a root's or a sub-agent's, with all that is below it, under the name of a new root, as far as an answer: the `at`th
/// message as lists number them, or the newest. What people allowed for the one does not hold for the other.
#[boxed]
pub async fn fork(
    store: &Arc<dyn Store>,
    from: &ThreadId,
    at: Option<usize>,
    to: &ThreadId,
    now: Time,
) -> Result<(), Error> {
    let records = read_all(&**store, Selection::tree(&from.root())).await?;
    let end = at.map(|at| end_of(&records, from, at)).transpose()?;
    let names = Renaming { from, to };
    let is_copied = |record: &Record| names.thread(&record.thread).is_some();
    let line =
        |record: Record| (record.seq, Line { thread: record.thread, at: record.at, event: (*record.event).clone() });
    let lines = records.into_iter().filter(is_copied).map(line).collect();
    let kept = at_rest(lines, from, end).ok_or_else(|| Error::Nothing(from.clone()))?;
    let renamed = kept.into_iter().filter_map(|Line { thread, at, event }| {
        let event = without_consent(names.event(event));
        Some(Line { thread: names.thread(&thread)?, at, event })
    });
    write(store, to, renamed.collect(), now).await
}

/// The messages of a thread as lists number them, from 1: what it was asked, and what it answered. Each is given with the place of its
/// event in the family.
pub fn messages<'a>(records: &'a [Record], thread: &'a ThreadId) -> impl Iterator<Item = (usize, &'a Record)> {
    let is_message = |record: &&Record| match &*record.event {
        Event::ThreadCreated(created) => created.brief.is_some(),
        Event::RunStarted { .. } | Event::Reported(_) => true,
        _ => false,
    };
    let own = records.iter().filter(move |record| record.thread == *thread);
    own.filter(is_message).enumerate().map(|(at, record)| (at + 1, record))
}

/// The place in the family of the answer that is the `at`th message of a thread.
fn end_of(records: &[Record], root: &ThreadId, at: usize) -> Result<u64, Error> {
    let last = messages(records, root).last().map_or(0, |(at, _)| at);
    match messages(records, root).find(|(number, _)| *number == at) {
        Some((_, record)) if matches!(*record.event, Event::Reported(_)) => Ok(record.seq),
        Some(_) => {
            let before = at.checked_sub(1).filter(|before| *before > 0).map(|before| format!("at {before} or "));
            let places = format!("{}at {}", before.unwrap_or_default(), at + 1);
            Err(Error::Message(format!("message {at} is a question without its answer; fork {places}")))
        }
        None => Err(Error::Message(format!("there is no message {at}; thread {root} has {last}"))),
    }
}

/// What a file holds.
struct FileContents {
    root: ThreadId,
    /// Each with its place.
    lines: Vec<(u64, Line)>,
    /// Images and documents.
    files: Files,
}

/// Reads a file.
fn read(text: &str) -> Result<FileContents, Error> {
    let wrong = |line: usize, why: String| Error::Line { line, why };
    let mut lines =
        text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(|(_, line)| !line.trim().is_empty());
    let (_, head) = lines.next().ok_or_else(|| wrong(1, "the file is empty".to_owned()))?;
    let head: Head = serde_json::from_str(head)
        .map_err(|_| wrong(1, "this is no exported thread (majordomo thread export --format jsonl)".to_owned()))?;
    if !(EVENTS..=WITH_FILES).contains(&head.majordomo_thread) {
        let version = head.majordomo_thread;
        return Err(wrong(1, format!("the file has version {version}, and {EVENTS} to {WITH_FILES} are understood")));
    }
    let root = head.root;
    let is_name = |id: &ThreadId| {
        let (first, rest) = id.as_str().split_once('.').unwrap_or((id.as_str(), "1"));
        let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '-';
        first == root.as_str()
            && !first.is_empty()
            && first.len() <= 64
            && first.chars().all(is_plain)
            && rest.split('.').all(|number| number.parse::<u32>().is_ok_and(|parsed| parsed.to_string() == number))
    };
    if !is_name(&root) {
        return Err(wrong(1, format!("'{root}' is no name of a conversation")));
    }
    let mut threads: BTreeMap<ThreadId, Option<Thread>> = BTreeMap::new();
    let mut inputs: BTreeSet<(ThreadId, Arc<str>)> = BTreeSet::new();
    let (mut read, mut files) = (Vec::new(), Files::default());
    for (at, text) in lines {
        if text.trim_start().starts_with(FILE) {
            let line: FileLine = serde_json::from_str(text).map_err(|error| wrong(at, error.to_string()))?;
            files.take(at, line).map_err(|why| wrong(at, why))?;
            continue;
        }
        let line: Line = serde_json::from_str(text).map_err(|error| wrong(at, error.to_string()))?;
        if !is_name(&line.thread) {
            return Err(wrong(at, format!("'{}' is no thread of {root}", line.thread)));
        }
        let is_first = !threads.contains_key(&line.thread);
        match (&line.event, is_first) {
            (Event::ThreadCreated(created), true) if created.id == line.thread => {
                if line.thread.parent().is_some_and(|parent| !threads.contains_key(&parent)) {
                    return Err(wrong(at, format!("{} comes before its parent", line.thread)));
                }
            }
            (Event::ThreadCreated(_), _) => {
                return Err(wrong(at, "a thread is created once, under its own name".to_owned()));
            }
            (_, true) => return Err(wrong(at, format!("{} does not begin with its creation", line.thread))),
            (_, false) => {}
        }
        if let Event::InputArrived { id, .. } = &line.event
            && !inputs.insert((line.thread.clone(), id.0.clone()))
        {
            return Err(wrong(at, "an input is there twice".to_owned()));
        }
        let thread = threads.entry(line.thread.clone()).or_default();
        // A log that no agent of ours has written may break what its rules rely on.
        let applied = std::panic::catch_unwind(AssertUnwindSafe(|| match thread {
            None => *thread = Some(Thread::new(line.at, &line.event)),
            Some(thread) => thread.apply(line.at, &line.event),
        }));
        if applied.is_err() {
            return Err(wrong(at, format!("'{}' cannot have happened here", line.event.kind())));
        }
        read.push((at as u64, line));
    }
    files.check(read.iter().map(|(_, line)| &line.event)).map_err(|(at, why)| wrong(at, why))?;
    Ok(FileContents { root, lines: read, files })
}

/// How the line of a file begins; no event has a field of that name.
const FILE: &str = "{\"file\":";

/// The events of runs that are over, up to a place; none where no run of the root is.
fn at_rest(lines: Vec<(u64, Line)>, root: &ThreadId, end: Option<u64>) -> Option<Vec<Line>> {
    let mut last: BTreeMap<ThreadId, u64> = BTreeMap::new();
    for (place, line) in lines.iter().filter(|(place, _)| end.is_none_or(|end| *place <= end)) {
        if matches!(line.event, Event::Reported(_)) {
            last.insert(line.thread.clone(), *place);
        }
    }
    last.contains_key(root).then(|| {
        // What people said of it or chose for it afterwards belongs to it as it is now, and not to what it was at an earlier answer.
        let is_mark = |line: &Line| match &line.event {
            Event::InputArrived { input, .. } => matches!(input, Outside::Marked { .. } | Outside::Chosen { .. }),
            event => matches!(event, Event::SettingsChanged { .. }),
        };
        let is_kept = |place: &u64, line: &Line| {
            last.get(&line.thread).is_some_and(|last| place <= last || end.is_none() && is_mark(line))
        };
        lines.into_iter().filter(|(place, line)| is_kept(place, line)).map(|(_, line)| line).collect()
    })
}

/// An event of a conversation that comes from a store of one machine: its folder is on this one.
fn placed(event: Event, machine: Option<&Arc<str>>) -> Event {
    match event {
        Event::ThreadCreated(mut created) => {
            created.place.machine = created.place.machine.or_else(|| machine.cloned());
            Event::ThreadCreated(created)
        }
        other => other,
    }
}

/// An event as it is taken in.
fn taken(event: Event, taking: &Taking) -> Event {
    match event {
        Event::ThreadCreated(mut created) => {
            created.workspace = taking.workspace.clone();
            created.mode = created.mode.meet(taking.mode);
            // The file may have been changed by anyone since it was written.
            created.foreign = true;
            // The task that it may have been made for is none of the boards here, and no worker goes on with it by itself.
            created.created_for = None;
            Event::ThreadCreated(created)
        }
        Event::ChildSpawned(mut spawned) => {
            spawned.mode = spawned.mode.meet(taking.mode);
            Event::ChildSpawned(spawned)
        }
        Event::InputArrived { id, input: Outside::Chosen { model, mode } } => {
            let mode = mode.map(|mode| mode.meet(taking.mode));
            Event::InputArrived { id, input: Outside::Chosen { model, mode } }
        }
        Event::SettingsChanged { input, model, mode, told } => {
            Event::SettingsChanged { input, model, mode: mode.map(|mode| mode.meet(taking.mode)), told }
        }
        other => without_consent(other),
    }
}

/// What a person allowed for more than once was allowed for another thread.
fn without_consent(event: Event) -> Event {
    match event {
        Event::ApprovalResolved {
            approval,
            call,
            input,
            resolution: Resolution::Allowed { digest, input: arguments, scope: Scope::Thread | Scope::Always },
        } => {
            let resolution = Resolution::Allowed { digest, input: arguments, scope: Scope::Once };
            Event::ApprovalResolved { approval, call, input, resolution }
        }
        other => other,
    }
}

/// Writes the logs of a family that is not there yet, and nothing of them if that fails. They take many commits: that they are not complete
/// is written down before the first, so that what a process leaves that dies meanwhile is removed ([`clear_unfinished`]).
async fn write(store: &Arc<dyn Store>, root: &ThreadId, lines: Vec<Line>, now: Time) -> Result<(), Error> {
    let mut threads: BTreeMap<ThreadId, Thread> = BTreeMap::new();
    for line in &lines {
        match threads.get_mut(&line.thread) {
            Some(thread) => thread.apply(line.at, &line.event),
            None => drop(threads.insert(line.thread.clone(), Thread::new(line.at, &line.event))),
        }
    }
    if let Some((id, _)) = threads
        .iter()
        .find(|(_, thread)| !thread.is_idle() || thread.inbox.asks_for_run() || !thread.children.live.is_empty())
    {
        return Err(Error::Message(format!("thread {id} is not at rest; nothing was written")));
    }
    let process = Process::next();
    let unfinished = UnfinishedConversation { root: root.clone(), process: process.clone(), since: now };
    store.record(InstallationEvent::ConversationBegun(unfinished), now).await?;
    let written = match is_taken(&**store, root, &process.id).await? {
        true => Err(Error::Exists(root.clone())),
        false => append_all(store, root, &process, lines, now).await?,
    };
    let ended = InstallationEvent::ConversationEnded { root: root.clone(), process: process.id };
    store.record(ended, now).await?;
    written
}

/// Whether there is a conversation of that name, or another process is writing one. Asked after this one has written down that it does.
async fn is_taken(store: &dyn Store, root: &ThreadId, this: &ProcessId) -> Result<bool, store::Error> {
    let is_another = |other: &UnfinishedConversation| other.root == *root && other.process.id != *this;
    Ok(store.installation().await?.unfinished.iter().any(is_another) || store.thread(root).await?.is_some())
}

/// Appends all events, or removes those that it has appended. The outer error is that of a store which does not say whether any are left.
async fn append_all(
    store: &Arc<dyn Store>,
    root: &ThreadId,
    process: &Process,
    lines: Vec<Line>,
    now: Time,
) -> Result<Result<(), Error>, store::Error> {
    store.register(process.clone(), now).await?;
    let mut has_written = false;
    let written = append(store, process, lines, &mut has_written).await;
    store.leave(&process.id).await?;
    if written.is_err() && has_written {
        store.remove(root, now).await?;
    }
    Ok(written.map_err(Error::from))
}

async fn append(
    store: &Arc<dyn Store>,
    process: &Process,
    lines: Vec<Line>,
    has_written: &mut bool,
) -> Result<(), store::Error> {
    // How many events each thread has, its epoch, and whether its newest report gave it up.
    let mut heads: BTreeMap<ThreadId, (u64, u64, bool)> = BTreeMap::new();
    let mut lines = lines.into_iter().peekable();
    while let Some(Line { thread, at, event }) = lines.next() {
        let mut events = vec![Arc::new(event)];
        while let Some(next) = lines.next_if(|next| next.thread == thread && next.at == at) {
            events.push(Arc::new(next.event));
        }
        let (expected, mut epoch, is_given_up) = heads.get(&thread).copied().unwrap_or((0, 1, false));
        if is_given_up {
            epoch = store.adopt(&thread, &process.id, at).await?;
        }
        let (process, reports) = (process.id.clone(), events.iter().any(|event| matches!(**event, Event::Reported(_))));
        let appended = store
            .append(Commit { thread: thread.clone(), expected, epoch, process, at, events, lets_go: false })
            .await?;
        *has_written = true;
        heads.insert(thread, (appended.n, epoch, reports));
    }
    Ok(())
}

/// Removes conversations of which a process has written a part, or all without saying so, before it died.
#[boxed]
pub async fn clear_unfinished(store: &dyn Store, now: Time) -> Result<(), store::Error> {
    let unfinished = store.installation().await?.unfinished;
    for UnfinishedConversation { root, process, .. } in unfinished.into_iter().filter(|one| one.is_left(now)) {
        if wrote(store, &root, &process.id).await? {
            match store.remove(&root, now).await {
                Ok(()) | Err(store::Error::UnknownThread(_)) => {}
                // A process works on it all the same: it is removed when that has ended.
                Err(store::Error::Owned { .. }) => continue,
                Err(error) => return Err(error),
            }
            tracing::info!(%root, "removed a conversation of which a part was written");
        }
        store.record(InstallationEvent::ConversationEnded { root, process: process.id }, now).await?;
    }
    Ok(())
}

/// Whether a process wrote the conversation that it was about to write: one that was there before is another's.
async fn wrote(store: &dyn Store, root: &ThreadId, process: &ProcessId) -> Result<bool, store::Error> {
    let first = match store.read(root, 0, 1).await {
        Err(store::Error::UnknownThread(_)) => None,
        read => read?.first().map(|record| record.position),
    };
    let Some(first) = first else { return Ok(false) };
    let (mut after, mut begun) = (0, None);
    loop {
        let page = store.installation_events(after, INSTALLATION_PAGE).await?;
        for record in &page {
            if let InstallationEvent::ConversationBegun(one) = &*record.event
                && (&one.root, &one.process.id) == (root, process)
            {
                begun = Some(record.position);
            }
        }
        match page.last() {
            Some(last) if page.len() == INSTALLATION_PAGE => after = last.n,
            _ => return Ok(begun.is_some_and(|begun| begun < first)),
        }
    }
}

/// A row of a conversation.
fn paragraph(entry: Entry) -> Option<String> {
    Some(match entry {
        // What was thought is no part of the conversation.
        Entry::Thinking { .. } => return None,
        Entry::Prompt { text, .. } => format!("**You:** {text}"),
        Entry::Brief { text, .. } => format!("**Brief:** {text}"),
        Entry::Steer { from, text, .. } => format!("**{from}, while it worked:** {text}"),
        Entry::Text { agent, text, .. } => format!("**{agent}:** {text}"),
        Entry::Tool(tool) => {
            let name = tool.name.as_deref().unwrap_or("a tool");
            let input = tool.input.as_ref().map_or("", |input| input.text());
            let output = tool.output.as_deref().unwrap_or("(no result)");
            let fence = fence(input, output);
            format!("`{name}`\n\n{fence}\n{input}\n{fence}\n\n{fence}\n{output}\n{fence}")
        }
        Entry::Child(child) => format!("*Sub-agent {} ({}): {}*", child.name, child.thread, child.status),
        Entry::Notice { text, .. } => format!("*{text}*"),
        Entry::End { status, text: Some(text), .. } => format!("{text}\n\n*{status}*"),
        Entry::End { status, text: None, .. } => format!("*{status}*"),
    })
}

/// A fence that neither text holds.
fn fence(input: &str, output: &str) -> String {
    let longest = |text: &str| text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest(input).max(longest(output)).max(2) + 1)
}
