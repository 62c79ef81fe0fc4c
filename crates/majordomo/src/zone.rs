//! The zone of this machine, for dates that a person reads.
//!
//! `TimeZone::system` first lists every zone that the machine knows, which is a third of what a start may take. The file that the
//! machine names as its zone says everything that is needed; only where there is none, or where the environment names
//! another zone, is the whole list made.

use std::path::Path;

use jiff::tz::TimeZone;

/// The file that describes the zone of the machine; a link to one of the files of its database of zones.
const MACHINE: &str = "/etc/localtime";

/// The zone of this machine, or that of the variable `TZ` if it is set.
pub fn local() -> TimeZone {
    let named = std::env::var_os("TZ").is_some();
    let found = if named { None } else { of_file(Path::new(MACHINE)) };
    found.unwrap_or_else(TimeZone::system)
}

fn of_file(link: &Path) -> Option<TimeZone> {
    let target = std::fs::read_link(link).ok()?;
    let (_, name) = target.to_str()?.split_once("zoneinfo/")?;
    TimeZone::tzif(name, &std::fs::read(link).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_of_the_machine_is_the_one_that_the_whole_list_names() {
        let (ours, listed) = (local(), TimeZone::system());
        assert_eq!(ours.iana_name(), listed.iana_name());
        for month in 1..=12 {
            let moment: jiff::Timestamp = format!("2026-{month:02}-15T12:00:00Z").parse().expect("a moment");
            assert_eq!(ours.to_offset(moment), listed.to_offset(moment), "in month {month}");
        }
    }

    #[test]
    fn a_link_to_something_else_is_no_zone() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("localtime");
        assert!(of_file(&link).is_none(), "there is nothing");
        std::fs::create_dir(folder.path().join("zoneinfo")).expect("a folder");
        let target = folder.path().join("zoneinfo/Nowhere");
        std::fs::write(&target, "no zone at all").expect("a file");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        assert!(of_file(&link).is_none(), "a file that describes no zone");
    }
}
