//! How long a provider asks us to wait: `retry-after-ms`, else `retry-after` in seconds or as a date.
//!
//! Only sense is made of it here; how much of it is obeyed is decided by the rules and the governor.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The wish in milliseconds; none when there is none, or when it makes no sense.
pub(super) fn read(headers: &HeaderMap) -> Option<u64> {
    wish(text(headers, "retry-after-ms"), text(headers, RETRY_AFTER.as_str()), SystemTime::now())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

fn wish(milliseconds: Option<&str>, seconds_or_date: Option<&str>, now: SystemTime) -> Option<u64> {
    if let Some(ms) = milliseconds.and_then(|ms| scaled(ms, 1.0)) {
        return Some(ms);
    }
    let wish = seconds_or_date?;
    scaled(wish, 1000.0).or_else(|| {
        let until = httpdate::parse_http_date(wish).ok()?;
        let left = until.duration_since(now).unwrap_or(Duration::ZERO);
        u64::try_from(left.as_millis()).ok()
    })
}

/// A decimal number of a unit, in milliseconds. Too large a number ends at the largest; below zero is nonsense.
fn scaled(number: &str, ms_per_unit: f64) -> Option<u64> {
    let number: f64 = number.parse().ok()?;
    // A cast from float saturates.
    (number >= 0.0).then(|| (number * ms_per_unit).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_win_over_seconds_and_seconds_may_be_a_date() {
        // F14
        let now = httpdate::parse_http_date("Thu, 15 Jan 2026 10:00:00 GMT").expect("a date");
        let cases = [
            (Some("250"), Some("9"), Some(250)),
            (None, Some("9"), Some(9_000)),
            (None, Some("0.5"), Some(500)),
            (Some("soon"), Some("2"), Some(2_000)),
            (None, Some("Thu, 15 Jan 2026 10:00:30 GMT"), Some(30_000)),
            (None, Some("Thu, 15 Jan 2026 09:00:00 GMT"), Some(0)),
            (None, None, None),
        ];
        for (ms, other, expected) in cases {
            assert_eq!(wish(ms, other, now), expected, "{ms:?} {other:?}");
        }
    }

    #[test]
    fn absurd_and_negative_wishes_do_no_harm() {
        // F14
        let now = SystemTime::UNIX_EPOCH;
        for nonsense in ["-5", "NaN", "", "tomorrow", "-inf", "Thu, 99 Jan 2026 10:00:00 GMT"] {
            assert_eq!(wish(Some(nonsense), Some(nonsense), now), None, "{nonsense}");
        }
        assert_eq!(wish(None, Some("1e309"), now), Some(u64::MAX));
        assert_eq!(wish(None, Some("99999999999999999999999"), now), Some(u64::MAX));
    }
}
