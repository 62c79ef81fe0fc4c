//! A household that a conversation is held in: laid into a folder of its own, opened as the program opens it, and looked at after each turn.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use household::demo;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::{Kept, Options, Session, Staff};
use serde_json::{Value, json};

use crate::sets;
use crate::tools::TestTools;

/// The owner of the second household.
const OWNER: &str = "nadia@okafor-lind.example";
const ZONE: &str = "America/Toronto";

/// When it is in the second household: Tuesday, 15 September 2026, 08:30 in Montréal.
fn second_now() -> Timestamp {
    Timestamp::constant(1_789_475_400, 0)
}

/// One household, and the conversation that is held in it.
pub struct House {
    staff: Staff,
    session: Session,
    options: household::Options,
    root: PathBuf,
}

/// What is in a household at one moment.
#[derive(Default)]
pub struct State {
    pub drafts: Vec<Draft>,
    pub events: Vec<Event>,
    /// The owner's own files: name, length, time of the last change.
    pub own: Vec<(PathBuf, u64, SystemTime)>,
}

/// A draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    pub to: String,
    pub subject: String,
    /// Without what is quoted.
    pub body: String,
    pub is_reply: bool,
}

/// A proposed event, in the owner's time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub start: DateTime,
    pub minutes: i64,
}

impl House {
    /// Lays a household into a folder and opens it.
    pub fn open(name: &str, folder: &Path, runtime: &tokio::runtime::Runtime) -> Self {
        let surroundings =
            Surroundings { cwd: folder.to_owned(), home: Some(folder.join("home")), ..Surroundings::default() };
        let data = folder.join("data");
        let mut flags = Flags { data: Some(data.display().to_string()), ..Flags::default() };
        let mut options = Options { store: Kept::InMemory, ..Options::default() };
        let (root, places) = match name {
            "sample" => {
                flags.demo = true;
                let root = data.join("demo").join(demo::version());
                demo::write(&root).expect("the sample household");
                let places = demo::options(&root);
                (root, places)
            }
            _ => {
                let root = folder.join("nadia");
                lay(&sets::folder().join("second"), &root);
                let places = second(&root);
                let set = |key: &str, path: &Option<PathBuf>| {
                    format!("household.{key}={:?}", path.as_ref().expect("a place").display().to_string())
                };
                flags.set = vec![
                    set("mail", &places.mail),
                    set("calendars", &places.calendars),
                    set("notes", &places.notes),
                    set("contacts", &places.contacts),
                    format!("household.me=[{OWNER:?}]"),
                    format!("household.timezone={ZONE:?}"),
                ];
                options.household_clock = Some(Arc::new(second_now));
                (root, places)
            }
        };
        let config = Config::load(&surroundings, &flags).expect("a configuration");
        let staff = runtime.block_on(Staff::open(&surroundings, config, options)).expect("a staff");
        Self { session: staff.session(), staff, options: places, root }
    }

    /// Says something to the butler, and returns the answer.
    pub fn say(&self, words: &str, runtime: &tokio::runtime::Runtime) -> String {
        let report = runtime.block_on(self.session.send(words)).expect("a report");
        report.text.trim().to_owned()
    }

    /// What is in it now.
    pub fn state(&self) -> State {
        let (written, own): (Vec<_>, Vec<_>) = files(&self.root).into_iter().partition(|path| is_ours(path));
        let stamped = |path: PathBuf| {
            let meta = fs::metadata(&path).expect("a file that is there");
            (path, meta.len(), meta.modified().expect("a time"))
        };
        let own = own.into_iter().map(stamped).collect();
        let is_draft = |path: &Path| path.components().any(|part| part.as_os_str() == ".Drafts");
        let drafts = if written.iter().any(|path| is_draft(path)) { self.drafts() } else { Vec::new() };
        let proposals = written.iter().filter(|path| path.extension().is_some_and(|ending| ending == "ics"));
        let events = proposals.filter_map(|path| self.event(&fs::read_to_string(path).ok()?)).collect();
        State { drafts, events, own }
    }

    /// The day.
    pub fn today(&self) -> Date {
        (self.options.now)().to_zoned(self.options.zone.clone()).date()
    }

    /// Ends the staff.
    pub fn close(self, runtime: &tokio::runtime::Runtime) {
        runtime.block_on(self.staff.close());
    }

    fn drafts(&self) -> Vec<Draft> {
        let tools = TestTools::of(self.options.clone(), &self.root);
        let all = tools.call("draft_show", &json!({})).expect("the drafts");
        let read = |draft: &Value| {
            let shown = tools.call("draft_show", &json!({ "id": draft["draftId"] })).expect("a draft");
            let text = |name: &str| shown[name].as_str().unwrap_or_default().to_owned();
            let own = text("body").lines().filter(|line| !line.starts_with('>')).collect::<Vec<_>>().join("\n");
            Draft {
                to: shown["to"].to_string(),
                subject: text("subject"),
                body: own,
                is_reply: shown["inReplyTo"].is_string(),
            }
        };
        all["drafts"].as_array().expect("a list of drafts").iter().map(read).collect()
    }

    fn event(&self, ics: &str) -> Option<Event> {
        let at = |name: &str| {
            let line = ics.lines().find_map(|line| line.strip_prefix(name))?;
            let at: Timestamp = jiff::fmt::strtime::parse("%Y%m%dT%H%M%SZ", line.trim())
                .and_then(|parsed| parsed.to_datetime())
                .and_then(|parsed| parsed.to_zoned(TimeZone::UTC))
                .map(|parsed: Zoned| parsed.timestamp())
                .ok()?;
            Some(at)
        };
        let (start, end) = (at("DTSTART:")?, at("DTEND:")?);
        let minutes = (end.as_second() - start.as_second()) / 60;
        Some(Event { start: start.to_zoned(self.options.zone.clone()).datetime(), minutes })
    }
}

impl State {
    /// Whether the owner's own files are as they were.
    pub fn is_unchanged_since(&self, before: &Self) -> bool {
        self.own == before.own
    }
}

fn second(root: &Path) -> household::Options {
    household::Options {
        mail: Some(root.join("Mail")),
        calendars: Some(root.join("Calendars")),
        notes: Some(root.join("Vault")),
        contacts: Some(root.join("contacts.vcf")),
        me: vec![OWNER.to_owned()],
        zone: TimeZone::get(ZONE).expect("a zone"),
        now: Arc::new(second_now),
        ..household::Options::default()
    }
}

/// Whether a file is a draft or a proposal. Everything else belongs to the owner.
fn is_ours(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".Drafts" || part.as_os_str() == "Proposals")
}

/// All files below a folder, in order.
pub fn files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort_unstable();
    found
}

/// Copies a household. A note is as old as its front matter says, and all else as old as the household's now.
fn lay(from: &Path, to: &Path) {
    for path in files(from) {
        let target = to.join(path.strip_prefix(from).expect("a path in the folder"));
        fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
        let content = fs::read(&path).expect("a file");
        let date = std::str::from_utf8(&content)
            .ok()
            .and_then(|text| text.lines().take(6).find_map(|line| line.strip_prefix("date: ")))
            .and_then(|date| format!("{date}T16:00:00Z").parse::<Timestamp>().ok());
        let seconds = date.unwrap_or_else(second_now).as_second();
        fs::write(&target, content).expect("written");
        let file = fs::File::options().write(true).open(&target).expect("a file");
        let modified = UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).expect("after 1970"));
        file.set_modified(modified).expect("a time");
    }
}
