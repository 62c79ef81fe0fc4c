//! Formats results as short sentences; text of mails and notes is only ever quoted.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::Value;

/// The longest quotation.
const QUOTE_CHARS: usize = 160;

/// Foreign words on one line, without what a terminal would obey, and not too long.
pub(super) fn plain(text: &str, most: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut short = String::new();
    let mut words = clean.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if short.chars().count() + word.chars().count() + 1 > most {
            short.extend(word.chars().take(most.saturating_sub(short.chars().count())));
            short.push('…');
            break;
        }
        short.push_str(word);
        if words.peek().is_some() {
            short.push(' ');
        }
    }
    short.trim_end().to_owned()
}

/// A member as words; empty where it is none.
pub(super) fn text_of(value: &Value, key: &str) -> String {
    value[key].as_str().map(|text| plain(text, QUOTE_CHARS)).unwrap_or_default()
}

/// The members of a list as words.
pub(super) fn texts_of(value: &Value, key: &str) -> Vec<String> {
    let texts = value[key].as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(|text| plain(text, QUOTE_CHARS)).filter(|text| !text.is_empty()).collect()
}

/// The objects of a list.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// So many things, in the right number.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    match number {
        0 => format!("no {many}"),
        1 => format!("one {one}"),
        number => format!("{number} {many}"),
    }
}

/// Moments and days as the owner reads them.
#[derive(Clone, Debug)]
pub(super) struct DateWords {
    pub now: Zoned,
}

impl DateWords {
    /// "today 09:12", "Tue 20 Jan 14:00"; what cannot be read as it stands.
    pub fn moment(&self, text: &str) -> String {
        match self.at(text) {
            Some(at) => format!("{} {}", self.day(at.date()), at.strftime("%H:%M")),
            None => text.parse::<Date>().map_or_else(|_| plain(text, 40), |date| self.day(date)),
        }
    }

    /// "Tue 20 Jan 14:00–14:30".
    pub fn span(&self, start: &str, end: &str) -> String {
        match (self.at(start), self.at(end)) {
            (Some(from), Some(to)) if from.date() == to.date() => {
                format!("{} {}–{}", self.day(from.date()), from.strftime("%H:%M"), to.strftime("%H:%M"))
            }
            (Some(_), Some(_)) => format!("{} – {}", self.moment(start), self.moment(end)),
            _ => self.moment(start),
        }
    }

    /// The day of a moment or of a date.
    pub fn day_of(&self, text: &str) -> String {
        let date = self.at(text).map(|at| at.date()).or_else(|| text.parse().ok());
        date.map_or_else(|| plain(text, 40), |date| self.day(date))
    }

    fn day(&self, date: Date) -> String {
        let today = self.now.date();
        if date == today {
            "today".to_owned()
        } else if today.tomorrow().ok() == Some(date) {
            "tomorrow".to_owned()
        } else if date.year() == today.year() {
            date.strftime("%a %-d %b").to_string()
        } else {
            date.strftime("%a %-d %b %Y").to_string()
        }
    }

    fn at(&self, text: &str) -> Option<Zoned> {
        let zone: TimeZone = self.now.time_zone().clone();
        text.parse::<Timestamp>().ok().map(|at| at.to_zoned(zone))
    }

    /// One mail of a list on one line.
    pub fn mail(&self, mail: &Value) -> String {
        let mut line = format!("{} · {}: \"{}\"", text_of(mail, "emailId"), name_of(mail), text_of(mail, "subject"));
        if let Some(date) = mail["date"].as_str() {
            line.push_str(&format!(" ({})", self.moment(date)));
        }
        if mail["unread"] == true {
            line.push_str(", unread");
        }
        line
    }

    /// One mail that was weighed, as an entry of a list, on as many lines as it takes to say why.
    pub fn weighed(&self, item: &Value) -> String {
        let mut lines = format!("- {}", self.mail(item));
        if let Some(priority) = item["priority"].as_f64() {
            lines.push_str(&format!("\n  {}, priority {priority:.2}", text_of(item, "category")));
        }
        let why = texts_of(item, "why");
        if !why.is_empty() {
            lines.push_str(&format!("\n  Why: {}", sentences(&why)));
        }
        let summary = text_of(item, "summary");
        if !summary.is_empty() {
            lines.push_str(&format!("\n  In short: \"{summary}\""));
        }
        for task in list(item, "extractedTasks") {
            let due = task["suggestedDue"].as_str().map(|due| format!(" (by {})", self.moment(due)));
            lines.push_str(&format!("\n  To do: {}{}", text_of(task, "title"), due.unwrap_or_default()));
        }
        for warning in texts_of(item, "warnings") {
            lines.push_str(&format!("\n  Careful: {warning}"));
        }
        lines
    }

