//! Real mailboxes in temporary folders, with everything that strangers put into them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use agent::{CallId, Json, ThreadId};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::{Value, json};
use tool::{Registry, ToolContext, Workspace};

use super::mailbox::Filter;
use super::message::MailMessage;
use crate::household::{Household, Options};

/// A household in a temporary folder, at a fixed hour.
pub(crate) struct TestHousehold {
    pub folder: tempfile::TempDir,
    registry: Registry,
    bench: ToolContext,
}

impl TestHousehold {
    /// A household whose mailbox holds these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["mail/cur", "mail/new", "mail/tmp"] {
            fs::create_dir_all(folder.path().join(name)).expect("a Maildir");
        }
        for (path, text) in files {
            put(&folder.path().join(path), text.as_bytes());
        }
        Self::over(folder)
    }

    /// A household over what lies in a folder.
    pub fn over(folder: tempfile::TempDir) -> Self {
        let household = household(folder.path());
        Self::of(folder, &household)
    }

    /// The sample household.
    pub fn sample() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        crate::demo::write(&folder.path().join("sample")).expect("the sample household");
        let household = Household::open(crate::demo::options(&folder.path().join("sample"))).expect("a household");
        Self::of(folder, &household)
    }

    fn of(folder: tempfile::TempDir, household: &Arc<Household>) -> Self {
        let workspace = Workspace::open(folder.path()).expect("a workspace");
        let bench = ToolContext::new(Arc::new(workspace), ThreadId::new("20260115-k3f9"), CallId::new("tu_1"));
        let registry = household.tools(Registry::new());
        Self { folder, registry, bench }
    }

    /// What a tool answers.
    pub fn call(&self, tool: &str, arguments: &Value) -> Value {
        let (said, is_error) = self.said(tool, arguments);
        assert!(!is_error, "{said}");
        serde_json::from_str(&said).expect("an answer is one JSON object")
    }

    /// The sentence with which a tool refuses.
    pub fn refused(&self, tool: &str, arguments: &Value) -> String {
        let (said, is_error) = self.said(tool, arguments);
        assert!(is_error, "{said}");
        said
    }

    fn said(&self, tool: &str, arguments: &Value) -> (String, bool) {
        let input = Json::parse(&arguments.to_string()).expect("arguments are JSON");
        let tool = self.registry.get(tool).expect("the household has the tool");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let result = runtime.block_on(tool.run(&input, &self.bench));
        (result.content.to_string(), result.is_error)
    }

    pub fn put(&self, path: &str, text: &str) {
        put(&self.folder.path().join(path), text.as_bytes());
    }

    fn ids(&self, arguments: &Value) -> Vec<String> {
        let answer = self.call("mail_list", arguments);
        let mails = answer["mails"].as_array().expect("mails");
        mails.iter().map(|mail| mail["emailId"].as_str().expect("an id").to_owned()).collect()
    }
}

fn household(folder: &Path) -> Arc<Household> {
    let now: Timestamp = "2026-01-15T10:00:00Z".parse().expect("a time");
    let options = Options {
        index: Some(folder.join("own/household.db")),
        me: vec!["alex@morgan.example".into()],
        zone: TimeZone::get("Europe/Berlin").expect("a zone"),
        now: Arc::new(move || now),
        ..Options::in_folder(folder)
    };
    Household::open(options).expect("a household")
}

fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, bytes).expect("a file");
}

/// A plain mail to the owner.
pub(crate) fn mail_text(from: &str, subject: &str, date: &str, more: &str, body: &str) -> String {
    format!("From: {from}\nTo: Alex Morgan <alex@morgan.example>\nSubject: {subject}\nDate: {date}\n{more}\n{body}\n")
}

const SARAH: &str = "Sarah Chen <sarah@globex.example>";
const MONDAY: &str = "Mon, 12 Jan 2026 09:00:00 +0100";
const TUESDAY: &str = "Tue, 13 Jan 2026 09:00:00 +0100";

