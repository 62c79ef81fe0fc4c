//! Conversations: replies, offers, drafts that change, and what is taken back.

use super::*;

fn note() -> Value {
    json!({ "results": [{ "path": "Projects/Northwind dashboard/Contract.md", "title": "Contract with Northwind", "line": 8, "snippet": "x" }] })
}

fn two_mails() -> Value {
    let mut two = urgent();
    let mut second = two["items"][0].clone();
    second["emailId"] = json!("msg_003");
    second["from"] = json!("Paul Nguyen <paul@brightwave.example>");
    second["subject"] = json!("staging certificate");
    two["items"].as_array_mut().expect("a list").push(second);
    two
}

fn a_draft() -> Value {
    json!({ "draftId": "draft_20260115_1", "to": ["Sarah Chen <s@x.example>"], "subject": "Re", "body": "Hi", "placeholders": [], "tone": "friendly" })
}

#[test]
fn an_offer_is_done_exactly_as_it_was_offered_also_where_a_path_holds_spaces() {
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Find my notes about the contract");
    tells(&stage.gets(&result("navigator", &note(), "One.")), &["Shall I open \"Contract with Northwind\"?"]);
    let (_, input) = called(&stage.says("yes please"));
    let path = "Projects/Northwind dashboard/Contract.md";
    assert_eq!((&input["intent"], &input["relevantEntities"]), (&json!("delegate_search"), &json!([path])));
    let mut navigator = Dialogue::with(NAVIGATOR);
    let task = input["task"].as_str().expect("a task");
    calls(
        &navigator.briefed("navigator", task, &json!({ "relevantEntities": [path] })),
        "notes_read",
        &json!({ "path": path }),
    );
}

#[test]
fn offers_are_choices_for_interfaces_and_what_each_says_does_exactly_that() {
    let scenes: [(&str, &str, Value, usize); 4] = [
        ("Find a slot for a meeting with Anna next week", "scheduler", slots(), 2),
        ("Any urgent mail?", "triage", two_mails(), 1),
        ("Find my notes about the contract", "navigator", note(), 1),
        ("Habe ich dringende Mails bekommen?", "triage", two_mails(), 1),
    ];
    for (question, agent, data, count) in scenes {
        let answered = || {
            let mut stage = Dialogue::with(BUTLER);
            stage.says(question);
            let said = stage.gets(&result(agent, &data, "So."));
            (stage, said)
        };
        let (_, said) = answered();
        assert_eq!(said.offers.len(), count, "{question}: {:?}", said.offers);
        for (at, offer) in said.offers.iter().enumerate() {
            assert!(said.text.contains(&*offer.label), "{question}: the words say it too: {}", said.text);
            let (mut stage, _) = answered();
            let (_, input) = called(&stage.says(&offer.say));
            let entity = input["relevantEntities"][0].as_str().unwrap_or_default().to_owned();
            let wanted = match agent {
                "scheduler" => data["suggestedSlots"][at]["start"].as_str(),
                "triage" => data["items"][0]["emailId"].as_str(),
                _ => data["results"][0]["path"].as_str(),
            };
            assert!(entity.starts_with(wanted.expect("a thing")), "{question}, {}: {input}", offer.say);
        }
    }
    let mut stage = Dialogue::with(BUTLER);
    assert!(stage.says("hello").offers.is_empty());
}

#[test]
fn a_complete_new_question_wins_over_a_reply() {
    for question in [
        "What's on this Friday?",
        "Do I have time for that dentist appointment tomorrow afternoon?",
        "Find my notes about insurance",
        "what did Anna write?",
        "Who is Tom Becker?",
    ] {
        let fresh = called(&Dialogue::with(BUTLER).says(question)).1;
        let mut stage = Dialogue::with(BUTLER);
        stage.says("Find a slot for a meeting with Anna next week");
        stage.gets(&result("scheduler", &slots(), "Two slots."));
        let (_, input) = called(&stage.says(question));
        assert_eq!(input["intent"], fresh["intent"], "{question}");
        assert!(!input["relevantEntities"].to_string().contains("2026-01-2"), "{question}: {input}");
    }
}

