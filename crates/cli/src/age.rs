//! Ages as people write them: `90d`, `12h`, `30m`.

/// An age such as `90d`, in milliseconds.
pub fn age_ms(text: &str) -> Option<u64> {
    let unit_ms = match text.chars().last()? {
        'd' => 24 * 60 * 60 * 1000,
        'h' => 60 * 60 * 1000,
        'm' => 60 * 1000,
        _ => return None,
    };
    text[..text.len() - 1].parse::<u64>().ok()?.checked_mul(unit_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_a_number_with_its_unit() {
        assert_eq!(age_ms("90d"), Some(90 * 24 * 60 * 60 * 1000));
        assert_eq!((age_ms("2h"), age_ms("0m")), (Some(2 * 60 * 60 * 1000), Some(0)));
        for wrong in ["", "d", "90", "-1d", "1.5h", "9999999999999999999d", "90 days", "3é"] {
            assert_eq!(age_ms(wrong), None, "{wrong}");
        }
    }
}
