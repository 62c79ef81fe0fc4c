//! Everyday commands are neither slower nor noisier for being safe: how many of them need a person.

use std::path::Path;
use std::process::{Command, Stdio};

use agent::permission::{Action, Asked, Layer, judge};
use agent::{Json, Mode};
use majordomo_tool::{CommandHost, Guard, Registry, Sandbox};
use serde_json::json;

const EVERYDAY: &str = include_str!("everyday.txt");

/// What becomes of a command in a mode, without any rule.
fn action(registry: &Registry, workspace: &Path, mode: Mode, command: &str) -> (Action, String) {
    let info = registry.infos()["run_command"].clone();
    let input = Json::of(&json!({ "command": command }));
    let assessment = registry.assess(&workspace.display().to_string(), &info, &input);
    let asked = Asked { tool: "run_command", assessment: &assessment, foreign: false, asks: None };
    let judged = judge(&[Layer { agent: "general".into(), mode }], &[], &[], &asked);
    (judged.action, format!("{command}: {}", assessment.effect))
}

#[test]
fn everyday_commands_hardly_ever_need_a_person() {
    let sandbox = Sandbox::probe(&[]);
    assert!(sandbox.is_in_force(), "{:?}", sandbox.describe());
    let guard = Guard::Embedded;
    let registry = Registry::standard(CommandHost { guard, sandbox });
    let folder = tempfile::tempdir().expect("a passing folder");
    let init = Command::new("git").args(["init", "-q"]).current_dir(folder.path()).stdout(Stdio::null()).status();
    assert!(init.expect("git").success());
    let lines = |text: &'static str| text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (reads, works) = EVERYDAY.split_once("## works").expect("two groups");
    let (reads, works): (Vec<&str>, Vec<&str>) = (lines(reads).collect(), lines(works).collect());
    let all = reads.len() + works.len();
    assert!(all >= 300, "{all}");
    let root = folder.path().canonicalize().expect("a folder");
    let needing = |mode: Mode, commands: &[&str]| -> Vec<String> {
        let each = commands.iter().map(|command| action(&registry, &root, mode, command));
        each.filter(|(action, _)| *action != Action::Allow).map(|(_, why)| why).collect()
    };
    let refused = needing(Mode::Plan, &reads);
    println!("plan: {} of {} readers are refused\n{}", refused.len(), reads.len(), refused.join("\n"));
    let asked = [needing(Mode::Auto, &reads), needing(Mode::Auto, &works)].concat();
    println!("auto: {} of {all} ask\n{}", asked.len(), asked.join("\n"));
    assert!(refused.len() * 100 <= reads.len() * 2, "of what only reads, at most 2 % is refused in plan: {refused:#?}");
    assert!(asked.len() * 100 <= all * 5, "at most 5 % ask in auto: {asked:#?}");
}
