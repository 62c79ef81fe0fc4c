//! Carries out what a chat asks for: with sessions, with the store, with other programs. Each takes its time in a task of its own, and what
//! comes of it goes back to the loop as an input.

use std::cell::Cell;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use agent::approval::{Approval, Decision, Resolution, Scope};
use agent::{Event, Strength, ThreadId};
use ignore::WalkBuilder;
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::decide::DecisionOutcome;
use majordomo::models::Lists;
use majordomo::staff::{Consent, Error, Kept, Options, Staff};
use majordomo::threads::{ThreadState, is_left};
use majordomo::{Session, Work, transfer};
use runtime::Fleeting;
use store::{ApprovalQuery, Record, Selection, Store, ThreadQuery, ThreadRow, read_all};
use tokio::sync::broadcast::Receiver;
use tokio::sync::mpsc::UnboundedSender;
use view::draw::{Line, Style};
use view::safe;

use super::app::{Action, Input, Item, List, Menu, Otherwise, Pick, Staffed};
use super::change;
use crate::commands;
use crate::error::Failure;
use crate::{out, prompt};

/// The most names of files that are offered.
const FILES: usize = 20_000;
/// The most lines of another command that are shown.
const OUTPUT: usize = 300;
/// The conversations that are listed.
const LISTED: usize = 60;
/// The widest that words of others are shown.
const WIDE: usize = 400;

/// What comes back to the loop.
pub enum News {
    /// An input of the chat.
    Input(Input),
    /// Agents are there to work with.
    Staffed(Box<Staff>, Staffed),
    /// A conversation was opened.
    Opened { session: Session, root: ThreadId, records: Vec<Record>, is_left: bool, draft: Option<String> },
    /// A conversation has begun with its first message; its text since then.
    Begun { root: ThreadId, text: Receiver<Fleeting> },
    /// Something that was asked for was carried out; what came of it was told before.
    Done,
    /// The chat cannot go on.
    Failed(Failure),
}

/// Carries out what a chat asks for.
pub struct Performer {
    surroundings: Surroundings,
    flags: Flags,
    data: PathBuf,
    news: UnboundedSender<News>,
    /// How much of what was asked for is not carried out yet.
    under_way: Cell<usize>,
    /// Those who work: the newest last. The ones before go on with what they had begun.
    pub staffs: Vec<Staff>,
    /// The conversation that is shown.
    pub session: Option<Session>,
}

impl Performer {
    /// Begins with nobody to work with.
    pub fn new(surroundings: Surroundings, flags: Flags, data: PathBuf, news: UnboundedSender<News>) -> Self {
        Self { surroundings, flags, data, news, under_way: Cell::new(0), staffs: Vec::new(), session: None }
    }

    /// Opens a staff with the configuration, and then a conversation by the name of its thread, if one is to be gone on with.
    pub fn open(&self, config: Config, thread: Option<ThreadId>, notes: Vec<String>) {
        let (there, store) = (self.surroundings.clone(), self.store());
        self.spawn(async move |news| {
            let budget_microusd = config.grant.cost_microusd;
            let mode = config.mode.as_str().to_owned();
            let kept = store.map_or(Kept::InFolder, Kept::In);
            let options = Options { consent: Consent::Asked, store: kept, ..Options::default() };
            let staff = match commands::staff(&there, config, options).await {
                Ok(staff) => staff,
                Err(error) => return drop(news.send(News::Failed(error.into()))),
            };
            let assignment = staff.assign(&Work::new(""));
            let (agent, model) = match assignment {
                Ok(assignment) => (assignment.agent, assignment.model),
                Err(error) => return drop(news.send(News::Failed(error.into()))),
            };
            let agents = staff.agents().map(|agent| agent.name.to_string()).collect();
            // Nobody is asked for a list here: the names are needed before the first key.
            let listed = staff.models().list(None, Lists::Table).await.into_iter().filter(|of| of.missing.is_none());
            let models = listed.flat_map(|of| of.models).map(|model| model.name).collect();
            let staffed = Staffed { agent, model, mode, agents, models, budget_microusd, notes };
            drop(news.send(News::Staffed(Box::new(staff.clone()), staffed)));
            if let Some(thread) = thread {
                opened(&news, &staff, thread, None).await;
            }
        });
    }

    /// The store, once one is open.
    fn store(&self) -> Option<Arc<dyn Store>> {
        self.staffs.last().map(|staff| staff.store().clone())
    }

