//! The sample household: invented data, embedded in the program and written to a folder like that of any other household.
//!
//! It belongs to Alex Morgan: sixty mails, three calendars, notes, contacts and past decisions around one Thursday in January
//! 2026, at which its clock stands still. [`write()`] writes the folder, [`options`] opens it as its owner.
//!
//! Left to the caller: where the folder is and when it is deleted. [`version`] makes a name that changes with the content.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rust_embed::Embed;

use crate::error::Error;
use crate::household::Options;

/// The owner's address.
pub const OWNER: &str = "alex@morgan.example";

/// The owner's zone.
pub const ZONE: &str = "Europe/Berlin";

/// When it is in the sample household: Thursday, 15 January 2026, 11:00 in Berlin.
pub fn now() -> Timestamp {
    Timestamp::constant(1_768_471_200, 0)
}

/// What its files are, in a few letters. Other files, other letters.
pub fn version() -> String {
    let mut hasher = blake3::Hasher::new();
    for path in paths() {
        hasher.update(path.as_bytes()).update(&[0]).update(&content(&path)).update(&[0]);
    }
    hasher.finalize().to_hex()[..12].to_owned()
}

/// Lays the sample household in a folder, which is afterwards either whole or not there. One that is there already stays as
/// it is, with whatever was done in it; a folder of something else is refused.
pub fn write(folder: &Path) -> Result<(), Error> {
    let version = version();
    if is_there(folder, &version)? {
        return Ok(());
    }
    let above = match folder.parent() {
        Some(above) if !above.as_os_str().is_empty() => above,
        _ => Path::new("."),
    };
    fs::create_dir_all(above).map_err(Error::file(above))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    // Written under another name and then renamed, so that no reader ever sees half a household.
    let beside = above.join(format!(".{name}.{}.part", std::process::id()));
    let laid = lay(&beside, &version).and_then(|()| fs::rename(&beside, folder).map_err(Error::file(folder)));
    if laid.is_err() {
        // The rest of the attempt is removed; the first error is the one to report.
        let _ = fs::remove_dir_all(&beside);
        // Another process may have been quicker, and its household is as good.
        if is_there(folder, &version)? {
            return Ok(());
        }
    }
    laid
}

/// The sample household in a folder, at its own time and as its owner.
pub fn options(folder: &Path) -> Options {
    Options {
        me: vec![OWNER.to_owned()],
        zone: TimeZone::get(ZONE).unwrap_or(TimeZone::UTC),
        now: Arc::new(now),
        ..Options::in_folder(folder)
    }
}

#[derive(Embed)]
#[folder = "demo/"]
struct Files;

/// Says in a folder which sample household it is.
const MARK: &str = ".sample";

/// Keeps a folder in version control that is empty in a household.
const KEEP: &str = ".keep";

fn is_there(folder: &Path, version: &str) -> Result<bool, Error> {
    if fs::read_dir(folder).map_or(0, Iterator::count) == 0 {
        return Ok(false);
    }
    let mark = folder.join(MARK);
    match fs::read_to_string(&mark) {
        Ok(there) if there == version => Ok(true),
        Ok(_) => Err(Error::request(format!(
            "{} holds another version of the sample household: remove it, or name another folder",
            folder.display()
        ))),
        Err(_) => Err(Error::request(format!("{} holds something else: name an empty folder", folder.display()))),
    }
}

fn lay(folder: &Path, version: &str) -> Result<(), Error> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Error::file(folder))?;
    }
    for path in paths() {
        let file = folder.join(&path);
        let within = file.parent().unwrap_or(folder);
        fs::create_dir_all(within).map_err(Error::file(within))?;
        if !path.ends_with(KEEP) {
            let content = content(&path);
            write_file(&file, &content, written_at(&content)).map_err(Error::file(&file))?;
        }
    }
    write_file(&folder.join(MARK), version.as_bytes(), instant(now())).map_err(Error::file(folder))
}

fn write_file(path: &Path, content: &[u8], modified: SystemTime) -> std::io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(content)?;
    file.set_modified(modified)
}

/// A note is as old as its front matter says, and all else as old as the sample's now: a request for the latest notes is
/// not told the order in which the files were laid down.
fn written_at(content: &[u8]) -> SystemTime {
    let date = std::str::from_utf8(content)
        .ok()
        .and_then(|text| text.strip_prefix("---\n"))
        .and_then(|text| text.lines().take_while(|line| *line != "---").find_map(|line| line.strip_prefix("date: ")))
        .and_then(|date| format!("{date}T12:00:00Z").parse::<Timestamp>().ok());
    instant(date.unwrap_or_else(now))
}

fn instant(at: Timestamp) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(u64::try_from(at.as_second()).unwrap_or_default())
}

fn paths() -> Vec<String> {
    let mut paths: Vec<String> = Files::iter().map(|path| path.into_owned()).collect();
    paths.sort_unstable();
    paths
}

fn content(path: &str) -> Vec<u8> {
    Files::get(path).map(|file| file.data.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
