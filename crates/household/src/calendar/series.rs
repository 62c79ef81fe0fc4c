//! The times at which events take place: those of a rule and further ones, less the excepted ones, with what was
//! changed for single ones (RFC 5545, sections 3.8.4.4 and 3.8.5).
//!
//! A change of one time and all that follow it (`RANGE=THISANDFUTURE`) moves the later ones by the same difference on
//! the clock and gives them its length, title and status; rules of its own are not followed.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::event::{Details, Event, EventLength};
use super::ics::Component;
use super::moment::{Length, Moment, Window, instant};
use super::zone::Zones;

/// More times of one series than this are not told for one window.
const MAX_TIMES: usize = 10_000;

/// The events of one iCalendar text.
#[derive(Debug, Default)]
pub struct Events {
    calendar: Arc<str>,
    title: Option<String>,
    series: Vec<Series>,
    warnings: Vec<String>,
}

/// One event that takes place at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The calendar that it is in.
    pub calendar: Arc<str>,
    /// What it is.
    pub details: Arc<Details>,
    /// When.
    pub window: Window,
    /// Whether it is a matter of days, not of hours.
    pub all_day: bool,
    /// Whether it is one of several.
    pub repeats: bool,
}

impl Events {
    /// Reads a text. What cannot be used is left out and told in [`Events::warnings`].
    pub fn read(calendar: &str, text: &str) -> Self {
        let mut events = Self { calendar: calendar.into(), ..Self::default() };
        let components = Component::read(text);
        if components.iter().all(|component| component.name != "VCALENDAR") {
            events.warnings.push("there is no calendar in it".to_owned());
        }
        let mut found = Vec::new();
        for component in components.iter().filter(|component| component.name == "VCALENDAR") {
            events.title = events.title.or_else(|| component.text("X-WR-CALNAME"));
            let mut zones = Zones::of(component);
            for event in component.components.iter().filter(|inner| inner.name == "VEVENT") {
                match event.is_whole {
                    true => found.extend(Event::read(event, &mut zones, &mut |warning| events.warnings.push(warning))),
                    false => events.warnings.push("an event breaks off and is left out".to_owned()),
                }
            }
            let unknown = zones.unknown();
            events.warnings.extend(
                unknown.map(|name| format!("unknown time zone {name:?}; its times are read in your time zone")),
            );
        }
        events.series = Series::of(found);
        events
    }

    /// What the calendar calls itself.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// What is wrong with the text, a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What takes place in a window, for a reader in a zone, in order; and, a sentence each, what is not told whole.
    pub fn expand(&self, window: Window, reader: &TimeZone) -> (Vec<Occurrence>, Vec<String>) {
        let mut found = Vec::new();
        let mut cut = Vec::new();
        for series in &self.series {
            let mut expansion =
                Expansion { calendar: &self.calendar, window, reader, found: &mut found, was_cut: false };
            expansion.add(series);
            if expansion.was_cut {
                let title = series.events().next().map_or("", |event| &event.details.title);
                cut.push(format!("“{title}” repeats too often to be followed to its end"));
            }
        }
        found.sort_by(|one, other| (one.window, &one.details.title).cmp(&(other.window, &other.details.title)));
        (found, cut)
    }
}

/// What belongs together by its `UID`.
#[derive(Debug, Default)]
struct Series {
    master: Option<Event>,
    changes: Vec<Event>,
}

impl Series {
    /// Puts events together. Of several that say the same, the latest version stands, and of equal ones the last.
    fn of(events: Vec<Event>) -> Vec<Self> {
        let mut series: Vec<Self> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for event in events {
            let id = &event.details.id;
            let at = match known.get(id) {
                Some(at) if !id.is_empty() => *at,
                _ => {
                    known.insert(id.clone(), series.len());
                    series.push(Self::default());
                    series.len() - 1
                }
            };
            let Self { master, changes } = &mut series[at];
            match &event.replaces {
                None if master.as_ref().is_none_or(|old| old.version <= event.version) => *master = Some(event),
                None => {}
                Some(_) => changes.push(event),
            }
        }
        for one in &mut series {
            one.changes.sort_by(|one, other| one.version.cmp(&other.version));
        }
        series
    }

    fn events(&self) -> impl Iterator<Item = &Event> {
        self.master.iter().chain(&self.changes)
    }
}

/// One walk through one series.
struct Expansion<'a> {
    calendar: &'a Arc<str>,
    window: Window,
    reader: &'a TimeZone,
    found: &'a mut Vec<Occurrence>,
    was_cut: bool,
}

