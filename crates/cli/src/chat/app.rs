//! A chat as a state machine: what comes in (keys, events of the log, streamed text, answers of the program) and what is to be done.
//!
//! It holds what a person sees and nothing else: all that happens is read from the log, all that is to be done is an [`Action`]. It has no
//! terminal, no clock and no session; the loop in `chat.rs` owns those. Keys are in `keys`, slash commands in `commands`, questions of
//! agents in `deciding`, lines that are read instead of keys in `typed`, lists to choose from in `menu`, drawing in `frame`.

mod commands;
mod deciding;
mod keys;
mod menu;
#[cfg(test)]
pub(super) mod tests;
mod typed;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::approval::{Approval, ApprovalId, Decision};
use agent::{Event, Mode, Outcome, Strength, ThreadId, Time};
use majordomo::follow::logged;
use store::Record;
use termina::event::KeyEvent;
use view::draw::{Conversation, DrawOptions, Line, Marks, Style, TreeRow, tree_rows};
use view::{LastWords, Node, Streamed, Tree, UnfinishedAnswers, safe};

use super::complete::Completion;
use super::composer::Composer;
use super::history::History;

pub use self::commands::COMMANDS;
pub use self::deciding::{Deciding, Stage};
pub use self::menu::{Item, Menu, Pick};

/// The lines of an earlier conversation that are shown when it is gone on with.
const SHOWN_PAST: usize = 60;
/// The lines that are kept of a conversation while another one is looked at.
const KEPT_UNSEEN: usize = 400;
/// The widest that words of others are shown in one line.
const WORDS: usize = 200;

/// What comes in.
#[derive(Debug)]
pub enum Input {
    /// A key.
    Key(KeyEvent),
    /// Text that was pasted.
    Paste(String),
    /// Whether the terminal has the focus of the keyboard.
    Focused(bool),
    /// The terminal has replied to a request that was sent behind what was drawn.
    Replied,
    /// A whole line, where lines are read and not keys, and how many questions had been printed when it was read.
    Typed(String, usize),
    /// No line will come any more.
    Ended,
    /// The terminal has another size.
    Resized(Size),
    /// Nothing but time.
    Tick,
    /// What was in the log when a conversation was opened: of its root, and whether its run was left by a process that is gone.
    Opened { root: ThreadId, records: Vec<Record>, is_left: bool },
    /// A conversation has begun with its first message.
    Begun(ThreadId),
    /// New events of the conversation and all its sub-agents.
    Records(Vec<Record>),
    /// A piece of streamed text.
    Piece(Streamed),
    /// What was in the log of a thread that is to be looked at.
    Looked(ThreadId, Vec<Record>),
    /// It could not be read.
    NotLooked(ThreadId),
    /// What a call would change, of which a question asks.
    Previewed(ApprovalId, Arc<[Line]>),
    /// With whom a new conversation would begin.
    Ready(Staffed),
    /// A list to choose from.
    Menu(Menu),
    /// Lines for the person.
    Tell(Vec<Line>),
    /// Something could not be done: why, and the message that it was about.
    Failed(String, Option<String>),
    /// Names of files, to complete them.
    Files(Vec<String>),
    /// The text as an editor left it.
    Edited(String),
    /// A text for the composer.
    Draft(String),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A message for a thread, or the first one of a conversation.
    Say { thread: Option<ThreadId>, text: String, files: Vec<PathBuf> },
    /// A message for a thread that works.
    Steer { thread: ThreadId, text: String },
    /// Stop a thread and its descendants.
    Stop { thread: ThreadId, strength: Strength },
    /// Read what a call would change, of which a question asks.
    Preview(Box<Approval>),
    /// Answer a question.
    Decide { question: Box<Approval>, decision: Decision },
    /// Read the log of a thread.
    Look(ThreadId),
    /// Go on with a run that its process left.
    Resume,
    /// Open another conversation.
    Open(ThreadId),
    /// Begin a new conversation, with what is otherwise than before.
    New(Otherwise),
    /// Give a thread another model or another mode, from its next turn on.
    Choose { thread: ThreadId, model: Option<String>, mode: Option<Mode> },
    /// Replace the conversation of a thread by a summary of it.
    SumUp(ThreadId),
    /// Copy the conversation as far as an answer, and go on with the copy; then this text stands in the composer.
    Fork { at: Option<usize>, text: String },
    /// Lists to choose from, which are read from the store.
    List(List),
    /// Run one of our own commands, and show what it prints.
    Run(Vec<String>),
    /// Write the conversation to a file.
    Export { root: ThreadId, file: String },
    /// Names of files are wanted.
    Files,
    /// Open the text in an editor.
    Edit(String),
    /// Stop the process, as Ctrl-Z does.
    Suspend,
    /// Tell a person who looks elsewhere.
    Notify(String),
    /// Leave.
    Leave,
}

