//! The folder of calendars: one folder with an `.ics` file per event (vdir) for each calendar, or `.ics` files with many events.
//!
//! Parsed files are kept in memory with their time and size; each use reads only what has changed. Nothing is written here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;

use super::moment::Window;
use super::series::{Events, Occurrence};
use crate::error::Error;

/// How deep folders are followed: an account, a calendar in it.
const MAX_DEPTH: usize = 3;
/// A file larger than this is no calendar that anyone keeps.
const MAX_BYTES: u64 = 64 << 20;
/// A file that changed so shortly before it was read may have changed again without another time on it.
const SETTLES: Duration = Duration::from_secs(2);

/// The calendars of a household.
#[derive(Debug)]
pub struct Calendars {
    place: Option<PathBuf>,
    read: Mutex<BTreeMap<PathBuf, Read>>,
}

/// A file as it was when it was read.
#[derive(Debug)]
struct Read {
    modified: SystemTime,
    bytes: u64,
    is_settled: bool,
    events: Arc<Events>,
}

/// All calendars as they are at one look.
#[derive(Clone, Debug, Default)]
pub struct CalendarSnapshot {
    calendars: Vec<Calendar>,
    warnings: Vec<String>,
}

/// One calendar.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// Its name: that of its folder or file.
    pub name: Arc<str>,
    /// What it calls itself, where that is said.
    pub title: Option<String>,
    events: Vec<Arc<Events>>,
}

impl Calendars {
    /// The calendars in a folder, or in one file. A place that is not there holds none.
    pub fn new(place: Option<PathBuf>) -> Self {
        Self { place, read: Mutex::default() }
    }

    /// Where they lie.
    pub fn place(&self) -> Option<&Path> {
        self.place.as_deref()
    }

    /// Looks what there is.
    pub fn look(&self) -> Result<CalendarSnapshot, Error> {
        let mut look = FileList::default();
        if let Some(place) = &self.place {
            match place.metadata() {
                Ok(found) if found.is_dir() => look.folder(place, place, 0)?,
                Ok(_) => look.files.push((place.clone(), stem(place))),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::file(place)(error)),
            }
        }
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.retain(|path, _| look.files.binary_search_by(|(file, _)| file.cmp(path)).is_ok());
        let mut agenda = CalendarSnapshot { calendars: Vec::new(), warnings: look.warnings };
        let mut at: BTreeMap<String, usize> = BTreeMap::new();
        for (path, name) in look.files {
            let events = match refreshed(&mut read, &path, &name) {
                Ok(events) => events,
                Err(why) => {
                    agenda.warn(self.place.as_deref(), &path, &why);
                    continue;
                }
            };
            for warning in events.warnings() {
                agenda.warn(self.place.as_deref(), &path, warning);
            }
            let at = *at.entry(name).or_insert_with_key(|name| {
                agenda.calendars.push(Calendar {
                    name: name.as_str().into(),
                    title: look.titles.get(name).cloned(),
                    events: Vec::new(),
                });
                agenda.calendars.len() - 1
            });
            let calendar = &mut agenda.calendars[at];
            calendar.title = calendar.title.take().or_else(|| events.title().map(str::to_owned));
            calendar.events.push(events);
        }
        Ok(agenda)
    }
}

impl CalendarSnapshot {
    /// A single calendar of one text, as programs that keep none in files have it.
    pub fn of(events: Events, name: &str) -> Self {
        let warnings = events.warnings().to_vec();
        let title = events.title().map(str::to_owned);
        Self { calendars: vec![Calendar { name: name.into(), title, events: vec![events.into()] }], warnings }
    }

    /// The calendars there are.
    pub fn calendars(&self) -> &[Calendar] {
        &self.calendars
    }

    /// What could not be read, a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The calendars that are asked for.
    #[must_use]
    pub fn only(mut self, is_asked: impl Fn(&Calendar) -> bool) -> Self {
        self.calendars.retain(is_asked);
        self
    }

    /// What takes place in a window, for a reader in a zone, in order; and, a sentence each, what is not told whole.
    pub fn expand(&self, window: Window, reader: &TimeZone) -> (Vec<Occurrence>, Vec<String>) {
        let (mut found, mut cut) = (Vec::new(), Vec::new());
        for events in self.calendars.iter().flat_map(|calendar| &calendar.events) {
            let (more, not_whole) = events.expand(window, reader);
            found.extend(more);
            cut.extend(not_whole);
        }
        found.sort_by(|one, other| (one.window, &one.details.title).cmp(&(other.window, &other.details.title)));
        (found, cut)
    }

