//! Proposals: tentative events in a calendar of their own, `Proposals`, which is the only one that is ever written to.
//!
//! Each is a file of its own, complete before it bears its name, and none takes the place of another. The same proposal
//! made twice is one. Attendees are kept as words of ours, not as `ATTENDEE`: a server that calendars are synchronised
//! with might take that for a wish to invite them.

use std::io::Write as _;
use std::path::Path;

use jiff::Zoned;
use jiff::tz::TimeZone;

use super::moment::Window;
use crate::error::Error;

/// The calendar of proposals.
pub const PROPOSALS: &str = "Proposals";

/// The property in which a proposal names a person who should come.
pub(crate) const ATTENDEE: &str = "X-MAJORDOMO-ATTENDEE";

/// A meeting that is proposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// What it is called.
    pub title: String,
    /// When.
    pub window: Window,
    /// Who should come, by address or name.
    pub attendees: Vec<String>,
    /// Where.
    pub location: Option<String>,
    /// What else is to be known.
    pub note: Option<String>,
}

impl Proposal {
    /// Its `UID`. What is the same has the same.
    pub fn id(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let said = [Some(&self.title), self.location.as_ref(), self.note.as_ref()];
        let parts = said
            .into_iter()
            .map(|part| part.map_or("", String::as_str))
            .chain(self.attendees.iter().map(String::as_str));
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        for at in [self.window.start, self.window.end] {
            hasher.update(&at.as_second().to_le_bytes());
        }
        format!("proposal-{}", &hasher.finalize().to_hex().as_str()[..16])
    }

    /// Writes it into the folder of calendars, unless it is there.
    pub fn keep(&self, calendars: &Path, now: &Zoned) -> Result<(), Error> {
        let folder = calendars.join(PROPOSALS);
        std::fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        let id = self.id();
        let path = folder.join(format!("{id}.ics"));
        if path.exists() {
            return Ok(());
        }
        let draft = folder.join(format!(".{id}.{}.tmp", std::process::id()));
        let written = std::fs::File::create(&draft).and_then(|mut file| {
            file.write_all(self.ics(now).as_bytes())?;
            file.sync_all()
        });
        // A link, unlike a rename, never takes the place of a file that has appeared meanwhile.
        let kept = written.and_then(|()| match std::fs::hard_link(&draft, &path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            // Some file systems know no links.
            Err(_) if !path.exists() => std::fs::rename(&draft, &path),
            other => other,
        });
        let _ = std::fs::remove_file(&draft);
        kept.map_err(Error::file(path))
    }

    /// The event as iCalendar text.
    fn ics(&self, now: &Zoned) -> String {
        let at = |at: jiff::Timestamp| at.to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ").to_string();
        let mut lines = vec![
            "BEGIN:VCALENDAR".to_owned(),
            "VERSION:2.0".to_owned(),
            "PRODID:-//Majordomo//Household//EN".to_owned(),
            "BEGIN:VEVENT".to_owned(),
            format!("UID:{}", self.id()),
            format!("DTSTAMP:{}", at(now.timestamp())),
            format!("DTSTART:{}", at(self.window.start)),
            format!("DTEND:{}", at(self.window.end)),
            "STATUS:TENTATIVE".to_owned(),
            format!("SUMMARY:{}", escaped(&self.title)),
        ];
        lines.extend(self.location.iter().map(|location| format!("LOCATION:{}", escaped(location))));
        let mut note: Vec<String> = self.note.iter().cloned().collect();
        if !self.attendees.is_empty() {
            note.push(format!("With: {}", self.attendees.join(", ")));
        }
        if !note.is_empty() {
            lines.push(format!("DESCRIPTION:{}", escaped(&note.join("\n"))));
        }
        lines.extend(self.attendees.iter().map(|attendee| format!("{ATTENDEE}:{}", escaped(attendee))));
        lines.extend(["END:VEVENT".to_owned(), "END:VCALENDAR".to_owned()]);
        lines.iter().map(|line| folded(line)).collect()
    }
}

