//! Checks of sub-agents: commands that must succeed and a JSON Schema that a report must match before it counts as done.

use serde_json::{Value, json};
use testkit::scenes::{call, calls, says, scene, spawn_with, whenever_asked};

use crate::setup::{Setup, of_type};

/// A setup whose agents play a script in a mode.
fn scripted(mode: &str, scenes: &[String]) -> Setup {
    let setup = Setup::new();
    let model = setup.scripted(&scenes.concat());
    setup.with("MAJORDOMO_MODEL", &model).with("MAJORDOMO_MODE", mode)
}

fn outcome(frames: &[Value]) -> (String, String) {
    let ends = frames.iter().find(|frame| frame["type"] == "sub_agent_complete" || frame["type"] == "sub_agent_error");
    let data = &ends.expect("the end of a sub-agent")["data"];
    (data["outcome"].as_str().unwrap_or_default().to_owned(), data["error"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sub_agent_is_done_once_its_checks_have_passed() {
    let setup = scripted(
        "dangerous",
        &[
            scene(
                "Have it made",
                &[calls(&[spawn_with("make it", ", checks = [\"test -e there\"]")]), says("It is made.")],
            ),
            scene(
                "make it",
                &[
                    says("I have made it."),
                    calls(&[call("write_file", "path = \"there\", content = \"x\"")]),
                    says("Now I have."),
                ],
            ),
        ],
    );
    let ran = setup.run(&["run", "Have it made", "--jsonl"]).await.exits(0);
    let frames = ran.frames();
    assert_eq!(outcome(&frames).0, "completed");
    let checks: Vec<&Value> =
        of_type(&frames, "tool_result").into_iter().filter(|frame| frame["tool_name"] == "checks").collect();
    assert_eq!(checks.len(), 2, "they ran after both answers");
    assert_eq!((&checks[0]["is_error"], &checks[1]["is_error"]), (&json!(true), &json!(false)));
    assert!(checks[0]["output"].to_string().contains("the check `test -e there` failed"), "{}", checks[0]);
    let begun = of_type(&frames, "tool_start").into_iter().find(|frame| frame["tool_name"] == "checks").cloned();
    assert_eq!(begun.expect("their begin")["input"], json!({"commands": ["test -e there"]}));
    let root = ran.frames()[0]["run"].as_str().expect("a run").to_owned();
    let talk = setup.run(&["thread", "show", &format!("{root}.1"), "--full"]).await.exits(0).stdout;
    assert!(talk.contains("these commands run when you give your final answer"), "{talk}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sub_agent_whose_checks_fail_too_often_reports_what_failed() {
    let setup = scripted(
        "dangerous",
        &[
            scene(
                "Have it made",
                &[
                    calls(&[call(
                        "delegate_task",
                        "subtasks = [{ task = \"make it\", checks = [\"echo broken; false\"] }]",
                    )]),
                    says("It is not made."),
                ],
            ),
            scene("make it", &[whenever_asked(&says("It is made, I think."))]),
        ],
    );
    let setup = setup.with("MAJORDOMO_POLICY_CHECK_ATTEMPTS", "2");
    let frames = setup.run(&["run", "Have it made", "--jsonl"]).await.exits(0).frames();
    let (outcome, error) = outcome(&frames);
    assert_eq!(outcome, "error");
    assert!(error.contains("its checks failed 2 times") && error.contains("broken"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_nobody_can_allow_starts_no_sub_agent_and_the_rule_is_named() {
    let setup = scripted(
        "ask",
        &[
            scene(
                "Have it made",
                &[calls(&[spawn_with("make it", ", checks = [\"touch there\"]")]), says("Not made.")],
            ),
            scene("make it", &[says("It is made.")]),
        ],
    );
    let ran = setup.run(&["run", "Have it made", "--jsonl"]).await.exits(5);
    let frames = ran.frames();
    assert!(of_type(&frames, "sub_agent_start").is_empty());
    let refused = of_type(&frames, "tool_result")[0]["output"].to_string();
    assert!(
        refused.contains("spawn_agent was refused: it needs a person's consent (the check `touch there`"),
        "{refused}"
    );
    assert!(ran.stderr.contains("run_command"), "{}", ran.stderr);
    assert!(!setup.work("there").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_must_match_the_schema_that_its_brief_names() {
    let schema = "checks = { type = \"object\", required = [\"n\"], properties = { n = { type = \"integer\" } } }";
    let setup = scripted(
        "dangerous",
        &[
            scene("Have it counted", &[calls(&[spawn_with("count", &format!(", {schema}"))]), says("Three.")]),
            scene("count", &[says("three"), says("{\"n\": 3}")]),
        ],
    );
    let frames = setup.run(&["run", "Have it counted", "--jsonl"]).await.exits(0).frames();
    assert_eq!(outcome(&frames).0, "completed");
    let wrong = scripted(
        "dangerous",
        &[scene(
            "Have it counted",
            &[calls(&[spawn_with("count", ", checks = { type = \"nonsense\" }")]), says("I could not.")],
        )],
    );
    let frames = wrong.run(&["run", "Have it counted", "--jsonl"]).await.exits(0).frames();
    let refused = of_type(&frames, "tool_result")[0]["output"].to_string();
    assert!(refused.contains("the JSON Schema in 'checks' cannot be used"), "{refused}");
    assert!(of_type(&frames, "sub_agent_start").is_empty());
}

/// Where the script of a check is exchanged, by its sub-agent or before a person has answered: what was said to the person, and whether the other
/// script was run.
async fn exchanged(sandbox: &str, before_the_answer: bool) -> (String, bool) {
    let setup = scripted(
        "auto",
        &[
            scene(
                "Have it made",
                &[calls(&[spawn_with("make it", ", checks = [\"sh check.sh\"]")]), says("It is over.")],
            ),
            scene(
                "make it",
                &[
                    calls(&[call("read_file", "path = \"check.sh\"")]),
                    calls(&[call("write_file", "path = \"check.sh\", content = \"touch owned\"")]),
                    says("It is made."),
                ],
            ),
        ],
    );
    setup.write("check.sh", "touch harmless\n");
    let kind = format!("sandbox.kind={sandbox}");
    let words = ["run", "Have it made", "--approvals", "wait", "--set", &kind];
    let mut running = setup.command(&words).spawn().expect("it starts");
    let mut said = String::new();
    let begun = std::time::Instant::now();
    while running.try_wait().expect("a state").is_none() && begun.elapsed() < std::time::Duration::from_secs(60) {
        let open = setup.run(&["approve", "ls", "--json"]).await.json();
        let Some(id) = open[0]["id"].as_str().map(str::to_owned) else { continue };
        if before_the_answer && said.is_empty() {
            setup.write("check.sh", "touch owned\n");
        }
        let answered = setup.run(&["approve", "yes", &id]).await;
        said.push_str(&answered.stdout);
        said.push_str(&answered.stderr);
        if before_the_answer {
            break;
        }
    }
    // No person answers what is still asked.
    let _ = running.kill().await;
    (said, setup.work("owned").exists())
}

// T20: without a sandbox a check runs only as it was when a person allowed it.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_is_exchanged_after_it_was_allowed_is_not_run() {
    let (said, was_run) = exchanged("off", false).await;
    assert!(said.contains("approved") && !was_run, "{said}");
    let (said, was_run) = exchanged("off", true).await;
    assert!(said.contains("has changed since it was asked") && !was_run, "{said}");
}
