//! `majordomo chat`: a conversation at a terminal, with the tree of agents that work for it.
//!
//! An interface like the others: it holds a session, follows the log, draws, and decides nothing. `app` is the state and what follows from
//! each input, without a terminal or a clock; `frame` and `panel` make lines of it; `perform` carries out what it asks for. This file is the
//! loop that owns the terminal, the keys and the follower of the log ([why nothing else draws](../../../docs/decisions/0020-a-chat-draws-by-relative-moves.md)).

mod app;
mod attach;
mod change;
mod complete;
mod composer;
mod frame;
mod history;
mod panel;
mod perform;
mod terminal;

use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agent::ThreadId;
use majordomo::Staff;
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::follow::{News as LogNews, Updates};
use majordomo::tasks::chores::{Scope, TaskChores};
use majordomo::worker::Worker;
use rustix::process::{Signal, getpid, kill_process};
use termina::Event;
use termina::escape::csi::{Csi, Device};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use view::draw::{Line, Style};

use self::app::{Action, App, Input, Otherwise, Size};
use self::history::History;
use self::perform::{News, Performer};
use self::terminal::{Keyboard, Modes};
use crate::arguments::Chat;
use crate::commands::{self, opener};
use crate::error::Failure;
use crate::screen::{self, Live};
use crate::{out, prompt};

/// No two frames that news ask for are nearer than this. Keys are drawn at once.
const FRAME: Duration = Duration::from_millis(80);
/// A frame is drawn after this time while agents work: times go on.
const IDLE_FRAME: Duration = Duration::from_millis(250);
/// Drawing news takes at most one part of so many of the time.
const SHARE: u32 = 20;
/// How long it is waited for a first message to be written before a chat is left.
const LAST_MESSAGE: Duration = Duration::from_secs(2);
/// Threads of tasks that run at the same time.
const TASKS: usize = 4;

/// `majordomo chat`.
pub async fn chat(arguments: Chat) -> Result<u8, Failure> {
    let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    let is_plain = arguments.plain || !out::is_fancy(false, &io::stderr());
    if !is_terminal && !arguments.plain {
        return Err(Failure::usage(
            "a chat needs a terminal; --plain reads lines from stdin, and majordomo run \"…\" does one task",
        ));
    }
    let flags = Flags { demo: arguments.demo, ..arguments.settings.flags() };
    // A prompt that stands where the name of a conversation could stand is a prompt.
    let (resumed, prompt) = match (arguments.resume, arguments.prompt) {
        (Some(Some(words)), None) if words.contains(char::is_whitespace) => (Some(None), Some(words)),
        (resumed, prompt) => (resumed, prompt),
    };
    let goes_on = match (&resumed, arguments.continues) {
        (Some(Some(name)), _) => Some(name.clone()),
        (_, true) => Some(commands::last_here(&flags).await?.to_string()),
        (_, false) => None,
    };
    if goes_on.is_some() && arguments.settings.begins() {
        return Err(Failure::usage(
            "agent, model, mode, preset and limits of a conversation are chosen with its first message: leave them out, or \
             start another without -c and -r",
        ));
    }
    let (surroundings, config) = match &goes_on {
        Some(name) => commands::as_begun(name, &flags).await?,
        None => commands::settled(&flags, is_terminal)?,
    };
    let (news, arrived) = unbounded_channel();
    let mut first: VecDeque<Action> = VecDeque::new();
    if resumed == Some(None) {
        first.push_back(Action::List(app::List::Conversations));
    }
    let prompt = prompt.map(|prompt| prompt::read(Some(&prompt))).transpose()?;
    let opening = Opening { thread: goes_on.map(ThreadId::new), prompt, files: arguments.file, first };
    let terminal = if is_plain { Terminal::lines() } else { Terminal::keys()? };
    run(surroundings, flags, config, opening, terminal, (news, arrived)).await
}

/// What a chat begins with.
struct Opening {
    thread: Option<ThreadId>,
    prompt: Option<String>,
    files: Vec<PathBuf>,
    first: VecDeque<Action>,
}

