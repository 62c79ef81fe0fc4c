//! The sample is what its users count on: whole, well-formed, and as many of each as is said.

use serde_json::Value;

use super::*;

fn under<'a>(paths: &'a [String], folder: &'a str) -> impl Iterator<Item = &'a String> {
    paths.iter().filter(move |path| path.starts_with(folder) && !path.ends_with(KEEP))
}

fn lines(path: &str) -> Vec<String> {
    String::from_utf8_lossy(&content(path)).lines().map(str::to_owned).collect()
}

#[test]
fn the_sample_holds_as_many_of_each_as_is_said() {
    let paths = paths();
    let count = |folder| under(&paths, folder).count();
    assert_eq!(count("mail/cur/") + count("mail/new/"), 60);
    assert_eq!(count("mail/.Sent/cur/"), 40);
    assert_eq!(count("mail/.Drafts/"), 0);
    assert_eq!(count("calendars/personal/") + count("calendars/work/") + count("calendars/team/"), 29);
    assert_eq!(count("para/"), 45);
    assert_eq!(count("contacts/"), 12);
    assert_eq!(lines("decisions.jsonl").len(), 30);
    for id in ["mail/cur/msg_urgent_001:2,", "mail/cur/msg_002:2,"] {
        assert!(paths.iter().any(|path| path == id), "{id}");
    }
}

#[test]
fn every_mail_has_the_headers_of_a_letter_and_an_example_address() {
    let paths = paths();
    for path in under(&paths, "mail/") {
        let lines = lines(path);
        let headers: Vec<&String> = lines.iter().take_while(|line| !line.is_empty()).collect();
        assert!(headers.len() < lines.len(), "{path} has no body");
        for name in ["From: ", "To: ", "Date: ", "Subject: ", "Message-ID: ", "Content-Type: "] {
            assert_eq!(headers.iter().filter(|line| line.starts_with(name)).count(), 1, "{path}: {name}");
        }
        let sender = headers.iter().find(|line| line.starts_with("From: ")).expect("a sender");
        assert!(sender.trim_end_matches('>').ends_with(".example"), "{path}: {sender}");
    }
}

#[test]
fn calendars_and_cards_open_and_close_what_they_hold() {
    let paths = paths();
    for (folder, outer) in [("calendars/", "VCALENDAR"), ("contacts/", "VCARD")] {
        for path in under(&paths, folder) {
            let mut open: Vec<String> = Vec::new();
            for line in lines(path) {
                if let Some(name) = line.strip_prefix("BEGIN:") {
                    open.push(name.to_owned());
                } else if let Some(name) = line.strip_prefix("END:") {
                    assert_eq!(open.pop().as_deref(), Some(name), "{path}");
                }
            }
            assert!(open.is_empty(), "{path}: {open:?}");
            assert_eq!(lines(path).first().map(String::as_str), Some(format!("BEGIN:{outer}").as_str()), "{path}");
        }
    }
}

#[test]
fn every_note_has_front_matter_a_date_and_a_heading() {
    let paths = paths();
    for path in under(&paths, "para/") {
        let lines = lines(path);
        assert_eq!(lines[0], "---", "{path}");
        assert!(lines.iter().any(|line| line.starts_with("tags: [")), "{path}");
        assert!(lines.iter().any(|line| line.starts_with("# ")), "{path}");
        assert!(written_at(&content(path)) < instant(now()), "{path}");
    }
}

#[test]
fn every_decision_says_when_what_and_about_whom_before_the_sample_s_now() {
    for line in lines("decisions.jsonl") {
        let decision: Value = serde_json::from_str(&line).expect("JSON");
        let at: Timestamp = decision["at"].as_str().expect("a time").parse().expect("a time");
        assert!(at < now(), "{line}");
        let kind = decision["kind"].as_str().expect("a kind");
        assert!(["approve", "deny", "draft_edit", "slot_chosen", "retriage", "opened"].contains(&kind), "{line}");
        assert!(decision["subject"].is_string() && decision["choice"].is_string() && decision["context"].is_object());
    }
}

#[test]
fn the_sample_s_clock_stands_at_eleven_in_the_morning_on_a_thursday() {
    let there = (options(Path::new("anywhere")).now)().to_zoned(TimeZone::get(ZONE).expect("a zone"));
    assert_eq!(there.to_string(), "2026-01-15T11:00:00+01:00[Europe/Berlin]");
    assert_eq!(there.weekday(), jiff::civil::Weekday::Thursday);
}

#[test]
fn a_written_sample_is_whole_and_stays_as_it_is_when_written_again() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("below/sample");
    write(&folder).expect("laid down");
    for path in paths() {
        let file = folder.join(&path);
        match path.ends_with(KEEP) {
            true => assert!(!file.exists() && file.parent().expect("a folder").is_dir(), "{path}"),
            false => assert_eq!(fs::read(&file).expect("a file"), content(&path), "{path}"),
        }
    }
    let draft = folder.join("mail/.Drafts/cur/mine:2,D");
    fs::write(&draft, "mine").expect("a draft");
    write(&folder).expect("there already");
    assert_eq!(fs::read_to_string(&draft).expect("still there"), "mine");
    let beside = fs::read_dir(place.path().join("below")).expect("a folder").count();
    assert_eq!(beside, 1, "nothing is left beside it");
}

#[test]
fn a_folder_of_something_else_is_never_written_into() {
    let place = tempfile::tempdir().expect("a temporary folder");
    fs::write(place.path().join("letter"), "mine").expect("a file");
    let refused = write(place.path()).expect_err("it holds something else").to_string();
    assert!(refused.ends_with("name an empty folder"), "{refused}");
    fs::write(place.path().join(MARK), "0").expect("a file");
    let refused = write(place.path()).expect_err("it is of another version").to_string();
    assert!(refused.contains("another version"), "{refused}");
    assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 2);
}

#[test]
fn a_note_is_as_old_as_it_says() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("sample");
    write(&folder).expect("laid down");
    let modified = |path: &str| fs::metadata(folder.join(path)).and_then(|file| file.modified()).expect("a file");
    let date: Timestamp = "2025-02-11T12:00:00Z".parse().expect("a time");
    assert_eq!(modified("para/Resources/Recipes/Lentil soup.md"), instant(date));
    assert_eq!(modified("decisions.jsonl"), instant(now()));
}