#[test]
fn a_reply_is_resolved_by_number_order_name_and_pronoun() {
    for (reply, intent, id) in [
        ("2", "delegate_triage", "msg_003"),
        ("number two please", "delegate_triage", "msg_003"),
        ("open the second one", "delegate_triage", "msg_003"),
        ("the one from Paul", "delegate_triage", "msg_003"),
        ("draft a reply to the first one", "delegate_draft", "msg_urgent_001"),
        ("die zweite", "delegate_triage", "msg_003"),
    ] {
        let mut stage = Dialogue::with(BUTLER);
        stage.says("Any urgent mail?");
        stage.gets(&result("triage", &two_mails(), "Two."));
        let (_, input) = called(&stage.says(reply));
        assert_eq!(input["intent"], intent, "{reply}");
        assert!(input["relevantEntities"].to_string().contains(id), "{reply}: {input}");
    }
}

fn four_mails() -> Value {
    let mut four = urgent();
    let first = four["items"][0].clone();
    for (id, from) in
        [("msg_002", "Office <office@x.example>"), ("msg_003", "Lena <l@x.example>"), ("msg_004", "Paul <p@x.example>")]
    {
        let mut mail = first.clone();
        mail["emailId"] = json!(id);
        mail["from"] = json!(from);
        four["items"].as_array_mut().expect("a list").push(mail);
    }
    four
}

#[test]
fn a_reply_goes_to_the_place_of_the_list_that_it_names_and_else_asks_which_one() {
    let replied = |reply: &str| {
        let mut stage = Dialogue::with(BUTLER);
        stage.says("Any urgent mail?");
        stage.gets(&result("triage", &four_mails(), "Four."));
        stage.says(reply)
    };
    for (reply, id) in [
        ("Antworte auf die vierte, dass es erledigt ist", "msg_004"),
        ("Antworte auf die letzte, dass es erledigt ist", "msg_004"),
        ("Antworte der dritten, dass es erledigt ist", "msg_003"),
        (
            "Antworte der dritten Mail, dass Anna Schmidt morgen um drei mit dem Schlüssel und allen Papieren vorbeikommt",
            "msg_003",
        ),
        ("Beantworte die vierte: mache ich heute", "msg_004"),
        ("Antworte auf die vorletzte, dass es erledigt ist", "msg_003"),
        ("Antworte zur zweiten, dass es erledigt ist", "msg_002"),
        ("Antworte auf die erste, dass es erledigt ist", "msg_urgent_001"),
        ("Réponds au deuxième que c'est fait", "msg_002"),
        ("Réponds au troisième que c'est fait", "msg_003"),
        ("Réponds à la quatrième que c'est fait", "msg_004"),
        ("Réponds au dernier que c'est fait", "msg_004"),
        ("Réponds à l'avant-dernier que c'est fait", "msg_003"),
        ("reply to the fourth", "msg_004"),
        ("reply to the fourth that it is done", "msg_004"),
        ("reply to the last one that it is done", "msg_004"),
        ("reply to the second last that it is done", "msg_003"),
        ("reply to the 4th that it is done", "msg_004"),
        ("reply to 4: done", "msg_004"),
    ] {
        let (_, input) = called(&replied(reply));
        assert_eq!(input["intent"], "delegate_draft", "{reply}: {input}");
        assert!(input["relevantEntities"].to_string().contains(id), "{reply}: {input}");
    }
    for reply in [
        "Antworte auf die siebte, dass es erledigt ist",
        "reply to the ninth that it is done",
        "reply to 9: done",
        "Réponds au sixième que c'est fait",
    ] {
        let said = replied(reply);
        assert!(!said.text.is_empty() && said.offers.len() == 4, "{reply}: {said:?}");
    }
    for reply in ["reply to Zorkmann that it is done", "Antworte auf die von Zorkmann, dass es erledigt ist"] {
        let said = replied(reply);
        let entities: Vec<String> =
            said.calls.iter().map(|(_, input)| input.value()["relevantEntities"].to_string()).collect();
        assert!(entities.iter().all(|entities| !entities.contains("msg_")), "{reply}: {entities:?}");
    }
}