/// How a chat is read and written.
enum Terminal {
    /// Drawn in place, keys read one by one.
    Keys { live: Live, modes: Modes, keyboard: Box<Keyboard> },
    /// Lines below one another. Each comes with how many questions were printed when it was read: a later one is not answered by it.
    Lines { lines: UnboundedReceiver<(String, usize)>, printed: Arc<AtomicUsize> },
}

/// What comes from the terminal.
enum Typed {
    Event(Event),
    Line(String, usize),
    /// Nothing more will come.
    End,
}

impl Terminal {
    fn keys() -> Result<Self, Failure> {
        let cannot = |error| Failure::failed(format!("the terminal cannot be read: {error}"));
        let is_plain = !out::has_colours(false, &io::stderr());
        let live = Live::begin_typed_in(is_plain).ok_or_else(|| {
            Failure::usage("a chat needs the foreground of a terminal; --plain reads lines from stdin")
        })?;
        let keyboard = Box::new(Keyboard::open().map_err(cannot)?);
        let modes = Modes::on().map_err(cannot)?;
        Ok(Self::Keys { live, modes, keyboard })
    }

    fn lines() -> Self {
        let (sender, lines) = unbounded_channel();
        let printed = Arc::new(AtomicUsize::new(0));
        let questions = printed.clone();
        // A thread that waits for a line ends with the process.
        std::thread::spawn(move || {
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                if sender.send((line, questions.load(Ordering::SeqCst))).is_err() {
                    break;
                }
            }
        });
        Self::Lines { lines, printed }
    }

    async fn next(&mut self) -> Typed {
        match self {
            Self::Keys { keyboard, .. } => keyboard.next().await.map_or(Typed::End, Typed::Event),
            Self::Lines { lines, .. } => {
                lines.recv().await.map_or(Typed::End, |(line, printed)| Typed::Line(line, printed))
            }
        }
    }

    fn size(&self) -> Size {
        match self {
            Self::Keys { .. } => {
                let screen::Size { columns, rows } = screen::size();
                Size { columns, rows }
            }
            Self::Lines { .. } => Size { columns: out::width(&io::stdout()).max(40) + 1, rows: 60 },
        }
    }

    /// Writes lines that stay, and draws what is below them.
    fn draw(&self, app: &mut App) {
        match self {
            Self::Keys { live, .. } => {
                let stay = app.take_lines();
                if !live.draw_frame(&stay, frame::frame(app, Instant::now())) {
                    app.put_back_lines(stay);
                } else if app.front_is_shown(Instant::now()) {
                    live.ask_for_reply();
                }
            }
            Self::Lines { printed, .. } => {
                // Before it is written: an answer may come at once.
                printed.store(app.printed(), Ordering::SeqCst);
                let text: String = app.take_lines().iter().map(|line| format!("{}\n", line.text())).collect();
                // A reader that has gone needs nothing.
                let _ = io::stdout().lock().write_all(text.as_bytes());
                let _ = io::stdout().lock().flush();
            }
        }
    }
}

type Channel = (UnboundedSender<News>, UnboundedReceiver<News>);

/// How a chat ended.
enum End {
    Left(u8),
    Failed(Failure),
}

async fn run(
    surroundings: Surroundings,
    flags: Flags,
    config: Config,
    opening: Opening,
    mut terminal: Terminal,
    (news, arrived): Channel,
) -> Result<u8, Failure> {
    let history = History::read(&config.data, &surroundings.cwd);
    let data = config.data.clone();
    let mut app = App::new(terminal.size(), history, matches!(terminal, Terminal::Lines { .. }));
    app.is_opening = opening.thread.is_some();
    greet(&mut app, &surroundings, &config);
    terminal.draw(&mut app);
    let notes = notes(&config);
    let performer = Performer::new(surroundings.clone(), flags.clone(), data.clone(), news);
    performer.open(config, opening.thread, notes);
    let flags = Flags { data: Some(data.to_string_lossy().into_owned()), ..flags };
    let mut chat = Running {
        app,
        performer,
        arrived,
        updates: None,
        deferred: opening.first,
        prompt: opening.prompt.map(|prompt| (prompt, opening.files)),
        worker: None,
        opener: (surroundings, flags),
        is_continued: false,
        has_ended: false,
        is_news: true,
        drawn_at: Instant::now(),
        took: Duration::ZERO,
    };
    let end = chat.until_left(&mut terminal).await;
    chat.leave(terminal, end).await
}