fn small() -> TestHousehold {
    let first = mail_text(SARAH, "Contract", MONDAY, "Message-ID: <1@globex.example>\n", "The first draft is ready.");
    let answer = "From: Alex <alex@morgan.example>\nTo: sarah@globex.example\nSubject: Re: Contract\nDate: Mon, 12 Jan 2026 10:00:00 \
        +0100\nMessage-ID: <2@morgan.example>\nIn-Reply-To: <1@globex.example>\n\nThank you!\n";
    let second = mail_text(
        SARAH,
        "Re: Contract",
        TUESDAY,
        "Message-ID: <3@globex.example>\nReferences: <1@globex.example> <2@morgan.example>\n",
        "A second clause is in it. Grüße",
    );
    let early = "Tue, 13 Jan 2026 08:00:00 +0100";
    let other = mail_text("Jörg <joerg@old.example>", "=?utf-8?q?Caf=C3=A9?=", early, "", "Coffee at nine?");
    TestHousehold::with(&[
        ("mail/cur/one:2,RS", &first),
        ("mail/new/three", &second),
        ("mail/.Sent/cur/two:2,S", answer),
        ("mail/.Work.Clients/cur/other:2,F", &other),
    ])
}

#[test]
fn a_maildir_with_its_folders_and_flags_is_listed() {
    let fixture = small();
    assert_eq!(fixture.ids(&json!({})), ["three", "one"]);
    assert_eq!(fixture.ids(&json!({ "folder": "Sent" })), ["two"]);
    assert_eq!(fixture.ids(&json!({ "folder": "work/clients" })), ["other"]);
    assert_eq!(fixture.ids(&json!({ "folder": "all" })), ["three", "other", "two", "one"]);
    assert_eq!(fixture.ids(&json!({ "unread": true })), ["three"]);
    assert_eq!(fixture.ids(&json!({ "unread": false })), ["one"]);
    assert_eq!(fixture.ids(&json!({ "since": "2026-01-13" })), ["three"]);
    assert_eq!(fixture.ids(&json!({ "until": "2026-01-12" })), ["one"]);
    assert_eq!(fixture.ids(&json!({ "folder": "all", "from": "jorg" })), ["other"]);
    assert_eq!(fixture.ids(&json!({ "folder": "all", "from": "Sarah <sarah@globex" })), ["three", "one"]);
    let one = &fixture.call("mail_list", &json!({ "limit": 1 }));
    assert_eq!(one["total"], 2);
    let shown = json!({
        "emailId": "three", "threadId": "one", "from": SARAH, "to": ["Alex Morgan <alex@morgan.example>"],
        "subject": "Re: Contract", "date": "2026-01-13T09:00:00+01:00", "unread": true, "flagged": false, "folder": "inbox",
        "preview": "A second clause is in it. Grüße", "answered": false, "gist": "A second clause is in it.",
    });
    assert_eq!(one["mails"], json!([shown]));
}

#[test]
fn words_are_found_without_accents_and_by_their_beginnings() {
    let fixture = small();
    assert_eq!(fixture.ids(&json!({ "query": "grusse" })), ["three"]);
    assert_eq!(fixture.ids(&json!({ "query": "contr dra" })), ["one"]);
    assert_eq!(fixture.ids(&json!({ "query": "cafe", "folder": "all" })), ["other"]);
    assert_eq!(fixture.ids(&json!({ "query": "sarah@globex.example" })), ["three", "one"]);
    // No mail has both, so that those with either are shown.
    assert_eq!(fixture.ids(&json!({ "query": "clause draft" })), ["three", "one"]);
    assert_eq!(fixture.ids(&json!({ "query": "nothing" })), Vec::<String>::new());
    for query in ["\"", "*", "a AND", "(", "NEAR(", "who:", "-", "^x"] {
        fixture.call("mail_list", &json!({ "query": query }));
    }
}

#[test]
fn a_thread_holds_its_mails_with_the_owners_own() {
    let fixture = small();
    let thread = fixture.call("mail_thread", &json!({ "id": "three" }));
    let ids: Vec<_> = thread["mails"].as_array().expect("mails").iter().map(|mail| &mail["emailId"]).collect();
    assert_eq!(ids, ["one", "two", "three"]);
    assert_eq!((&thread["threadId"], &thread["subject"]), (&json!("one"), &json!("Contract")));
}

