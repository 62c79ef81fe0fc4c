use std::path::Path;

use agent::tools::ToolResult;
use agent::{CallId, Json, ThreadId};
use jiff::tz::TimeZone;
use tempfile::TempDir;
use tool::{ToolContext, Workspace};

use super::*;
use crate::demo;
use crate::household::Options;

/// A household on the day of the demonstration.
struct Home {
    folder: TempDir,
    household: Arc<Household>,
}

impl Home {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (path, events) in files {
            let path = folder.path().join("calendars").join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, format!("BEGIN:VCALENDAR\n{events}END:VCALENDAR\n")).expect("a file");
        }
        let options = Options {
            zone: TimeZone::get("Europe/Berlin").expect("a zone"),
            now: Arc::new(|| "2026-01-15T10:00:00Z".parse().expect("a time")),
            me: vec!["alex@morgan.example".to_owned()],
            ..Options::in_folder(folder.path())
        };
        Self { household: Household::open(options).expect("a household"), folder }
    }

    /// What a tool answers, as it reaches a model.
    async fn result(&self, name: &str, input: Value) -> ToolResult {
        let registry = self.household.tools(Registry::new());
        let tool = registry.get(name).expect("a tool");
        let bench = bench(self.folder.path());
        tool.run(&Json::of(&input), &bench).await
    }

    async fn ask(&self, name: &str, input: Value) -> Value {
        let result = self.result(name, input).await;
        assert!(!result.is_error, "{}", result.content);
        assert_eq!(result.foreign.as_deref(), Some("calendar"));
        serde_json::from_str(&result.content).expect("one JSON object")
    }

    async fn refused(&self, name: &str, input: Value) -> String {
        let result = self.result(name, input).await;
        assert!(result.is_error, "{}", result.content);
        result.content.to_string()
    }
}

fn event(title: &str, lines: &str) -> String {
    format!("BEGIN:VEVENT\nUID:{title}@example.com\nSUMMARY:{title}\n{lines}\nEND:VEVENT\n")
}

fn bench(folder: &Path) -> ToolContext {
    let workspace = Workspace::open(folder).expect("a workspace");
    let thread = ThreadId::new("20260115-abcd");
    ToolContext::new(workspace.into(), thread, CallId::new("tu_1"))
}

fn week() -> Vec<(&'static str, String)> {
    let standup = "DTSTART;TZID=Europe/Berlin:20260105T090000\nDTEND;TZID=Europe/Berlin:20260105T091500\nRRULE:FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR";
    let review = "DTSTART:20260116T090000Z\nDTEND:20260116T100000Z\nLOCATION:Room 2\nATTENDEE;CN=Ana Lopez:mailto:ana@example.com";
    vec![
        ("work.ics", event("Standup", standup) + &event("Review", review)),
        ("home/trip.ics", event("Trip", "DTSTART;VALUE=DATE:20260119\nDTEND;VALUE=DATE:20260121")),
        ("home/maybe.ics", event("Dentist", "STATUS:TENTATIVE\nDTSTART:20260116T130000Z\nDTEND:20260116T140000Z")),
        ("ana@example.com/a.ics", event("Ana's call", "DTSTART:20260116T143000Z\nDTEND:20260116T170000Z")),
    ]
}

fn home() -> Home {
    let week = week();
    Home::with(&week.iter().map(|(path, events)| (*path, events.as_str())).collect::<Vec<_>>())
}

fn all(list: &Value, field: &str) -> Vec<String> {
    list.as_array().expect("a list").iter().map(|one| one[field].as_str().expect(field).to_owned()).collect()
}

#[tokio::test]
async fn events_are_listed_with_the_owner_s_offset_and_without_other_people_s() {
    let home = home();
    let list = home.ask("calendar_list", json!({"from": "2026-01-16", "to": "2026-01-16"})).await;
    assert_eq!(all(&list["events"], "title"), ["Standup", "Review", "Dentist"]);
    assert_eq!(
        list["events"][1],
        json!({"eventId": "Review@example.com", "calendar": "work", "title": "Review", "start": "2026-01-16T10:00:00+01:00",
            "end": "2026-01-16T11:00:00+01:00", "allDay": false, "status": "confirmed", "location": "Room 2",
            "attendees": ["Ana Lopez <ana@example.com>"], "with": ["Ana Lopez"]})
    );
    assert_eq!(list["total"], 3);
    let trip = home.ask("calendar_list", json!({"calendar": "HOME", "from": "2026-01-17"})).await;
    assert_eq!(trip["events"][0]["start"], "2026-01-19T00:00:00+01:00");
    assert_eq!(
        (&trip["events"][0]["end"], &trip["events"][0]["allDay"]),
        (&json!("2026-01-21T00:00:00+01:00"), &json!(true))
    );
    assert_eq!(
        all(&home.ask("calendar_list", json!({"calendar": "ana@example.com"})).await["events"], "title"),
        ["Ana's call"]
    );
}

