//! Mails: which are urgent, and their category.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use household::{Options, demo};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::figures::Figure;
use crate::sets::{self, PARTS, bound};
use crate::tools::TestTools;

/// The least precision and recall of what is called urgent.
const ENOUGH: f64 = 0.9;

pub fn measure() -> Vec<Figure> {
    let mut figures: Vec<Figure> = PARTS
        .iter()
        .flat_map(|part| {
            let mailbox = Mailbox::read(&sets::file("mail", part, "txt"));
            let folder = tempfile::tempdir().expect("a temporary folder");
            mailbox.lay(&folder.path().join("mail"));
            let tools = TestTools::of(mailbox.options(folder.path()), folder.path());
            judge(part, &tools, mailbox.labelled().map(|mail| (mail.id.as_str(), mail.label.as_str())))
        })
        .collect();
    figures.extend(sample());
    figures
}

/// The mails of the sample household, which are counted apart.
fn sample() -> Vec<Figure> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let home = folder.path().join("home");
    demo::write(&home).expect("the sample");
    let labels: BTreeMap<String, String> = sets::toml("mail-sample.toml");
    let tools = TestTools::of(demo::options(&home), &home);
    judge("sample", &tools, labels.iter().map(|(id, label)| (id.as_str(), label.as_str())))
}

fn judge<'a>(part: &'static str, tools: &TestTools, mails: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Figure> {
    let figure = |measure, bound| Figure { set: "mail", part, measure, right: 0, of: 0, bound, misses: Vec::new() };
    let mut precision = figure("urgent precision", bound(part, ENOUGH));
    let mut recall = figure("urgent recall", bound(part, ENOUGH));
    let mut category = figure("category", None);
    for (id, label) in mails {
        let (found, why) = triage(tools, id);
        let miss = || format!("{id}: {label} was taken for {found} ({why})");
        let either = label.contains('|') && sets::is_one_of(label, "urgent");
        if label == "urgent" {
            recall.count(found == "urgent", miss);
        }
        if found == "urgent" && !either {
            precision.count(label == "urgent", miss);
        }
        category.count(sets::is_one_of(label, &found), miss);
    }
    vec![precision, recall, category]
}

/// The category that a mail is given, and why.
fn triage(tools: &TestTools, id: &str) -> (String, String) {
    match tools.call("mail_triage", &json!({ "id": id, "only": "all" })) {
        Ok(answer) => {
            let item = &answer["items"][0];
            (item["category"].as_str().unwrap_or("nothing").to_owned(), format!("{} {}", item["priority"], item["why"]))
        }
        Err(refusal) => ("nothing".to_owned(), refusal),
    }
}

impl Figure {
    pub fn count(&mut self, right: bool, miss: impl FnOnce() -> String) {
        self.of += 1;
        self.right += usize::from(right);
        if !right {
            self.misses.push(miss());
        }
    }
}

/// A mailbox in one file: who owns it, what time it is there, and its mails.
pub struct Mailbox {
    owner: String,
    zone: TimeZone,
    now: Timestamp,
    mails: Vec<Mail>,
}

/// One mail. Its label is a category, or `sent` for what the owner wrote.
pub struct Mail {
    pub id: String,
    pub label: String,
    /// Headers and body.
    pub text: String,
}

impl Mailbox {
    /// A mailbox of these mails.
    pub fn of(owner: &str, zone: &str, now: &str, mails: Vec<Mail>) -> Self {
        let zone = TimeZone::get(zone).expect("a zone");
        Self { owner: owner.to_owned(), zone, now: now.parse().expect("a time"), mails }
    }

    /// The mailbox in a file of the gold sets.
    pub fn read(file: &str) -> Self {
        let text = sets::text(file);
        let (head, mails) = text.split_once("=== ").expect("a mail");
        let told = |name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(&format!("# {name}: ")));
            line.unwrap_or_else(|| panic!("the file says its {name}")).to_owned()
        };
        let mails = mails.split("\n=== ").map(Mail::read).collect();
        Self::of(&told("owner"), &told("zone"), &told("now"), mails)
    }

    /// What is judged: all but the owner's own letters.
    pub fn labelled(&self) -> impl Iterator<Item = &Mail> {
        self.mails.iter().filter(|mail| mail.label != "sent")
    }

    pub fn options(&self, folder: &Path) -> Options {
        let now = self.now;
        Options {
            me: vec![self.owner.clone()],
            zone: self.zone.clone(),
            now: Arc::new(move || now),
            ..Options::in_folder(folder)
        }
    }

    /// A Maildir of the mails. What came within a day has not been opened, all else has.
    pub fn lay(&self, maildir: &Path) {
        for folder in ["cur", "new", "tmp", ".Sent/cur", ".Sent/new", ".Sent/tmp"] {
            std::fs::create_dir_all(maildir.join(folder)).expect("a folder");
        }
        for mail in &self.mails {
            let id = &mail.id;
            let name = match mail.label.as_str() {
                "sent" => format!(".Sent/cur/{id}:2,S"),
                _ if self.now.duration_since(mail.date()) < SignedDuration::from_hours(24) => format!("new/{id}"),
                _ => format!("cur/{id}:2,S"),
            };
            let head = match mail.text.contains("Content-Type: ") {
                true => format!("Message-ID: <{id}@gold.example>"),
                false => format!("Message-ID: <{id}@gold.example>\nContent-Type: text/plain; charset=utf-8"),
            };
            let text = format!("{head}\n{}", mail.text);
            std::fs::write(maildir.join(name), text).expect("a file");
        }
    }
}

impl Mail {
    fn read(block: &str) -> Self {
        let (line, text) = block.split_once('\n').expect("a line of its own");
        let (id, label) = line.split_once(' ').expect("an id and a label");
        Self { id: id.to_owned(), label: label.to_owned(), text: with_headers(text) }
    }

    fn date(&self) -> Timestamp {
        let date = self.text.lines().find_map(|line| line.strip_prefix("Date: ")).expect("a date");
        jiff::fmt::rfc2822::parse(date).expect("a date").timestamp()
    }
}

/// A mail with the headers that its file left out, because they do not matter to the case.
fn with_headers(text: &str) -> String {
    let usual = [
        ("From: ", "Kim Park <kim@elsewhere.example>"),
        ("To: ", "Alex Morgan <alex@morgan.example>"),
        ("Date: ", "Thu, 15 Jan 2026 09:30:00 +0100"),
    ];
    let head = text.split("\n\n").next().unwrap_or_default();
    let is_missing = |name: &str| !head.lines().any(|line| line.starts_with(name));
    let added = usual.iter().filter(|(name, _)| is_missing(name)).map(|(name, value)| format!("{name}{value}\n"));
    added.collect::<String>() + text
}
