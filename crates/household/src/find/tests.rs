use serde_json::json;

use crate::mail::tests::TestHousehold;

#[test]
fn a_question_is_answered_with_the_sentence_that_answers_it() {
    let home = TestHousehold::sample();
    let best = |question: &str| {
        let found = home.call("household_find", &json!({ "question": question }));
        let answer = &found["answers"][0];
        let place = ["path", "emailId", "title", "name"].iter().find_map(|key| answer[key].as_str());
        format!("{} | {}", answer["quote"].as_str().unwrap_or(""), place.unwrap_or(""))
    };
    for (question, quote) in [
        ("What is Lena's ring size?", "Ring size 54. | Areas/People/Lena.md"),
        ("when is the concert?", "Emmauskirche"),
        ("what do I owe Emma?", "320 pounds"),
        ("what did I agree with Northwind about liability", "Liability capped at the annual fee"),
        ("what's my day rate at weekends", "1,100 for rescue work at weekends"),
        ("phone number of my landlord", "030 23125 987"),
        ("Wann ist Lenas Geburtstag?", "22"),
        ("how big is the billing database?", "640 GB"),
        ("who has a key to my flat?", "Frau Petrović on the second floor has a key."),
        ("how long is the notice period of the flat", "Kündigungsfrist drei Monate."),
    ] {
        assert!(best(question).contains(quote), "{question}: {}", best(question));
    }
}

#[test]
fn a_suspicious_mail_is_never_quoted_and_what_is_nowhere_is_said() {
    let home = TestHousehold::sample();
    let found = home.call("household_find", &json!({ "question": "which password and PIN does the Havelbank want" }));
    assert!(!found["answers"].to_string().contains("msg_007"), "{found}");
    let named = &found["suspicious"][0];
    assert_eq!((&named["emailId"], &named["quote"]), (&json!("msg_007"), &json!(null)), "{found}");
    let found = home.call("household_find", &json!({ "question": "zebra giraffe" }));
    assert_eq!(found["answers"], json!([]));
}

#[test]
fn a_question_about_something_is_looked_for_in_it_alone() {
    let home = TestHousehold::sample();
    let about = json!(["msg_urgent_001", "Areas/People/Lena.md", "choir@morgan.example"]);
    let places = |question: &str| -> Vec<String> {
        let found = home.call("household_find", &json!({ "question": question, "about": about }));
        let place = |answer: &serde_json::Value| {
            ["path", "emailId", "eventId"].iter().find_map(|key| answer[key].as_str()).expect("a place").to_owned()
        };
        found["answers"].as_array().expect("a list").iter().map(place).collect()
    };
    assert_eq!(places("which ring size?")[0], "Areas/People/Lena.md");
    assert_eq!(places("where is the Probe?")[0], "choir@morgan.example");
    assert_eq!(places("who is on the board?")[0], "msg_urgent_001");
    assert_eq!(places("zebra"), Vec::<String>::new());
}

/// Whether the best passage for a question surely answers it.
fn is_sure(home: &TestHousehold, question: &str) -> bool {
    let found = home.call("household_find", &json!({ "question": question }));
    found["answers"].as_array().expect("a list").iter().any(|answer| answer["sure"] == true)
}

#[test]
fn a_question_for_a_kind_of_thing_is_answered_only_with_such_a_thing() {
    let home = TestHousehold::sample();
    for question in [
        "What's my passport number?",
        "How much is my rent?",
        "How old is Aunt Rose?",
        "What size shoes does Lena wear?",
        "Who comes along to Vienna?",
        "phone number of Ben",
        "netflix password",
    ] {
        assert!(!is_sure(&home, question), "{question}");
    }
    for question in [
        "which policy number has my liability insurance?",
        "what is my day rate?",
        "how old is Mum?",
        "What is Lena's ring size?",
        "train booking code Vienna",
    ] {
        assert!(is_sure(&home, question), "{question}");
    }
}

#[test]
fn who_owes_is_told_from_who_is_owed() {
    let home = TestHousehold::sample();
    assert!(is_sure(&home, "what do I owe Emma?") && !is_sure(&home, "what does Emma owe me?"));
}