/// A chat while it goes on.
struct Running {
    app: App,
    performer: Performer,
    arrived: UnboundedReceiver<News>,
    updates: Option<Updates>,
    /// What was asked for before anybody was there to do it.
    deferred: VecDeque<Action>,
    /// What is sent first.
    prompt: Option<(String, Vec<PathBuf>)>,
    worker: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    opener: (Surroundings, Flags),
    /// Whether it went on after it had stopped itself: what stands on the terminal is known then.
    is_continued: bool,
    /// Whether all lines were read that will ever come.
    has_ended: bool,
    is_news: bool,
    drawn_at: Instant,
    took: Duration,
}

impl Running {
    /// Goes on until the person leaves, or a signal comes.
    async fn until_left(&mut self, terminal: &mut Terminal) -> End {
        let listen = |kind| signal(kind).map_err(anyhow::Error::from);
        let signals = (|| {
            Ok::<_, anyhow::Error>((
                listen(SignalKind::interrupt())?,
                listen(SignalKind::terminate())?,
                listen(SignalKind::hangup())?,
                listen(SignalKind::window_change())?,
                listen(SignalKind::from_raw(Signal::TSTP.as_raw()))?,
                listen(SignalKind::from_raw(Signal::CONT.as_raw()))?,
            ))
        })();
        let (mut interrupts, mut terminations, mut hangups, mut resizes, mut stops, mut continuations) = match signals {
            Ok(signals) => signals,
            Err(error) => return End::Failed(error.into()),
        };
        loop {
            // Where no line comes any more, what was asked is answered before the chat ends.
            if self.has_ended && self.is_at_rest().await {
                return End::Left(0);
            }
            let due = self.due();
            let is_wanted = !self.app.is_plain || !self.has_ended && self.prompt.is_none() && self.app.takes_lines();
            let inputs = tokio::select! {
                biased;
                typed = terminal.next(), if is_wanted => match typed {
                    Typed::Event(event) => inputs(event),
                    Typed::Line(line, printed) => vec![Input::Typed(line, printed)],
                    Typed::End if self.app.is_plain => {
                        self.has_ended = true;
                        vec![Input::Ended]
                    }
                    Typed::End => return End::Left(129),
                },
                _ = terminations.recv() => return End::Left(143),
                _ = hangups.recv() => return End::Left(129),
                _ = interrupts.recv() => return End::Left(130),
                _ = resizes.recv() => vec![Input::Resized(terminal.size())],
                _ = stops.recv() => {
                    self.suspend(terminal);
                    continue;
                }
                _ = continuations.recv() => {
                    self.continues(terminal);
                    continue;
                }
                Some(news) = self.arrived.recv() => {
                    if let Some(end) = self.take(news).await {
                        return end;
                    }
                    self.is_news = true;
                    self.draw(terminal);
                    continue;
                }
                input = next(&mut self.updates) => {
                    let Some(input) = input else { continue };
                    self.is_news = true;
                    let actions = self.app.handle(input, Instant::now());
                    self.perform(actions);
                    if self.app.is_plain || Instant::now() >= self.due_for_news() {
                        self.draw(terminal);
                    }
                    continue;
                }
                () = until(due) => {
                    let actions = self.app.handle(Input::Tick, Instant::now());
                    self.perform(actions);
                    self.draw(terminal);
                    continue;
                }
            };
            let mut is_whole = false;
            for input in inputs {
                is_whole |= matches!(input, Input::Resized(_));
                for action in self.app.handle(input, Instant::now()) {
                    match action {
                        Action::Leave => return End::Left(0),
                        Action::Suspend => self.suspend(terminal),
                        Action::Edit(text) => {
                            self.edit(text, terminal).await;
                            // Ctrl-C in the editor was meant for the editor, which shares our process group.
                            let _ = tokio::time::timeout(Duration::ZERO, interrupts.recv()).await;
                        }
                        other => self.perform(vec![other]),
                    }
                }
            }
            let selects = matches!(self.app.keys, app::Keys::Tree { .. });
            // The signal of another size may come after a key.
            is_whole |= terminal.size() != self.app.size;
            if is_whole || selects || self.app.is_plain {
                self.draw(terminal);
            } else {
                // A key is drawn at once; the tree as it was drawn last.
                terminal.draw(&mut self.app);
            }
        }
    }