    /// Carries out an action. Those that need the terminal are the loop's.
    pub fn perform(&mut self, action: Action) {
        let Some(staff) = self.staffs.last().cloned() else { return };
        match action {
            Action::Say { thread, text, files } => self.say(&staff, thread, text, files),
            Action::Steer { thread, text } => {
                let session = staff.session_of(&thread);
                self.spawn(async move |news| {
                    let steered = match session.steer(&thread, &text).await {
                        // It was done in this moment: the message begins its next run.
                        Err(Error::Runtime(runtime::Error::Idle(_))) => {
                            session.ask(&thread, Work::new(text.clone())).await.map(drop)
                        }
                        other => other,
                    };
                    if let Err(error) = steered {
                        drop(news.send(News::Input(Input::Failed(words(&error), Some(text)))));
                    }
                });
            }
            Action::Preview(question) => {
                self.spawn(async move |news| {
                    let id = question.id.clone();
                    let asked = question.clone();
                    let read = tokio::task::spawn_blocking(move || change::read(&asked)).await;
                    let change = read.unwrap_or_else(|_| change::as_it_stands(&question).into());
                    drop(news.send(News::Input(Input::Previewed(id, change))));
                });
            }
            Action::Stop { thread, strength } => self.stop(&staff, thread, strength),
            Action::Decide { question, decision } => self.decide(&staff, *question, decision),
            Action::Look(thread) => {
                let store = staff.store().clone();
                self.spawn(async move |news| {
                    let told = match read_all(&*store, Selection::thread(&thread)).await {
                        Ok(records) => Input::Looked(thread, records),
                        Err(error) => {
                            drop(news.send(News::Input(Input::Failed(error.to_string(), None))));
                            Input::NotLooked(thread)
                        }
                    };
                    drop(news.send(News::Input(told)));
                });
            }
            Action::Resume => {
                if let Some(session) = self.session.clone() {
                    self.attempt(async move |_| session.resume().await.map(drop));
                }
            }
            Action::Open(thread) => {
                self.spawn(async move |news| opened(&news, &staff, thread, None).await);
            }
            Action::Choose { thread, model, mode } => {
                let session = staff.session_of(&thread);
                self.attempt(async move |_| session.choose(&thread, model.as_deref(), mode).await);
            }
            Action::SumUp(thread) => {
                let session = staff.session_of(&thread);
                self.attempt(async move |_| session.sum_up(&thread).await.map(drop));
            }
            Action::New(otherwise) => self.begin(&staff, otherwise),
            Action::Fork { at, text } => self.fork(&staff, at, text),
            Action::List(list) => self.list(&staff, list),
            Action::Run(words) => self.run(words, None),
            Action::Export { root, file } => {
                let words = ["thread", "export", root.as_str(), "--format", "md", "-o", &file];
                self.run(words.map(str::to_owned).to_vec(), Some(format!("written to {file}")));
            }
            Action::Files => self.files(),
            // The loop has done these.
            Action::Edit(_) | Action::Suspend | Action::Notify(_) | Action::Leave => {}
        }
    }

    fn say(&self, staff: &Staff, thread: Option<ThreadId>, text: String, files: Vec<PathBuf>) {
        let named = prompt::files_in(&text);
        let work = files.into_iter().chain(named).fold(Work::new(text.clone()), Work::file);
        let staff = staff.clone();
        let session = match &thread {
            Some(thread) => Some(staff.session_of(thread)),
            None => self.session.clone(),
        };
        let Some(session) = session else { return };
        self.spawn(async move |news| {
            let heard = staff.runtime().fleeting();
            let said = match &thread {
                Some(thread) => session.ask(thread, work).await,
                None => session.stream(work).await,
            };
            let told = match (said, thread) {
                (Ok(run), None) => News::Begun { root: run.root().clone(), text: heard },
                (Ok(_), Some(_)) => return,
                (Err(error), _) => News::Input(Input::Failed(words(&error), Some(text))),
            };
            drop(news.send(told));
        });
    }

    fn stop(&self, staff: &Staff, thread: ThreadId, strength: Strength) {
        let session = staff.session_of(&thread);
        self.attempt(async move |_| match session.stop(&thread, strength, "a person interrupted it").await {
            Err(Error::Runtime(runtime::Error::Idle(_))) => Ok(()),
            other => other,
        });
    }

