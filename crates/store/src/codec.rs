//! An event as it is kept: its name, the version of its shape, and its text. The only place that knows shapes of the past.

use std::sync::Arc;

use agent::Event;
use board::Entry;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::installation::InstallationEvent;

/// The version of every event's shape.
const VERSION: u32 = 1;

/// Room that most events do not need to have made larger.
const USUAL_BYTES: usize = 512;

/// An event as it is kept.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) kind: &'static str,
    pub(crate) version: u32,
    pub(crate) body: String,
}

/// How an event is kept.
pub(crate) fn encode(event: &Event) -> Encoded {
    let mut body = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut body, event).expect("events serialise to JSON");
    let body = String::from_utf8(body).expect("JSON is text");
    Encoded { kind: event.kind(), version: VERSION, body }
}

/// How an event of the installation is kept.
pub(crate) fn encode_installation(event: &InstallationEvent) -> Encoded {
    let body = serde_json::to_string(event).expect("events serialise to JSON");
    Encoded { kind: event.kind(), version: VERSION, body }
}

/// The event of the installation that was kept so.
pub(crate) fn decode_installation(kind: &str, version: u32, body: &str) -> Result<InstallationEvent, Error> {
    read(kind, version, body)
}

/// How an event of a board is kept.
pub(crate) fn encode_board(entry: &Entry) -> Encoded {
    let body = serde_json::to_string(entry).expect("events serialise to JSON");
    Encoded { kind: entry.event.kind(), version: VERSION, body }
}

/// The event of a board that was kept so.
pub(crate) fn decode_board(kind: &str, version: u32, body: &str) -> Result<Entry, Error> {
    read(kind, version, body)
}

/// The event that was kept so.
pub(crate) fn decode(kind: &str, version: u32, body: &str) -> Result<Event, Error> {
    read(kind, version, body)
}

fn read<T: DeserializeOwned>(kind: &str, version: u32, body: &str) -> Result<T, Error> {
    let unreadable = |source| Error::Unreadable { kind: kind.into(), version, source };
    if version != VERSION {
        return Err(unreadable(None));
    }
    serde_json::from_str(body).map_err(|error| unreadable(Some(Arc::new(error))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::sample;
    use agent::{InputId, Outside, ThreadId};

    fn round_trip(event: &Event) -> Event {
        let Encoded { kind, version, body } = encode(event);
        decode(kind, version, &body).unwrap()
    }

    #[test]
    fn an_event_comes_back_as_it_was_written() {
        let odd = "nul \0, lone \u{FFFD}, emoji 🦀, quote \" and \u{2028}";
        let arrived = Event::InputArrived { id: InputId::new("in"), input: Outside::said(odd) };
        for event in [arrived, sample::created(&ThreadId::new("20260115-k3f9"))] {
            assert_eq!(round_trip(&event), event);
        }
    }

    #[test]
    fn a_field_that_a_later_version_added_is_ignored() {
        let event = decode("child_started", 1, r#"{"child_started":{"child":"r.1","mood":"good"}}"#).unwrap();
        assert_eq!(event, Event::ChildStarted { child: ThreadId::new("r.1"), again: false });
    }

    #[test]
    fn an_event_of_a_later_version_is_named_in_the_error() {
        let unknown = decode("dreamt", 1, r#"{"dreamt":{"of":"sheep"}}"#).unwrap_err();
        assert!(unknown.to_string().contains("'dreamt'"), "{unknown}");
        let newer = decode("child_started", 2, "{}").unwrap_err();
        assert!(matches!(newer, Error::Unreadable { version: 2, .. }), "{newer}");
        let garbled = decode("child_started", 1, "{").unwrap_err();
        assert!(matches!(garbled, Error::Unreadable { source: Some(_), .. }), "{garbled}");
    }
}