/// What of a new conversation is otherwise than before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Otherwise {
    pub agent: Option<String>,
    pub model: Option<String>,
    pub mode: Option<String>,
}

/// Lists that are read from the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    Conversations,
    Messages,
    Approvals,
    Models,
    Agents,
}

/// The size of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

/// With whom a new conversation would begin.
#[derive(Clone, Debug, Default)]
pub struct Staffed {
    pub agent: String,
    pub model: String,
    pub mode: String,
    /// The names of all agents, to complete them.
    pub agents: Vec<String>,
    /// The names of the models whose providers can be used, to complete them.
    pub models: Vec<String>,
    /// The most that a run may cost, in millionths of a dollar.
    pub budget_microusd: Option<u64>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// What keys mean at this moment.
#[derive(Debug)]
pub enum Keys {
    /// They are written.
    Writing,
    /// They choose an agent of the tree.
    Tree { selected: ThreadId },
    /// They choose from a list.
    Menu(Menu),
    /// They answer a question of the program.
    Confirm(Confirm),
    /// They answer a question of an agent.
    Deciding(Box<Deciding>),
    /// They look for an earlier message.
    Search { words: String, before: usize },
}

/// A question of the program that is answered with yes or no.
#[derive(Clone, Debug)]
pub struct Confirm {
    pub question: String,
    pub yes: Action,
}

/// A message that is sent when a thread is done.
#[derive(Clone, Debug)]
pub struct Queued {
    pub thread: ThreadId,
    pub message: Composer,
}

/// A question of an agent that is open.
#[derive(Clone, Debug)]
pub struct Open {
    pub question: Approval,
    /// What the call would do, as lines; none while the file that it would change is being read.
    pub change: Option<Arc<[Line]>>,
    /// Since when it stands on the screen; none while it was not drawn.
    pub shown: Option<Shown>,
    /// Whether the person put it off.
    pub is_later: bool,
}

/// Since when a question stands on the screen.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// When it was first drawn.
    pub at: Instant,
    /// Which of the requests that the terminal replies to was sent behind it.
    pub asked: u64,
    /// When the terminal had replied to it; none while it has not.
    pub seen_at: Option<Instant>,
}

/// How full the context of a model is.
#[derive(Clone, Copy, Debug)]
struct Context {
    /// The tokens that fit into a request with its answer.
    window: u64,
    /// Those of the newest request and its answer; none where nothing was asked since the conversation was begun or summed up.
    used: Option<u64>,
}

/// A conversation that was looked at.
struct Feed {
    talk: Conversation,
    /// Lines that were added while another conversation was shown.
    unseen: Vec<Line>,
    /// How many of them were too many to be kept.
    left_out: usize,
    /// The newest event that was told.
    seen: u64,
    /// What came while the log of the thread was being read; none once it was.
    held: Option<Vec<Record>>,
}

impl Feed {
    fn new(thread: ThreadId, held: Option<Vec<Record>>) -> Self {
        Self { talk: Conversation::new(thread), unseen: Vec::new(), left_out: 0, seen: 0, held }
    }

    /// The lines that an event adds.
    fn push(&mut self, record: &Record, columns: usize) -> Vec<Line> {
        if let Some(held) = &mut self.held {
            held.push(record.clone());
            return Vec::new();
        }
        if record.seq <= self.seen {
            return Vec::new();
        }
        self.seen = record.seq;
        self.talk.push(&logged(record), columns)
    }
}