impl Expansion<'_> {
    fn add(&mut self, series: &Series) {
        let Some(master) = &series.master else {
            // Changes alone, as an invitation to one time of another person's series has them.
            for change in &series.changes {
                self.push(&change.details, &change.start, change.lasting.length(&change.start, self.reader), true);
            }
            return;
        };
        let usual = master.lasting.length(&master.start, self.reader);
        if master.rules.is_empty() && master.also.is_empty() && series.changes.is_empty() {
            if !self.is_excepted(master) {
                self.push(&master.details, &master.start, usual, false);
            }
            return;
        }
        // A later change of the same time takes the place of the one before.
        let changed = Named::of(
            series.changes.iter().filter_map(|change| change.replaces.as_ref()).map(|id| &id.at),
            master,
            self.reader,
        );
        let moves = self.moves(series, master);
        for (time, length) in self.times(master, usual, &moves) {
            if changed.find(&time, self.reader).is_some() {
                continue;
            }
            let id = time.instant(self.reader);
            match moves.iter().rev().find(|moved| moved.from <= id) {
                Some(moved) => self.push(&moved.details, &moved.apply(&time), moved.length, true),
                None => self.push(&master.details, &time, length, true),
            }
        }
        for (at, change) in series.changes.iter().enumerate() {
            let is_last =
                change.replaces.as_ref().is_some_and(|id| changed.find_id(&id.at, master, self.reader) == Some(at));
            if is_last {
                self.push(&inherited(&change.details, master), &change.start, self.length(change, usual), true);
            }
        }
    }

    /// The length of a change; where it says none, that of its series.
    fn length(&self, change: &Event, usual: Length) -> Length {
        match &change.lasting {
            EventLength::Unsaid => usual,
            said => said.length(&change.start, self.reader),
        }
    }

    /// Whether an event that takes place once is excepted from itself.
    fn is_excepted(&self, master: &Event) -> bool {
        !master.except.is_empty()
            && Named::of(master.except.iter(), master, self.reader).find(&master.start, self.reader).is_some()
    }

    /// The times of a series that may matter in the window, each with its length.
    fn times(&mut self, master: &Event, usual: Length, moves: &[SeriesChange]) -> Vec<(Moment, Length)> {
        let zone = master.start.zone(self.reader).clone();
        let start = master.start.civil();
        let is_day = matches!(master.start, Moment::Day(_));
        let at = |civil: DateTime| match &master.start {
            Moment::Day(_) => Moment::Day(civil.date()),
            Moment::At(_, zone) => Moment::At(civil, zone.clone()),
        };
        let reach = moves.iter().map(|moved| moved.by.abs() + whole(moved.length)).max().unwrap_or_default();
        // Clocks were put forward by a whole day at most, where a country crossed the date line.
        let reach = reach.max(whole(usual)) + SignedDuration::from_hours(25);
        let from = zone.to_datetime(self.window.start).saturating_sub(reach);
        let to = zone.to_datetime(self.window.end).saturating_add(reach);
        let mut times: BTreeMap<Timestamp, (Moment, Length)> = BTreeMap::new();
        for rule in &master.rules {
            let mut instances = rule.instances(start, from);
            let is_over = |civil: &DateTime| *civil > to || !rule.reaches(*civil, &zone, is_day);
            for civil in instances.by_ref().take_while(|civil| !is_over(civil)).filter(|civil| *civil >= from) {
                let id = instant(civil, &zone);
                // Only what moves may come from where the window is not.
                if moves.is_empty() && id.saturating_add(whole(usual)).is_ok_and(|end| end < self.window.start) {
                    continue;
                }
                if times.len() == MAX_TIMES {
                    self.was_cut = true;
                    break;
                }
                times.insert(id, (at(civil), usual));
            }
            self.was_cut |= instances.was_cut();
        }
        // The start is a time of its own series, whatever its rules yield.
        times.insert(master.start.instant(self.reader), (master.start.clone(), usual));
        for (time, lasting) in &master.also {
            // A time without a zone is one of the series' own zone.
            let time = match time {
                Moment::At(civil, None) => at(*civil),
                Moment::Day(date) if !is_day => at(date.to_datetime(start.time())),
                time => time.clone(),
            };
            let length = match lasting {
                EventLength::Unsaid => usual,
                said => said.length(&time, self.reader),
            };
            times.insert(time.instant(self.reader), (time, length));
        }
        let except = Named::of(master.except.iter(), master, self.reader);
        times.into_values().filter(|(time, _)| except.find(time, self.reader).is_none()).collect()
    }

    /// The changes that hold for all that follows, the earliest first.
    fn moves(&self, series: &Series, master: &Event) -> Vec<SeriesChange> {
        let zone = master.start.zone(self.reader);
        let usual = master.lasting.length(&master.start, self.reader);
        let moved = |event: &Event| {
            let id = event.replaces.as_ref().filter(|id| id.and_following)?;
            let from = id.at.instant(zone);
            let by = zone.to_datetime(event.start.instant(zone)).duration_since(zone.to_datetime(from));
            let is_day = matches!(event.start, Moment::Day(_));
            let details = inherited(&event.details, master);
            Some(SeriesChange { details, from, by, length: self.length(event, usual), zone: zone.clone(), is_day })
        };
        let mut moves: Vec<SeriesChange> = series.changes.iter().filter_map(moved).collect();
        moves.sort_by_key(|moved| moved.from);
        moves
    }

    fn push(&mut self, details: &Arc<Details>, start: &Moment, length: Length, repeats: bool) {
        let zone = start.zone(self.reader);
        let civil = start.civil();
        let window = Window { start: instant(civil, zone), end: length.end(civil, zone) };
        if window.meets(&self.window) {
            self.found.push(Occurrence {
                calendar: Arc::clone(self.calendar),
                details: Arc::clone(details),
                window,
                all_day: matches!(start, Moment::Day(_)),
                repeats,
            });
        }
    }
}

