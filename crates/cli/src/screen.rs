//! The terminal while a run is shown: lines that stay, and below them a region that is drawn again and again.
//!
//! All that this process writes to its terminal during that time goes through here, so that nothing is written into the region. The
//! terminal stays in its usual mode, with its cursor, on its usual screen: there is nothing that a kill could leave behind but the
//! echo of keys, which is off while the region stands there. Each change is one write, as a synchronised update where the terminal
//! knows it. A chat keeps its cursor in the region and reads single keys; which modes of the terminal that takes is in `chat/terminal.rs`.
//! Absent: what is drawn (`show`, `chat`), and how keys are read.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr};
use view::draw::Line;

/// The region of this process; none where no run is shown at a terminal.
static REGION: Mutex<Option<Region>> = Mutex::new(None);

/// The size that is taken where the terminal does not say one.
const SIZE: Size = Size { columns: 80, rows: 24 };

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

/// The place of the cursor: a line, counted from the first of the region, and a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub line: usize,
    pub column: usize,
}

/// What stands in the region while a person types in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    pub lines: Vec<Line>,
    pub cursor: Option<Cursor>,
}

/// The region at the end of what was written.
#[derive(Debug, Default)]
struct Region {
    /// What stands there; empty where nothing does.
    lines: Vec<Line>,
    /// Where the cursor stands; none where it stands below the region, at the beginning of a line.
    cursor: Option<Cursor>,
    /// Whether keys are read one by one: then the settings of the terminal are those of `chat/terminal.rs`.
    is_typed_in: bool,
    /// Whether lines are drawn without their styles.
    is_plain: bool,
    /// The columns of the terminal when it was drawn.
    columns: usize,
    /// How many questions have the terminal to themselves.
    paused: usize,
    /// The settings of the terminal, while keys are not echoed.
    as_it_was: Option<Termios>,
}

/// Shows a region until it is dropped. Then the region is erased, and the terminal is as it was.
#[derive(Debug)]
pub struct Live(());

/// Keeps the terminal free for a question until it is dropped.
#[derive(Debug)]
pub struct Pause(());

impl Live {
    /// Begins to show a region, where stderr is a terminal and this process is in its foreground.
    pub fn begin() -> Option<Self> {
        if !io::stderr().is_terminal() || !is_in_foreground() {
            return None;
        }
        make_room_for_panics();
        let mut region = Region::default();
        region.silence_keys();
        *lock() = Some(region);
        Some(Self(()))
    }

    /// The same for a region that a person types in.
    pub fn begin_typed_in(is_plain: bool) -> Option<Self> {
        if !io::stderr().is_terminal() || !is_in_foreground() {
            return None;
        }
        make_room_for_panics();
        *lock() = Some(Region { is_typed_in: true, is_plain, ..Region::default() });
        Some(Self(()))
    }

    /// Writes lines that stay, and draws a frame below them in which the cursor stands, in one write. Only lines that have changed are
    /// drawn again. False while another program has the terminal: nothing is written then.
    pub fn draw_frame(&self, stay: &[Line], frame: Frame) -> bool {
        let mut held = lock();
        let Some(old) = held.as_mut() else { return false };
        if old.paused > 0 || !is_in_foreground() {
            return false;
        }
        let columns = size().columns;
        if stay.is_empty() && old.lines == frame.lines && old.cursor == frame.cursor && old.columns == columns {
            return true;
        }
        let mut text = format!("{BEGIN}{HIDE_CURSOR}{}", old.up(columns));
        let is_whole = !stay.is_empty() || old.columns != columns || old.lines.is_empty();
        if is_whole {
            text.push_str(ERASE_BELOW);
            stay.iter().for_each(|line| old.push_line(&mut text, line));
        }
        for (nth, line) in frame.lines.iter().enumerate() {
            if nth > 0 {
                text.push('\n');
            }
            if is_whole || old.lines.get(nth) != Some(line) {
                text.push_str(&old.shown(line));
                text.push_str(ERASE_TO_END);
            }
        }
        if !is_whole && old.lines.len() > frame.lines.len() {
            text.push_str(&format!("\n{ERASE_BELOW}\u{1b}[1A"));
        }
        let last = frame.lines.len().saturating_sub(1);
        let cursor = frame.cursor.unwrap_or(Cursor { line: last, column: 0 });
        if last > cursor.line {
            text.push_str(&format!("\u{1b}[{}A", last - cursor.line));
        }
        text.push('\r');
        if cursor.column > 0 {
            text.push_str(&format!("\u{1b}[{}C", cursor.column));
        }
        text.push_str(SHOW_CURSOR);
        text.push_str(END);
        (old.lines, old.cursor, old.columns) = (frame.lines, Some(cursor), columns);
        write(&text);
        true
    }