    /// What came of an action.
    async fn take(&mut self, news: News) -> Option<End> {
        let input = match news {
            News::Input(input) => input,
            News::Done => {
                self.performer.finished();
                return None;
            }
            News::Failed(failure) if self.performer.staffs.is_empty() => return Some(End::Failed(failure)),
            News::Failed(failure) => Input::Failed(failure.to_string(), None),
            News::Staffed(staff, staffed) => {
                self.staffed(*staff).await;
                Input::Ready(staffed)
            }
            News::Opened { session, root, records, is_left, draft } => {
                let runtime = self.performer.staffs.last()?.runtime();
                let newest = records.last().map_or(0, |record| record.seq);
                self.updates = Some(Updates::new(runtime, root.clone()).after(newest));
                self.performer.session = Some(session);
                let actions = self.app.handle(Input::Opened { root, records, is_left }, Instant::now());
                self.perform(actions);
                self.say_first();
                match draft {
                    Some(draft) => Input::Draft(draft),
                    None => return None,
                }
            }
            News::Begun { root, text } => {
                let runtime = self.performer.staffs.last()?.runtime();
                self.updates = Some(Updates::new(runtime, root.clone()).hearing(text));
                Input::Begun(root)
            }
        };
        let is_ready = matches!(input, Input::Ready(_));
        if matches!(input, Input::Failed(..))
            && self.app.is_opening
            && let Some((prompt, _)) = self.prompt.take()
        {
            // It was meant for the conversation that cannot be opened.
            self.app.tell(&format!("not sent: {}", view::safe::line(&prompt, 400)), Style::PLAIN);
        }
        let actions = self.app.handle(input, Instant::now());
        self.perform(actions);
        if is_ready {
            let deferred = std::mem::take(&mut self.deferred);
            self.perform(deferred.into());
            if !self.app.is_opening {
                self.say_first();
            }
        }
        None
    }

    /// The prompt of the command line is sent first.
    fn say_first(&mut self) {
        if let Some((prompt, files)) = self.prompt.take() {
            let actions = self.app.say_first(prompt, files);
            self.perform(actions);
        }
    }

    /// Agents are there to work with: for a new conversation, and for the tasks of this folder.
    async fn staffed(&mut self, staff: Staff) {
        self.updates = None;
        self.performer.session = Some(staff.session());
        if self.worker.is_none() {
            let (surroundings, flags) = self.opener.clone();
            let folder = surroundings.cwd.clone();
            let chores = Box::new(TaskChores::new(Scope::Board(staff.board()), Vec::new()));
            let open = opener(surroundings, flags);
            let worker = Worker::new("chat", staff.store().clone(), open, TASKS, vec![chores]);
            let worker = worker.calmly().only_in(&folder);
            let worker = Arc::new(worker.with_staff(folder, staff.clone()).await);
            let (stop, stopped) = oneshot::channel::<()>();
            let working = tokio::spawn(async move {
                // It ends when the other end is dropped.
                if let Err(error) = worker.work(async { drop(stopped.await) }).await {
                    tracing::warn!(%error, "tasks were not worked to the end");
                }
            });
            self.worker = Some((stop, working));
        }
        self.performer.staffs.push(staff);
    }

