//! Drafts in real mailboxes, as other programs would find them.

use std::fs;

use serde_json::json;

use crate::mail::tests::{TestHousehold, mail_text};

const SARAH: &str = "Sarah Chen <sarah@globex.example>";
const TODAY: &str = "Thu, 15 Jan 2026 09:30:00 +0100";

fn sent(id: &str, to: &str, text: &str) -> (String, String) {
    let message = format!(
        "From: Alex Morgan <alex@morgan.example>\nTo: {to}\nSubject: Hello\nDate: Thu, 08 Jan 2026 10:00:00 +0100\n\
         Message-ID: <{id}@morgan.example>\n\n{text}\n"
    );
    (format!("mail/.Sent/cur/{id}:2,S"), message)
}

fn fixture() -> TestHousehold {
    let ask = "Message-ID: <q@globex.example>\nReferences: <p@globex.example>\n";
    let invite = "MIME-Version: 1.0\nContent-Type: text/calendar; method=REQUEST\n";
    let event = "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nSUMMARY:Review\nDTSTART:20260120T090000Z\nDTEND:20260120T093000Z\nEND:VEVENT\nEND:VCALENDAR";
    let fixture = TestHousehold::with(&[
        (
            "mail/new/q",
            &mail_text(SARAH, "The contract", TODAY, ask, "Could you have a look at the contract? When can we meet?"),
        ),
        (
            "mail/new/k",
            &mail_text(
                "Jürgen Keller <keller@lager.example>",
                "Angebot",
                TODAY,
                "",
                "Können Sie mir bitte das Angebot schicken?",
            ),
        ),
        ("mail/new/i", &mail_text(SARAH, "Review", TODAY, invite, event)),
        (
            "mail/new/stranger",
            &mail_text(
                "Kim Park <kim@elsewhere.example>",
                "Question",
                TODAY,
                "",
                "Could you tell me about your rates?",
            ),
        ),
        (
            "contacts/all.vcf",
            "BEGIN:VCARD\nFN:Sarah Chen\nEMAIL:sarah@globex.example\nEND:VCARD\nBEGIN:VCARD\nFN:Sarah Stone\nEMAIL:stone@x.example\nEND:VCARD\n",
        ),
    ]);
    for (at, text) in [
        "Hi Sarah,\n\nthat is fine with me, thank you for the plan.\n\nBest, Alex",
        "Hi Sarah,\n\nyes, I can do that for you.\n\nBest, Alex\n\n> could you?",
    ]
    .iter()
    .enumerate()
    {
        let (path, message) = sent(&format!("s{at}"), SARAH, text);
        fixture.put(&path, &message);
    }
    let (path, message) = sent(
        "k0",
        "Jürgen Keller <keller@lager.example>",
        "Guten Tag Herr Keller,\n\nich schicke Ihnen die Unterlagen bis morgen.\n\nViele Grüße\nAlex Morgan",
    );
    fixture.put(&path, &message);
    fixture
}

#[test]
fn an_answer_is_in_the_owners_manner_and_lies_where_mail_programs_look() {
    let fixture = fixture();
    let draft = fixture.call("draft_create", &json!({
        "reply_to": "q", "act": "propose_times",
        "slots": [{ "start": "2026-01-16T10:00", "end": "2026-01-16T10:30" }, { "start": "2026-01-19T14:00:00+01:00" }],
    }));
    assert_eq!(draft["draftId"], "draft_20260115_1");
    assert_eq!((&draft["to"], &draft["subject"]), (&json!([SARAH]), &json!("Re: The contract")));
    let body = "Hi Sarah,\n\nWould one of these times suit you?\n\n- Friday, 16 January, 10:00–10:30\n- Monday, 19 January, 14:00\n\nBest, Alex";
    assert_eq!(draft["body"], body);
    assert_eq!((&draft["placeholders"], &draft["tone"]), (&json!([]), &json!("friendly, short")));
    assert_eq!(draft["basedOn"][0], "q");
    assert_eq!(draft["basedOn"].as_array().map(Vec::len), Some(3));
    let file =
        fs::read_to_string(fixture.folder.path().join("mail/.Drafts/cur/draft_20260115_1:2,DS")).expect("a draft");
    for header in [
        "From: Alex Morgan <alex@morgan.example>\n",
        "To: Sarah Chen <sarah@globex.example>\n",
        "In-Reply-To: <q@globex.example>\n",
        "References: <p@globex.example> <q@globex.example>\n",
        "Message-ID: <draft_20260115_1@morgan.example>\n",
        "X-Unsent: 1\n",
        "Date: Thu, 15 Jan 2026 11:00:00 +0100\n",
        "Content-Transfer-Encoding: quoted-printable\n",
    ] {
        assert!(file.contains(header), "{header} in\n{file}");
    }
    assert_eq!(fs::read_dir(fixture.folder.path().join("mail/.Drafts/tmp")).expect("a folder").count(), 0);
    let read = fixture.call("draft_show", &json!({ "id": "draft_20260115_1" }));
    assert_eq!((&read["body"], &read["inReplyTo"]), (&json!(body), &json!("q@globex.example")));
    assert_eq!(fixture.call("mail_list", &json!({ "folder": "drafts" }))["total"], 1);
}