#[test]
fn a_draft_is_changed_and_taken_back_in_the_words_that_follow() {
    let drafting = || {
        let mut stage = Dialogue::with(BUTLER);
        stage.says("Reply to Sarah that I agree");
        stage.gets(&result("communicator", &a_draft(), "Drafted."));
        stage
    };
    for reply in ["make it shorter", "more formal please", "add that I am away on Friday", "kürzer bitte"] {
        let (_, input) = called(&drafting().says(reply));
        assert_eq!((&input["intent"], &input["task"]), (&json!("delegate_draft"), &json!(reply)));
        assert_eq!(input["relevantEntities"], json!(["draft_20260115_1"]), "{reply}");
    }
    for reply in [
        "löschen",
        "supprimer",
        "cancel that",
        "undo",
        "never mind",
        "delete the draft",
        "no",
        "doch nicht",
        "annule ça",
    ] {
        let (_, input) = called(&drafting().says(reply));
        assert_eq!(
            (&input["intent"], &input["task"]),
            (&json!("delegate_draft"), &json!("Discard the draft")),
            "{reply}"
        );
    }
    tells(&drafting().says("send it"), &["sending it stays with you"]);
    let mut communicator = Dialogue::with(&["draft_update", "draft_discard", "draft_create"]);
    let about = json!({ "relevantEntities": ["draft_20260115_1"] });
    calls(
        &communicator.briefed("communicator", "make it shorter", &about),
        "draft_update",
        &json!({ "id": "draft_20260115_1", "edit": "shorter" }),
    );
    let mut communicator = Dialogue::with(&["draft_update", "draft_discard", "draft_create"]);
    calls(
        &communicator.briefed("communicator", "add that I am away on Friday", &about),
        "draft_update",
        &json!({ "id": "draft_20260115_1", "add": ["I am away on Friday."] }),
    );
    let mut communicator = Dialogue::with(&["draft_update", "draft_discard", "draft_create"]);
    calls(
        &communicator.briefed("communicator", "Discard the draft", &about),
        "draft_discard",
        &json!({ "id": "draft_20260115_1" }),
    );
}

#[test]
fn a_proposal_is_taken_back_and_nothing_else_is() {
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Book lunch with Tom tomorrow at 1pm");
    let proposal = json!({
        "eventId": "proposal-0123456789abcdef", "calendar": "Proposals", "title": "Lunch with Tom", "status": "tentative",
        "start": "2026-01-16T13:00:00+01:00", "end": "2026-01-16T13:30:00+01:00", "conflicts": [],
    });
    stage.gets(&result("scheduler", &proposal, "Done."));
    let (_, input) = called(&stage.says("cancel that"));
    assert_eq!(input["relevantEntities"], json!(["proposal-0123456789abcdef"]));
    let withdrawn = json!({ "eventId": "proposal-0123456789abcdef", "withdrawn": true });
    stage.gets(&result("scheduler", &withdrawn, "The proposal is taken out of your calendar again."));
    tells(&stage.says("undo"), &["nothing that I could take back"]);
    tells(&Dialogue::with(BUTLER).says("undo that"), &["nothing that I could take back"]);
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Any urgent mail?");
    stage.gets(&result("triage", &urgent(), "One."));
    tells(&stage.says("no thanks"), &["nothing was changed"]);
}

#[test]
fn a_time_of_day_belongs_to_the_day_that_is_spoken_of() {
    let mut stage = Dialogue::with(BUTLER);
    stage.says("What's on my calendar next Tuesday?");
    let events = json!({ "events": [{ "eventId": "e1", "title": "Standup", "start": "2026-01-20T09:00:00+01:00", "end": "2026-01-20T09:15:00+01:00" }] });
    stage.gets(&result("scheduler", &events, "One event."));
    let (_, input) = called(&stage.says("anything after six?"));
    assert_eq!(input["intent"], "delegate_schedule");
    let mut scheduler = Dialogue::with(SCHEDULER);
    let task = input["task"].as_str().expect("a task");
    let (_, asked) =
        called(&scheduler.briefed("scheduler", task, &json!({ "timeConstraints": input["timeConstraints"] })));
    assert_eq!(asked["from"], "2026-01-20T18:00:00+01:00", "{task}");
}

#[test]
fn a_person_who_was_spoken_of_is_meant_by_a_pronoun() {
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Who is Tom Becker?");
    let tom = json!({ "asked": "Tom Becker", "people": [{ "name": "Tom Becker", "emails": ["t@x.example"], "card": { "phone": "+49 30 1" } }] });
    stage.gets(&result("navigator", &tom, "Tom Becker"));
    for (question, intent, task) in [
        ("what is his number?", "delegate_search", "what is Tom Becker's number?"),
        ("when did I last write to him?", "delegate_triage", "when did I last write to Tom Becker?"),
    ] {
        let (_, input) = called(&stage.says(question));
        assert_eq!((&input["intent"], &input["task"]), (&json!(intent), &json!(task)));
        stage.gets(&result("navigator", &tom, "Tom Becker"));
    }
}