#[test]
fn threads_that_a_late_mail_joins_become_one_and_a_bare_answer_finds_its_subject() {
    let fixture = TestHousehold::with(&[
        ("mail/cur/a:2,", &mail_text(SARAH, "Plan", MONDAY, "Message-ID: <a@x.example>\n", "a")),
        (
            "mail/cur/c:2,",
            &mail_text(SARAH, "Re: Plan", TUESDAY, "Message-ID: <c@x.example>\nIn-Reply-To: <b@x.example>\n", "c"),
        ),
        ("mail/cur/d:2,", &mail_text(SARAH, "AW: plan", TUESDAY, "", "d")),
        ("mail/cur/e:2,", &mail_text(SARAH, "Plan", TUESDAY, "Message-ID: <e@x.example>\n", "another plan")),
    ]);
    let size = |id: &str| fixture.call("mail_thread", &json!({ "id": id }))["mails"].as_array().map(Vec::len);
    assert_eq!(size("a"), Some(1));
    let between = mail_text(SARAH, "Re: Plan", MONDAY, "Message-ID: <b@x.example>\nReferences: <a@x.example>\n", "b");
    fixture.put("mail/new/b", &between);
    assert_eq!(size("c"), Some(4), "a, b, c, and d that only shares the subject");
    assert_eq!(size("e"), Some(1));
}

#[test]
fn a_mail_is_called_by_its_id_or_a_beginning_that_only_it_has() {
    let fixture = TestHousehold::with(&[
        ("mail/new/msg_1", &mail_text(SARAH, "a", MONDAY, "", "a")),
        ("mail/new/msg_10", &mail_text(SARAH, "b", MONDAY, "", "b")),
        ("mail/new/other", &mail_text(SARAH, "c", MONDAY, "", "c")),
    ]);
    assert_eq!(fixture.call("mail_read", &json!({ "id": "msg_1" }))["emailId"], "msg_1");
    assert_eq!(fixture.call("mail_read", &json!({ "id": "oth" }))["emailId"], "other");
    assert!(fixture.refused("mail_read", &json!({ "id": "msg" })).contains("say more of it"));
    assert!(fixture.refused("mail_read", &json!({ "id": "nobody" })).contains("mail_list"));
    assert!(fixture.refused("mail_read", &json!({ "id": "" })).contains("mail_list"));
    assert!(fixture.refused("mail_read", &json!({ "id": "%" })).contains("there is no mail"));
}

#[test]
fn what_comes_goes_moves_and_changes_its_flags_is_followed() {
    let fixture = small();
    assert_eq!(fixture.ids(&json!({})), ["three", "one"]);
    let mail = fixture.folder.path().join("mail");
    fs::rename(mail.join("new/three"), mail.join("cur/three:2,FS")).expect("read by another program");
    let shown = fixture.call("mail_list", &json!({}));
    assert_eq!((&shown["mails"][0]["unread"], &shown["mails"][0]["flagged"]), (&json!(false), &json!(true)));
    fs::create_dir_all(mail.join(".Archive/cur")).expect("a folder");
    fs::rename(mail.join("cur/three:2,FS"), mail.join(".Archive/cur/three:2,FS")).expect("moved by another program");
    assert_eq!(fixture.ids(&json!({})), ["one"]);
    assert_eq!(fixture.ids(&json!({ "folder": "archive" })), ["three"]);
    assert_eq!(fixture.ids(&json!({ "folder": "all", "query": "clause" })), ["three"]);
    fs::remove_file(mail.join("cur/one:2,RS")).expect("deleted by another program");
    fs::remove_dir_all(mail.join(".Archive")).expect("a folder deleted by another program");
    assert_eq!(fixture.ids(&json!({ "folder": "all" })), ["other", "two"]);
    assert_eq!(fixture.ids(&json!({ "folder": "all", "query": "clause" })), Vec::<String>::new());
    fs::remove_dir_all(&mail).expect("the mailbox is gone");
    assert_eq!(fixture.ids(&json!({ "folder": "all" })), Vec::<String>::new());
}