/// The state of a chat.
pub struct App {
    pub size: Size,
    pub composer: Composer,
    pub history: History,
    pub keys: Keys,
    pub completion: Option<Completion>,
    pub staffed: Staffed,
    pub is_ready: bool,
    pub root: Option<ThreadId>,
    /// The thread whose conversation is shown.
    pub focus: Option<ThreadId>,
    /// The thread that will be shown once its log was read.
    looking: Option<ThreadId>,
    pub questions: Vec<Open>,
    /// How often the terminal was asked to reply to what was drawn, and how often it has.
    asked_terminal: u64,
    replied: u64,
    pub queue: Vec<Queued>,
    /// A word about what the last key did.
    pub hint: Option<(String, Instant)>,
    /// Whether a first message is on its way.
    pub is_beginning: bool,
    /// The mode of each thread of the conversation.
    modes: BTreeMap<ThreadId, Mode>,
    /// The most that a run of the conversation may cost, in millionths of a dollar.
    budget: Option<u64>,
    /// Whether a change was asked for of which the log says nothing yet.
    awaits_change: bool,
    /// How it is stopped as soon as it has begun; none where it is not.
    stops_when_begun: Option<Strength>,
    /// Whether other agents are being opened for a new conversation.
    is_changing: bool,
    /// The text that was sent last, and how it was written: it comes back where it could not be sent.
    sent: Option<(String, Composer)>,
    /// The new message, while an earlier one stands in the composer.
    standing: Option<Composer>,
    /// Questions that were printed, where there is no screen.
    printed: Vec<typed::Printed>,
    /// The lines of a message whose last one ended with a backslash, where there is no screen.
    unfinished: Option<String>,
    /// The newest event of the conversation that was read.
    newest: u64,
    /// How full the context of each thread's model is.
    contexts: BTreeMap<ThreadId, Context>,
    /// The threads that were told to stop.
    stopping: Vec<ThreadId>,
    tree: Tree,
    words: LastWords,
    /// What each agent is saying, for one that is opened in the middle of it.
    answers: UnfinishedAnswers,
    feeds: BTreeMap<ThreadId, Feed>,
    /// Names of files, to complete them.
    files: Vec<String>,
    /// Lines that stay and are not written yet.
    stay: Vec<Line>,
    rows: Vec<TreeRow>,
    roots: Vec<Node>,
    /// When the last key was pressed.
    last_key: Option<Instant>,
    /// When Ctrl-C, or Esc, was pressed before.
    last_leave: Option<Instant>,
    last_escape: Option<Instant>,
    has_focus: bool,
    /// Whether lines are read and not keys: there is no screen to draw on.
    pub is_plain: bool,
    /// Whether a conversation is being read that is gone on with.
    pub is_opening: bool,
    /// The run that was left by another process.
    is_left: bool,
    is_fancy: bool,
}

impl App {
    /// A chat in which nothing was said.
    pub fn new(size: Size, history: History, is_plain: bool) -> Self {
        Self {
            size,
            composer: Composer::default(),
            history,
            keys: Keys::Writing,
            completion: None,
            staffed: Staffed::default(),
            is_ready: false,
            root: None,
            focus: None,
            looking: None,
            questions: Vec::new(),
            asked_terminal: 0,
            replied: 0,
            queue: Vec::new(),
            hint: None,
            is_beginning: false,
            modes: BTreeMap::new(),
            budget: None,
            awaits_change: false,
            stops_when_begun: None,
            is_changing: false,
            sent: None,
            standing: None,
            printed: Vec::new(),
            unfinished: None,
            newest: 0,
            contexts: BTreeMap::new(),
            stopping: Vec::new(),
            tree: Tree::new(),
            words: LastWords::default(),
            answers: UnfinishedAnswers::default(),
            feeds: BTreeMap::new(),
            files: Vec::new(),
            stay: Vec::new(),
            rows: Vec::new(),
            roots: Vec::new(),
            last_key: None,
            last_leave: None,
            last_escape: None,
            has_focus: true,
            is_plain,
            is_opening: false,
            is_left: false,
            is_fancy: !is_plain,
        }
    }