#[test]
fn who_is_told_something_is_the_one_who_was_spoken_of_and_not_whom_it_is_about() {
    let stage = |questions: &[&str]| {
        let mut stage = Dialogue::with(BUTLER);
        let one = json!({ "name": "Tom Becker", "emails": ["t@x.example"], "card": {} });
        let tom = json!({ "asked": "Tom Becker", "people": [one] });
        for question in questions {
            stage.says(question);
            stage.gets(&result("navigator", &tom, "Tom Becker"));
        }
        stage
    };
    let (_, input) = called(&stage(&["Who is Tom Becker?"]).says("Write him that Sarah Chen gets access before noon."));
    assert_eq!(input["task"], json!("Write Tom Becker that Sarah Chen gets access before noon."));
    // "Her" is not the one who was "he".
    let both = ["Who is Tom Becker?", "what is his number?"];
    tells(&stage(&both).says("Write her that I come at one."), &["to whom should I write?"]);
}

#[test]
fn what_is_asked_besides_goes_on_with_the_draft_to_the_same_person() {
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Write Sarah that six is fine");
    stage.gets(&result("communicator", &a_draft(), "Drafted."));
    let (_, input) = called(&stage.says("and ask her for the 45 dollars"));
    assert_eq!(input["relevantEntities"], json!(["draft_20260115_1"]));
    assert_eq!(input["task"], json!("add: I would like to ask for the 45 dollars."));
    let mut stage = Dialogue::with(BUTLER);
    let (_, input) = called(&stage.says("yes to sarah, thursday at ten"));
    assert_eq!(
        (&input["intent"], &input["task"]),
        (&json!("delegate_draft"), &json!("Tell sarah: yes, thursday at ten"))
    );
}

#[test]
fn a_suspicious_mail_is_neither_offered_nor_answered() {
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Is the mail from the bank genuine?");
    let mut bad = urgent();
    bad["items"][0]["category"] = json!("suspicious");
    bad["items"][0]["warnings"] = json!(["links to another host"]);
    bad["id"] = json!("msg_urgent_001");
    let said = stage.gets(&result("triage", &bad, "Do not trust this mail: it is suspicious."));
    tells(&said, &["Do not trust this mail"]);
    assert!(!said.text.contains("Shall I"), "{}", said.text);
    tells(&stage.says("reply to it that I agree"), &["suspicious", "write no answer"]);
}

#[test]
fn german_and_french_are_answered_in_their_language_and_the_engine_is_named_once() {
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Welche E-Mails sind heute dringend?");
    let said = stage.gets(&result("triage", &urgent(), "One."));
    tells(&said, &["Eine Mail ist dringend:", "Soll ich", "engine: rules"]);
    let said = stage.says("danke");
    tells(&said, &["Gern geschehen."]);
    assert!(!said.text.contains("engine"), "{}", said.text);
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Quels courriels sont urgents ?");
    tells(&stage.gets(&result("triage", &urgent(), "One.")), &["Un courriel est urgent :", "Dois-je"]);
}

#[test]
fn a_question_with_two_readings_is_asked_back_and_the_next_message_chooses() {
    let said = "My mother asked me something about a soup yesterday, what was it?";
    let day = json!({ "events": [{ "eventId": "focus@x", "title": "Focus", "start": "2026-01-14T09:00:00+01:00", "end": "2026-01-14T11:00:00+01:00" }] });
    let near = json!({ "words": ["mother", "soup"], "answers": [{ "kind": "note", "path": "Soup.md", "title": "Soup", "line": 3,
        "quote": "Red lentils", "covers": 0.5, "sure": false, "missing": ["mother"] }] });
    let asked = || {
        let mut stage = Dialogue::with(BUTLER);
        let (_, first) = called(&stage.says(said));
        assert_eq!(first["intent"], "delegate_schedule");
        let (_, other) = called(&stage.gets(&result("scheduler", &day, "You have one appointment: Focus")));
        assert_eq!(other["intent"], "delegate_search");
        let asks = stage.gets(&result("navigator", &near, "I do not know that for certain. I did not find: mother."));
        (stage, asks)
    };
    let (_, asks) = asked();
    tells(&asks, &["Do you mean", "1. what is in your calendar (yesterday)?", "2. what your mail", "Red lentils"]);
    assert_eq!(asks.offers.iter().map(|offer| &*offer.say).collect::<Vec<_>>(), ["1", "2"]);
    for (reply, intent) in [("1", "delegate_schedule"), ("2", "delegate_search"), ("the second one", "delegate_search")]
    {
        let (mut stage, _) = asked();
        let (_, input) = called(&stage.says(reply));
        assert_eq!((&input["intent"], &input["task"]), (&json!(intent), &json!(said)), "{reply}");
    }
}