#[test]
fn files_are_mails_too_and_are_read_again_when_they_change() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let marked = mail_text(SARAH, "Contract", MONDAY, "Status: RO\nX-Status: AF\n", "one");
    put(&folder.path().join("mail/msg_001.eml"), marked.as_bytes());
    put(
        &folder.path().join("mail/sent/reply.EML"),
        b"From: alex@morgan.example\nTo: bo@x.example\nSubject: Hello\n\nhi",
    );
    put(&folder.path().join("mail/notes.txt"), b"no letter");
    let fixture = TestHousehold::over(folder);
    assert_eq!(fixture.ids(&json!({})), ["msg_001"]);
    assert_eq!(fixture.ids(&json!({ "folder": "sent" })), ["reply"]);
    let shown = fixture.call("mail_list", &json!({}));
    assert_eq!((&shown["mails"][0]["unread"], &shown["mails"][0]["flagged"]), (&json!(false), &json!(true)));
    fixture.put("mail/msg_001.eml", &mail_text(SARAH, "Contract, longer", MONDAY, "", "another text"));
    assert_eq!(fixture.ids(&json!({ "query": "another" })), ["msg_001"]);
    assert_eq!(fixture.ids(&json!({ "query": "one" })), Vec::<String>::new());
    assert!(
        fixture.refused("mail_flag", &json!({ "id": "msg_001", "flag": "seen" })).contains("only mail in a Maildir")
    );
}

#[test]
fn flags_are_written_as_other_programs_expect_them() {
    let fixture = small();
    let mail = fixture.folder.path().join("mail");
    let marked = fixture.call("mail_flag", &json!({ "id": "three", "flag": "seen" }));
    assert_eq!(
        marked,
        json!({ "emailId": "three", "subject": "Re: Contract", "seen": true, "flagged": false, "answered": false })
    );
    assert!(mail.join("cur/three:2,S").exists() && !mail.join("new/three").exists());
    fixture.call("mail_flag", &json!({ "id": "three", "flag": "flagged", "on": true }));
    fixture.call("mail_flag", &json!({ "id": "three", "flag": "answered" }));
    assert!(mail.join("cur/three:2,FRS").exists(), "in the order of the alphabet");
    fixture.call("mail_flag", &json!({ "id": "three", "flag": "flagged", "on": false }));
    fixture.call("mail_flag", &json!({ "id": "three", "flag": "flagged", "on": "false" }));
    assert!(mail.join("cur/three:2,RS").exists());
    let wrong = fixture.refused("mail_flag", &json!({ "id": "three", "flag": "deleted" }));
    assert!(wrong.contains("Call it like this"), "{wrong}");
}

#[test]
fn two_processes_may_keep_one_index() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for number in 0..300 {
        let text = mail_text(
            SARAH,
            &format!("Letter {number}"),
            MONDAY,
            &format!("Message-ID: <{number}@x.example>\n"),
            "word",
        );
        put(&folder.path().join(format!("mail/cur/m{number}:2,")), text.as_bytes());
    }
    fs::create_dir_all(folder.path().join("mail/new")).expect("a folder");
    // Each has a connection of its own, as two processes have.
    let households: Vec<_> = (0..4).map(|_| household(folder.path())).collect();
    let filter = Filter { words: Some("word".into()), ..Filter::default() };
    std::thread::scope(|scope| {
        for (at, household) in households.iter().enumerate() {
            let (folder, filter) = (folder.path(), &filter);
            scope.spawn(move || {
                for round in 0..5 {
                    let text = mail_text(SARAH, "More", MONDAY, "", "word");
                    // As Maildir wants it: nobody sees half a mail.
                    let (tmp, name) = (folder.join("mail/tmp"), format!("more-{at}-{round}"));
                    put(&tmp.join(&name), text.as_bytes());
                    fs::rename(tmp.join(&name), folder.join("mail/new").join(&name)).expect("a delivery");
                    let (_, total) = household.mailbox().expect("a mailbox").list(filter, 10).expect("a list");
                    assert!(total > 300, "what was put in before is seen: {total}");
                }
            });
        }
    });
    for household in &households {
        let (_, total) = household.mailbox().expect("a mailbox").list(&filter, 10).expect("a list");
        assert_eq!(total, 320);
    }
}

