//! A real headless browser, driven over its own protocol through a pair of pipes.
//!
//! `wire` carries messages, `page` is one tab and what a person does with it, `finding` the words by which a page is asked about
//! itself, `keys` what a keyboard sends, `notes` what a page asked of the network and what it complained about. Absent: Node, a
//! driver in between, and any port that another program could reach.
//!
//! Whatever fails, fails the test that asked for it, with what was on the page. A browser lives as long as its value: the group
//! of processes is killed with it, and a test that is killed itself closes the pipes, which ends the browser too.

mod finding;
mod keys;
mod notes;
mod page;
#[cfg(test)]
mod tests;
mod wire;

use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use rustix::process::{Pid, Signal};
use serde_json::json;

pub use notes::{Complaint, Request};
pub use page::Page;
use wire::Wire;

/// The names under which systems have it.
const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// Its protocol is read from descriptor 3 and written to 4; what it prints is of no use.
const WITH_PIPES: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;

/// No window, no account, no call home, the same pace for a tab in the background, and no sandbox of its own, for tests run as
/// root and look at our own pages only.
const FLAGS: &[&str] = &[
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--hide-scrollbars",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--password-store=basic",
];

/// A browser.
pub struct Browser {
    wire: Arc<Wire>,
    process: Child,
    /// Where it keeps what it keeps, for as long as it lives.
    _profile: tempfile::TempDir,
}

/// A browser context with cookies and storage of its own: signing one in does not sign in another.
pub struct Person<'a> {
    browser: &'a Browser,
    context: String,
}

impl Browser {
    /// Starts one.
    ///
    /// # Panics
    /// Where there is none: a test that needs a browser fails without it.
    pub fn start() -> Self {
        let profile = tempfile::tempdir().expect("a passing folder");
        let mut command = Command::new("sh");
        command
            .args(["-c", WITH_PIPES])
            .arg(program().expect("these tests need a browser: install the package chromium"))
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .env("HOME", profile.path())
            .env("TMPDIR", profile.path())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().expect("the browser starts");
        let (into, out) = (process.stdin.take().expect("a pipe"), process.stdout.take().expect("a pipe"));
        let browser = Self { wire: Wire::between(into, out), process, _profile: profile };
        browser.wire.ask(None, "Browser.getVersion", &json!({})).expect("the browser answers");
        browser
    }

    /// A context without cookies.
    pub fn person(&self) -> Person<'_> {
        self.person_with(&json!({}))
    }

    /// A context without cookies, whose every request goes through a proxy.
    pub fn person_behind(&self, proxy: SocketAddr) -> Person<'_> {
        // Without the rule, what is on this machine would be reached directly.
        self.person_with(&json!({"proxyServer": format!("http://{proxy}"), "proxyBypassList": "<-loopback>"}))
    }

    /// A page in a context without cookies.
    pub fn page(&self, url: &str) -> Page {
        self.person().page(url)
    }

    fn person_with(&self, setting: &serde_json::Value) -> Person<'_> {
        let made = self.wire.ask(None, "Target.createBrowserContext", setting).expect("a person");
        Person { browser: self, context: made["browserContextId"].as_str().expect("a name").to_owned() }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let group = Pid::from_child(&self.process);
        // One that has gone meanwhile needs no signal.
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
        let _ = self.process.wait();
    }
}

impl Person<'_> {
    /// Opens a page in a tab of its own.
    pub fn page(&self, url: &str) -> Page {
        self.page_with("", url)
    }

    /// Opens a page that finds its world changed by a script, whenever it is loaded.
    pub fn page_with(&self, script: &str, url: &str) -> Page {
        Page::open(&self.browser.wire, &self.context, script, url)
    }
}

fn program() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    PROGRAMS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}