    /// Takes something in; what is to be done.
    pub fn handle(&mut self, input: Input, now: Instant) -> Vec<Action> {
        match input {
            Input::Key(key) => {
                let actions = self.key(key, now);
                self.last_key = Some(now);
                actions
            }
            Input::Paste(text) => self.pasted(&text, now),
            Input::Focused(has_focus) => {
                self.has_focus = has_focus;
                Vec::new()
            }
            Input::Replied => {
                self.terminal_replied(now);
                Vec::new()
            }
            Input::Typed(line, printed) => self.typed(line, printed, now),
            Input::Ended => self.ended(now),
            Input::Resized(size) => {
                self.size = size;
                Vec::new()
            }
            Input::Tick => {
                self.hint.take_if(|(_, until)| *until <= now);
                Vec::new()
            }
            Input::Opened { root, records, is_left } => self.opened(&root, &records, is_left),
            Input::Begun(root) => {
                self.begun(root.clone());
                let strength = self.stops_when_begun.take();
                self.stopping.extend(strength.map(|_| root.clone()));
                strength.map(|strength| Action::Stop { thread: root, strength }).into_iter().collect()
            }
            Input::Records(records) => self.records(&records),
            Input::Piece(piece) => {
                self.heard(&piece);
                Vec::new()
            }
            Input::Looked(thread, records) => {
                self.looked(&thread, &records);
                Vec::new()
            }
            Input::NotLooked(thread) => {
                // It can be tried again.
                self.feeds.remove(&thread);
                self.looking.take_if(|looking| *looking == thread);
                Vec::new()
            }
            Input::Previewed(id, change) => {
                self.previewed(&id, &change);
                if self.is_plain { self.raise(&id) } else { Vec::new() }
            }
            Input::Ready(staffed) => {
                (self.is_ready, self.is_changing) = (true, false);
                for note in &staffed.notes {
                    self.tell(note, Style::DIM);
                }
                self.staffed = staffed;
                // What was typed meanwhile may name an agent or a model.
                self.complete();
                Vec::new()
            }
            Input::Menu(menu) if self.is_plain => {
                self.stay.extend(menu.plain_lines());
                self.keys = Keys::Menu(menu);
                Vec::new()
            }
            // A list may come late: it takes no keys that were meant for something else.
            Input::Menu(menu) if !matches!(self.keys, Keys::Writing) || !self.composer.is_empty() => {
                self.hint(format!("a list was not opened while you write: {}", menu.title), now);
                Vec::new()
            }
            Input::Menu(menu) => {
                self.completion = None;
                self.keys = Keys::Menu(menu);
                Vec::new()
            }
            Input::Tell(lines) => {
                self.stay.extend(lines);
                Vec::new()
            }
            Input::Failed(why, text) => {
                (self.is_beginning, self.is_opening, self.is_changing) = (false, false, false);
                self.tell(&format!("error: {why}"), Style::of(view::draw::Colour::Red));
                if let Some(text) = text {
                    self.come_back(text);
                }
                Vec::new()
            }
            Input::Files(files) => {
                self.files = files;
                self.complete();
                Vec::new()
            }
            Input::Edited(text) => {
                self.composer.rewrite(text);
                Vec::new()
            }
            Input::Draft(text) => {
                self.draft(text);
                Vec::new()
            }
        }
    }

    /// The line at the top of a chat.
    pub fn greet(&mut self, line: &Line) {
        let columns = self.columns();
        self.stay.push(line.cut(columns, '…'));
    }

    /// A new conversation is begun; the one before is left as it is.
    pub fn begin_anew(&mut self) {
        let is_begun = self.root.is_some();
        self.forget();
        if is_begun {
            let mut line = Line::new("── new conversation ", Style::BOLD);
            line.push("─".repeat(self.columns().saturating_sub(line.width())), Style::DIM);
            self.stay.extend([Line::default(), line]);
        }
    }

    /// An earlier message is to be written anew.
    fn draft(&mut self, text: String) {
        match self.is_plain {
            true => self.tell(&format!("the message was: {text}"), Style::PLAIN),
            false => self.composer.set(text),
        }
    }

    /// A message could not be sent: it stands in the composer again, with its files.
    fn come_back(&mut self, text: String) {
        if self.is_plain || !self.composer.is_empty() {
            return self.tell(&format!("not sent: {text}"), Style::PLAIN);
        }
        match self.sent.take() {
            Some((sent, message)) if sent == text => self.composer = message,
            _ => self.composer.set(text),
        }
    }

    /// Whether a conversation is being begun or opened: what is said goes to it once it is there.
    pub fn is_under_way(&self) -> bool {
        self.is_beginning || self.is_opening || self.is_changing
    }

    /// Other agents are being opened, for a new conversation.
    pub fn changes(&mut self) {
        self.is_changing = true;
    }

