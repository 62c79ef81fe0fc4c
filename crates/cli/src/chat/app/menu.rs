//! A list to choose from: typed words narrow it, arrows move, Enter chooses, Esc closes.

use agent::approval::Approval;
use agent::{Mode, ThreadId};
use view::draw::{Line, Style};

use super::Otherwise;

/// A list to choose from.
#[derive(Clone, Debug, Default)]
pub struct Menu {
    pub title: String,
    pub items: Vec<Item>,
    /// The place of the chosen one among those that are shown.
    pub selected: usize,
    /// Words that narrow it.
    pub words: String,
}

/// Something that can be chosen.
#[derive(Clone, Debug)]
pub struct Item {
    pub label: String,
    pub detail: String,
    pub pick: Pick,
}

/// What choosing means.
#[derive(Clone, Debug)]
pub enum Pick {
    /// Open a conversation.
    Open(ThreadId),
    /// Go back to a message of one's own: the copy ends with the answer before it; none for the very first.
    Back { at: Option<usize>, text: String },
    /// Decide a question.
    Decide(Box<Approval>),
    /// Speak with another model.
    Model(String),
    /// Work in another mode.
    Mode(Mode),
    /// Begin a new conversation.
    New(Otherwise),
    /// Take a message that waits back into the composer.
    Unqueue(usize),
}

impl Menu {
    /// A list of some things.
    pub fn new(title: impl Into<String>, items: Vec<Item>) -> Self {
        Self { title: title.into(), items, ..Self::default() }
    }

    /// What is shown.
    pub fn shown(&self) -> Vec<&Item> {
        let words = self.words.to_lowercase();
        let fits = |item: &&Item| {
            let text = format!("{} {}", item.label, item.detail).to_lowercase();
            words.split_whitespace().all(|word| text.contains(word))
        };
        self.items.iter().filter(fits).collect()
    }

    /// What is chosen.
    pub fn chosen(&self) -> Option<&Item> {
        self.shown().get(self.selected).copied()
    }

    /// Moves the choice.
    pub fn go(&mut self, step: isize) {
        let last = self.shown().len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(step).min(last);
    }

    /// As numbered lines, where there is no screen.
    pub fn plain_lines(&self) -> Vec<Line> {
        let mut lines = vec![Line::new(self.title.clone(), Style::PLAIN)];
        for (nth, item) in self.items.iter().enumerate() {
            let words = format!("  {}. {}  {}", nth + 1, item.label, item.detail);
            lines.push(Line::new(words.trim_end(), Style::PLAIN));
        }
        lines.push(Line::new("type a number, or an empty line to go back", Style::PLAIN));
        lines
    }
}