    /// Has the terminal reply once it shows what was written so far: it says what kind of terminal it is, which every terminal does.
    pub fn ask_for_reply(&self) {
        write(ASK_KIND);
    }

    /// Writes lines that stay, and draws the region below them, in one write. False while a question has the terminal, or another
    /// process: nothing is written then.
    pub fn draw(&self, stay: &[Line], region: Vec<Line>) -> bool {
        let mut held = lock();
        let Some(old) = held.as_mut() else { return false };
        if old.paused > 0 || !is_in_foreground() {
            return false;
        }
        old.silence_keys();
        let columns = size().columns;
        if stay.is_empty() && old.lines == region && old.columns == columns {
            return true;
        }
        let mut text = String::from(BEGIN);
        text.push_str(&old.up(columns));
        if !stay.is_empty() {
            // A line that stays may be longer than the terminal is wide, and goes on in the next row.
            text.push_str(ERASE_BELOW);
        }
        for line in stay {
            old.push_line(&mut text, line);
        }
        let is_whole = !stay.is_empty() || old.columns != columns;
        for (nth, line) in region.iter().enumerate() {
            match old.lines.get(nth) {
                Some(same) if !is_whole && same == line => text.push('\n'),
                _ => old.push_line(&mut text, line),
            }
        }
        old.lines = region;
        old.columns = columns;
        text.push_str(ERASE_BELOW);
        text.push_str(END);
        write(&text);
        true
    }

    /// Leaves what stands in the region where it is, as lines that stay.
    pub fn leave(&self) {
        if let Some(region) = lock().as_mut() {
            region.lines.clear();
            region.cursor = None;
        }
    }

    /// The process was stopped and goes on: what stands on the terminal is no longer known.
    pub fn continues(&self) {
        if let Some(region) = lock().as_mut() {
            region.lines.clear();
            region.cursor = None;
            // The shell has set the terminal as it wants it.
            region.as_it_was = None;
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(mut region) = lock().take() {
            write(&region.erased());
            region.let_keys_be_seen();
        }
    }
}

/// Writes a line for a person, above the region if there is one.
pub fn note(line: &str) {
    print(format!("{line}\n").as_bytes());
}

/// Leaves the terminal to a question, until what is returned is dropped.
pub fn pause() -> Pause {
    if let Some(region) = lock().as_mut() {
        region.paused += 1;
        write(&region.erased());
        region.let_keys_be_seen();
    }
    Pause(())
}

impl Drop for Pause {
    fn drop(&mut self) {
        if let Some(region) = lock().as_mut() {
            region.paused = region.paused.saturating_sub(1);
        }
    }
}

/// The size of the terminal at stderr.
pub fn size() -> Size {
    match tcgetwinsize(io::stderr()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
            Size { columns: size.ws_col.into(), rows: size.ws_row.into() }
        }
        Ok(_) | Err(_) => SIZE,
    }
}

/// Where diagnostics are written: above the region, like everything else.
pub struct Diagnostics;

