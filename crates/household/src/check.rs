//! What lies in the folders of a household: how many of each kind, what could not be read and why, and what looks stale.
//!
//! For people who connect folders that another program keeps in sync. Nothing is changed but the index.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::{Timestamp, ToSpan};
use serde::Serialize;

use crate::calendar::tools::next_of_each;
use crate::error::Error;
use crate::household::Household;
use crate::notes;

/// One kind of thing that a household holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedPart {
    /// `mail`, `calendars`, `notes` or `contacts`.
    pub id: &'static str,
    /// How it is.
    pub state: PartState,
    /// Where it lies; none where no folder is configured.
    pub place: Option<PathBuf>,
    /// How many there are, by folder or kind.
    pub counts: Vec<(String, usize)>,
    /// The day of the newest mail, or of the next event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<String>,
    /// What could not be read, and why, a sentence each.
    pub problems: Vec<String>,
}

/// How one part of a household is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartState {
    /// There is something, and all of it can be read.
    Ok,
    /// There is something, but nothing new for a while: the program that keeps it may have stopped.
    Stale,
    /// Something could not be read.
    Problem,
    /// The folder is there, and nothing that can be used is in it.
    Empty,
    /// The folder that is configured is not there.
    Missing,
    /// No folder is configured.
    NotSet,
}

impl PartState {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Stale => "stale",
            Self::Problem => "problem",
            Self::Empty => "empty",
            Self::Missing => "missing",
            Self::NotSet => "not set",
        }
    }
}

/// Days without a new mail after which a mailbox is stale.
const MAIL_DAYS: i64 = 5;
/// Days without an event, before or after today, after which calendars are.
const EVENT_DAYS: i64 = 60;
/// The most problems of one part that are told one by one.
const MOST_PROBLEMS: usize = 20;

impl Household {
    /// Looks at all four parts.
    pub fn check(&self) -> Vec<CheckedPart> {
        let options = self.options();
        vec![
            part("mail", options.mail.as_deref(), |part| self.check_mail(part)),
            part("calendars", options.calendars.as_deref(), |part| self.check_calendars(part)),
            part("notes", options.notes.as_deref(), |part| self.check_notes(part)),
            part("contacts", options.contacts.as_deref(), |part| self.check_contacts(part)),
        ]
    }

    fn check_mail(&self, part: &mut CheckedPart) -> Result<(), Error> {
        let mailbox = self.mailbox()?;
        let (folders, unread) = (mailbox.folders()?, mailbox.unindexed()?);
        part.problems.extend(unread.into_iter().map(|file| format!("{file}: cannot be read")));
        let newest = folders.iter().map(|(_, _, newest)| *newest).max();
        part.counts = folders.into_iter().map(|(folder, count, _)| (folder, count)).collect();
        if let Some(newest) = newest {
            part.newest = Some(day(newest, self));
            let since = self.now().checked_sub(MAIL_DAYS.days()).map_or(Timestamp::MIN, |since| since.timestamp());
            if newest < since {
                part.state = PartState::Stale;
            }
        }
        Ok(())
    }

    fn check_calendars(&self, part: &mut CheckedPart) -> Result<(), Error> {
        let snapshot = self.calendars().look()?;
        part.problems.extend(snapshot.warnings().iter().cloned());
        let events = next_of_each(self, 366.days())?;
        for calendar in snapshot.calendars() {
            let count = events.iter().filter(|event| event.calendar == calendar.name).count();
            part.counts.push((calendar.name.to_string(), count));
        }
        let now = self.now();
        let next = events.iter().map(|event| event.window.start).filter(|start| *start >= now.timestamp()).min();
        part.newest = next.map(|next| day(next, self));
        let near = |event: &crate::calendar::Occurrence| {
            let days = event.window.start.duration_since(now.timestamp()).as_hours().abs() / 24;
            days <= EVENT_DAYS
        };
        if !events.is_empty() && !events.iter().any(near) {
            part.state = PartState::Stale;
        }
        Ok(())
    }