fn read(bytes: &[u8]) -> MailMessage {
    MailMessage::read(bytes, 4_000, &TimeZone::UTC)
}

#[test]
fn html_without_plain_text_is_read_as_text() {
    let only = "From: a@b.example\nContent-Type: text/html; charset=utf-8\n\n<p>Hello</p><p>please <a href=\"https://x.example\">sign</a></p>";
    assert_eq!(read(only.as_bytes()).text, "Hello\n\nplease sign");
    assert_eq!(read(only.as_bytes()).links[0].host, "x.example");
    let alternative = "From: a@b.example\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/html\n\n\
        <div>Only</div><div>this</div>\n--b--\n";
    assert_eq!(read(alternative.as_bytes()).text, "Only\nthis");
}

#[test]
fn odd_charsets_and_encoded_words_are_read() {
    let mut bytes = b"From: =?iso-8859-1?q?J=F6rg_Kr=FCger?= <J@Old.example>\nSubject: =?utf-8?b?R3LDvMOfZQ==?= =?utf-8?q?_an_alle?=\n\
        Content-Type: text/plain; charset=windows-1252\n\n"
        .to_vec();
    bytes.extend(b"Gr\xfc\xdfe \x96 \x80 5");
    let message = read(&bytes);
    assert_eq!((&*message.from.name, &*message.from.address), ("Jörg Krüger", "j@old.example"));
    assert_eq!((&*message.subject, &*message.text), ("Grüße an alle", "Grüße – € 5"));
    let mut japanese = b"Content-Type: text/plain; charset=Shift_JIS\nFrom: a@b.example\n\n".to_vec();
    japanese.extend([0x93, 0xfa, 0x96, 0x7b]);
    assert_eq!(read(&japanese).text, "日本");
    let mut unknown = b"Content-Type: text/plain; charset=klingon\nFrom: a@b.example\n\n".to_vec();
    unknown.extend(b"caf\xe9");
    assert_eq!(read(&unknown).text, "caf\u{fffd}");
}

#[test]
fn dates_that_cannot_be_are_not_believed() {
    let sent =
        |headers: &str| read(format!("{headers}From: a@b.example\n\nx").as_bytes()).sent.map(|sent| sent.to_string());
    assert_eq!(sent("Date: Thu, 15 Jan 2026 10:00:00 +0100\n").as_deref(), Some("2026-01-15T09:00:00Z"));
    for absurd in ["Date: yesterday\n", "Date: 99 Foo 9999 99:99:99\n", "Date: 1 Jan 1901 00:00 +0000\n", "Date:\n", ""]
    {
        assert_eq!(sent(absurd), None, "{absurd}");
    }
    let received = "Received: from x by y; Thu, 15 Jan 2026 09:30:00 +0000\n";
    assert_eq!(
        sent(&format!("{received}Date: Thu, 15 Jan 2099 10:00:00 +0000\n")).as_deref(),
        Some("2026-01-15T09:30:00Z")
    );
    let fixture = TestHousehold::with(&[("mail/new/1768467600.M1P2.host", "From: a@b.example\nSubject: x\n\nno date")]);
    assert_eq!(fixture.call("mail_list", &json!({}))["mails"][0]["date"], "2026-01-15T10:00:00+01:00");
}

#[test]
fn attachments_and_invitations_are_named() {
    let mixed = "From: a@b.example\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: multipart/alternative; boundary=i\n\n\
        --i\nContent-Type: text/plain\n\nplain words\n--i\nContent-Type: text/html\n\n<b>html words</b> <a href='https://h.example'>x</a>\n\
        --i\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nSUMMARY:Lunch\nDTSTART:20260116T120000Z\nEND:VEVENT\nEND:VCALENDAR\n\
        --i--\n--o\nContent-Type: application/pdf; name=\"a.pdf\"\nContent-Disposition: attachment; filename=\"contract.pdf\"\n\
        Content-Transfer-Encoding: base64\n\nAAAA\n--o--\n";
    let message = read(mixed.as_bytes());
    assert_eq!(message.text, "plain words");
    assert_eq!(message.links[0].host, "h.example");
    assert_eq!(message.attachments.len(), 1);
    assert_eq!(
        (&*message.attachments[0].name, &*message.attachments[0].kind, message.attachments[0].size),
        ("contract.pdf", "application/pdf", 3)
    );
    assert_eq!(message.invite.expect("an invitation").title, "Lunch");
}