#[tokio::test]
async fn busy_time_is_joined() {
    let busy = home().ask("calendar_busy", json!({"from": "2026-01-16", "to": "2026-01-16"})).await;
    assert_eq!(
        busy["busy"],
        json!([
            {"start": "2026-01-16T09:00:00+01:00", "end": "2026-01-16T09:15:00+01:00", "titles": ["Standup"]},
            {"start": "2026-01-16T10:00:00+01:00", "end": "2026-01-16T11:00:00+01:00", "titles": ["Review"]},
            {"start": "2026-01-16T14:00:00+01:00", "end": "2026-01-16T15:00:00+01:00", "titles": ["Dentist"], "tentative": true},
        ])
    );
}

// ORION-26
#[tokio::test]
async fn free_times_have_scores_conflicts_and_reasons_and_respect_attendees_whose_calendar_is_here() {
    let home = home();
    let afternoon = json!({"from": "2026-01-16T15:00", "to": "2026-01-16", "duration_min": "30"});
    let alone = home.ask("calendar_free", afternoon.clone()).await;
    assert_eq!(alone["suggestedSlots"][0]["start"], "2026-01-16T15:15:00+01:00");
    assert!(alone["suggestedSlots"][0]["score"].as_f64().is_some_and(|score| (0.0..=1.0).contains(&score)));
    assert_eq!((all(&alone["suggestedSlots"], "why").len(), &alone["conflicts"]), (3, &json!([])));
    let mut with_ana = afternoon;
    with_ana["attendees"] = json!("Ana <ana@example.com>, bob@example.com");
    let both = home.ask("calendar_free", with_ana).await;
    assert_eq!(all(&both["suggestedSlots"], "start"), ["2026-01-16T15:00:00+01:00"]);
    assert_eq!(both["conflicts"][0]["title"], "Ana's call");
    let by_name = json!({"from": "2026-01-16T15:00", "to": "2026-01-16", "attendees": ["Ana"]});
    assert_eq!(home.ask("calendar_free", by_name).await["conflicts"], both["conflicts"]);
    let reasoning = both["reasoning"].as_str().expect("a sentence");
    assert!(
        reasoning.ends_with("There is no calendar of bob@example.com here, so only known ones were looked at."),
        "{reasoning}"
    );
}

#[tokio::test]
async fn a_weekend_has_no_free_times_and_the_next_possible_one_is_told() {
    let free = home().ask("calendar_free", json!({"from": "2026-01-17", "to": "2026-01-20"})).await;
    assert_eq!(free["suggestedSlots"], json!([]));
    assert_eq!(all(&free["conflicts"], "title"), ["Trip", "Standup", "Standup"]);
    assert_eq!(free["nextPossible"]["start"], "2026-01-21T09:30:00+01:00");
}

#[tokio::test]
async fn a_given_time_is_checked() {
    let home = home();
    let free = home.ask("calendar_check", json!({"start": "2026-01-16T11:00", "end": "2026-01-16T12:00"})).await;
    assert_eq!((&free["free"], &free["conflicts"]), (&json!(true), &json!([])));
    let taken =
        home.ask("calendar_check", json!({"start": "2026-01-16T13:30:00Z", "end": "2026-01-16T14:30:00Z"})).await;
    assert_eq!(taken["free"], false);
    let dentist = json!([{"start": "2026-01-16T14:00:00+01:00", "end": "2026-01-16T15:00:00+01:00", "title": "Dentist", "calendar": "home", "tentative": true}]);
    assert_eq!(taken["conflicts"], dentist);
}