    fn check_notes(&self, part: &mut CheckedPart) -> Result<(), Error> {
        let (counts, unread) = notes::counted(self)?;
        part.counts = counts;
        part.problems.extend(unread.into_iter().map(|path| format!("{path}: cannot be read as text")));
        Ok(())
    }

    fn check_contacts(&self, part: &mut CheckedPart) -> Result<(), Error> {
        let contacts = self.contacts();
        let with_address = contacts.iter().filter(|contact| !contact.emails.is_empty()).count();
        if !contacts.is_empty() {
            part.counts.push(("with a mail address".to_owned(), with_address));
            part.counts.push(("without".to_owned(), contacts.len() - with_address));
        }
        if let Some(folder) = &self.options().contacts {
            part.problems.extend(crate::contacts::unreadable(folder));
        }
        Ok(())
    }
}

fn part(
    id: &'static str,
    place: Option<&Path>,
    look: impl FnOnce(&mut CheckedPart) -> Result<(), Error>,
) -> CheckedPart {
    let mut part = CheckedPart {
        id,
        state: PartState::Ok,
        place: place.map(Path::to_owned),
        counts: Vec::new(),
        newest: None,
        problems: Vec::new(),
    };
    let Some(place) = place else {
        return CheckedPart { state: PartState::NotSet, ..part };
    };
    match fs::metadata(place) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return CheckedPart { state: PartState::Missing, ..part };
        }
        Err(error) => part.problems.push(format!("{}: {error}", place.display())),
        Ok(_) => {
            if let Err(error) = look(&mut part) {
                part.problems.push(error.to_string());
            }
        }
    }
    let surplus = part.problems.len().saturating_sub(MOST_PROBLEMS);
    part.problems.truncate(MOST_PROBLEMS);
    if surplus > 0 {
        part.problems.push(format!("and {surplus} more"));
    }
    let is_empty = part.counts.iter().all(|(_, count)| *count == 0);
    part.state = match part.state {
        _ if !part.problems.is_empty() => PartState::Problem,
        _ if is_empty => PartState::Empty,
        state => state,
    };
    part
}

fn day(at: Timestamp, household: &Household) -> String {
    at.to_zoned(household.options().zone.clone()).strftime("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::household::Options;

    fn state_of<'a>(parts: &'a [CheckedPart], id: &str) -> &'a CheckedPart {
        parts.iter().find(|part| part.id == id).expect("a part")
    }

    #[test]
    fn the_sample_household_is_counted_and_nothing_in_it_is_wrong() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        crate::demo::write(folder.path()).expect("the sample household");
        let household = Household::open(crate::demo::options(folder.path())).expect("a household");
        let parts = household.check();
        for part in &parts {
            assert_eq!(part.state, PartState::Ok, "{part:?}");
        }
        let count = |id: &str| state_of(&parts, id).counts.iter().map(|(_, count)| count).sum::<usize>();
        assert_eq!((count("mail"), count("contacts"), count("notes")), (100, 12, 45));
    }

    #[test]
    fn what_is_missing_broken_empty_or_stale_is_told() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("mail/cur")).expect("a folder");
        fs::write(
            at("mail/cur/one:2,S"),
            "From: a@x.example\nDate: Mon, 01 Dec 2025 09:00:00 +0100\nSubject: old\n\nHi\n",
        )
        .expect("a mail");
        fs::create_dir_all(at("contacts")).expect("a folder");
        fs::write(at("contacts/broken.vcf"), "no card").expect("a file");
        fs::create_dir_all(at("calendars")).expect("a folder");
        let options = Options {
            now: std::sync::Arc::new(|| "2026-01-15T10:00:00Z".parse().expect("a moment")),
            ..Options::in_folder(folder.path())
        };
        let parts = Household::open(options).expect("a household").check();
        let states: Vec<&str> = parts.iter().map(|part| part.state.as_str()).collect();
        assert_eq!(states, ["stale", "empty", "missing", "problem"]);
        assert_eq!(state_of(&parts, "mail").newest.as_deref(), Some("2025-12-01"));
        assert!(state_of(&parts, "contacts").problems[0].contains("broken.vcf"), "{parts:?}");
    }
}