#[test]
fn a_bare_hour_changes_what_was_entered_and_the_next_of_a_series_is_asked_for() {
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Put a run into my calendar for Sunday at nine, one hour");
    let entered = json!({ "eventId": "proposal-1", "title": "Run", "start": "2026-01-18T09:00:00+01:00", "end": "2026-01-18T10:00:00+01:00" });
    stage.gets(&result("scheduler", &entered, "Entered."));
    let (_, input) = called(&stage.says("Oh wait, make it ten instead"));
    assert_eq!(input["relevantEntities"], json!(["proposal-1"]), "it is taken back first");
    let (_, input) =
        called(&stage.gets(&result("scheduler", &json!({ "eventId": "proposal-1", "withdrawn": true }), "Gone.")));
    assert!(input["task"].as_str().is_some_and(|task| task.contains("2026-01-18 at ten")), "{input}");

    let mut stage = Dialogue::with(BUTLER);
    stage.says("When is the next retrospective?");
    let event = json!({ "events": [{ "eventId": "retro@x", "title": "Retrospective", "start": "2026-01-30T15:00:00+01:00", "end": "2026-01-30T16:00:00+01:00" }], "covers": 1.0 });
    stage.gets(&result("scheduler", &event, "In your calendar: Retrospective"));
    let (_, input) = called(&stage.says("and the one after that?"));
    assert!(input["task"].as_str().is_some_and(|task| task.contains("Retrospective\" from 2026-01-31")), "{input}");
}

#[test]
fn the_mail_that_is_spoken_of_is_passed_on_to_the_one_who_is_named() {
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Any urgent mail?");
    stage.gets(&result("triage", &urgent(), "One."));
    let (_, input) = called(&stage.says("forward it to Paul"));
    assert_eq!(input["intent"], "delegate_draft");
    let entities = input["relevantEntities"].as_array().expect("a list");
    assert_eq!(entities.first(), Some(&json!("msg_urgent_001")), "{entities:?}");
}

#[test]
fn a_time_that_is_taken_by_its_hour_is_entered_on_the_day_that_is_spoken_of() {
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Find a slot for a meeting with Anna next week");
    stage.gets(&result("scheduler", &slots(), "Two."));
    let (_, input) = called(&stage.says("take four o'clock"));
    let entities = input["relevantEntities"].to_string();
    assert!(entities.contains("2026-01-20T16:00:00+01:00/2026-01-20T16:30:00+01:00"), "{input}");
}

#[test]
fn only_what_was_written_can_have_been_answered() {
    let mut triage = Dialogue::with(TRIAGE);
    calls(
        &triage.briefed("triage", "Hat Tom auf meine letzte Mail geantwortet?", &json!({})),
        "mail_list",
        &json!({ "folder": "sent", "to": "Tom", "limit": 1 }),
    );
    tells(&triage.gets(&json!({ "mails": [], "total": 0 })), &["Tom"]);
    let mut triage = Dialogue::with(TRIAGE);
    triage.briefed("triage", "Did Tom reply to my last mail?", &json!({}));
    let sent =
        json!({ "mails": [{ "emailId": "s1", "date": "2026-01-12T10:00:00Z", "subject": "Rent", "folder": "sent" }] });
    let (_, input) = called(&triage.gets(&sent));
    assert_eq!(input["since"], "2026-01-12T10:00:00Z");
    tells(&triage.gets(&json!({ "mails": [] })), &["No,", "has not answered yet", "Rent"]);
}

