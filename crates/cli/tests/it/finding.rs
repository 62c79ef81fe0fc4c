//! What can be looked up afterwards: threads, the configuration and its origins, a completion script.

use serde_json::{Value, json};

use crate::setup::Setup;

const FAMILY: &str = r#"
[[script]]
on = "Root"
[[script.reply]]
text = "I ask."
calls = [{ name = "spawn_agent", input = { task = "Leaf" } }]
[[script.reply]]
text = "The leaf is green."
[[script]]
on = "Leaf"
[[script.reply]]
text = "Green."
"#;

async fn desk_with_a_run() -> (Setup, String) {
    let setup = Setup::new();
    let model = setup.scripted(FAMILY);
    let told = setup.run(&["run", "-m", &model, "--json", "Root"]).await.exits(0).json();
    let id = told["id"].as_str().expect("an id").to_owned();
    (setup, id)
}

// OPTA-37: children are kept in the same log as their parent, and are nobody's sessions.
#[tokio::test]
async fn threads_are_listed_by_their_roots_and_whole_when_asked() {
    let (setup, id) = desk_with_a_run().await;
    let ids = |rows: &Value| -> Vec<String> {
        let rows = rows.as_array().expect("a list");
        rows.iter().map(|row| row["id"].as_str().expect("an id").to_owned()).collect()
    };
    let rows = setup.run(&["thread", "ls", "--json"]).await.exits(0).json();
    assert_eq!(ids(&rows), [id.as_str()]);
    assert_eq!((&rows[0]["state"], &rows[0]["goal"]), (&"completed".into(), &"Root".into()));
    let mut all = ids(&setup.run(&["thread", "ls", "--json", "--all"]).await.exits(0).json());
    all.sort();
    assert_eq!(all, [id.as_str(), &format!("{id}.1")]);
    let text = setup.run(&["thread", "ls"]).await.exits(0).stdout;
    assert!(text.starts_with(&id) && text.lines().count() == 1, "{text}");
    assert_eq!(setup.run(&["ps", "--json"]).await.exits(0).json(), json!([]));
}

#[tokio::test]
async fn a_thread_is_shown_by_any_beginning_of_its_name() {
    let (setup, id) = desk_with_a_run().await;
    let (_, tail) = id.split_once('-').expect("a day and a name");
    for name in [id.as_str(), &id[..id.len() - 1], tail] {
        let text = setup.run(&["thread", "show", name]).await.exits(0).stdout;
        for part in ["you: Root", "I ask.", "Leaf", "Green.", "The leaf is green.", "-- completed"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
    let text = setup.run(&["thread", "show", &format!("{id}.1")]).await.exits(0).stdout;
    assert!(text.contains("brief: Leaf") && !text.contains("I ask."), "{text}");
    let told = setup.run(&["thread", "show", &id, "--json"]).await.exits(0).json();
    assert_eq!(told["id"], id);
    assert!(told["entries"].as_array().is_some_and(|entries| entries.len() > 3));
}

#[tokio::test]
async fn why_a_run_failed_is_shown_once() {
    let setup = Setup::new();
    let model = setup.scripted(FAMILY);
    let told = setup.run(&["run", "-m", &model, "--json", "Stone"]).await.exits(4).json();
    let (id, reason) = (told["id"].as_str().expect("an id"), told["reason"].as_str().expect("a reason"));
    let text = setup.run(&["thread", "show", id]).await.exits(0).stdout;
    let end = text.lines().last().expect("an end");
    assert!(end.starts_with("-- error") && end.matches(reason).count() == 1, "{end}");
}

#[tokio::test]
async fn the_frames_of_a_thread_can_be_had_again_as_they_went_out() {
    let setup = Setup::new();
    let model = setup.scripted(FAMILY);
    for dialect in ["canonical", "opta"] {
        let live = setup.run(&["run", "-m", &model, "--jsonl", "--dialect", dialect, "Root"]).await.exits(0);
        let rows = setup.run(&["thread", "ls", "--json"]).await.exits(0).json();
        let id = rows[0]["id"].as_str().expect("the newest comes first");
        let again = setup.run(&["thread", "show", id, "--jsonl", "--dialect", dialect]).await.exits(0);
        assert_eq!(again.stdout, live.stdout);
    }
}

#[tokio::test]
async fn a_run_that_is_over_is_not_run_again_by_resuming_it() {
    let (setup, id) = desk_with_a_run().await;
    let ran = setup.run(&["thread", "resume", &id, "--json"]).await.exits(0);
    assert!(ran.stderr.contains("already finished"), "{}", ran.stderr);
    let told = ran.json();
    assert_eq!((&told["answer"], &told["usage"]["tree"]["model_calls"]), (&"The leaf is green.".into(), &3.into()));
    let ran = setup.run(&["thread", "resume", &format!("{id}.1")]).await.exits(2);
    assert!(ran.stderr.contains(&format!("majordomo thread resume {id}")), "{}", ran.stderr);
}

#[tokio::test]
async fn the_configuration_shows_where_each_value_comes_from() {
    let setup = Setup::new().with("MAJORDOMO_POLICY_MAX_DEPTH", "1").with("OPENAI_API_KEY", "sk-any");
    std::fs::create_dir(setup.work(".majordomo")).expect("a folder");
    setup.write(".majordomo/config.toml", "[policy]\nmax_children = 3\nmax_dept = 4\n");
    let words = ["config", "show", "--json", "--mode", "plan", "--set", "policy.max_subtasks=2"];
    let ran = setup.run(&words).await.exits(0);
    let entries = ran.json();
    let entry = |key: &str| {
        let found = entries.as_array().expect("a list").iter().find(|entry| entry["id"] == key);
        found.unwrap_or_else(|| panic!("no {key}")).clone()
    };
    for (key, value, origin) in [
        ("mode", json!("plan"), "--mode"),
        ("policy.max_subtasks", json!(2), "--set"),
        ("policy.max_depth", json!(1), "MAJORDOMO_POLICY_MAX_DEPTH"),
        ("policy.max_children", json!(3), "config.toml"),
        ("policy.max_concurrent", json!(4), "default"),
        ("model", json!("openai/gpt-6.1-sol"), "OPENAI_API_KEY"),
    ] {
        let found = entry(key);
        assert_eq!(found["value"], value, "{key}");
        assert!(found["origin"].as_str().is_some_and(|said| said.contains(origin)), "{found}");
    }
    assert!(ran.stderr.contains("policy.max_dept") && ran.stderr.contains("policy.max_depth"), "{}", ran.stderr);
    let text = setup.run(&["config", "show"]).await.exits(0).stdout;
    assert!(text.lines().any(|line| line.starts_with("policy.max_depth ") && line.contains("= 1 ")), "{text}");
}

#[tokio::test]
async fn completion_scripts_know_the_verbs() {
    let setup = Setup::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = setup.run(&["completion", shell]).await.exits(0).stdout;
        for word in ["run", "thread", "resume", "max-tool-calls"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}
