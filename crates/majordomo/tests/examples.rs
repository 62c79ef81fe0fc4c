//! Every example is run, and says what its comments promise.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An example, which cargo builds beside the tests.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().expect("this test");
    let path: PathBuf = test.ancestors().nth(2).expect("target/debug").join("examples").join(name);
    assert!(path.exists(), "{} is not built: cargo build -p majordomo --examples", path.display());
    let mut command = Command::new(path);
    // An example needs nothing of its surroundings.
    command.env_clear();
    command
}

fn output(name: &str) -> String {
    let output = example(name).output().expect("a process");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn ten_lines_print_the_answer() {
    assert_eq!(output("ten_lines"), "The Loire, the Seine and the Rhône.\n");
}

#[test]
fn a_typed_answer_is_used_as_a_value() {
    assert_eq!(output("typed_answer"), "Acme wants 129.50 € by 2026-02-01\n");
}

#[test]
fn a_tool_is_called_with_its_arguments() {
    let output = output("tool");
    let mut lines: Vec<&str> = output.lines().collect();
    let answer = lines.pop();
    assert_eq!(answer, Some("21.5 degrees in Paris, and a clear sky. Nothing is known about Atlantis."));
    lines.sort_unstable();
    assert_eq!(lines, ["get_weather(Atlantis)", "get_weather(Paris)"]);
}

#[test]
fn a_fan_out_stays_within_its_budget_and_every_sub_agent_reports() {
    let output = output("fan_out");
    let mut lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.pop(), Some("3 sub-agents, within budget: true"));
    assert_eq!(lines.pop(), Some("Lyon has silk, Nice has the sea. Brest is not finished."));
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "scout: A harbour; I did not get further. (budget_exceeded)",
            "scout: Silk, two rivers. (completed)",
            "scout: The sea, a promenade. (completed)",
        ]
    );
}

#[test]
fn approvals_are_decided_by_the_program() {
    assert_eq!(
        output("approvals").lines().collect::<std::collections::BTreeSet<_>>(),
        [
            "the window is open",
            "general > general asks for heater {\"degrees\":60}",
            "The window is open; the heater stays as it is.",
        ]
        .into()
    );
}

#[test]
fn a_service_streams_text_and_goes_on_with_a_conversation() {
    let mut service = example("service").stdout(Stdio::piped()).spawn().expect("a process");
    let mut stdout = BufReader::new(service.stdout.take().expect("a pipe"));
    let mut address = String::new();
    stdout.read_line(&mut address).expect("an address");
    let address = address.trim().strip_prefix("http://").expect("an address").to_owned();
    let get = |query: &str| {
        let mut stream = TcpStream::connect(&address).expect("a connection");
        let request = format!("GET /ask?{query} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    };
    let first = get("q=hello");
    assert!(first.contains("content-type: text/event-stream"), "{first}");
    assert!(first.matches("event: text").count() > 1, "the answer comes in pieces: {first}");
    let done = first.lines().find_map(|line| line.strip_prefix("data: {")).expect("a last event");
    assert!(done.contains(r#""outcome":"completed""#), "{done}");
    let conversation =
        done.split(r#""conversation":""#).nth(1).and_then(|rest| rest.split('"').next()).expect("a name");
    let second = get(&format!("q=again&conversation={conversation}"));
    assert!(second.contains("before"), "{second}");
    let unknown = get("q=again&conversation=20260101-none");
    assert!(unknown.starts_with("HTTP/1.1 400"), "{unknown}");
    service.kill().expect("it runs");
    service.wait().expect("it has ended");
}

// The page's code is compiled (`EmbeddingPage` in the library).
#[test]
fn the_code_in_the_readme_is_on_the_page_about_embedding() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("a page");
    let (readme, page) = (read("README.md"), read("docs/embedding.md"));
    let section = readme.split("## Embedding\n").nth(1).expect("a section");
    let code = section.split("```").nth(1).and_then(|block| block.strip_prefix("rust\n")).expect("code");
    for line in code.lines() {
        assert!(page.lines().any(|known| known.trim() == line), "{line}");
    }
}
