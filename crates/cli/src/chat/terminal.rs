//! The terminal of a chat: the modes in which keys come one by one, and the keys.
//!
//! Lines end as usual in these modes, so that what others write (diagnostics, a panic) stands where it should. The modes are taken back
//! when the chat ends, when it is stopped, and before the message of a panic. Absent: what is drawn (`screen.rs`).

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::{Mutex, Once, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr, ttyname,
};
use termina::{Event, Parser};
use tokio::io::unix::AsyncFd;

/// How long the rest of a key's sequence is waited for.
const REST_OF_KEY: Duration = Duration::from_millis(30);

/// Pastes as a whole, reports of focus, and keys that can be told apart (Shift-Enter); a terminal that does not know them ignores them.
const ON: &str = "\u{1b}[?2004h\u{1b}[?1004h\u{1b}[>1u";
const OFF: &str = "\u{1b}[<1u\u{1b}[?1004l\u{1b}[?2004l\u{1b}[?25h";

/// The settings of the terminal before, and the thread that the chat runs on, while the modes are on.
static BEFORE: Mutex<Option<(Termios, ThreadId)>> = Mutex::new(None);

/// The modes, until it is dropped.
pub struct Modes(());

impl Modes {
    /// Turns them on.
    pub fn on() -> io::Result<Self> {
        restore_before_panics();
        turn_on()?;
        Ok(Self(()))
    }

    /// Turns them off for a moment.
    pub fn pause(&self) {
        turn_off();
    }

    /// Turns them on again.
    pub fn again(&self) {
        // A terminal that has gone needs nothing.
        let _ = turn_on();
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        turn_off();
    }
}

fn turn_on() -> io::Result<()> {
    let before = tcgetattr(io::stdin())?;
    let mut single = before.clone();
    single.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN);
    single.input_modes.remove(InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR | InputModes::IXON);
    single.special_codes[SpecialCodeIndex::VMIN] = 1;
    single.special_codes[SpecialCodeIndex::VTIME] = 0;
    let mut held = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    held.get_or_insert((before, thread::current().id()));
    tcsetattr(io::stdin(), OptionalActions::Now, &single)?;
    write(ON);
    Ok(())
}

fn turn_off() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((before, _)) = before {
        write(OFF);
        // A terminal that has gone needs nothing.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}

fn write(text: &str) {
    // A closed stderr cannot be reported anywhere.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

fn restore_before_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // A task that panics on another thread ends alone, and the chat goes on; its own end takes the modes back.
            let is_chat =
                BEFORE.try_lock().is_ok_and(|held| held.as_ref().is_some_and(|(_, of)| *of == thread::current().id()));
            if is_chat {
                turn_off();
            }
            tell(panic);
        }));
    });
}

/// The keys of the terminal.
pub struct Keyboard {
    terminal: AsyncFd<File>,
    parser: Parser,
    /// Whether a sequence may have begun that is not whole.
    is_partial: bool,
}

impl Keyboard {
    /// Opens the terminal at stdin for reading, apart from it: the shell's own reading is not changed.
    pub fn open() -> io::Result<Self> {
        let name = ttyname(io::stdin(), Vec::new())?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::open(name, flags, rustix::fs::Mode::empty())?;
        #[expect(
            deprecated,
            reason = "what takes its place is unsafe; a file keeps its descriptor for as long as it lives"
        )]
        let terminal = AsyncFd::new(File::from(file))?;
        Ok(Self { terminal, parser: Parser::default(), is_partial: false })
    }

    /// Waits for the next key, paste or report of focus. An answer that is given up loses nothing.
    pub async fn next(&mut self) -> io::Result<Event> {
        loop {
            if let Some(event) = self.parser.pop() {
                return Ok(event);
            }
            let ready = match self.is_partial {
                true => tokio::time::timeout(REST_OF_KEY, self.terminal.readable()).await.ok(),
                false => Some(self.terminal.readable().await),
            };
            let Some(ready) = ready else {
                self.is_partial = false;
                self.parser.parse(&[], false);
                continue;
            };
            let mut bytes = [0; 4096];
            match ready?.try_io(|terminal| terminal.get_ref().read(&mut bytes)) {
                Ok(Ok(0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(Ok(count)) => {
                    self.parser.parse(&bytes[..count], true);
                    self.is_partial = true;
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => {}
            }
        }
    }
}
