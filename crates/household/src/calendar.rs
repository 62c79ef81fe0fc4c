//! Calendars: their events, busy times, free times, and proposals.
//!
//! Files are read as other programs write them ([`Calendars`]), repeating events are expanded by RFC 5545
//! ([`CalendarSnapshot::expand`]), and plain functions answer questions: [`taken`], [`busy`], [`free_slots`], [`check`]. Proposals are
//! written to a calendar of their own ([`Proposal`]).
//!
//! Times are civil until a zone is applied: rules yield local times, and `moment` turns them into instants. Absent: writing to any calendar
//! but `Proposals`, invitations, and tasks.

mod busy;
mod event;
mod folder;
mod free;
mod hours;
mod ics;
mod instances;
mod moment;
mod proposal;
mod rule;
mod series;
pub(crate) mod tools;
mod words;
mod zone;

pub use busy::{BusyEvent, BusyPeriod, busy, taken};
pub use event::{Answer, Attendee, Details, Status};
pub use folder::{Calendar, CalendarSnapshot, Calendars};
pub use free::{Found, Slot, SlotRequest, Verdict, check, free_slots};
pub use hours::{Hours, PartOfDay};
pub use moment::Window;
pub use proposal::{PROPOSALS, Proposal};
pub use series::{Events, Occurrence};
