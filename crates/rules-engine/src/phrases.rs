//! Formats results as short sentences; text of mails and notes is only ever quoted.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::Value;

use super::speech::Speech;

/// The most events, and the most days, that are told by the day.
const MOST_BY_DAY: usize = 40;
const MOST_DAYS: usize = 9;
/// The longest quotation.
const QUOTE_CHARS: usize = 160;
/// The longest quotation of several sentences that answer.
const LONGEST_QUOTE: usize = 430;

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

/// Moments and days as the owner reads them, in the language of the conversation.
#[derive(Clone, Debug)]
pub(super) struct DateWords {
    pub now: Zoned,
    pub speech: Speech,
}

impl DateWords {
    /// "today at 09:12", "Tuesday, 20 January, 14:00"; what cannot be read as it stands.
    pub fn moment(&self, text: &str) -> String {
        match self.at(text) {
            Some(at) => {
                let time = at.strftime("%H:%M").to_string();
                let yesterday = self.now.date().yesterday().ok();
                match at.date() {
                    date if date == self.now.date() => self.speech.say("at_today", &[("time", &time)]),
                    date if yesterday == Some(date) => self.speech.say("at_yesterday", &[("time", &time)]),
                    _ => self.speech.say("at", &[("date", &self.day(at.date())), ("time", &time)]),
                }
            }
            None => text.parse::<Date>().map_or_else(|_| plain(text, 40), |date| self.day(date)),
        }
    }

    /// "Tuesday, 20 January, 14:00–14:30".
    pub fn span(&self, start: &str, end: &str) -> String {
        match (self.at(start), self.at(end)) {
            (Some(from), Some(to)) if from.date() == to.date() && from < to => {
                let (begin, stop) = (from.strftime("%H:%M").to_string(), to.strftime("%H:%M").to_string());
                let hours = [("from", begin.as_str()), ("to", stop.as_str())];
                match from.date() == self.now.date() {
                    true => self.speech.say("span_today", &hours),
                    false => {
                        let date = self.day(from.date());
                        self.speech.say("span", &[hours[0], hours[1], ("date", &date)])
                    }
                }
            }
            (Some(from), Some(to)) if from != to => {
                self.speech.say("span_days", &[("from", &self.moment(start)), ("to", &self.moment(end))])
            }
            _ => self.moment(start),
        }
    }

    /// The day of a moment or of a date.
    pub fn day_of(&self, text: &str) -> String {
        let date = self.at(text).map(|at| at.date()).or_else(|| text.parse().ok());
        date.map_or_else(|| plain(text, 40), |date| self.day(date))
    }

    /// A birthday as a card writes it: "13 June", with the year where it is known.
    pub fn birthday(&self, text: &str) -> String {
        let (year, rest) = match text.strip_prefix("--") {
            Some(rest) => (None, rest),
            None => match text.split_once('-') {
                Some((year, rest)) => (Some(year), rest),
                None => return plain(text, 40),
            },
        };
        let Some((month, day)) = rest.split_once('-') else { return plain(text, 40) };
        let months = self.speech.names("months");
        let named = month.parse::<usize>().ok().and_then(|month| months.get(month.checked_sub(1)?).copied());
        let (Some(month), Ok(day)) = (named, day.parse::<u8>()) else { return plain(text, 40) };
        let told = self.speech.say("day_month", &[("day", &day.to_string()), ("month", month)]);
        year.map_or(told.clone(), |year| format!("{told} {year}"))
    }

    /// How old a person becomes on their next birthday, and when that is; none where the year is not known.
    pub fn next_age(&self, birthday: &str) -> Option<(i16, String)> {
        let (born, today) = (birthday.parse::<Date>().ok()?, self.now.date());
        let on = |year: i16| Date::new(year, born.month(), born.day()).or_else(|_| Date::new(year, 3, 1)).ok();
        let next = on(today.year()).filter(|day| *day >= today).or_else(|| on(today.year() + 1))?;
        Some((next.year() - born.year(), self.day(next)))
    }

