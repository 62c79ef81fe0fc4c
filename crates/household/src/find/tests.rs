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
    assert!(!found.to_string().contains("msg_007"), "{found}");
    let found = home.call("household_find", &json!({ "question": "zebra giraffe" }));
    assert_eq!(found["answers"], json!([]));
}