    fn decide(&self, staff: &Staff, question: Approval, decision: Decision) {
        let session = staff.session_of(&question.id.thread());
        let is_always = matches!(decision, Decision::Allow { scope: Scope::Always, .. });
        // What happens to another conversation is not followed here.
        let is_other = self.session.as_ref().and_then(Session::id) != Some(&question.id.thread().root());
        self.attempt(async move |news| {
            let told = match session.decide(&question, decision).await? {
                DecisionOutcome::Resolved(Resolution::Allowed { scope: Scope::Always, .. }) if is_always => {
                    majordomo::decide::standing_consent(&question).map(|consent| {
                        let id = &consent.id;
                        format!("kept as standing consent {id}; take it back with: majordomo approve rules rm {id}")
                    })
                }
                DecisionOutcome::Resolved(resolution) if is_other => {
                    Some(format!("{}: {}", question.id, majordomo::decide::words(&resolution)))
                }
                DecisionOutcome::Resolved(_) => None,
                DecisionOutcome::Nothing(why) => Some(format!("{} was not decided here: {why}", question.id)),
                DecisionOutcome::Kept => Some(format!("{} is decided; no process drives its agent", question.id)),
            };
            if let Some(told) = told {
                drop(news.send(News::Input(tell(&[told]))));
            }
            Ok(())
        });
    }

    /// A new conversation; with other agents where something is to be otherwise.
    fn begin(&mut self, staff: &Staff, otherwise: Otherwise) {
        // What is said from here on is not said to the conversation before, even if no other agents can be opened.
        self.session = Some(staff.session());
        if otherwise == Otherwise::default() {
            return;
        }
        let Otherwise { agent, model, mode } = otherwise;
        let before = self.flags.clone();
        let flags = Flags {
            agent: agent.or(before.agent.clone()),
            model: model.or(before.model.clone()),
            mode: mode.or(before.mode.clone()),
            ..before
        };
        match Config::load(&self.surroundings, &flags) {
            Ok(config) => {
                let checked = config.model_for(None).map(drop);
                if let Err(error) = checked {
                    return self.fail(error.to_string());
                }
                self.flags = flags;
                self.open(config, None, Vec::new());
            }
            Err(error) => self.fail(error.to_string()),
        }
    }

    fn fail(&self, why: String) {
        drop(self.news.send(News::Input(Input::Failed(why, None))));
    }

    fn fork(&self, staff: &Staff, at: Option<usize>, text: String) {
        let Some(root) = self.session.as_ref().and_then(|session| session.id().cloned()) else { return };
        let staff = staff.clone();
        self.spawn(async move |news| {
            let to = staff.fresh_id();
            match transfer::fork(staff.store(), &root, at, &to, out::now()).await {
                Ok(()) => opened(&news, &staff, to, Some(text)).await,
                Err(error) => drop(news.send(News::Input(Input::Failed(error.to_string(), Some(text))))),
            }
        });
    }

    fn list(&self, staff: &Staff, list: List) {
        let (staff, root) = (staff.clone(), self.session.as_ref().and_then(|session| session.id().cloned()));
        let folder = self.surroundings.cwd.canonicalize().unwrap_or_else(|_| self.surroundings.cwd.clone());
        self.attempt(async move |news| {
            let menu = match list {
                List::Conversations => conversations(&**staff.store(), &folder.to_string_lossy()).await?,
                List::Messages => match root {
                    Some(root) => messages(&**staff.store(), &root).await?,
                    None => return Ok(()),
                },
                List::Approvals => approvals(&**staff.store()).await?,
                List::Models => models(&staff).await,
                List::Agents => agents(&staff),
            };
            let told = match menu.items.is_empty() {
                true => tell(&[format!("{}: there are none", menu.title)]),
                false => Input::Menu(menu),
            };
            drop(news.send(News::Input(told)));
            Ok(())
        });
    }