    fn day(&self, date: Date) -> String {
        let today = self.now.date();
        let weekday = self.speech.names("weekdays")[usize::from(date.weekday().to_monday_zero_offset().unsigned_abs())];
        let month = self.speech.names("months")[usize::from(date.month().unsigned_abs()) - 1];
        let (day, year) = (date.day().to_string(), date.year().to_string());
        let parts = [("weekday", weekday), ("day", &*day), ("month", month), ("year", &*year)];
        let far = (date.year() - today.year()).abs() > 1 || (date.year() < today.year() && date.month() < 10);
        let dated = self.speech.say(if far || date.year() > today.year() { "date_year" } else { "date" }, &parts);
        match date {
            date if date == today => self.speech.say("today", &[]),
            date if today.tomorrow().ok() == Some(date) => self.speech.say("tomorrow", &[("date", &dated)]),
            date if today.yesterday().ok() == Some(date) => self.speech.say("yesterday", &[("date", &dated)]),
            _ => dated,
        }
    }

    fn at(&self, text: &str) -> Option<Zoned> {
        let zone: TimeZone = self.now.time_zone().clone();
        text.parse::<Timestamp>().ok().map(|at| at.to_zoned(zone))
    }

    /// One mail of a list on one line: who, what, when, and what became of it.
    pub fn mail(&self, mail: &Value) -> String {
        let is_sent = mail["folder"].as_str().is_some_and(|folder| folder == "sent");
        let who = match is_sent {
            true => self.speech.say("to", &[("who", &names_of(mail, "to"))]),
            false => name_of(mail),
        };
        let mut line = format!("{who}: \"{}\"", text_of(mail, "subject"));
        if let Some(date) = mail["date"].as_str() {
            line.push_str(&format!(" ({})", self.moment(date)));
        }
        if mail["unread"] == true && !is_sent {
            line.push_str(&format!(", {}", self.speech.say("unread", &[])));
        }
        line
    }

    /// One mail that was weighed, as an entry of a list, on as many lines as it takes to say why.
    pub fn weighed(&self, item: &Value) -> String {
        let mut lines = format!("- {}", self.mail(item));
        if let Some(kind) = item["category"].as_str() {
            lines.push_str(&format!(", {}", self.kind(kind)));
        }
        let why: Vec<String> = texts_of(item, "why").iter().map(|why| self.speech.reason(why)).collect();
        if !why.is_empty() {
            lines.push_str(&format!("\n  {}", self.speech.say("why", &[("why", &sentences(&why))])));
        }
        let summary = text_of(item, "summary");
        if !summary.is_empty() {
            lines.push_str(&format!("\n  {}", self.speech.say("in_short", &[("text", &summary)])));
        }
        // What is to be done is told once, where the summary is about nothing else.
        let is_told = |task: &&Value| {
            let title: String = text_of(task, "title").chars().take(40).collect();
            !title.is_empty() && summary.contains(&title)
        };
        for task in list(item, "extractedTasks").iter().take(1).filter(|task| !is_told(task)) {
            let due = task["suggestedDue"].as_str().map(|due| self.speech.say("by", &[("when", &self.moment(due))]));
            let what = format!("{}{}", text_of(task, "title"), due.map(|due| format!(" ({due})")).unwrap_or_default());
            lines.push_str(&format!("\n  {}", self.speech.say("to_do", &[("what", &what)])));
        }
        for warning in texts_of(item, "warnings") {
            lines.push_str(&format!(
                "\n  {}",
                self.speech.say("careful", &[("warning", &self.speech.reason(&warning))])
            ));
        }
        lines
    }

    /// The word for a category of mails.
    pub fn kind(&self, category: &str) -> String {
        match CATEGORIES.contains(&category) {
            true => self.speech.say(&format!("kind_{category}"), &[]),
            false => plain(category, 20),
        }
    }

    /// When an event takes place.
    pub fn event_time(&self, event: &Value) -> String {
        let (start, end) = (event["start"].as_str().unwrap_or(""), event["end"].as_str().unwrap_or(""));
        if event["allDay"] != true {
            return self.span(start, end);
        }
        let date = |text: &str| self.at(text).map(|at| at.date()).or_else(|| text.parse::<Date>().ok());
        let last = date(end).and_then(|end| end.yesterday().ok());
        match (date(start), last) {
            (Some(first), Some(last)) if last > first => {
                self.speech.say("all_days", &[("from", &self.day(first)), ("to", &self.day(last))])
            }
            _ => self.speech.say("all_day", &[("date", &self.day_of(start))]),
        }
    }