#[test]
fn an_answer_is_in_the_language_of_the_conversation() {
    let fixture = fixture();
    let german = fixture.call("draft_create", &json!({ "reply_to": "k", "act": "acknowledge" }));
    assert_eq!(
        german["body"],
        "Guten Tag Herr Keller,\n\nvielen Dank, es ist angekommen. Ich melde mich bis [[Datum?]].\n\nViele Grüße\nAlex Morgan"
    );
    assert_eq!((&german["placeholders"], &german["tone"]), (&json!(["[[Datum?]]"]), &json!("polite, short")));
    let french = fixture.call("draft_create", &json!({ "reply_to": "q", "act": "decline", "language": "fr" }));
    assert!(
        french["body"].as_str().expect("a body").starts_with("Bonjour Sarah,\n\nMerci pour la proposition."),
        "{french}"
    );
    let accepted = fixture.call("draft_create", &json!({ "reply_to": "i", "act": "accept" }));
    assert!(
        accepted["body"].as_str().expect("a body").contains("Tuesday, 20 January, 10:00–10:30 works for me"),
        "{accepted}"
    );
}

#[test]
fn what_nobody_said_stays_open() {
    let fixture = fixture();
    let open = |arguments: serde_json::Value| {
        let draft = fixture.call("draft_create", &arguments);
        draft["placeholders"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|open| open.as_str().expect("text").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(open(json!({ "reply_to": "q", "act": "ask" })), ["[[question?]]"]);
    assert_eq!(open(json!({ "reply_to": "q", "act": "propose_times" })), ["[[date and time?]]"]);
    assert_eq!(open(json!({})), ["[[subject?]]", "[[message?]]", "[[recipient?]]"]);
    assert_eq!(
        open(json!({ "to": ["Nobody Known"], "subject": "x", "points": ["Hello there."] })),
        ["[[address of Nobody Known?]]"]
    );
    assert_eq!(
        open(json!({ "to": "Sarah Chen", "subject": "x", "body": "See you on [[day?]], [[day?]]." })),
        ["[[day?]]"]
    );
    let said = fixture.refused("draft_create", &json!({ "to": ["Sarah"], "subject": "x", "points": ["y"] }));
    assert!(said.contains("Sarah Chen <sarah@globex.example> or Sarah Stone"), "{said}");
}

#[test]
fn a_stranger_is_greeted_by_name_and_a_mail_is_passed_on_whole() {
    let fixture = fixture();
    let told = fixture.call(
        "draft_create",
        &json!({ "reply_to": "stranger", "act": "inform", "points": ["My rate is 100.", "I am free in May."] }),
    );
    assert!(
        told["body"].as_str().expect("a body").contains("Kim,\n\n- My rate is 100.\n- I am free in May.\n\nBest, Alex"),
        "{told}"
    );
    let passed = fixture.call("draft_create", &json!({ "reply_to": "q", "act": "forward", "to": "bo@x.example" }));
    let body = passed["body"].as_str().expect("a body");
    assert_eq!((&passed["to"], &passed["subject"]), (&json!(["bo@x.example"]), &json!("Fwd: The contract")));
    assert!(
        body.starts_with("Hello,\n\nPlease see the mail below.")
            && body.contains("From: Sarah Chen")
            && body.contains("When can we meet?"),
        "{body}"
    );
}

#[test]
fn a_draft_of_ours_can_be_changed_and_nobody_elses() {
    let fixture = fixture();
    fixture.call("draft_create", &json!({ "reply_to": "q", "act": "acknowledge" }));
    let id = "draft_20260115_1";
    let changed = fixture.call(
        "draft_update",
        &json!({ "id": id, "subject": "Über\r\nBcc: spy@evil.test", "body": "Ganz anders – kürzer." }),
    );
    assert_eq!(
        (&changed["subject"], &changed["body"]),
        (&json!("Über Bcc: spy@evil.test"), &json!("Ganz anders – kürzer."))
    );
    assert_eq!(changed["to"], json!([SARAH]));
    let path = fixture.folder.path().join(format!("mail/.Drafts/cur/{id}:2,DS"));
    let file = fs::read_to_string(&path).expect("a draft");
    assert!(!file.contains("\nBcc:") && file.contains("In-Reply-To: <q@globex.example>"), "{file}");
    let shown = fixture.call("draft_show", &json!({ "id": id }));
    assert_eq!((&shown["subject"], &shown["body"]), (&changed["subject"], &changed["body"]));
    fixture.put(
        &format!("mail/.Drafts/cur/{id}:2,DS"),
        "From: alex@morgan.example\nSubject: mine\n\nX-Majordomo-Draft: no\n",
    );
    assert!(fixture.refused("draft_update", &json!({ "id": id, "body": "x" })).contains("another program"));
    assert!(fixture.refused("draft_update", &json!({ "id": "q", "body": "x" })).contains("is no draft"));
    assert!(fixture.refused("draft_show", &json!({ "id": "q" })).contains("is no draft"));
}

#[test]
fn each_draft_has_an_id_of_its_own_and_all_are_listed() {
    let fixture = fixture();
    for number in 1..=3 {
        let draft = fixture.call("draft_create", &json!({ "to": "bo@x.example", "subject": "x", "body": "y" }));
        assert_eq!(draft["draftId"], format!("draft_20260115_{number}"));
    }
    let all = fixture.call("draft_show", &json!({}));
    assert_eq!(all["total"], 3);
    assert_eq!(all["drafts"][0]["to"], json!(["bo@x.example"]));
}

#[test]
fn a_suspicious_mail_is_answered_with_a_warning() {
    let fixture = fixture();
    fixture.put(
        "mail/new/odd",
        &mail_text("Sarah Chen <sarah@gl0bex.example>", "Contract", TODAY, "", "Could you sign the contract?"),
    );
    let draft = fixture.call("draft_create", &json!({ "reply_to": "odd", "act": "acknowledge" }));
    assert!(
        draft["warnings"][0].as_str().is_some_and(|warning| warning.contains("looks like globex.example")),
        "{draft}"
    );
}