    /// Runs one of our own commands in this folder, and shows what it prints; where it succeeds, also a sentence.
    fn run(&self, line: Vec<String>, done: Option<String>) {
        let mut command = match std::env::current_exe() {
            Ok(program) => tokio::process::Command::new(program),
            Err(error) => return self.fail(format!("this program was not found: {error}")),
        };
        command.args(with_settings(&line, &self.flags)).current_dir(&self.surroundings.cwd).stdin(Stdio::null());
        command.env("MAJORDOMO_DATA", &self.data).kill_on_drop(true);
        self.spawn(async move |news| {
            let told = match command.output().await {
                Ok(output) => {
                    let text = [&*output.stdout, &*output.stderr].concat();
                    let text = String::from_utf8_lossy(&text).into_owned();
                    let mut lines: Vec<String> = text.lines().map(|line| safe::line(line, WIDE)).collect();
                    let more = lines.len().saturating_sub(OUTPUT);
                    lines.truncate(OUTPUT);
                    if more > 0 {
                        lines.push(format!("… {more} more lines: majordomo {}", line.join(" ")));
                    }
                    lines.extend(done.filter(|_| output.status.success()));
                    tell(&lines)
                }
                Err(error) => Input::Failed(format!("majordomo {}: {error}", line.join(" ")), None),
            };
            drop(news.send(News::Input(told)));
        });
    }

    fn files(&self) {
        let (folder, news) = (self.surroundings.cwd.clone(), self.news.clone());
        tokio::task::spawn_blocking(move || {
            let mut walk = WalkBuilder::new(&folder);
            let entries = walk.require_git(false).max_depth(Some(12)).follow_links(false).build().flatten();
            let name = |entry: ignore::DirEntry| {
                let below = entry.path().strip_prefix(&folder).ok()?.to_str()?.to_owned();
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                (!below.is_empty() && !below.contains(char::is_whitespace))
                    .then(|| if is_folder { format!("{below}/") } else { below })
            };
            let files = entries.filter_map(name).take(FILES).collect();
            drop(news.send(News::Input(Input::Files(files))));
        });
    }

    /// Does something that may fail, and tells of it.
    fn attempt<F>(&self, work: impl FnOnce(UnboundedSender<News>) -> F)
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let news = self.news.clone();
        let working = work(news.clone());
        self.spawn(async move |_| {
            if let Err(error) = working.await {
                drop(news.send(News::Input(Input::Failed(words(&error), None))));
            }
        });
    }

    /// Whether something that was asked for is not carried out yet.
    pub fn is_busy(&self) -> bool {
        self.under_way.get() > 0
    }

    /// Something was carried out.
    pub fn finished(&self) {
        self.under_way.set(self.under_way.get().saturating_sub(1));
    }

    fn spawn<F>(&self, work: impl FnOnce(UnboundedSender<News>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.under_way.set(self.under_way.get() + 1);
        let done = Done(self.news.clone());
        let working = work(self.news.clone());
        tokio::spawn(async move {
            working.await;
            drop(done);
        });
    }
}

/// Says that something was carried out, also where it has panicked.
struct Done(UnboundedSender<News>);

impl Drop for Done {
    fn drop(&mut self) {
        drop(self.0.send(News::Done));
    }
}

/// One of our own commands, with the settings of this chat: it reads the same store and the same configuration.
fn with_settings(line: &[String], flags: &Flags) -> Vec<String> {
    let own = [("agent", &flags.agent), ("model", &flags.model), ("mode", &flags.mode), ("preset", &flags.preset)];
    let own = own.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value.as_ref()?)));
    let sets = flags.set.iter().cloned().chain(own).flat_map(|set| ["--set".to_owned(), set]);
    let store = flags.store.iter().flat_map(|store| ["--store".to_owned(), store.clone()]);
    let end = line.iter().position(|word| word == "--").unwrap_or(line.len());
    line[..end].iter().cloned().chain(store).chain(sets).chain(line[end..].iter().cloned()).collect()
}

/// Reads a conversation that is gone on with.
async fn opened(news: &UnboundedSender<News>, staff: &Staff, thread: ThreadId, draft: Option<String>) {
    let read = async {
        let store = staff.store();
        let root = store.resolve(thread.as_str()).await?.root();
        let row = store.thread(&root).await?;
        let living = store.living(out::now()).await?;
        let is_left = row.is_some_and(|row| is_left(&row, &living));
        let session = staff.session_of(&root);
        let records = read_all(&**store, Selection::tree(&root)).await?;
        Ok::<_, store::Error>(News::Opened { session, root, records, is_left, draft })
    };
    let told = read.await.unwrap_or_else(|error| News::Input(Input::Failed(error.to_string(), None)));
    drop(news.send(told));
}

