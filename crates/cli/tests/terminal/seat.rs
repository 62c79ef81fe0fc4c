//! A seat at a terminal of its own: the program writes to it, a test reads its screen and presses its keys.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::process::{Pid, Signal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use testkit::world::until;

/// Lines that a terminal keeps above its screen.
const SCROLLBACK: usize = 1000;

/// A terminal, and the program at it.
pub struct Seat {
    keys: File,
    /// The program's end of it: it stays open, so that its screen and settings can be looked at when the program is gone.
    terminal: File,
    screen: Arc<Mutex<Screen>>,
    child: Child,
}

/// What was written, and what a terminal makes of it.
struct Screen {
    terminal: vt100::Parser,
    bytes: Vec<u8>,
    /// How often something was read: no more than the program wrote.
    reads: usize,
}

/// Which of its streams the program has at the terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    All,
    /// Its stdout goes into this test's hands.
    StdoutElsewhere,
    /// Its stderr does.
    StderrElsewhere,
}

impl Seat {
    /// Starts a program at a terminal of this size, in a session of its own.
    pub fn start(command: &Command, (columns, rows): (u16, u16), streams: Streams) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).expect("it is ours");
        unlockpt(&ours).expect("it can be opened");
        let name = ptsname(&ours, Vec::new()).expect("a name").into_string().expect("a name of letters");
        resize(&ours, columns, rows);
        let terminal = File::options().read(true).write(true).open(&name).expect("a terminal");

        // setsid makes the terminal the controlling one: then /dev/tty, Ctrl-C and changes of its size work as they do for a person.
        let mut seated = Command::new("setsid");
        seated.arg("--ctty").arg("--wait").arg(command.get_program()).args(command.get_args()).env_clear();
        seated.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        seated.current_dir(command.get_current_dir().expect("a folder to start in"));
        if command.get_envs().all(|(name, _)| name != "TERM") {
            // A terminal that does not break long lines anew when it becomes narrower, as the one below.
            seated.env("TERM", "xterm-256color").env("XTERM_VERSION", "XTerm(390)");
        }
        let end = || terminal.try_clone().expect("a handle");
        seated.stdin(end());
        match streams {
            Streams::All => seated.stdout(end()).stderr(end()),
            Streams::StdoutElsewhere => seated.stdout(Stdio::piped()).stderr(end()),
            Streams::StderrElsewhere => seated.stdout(end()).stderr(Stdio::piped()),
        };
        let child = seated.spawn().expect("the program starts");
        let parser = vt100::Parser::new(rows, columns, SCROLLBACK);
        let screen = Arc::new(Mutex::new(Screen { terminal: parser, bytes: Vec::new(), reads: 0 }));
        let (reader, shown) = (File::from(ours).try_clone().expect("a handle"), screen.clone());
        let keys = reader.try_clone().expect("a handle");
        let answers = reader.try_clone().expect("a handle");
        thread::spawn(move || read_on(reader, &answers, &shown));
        Self { keys, terminal, screen, child }
    }

    /// What stands on the screen, without blanks at the ends of its lines and without empty lines below.
    pub fn screen(&self) -> String {
        let screen = self.screen.lock().expect("the reader does not panic");
        trimmed(&screen.terminal.screen().contents())
    }

    /// All lines that stayed, those above the screen included.
    pub fn transcript(&self) -> String {
        let mut screen = self.screen.lock().expect("the reader does not panic");
        let (rows, _) = screen.terminal.screen().size();
        let mut lines = Vec::new();
        screen.terminal.screen_mut().set_scrollback(usize::MAX);
        let above = screen.terminal.screen().scrollback();
        for back in (1..=above).rev() {
            screen.terminal.screen_mut().set_scrollback(back);
            lines.push(screen.terminal.screen().rows(0, u16::MAX).next().unwrap_or_default());
        }
        screen.terminal.screen_mut().set_scrollback(0);
        lines.extend(screen.terminal.screen().rows(0, u16::MAX).take(rows.into()));
        trimmed(&lines.join("\n"))
    }

    /// Every byte that was written.
    pub fn bytes(&self) -> Vec<u8> {
        self.screen.lock().expect("the reader does not panic").bytes.clone()
    }

    /// How often the program wrote at most.
    pub fn reads(&self) -> usize {
        self.screen.lock().expect("the reader does not panic").reads
    }

    /// Waits until the screen shows something.
    #[track_caller]
    pub fn until(&self, what: &str, shows: impl Fn(&str) -> bool) -> String {
        let newest = std::cell::RefCell::new(String::new());
        let look = || {
            *newest.borrow_mut() = self.screen();
            shows(&newest.borrow()).then(|| newest.borrow().clone())
        };
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| until(what, look)));
        told.unwrap_or_else(|_| panic!("waited in vain for {what}; the screen shows:\n{}", newest.borrow()))
    }

    /// Waits until these words stand on the screen.
    #[track_caller]
    pub fn until_shown(&self, words: &str) -> String {
        self.until(words, |screen| screen.contains(words))
    }

    /// Presses keys.
    pub fn press(&self, keys: &str) {
        (&self.keys).write_all(keys.as_bytes()).expect("a key can be pressed");
    }

    /// Gives the terminal another size, as a person does who pulls its edge.
    pub fn resize(&self, columns: u16, rows: u16) {
        self.screen.lock().expect("the reader does not panic").terminal.screen_mut().set_size(rows, columns);
        resize(&self.keys, columns, rows);
    }

    /// Sends a signal to the program alone.
    pub fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.program(), signal).expect("it is there");
    }

    /// Whether the program is stopped.
    pub fn is_stopped(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.program().as_raw_nonzero()));
        // The state stands behind the name, which is in parentheses.
        stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T')))
    }

    /// Whether keys that are pressed are shown.
    pub fn echoes(&self) -> bool {
        tcgetattr(&self.terminal).expect("a terminal").local_modes.contains(LocalModes::ECHO)
    }

    /// Waits for the end; the exit code, and what the stream that is not at the terminal held.
    pub fn done(&mut self) -> (Option<i32>, String) {
        let mut elsewhere = String::new();
        if let Some(mut stream) = self.child.stdout.take() {
            stream.read_to_string(&mut elsewhere).expect("text");
        }
        if let Some(mut stream) = self.child.stderr.take() {
            stream.read_to_string(&mut elsewhere).expect("text");
        }
        let status: ExitStatus = until("its end", || self.child.try_wait().expect("it can be waited for"));
        // What it wrote last is read once the reader has seen a mark that is written after it.
        (&self.terminal).write_all(b"\x1b]0;end\x07").expect("a terminal");
        until("the last of what it wrote", || self.bytes().ends_with(b"\x1b]0;end\x07").then_some(()));
        (status.code(), elsewhere)
    }

    /// The program. setsid becomes it where it can, and waits for it where it cannot.
    fn program(&self) -> Pid {
        let started = self.child.id();
        let program = until("the program", || {
            let children = std::fs::read_to_string(format!("/proc/{started}/task/{started}/children"));
            let children = children.unwrap_or_default();
            let child = children.split_whitespace().next().and_then(|pid| pid.parse::<u32>().ok());
            let is_program = |pid: &u32| {
                std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "majordomo")
            };
            [Some(started), child].into_iter().flatten().find(is_program)
        });
        Pid::from_raw(program.cast_signed()).expect("a process")
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads what the program writes, and says what kind of terminal it is where that is asked: an xterm.
fn read_on(mut reader: File, mut answers: &File, shown: &Mutex<Screen>) {
    let mut bytes = [0; 65536];
    while let Ok(count @ 1..) = reader.read(&mut bytes) {
        if bytes[..count].windows(3).any(|piece| piece == b"\x1b[c") {
            // A program that has gone needs no answer.
            let _ = answers.write_all(b"\x1b[?64;1c");
        }
        let mut screen = shown.lock().expect("a test that reads the screen does not panic with it");
        screen.terminal.process(&bytes[..count]);
        screen.bytes.extend_from_slice(&bytes[..count]);
        screen.reads += 1;
    }
}

fn resize(terminal: impl AsFd, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).expect("a terminal has a size");
}

fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}
