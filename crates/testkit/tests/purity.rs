//! The rules stay pure: what `majordomo-agent` is built from is asked of cargo, and anything that could reach the world is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// What the rules are built from: a data format and a way to write errors.
const ALLOWED: [&str; 3] = ["serde", "serde_json", "thiserror"];

// ZILEO-29: what a verb needs is handed to the rules, and nothing that they are built from leads back to them
#[test]
fn the_rules_are_built_from_serde_serde_json_and_thiserror_alone() {
    let graph = Graph::ask_cargo();
    let direct: BTreeSet<&str> = graph.direct("majordomo-agent").iter().map(|id| graph.name(id)).collect();
    assert_eq!(
        direct,
        BTreeSet::from(ALLOWED),
        "the rules decide and do nothing else; what acts belongs to the runtime"
    );
    let theirs: BTreeSet<&str> = ALLOWED.into_iter().flat_map(|name| graph.reached_from(name)).collect();
    let reached = graph.reached_from("majordomo-agent");
    let strangers: Vec<&&str> = reached.difference(&theirs).filter(|name| **name != "majordomo-agent").collect();
    assert!(strangers.is_empty(), "the rules reach {strangers:?} past {ALLOWED:?}");
}

#[test]
fn the_rules_reach_no_runtime_no_network_and_no_database() {
    let graph = Graph::ask_cargo();
    let reached = graph.reached_from("majordomo-agent");
    let reasons = [
        ("tokio", "an agent waits for nothing: the runtime does"),
        ("futures-util", "an agent waits for nothing: the runtime does"),
        ("reqwest", "models are reached by the providers"),
        ("hyper", "models are reached by the providers"),
        ("rusqlite", "logs are kept by the store"),
        ("getrandom", "a replay must decide as its life did"),
        ("jiff", "time comes in with the input"),
    ];
    for (stranger, reason) in reasons {
        assert!(!reached.contains(stranger), "the rules reach {stranger}: {reason}");
    }
}

#[test]
fn the_rules_of_boards_are_built_from_the_same_and_from_the_rules() {
    let graph = Graph::ask_cargo();
    let direct: BTreeSet<&str> = graph.direct("majordomo-board").iter().map(|id| graph.name(id)).collect();
    assert_eq!(direct, ALLOWED.into_iter().chain(["majordomo-agent"]).collect());
    let reached = graph.reached_from("majordomo-board");
    let of_rules = graph.reached_from("majordomo-agent");
    let strangers: Vec<&&str> = reached.difference(&of_rules).filter(|name| **name != "majordomo-board").collect();
    assert!(strangers.is_empty(), "the rules of boards reach {strangers:?}");
}

#[test]
fn the_graph_is_the_one_that_is_built() {
    // Were the question to cargo wrong, every answer above would be an empty yes.
    let graph = Graph::ask_cargo();
    assert!(graph.reached_from("majordomo-agent").contains("serde_core"));
    assert!(graph.reached_from("majordomo-store").contains("rusqlite"));
}

/// The packages of the workspace and what each is built from, tests and build scripts left out.
struct Graph {
    names: BTreeMap<String, String>,
    edges: BTreeMap<String, Vec<String>>,
}

impl Graph {
    fn ask_cargo() -> Self {
        // Only what is built here is asked for: packages of other platforms need not be on this machine.
        let rustc = ask("RUSTC", "rustc", &["-vV"]);
        let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let question =
            ["metadata", "--offline", "--format-version", "1", "--filter-platform", host, "--manifest-path", manifest];
        let metadata: Value = serde_json::from_str(&ask("CARGO", "cargo", &question)).expect("cargo answers in JSON");
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let names = list(&metadata["packages"]).iter().map(|one| (text(&one["id"]), text(&one["name"]))).collect();
        let is_normal = |dependency: &Value| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
        let edges = list(&metadata["resolve"]["nodes"]).into_iter().map(|node| {
            let normal = list(&node["deps"]).into_iter().filter(is_normal).map(|dependency| text(&dependency["pkg"]));
            (text(&node["id"]), normal.collect())
        });
        Self { names, edges: edges.collect() }
    }

    fn name(&self, id: &str) -> &str {
        &self.names[id]
    }

    fn ids<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a String> {
        self.names.iter().filter(move |(_, own)| *own == name).map(|(id, _)| id)
    }

    fn direct(&self, name: &str) -> Vec<&String> {
        self.ids(name).flat_map(|id| &self.edges[id]).collect()
    }

    /// Every package that is built into `name`, itself included.
    fn reached_from(&self, name: &str) -> BTreeSet<&str> {
        let mut open: Vec<&String> = self.ids(name).collect();
        assert!(!open.is_empty(), "there is no package {name}");
        let mut reached: BTreeSet<&String> = BTreeSet::new();
        while let Some(id) = open.pop() {
            if reached.insert(id) {
                open.extend(&self.edges[id]);
            }
        }
        reached.into_iter().map(|id| self.name(id)).collect()
    }
}

/// What a program of the toolchain answers; `variable` names it where it is not found by its own name.
fn ask(variable: &str, program: &str, question: &[&str]) -> String {
    let program = std::env::var(variable).unwrap_or_else(|_| program.to_owned());
    let answer = Command::new(&program).args(question).output().expect("the toolchain can be asked");
    assert!(answer.status.success(), "{program} {question:?}: {}", String::from_utf8_lossy(&answer.stderr));
    String::from_utf8(answer.stdout).expect("the toolchain answers in UTF-8")
}
