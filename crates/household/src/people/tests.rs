use serde_json::json;

use crate::mail::tests::TestHousehold;

#[test]
fn a_person_is_found_by_name_relation_sender_and_note() {
    let home = TestHousehold::sample();
    let name = |said: &str| {
        let found = home.call("people_about", &json!({ "person": said }));
        let people = found["people"].as_array().expect("people").iter();
        people.map(|one| one["name"].as_str().unwrap_or("").to_owned()).collect::<Vec<_>>().join(", ")
    };
    for (said, who) in [
        ("Sarah", "Sarah Chen"),
        ("mum", "Helen Morgan"),
        ("my sister", "Emma Morgan"),
        ("meine Steuerberaterin", "Ines Hoffmann"),
        ("my landlord", "Hausverwaltung Lindner"),
        ("the dentist", "Praxis Dr. Aydin"),
        ("Ben", "Ben Ortiz"),
        ("paul@brightwave.example", "Paul Nguyen"),
        ("Sarha", "Sarah Chen"),
        ("Zebulon", ""),
    ] {
        assert_eq!(name(said), who, "{said}");
    }
    assert_eq!(name("Morgan"), "Emma Morgan, Helen Morgan");
}

#[test]
fn what_is_known_about_a_person_is_gathered_from_everywhere() {
    let home = TestHousehold::sample();
    let emma = home.call("people_about", &json!({ "person": "Emma" }));
    assert_eq!(emma["people"][0]["card"]["phone"], "+44 131 496 0456");
    assert_eq!(emma["received"]["last"]["emailId"], "msg_035");
    assert_eq!(emma["sent"]["last"]["emailId"], "sent_082");
    let promises = emma["promises"].to_string();
    assert!(promises.contains("You owe me 320 pounds"), "{promises}");
    let mum = home.call("people_about", &json!({ "person": "Mum" }));
    assert_eq!(mum["people"][0]["card"]["birthday"], "1961-06-13");
    assert_eq!(mum["nextMeetings"][0]["title"], "Call with Mum");
    assert_eq!(mum["unanswered"][0]["emailId"], "msg_036");
    assert!(mum["notes"].to_string().contains("Mum asks for"), "{}", mum["notes"]);
}