    fn perform(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Notify(words) => notify(&words),
                Action::New(ref otherwise) => {
                    self.updates = None;
                    self.app.begin_anew();
                    if *otherwise != Otherwise::default() {
                        self.app.changes();
                    }
                    self.performer.perform(action);
                }
                action if self.performer.staffs.is_empty() => self.deferred.push_back(action),
                action => self.performer.perform(action),
            }
        }
    }

    /// When something is to be drawn by itself; none where nothing changes.
    fn due(&self) -> Option<Instant> {
        let news = self.is_news.then(|| self.due_for_news());
        let idle = self.app.is_working().then(|| self.drawn_at + IDLE_FRAME);
        if self.app.is_plain {
            return None;
        }
        [news, idle, self.app.wakes_at(Instant::now())].into_iter().flatten().min()
    }

    fn due_for_news(&self) -> Instant {
        self.drawn_at + FRAME.max(self.took * SHARE)
    }

    fn draw(&mut self, terminal: &Terminal) {
        let begun = Instant::now();
        self.app.size = terminal.size();
        self.app.settle();
        self.app.refresh_tree(out::now());
        terminal.draw(&mut self.app);
        self.is_news = false;
        self.drawn_at = Instant::now();
        self.took = self.drawn_at - begun;
    }

    /// Stops the process, as Ctrl-Z does, and returns when it goes on. The terminal is left as it was.
    fn suspend(&mut self, terminal: &mut Terminal) {
        let Terminal::Keys { modes, .. } = &terminal else { return };
        let pause = screen::pause();
        modes.pause();
        // What cannot be stopped goes on.
        let _ = kill_process(getpid(), Signal::STOP);
        modes.again();
        drop(pause);
        self.is_continued = true;
        self.draw(terminal);
    }

    /// The process was stopped by others and goes on.
    fn continues(&mut self, terminal: &mut Terminal) {
        if let Terminal::Keys { live, modes, .. } = &terminal
            && !std::mem::take(&mut self.is_continued)
        {
            modes.again();
            live.continues();
            self.draw(terminal);
        }
    }

    /// Opens the text in the person's editor.
    async fn edit(&mut self, text: String, terminal: &mut Terminal) {
        let Terminal::Keys { modes, .. } = &terminal else { return };
        let editor =
            ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        let editor = editor.unwrap_or_else(|| "vi".to_owned());
        let file = std::env::temp_dir().join(format!("majordomo-{}.md", runtime::short_name()));
        let edited = async {
            write_private(&file, &text)?;
            let pause = screen::pause();
            modes.pause();
            // The variable may hold arguments.
            let mut command = tokio::process::Command::new("sh");
            command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(&file).stdin(Stdio::inherit());
            let status = command.status().await;
            modes.again();
            drop(pause);
            let status = status?;
            if !status.success() {
                return Err(io::Error::other(format!("{editor} ended with {status}")));
            }
            std::fs::read_to_string(&file)
        };
        let input = match edited.await {
            Ok(text) => Input::Edited(text.trim_end().to_owned()),
            Err(error) => Input::Failed(format!("the editor could not be used: {error}"), None),
        };
        // A file that is gone needs no removal.
        let _ = std::fs::remove_file(&file);
        let actions = self.app.handle(input, Instant::now());
        self.perform(actions);
        self.draw(terminal);
    }

    /// Whether nothing is under way, and everything that the log holds was read.
    async fn is_at_rest(&self) -> bool {
        let is_idle = !self.performer.staffs.is_empty()
            && self.deferred.is_empty()
            && self.prompt.is_none()
            && !self.performer.is_busy()
            && !self.app.is_under_way()
            && !self.app.is_working();
        if !is_idle {
            return false;
        }
        match self.performer.session.as_ref().filter(|session| session.id().is_some()) {
            // A store that cannot be read has nothing more to say.
            Some(session) => session.newest().await.map_or(true, |newest| newest <= self.app.newest()),
            None => true,
        }
    }

    /// Lets go of everything. The terminal is as it was; what ran is kept.
    async fn leave(mut self, terminal: Terminal, end: End) -> Result<u8, Failure> {
        let was_working = self.app.is_working();
        // A message that is on its way is written before: its conversation can be gone on with.
        let until = tokio::time::Instant::now() + LAST_MESSAGE;
        while (self.app.is_beginning || self.performer.is_busy())
            && let Ok(Some(news)) = tokio::time::timeout_at(until, self.arrived.recv()).await
        {
            self.take(news).await;
        }
        self.app.settle();
        terminal.draw(&mut self.app);
        drop(terminal);
        if let Some((stop, working)) = self.worker.take() {
            drop(stop);
            // A task that has panicked has told so.
            let _ = working.await;
        }
        for staff in &self.performer.staffs {
            staff.end_sessions().await;
            staff.runtime().leave().await;
        }
        match end {
            End::Failed(failure) => Err(failure),
            End::Left(code) => {
                if let Some(root) = &self.app.root {
                    let word = if was_working { "the work is kept; go on with" } else { "go on with" };
                    out::note(&format!("{word}: majordomo -c, or from anywhere: majordomo chat -r {root}"));
                }
                for queued in &self.app.queue {
                    out::note(&format!("not sent: {}", view::safe::line(&queued.message.whole(), 400)));
                }
                Ok(code)
            }
        }
    }
}

