//! Slash commands: what each is called, what it does in a sentence, and what follows from it. An unknown one names the nearest.

use std::time::Instant;

use agent::{Mode, ThreadId};
use view::draw::{self, Line, Style};
use view::{LastWords, Node};

use super::{Action, App, Input, Item, List, Menu, Otherwise, Pick};

/// Two names that are less alike than this are not taken for a typing error.
const ALIKE: f64 = 0.5;

/// A command: its name, its arguments, a sentence.
pub struct Command {
    pub name: &'static str,
    pub arguments: &'static str,
    pub sentence: &'static str,
}

const fn command(name: &'static str, arguments: &'static str, sentence: &'static str) -> Command {
    Command { name, arguments, sentence }
}

/// All commands, in the order in which they are listed.
pub const COMMANDS: &[Command] = &[
    command("/help", "", "Show keys and commands"),
    command("/new", "", "Begin a new conversation"),
    command("/model", "[PROVIDER/MODEL]", "Speak with another model from the next turn on; without a name: choose one"),
    command("/mode", "[plan|ask|auto|dangerous]", "Change what may be done without asking; without a name: choose one"),
    command("/agents", "[NAME]", "Begin a new conversation with another agent; without a name: choose one"),
    command("/threads", "", "List the conversations of this folder and open one"),
    command("/resume", "[ID]", "Go on with another conversation"),
    command("/continue", "", "Go on with a run that was interrupted"),
    command("/fork", "", "Go back to an earlier message, and go on from there in a copy"),
    command("/look", "[NUMBER|ID]", "Look into a sub-agent; without a name: list them"),
    command("/back", "", "Back to the conversation of the parent"),
    command("/stop", "[ID]", "Stop the agent that is shown, or another one"),
    command("/queue", "[TEXT]", "Send a message when the agent is done; without a text: take one back"),
    command("/tasks", "[add|ls|…]", "The tasks of this folder, as `majordomo task`"),
    command("/cost", "", "Show what each agent used and what it cost"),
    command("/approvals", "", "List what waits for your decision, and decide it"),
    command("/context", "", "Show instruction files and skills, and how full the model's context is"),
    command("/compact", "", "Replace the conversation by a summary of it"),
    command("/export", "[FILE]", "Write the conversation to a file, as Markdown"),
    command("/config", "[show|…]", "Show the settings, as `majordomo config`"),
    command("/mcp", "[ls|…]", "MCP servers and their tools, as `majordomo mcp`"),
    command("/init", "", "Let the agent write AGENTS.md, the instructions for this project"),
    command("/quit", "", "Leave"),
];

const INIT: &str = "Look at this project and write a file AGENTS.md with what an agent that works here should know: what the project is, how it \
    is built and tested, how its code is laid out, and the conventions that its files show. Keep it under 60 lines. If AGENTS.md exists, \
    improve it, and keep what people wrote.";

const KEYS: &[(&str, &str)] = &[
    ("Enter", "send; while the agent works: it reads the message at its next step"),
    ("Tab", "queue the message for when the agent is done; on an empty line: take one back"),
    ("Shift-Enter, Alt-Enter, \\ Enter", "a new line"),
    ("Esc", "interrupt the agent that is shown; twice on an empty line: back to an earlier message"),
    ("Ctrl-T, Down", "into the tree of agents; Enter opens one, x stops it"),
    ("Backspace", "on an empty line: to the conversation of the parent"),
    ("Ctrl-Y", "answer the question that waits"),
    ("Up, Down, Ctrl-R", "earlier messages; search in them"),
    ("@", "files, agents and threads"),
    ("Ctrl-G", "write in $EDITOR"),
    ("Ctrl-C twice, Ctrl-D", "leave; the work is kept"),
];

