use agent::CallId;
use agent::approval::ApprovalId;
use agent::tools::Risk;

use super::*;

const NOW: Time = Time(1_768_471_200_000);

fn question(input: &str) -> Approval {
    Approval {
        id: ApprovalId::new("20260115-k3f9.1/2"),
        call: CallId::new("c"),
        tool: "run_command".into(),
        input: Json::parse(input).unwrap(),
        digest: "d1".into(),
        path: vec!["general".into(), "scout".into()],
        workspace: "/home/ana/desk".into(),
        why: "mode ask: commands ask".into(),
        effect: "runs ls".into(),
        risk: Risk::High,
        protected: Vec::new(),
        foreign: false,
        standing: Some("ls*".into()),
        question: None,
        sampling: None,
        places: 0,
        expires_at: NOW.plus_ms(3_600_000),
    }
}

// T25
#[test]
fn a_question_shows_everything_that_its_answer_is_bound_to() {
    let mut asked = question(r#"{"command":"ls -l","env":{"A":[1,2]}}"#);
    asked.protected = vec![".git/config".into()];
    asked.foreign = true;
    let shown = lines(&asked, Depth::Whole, NOW).join("\n");
    for words in [
        "general › scout",
        "run_command",
        "runs ls",
        "high",
        "changes .git/config",
        "has read untrusted text",
        "mode ask: commands ask",
        "/home/ana/desk",
        "in 1h00m",
        "would allow run_command of 'ls*'",
        "37 characters:",
        "    {\n      \"command\": \"ls -l\",\n      \"env\": {\n        \"A\": [\n          1,\n          2\n        ]\n      }\n    }",
        "d1",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    asked.standing = None;
    assert!(lines(&asked, Depth::Short, NOW).join("\n").contains("not offered for this call"));
    assert!(lines(&asked, Depth::Short, asked.expires_at).join("\n").contains("(expired)"));
}

// T24
#[test]
fn what_is_written_to_deceive_is_shown_as_what_it_is() {
    let spaces = " ".repeat(10_000);
    let mut asked = question(&format!("{{\"command\":\"ls\u{202e}\u{200b}{spaces}; rm -rf /\"}}"));
    asked.why = "\u{1b}[2Jtrust me\u{e0100}".into();
    asked.effect = "looks\rruns rm".into();
    asked.workspace = "/tmp\u{2066}".into();
    asked.path = vec!["gen\u{1b}eral".into()];
    for depth in [Depth::Short, Depth::Whole] {
        let shown = lines(&asked, depth, NOW).join("\n");
        for words in [
            r#""ls\u{202e}\u{200b}[10000 spaces]; rm -rf /""#,
            "10028 characters:",
            r"\u{1b}[2Jtrust me\u{e0100}",
            r"looks\rruns rm",
            r"/tmp\u{2066}",
            r"gen\u{1b}eral",
        ] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
    }
}

// T25: a reader that keeps the last of two equal keys would not be shown the first.
#[test]
fn arguments_are_laid_out_from_their_own_text() {
    let shown = input(&Json::parse(r#"{ "a" : "x\"{,}\\" , "a":"y" }"#).unwrap(), Depth::Whole);
    assert_eq!(shown, ["    {", r#"      "a": "x\"{,}\\","#, r#"      "a": "y""#, "    }"]);
    let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    assert_eq!(input(&Json::parse(&deep).unwrap(), Depth::Whole).len(), 1001);
}

// T24
#[test]
fn what_a_short_form_leaves_out_is_counted() {
    let long = Json::parse(&format!("[{}\"{}\"]", "1,".repeat(40), "x".repeat(1000))).unwrap();
    let shown = input(&long, Depth::Short);
    assert_eq!((shown.len(), &*shown[16]), (25, "    … 19 more lines …"));
    assert_eq!((&*shown[15], &*shown[24]), ("      1,", "    ]"), "beginning and end are there");
    let hidden = format!("{{\"command\":\"ls {}; rm -rf /\"}}", "x".repeat(3000));
    let wide = input(&Json::parse(&hidden).unwrap(), Depth::Short);
    assert!(wide[1].starts_with("      \"command\": \"ls xxx") && wide[1].ends_with("xxx; rm -rf /\""), "{wide:?}");
    assert!(wide[1].contains("…(+2035)…"), "{wide:?}");
}