#[test]
fn what_is_huge_or_broken_stays_small_and_harms_nothing() {
    let nested = "Content-Type: message/rfc822\n\n".repeat(50_000);
    let boundary = "Content-Type: multipart/mixed; boundary=b\n\n--b\n".repeat(20_000);
    let people = format!("To: {}\nFrom: a@b.example\n\nhi", "x@y.example, ".repeat(50_000));
    let subject = format!("Subject: {}\nFrom: a@b.example\n\nhi", "long ".repeat(500_000));
    let references = format!("References: {}\nFrom: a@b.example\n\nhi", "<a@b> ".repeat(100_000));
    let body = format!("From: a@b.example\n\n{}", "ü".repeat(5_000_000));
    let entities = format!("Content-Type: text/html\nFrom: a@b.example\n\n{}", "&#9999999999;<".repeat(100_000));
    let zeros = format!("From: a@b.example\nSubject: a\0b\n\nx\0y{}", "\0".repeat(10_000));
    for hostile in [nested, boundary, people, subject, references, body, entities, zeros] {
        let message = read(hostile.as_bytes());
        let json = serde_json::to_string(&message).expect("JSON");
        assert!(json.len() < 60_000, "{} bytes: {}", json.len(), &json[..200]);
        assert!(!json.contains("\\u0000"));
    }
    assert_eq!(read(b""), MailMessage::default());
}