    fn warn(&mut self, place: Option<&Path>, path: &Path, why: &str) {
        let shown = place.and_then(|place| path.strip_prefix(place).ok()).filter(|path| *path != Path::new(""));
        self.warnings.push(format!("{}: {why}", shown.unwrap_or(path).display()));
    }
}

impl Calendar {
    /// Whether a person who says this means it: its name or its title, or the first part of an address on either side.
    pub fn is_called(&self, said: &str) -> bool {
        let said = said.trim();
        let is = |name: &str| name.to_lowercase() == said.to_lowercase();
        let last = self.name.rsplit('/').next().unwrap_or_default();
        let person = |name: &str| name.split_once('@').map(|(person, _)| person.to_lowercase());
        is(&self.name)
            || is(last)
            || self.title.as_deref().is_some_and(is)
            || person(said).is_some_and(|person| last.to_lowercase() == person)
            || person(last).is_some_and(|person| said.to_lowercase() == person)
    }

    /// Whether it is another person's: it bears an address that is none of these.
    pub fn is_of_others(&self, me: &[String]) -> bool {
        let last = self.name.rsplit('/').next().unwrap_or_default();
        last.contains('@') && !me.iter().any(|mine| mine.eq_ignore_ascii_case(last))
    }
}

/// The files of a look, in order, each with the name of its calendar.
#[derive(Default)]
struct FileList {
    files: Vec<(PathBuf, String)>,
    titles: BTreeMap<String, String>,
    warnings: Vec<String>,
}

impl FileList {
    fn folder(&mut self, place: &Path, folder: &Path, depth: usize) -> Result<(), Error> {
        let mut entries: Vec<(PathBuf, bool)> = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(Error::file(folder))? {
            let entry = entry.map_err(Error::file(folder))?;
            let kind = entry.file_type().map_err(Error::file(folder))?;
            let path = entry.path();
            let is_folder = kind.is_dir() || kind.is_symlink() && path.is_dir();
            entries.push((path, is_folder));
        }
        entries.sort();
        let name = folder.strip_prefix(place).unwrap_or(folder).to_string_lossy().into_owned();
        for (path, is_folder) in entries {
            // Hidden files are what programs write before they are done.
            if path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b".")) {
                continue;
            }
            if !is_folder && path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("ics")) {
                let name = if depth == 0 { stem(&path) } else { name.clone() };
                self.files.push((path, name));
            } else if is_folder && depth < MAX_DEPTH {
                // One folder that cannot be opened does not close the others.
                if let Err(error) = self.folder(place, &path, depth + 1) {
                    self.warnings.push(error.to_string());
                }
            } else if path.ends_with("displayname")
                && let Ok(title) = std::fs::read_to_string(&path)
                && !title.trim().is_empty()
            {
                self.titles.insert(name.clone(), title.trim().chars().take(100).collect());
            }
        }
        self.files.sort();
        Ok(())
    }
}