    /// Events, one a line.
    pub fn events(&self, events: &[Value]) -> String {
        let line = |event: &Value| {
            let (start, end) = (event["start"].as_str().unwrap_or(""), event["end"].as_str().unwrap_or(""));
            let when = match event["allDay"] == true {
                true => format!("{}, all day", self.day_of(start)),
                false => self.span(start, end),
            };
            let place = Some(text_of(event, "location")).filter(|place| !place.is_empty());
            let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
            let tentative = if event["status"] == "tentative" { ", tentative" } else { "" };
            format!("- {when}: {}{place}{tentative}", text_of(event, "title"))
        };
        events.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Slots, numbered.
    pub fn slots(&self, slots: &[Value]) -> String {
        let line = |(number, slot): (usize, &Value)| {
            let span = self.span(slot["start"].as_str().unwrap_or(""), slot["end"].as_str().unwrap_or(""));
            let why = Some(text_of(slot, "why")).filter(|why| !why.is_empty()).map(|why| format!(" – {why}"));
            format!("{}. {span}{}", number + 1, why.unwrap_or_default())
        };
        slots.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }

    /// What is in the way, in one sentence; empty where nothing is.
    pub fn conflicts(&self, data: &Value) -> String {
        let conflicts = list(data, "conflicts");
        let one = |conflict: &Value| {
            let span = self.span(conflict["start"].as_str().unwrap_or(""), conflict["end"].as_str().unwrap_or(""));
            format!("\"{}\" ({span})", text_of(conflict, "title"))
        };
        let named: Vec<String> = conflicts.iter().take(3).map(one).collect();
        match named.is_empty() {
            true => String::new(),
            false => format!("In the way: {}.", named.join(", ")),
        }
    }
}

/// Whom a mail is from: the name alone where there is one.
fn name_of(mail: &Value) -> String {
    let from = text_of(mail, "from");
    let name = from.split('<').next().unwrap_or("").trim().trim_matches('"').trim();
    if name.is_empty() { from } else { name.to_owned() }
}

/// Notes, one a line with where and why.
pub(super) fn notes(results: &[Value]) -> String {
    let line = |(number, note): (usize, &Value)| {
        let at = note["line"].as_u64().map(|line| format!(":{line}")).unwrap_or_default();
        let (title, snippet) = (text_of(note, "title"), text_of(note, "snippet"));
        let snippet =
            if snippet.is_empty() || snippet == title { String::new() } else { format!("\n   \"{snippet}\"") };
        format!("{}. {}{at} – {title}{snippet}", number + 1, text_of(note, "path"))
    };
    results.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// A draft as it lies in its folder.
pub(super) fn draft(data: &Value) -> String {
    let to = texts_of(data, "to").join(", ");
    let body = data["body"].as_str().unwrap_or("").trim();
    let body: String = body.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
    format!("To: {to}\nSubject: {}\n\n{body}", text_of(data, "subject"))
}

/// Preferences, one a line.
pub(super) fn preferences(preferences: &[Value]) -> String {
    let line = |preference: &Value| {
        let sure = preference["confidence"].as_f64().map(|sure| format!(", {:.0} % sure", sure * 100.0));
        let status = Some(text_of(preference, "status")).filter(|status| !status.is_empty());
        // Of the evidence only a few words are told; how much of it there is stands beside them.
        let cases = preference["cases"].as_u64().and_then(|cases| usize::try_from(cases).ok());
        let evidence = cases.unwrap_or_else(|| texts_of(preference, "evidence").len());
        let evidence =
            if evidence == 0 { String::new() } else { format!(", from {}", count(evidence, "decision", "decisions")) };
        format!(
            "- {}: {}{}{}{evidence}",
            text_of(preference, "key"),
            shown(&preference["value"]),
            sure.unwrap_or_default(),
            status.map(|status| format!(", {status}")).unwrap_or_default()
        )
    };
    preferences.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A value of any kind in plain words.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => plain(text, QUOTE_CHARS),
        other => plain(&other.to_string(), QUOTE_CHARS),
    }
}

/// Sentences, each with its full stop.
fn sentences(all: &[String]) -> String {
    let stopped =
        |text: &String| if text.ends_with(['.', '!', '?', '…']) { text.clone() } else { format!("{text}.") };
    all.iter().map(stopped).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_words_stay_on_one_line_and_obey_nothing() {
        assert_eq!(plain("a\u{1b}[31m\n\n  b", 40), "a [31m b");
        assert_eq!(plain("one two three", 8), "one two …");
    }

    #[test]
    fn moments_are_told_as_a_neighbour_would() {
        let dates = DateWords { now: "2026-01-15T11:00:00+01:00[Europe/Berlin]".parse().expect("a moment") };
        assert_eq!(dates.moment("2026-01-15T08:12:00Z"), "today 09:12");
        assert_eq!(dates.span("2026-01-16T14:00:00+01:00", "2026-01-16T14:30:00+01:00"), "tomorrow 14:00–14:30");
        assert_eq!(dates.moment("2026-01-20T14:00:00+01:00"), "Tue 20 Jan 14:00");
        assert_eq!(dates.moment("2026-01-17"), "Sat 17 Jan");
        assert_eq!(dates.moment("whenever"), "whenever");
    }
}