#[test]
fn one_broken_mail_does_not_hide_the_others() {
    let fixture = TestHousehold::with(&[
        ("mail/new/empty", ""),
        ("mail/new/noise", "\0\0\0"),
        ("mail/new/good", &mail_text(SARAH, "Contract", MONDAY, "", "words")),
        ("mail/new/.hidden", "x"),
    ]);
    put(&fixture.folder.path().join("mail/new/bytes"), &[0xff, 0xfe, 0x00, 0x80]);
    let attachment = format!(
        "From: a@b.example\nSubject: Big\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nThe report.\n--b\nContent-Type: \
         application/pdf; name=big.pdf\nContent-Transfer-Encoding: base64\n\n{}\n--b--\n",
        "QUJD\n".repeat(2_000_000)
    );
    fixture.put("mail/new/big", &attachment);
    assert_eq!(fixture.ids(&json!({})).len(), 5);
    let big = fixture.call("mail_read", &json!({ "id": "big" }));
    assert_eq!(big["body"], "The report.");
    assert_eq!(big["attachments"], json!([{ "name": "big.pdf", "type": "application/pdf", "size": 6_000_000 }]));
    assert_eq!(fixture.call("mail_read", &json!({ "id": "empty" }))["body"], "");
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_out_of_the_mailbox() {
    let fixture = small();
    let secret = fixture.folder.path().join("secret");
    put(&secret.join("cur/s:2,"), b"From: a@b.example\nSubject: secret\n\nsecret");
    std::os::unix::fs::symlink(&secret, fixture.folder.path().join("mail/.Linked")).expect("a link");
    std::os::unix::fs::symlink(secret.join("cur/s:2,"), fixture.folder.path().join("mail/cur/s:2,")).expect("a link");
    assert_eq!(fixture.ids(&json!({ "folder": "all", "query": "secret" })), Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let _ = read(&bytes);
    }

    #[test]
    fn anything_that_looks_like_a_mail_can_be_read(parts in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        let message = read(parts.concat().as_bytes());
        prop_assert!(message.text.chars().count() < 4_100);
    }
}

/// What mails are made of, to be put together in every wrong way.
const PIECES: &[&str] = &[
    "From: a@b.example\n",
    "To: ",
    "Subject: =?utf-8?q?=ff?= =?x?b?%%?=\r\n",
    "Content-Type: multipart/mixed; boundary=b\n",
    "Content-Type: multipart/digest; boundary=\"\"\n",
    "Content-Type: message/rfc822\n",
    "Content-Type: text/html; charset=utf-7\n",
    "Content-Type: text/calendar\n",
    "Content-Transfer-Encoding: base64\n",
    "Content-Transfer-Encoding: quoted-printable\n",
    "\n",
    "\r\n\r\n",
    "--b\n",
    "--b--\n",
    "--\n",
    "QUJD",
    "=C3=",
    "&#x;",
    "<a href=\"http://",
    "<!--",
    "BEGIN:VEVENT\nDTSTART:",
    "20260101T",
    "ü",
    "\0",
    "Date: Thu, 32 Jan ",
    "References: <",
    ">",
    ",",
    ";",
    ":",
    "Received: ;",
];

/// A mail as an `mbox` file holds it.
fn boxed(from: &str, subject: &str, more: &str, body: &str) -> String {
    let message = mail_text(from, subject, "Thu, 15 Jan 2026 09:30:00 +0100", more, body);
    format!("From {} Thu Jan 15 09:30:00 2026\n{}\n\n", "someone@x.example", message.trim_end())
}

#[test]
fn mails_of_an_mbox_are_listed_read_threaded_and_found_again_when_the_file_grows() {
    let first = boxed("Ana <ana@a.example>", "Roof", "Message-ID: <1@a>\nStatus: RO\n", "Tiles\n\n>From the shed.");
    let second = boxed("Ben <ben@b.example>", "Re: Roof", "Message-ID: <2@b>\nIn-Reply-To: <1@a>\n", "Good.");
    let fixture = TestHousehold::with(&[("mail/Inbox", &first), ("mail/Archive.sbd/Old.mbox", &second)]);
    let ids = fixture.ids(&json!({ "folder": "all" }));
    assert_eq!(ids.len(), 2, "{ids:?}");
    let (roof, reply) = (&fixture.ids(&json!({}))[0], &fixture.ids(&json!({ "folder": "Archive/Old" }))[0]);
    let read = fixture.call("mail_read", &json!({ "id": roof }));
    assert_eq!(read["body"], "Tiles\n\nFrom the shed.");
    assert_eq!(fixture.call("mail_thread", &json!({ "id": reply }))["mails"].as_array().map(Vec::len), Some(2));
    assert_eq!(fixture.ids(&json!({ "unread": false, "folder": "all" })), [roof.as_str()], "marks stand in the letter");
    let third = boxed("Cleo <cleo@c.example>", "Door", "Message-ID: <3@c>\n", "Hinges");
    fixture.put("mail/Inbox", &format!("{third}{first}"));
    assert_eq!(fixture.ids(&json!({ "query": "hinges" })).len(), 1);
    assert_eq!(
        fixture.call("mail_read", &json!({ "id": roof }))["body"],
        "Tiles\n\nFrom the shed.",
        "it moved in its file"
    );
    fixture.put("mail/Inbox", &third);
    assert!(fixture.refused("mail_read", &json!({ "id": roof })).contains("there is no mail"));
    let door = &fixture.ids(&json!({}))[0];
    assert!(fixture.refused("mail_flag", &json!({ "id": door, "flag": "seen" })).contains("Maildir"));
    let draft = fixture.call("draft_create", &json!({ "reply_to": door, "act": "acknowledge" }));
    assert_eq!(draft["to"], json!(["Cleo <cleo@c.example>"]));
    assert!(fixture.folder.path().join("mail/.Drafts/cur").is_dir(), "drafts stay in a Maildir");
}

#[test]
fn one_mbox_file_is_a_mailbox() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    put(&folder.path().join("mbox"), boxed("Ana <ana@a.example>", "Roof", "", "Tiles").as_bytes());
    let options = Options { mail: Some(folder.path().join("mbox")), ..Options::default() };
    let fixture = TestHousehold::of(folder, &Household::open(options).expect("a household"));
    let ids = fixture.ids(&json!({}));
    assert_eq!(fixture.call("mail_read", &json!({ "id": ids[0] }))["body"], "Tiles");
    assert!(fixture.refused("draft_create", &json!({ "reply_to": ids[0] })).contains("needs a folder"));
}