#[tokio::test]
async fn a_proposal_is_tentative_in_its_own_calendar_and_changes_no_other() {
    let home = home();
    let before = std::fs::read(home.folder.path().join("calendars/work.ics")).expect("a file");
    let asked = json!({"title": "Contract", "start": "2026-01-16T10:30", "end": "2026-01-16T11:30", "attendees": ["ana@example.com"]});
    let proposed = home.ask("calendar_propose", asked.clone()).await;
    assert_eq!((&proposed["calendar"], &proposed["status"]), (&json!("Proposals"), &json!("tentative")));
    assert_eq!(proposed["start"], "2026-01-16T10:30:00+01:00");
    assert_eq!(all(&proposed["conflicts"], "title"), ["Review"]);
    // Made again, it is the same one, and does not stand in its own way.
    assert_eq!(home.ask("calendar_propose", asked).await, proposed);
    let list = home.ask("calendar_list", json!({"calendar": "proposals", "from": "2026-01-16"})).await;
    assert_eq!(
        (all(&list["events"], "title"), all(&list["events"], "eventId")),
        (vec!["Contract".to_owned()], vec![proposed["eventId"].as_str().expect("an id").to_owned()])
    );
    assert_eq!(std::fs::read(home.folder.path().join("calendars/work.ics")).expect("a file"), before);
}

#[tokio::test]
async fn what_cannot_be_served_is_answered_with_what_to_do() {
    let home = home();
    let propose = |start: &str, end: &str, title: &str| json!({"title": title, "start": start, "end": end});
    for (name, input, part) in [
        (
            "calendar_list",
            json!({"calendar": "golf"}),
            "there is no calendar “golf”; there are: ana@example.com, home, work",
        ),
        ("calendar_list", json!({"from": "tomorrow"}), "`tomorrow` cannot be read as a time"),
        ("calendar_busy", json!({"from": "2026-01-16", "to": "2026-01-15T10:00"}), "the end must come after the start"),
        ("calendar_busy", json!({"from": "2026-01-16", "to": "2036-01-15"}), "at most a year"),
        ("calendar_check", json!({"start": "9999-12-30T10:00", "end": "9999-12-30T11:00"}), "from 1900 to 2200"),
        ("calendar_busy", json!({"from": "", "to": ""}), "write a time as 2026-01-15T14:30"),
        ("calendar_free", json!({"duration_min": 0}), "between 1 and 1440"),
        ("calendar_free", json!({"part_of_day": "teatime"}), "Call it like this: calendar_free"),
        (
            "calendar_propose",
            propose("2026-01-15T10:00", "2026-01-15T10:30", "x"),
            "that time is over (it is 2026-01-15T11:00:00+01:00)",
        ),
        ("calendar_propose", propose("2026-01-16T10:00", "2026-01-16T10:30", "  "), "needs a `title`"),
    ] {
        let said = home.refused(name, input).await;
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(!home.folder.path().join("calendars/Proposals").exists());
    let none = Household::open(Options {
        now: Arc::new(|| "2026-01-15T10:00:00Z".parse().expect("a time")),
        ..Options::default()
    });
    let homeless = Home { household: none.expect("a household"), ..Home::with(&[]) };
    assert!(
        homeless
            .refused("calendar_propose", propose("2026-01-16T10:00", "2026-01-16T10:30", "x"))
            .await
            .contains("no folder of calendars")
    );
    assert_eq!(homeless.ask("calendar_list", json!({})).await, json!({"events": [], "total": 0}));
}

#[tokio::test]
async fn broken_files_are_told_with_every_answer() {
    let home = Home::with(&[
        ("work/good.ics", &event("Good", "DTSTART:20260116T090000Z")),
        ("work/bad.ics", &event("Bad", "DTSTART:never")),
    ]);
    let list = home.ask("calendar_list", json!({})).await;
    assert_eq!(all(&list["events"], "title"), ["Good"]);
    assert_eq!(list["warnings"], json!(["work/bad.ics: “Bad” is left out, it does not say when it begins"]));
}

// ORION-26
#[tokio::test]
async fn the_sample_household_has_the_seed_s_conflict_and_no_broken_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = folder.path().join("sample");
    demo::write(&place).expect("a sample household");
    let home = Home { household: Household::open(demo::options(&place)).expect("a household"), folder };
    let year = home.ask("calendar_list", json!({"from": "2026-01-01", "to": "2026-12-31"})).await;
    assert!(year["total"].as_u64().is_some_and(|total| total > 100) && year.get("warnings").is_none(), "{year}");
    let saturday =
        home.ask("calendar_free", json!({"from": "2026-01-17", "to": "2026-01-17", "duration_min": 60})).await;
    assert_eq!(saturday["suggestedSlots"], json!([]));
    assert!(all(&saturday["conflicts"], "title").contains(&"Team Standup".to_owned()), "{saturday}");
    assert!(
        saturday["nextPossible"]["start"].as_str().is_some_and(|start| start.starts_with("2026-01-19")),
        "{saturday}"
    );
}
