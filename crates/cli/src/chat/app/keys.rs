//! What each key does.

use std::time::{Duration, Instant};

use agent::{Mode, Strength};
use termina::event::{KeyCode, KeyEvent, KeyEventKind, Modifiers};
use view::Node;
use view::draw::Style;

use super::commands::{COMMANDS, Command};
use super::{Action, App, Confirm, Deciding, Keys, List, Menu, Open, Otherwise, Pick, Queued, is_busy};
use crate::chat::history::Newer;
use crate::prompt;

/// Two presses of the same key belong together within this time.
const TWICE: Duration = Duration::from_millis(1500);

impl App {
    /// A key was pressed.
    pub(super) fn key(&mut self, key: KeyEvent, now: Instant) -> Vec<Action> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        let is_control = key.modifiers.contains(Modifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if is_control => return self.control_c(now),
            KeyCode::Char('z') if is_control => return vec![Action::Suspend],
            KeyCode::Char('g') if is_control => return vec![Action::Edit(self.composer.whole())],
            _ => {}
        }
        match &mut self.keys {
            Keys::Deciding(_) => self.key_deciding(key, now),
            Keys::Confirm(_) => self.key_confirm(key),
            Keys::Menu(_) => self.key_menu(key, now),
            Keys::Tree { .. } => self.key_tree(key, now),
            Keys::Search { .. } => self.key_search(key),
            Keys::Writing => match self.key_at_question(key, now) {
                Some(actions) => actions,
                None => self.key_writing(key, now),
            },
        }
    }

    fn key_writing(&mut self, key: KeyEvent, now: Instant) -> Vec<Action> {
        let is_control = key.modifiers.contains(Modifiers::CONTROL);
        let breaks_line = key.modifiers.intersects(Modifiers::SHIFT | Modifiers::ALT);
        match key.code {
            KeyCode::Enter if !breaks_line && !is_control => return self.enter(now),
            KeyCode::Tab if self.completion.is_some() => self.take_completion(),
            KeyCode::Tab => return self.queue_up(now),
            KeyCode::BackTab => return self.next_mode(now),
            KeyCode::Escape if self.completion.take().is_some() => {}
            KeyCode::Escape => return self.escape(now),
            KeyCode::Char('d') if is_control && self.composer.is_empty() => return self.leave(),
            KeyCode::Char('t') if is_control => return self.enter_tree(now),
            KeyCode::Char('y') if is_control => match self.questions.first().map(|open| open.question.clone()) {
                Some(question) => return self.turn_to(question),
                None => self.composer.put_back(),
            },
            KeyCode::Char('r') if is_control => {
                self.keys = Keys::Search { words: String::new(), before: usize::MAX };
            }
            KeyCode::Char('l') if is_control => {
                self.hint = None;
            }
            KeyCode::Up if self.completion.is_some() => self.move_completion(-1),
            KeyCode::Down if self.completion.is_some() => self.move_completion(1),
            KeyCode::Up => {
                if !self.composer.up(self.room()) {
                    let is_new = !self.history.is_at_old();
                    if let Some(text) = self.history.older().map(str::to_owned) {
                        let before = self.composer.take_message();
                        self.standing = if is_new { Some(before) } else { self.standing.take() };
                        self.composer.set(text);
                    }
                }
            }
            KeyCode::Down => {
                if !self.composer.down(self.room()) {
                    match self.history.newer() {
                        Newer::Message(text) => self.composer.set(text),
                        Newer::Draft => self.composer = self.standing.take().unwrap_or_default(),
                        Newer::Nothing if self.composer.is_empty() => return self.enter_tree(now),
                        Newer::Nothing => {}
                    }
                }
            }
            KeyCode::Backspace if self.composer.is_empty() => return self.go_to_parent(),
            _ => self.write(key, now),
        }
        if self.completion.is_none() || !matches!(key.code, KeyCode::Up | KeyCode::Down) {
            self.complete();
        }
        self.wanted_files()
    }

    /// A key of a line editor.
    pub(super) fn write(&mut self, key: KeyEvent, _now: Instant) {
        let (composer, room) = (&mut self.composer, self.size.columns.saturating_sub(3).max(4));
        let is_control = key.modifiers.contains(Modifiers::CONTROL);
        let is_alt = key.modifiers.contains(Modifiers::ALT);
        match key.code {
            KeyCode::Enter => composer.insert("\n"),
            KeyCode::Char('j') if is_control => composer.insert("\n"),
            KeyCode::Char('a') if is_control => composer.home(),
            KeyCode::Char('e') if is_control => composer.end(),
            KeyCode::Char('b') if is_control => composer.left(),
            KeyCode::Char('f') if is_control => composer.right(),
            KeyCode::Char('d') if is_control => composer.delete(),
            KeyCode::Char('h') if is_control => composer.backspace(),
            KeyCode::Char('w') if is_control => composer.cut_word(),
            KeyCode::Char('k') if is_control => composer.cut_to_end(),
            KeyCode::Char('u') if is_control => composer.cut_to_start(),
            KeyCode::Char('y') if is_control => composer.put_back(),
            KeyCode::Char('b') if is_alt => composer.word_left(),
            KeyCode::Char('f') if is_alt => composer.word_right(),
            KeyCode::Backspace if is_alt || is_control => composer.cut_word(),
            KeyCode::Backspace => composer.backspace(),
            KeyCode::Delete => composer.delete(),
            KeyCode::Left if is_control || is_alt => composer.word_left(),
            KeyCode::Right if is_control || is_alt => composer.word_right(),
            KeyCode::Left => composer.left(),
            KeyCode::Right => composer.right(),
            KeyCode::Home => composer.home(),
            KeyCode::End => composer.end(),
            KeyCode::Up => _ = composer.up(room),
            KeyCode::Down => _ = composer.down(room),
            KeyCode::Tab => composer.insert("    "),
            KeyCode::Char(letter) if !is_control && !is_alt => composer.insert(letter.encode_utf8(&mut [0; 4])),
            _ => {}
        }
    }

    /// The message is sent: to the focused agent, at its next step where it works.
    pub(super) fn enter(&mut self, now: Instant) -> Vec<Action> {
        if let Some(completion) = &self.completion
            && completion.is_command()
            && !completion.is_exact(self.composer.text())
        {
            let typed = self.composer.text().to_owned();
            self.take_completion();
            // A command that takes nothing more is meant by its beginning. What was only guessed is shown first.
            let is_meant = |command: &Command| {
                command.arguments.is_empty()
                    && command.name == self.composer.text().trim_end()
                    && command.name.starts_with(&typed)
            };
            if !COMMANDS.iter().any(is_meant) {
                return Vec::new();
            }
        }
        self.completion = None;
        if self.composer.before().ends_with('\\') {
            self.composer.backspace();
            self.composer.insert("\n");
            return Vec::new();
        }
        if self.composer.text().trim().is_empty() {
            return Vec::new();
        }
        if self.composer.text().starts_with('/') && !self.composer.text().starts_with("//") {
            let line = self.composer.whole();
            // What a command queues keeps its files.
            self.composer.rewrite("");
            self.history.push(&line);
            return self.command(&line, now);
        }
        self.send(now)
    }

    pub(super) fn send(&mut self, now: Instant) -> Vec<Action> {
        if self.is_under_way() {
            self.hint("one moment: the conversation is being opened", now);
            return Vec::new();
        }
        let message = self.composer.take_message();
        let text = message.whole();
        self.history.push(&text);
        let is_working = self.is_focus_working() && !self.is_left;
        let has_files = !message.files().is_empty() || !prompt::files_in(&text).is_empty();
        match self.focus.clone() {
            Some(thread) if is_working && !has_files => {
                self.sent = Some((text.clone(), message));
                vec![Action::Steer { thread, text }]
            }
            thread => {
                if is_working {
                    self.hint("a message with files is read when the agent is done, in its next turn", now);
                }
                self.is_beginning = thread.is_none();
                vec![self.say(thread, message)]
            }
        }
    }

    /// The message is sent when the focused agent is done.
    pub(super) fn queue_up(&mut self, now: Instant) -> Vec<Action> {
        if self.composer.text().trim().is_empty() {
            return self.take_back(now);
        }
        let Some(thread) = self.focus.clone().filter(|_| self.is_focus_working()) else { return self.enter(now) };
        let message = self.composer.take_message();
        self.history.push(&message.whole());
        self.queue.push(Queued { thread, message });
        if self.is_plain {
            self.hint("it is sent when the agent is done", now);
        }
        Vec::new()
    }

    /// Messages that wait can be changed or removed: they are taken back into the composer.
    pub(super) fn take_back(&mut self, _now: Instant) -> Vec<Action> {
        match self.queue.len() {
            0 => {}
            1 => self.unqueue(0),
            _ => {
                let item = |(nth, queued): (usize, &Queued)| super::Item {
                    label: view::safe::line(queued.message.text(), 100),
                    detail: String::new(),
                    pick: Pick::Unqueue(nth),
                };
                let items = self.queue.iter().enumerate().map(item).collect();
                self.keys = Keys::Menu(Menu::new("Messages that wait: take one back", items));
            }
        }
        Vec::new()
    }

    fn unqueue(&mut self, nth: usize) {
        if nth < self.queue.len() {
            let message = self.queue.remove(nth).message;
            match self.is_plain {
                true => self.tell(&format!("it is not sent: {}", message.whole()), Style::PLAIN),
                false => self.composer = message,
            }
        }
    }

    fn control_c(&mut self, now: Instant) -> Vec<Action> {
        if !matches!(self.keys, Keys::Writing) || self.completion.is_some() {
            self.close();
            return Vec::new();
        }
        if !self.composer.is_empty() {
            let text = self.composer.take();
            self.history.push(&text);
            return Vec::new();
        }
        if self.last_leave.is_some_and(|before| now - before < TWICE) {
            return self.leave();
        }
        self.last_leave = Some(now);
        let kept = if self.is_working() { "; the work is kept" } else { "" };
        self.hint(format!("Ctrl-C again to leave{kept}"), now);
        Vec::new()
    }

    pub(super) fn leave(&mut self) -> Vec<Action> {
        vec![Action::Leave]
    }

    /// Back to writing.
    pub(super) fn close(&mut self) {
        self.completion = None;
        if let Keys::Deciding(deciding) = std::mem::replace(&mut self.keys, Keys::Writing) {
            let Deciding { open: decided, draft, .. } = *deciding;
            let is_it = |open: &&mut Open| open.question.id == decided.question.id;
            self.questions.iter_mut().filter(is_it).for_each(|open| open.is_later = true);
            self.composer = draft;
        }
    }

    /// Interrupts the focused agent; twice, with nothing to interrupt: back to an earlier message.
    fn escape(&mut self, now: Instant) -> Vec<Action> {
        if self.is_focus_working()
            && let Some(thread) = self.focus.clone()
        {
            return self.interrupt(&thread, now);
        }
        if self.is_beginning {
            let is_again = self.stops_when_begun.is_some();
            self.stops_when_begun = Some(if is_again { Strength::Kill } else { Strength::Cancel });
            self.hint(if is_again { "stopping at once" } else { "it is told to stop" }, now);
            return Vec::new();
        }
        let is_twice = self.last_escape.is_some_and(|before| now - before < TWICE);
        self.last_escape = (!is_twice).then_some(now);
        if is_twice && self.composer.is_empty() && self.root.is_some() {
            return vec![Action::List(List::Messages)];
        }
        if self.composer.is_empty() && self.root.is_some() {
            self.hint("Esc again: go back to an earlier message", now);
        }
        Vec::new()
    }

    /// Stops an agent: it is asked first where it has agents of its own that run. A second time stops it at once.
    pub(super) fn interrupt(&mut self, thread: &agent::ThreadId, now: Instant) -> Vec<Action> {
        let thread = thread.clone();
        if self.stopping.contains(&thread) {
            self.hint("stopping at once", now);
            return vec![Action::Stop { thread, strength: Strength::Kill }];
        }
        let running = self.node(&thread).map_or(0, |node| {
            node.all().iter().skip(1).filter(|node| node.outcome.is_none() && node.started.is_some()).count()
        });
        let name = self.node(&thread).map_or_else(|| thread.to_string(), |node| view::safe::line(&node.name, 40));
        if running > 0 && !self.is_plain {
            let plural = if running == 1 { "" } else { "s" };
            let question = format!("Stop {name} and {running} running sub-agent{plural}?");
            self.keys = Keys::Confirm(Confirm { question, yes: Action::Stop { thread, strength: Strength::Cancel } });
            return Vec::new();
        }
        self.stopping.push(thread.clone());
        self.hint(format!("{name} is told to stop; Esc again stops it at once"), now);
        vec![Action::Stop { thread, strength: Strength::Cancel }]
    }

    fn key_confirm(&mut self, key: KeyEvent) -> Vec<Action> {
        let Keys::Confirm(confirm) = std::mem::replace(&mut self.keys, Keys::Writing) else { return Vec::new() };
        match key.code {
            KeyCode::Char('y' | 'Y') => {
                // Only what was told to stop is stopped at once when it is told again.
                if let Action::Stop { thread, .. } = &confirm.yes {
                    self.stopping.push(thread.clone());
                }
                vec![confirm.yes]
            }
            KeyCode::Enter if confirm.yes == Action::Resume => vec![confirm.yes],
            KeyCode::Char('n' | 'N') | KeyCode::Escape => Vec::new(),
            _ => {
                self.keys = Keys::Confirm(confirm);
                Vec::new()
            }
        }
    }

    fn key_menu(&mut self, key: KeyEvent, now: Instant) -> Vec<Action> {
        let Keys::Menu(menu) = &mut self.keys else { return Vec::new() };
        match key.code {
            KeyCode::Up => menu.go(-1),
            KeyCode::Down | KeyCode::Tab => menu.go(1),
            KeyCode::PageUp => menu.go(-10),
            KeyCode::PageDown => menu.go(10),
            KeyCode::Escape => self.keys = Keys::Writing,
            KeyCode::Backspace => {
                menu.words.pop();
                menu.selected = 0;
            }
            KeyCode::Char(letter) if key.modifiers.difference(Modifiers::SHIFT).is_empty() => {
                menu.words.push(letter);
                menu.selected = 0;
            }
            KeyCode::Enter => {
                let pick = menu.chosen().map(|item| item.pick.clone());
                self.keys = Keys::Writing;
                return pick.map(|pick| self.picked(pick, now)).unwrap_or_default();
            }
            _ => {}
        }
        Vec::new()
    }

    /// Something was chosen.
    pub(super) fn picked(&mut self, pick: Pick, now: Instant) -> Vec<Action> {
        match pick {
            Pick::Open(thread) => vec![Action::Open(thread)],
            Pick::Back { at: Some(at), text } => vec![Action::Fork { at: Some(at), text }],
            Pick::Back { at: None, text } => {
                self.draft(text);
                vec![Action::New(Otherwise::default())]
            }
            Pick::Decide(question) if self.is_plain => self.print_again(*question),
            Pick::Decide(question) => self.turn_to(*question),
            Pick::Model(model) => self.choose_model(model, now),
            Pick::Mode(mode) => self.choose_mode(mode, now),
            Pick::New(otherwise) => vec![Action::New(otherwise)],
            Pick::Unqueue(nth) => {
                self.unqueue(nth);
                Vec::new()
            }
        }
    }

    fn enter_tree(&mut self, now: Instant) -> Vec<Action> {
        let all: Vec<&Node> = self.roots.iter().flat_map(Node::all).collect();
        let selected = all.iter().find(|node| Some(&node.id) != self.focus.as_ref() && is_busy(node));
        match selected.or(all.get(1)).map(|node| node.id.clone()) {
            Some(selected) => self.keys = Keys::Tree { selected },
            None => self.hint("there are no sub-agents yet", now),
        }
        Vec::new()
    }

    fn key_tree(&mut self, key: KeyEvent, now: Instant) -> Vec<Action> {
        let all: Vec<agent::ThreadId> = self.roots.iter().flat_map(Node::all).map(|node| node.id.clone()).collect();
        let Keys::Tree { selected } = &mut self.keys else { return Vec::new() };
        let at = all.iter().position(|thread| thread == selected).unwrap_or(0);
        let moved = |step: isize| all.get(at.saturating_add_signed(step).min(all.len() - 1)).cloned();
        match key.code {
            KeyCode::Up => *selected = moved(-1).unwrap_or(selected.clone()),
            KeyCode::Down if at + 1 >= all.len() => self.keys = Keys::Writing,
            KeyCode::Down => *selected = moved(1).unwrap_or(selected.clone()),
            KeyCode::PageUp => *selected = moved(-10).unwrap_or(selected.clone()),
            KeyCode::PageDown => *selected = moved(10).unwrap_or(selected.clone()),
            KeyCode::Enter | KeyCode::Right => {
                let thread = selected.clone();
                return self.look(thread);
            }
            KeyCode::Left | KeyCode::Backspace => *selected = selected.parent().unwrap_or(selected.clone()),
            KeyCode::Char('x') | KeyCode::Delete => {
                let thread = selected.clone();
                self.keys = Keys::Writing;
                return self.interrupt(&thread, now);
            }
            KeyCode::Escape => self.keys = Keys::Writing,
            KeyCode::Char('t') if key.modifiers.contains(Modifiers::CONTROL) => self.keys = Keys::Writing,
            KeyCode::Char(_) => {
                self.keys = Keys::Writing;
                return self.key_writing(key, now);
            }
            _ => {}
        }
        Vec::new()
    }

    /// To the conversation of the parent.
    pub(super) fn go_to_parent(&mut self) -> Vec<Action> {
        // From the one that is being opened, so that no press is lost.
        match self.looking.as_ref().or(self.focus.as_ref()).and_then(agent::ThreadId::parent) {
            Some(parent) => self.look(parent),
            None => Vec::new(),
        }
    }

    fn key_search(&mut self, key: KeyEvent) -> Vec<Action> {
        let Keys::Search { words, before } = &mut self.keys else { return Vec::new() };
        let is_control = key.modifiers.contains(Modifiers::CONTROL);
        let found = self.history.find(words, *before).map(|(at, text)| (at, text.to_owned()));
        match key.code {
            KeyCode::Char('r') if is_control => *before = found.map_or(*before, |(at, _)| at),
            KeyCode::Up => *before = found.map_or(*before, |(at, _)| at),
            KeyCode::Backspace => {
                words.pop();
                *before = usize::MAX;
            }
            KeyCode::Char(letter) if !is_control => {
                words.push(letter);
                *before = usize::MAX;
            }
            KeyCode::Escape => self.keys = Keys::Writing,
            _ => {
                if let Some((_, text)) = found {
                    self.composer.set(text);
                }
                self.keys = Keys::Writing;
            }
        }
        Vec::new()
    }

    fn next_mode(&mut self, now: Instant) -> Vec<Action> {
        const MODES: [Mode; 3] = [Mode::Ask, Mode::Auto, Mode::Plan];
        if self.is_under_way() {
            self.hint("one moment: the conversation is being opened", now);
            return Vec::new();
        }
        let next = MODES.iter().position(|mode| mode.as_str() == self.mode()).map_or(0, |at| (at + 1) % MODES.len());
        self.choose_mode(MODES[next], now)
    }

    /// Text was pasted. The path of a file, as a terminal writes it when one is dropped, becomes an attachment.
    pub(super) fn pasted(&mut self, text: &str, now: Instant) -> Vec<Action> {
        self.last_key = Some(now);
        match &mut self.keys {
            Keys::Menu(menu) => menu.words.push_str(text.trim()),
            Keys::Search { words, .. } => words.push_str(text.trim()),
            Keys::Confirm(_) => {}
            Keys::Deciding(deciding) if !deciding.stage.is_written() => {}
            Keys::Writing | Keys::Tree { .. } | Keys::Deciding(_) => {
                match super::super::attach::dropped(text) {
                    Some(path) if matches!(self.keys, Keys::Writing) => self.composer.attach(path),
                    _ => self.composer.paste(text),
                }
                self.complete();
            }
        }
        Vec::new()
    }

    /// Columns for what is written.
    pub fn room(&self) -> usize {
        self.size.columns.saturating_sub(3).max(4)
    }
}