/// The conversations of a folder, the newest first.
async fn conversations(store: &dyn Store, folder: &str) -> Result<Menu, Error> {
    let mut query = ThreadQuery { root_only: true, archived: Some(false), ..ThreadQuery::default() };
    let mut rows: Vec<ThreadRow> = Vec::new();
    loop {
        let page = store.threads(query.clone()).await?;
        for row in &page {
            let first = store.read(&row.id, 0, 1).await?;
            let is_here = first.iter().any(|record| match &*record.event {
                Event::ThreadCreated(created) => &*created.workspace == folder,
                _ => false,
            });
            if is_here {
                rows.push(row.clone());
            }
        }
        match page.last() {
            Some(last) if page.len() == query.limit && rows.len() < LISTED => query.before = Some(last.id.clone()),
            _ => break,
        }
    }
    let living = store.living(out::now()).await?;
    let now = out::now();
    let item = |row: &ThreadRow| Item {
        label: safe::line(row.title.as_ref().unwrap_or(&row.goal), 100),
        detail: format!(
            "{} · {} · {} ago",
            row.id,
            ThreadState::of(row, &living),
            view::clock::duration(now.since_ms(row.updated_at))
        ),
        pick: Pick::Open(row.id.clone()),
    };
    Ok(Menu::new("Conversations of this folder", rows.iter().take(LISTED).map(item).collect()))
}

/// The messages of a person in a conversation, the newest first.
async fn messages(store: &dyn Store, root: &ThreadId) -> Result<Menu, Error> {
    let records = read_all(store, Selection::thread(root)).await?;
    let mut items = Vec::new();
    let mut answer = None;
    for (number, record) in transfer::messages(&records, root) {
        match &*record.event {
            Event::Reported(_) => answer = Some(number),
            Event::RunStarted { prompt, from: None, .. } => items.push(Item {
                label: safe::line(prompt, 200),
                detail: view::clock::time_of_day(record.at, &majordomo::zone::local()),
                pick: Pick::Back { at: answer, text: prompt.to_string() },
            }),
            _ => {}
        }
    }
    items.reverse();
    Ok(Menu::new("Go back to a message, in a copy of the conversation", items))
}

async fn approvals(store: &dyn Store) -> Result<Menu, Error> {
    let rows = store.approvals(ApprovalQuery { limit: usize::MAX, ..ApprovalQuery::default() }).await?;
    let item = |row: &store::ApprovalRow| Item {
        label: crate::question::path(&row.question),
        detail: format!("{}: {}", safe::line(&row.question.tool, 60), safe::line(&row.question.effect, 200)),
        pick: Pick::Decide(Box::new(row.question.clone())),
    };
    Ok(Menu::new("Waiting for your decision", rows.iter().map(item).collect()))
}

async fn models(staff: &Staff) -> Menu {
    let listed = staff.models().list(None, Lists::Asked).await;
    let item = |name: &str| Item { label: name.to_owned(), detail: String::new(), pick: Pick::Model(name.to_owned()) };
    let items = listed.iter().flat_map(|of| of.models.iter().map(|model| item(&model.name))).collect();
    Menu::new("Speak with a model", items)
}

fn agents(staff: &Staff) -> Menu {
    let item = |agent: &agent::role::Agent| Item {
        label: agent.name.to_string(),
        detail: safe::line(&agent.description, 200),
        pick: Pick::New(Otherwise { agent: Some(agent.name.to_string()), ..Otherwise::default() }),
    };
    Menu::new("Begin a new conversation with an agent", staff.agents().map(item).collect())
}

fn tell(sentences: &[String]) -> Input {
    Input::Tell(sentences.iter().map(|sentence| Line::new(sentence.clone(), Style::DIM)).collect())
}

/// An error as a sentence.
fn words(error: &Error) -> String {
    let mut words = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(below) = source {
        let more = below.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        source = below.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_commands_get_the_store_and_the_settings_before_what_is_no_option() {
        let flags = Flags {
            store: Some("postgres://db/x".to_owned()),
            model: Some("ollama/a".to_owned()),
            set: vec!["policy.max_depth=3".to_owned()],
            ..Flags::default()
        };
        let line = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            with_settings(&words, &flags).join(" ")
        };
        let settings = "--store postgres://db/x --set policy.max_depth=3 --set model=ollama/a";
        assert_eq!(line("task ls"), format!("task ls {settings}"));
        assert_eq!(line("task add -- --x"), format!("task add {settings} -- --x"));
        assert_eq!(with_settings(&["mcp".to_owned()], &Flags::default()), ["mcp"]);
    }
}