impl Write for Diagnostics {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        print(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Begins and ends an update that the terminal shows as a whole; one that does not know it ignores it.
const BEGIN: &str = "\u{1b}[?2026h";
const END: &str = "\u{1b}[?2026l";
const ERASE_BELOW: &str = "\u{1b}[J";
const ERASE_LINE: &str = "\u{1b}[2K";
const ERASE_TO_END: &str = "\u{1b}[K";
const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
/// The request for the primary attributes of the device.
const ASK_KIND: &str = "\u{1b}[c";

impl Region {
    /// Moves the cursor to where the region begins, on a terminal of so many columns.
    fn up(&self, columns: usize) -> String {
        let above = self.cursor.map_or(self.lines.len(), |cursor| cursor.line.min(self.lines.len()));
        let rows = if columns < self.columns && reflows() {
            // Lines that became too long were broken by the terminal.
            let columns = columns.max(1);
            let broken: usize = self.lines[..above].iter().map(|line| line.width().div_ceil(columns).max(1)).sum();
            broken + self.cursor.map_or(0, |cursor| cursor.column / columns)
        } else {
            above
        };
        if rows == 0 { "\r".to_owned() } else { format!("\u{1b}[{rows}F") }
    }

    /// What takes the region off the terminal.
    fn erased(&mut self) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let text = format!("{BEGIN}{}{ERASE_BELOW}{END}", self.up(size().columns));
        self.lines.clear();
        self.cursor = None;
        text
    }

    fn push_line(&self, text: &mut String, line: &Line) {
        if !self.is_typed_in {
            text.push_str(ERASE_LINE);
        }
        text.push_str(&self.shown(line));
        text.push('\n');
    }

    fn shown(&self, line: &Line) -> String {
        match (self.is_plain, self.is_typed_in) {
            (true, _) => line.text(),
            (false, true) => linked(line).ansi(),
            (false, false) => line.ansi(),
        }
    }

    /// Keys that are pressed while nobody is asked would stand in the middle of the region.
    fn silence_keys(&mut self) {
        if self.as_it_was.is_some() || self.is_typed_in || !is_in_foreground() {
            return;
        }
        if let Ok(as_it_was) = tcgetattr(io::stderr()) {
            let mut silent = as_it_was.clone();
            silent.local_modes.remove(LocalModes::ECHO);
            if tcsetattr(io::stderr(), OptionalActions::Now, &silent).is_ok() {
                self.as_it_was = Some(as_it_was);
            }
        }
    }

    fn let_keys_be_seen(&mut self) {
        if let Some(as_it_was) = self.as_it_was.take()
            && is_in_foreground()
        {
            // A terminal that has gone needs nothing.
            let _ = tcsetattr(io::stderr(), OptionalActions::Now, &as_it_was);
        }
    }
}

/// A line whose addresses lead somewhere when they are clicked (OSC 8). What is shown is the address itself, so that none can hide another.
fn linked(line: &Line) -> Line {
    if !line.spans.iter().any(|span| span.text.contains("://")) {
        return line.clone();
    }
    let mut linked = line.clone();
    for span in &mut linked.spans {
        let mut text = String::new();
        let mut rest = span.text.as_str();
        while let Some(at) = ["https://", "http://"].iter().filter_map(|scheme| rest.find(scheme)).min() {
            let is_end = |c: char| c.is_whitespace() || c.is_control() || "<>\"'`()[]{}|\\^".contains(c);
            let end = rest[at..].find(is_end).map_or(rest.len(), |end| at + end);
            let address = rest[at..end].trim_end_matches(['.', ',', ';', ':', '!', '?']);
            let end = at + address.len();
            text.push_str(&rest[..at]);
            text.push_str(&format!("\u{1b}]8;;{address}\u{1b}\\{address}\u{1b}]8;;\u{1b}\\"));
            rest = &rest[end..];
        }
        text.push_str(rest);
        span.text = text;
    }
    linked
}

/// Writes text that ends with a line break above the region.
fn print(bytes: &[u8]) {
    let mut held = lock();
    match held.as_mut() {
        Some(region) if !region.lines.is_empty() && is_in_foreground() => {
            let columns = size().columns;
            let mut text = format!("{BEGIN}{}{ERASE_BELOW}", region.up(columns));
            text.push_str(&String::from_utf8_lossy(bytes));
            region.columns = columns;
            region.lines.iter().for_each(|line| region.push_line(&mut text, line));
            region.cursor = None;
            text.push_str(END);
            write(&text);
        }
        Some(_) | None => write_bytes(bytes),
    }
}

fn write(text: &str) {
    if !text.is_empty() {
        write_bytes(text.as_bytes());
    }
}

fn write_bytes(bytes: &[u8]) {
    // A closed stderr cannot be reported anywhere.
    let _ = io::stderr().lock().write_all(bytes);
}

fn lock() -> MutexGuard<'static, Option<Region>> {
    REGION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the terminal belongs to this process at this moment: one in the background must neither draw nor change its settings.
fn is_in_foreground() -> bool {
    tcgetpgrp(io::stderr()).map_or(true, |group| group == getpgrp())
}

/// Whether the terminal breaks long lines anew when it becomes narrower. Most do; xterm and the console of the kernel cut them.
fn reflows() -> bool {
    let is_set = |name| std::env::var_os(name).is_some();
    let is_console = std::env::var_os("TERM").is_some_and(|term| term == "linux");
    is_set("TMUX") || !is_set("XTERM_VERSION") && !is_console
}

/// The message of a panic is written by the standard library. It must not stand in the region, and the next one begins below it.
fn make_room_for_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // A panic within this file holds the lock.
            if let Ok(mut held) = REGION.try_lock()
                && let Some(region) = held.as_mut()
            {
                write(&region.erased());
            }
            tell(panic);
        }));
    });
}

#[cfg(test)]
mod tests {
    use view::draw::Style;

    use super::*;

    #[test]
    fn an_address_is_a_link_to_itself_and_other_text_stays_as_it_is() {
        let line = Line::new("see (https://example.org/a?b=c). Or not: http://x.example, ok", Style::PLAIN);
        let link = |address: &str| format!("\u{1b}]8;;{address}\u{1b}\\{address}\u{1b}]8;;\u{1b}\\");
        let (one, other) = (link("https://example.org/a?b=c"), link("http://x.example"));
        assert_eq!(linked(&line).text(), format!("see ({one}). Or not: {other}, ok"));
        let plain = Line::new("no://link here", Style::PLAIN);
        assert_eq!(linked(&plain), plain);
    }
}
