//! Moments and durations as people and machines read them.

use agent::Time;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A moment as it stands on the wire: RFC 3339 in UTC, with milliseconds.
pub fn timestamp(at: Time) -> String {
    format!("{:.3}", moment(at))
}

/// A moment as it stands before a line in a terminal: `10:00:05` in the reader's zone.
pub fn time_of_day(at: Time, zone: &TimeZone) -> String {
    moment(at).to_zoned(zone.clone()).strftime("%H:%M:%S").to_string()
}

/// A duration in as few characters as it takes: `4.1s`, `2m05s`, `1h02m`.
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..60 => format!("{seconds}.{}s", ms % 1000 / 100),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// A log may hold any number; one that no calendar reaches shows as the nearest end of the calendar.
fn moment(at: Time) -> Timestamp {
    let end = if at.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(at.0).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_rfc_3339_with_milliseconds() {
        assert_eq!(timestamp(Time(1_768_471_201_000)), "2026-01-15T10:00:01.000Z");
        assert_eq!(timestamp(Time(1_768_471_201_042)), "2026-01-15T10:00:01.042Z");
    }

    #[test]
    fn a_moment_beyond_the_calendar_is_shown_all_the_same() {
        assert!(timestamp(Time(i64::MAX)).starts_with("9999-"));
        assert!(timestamp(Time(i64::MIN)).starts_with("-009999-"));
    }

    #[test]
    fn a_duration_takes_the_unit_that_fits() {
        assert_eq!(duration(0), "0.0s");
        assert_eq!(duration(4_199), "4.1s");
        assert_eq!(duration(59_999), "59.9s");
        assert_eq!(duration(125_000), "2m05s");
        assert_eq!(duration(3_720_000), "1h02m");
    }
}