impl App {
    /// Carries out a command.
    pub(super) fn command(&mut self, line: &str, now: Instant) -> Vec<Action> {
        let (name, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        let words = || split(rest).into_iter();
        match name {
            "/help" | "/?" => self.help(),
            "/new" | "/clear" => return vec![Action::New(Otherwise::default())],
            "/model" if rest.is_empty() => return vec![Action::List(List::Models)],
            "/model" => return self.choose_model(rest.to_owned(), now),
            "/mode" if rest.is_empty() => return self.handle(Input::Menu(self.modes_menu()), now),
            "/mode" => match rest.parse() {
                Ok(mode) => return self.choose_mode(mode, now),
                Err(why) => self.tell(&why, Style::DIM),
            },
            "/agents" | "/agent" if rest.is_empty() => return vec![Action::List(List::Agents)],
            "/agents" | "/agent" => {
                return self.otherwise(Otherwise { agent: Some(rest.to_owned()), ..Otherwise::default() });
            }
            "/threads" => return vec![Action::List(List::Conversations)],
            "/resume" if rest.is_empty() => return vec![Action::List(List::Conversations)],
            "/resume" => return vec![Action::Open(ThreadId::new(rest))],
            "/continue" => return vec![Action::Resume],
            "/fork" if self.root.is_some() => return vec![Action::List(List::Messages)],
            "/look" => return self.look_at(rest),
            "/back" => return self.go_to_parent(),
            "/stop" => {
                let thread = self.thread_named(rest).or_else(|| self.focus.clone());
                return thread.map(|thread| self.interrupt(&thread, now)).unwrap_or_default();
            }
            "/queue" if rest.is_empty() => return self.take_back(now),
            "/queue" => {
                self.composer.rewrite(rest);
                return self.queue_up(now);
            }
            "/tasks" | "/task" => return self.run("task", "ls", words()),
            "/cost" => self.cost(),
            "/approvals" => return vec![Action::List(List::Approvals)],
            "/context" => return self.context(),
            "/compact" => return self.sum_up(now),
            "/export" => return self.export(rest),
            "/config" => return self.run("config", "show", words()),
            "/mcp" => return self.run("mcp", "ls", words()),
            "/init" => {
                self.composer.set(INIT);
                return self.send(now);
            }
            "/quit" | "/exit" | "/q" => return self.leave(),
            _ => self.unknown(name),
        }
        Vec::new()
    }

    fn unknown(&mut self, name: &str) {
        let alike = |command: &&Command| strsim::normalized_damerau_levenshtein(name, command.name);
        let best = COMMANDS.iter().max_by(|one, other| alike(one).total_cmp(&alike(other)));
        let meant = best.filter(|best| alike(best) >= ALIKE).map(|best| format!("; did you mean {}?", best.name));
        let meant = meant.unwrap_or_else(|| "; /help lists them".to_owned());
        self.tell(&format!("there is no command {name}{meant}"), Style::DIM);
    }

    fn help(&mut self) {
        let mut lines = vec![Line::default(), Line::new("Keys", Style::BOLD)];
        let row = |lead: &str, words: &str| {
            let mut line = Line::new(format!("  {lead:<32} "), Style::PLAIN);
            line.push(words, Style::DIM);
            line
        };
        lines.extend(KEYS.iter().map(|(key, words)| row(key, words)));
        lines.push(Line::default());
        lines.push(Line::new("Commands", Style::BOLD));
        lines.extend(
            COMMANDS
                .iter()
                .map(|command| row(format!("{} {}", command.name, command.arguments).trim_end(), command.sentence)),
        );
        let columns = self.columns();
        self.stay.extend(lines.iter().map(|line| line.cut(columns, '…')));
    }

    /// Another model: for the conversation that is shown, or for the one that is about to begin.
    pub(super) fn choose_model(&mut self, model: String, now: Instant) -> Vec<Action> {
        match self.focus.clone() {
            Some(thread) => self.choose(thread, Some(model), None, now),
            None => vec![Action::New(Otherwise { model: Some(model), ..Otherwise::default() })],
        }
    }

    /// Another mode, by the same way.
    pub(super) fn choose_mode(&mut self, mode: Mode, now: Instant) -> Vec<Action> {
        match self.focus.clone() {
            Some(thread) => self.choose(thread, None, Some(mode), now),
            None => vec![Action::New(Otherwise { mode: Some(mode.to_string()), ..Otherwise::default() })],
        }
    }

    fn choose(&mut self, thread: ThreadId, model: Option<String>, mode: Option<Mode>, now: Instant) -> Vec<Action> {
        self.awaits_change = true;
        if self.is_focus_working() {
            self.hint("it holds from the agent's next turn on", now);
        }
        vec![Action::Choose { thread, model, mode }]
    }

    /// The modes, with what each allows.
    pub fn modes_menu(&self) -> Menu {
        let item = |(mode, words): (Mode, &str)| Item {
            label: mode.to_string(),
            detail: words.to_owned(),
            pick: Pick::Mode(mode),
        };
        let modes = [
            (Mode::Plan, "it may only read"),
            (Mode::Ask, "it may read; all else needs your consent"),
            (Mode::Auto, "it may write in this folder; what is risky needs your consent"),
            (Mode::Dangerous, "nothing is asked"),
        ];
        let mut menu = Menu::new(format!("Mode, now {}", self.mode()), modes.into_iter().map(item).collect());
        menu.selected = modes.iter().position(|(mode, _)| mode.as_str() == self.mode()).unwrap_or(0);
        menu
    }

    /// The conversation that is shown is replaced by a summary of it.
    fn sum_up(&mut self, now: Instant) -> Vec<Action> {
        let Some(thread) = self.focus.clone() else {
            self.tell("nothing was said yet", Style::DIM);
            return Vec::new();
        };
        self.awaits_change = true;
        if self.is_focus_working() {
            self.hint("it is summed up when the agent is done", now);
        }
        vec![Action::SumUp(thread)]
    }

    /// A new conversation, which is otherwise; the one before is kept.
    fn otherwise(&mut self, otherwise: Otherwise) -> Vec<Action> {
        if let Some(root) = &self.root {
            self.tell(&format!("the conversation before is kept: /resume {root}"), Style::DIM);
        }
        vec![Action::New(otherwise)]
    }

    /// The thread that a number of `/look`, or the beginning of a name, means.
    pub(super) fn thread_named(&self, name: &str) -> Option<ThreadId> {
        let all: Vec<&Node> = self.roots.iter().flat_map(Node::all).collect();
        let name = name.trim_start_matches('@');
        if name.is_empty() {
            return None;
        }
        let by_number = name.parse::<usize>().ok().and_then(|number| all.get(number)).map(|node| node.id.clone());
        let fits = |node: &&&Node| node.id.as_str() == name || &*node.name == name;
        by_number.or_else(|| all.iter().find(fits).map(|node| node.id.clone()))
    }

    fn look_at(&mut self, name: &str) -> Vec<Action> {
        if let Some(thread) = self.thread_named(name) {
            return self.look(thread);
        }
        let all: Vec<Node> = self.roots.iter().flat_map(Node::all).cloned().collect();
        if all.len() < 2 {
            self.tell("there are no sub-agents yet", Style::DIM);
        }
        for (nth, node) in all.iter().enumerate().skip(1) {
            let state = node.outcome.map_or_else(|| node.state.to_string(), |outcome| outcome.to_string());
            let goal = node.goal.as_deref().unwrap_or_default();
            self.tell(&format!("  {nth}. {} ({}): {state}: {goal}", node.name, node.id), Style::PLAIN);
        }
        Vec::new()
    }

    /// One of our own commands.
    fn run(&self, command: &str, default: &str, words: impl Iterator<Item = String>) -> Vec<Action> {
        let mut line: Vec<String> = std::iter::once(command.to_owned()).chain(words).collect();
        if line.len() == 1 {
            line.push(default.to_owned());
        }
        vec![Action::Run(line)]
    }

    fn cost(&mut self) {
        if self.roots.is_empty() {
            return self.tell("nothing was used yet", Style::DIM);
        }
        let now = crate::out::now();
        let marks = if self.is_plain { draw::Marks::Ascii } else { draw::Marks::Unicode };
        let options = draw::DrawOptions { now, width: self.columns(), marks };
        let lines = draw::tree_lines(&self.roots, &LastWords::default(), &options, 60);
        self.stay.push(Line::default());
        self.stay.extend(lines);
        if let Some(root) = self.root_node() {
            let usage = &root.usage.tree;
            let shares = draw::shares(usage).map(|shares| format!(" · {shares}")).unwrap_or_default();
            let words = format!(
                "{} tokens · {} requests · {} tool calls · {}{shares}",
                draw::count(usage.tokens.total()),
                usage.requests,
                usage.tool_calls,
                draw::cost(usage, root.priced)
            );
            self.tell(&words, Style::BOLD);
        }
    }

    fn context(&mut self) -> Vec<Action> {
        let context = self.focus.as_ref().and_then(|focus| self.contexts.get(focus)).copied();
        if let Some(super::Context { window, used }) = context {
            let window_words = draw::count(window);
            let words = match used {
                Some(used) => {
                    let share = used.saturating_mul(100).checked_div(window).unwrap_or(0);
                    format!(
                        "the model's context is {share}% full: its last request and answer took {} of {window_words} tokens",
                        draw::count(used)
                    )
                }
                None => format!(
                    "the model's context of {window_words} tokens was not used since the beginning or the last summary"
                ),
            };
            self.tell(&words, Style::PLAIN);
        }
        vec![Action::Run(vec!["context".to_owned()])]
    }

    fn export(&mut self, file: &str) -> Vec<Action> {
        let Some(root) = self.root.clone() else {
            self.tell("nothing was said yet", Style::DIM);
            return Vec::new();
        };
        let file = if file.is_empty() { format!("{root}.md") } else { file.to_owned() };
        vec![Action::Export { root, file }]
    }
}

/// The words of a line, as a shell parts them: quotes keep several together. What follows `add` without quotes and flags is one title.
fn split(line: &str) -> Vec<String> {
    if let Some(title) = line.strip_prefix("add ").map(str::trim)
        && !title.contains(['"', '\''])
        && !title.split_whitespace().any(|word| word.starts_with('-'))
    {
        return vec!["add".to_owned(), title.to_owned()];
    }
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match c {
            '"' | '\'' if quote == Some(c) => quote = None,
            '"' | '\'' if quote.is_none() => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && quote.is_none() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_are_parted_as_in_a_shell_and_a_title_is_one() {
        assert_eq!(split("add Water the plants"), ["add", "Water the plants"]);
        assert_eq!(split("add \"Water it\" --after t1"), ["add", "Water it", "--after", "t1"]);
        assert_eq!(split("note t1 'all \"of\" it' \"\""), ["note", "t1", "all \"of\" it", ""]);
        assert_eq!(split("  "), Vec::<String>::new());
    }
}
