//! Calendars: what is in them, what of it takes time, where there is room, and proposals.
//!
//! Read as other programs keep them ([`Calendars`]), expanded by RFC 5545 ([`CalendarSnapshot::expand`]), and judged by plain
//! functions: [`taken`], [`busy`], [`free_slots`], [`check`]. What is proposed is kept apart ([`Proposal`]).
//!
//! Everything is civil time until it meets a zone: rules yield what clocks on the wall show, and `moment` says when
//! that is. Absent: writing to any calendar but `Proposals`, invitations, and tasks.

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