/// The events of a file, read again where it has changed.
fn refreshed(read: &mut BTreeMap<PathBuf, Read>, path: &Path, name: &str) -> Result<Arc<Events>, String> {
    let plain = |error: std::io::Error| error.to_string();
    let found = path.metadata().map_err(plain)?;
    let modified = found.modified().map_err(plain)?;
    if let Some(known) = read.get(path)
        && (known.modified, known.bytes, known.is_settled) == (modified, found.len(), true)
    {
        return Ok(Arc::clone(&known.events));
    }
    if found.len() > MAX_BYTES {
        return Err(format!("is left out, it is larger than {} MB", MAX_BYTES >> 20));
    }
    // Looked at before the file is opened: what changes from here on is younger than this.
    let is_settled = SystemTime::now().duration_since(modified).is_ok_and(|age| age > SETTLES);
    let bytes = std::fs::read(path).map_err(plain)?;
    let events = Arc::new(Events::read(name, &String::from_utf8_lossy(&bytes)));
    read.insert(path.to_owned(), Read { modified, bytes: found.len(), is_settled, events: Arc::clone(&events) });
    Ok(events)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agenda(folder: &Path) -> CalendarSnapshot {
        Calendars::new(Some(folder.to_owned())).look().expect("a look")
    }

    fn event(id: &str, day: u32) -> String {
        format!(
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:{id}\nSUMMARY:{id}\nDTSTART:202601{day:02}T100000Z\nDURATION:PT1H\nEND:VEVENT\nEND:VCALENDAR\n"
        )
    }

    fn titles(agenda: &CalendarSnapshot) -> Vec<String> {
        let window =
            Window { start: "2026-01-01T00:00:00Z".parse().unwrap(), end: "2026-02-01T00:00:00Z".parse().unwrap() };
        let (found, _) = agenda.expand(window, &TimeZone::UTC);
        found.iter().map(|event| format!("{}: {}", event.calendar, event.details.title)).collect()
    }

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    #[test]
    fn calendars_are_folders_of_events_and_files_of_many() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write(folder.path(), "work/a.ics", &event("a", 5));
        write(folder.path(), "work/b.ICS", &event("b", 4));
        write(folder.path(), "work/displayname", "Work and more\n");
        write(folder.path(), "work/.tmp.ics", &event("half", 4));
        write(folder.path(), "account/private/c.ics", &event("c", 7));
        write(folder.path(), "holidays.ics", &(event("d", 1) + &event("e", 6)));
        write(folder.path(), "readme.txt", "not a calendar");
        let agenda = agenda(folder.path());
        assert_eq!(titles(&agenda), ["holidays: d", "work: b", "work: a", "holidays: e", "account/private: c"]);
        assert_eq!(agenda.warnings(), [] as [&str; 0]);
        let work = agenda.calendars().iter().find(|calendar| calendar.is_called("WORK AND MORE")).expect("a title");
        assert_eq!(&*work.name, "work");
        assert!(agenda.calendars().iter().any(|calendar| calendar.is_called("private@example.com")));
    }

    #[test]
    fn each_look_sees_what_was_changed_added_and_taken_away() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let calendars = Calendars::new(Some(folder.path().join("calendars")));
        assert_eq!(titles(&calendars.look().expect("nothing is no failure")), [] as [&str; 0]);
        write(folder.path(), "calendars/work/a.ics", &event("a", 5));
        assert_eq!(titles(&calendars.look().expect("a look")), ["work: a"]);
        // As long as before and within the same moment: the time on the file alone would not tell.
        write(folder.path(), "calendars/work/a.ics", &event("x", 5));
        write(folder.path(), "calendars/work/b.ics", &event("b", 6));
        assert_eq!(titles(&calendars.look().expect("a look")), ["work: x", "work: b"]);
        std::fs::remove_file(folder.path().join("calendars/work/a.ics")).expect("it was there");
        assert_eq!(titles(&calendars.look().expect("a look")), ["work: b"]);
    }

    #[test]
    fn a_file_that_has_not_changed_is_not_read_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write(folder.path(), "work/a.ics", &event("a", 5));
        let path = folder.path().join("work/a.ics");
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        std::fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(long_ago)).expect("a time");
        let calendars = Calendars::new(Some(folder.path().to_owned()));
        let (one, other) = (calendars.look().expect("a look"), calendars.look().expect("a look"));
        assert!(Arc::ptr_eq(&one.calendars()[0].events[0], &other.calendars()[0].events[0]));
    }

    #[test]
    fn what_is_broken_is_told_and_the_rest_is_there() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write(folder.path(), "work/a.ics", &event("a", 5));
        write(folder.path(), "work/b.ics", "\u{0}\u{1} garbage");
        write(folder.path(), "work/c.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:c\nDTSTART:2026");
        std::fs::write(
            folder.path().join("work/d.ics"),
            b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:\xff\xfe\nEND:VEVENT\n",
        )
        .expect("a file");
        let agenda = agenda(folder.path());
        assert_eq!(titles(&agenda), ["work: a"]);
        let told = agenda.warnings().join("\n");
        for part in ["work/b.ics: there is no calendar", "work/c.ics: an event breaks off", "work/d.ics: “"] {
            assert!(told.contains(part), "{part} in {told}");
        }
    }

    #[test]
    fn a_calendar_with_the_address_of_a_person_is_that_persons() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write(folder.path(), "ana@example.com/a.ics", &event("a", 5));
        let agenda = agenda(folder.path());
        let ana = &agenda.calendars()[0];
        assert!(ana.is_of_others(&["me@example.com".to_owned()]));
        assert!(!ana.is_of_others(&["Ana@Example.com".to_owned()]));
    }
}