/// Where a chat begins.
fn greet(app: &mut App, surroundings: &Surroundings, config: &Config) {
    let folder = view::safe::line(&surroundings.cwd.to_string_lossy(), 200);
    let mut line = Line::new("majordomo", Style::BOLD);
    line.push(format!("  {folder}"), Style::DIM);
    if config.demo {
        line.push("  sample household, 2026-01-15", Style::DIM);
    }
    app.greet(&line);
}

/// What a person should know before the first message.
fn notes(config: &Config) -> Vec<String> {
    let is_rules = config.model.as_deref().is_none_or(|model| model == "builtin/rules")
        && config.model_for(None).is_ok_and(|model| model == "builtin/rules");
    let rules = "no language model is set: the household's rules engine answers (mail, calendar, notes). For a model: set \
        ANTHROPIC_API_KEY or OPENAI_API_KEY, or start with -m ollama/MODEL";
    is_rules.then(|| rules.to_owned()).into_iter().collect()
}

/// What an event of the terminal means to a chat.
fn inputs(event: Event) -> Vec<Input> {
    match event {
        Event::Key(key) => vec![Input::Key(key)],
        Event::Paste(text) => vec![Input::Paste(text)],
        Event::FocusIn => vec![Input::Focused(true)],
        Event::FocusOut => vec![Input::Focused(false)],
        Event::Csi(Csi::Device(Device::DeviceAttributes(()))) => vec![Input::Replied],
        Event::WindowResized(_) | Event::Mouse(_) | Event::Csi(_) | Event::Osc(_) | Event::Dcs(_) => Vec::new(),
    }
}

/// What is new in the log; for ever nothing where none is followed.
async fn next(updates: &mut Option<Updates>) -> Option<Input> {
    match updates {
        Some(followed) => match followed.next().await {
            Ok(Some(LogNews::Events(records))) => Some(Input::Records(records)),
            Ok(Some(LogNews::Text(piece))) => Some(Input::Piece(piece)),
            Ok(None) => {
                *updates = None;
                None
            }
            Err(error) => {
                *updates = None;
                Some(Input::Failed(format!("the log cannot be followed any more: {error}"), None))
            }
        },
        None => std::future::pending().await,
    }
}

/// Waits for a moment; for ever where there is none.
async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

/// Tells a person who looks elsewhere: as the terminal shows it, or with a bell.
fn notify(words: &str) {
    let words = view::safe::line(words, 200).replace(';', ",");
    let is = |name: &str| std::env::var_os(name).is_some();
    let text = if is("VTE_VERSION") {
        format!("\u{1b}]777;notify;majordomo;{words}\u{7}")
    } else if std::env::var_os("TERM").is_some_and(|term| term == "linux") {
        "\u{7}".to_owned()
    } else {
        format!("\u{1b}]9;majordomo: {words}\u{7}\u{7}")
    };
    // A closed stderr cannot be reported anywhere.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

fn write_private(file: &std::path::Path, text: &str) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::File::options().write(true).create_new(true).mode(0o600).open(file)?.write_all(text.as_bytes())
}
