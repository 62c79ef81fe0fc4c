//! Which clock a `TZID` means.
//!
//! Looked up in this order: the name itself, as the zones of the world are called; the place that the file gives for the
//! name (`X-LIC-LOCATION`); the name that Windows has for a zone; the file's own offsets (`VTIMEZONE`). A zone of the
//! world comes before the file's offsets, because those were copied when the file was written and governments have
//! changed their minds since.

mod windows;

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::ics::Component;
use super::moment::Moment;
use super::rule::Rule;

/// The offsets that a file gives for its zones are followed until this year, and the last ones hold from then on.
const LAST_YEAR: i16 = 2100;

/// The zones that a file names. Only those that are asked for are worked out: most files describe zones that everybody
/// knows.
#[derive(Debug, Default)]
pub(crate) struct Zones<'c> {
    /// What the file itself says of a name.
    own: BTreeMap<String, &'c Component>,
    known: BTreeMap<String, Option<TimeZone>>,
}

impl<'c> Zones<'c> {
    /// The zones of a calendar.
    pub fn of(calendar: &'c Component) -> Self {
        let described = calendar.components.iter().filter(|component| component.name == "VTIMEZONE");
        let own = described.filter_map(|zone| Some((zone.text("TZID")?, zone))).collect();
        Self { own, known: BTreeMap::new() }
    }

    /// The zone of a name; none where nobody knows it.
    pub fn named(&mut self, name: &str) -> Option<TimeZone> {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let own = self.own.get(name);
        let found = of_the_world(name)
            .or_else(|| of_the_world(&own?.text("X-LIC-LOCATION")?))
            .or_else(|| TimeZone::get(windows::place(name)?).ok())
            .or_else(|| offsets(name, own?));
        self.known.insert(name.to_owned(), found.clone());
        found
    }

    /// The names that nobody knows.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.known.iter().filter(|(_, zone)| zone.is_none()).map(|(name, _)| name.as_str())
    }
}

/// A zone by the name that the world has for it, perhaps behind a prefix (`/mozilla.org/20050126_1/Europe/Berlin`).
fn of_the_world(name: &str) -> Option<TimeZone> {
    let name = name.trim();
    let whole = std::iter::once(name);
    let tails = name.match_indices('/').map(|(at, _)| &name[at + 1..]);
    whole.chain(tails).filter(|name| !name.is_empty()).find_map(|name| TimeZone::get(name).ok())
}

/// A zone made of the changes of clocks that a `VTIMEZONE` lists.
fn offsets(name: &str, zone: &Component) -> Option<TimeZone> {
    let mut changes: Vec<(i64, i32)> = Vec::new();
    let mut before: Option<(i64, i32)> = None;
    for part in zone.components.iter().filter(|part| matches!(part.name.as_str(), "STANDARD" | "DAYLIGHT")) {
        let offset = |name| seconds(&part.text(name)?);
        let (Some(from), Some(to)) = (offset("TZOFFSETFROM"), offset("TZOFFSETTO")) else { continue };
        let Some(start) = part.property("DTSTART").and_then(|start| Moment::read(&start.value, None)) else { continue };
        let onset = |civil: DateTime| {
            let utc = TimeZone::UTC.to_timestamp(civil).ok()?;
            Some(utc.as_second() - i64::from(from))
        };
        let mut onsets = vec![start.civil()];
        let dates = part.all("RDATE").flat_map(|dates| dates.value.split(','));
        onsets.extend(dates.filter_map(|date| Moment::read(date, None)).map(|date| date.civil()));
        for rule in part.all("RRULE").filter_map(|rule| Rule::read(&rule.value).ok()) {
            let clock = TimeZone::fixed(jiff::tz::Offset::from_seconds(from).ok()?);
            let times = rule.instances(start.civil(), start.civil());
            onsets.extend(times.take_while(|time| time.year() <= LAST_YEAR && rule.reaches(*time, &clock, false)));
        }
        changes.extend(onsets.into_iter().filter_map(onset).map(|at| (at, to)));
        let first = onset(start.civil())?;
        if before.is_none_or(|(earliest, _)| first < earliest) {
            before = Some((first, from));
        }
    }
    changes.sort_unstable();
    changes.dedup_by_key(|change| change.0);
    TimeZone::tzif(name, &tzif(before?.1, &changes)?).ok()
}

/// An offset such as `+0100` or `-043000`, in seconds.
fn seconds(text: &str) -> Option<i32> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let digits: String = digits.chars().filter(|character| *character != ':').collect();
    let number = |at| digits.get(at).map_or(Some(0), |part: &str| part.parse::<i32>().ok());
    let seconds = number(0..2)? * 3600 + number(2..4)? * 60 + number(4..6)?;
    (digits.len() >= 2 && seconds < 86_400).then_some(sign * seconds)
}

/// Changes of clocks in the form in which systems keep zones (RFC 9636), the one in which `jiff` takes any.
fn tzif(before: i32, changes: &[(i64, i32)]) -> Option<Vec<u8>> {
    let mut kinds = vec![before];
    for (_, offset) in changes {
        if !kinds.contains(offset) {
            kinds.push(*offset);
        }
    }
    let kind = |offset: &i32| kinds.iter().position(|kind| kind == offset).and_then(|at| u8::try_from(at).ok());
    // More offsets than a byte can number are no zone.
    let indexes = changes.iter().map(|(_, offset)| kind(offset)).collect::<Option<Vec<u8>>>()?;
    let header = |changes: usize, kinds: usize| {
        let mut header = b"TZif2".to_vec();
        header.extend([0; 15 + 12]);
        // Changes, kinds, and the letters of one empty abbreviation.
        for count in [changes, kinds, 4] {
            header.extend((count as u32).to_be_bytes());
        }
        header
    };
    let described = |kinds: &[i32]| -> Vec<u8> {
        let each = kinds.iter().flat_map(|offset| [&offset.to_be_bytes()[..], &[0, 0]].concat());
        each.chain(*b"LMT\0").collect()
    };
    // The first half is for readers that know no times beyond 2038, of which there is none here.
    let mut data = header(0, 1);
    data.extend(described(&kinds[..1]));
    data.extend(header(changes.len(), kinds.len()));
    data.extend(changes.iter().flat_map(|(at, _)| at.to_be_bytes()));
    data.extend(indexes);
    data.extend(described(&kinds));
    data.extend(b"\n\n");
    Some(data)
}

#[cfg(test)]
mod tests;