#[test]
fn inflected_words_and_own_days_ask_for_what_they_say() {
    calls(
        &Dialogue::with(TRIAGE).briefed("triage", "Gibt es verdächtige Mails?", &json!({})),
        "mail_triage",
        &json!({ "only": "suspicious" }),
    );
    let scheduler = |task: &str| called(&Dialogue::with(SCHEDULER).briefed("scheduler", task, &json!({}))).1;
    let day = scheduler("summarize my day");
    assert_eq!((&day["from"], &day["to"]), (&json!("2026-01-15T00:00:00+01:00"), &json!("2026-01-16T00:00:00+01:00")));
    assert_eq!(scheduler("Find me a free hour tomorrow")["duration_min"], 60);
    for question in [
        "Was habe ich am 22. Januar vor?",
        "Qu'est-ce que j'ai le 22 janvier ?",
        "est-ce que j'ai quelque chose le 22 janvier ?",
    ] {
        let mut stage = Dialogue::with(BUTLER);
        let (_, input) = called(&stage.says(question));
        assert_eq!(input["intent"], "delegate_schedule", "{question}");
        let event = json!({ "events": [{ "eventId": "e1", "title": "Yoga", "start": "2026-01-22T07:30:00+01:00", "end": "2026-01-22T08:15:00+01:00" }] });
        tells(&stage.gets(&result("scheduler", &event, "Yoga")), &["Yoga"]);
    }
}

fn a_quote(quote: &str, missing: &[&str]) -> Value {
    json!({ "words": ["x"], "answers": [{ "kind": "note", "path": "A.md", "title": "A", "line": 3, "quote": quote, "covers": 0.9,
        "sure": true, "missing": missing }] })
}

#[test]
fn two_questions_in_one_sentence_are_answered_one_after_the_other() {
    let mut stage = Dialogue::with(BUTLER);
    let (_, first) = called(&stage.says("Where is the boiler, and who repairs the washing machine?"));
    assert_eq!(first["task"], "Where is the boiler");
    let (_, second) = called(&stage.gets(&result(
        "navigator",
        &a_quote("The boiler is in the cellar.", &[]),
        "The boiler is in the cellar.",
    )));
    assert_eq!(second["task"], "who repairs the washing machine?");
    let said = stage.gets(&result("navigator", &a_quote("Caron repairs it.", &[]), "Caron repairs it."));
    tells(&said, &["The boiler is in the cellar.\n\nCaron repairs it."]);
    // What is not found is named, and the other is answered all the same.
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Where is the boiler, and who repairs the washing machine?");
    stage.gets(&result("navigator", &a_quote("The boiler is in the cellar.", &[]), "The boiler is in the cellar."));
    let nothing = json!({ "words": ["washing", "machine"], "answers": [] });
    let said = stage.gets(&result("navigator", &nothing, "I do not know."));
    tells(
        &said,
        &[
            "The boiler is in the cellar.",
            "I did not understand this part of your question: \"who repairs the washing machine?\"",
        ],
    );
}

#[test]
fn an_answer_names_the_words_of_the_question_that_it_does_not_rest_on() {
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Where is the red toolbox?");
    let said = stage.gets(&result(
        "navigator",
        &a_quote("The toolbox is in the cellar.", &["red"]),
        "The toolbox is in the cellar.",
    ));
    tells(&said, &["The toolbox is in the cellar.\n\nI did not find: red."]);
    // None of it is named: that is said before what was found.
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Any urgent mails about the swimming pool?");
    let said = stage.gets(&result("triage", &urgent(), "One mail is urgent."));
    assert!(said.text.starts_with("I do not know about \"swimming, pool\""), "{}", said.text);
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Any urgent mails about the contract?");
    let said = stage.gets(&result("triage", &urgent(), "One mail is urgent."));
    assert!(said.text.starts_with("One mail is urgent"), "{}", said.text);
}

#[test]
fn a_question_that_compares_is_answered_with_what_it_would_be_judged_by() {
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Is the first milestone higher than the second?");
    let said =
        stage.gets(&result("navigator", &a_quote("EUR 12,000 and EUR 31,500", &[]), "EUR 12,000 and EUR 31,500"));
    tells(&said, &["I cannot compare by rules; this is what I found for it:", "EUR 31,500"]);
}

#[test]
fn who_is_that_means_the_one_who_was_named_or_asks_whom() {
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Any urgent mail?");
    stage.gets(&result("triage", &urgent(), "One."));
    let (_, input) = called(&stage.says("and who is that?"));
    assert_eq!((&input["intent"], &input["task"]), (&json!("delegate_search"), &json!("Who is Sarah Chen?")));
    let mut stage = Dialogue::with(BUTLER);
    stage.says("Any urgent mail?");
    stage.gets(&result("triage", &two_mails(), "Two."));
    let asks = stage.says("and who is that?");
    tells(&asks, &["Whom do you mean?", "1. Sarah Chen", "2. Paul Nguyen"]);
    let (_, input) = called(&stage.says("2"));
    assert_eq!(input["task"], "Who is Paul Nguyen?");
}