    /// Sends the message that a chat begins with.
    pub fn say_first(&mut self, text: String, files: Vec<PathBuf>) -> Vec<Action> {
        self.history.push(&text);
        self.is_beginning = self.focus.is_none();
        let mut message = Composer::default();
        files.iter().for_each(|file| message.attach(file.clone()));
        message.insert(&text);
        self.sent = Some((text.clone(), message));
        vec![Action::Say { thread: self.focus.clone(), text, files }]
    }

    /// Lines could not be written: they are written later.
    pub fn put_back_lines(&mut self, mut lines: Vec<Line>) {
        lines.append(&mut self.stay);
        self.stay = lines;
    }

    /// Lines that stay and were not written yet.
    pub fn take_lines(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.stay)
    }

    /// The blocks of streamed text that became whole stay from now on.
    pub fn settle(&mut self) {
        let columns = self.columns();
        if let Some(feed) = self.focus.as_ref().and_then(|focus| self.feeds.get_mut(focus)) {
            self.stay.extend(feed.talk.settled(columns));
        }
    }

    /// Draws the tree anew, for the frames until it is done again.
    pub fn refresh_tree(&mut self, now: Time) {
        self.roots = self.tree.roots();
        let selected = match &self.keys {
            Keys::Tree { selected } => Some(selected.clone()),
            _ => None,
        };
        let mut shown = self.roots.clone();
        if selected.is_none() {
            shown.iter_mut().for_each(hide_past);
        }
        let is_wanted = selected.is_some() || shown.iter().any(|root| !root.children.is_empty() && is_busy(root));
        let marks = if self.is_fancy { Marks::Unicode } else { Marks::Ascii };
        let options = DrawOptions { now, width: self.columns().saturating_sub(2), marks };
        let most = (self.size.rows / 3).max(2);
        self.rows = match is_wanted {
            true => tree_rows(&shown, &self.words, &options, most, selected.as_ref()),
            false => Vec::new(),
        };
    }

    /// The tree as it was drawn last.
    pub fn tree(&self) -> &[TreeRow] {
        &self.rows
    }

    /// The conversation's root in the tree.
    pub fn root_node(&self) -> Option<&Node> {
        self.roots.iter().find(|node| Some(&node.id) == self.root.as_ref())
    }

    /// A thread of the tree.
    pub fn node(&self, thread: &ThreadId) -> Option<&Node> {
        self.roots.iter().flat_map(Node::all).find(|node| node.id == *thread)
    }

    /// The end of what the focused agent says, which may still change.
    pub fn rest(&self) -> Vec<Line> {
        let feed = self.focus.as_ref().and_then(|focus| self.feeds.get(focus));
        feed.map(|feed| feed.talk.rest(self.columns())).unwrap_or_default()
    }

    /// Whether an agent of the conversation works.
    pub fn is_working(&self) -> bool {
        // A conversation that has begun works before the first of its events is read.
        self.is_beginning || self.root.is_some() && self.roots.is_empty() || self.roots.iter().any(is_busy)
    }

    /// Whether the focused agent works.
    pub fn is_focus_working(&self) -> bool {
        match &self.focus {
            Some(focus) => self.node(focus).is_none_or(|node| node.outcome.is_none() && node.started.is_some()),
            None => self.is_beginning,
        }
    }

    /// The mode of the thread that is shown.
    pub fn mode(&self) -> &str {
        self.focus.as_ref().and_then(|focus| self.modes.get(focus)).map_or(&self.staffed.mode, |mode| mode.as_str())
    }

    /// The most that a run may cost, in millionths of a dollar.
    pub fn budget_microusd(&self) -> Option<u64> {
        if self.modes.is_empty() { self.staffed.budget_microusd } else { self.budget }
    }

    /// The names of the agents from the root to the focused one.
    pub fn path(&self) -> Vec<String> {
        let mut path = Vec::new();
        let mut next = self.focus.clone();
        while let Some(thread) = next {
            let name = self.node(&thread).map_or_else(|| thread.to_string(), |node| safe::line(&node.name, 40));
            path.insert(0, name);
            next = thread.parent();
        }
        path
    }

    /// When something changes by time alone; none where nothing does.
    pub fn wakes_at(&self, now: Instant) -> Option<Instant> {
        let armed = self.front().and_then(|open| open.shown).map(|shown| self.armed_from(shown));
        let hint = self.hint.as_ref().map(|(_, until)| *until);
        [armed, hint].into_iter().flatten().filter(|at| *at > now).min()
    }

    /// Columns for text.
    pub fn columns(&self) -> usize {
        self.size.columns.saturating_sub(1).max(16)
    }

    /// Names of files, as far as they are known.
    pub fn file_names(&self) -> &[String] {
        &self.files
    }

    /// The sub-agents, with what they were asked.
    pub fn thread_names(&self) -> Vec<(String, String)> {
        let all = self.roots.iter().flat_map(Node::all).skip(1);
        let name = |node: &Node| {
            let goal = node.goal.as_deref().map(|goal| safe::line(goal, WORDS)).unwrap_or_default();
            (node.id.to_string(), format!("{}: {goal}", node.name))
        };
        all.map(name).collect()
    }

    /// Whether names of files have to be read first.
    fn wanted_files(&mut self) -> Vec<Action> {
        let is_wanted = super::complete::word(self.composer.before()).is_some_and(|(_, word)| word == "@");
        if is_wanted { vec![Action::Files] } else { Vec::new() }
    }

    /// A sentence for the person that stays.
    pub fn tell(&mut self, sentence: &str, style: Style) {
        for line in sentence.lines() {
            let span = view::draw::Span { text: safe::line(line, 2000), style };
            self.stay.extend(view::markdown::wrap(&[span], self.columns()));
        }
    }

    fn hint(&mut self, words: impl Into<String>, now: Instant) {
        let words = words.into();
        if self.is_plain {
            return self.tell(&words, Style::DIM);
        }
        self.hint = Some((words, now + Duration::from_secs(4)));
    }

    fn opened(&mut self, root: &ThreadId, records: &[Record], is_left: bool) -> Vec<Action> {
        self.is_opening = false;
        self.forget();
        self.begun(root.clone());
        let columns = self.columns();
        let mut lines = Vec::new();
        for record in records {
            self.fold(record);
            if let Some(feed) = self.feeds.get_mut(root) {
                lines.extend(feed.push(record, columns));
            }
        }
        self.show_past(root, lines);
        self.refresh_tree(records.last().map_or(Time(0), |record| record.at));
        self.is_left = is_left;
        if is_left {
            let question = "The last run was interrupted. Go on with it?".to_owned();
            if self.is_plain {
                self.tell("the last run was interrupted; /continue goes on with it", Style::PLAIN);
            } else {
                self.keys = Keys::Confirm(Confirm { question, yes: Action::Resume });
            }
        }
        let open: Vec<ApprovalId> = self.questions.iter().map(|open| open.question.id.clone()).collect();
        open.iter().flat_map(|id| self.raise(id)).collect()
    }

    /// A question is to be shown, once it is known what the call would change.
    fn raise(&mut self, id: &ApprovalId) -> Vec<Action> {
        let Some(open) = self.questions.iter().find(|open| open.question.id == *id).cloned() else { return Vec::new() };
        if self.is_plain && open.change.is_some() {
            self.print(&open);
        }
        open.wanted_change()
    }

    fn forget(&mut self) {
        for queued in std::mem::take(&mut self.queue) {
            self.tell(&format!("not sent: {}", safe::line(queued.message.text(), WORDS)), Style::PLAIN);
        }
        self.root = None;
        self.focus = None;
        self.looking = None;
        self.questions.clear();
        self.stopping.clear();
        self.tree = Tree::new();
        self.words = LastWords::default();
        self.answers = UnfinishedAnswers::default();
        self.feeds.clear();
        self.rows.clear();
        self.roots.clear();
        self.keys = Keys::Writing;
        self.is_beginning = false;
        self.stops_when_begun = None;
        self.modes.clear();
        self.contexts.clear();
        self.newest = 0;
        self.budget = None;
        self.awaits_change = false;
        self.is_left = false;
    }

    fn begun(&mut self, root: ThreadId) {
        self.is_beginning = false;
        self.feeds.insert(root.clone(), Feed::new(root.clone(), None));
        self.focus = Some(root.clone());
        self.root = Some(root);
    }

    /// The end of a conversation that was had before.
    fn show_past(&mut self, thread: &ThreadId, mut lines: Vec<Line>) {
        if lines.len() > SHOWN_PAST {
            let left_out = lines.len() - SHOWN_PAST;
            lines.drain(..left_out);
            self.tell_left_out(left_out, thread);
        }
        self.stay.extend(lines);
    }

    fn tell_left_out(&mut self, left_out: usize, thread: &ThreadId) {
        if left_out > 0 {
            self.tell(&format!("… {left_out} earlier lines: majordomo thread show {thread}"), Style::DIM);
        }
    }

    fn records(&mut self, records: &[Record]) -> Vec<Action> {
        let columns = self.columns();
        let mut actions = Vec::new();
        for record in records {
            self.fold(record);
            actions.extend(self.noticed(record));
            let is_focused = self.focus.as_ref() == Some(&record.thread);
            if let Some(feed) = self.feeds.get_mut(&record.thread) {
                let lines = feed.push(record, columns);
                if is_focused {
                    self.stay.extend(lines);
                } else {
                    feed.unseen.extend(lines);
                    let extra = feed.unseen.len().saturating_sub(KEPT_UNSEEN);
                    feed.unseen.drain(..extra);
                    feed.left_out += extra;
                }
            }
        }
        actions
    }

    /// The newest event that was read.
    pub fn newest(&self) -> u64 {
        self.newest
    }

    fn fold(&mut self, record: &Record) {
        self.newest = self.newest.max(record.seq);
        let logged = logged(record);
        self.tree.push(&logged);
        self.words.settle(&logged);
        self.answers.settle(&logged);
        match &*record.event {
            Event::ThreadCreated(created) => {
                self.modes.insert(created.id.clone(), created.mode);
                let window = created.role.model.context_tokens;
                self.contexts.insert(created.id.clone(), Context { window, used: None });
                if created.id.is_root() {
                    self.budget = created.grant.cost_microusd;
                }
            }
            Event::Answered(answered) => {
                if let Some(context) = self.contexts.get_mut(&record.thread) {
                    context.used = Some(answered.tokens.total());
                }
            }
            Event::ContextCompacted { .. } => {
                if let Some(context) = self.contexts.get_mut(&record.thread) {
                    context.used = None;
                }
            }
            Event::SettingsChanged { mode, model, .. } => {
                if let Some((context, model)) = self.contexts.get_mut(&record.thread).zip(model.as_ref()) {
                    context.window = model.context_tokens;
                }
                self.awaits_change = false;
                self.modes.extend(mode.map(|mode| (record.thread.clone(), mode)));
            }
            Event::ApprovalRequested(question) => {
                self.questions.push(Open::new((**question).clone()));
            }
            Event::ApprovalResolved { approval, .. } => {
                self.questions.retain(|open| open.question.id != *approval);
                self.close_printed(approval);
                if let Keys::Deciding(deciding) = &mut self.keys
                    && deciding.open.question.id == *approval
                {
                    self.composer = std::mem::take(&mut deciding.draft);
                    self.keys = Keys::Writing;
                }
            }
            Event::RunStarted { .. } => (self.is_left, self.awaits_change) = (false, false),
            _ => {}
        }
    }

    /// What follows from an event that is new.
    fn noticed(&mut self, record: &Record) -> Vec<Action> {
        match &*record.event {
            Event::ApprovalRequested(question) => {
                let mut actions = self.raise(&question.id);
                let path = super::panel::path(question);
                actions.extend(self.notification(format!("{path} needs your answer")));
                actions
            }
            Event::ApprovalResolved { approval, resolution, .. } if self.focus.as_ref() != Some(&record.thread) => {
                let words = format!("  ⚑ {approval}: {}", majordomo::decide::words(resolution));
                self.tell(&words, Style::DIM);
                Vec::new()
            }
            // The log shows what has changed; that nothing has is said here.
            Event::SettingsChanged { model: None, mode: None, .. } => {
                let mode = self.modes.get(&record.thread).map_or("", |mode| mode.as_str());
                self.tell(
                    &format!("nothing was changed: mode {mode} is set, or is the most that this agent may have"),
                    Style::PLAIN,
                );
                Vec::new()
            }
            Event::InputDropped { reason, .. } if std::mem::take(&mut self.awaits_change) => {
                self.tell(&format!("nothing was changed: {reason}"), Style::PLAIN);
                Vec::new()
            }
            Event::Reported(report) => {
                self.stopping.retain(|thread| *thread != record.thread);
                let mut actions = self.send_queued(&record.thread);
                if Some(&record.thread) == self.root.as_ref() && actions.is_empty() {
                    let words = match report.outcome {
                        Outcome::Completed => "the answer is there".to_owned(),
                        other => format!("the run has ended: {other}"),
                    };
                    actions.extend(self.notification(words));
                }
                actions
            }
            _ => Vec::new(),
        }
    }

    fn notification(&self, words: String) -> Vec<Action> {
        if self.has_focus { Vec::new() } else { vec![Action::Notify(words)] }
    }

    /// A message is sent as it was written.
    fn say(&mut self, thread: Option<ThreadId>, message: Composer) -> Action {
        let (text, files) = (message.whole(), message.files());
        self.sent = Some((text.clone(), message));
        Action::Say { thread, text, files }
    }

    /// The next message that waited for a thread to be done.
    fn send_queued(&mut self, thread: &ThreadId) -> Vec<Action> {
        let Some(at) = self.queue.iter().position(|queued| queued.thread == *thread) else { return Vec::new() };
        let Queued { thread, message } = self.queue.remove(at);
        vec![self.say(Some(thread), message)]
    }

    fn heard(&mut self, piece: &Streamed) {
        if self.focus.as_ref() == Some(&piece.thread) {
            self.words.mark(piece);
        } else {
            self.words.push(piece);
        }
        self.answers.push(piece);
        // One that is being read hears all of it afterwards.
        if let Some(feed) = self.feeds.get_mut(&piece.thread)
            && feed.held.is_none()
        {
            feed.talk.hear(piece);
        }
    }

    /// Shows the conversation of another thread.
    fn look(&mut self, thread: ThreadId) -> Vec<Action> {
        self.looking = None;
        if self.focus.as_ref() == Some(&thread) {
            return Vec::new();
        }
        self.keys = Keys::Writing;
        match self.feeds.get_mut(&thread) {
            Some(feed) if feed.held.is_some() => {
                self.looking = Some(thread);
                Vec::new()
            }
            Some(feed) => {
                let lines = std::mem::take(&mut feed.unseen);
                let left_out = std::mem::take(&mut feed.left_out);
                self.focus = Some(thread.clone());
                self.show_path();
                self.tell_left_out(left_out, &thread);
                self.stay.extend(lines);
                Vec::new()
            }
            None => {
                self.feeds.insert(thread.clone(), Feed::new(thread.clone(), Some(Vec::new())));
                self.looking = Some(thread.clone());
                vec![Action::Look(thread)]
            }
        }
    }

    fn looked(&mut self, thread: &ThreadId, records: &[Record]) {
        let columns = self.columns();
        if self.looking.take_if(|looking| looking == thread).is_none() {
            // The person has gone on to another one meanwhile.
            self.feeds.retain(|known, feed| known != thread || feed.held.is_none());
            return;
        }
        let Some(feed) = self.feeds.get_mut(thread) else { return };
        let held = feed.held.take().unwrap_or_default();
        let lines: Vec<Line> = records.iter().chain(&held).flat_map(|record| feed.push(record, columns)).collect();
        if let Some(said) = self.answers.of(thread) {
            feed.talk.hear(said);
        }
        self.focus = Some(thread.clone());
        self.show_path();
        self.show_past(thread, lines);
    }

    /// A line that says whose conversation follows.
    fn show_path(&mut self) {
        let path = self.path().join(" › ");
        let mut line = Line::new(format!("── {path} "), Style::BOLD);
        let rest = self.columns().saturating_sub(line.width());
        line.push("─".repeat(rest), Style::DIM);
        self.stay.push(Line::default());
        self.stay.push(line);
    }
}

/// Whether a thread or one below it works.
fn is_busy(node: &Node) -> bool {
    let is_running = node.outcome.is_none() && node.started.is_some();
    is_running || node.children.iter().any(is_busy)
}

/// Leaves out what had ended before the newest run of a thread began.
fn hide_past(node: &mut Node) {
    let since = node.started;
    node.children.retain(|child| is_busy(child) || child.ended >= since);
    node.children.iter_mut().for_each(hide_past);
}