/// Takes a proposal out of the folder of calendars. Only a file that bears the name of a proposal is ever removed.
pub(crate) fn withdraw(calendars: &Path, id: &str) -> Result<(), Error> {
    let is_id = id.strip_prefix("proposal-").is_some_and(|rest| {
        rest.len() == 16 && rest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    });
    let path = calendars.join(PROPOSALS).join(format!("{id}.ics"));
    if !is_id || !path.is_file() {
        return Err(Error::request(format!(
            "there is no proposal `{id}`; only what calendar_propose entered can be withdrawn"
        )));
    }
    std::fs::remove_file(&path).map_err(Error::file(path))
}

/// Text that cannot end its line: no value becomes a property of its own.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.trim().replace("\r\n", "\n").chars() {
        match character {
            '\\' | ';' | ',' => escaped.extend(['\\', character]),
            '\n' | '\r' => escaped.push_str("\\n"),
            character if character.is_control() => {}
            character => escaped.push(character),
        }
    }
    escaped
}

/// A line in pieces of at most 75 bytes, never within a character.
fn folded(line: &str) -> String {
    let mut folded = String::with_capacity(line.len() + 8);
    let mut bytes = 0;
    for character in line.chars() {
        if bytes + character.len_utf8() > 75 {
            folded.push_str("\r\n ");
            bytes = 1;
        }
        bytes += character.len_utf8();
        folded.push(character);
    }
    folded + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::event::Status;
    use crate::calendar::folder::Calendars;

    fn proposal(title: &str) -> Proposal {
        let window =
            Window { start: "2026-01-16T09:00:00Z".parse().unwrap(), end: "2026-01-16T10:00:00Z".parse().unwrap() };
        Proposal {
            title: title.to_owned(),
            window,
            attendees: vec!["ana@example.com".to_owned()],
            location: None,
            note: None,
        }
    }

    fn now() -> Zoned {
        "2026-01-15T11:00[Europe/Berlin]".parse().expect("a time")
    }

    #[test]
    fn what_is_kept_is_read_again_as_it_was_meant() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let title = "Plan; “done”, \\ perhaps\r\nEND:VEVENT\nBEGIN:VEVENT — ".to_owned() + &"ü".repeat(100);
        let asked = Proposal {
            location: Some("Room, 2".to_owned()),
            note: Some("Bring\nnumbers".to_owned()),
            ..proposal(&title)
        };
        asked.keep(folder.path(), &now()).expect("kept");
        let agenda = Calendars::new(Some(folder.path().to_owned())).look().expect("a look");
        let (found, _) = agenda.expand(asked.window, &TimeZone::UTC);
        let [event] = &found[..] else { panic!("one event: {found:?}") };
        assert_eq!(
            (&*event.calendar, event.window, event.details.status),
            (PROPOSALS, asked.window, Status::Tentative)
        );
        assert_eq!(event.details.title, title.replace("\r\n", "\n"));
        assert_eq!(event.details.location.as_deref(), Some("Room, 2"));
        assert_eq!(event.details.attendees[0].address, "ana@example.com");
        assert_eq!(event.details.id, asked.id());
        let text =
            std::fs::read_to_string(folder.path().join(format!("Proposals/{}.ics", asked.id()))).expect("a file");
        assert!(text.lines().all(|line| line.len() <= 76), "{text}");
        assert!(!text.contains("\nATTENDEE"), "a server might invite them: {text}");
    }

    #[test]
    fn the_same_proposal_is_kept_once_and_what_was_done_with_it_stays() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let asked = proposal("Plan");
        asked.keep(folder.path(), &now()).expect("kept");
        let path = folder.path().join(format!("Proposals/{}.ics", asked.id()));
        std::fs::write(&path, "changed by its owner").expect("written");
        asked.keep(folder.path(), &now()).expect("kept already");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "changed by its owner");
        proposal("Another plan").keep(folder.path(), &now()).expect("kept");
        let files = std::fs::read_dir(folder.path().join("Proposals")).expect("a folder").count();
        assert_eq!(files, 2, "two proposals and nothing else");
    }
}