/// A change that holds for all that follows it.
struct SeriesChange {
    details: Arc<Details>,
    from: Timestamp,
    /// By how much clocks show another time.
    by: SignedDuration,
    length: Length,
    /// The clock of the series.
    zone: TimeZone,
    /// Whether it is a matter of days from here on.
    is_day: bool,
}

impl SeriesChange {
    fn apply(&self, time: &Moment) -> Moment {
        let civil = match time {
            Moment::Day(_) | Moment::At(_, None) => time.civil(),
            Moment::At(civil, Some(zone)) => self.zone.to_datetime(instant(*civil, zone)),
        };
        let civil = civil.saturating_add(self.by);
        match time {
            _ if self.is_day => Moment::Day(civil.date()),
            Moment::At(_, None) => Moment::At(civil, None),
            _ => Moment::At(civil, Some(self.zone.clone())),
        }
    }
}

/// Times of a series by which something is said of them: a change, an exception.
#[derive(Default)]
struct Named {
    instants: BTreeMap<Timestamp, usize>,
    days: BTreeMap<Date, usize>,
}

/// How a time of a series is named: by its moment, or by its day where it is a matter of days or only a day was
/// written.
enum Name {
    Instant(Timestamp),
    Day(Date),
}

impl Named {
    /// The last of equal names stands.
    fn of<'m>(moments: impl Iterator<Item = &'m Moment>, master: &Event, reader: &TimeZone) -> Self {
        let mut named = Self::default();
        for (at, moment) in moments.enumerate() {
            match name(moment, master, reader) {
                Name::Instant(instant) => named.instants.insert(instant, at),
                Name::Day(date) => named.days.insert(date, at),
            };
        }
        named
    }

    fn find(&self, time: &Moment, reader: &TimeZone) -> Option<usize> {
        let by_day = self.days.get(&time.civil().date());
        by_day.or_else(|| self.instants.get(&time.instant(reader))).copied()
    }

    fn find_id(&self, id: &Moment, master: &Event, reader: &TimeZone) -> Option<usize> {
        match name(id, master, reader) {
            Name::Instant(instant) => self.instants.get(&instant).copied(),
            Name::Day(date) => self.days.get(&date).copied(),
        }
    }
}

fn name(moment: &Moment, master: &Event, reader: &TimeZone) -> Name {
    match (moment, &master.start) {
        (Moment::Day(date), _) => Name::Day(*date),
        // A time in a series of days: midnight where a person was sloppy, else midnight where the reader is.
        (Moment::At(civil, zone), Moment::Day(_)) => match zone {
            Some(zone) if civil.time() != jiff::civil::Time::midnight() => {
                Name::Day(reader.to_datetime(instant(*civil, zone)).date())
            }
            _ => Name::Day(civil.date()),
        },
        (moment, start) => Name::Instant(moment.instant(start.zone(reader))),
    }
}

/// What a change says, and for the rest what its series says.
fn inherited(change: &Arc<Details>, master: &Event) -> Arc<Details> {
    if !change.title.is_empty() {
        return Arc::clone(change);
    }
    Arc::new(Details { title: master.details.title.clone(), ..Details::clone(change) })
}

/// At most so much time passes from the start to the end of something.
fn whole(length: Length) -> SignedDuration {
    SignedDuration::from_hours(25 * i64::from(length.days.max(0))) + length.exact.max(SignedDuration::ZERO)
}

#[cfg(test)]
mod tests;
