use super::*;
use crate::read_file;
use crate::tool::test_support::TestWorkspace;

async fn read(content: &[u8]) -> TestWorkspace {
    let room = TestWorkspace::with(&[("a.txt", content)]);
    room.ok(read_file::tool(), r#"{"path": "a.txt"}"#).await;
    room
}

// OPTA-27
#[tokio::test]
async fn one_exact_piece_is_replaced_and_shown_as_a_diff() {
    let room = read(b"one\ntwo\nthree\nfour\nfive\nsix\n").await;
    let result = room.ok(tool(), r#"{"path": "a.txt", "old_text": "four", "new_text": "4"}"#).await;
    assert_eq!(
        &*result.content,
        "edited a.txt in 1 place\n--- a.txt\n+++ a.txt\n@@ -2,5 +2,5 @@\n two\n three\n-four\n+4\n five\n six"
    );
    assert_eq!(result.files_modified, ["a.txt".into()]);
    assert!(result.files_read.is_empty());
    assert_eq!(room.text("a.txt"), "one\ntwo\nthree\n4\nfive\nsix\n");
}

#[tokio::test]
async fn a_piece_that_is_there_twice_is_refused_unless_all_are_meant() {
    let room = read(b"x\ny\nx\n").await;
    let said = room.error(tool(), r#"{"path": "a.txt", "old_text": "x", "new_text": "z"}"#).await;
    assert!(said.contains("old_text occurs 2 times (lines 1, 3)"), "{said}");
    room.ok(tool(), r#"{"path": "a.txt", "old_text": "x", "new_text": "z", "all": "true"}"#).await;
    assert_eq!(room.text("a.txt"), "z\ny\nz\n");
}

#[tokio::test]
async fn several_edits_are_made_in_order_and_all_or_none() {
    let room = read(b"a b c").await;
    let half =
        r#"{"path": "a.txt", "edits": [{"old_text": "a", "new_text": "1"}, {"old_text": "zebra", "new_text": ""}]}"#;
    let said = room.error(tool(), half).await;
    assert!(said.starts_with("'a.txt' is unchanged: edit 2 of 2: old_text was not found"), "{said}");
    assert_eq!(room.text("a.txt"), "a b c");
    let both =
        r#"{"path": "a.txt", "edits": [{"old_text": "a", "new_text": "1"}, {"old_text": "1 b", "new_text": "2"}]}"#;
    assert!(room.ok(tool(), both).await.content.starts_with("edited a.txt in 2 places"));
    assert_eq!(room.text("a.txt"), "2 c");
}

#[tokio::test]
async fn a_miss_names_what_is_there() {
    let room = read(b"fn main() {\n    let count = 1;\n}\n").await;
    let miss = async |old: &str| {
        let input = serde_json::json!({"path": "a.txt", "old_text": old, "new_text": "new"});
        room.error(tool(), &input.to_string()).await
    };
    let said = miss("\tlet count = 1;\n").await;
    assert!(said.contains(r#"line 2 is like its first line: "    let count = 1;""#), "{said}");
    let said = miss("let counter = 1;").await;
    assert!(said.contains(r#"nearest is line 2: "    let count = 1;""#), "{said}");
    let said = miss("2\t    let count = 1;\n3\t}").await;
    assert!(said.contains("leave them out"), "{said}");
    assert!(miss("zebra").await.contains("nothing is similar"));
    assert!(miss("").await.contains("old_text is empty"));
    assert!(miss("new").await.contains("are the same"));
}

// T46
#[tokio::test]
async fn only_a_file_that_is_as_it_was_read_is_edited() {
    let room = TestWorkspace::with(&[("a.txt", b"one")]);
    let edit = r#"{"path": "a.txt", "old_text": "one", "new_text": "two"}"#;
    assert!(room.error(tool(), edit).await.contains("call read_file on it"));
    room.ok(read_file::tool(), r#"{"path": "a.txt"}"#).await;
    std::fs::write(room.path("a.txt"), "one, and theirs").unwrap();
    assert!(room.error(tool(), edit).await.starts_with("conflict:"));
    assert_eq!(room.text("a.txt"), "one, and theirs");
    let missing = r#"{"path": "b.txt", "old_text": "one", "new_text": "two"}"#;
    assert!(room.error(tool(), missing).await.starts_with("there is no 'b.txt'"));
}

#[tokio::test]
async fn line_ends_are_kept() {
    let room = read(b"one\r\ntwo\r\nthree\r\n").await;
    room.ok(tool(), r#"{"path": "a.txt", "old_text": "one\ntwo", "new_text": "1\n2\n2b"}"#).await;
    assert_eq!(room.text("a.txt"), "1\r\n2\r\n2b\r\nthree\r\n");
    room.ok(tool(), r#"{"path": "a.txt", "old_text": "2\r\n2b", "new_text": "2"}"#).await;
    assert_eq!(room.text("a.txt"), "1\r\n2\r\nthree\r\n");

    let mixed = read(b"one\r\ntwo\nthree\n").await;
    mixed.ok(tool(), r#"{"path": "a.txt", "old_text": "one\ntwo", "new_text": "1\n2"}"#).await;
    assert_eq!(mixed.text("a.txt"), "1\r\n2\nthree\n");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_never_rewritten() {
    let room = read(b"gr\xFC\xDFe one").await;
    let said = room.error(tool(), r#"{"path": "a.txt", "old_text": "one", "new_text": "two"}"#).await;
    assert!(said.contains("not UTF-8"), "{said}");
    assert_eq!(std::fs::read(room.path("a.txt")).unwrap(), b"gr\xFC\xDFe one");
}

// F20
#[tokio::test]
async fn an_edit_without_text_is_answered_with_what_is_missing() {
    let room = read(b"one").await;
    for input in
        [r#"{"path": "a.txt"}"#, r#"{"path": "a.txt", "old_text": "one"}"#, r#"{"path": "a.txt", "edits": []}"#]
    {
        assert!(room.error(tool(), input).await.contains("give old_text and new_text, or edits"));
    }
}

// T24, T25
#[tokio::test]
async fn one_edit_and_a_list_of_edits_in_the_same_call_are_refused_and_nothing_is_written() {
    let room = read(b"safe = true\nlist = 1\n").await;
    let list = serde_json::json!([{"old_text": "list = 1", "new_text": "list = 2"}]);
    // As a list, and as a string that holds one.
    for edits in [list.clone(), list.to_string().into()] {
        let both = serde_json::json!({
            "path": "a.txt", "old_text": "safe = true", "new_text": "safe = false", "edits": edits,
        });
        let said = room.error(tool(), &both.to_string()).await;
        assert!(said.contains("was not run") && said.contains("put all of them into edits"), "{said}");
        assert_eq!(room.text("a.txt"), "safe = true\nlist = 1\n");
    }
    let empty = r#"{"path": "a.txt", "old_text": "safe = true", "new_text": "safe = 1", "edits": []}"#;
    room.ok(tool(), empty).await;
    assert_eq!(room.text("a.txt"), "safe = 1\nlist = 1\n");
}