    /// A few events with all that is known of each: who comes, and what else is said about it.
    pub fn events_in_full(&self, events: &[Value]) -> String {
        let one = |event: &Value| {
            let with = Some(texts_of(event, "with")).filter(|with| !with.is_empty());
            let with = with.map(|with| format!("\n  {}", self.speech.say("event_with", &[("who", &with.join(", "))])));
            let more = Some(text_of(event, "description")).filter(|more| !more.is_empty());
            let more = more.map(|more| format!("\n  \"{more}\""));
            format!(
                "{}{}{}",
                self.events(std::slice::from_ref(event)),
                with.unwrap_or_default(),
                more.unwrap_or_default()
            )
        };
        events.iter().map(one).collect::<Vec<_>>().join("\n")
    }

    /// Events, one a line.
    pub fn events(&self, events: &[Value]) -> String {
        let line = |event: &Value| {
            let place = Some(text_of(event, "location")).filter(|place| !place.is_empty());
            let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
            let mut marks = String::new();
            for (is_so, mark) in [
                (event["status"] == "cancelled", "event_cancelled"),
                (event["status"] == "tentative", "event_tentative"),
                (event["over"] == true, "event_over"),
            ] {
                if is_so {
                    marks.push_str(&format!(", {}", self.speech.say(mark, &[])));
                }
            }
            format!("- {}: {}{place}{marks}", self.event_time(event), text_of(event, "title"))
        };
        events.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Many events, one line for each day.
    pub fn by_day(&self, events: &[Value]) -> String {
        let mut days: Vec<(String, Vec<String>)> = Vec::new();
        for event in events.iter().take(MOST_BY_DAY) {
            let start = event["start"].as_str().unwrap_or("");
            let time = match (event["allDay"] == true, self.at(start)) {
                (false, Some(at)) => at.strftime("%H:%M").to_string(),
                _ => self.speech.say("list_all_day", &[]),
            };
            let mark = match event["status"].as_str() {
                Some("cancelled") => format!(" ({})", self.speech.say("event_cancelled", &[])),
                _ => String::new(),
            };
            let told = format!("{time} {}{mark}", text_of(event, "title"));
            let day = self.day_of(start);
            match days.last_mut().filter(|(known, _)| *known == day) {
                Some((_, events)) => events.push(told),
                None => days.push((day, vec![told])),
            }
        }
        let line = |(day, events): &(String, Vec<String>)| {
            format!("- {}", self.speech.say("day_line", &[("day", day), ("events", &events.join("; "))]))
        };
        let mut lines: Vec<String> = days.iter().take(MOST_DAYS).map(line).collect();
        let told: usize = days.iter().take(MOST_DAYS).map(|(_, events)| events.len()).sum();
        if events.len() > told {
            lines.push(self.speech.say("and_more", &[("n", &(events.len() - told).to_string())]));
        }
        lines.join("\n")
    }

    /// Slots, numbered.
    pub fn slots(&self, slots: &[Value]) -> String {
        let line = |(number, slot): (usize, &Value)| {
            let span = self.span(slot["start"].as_str().unwrap_or(""), slot["end"].as_str().unwrap_or(""));
            let why = Some(text_of(slot, "why")).filter(|why| !why.is_empty());
            let why = why.map(|why| format!(" – {}", self.speech.reasons(&why)));
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
            false => self.speech.say("in_the_way", &[("what", &named.join(", "))]),
        }
    }

    /// A passage that answers a question, with the place where it stands.
    pub fn quoted(&self, answer: &Value) -> String {
        let quote = answer["quote"].as_str().map(|quote| plain(quote, LONGEST_QUOTE)).unwrap_or_default();
        let line = answer["line"].as_u64().unwrap_or(1).to_string();
        let when = answer["date"].as_str().map(|date| self.moment(date)).unwrap_or_default();
        match answer["kind"].as_str() {
            Some("note") => {
                self.speech.say("quote_note", &[("quote", &quote), ("path", &text_of(answer, "path")), ("line", &line)])
            }
            Some("event") => {
                let place = Some(text_of(answer, "location")).filter(|place| !place.is_empty());
                let more = Some(text_of(answer, "description")).filter(|more| !more.is_empty());
                let cancelled = (answer["status"] == "cancelled")
                    .then(|| format!(" ({})", self.speech.say("event_cancelled", &[])));
                let title = format!(
                    "{}{}{}{}",
                    text_of(answer, "title"),
                    cancelled.unwrap_or_default(),
                    place.map(|place| format!(" ({place})")).unwrap_or_default(),
                    more.map(|more| format!(", \"{more}\"")).unwrap_or_default()
                );
                self.speech.say("quote_event", &[("when", &self.event_time(answer)), ("title", &title)])
            }
            Some("mail") => {
                let is_sent = answer["folder"] == "sent";
                let who = if is_sent { self.speech.say("you", &[]) } else { name_of(answer) };
                let subject = text_of(answer, "subject");
                self.speech
                    .say("quote_mail", &[("quote", &quote), ("who", &who), ("subject", &subject), ("when", &when)])
            }
            _ => {
                let is_date =
                    quote.len() <= 10 && quote.contains('-') && quote.ends_with(|last: char| last.is_ascii_digit());
                let told = if is_date { self.birthday(&quote) } else { quote };
                self.speech.say("quote_person", &[("name", &text_of(answer, "name")), ("quote", &told)])
            }
        }
    }
}

const CATEGORIES: [&str; 7] = ["urgent", "action", "meeting", "waiting", "fyi", "newsletter", "suspicious"];

/// Names in a list of people, without their addresses.
pub(super) fn names_of(value: &Value, key: &str) -> String {
    texts_of(value, key).iter().map(|one| bare_name(one)).collect::<Vec<_>>().join(", ")
}

/// The name of a person, without the address where there is one.
pub(super) fn bare_name(from: &str) -> String {
    let name = from.split('<').next().unwrap_or("").trim().trim_matches('"').trim();
    if name.is_empty() { from.trim_matches(['<', '>']).to_owned() } else { name.to_owned() }
}

/// Whom a mail is from: the name alone where there is one.
pub(super) fn name_of(mail: &Value) -> String {
    bare_name(&text_of(mail, "from"))
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
pub(super) fn preferences(preferences: &[Value], speech: Speech) -> String {
    let line = |preference: &Value| {
        let sure = preference["confidence"]
            .as_f64()
            .map(|sure| format!(", {}", speech.say("sure", &[("n", &format!("{:.0}", sure * 100.0))])));
        let status = Some(text_of(preference, "status")).filter(|status| !status.is_empty());
        // Of the evidence only a few words are told; how much of it there is stands beside them.
        let cases = preference["cases"].as_u64().and_then(|cases| usize::try_from(cases).ok());
        let evidence = match cases.unwrap_or_else(|| texts_of(preference, "evidence").len()) {
            0 => String::new(),
            1 => ", from one decision".to_owned(),
            many => format!(", from {many} decisions"),
        };
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
    use crate::speech::Tongue;

    #[test]
    fn foreign_words_stay_on_one_line_and_obey_nothing() {
        assert_eq!(plain("a\u{1b}[31m\n\n  b", 40), "a [31m b");
        assert_eq!(plain("one two three", 8), "one two …");
    }

    #[test]
    fn moments_are_told_as_a_neighbour_would() {
        let now = "2026-01-15T11:00:00+01:00[Europe/Berlin]".parse().expect("a moment");
        let dates = DateWords { now, speech: Speech::default() };
        assert_eq!(dates.moment("2026-01-15T08:12:00Z"), "today at 09:12");
        assert_eq!(
            dates.span("2026-01-16T14:00:00+01:00", "2026-01-16T14:30:00+01:00"),
            "tomorrow, Friday, 16 January, 14:00–14:30"
        );
        assert_eq!(dates.moment("2026-01-20T14:00:00+01:00"), "Tuesday, 20 January, 14:00");
        assert_eq!(dates.moment("2026-01-17"), "Saturday, 17 January");
        assert_eq!(dates.moment("whenever"), "whenever");
        assert_eq!(dates.birthday("1961-06-13"), "13 June 1961");
        assert_eq!(dates.birthday("--08-22"), "22 August");
        let german = DateWords { speech: Speech { tongue: Tongue::German }, ..dates };
        assert_eq!(german.moment("2026-01-20T14:00:00+01:00"), "Dienstag, 20. Januar, 14:00 Uhr");
    }
}
