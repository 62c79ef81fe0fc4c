//! MCP servers with the real program: configured, trusted, called, asked about, and gone when the program is.
//!
//! The server is this test program itself, started again (`testkit::mcp_server`). What one connection does with servers that misbehave is
//! tested in `crates/mcp`.

mod asking;
mod commands;
mod killed;
mod poison;
mod projects;
mod running;
mod sizes;

use std::fs;

use testkit::mcp_server::{WORDS, command};
use testkit::world::World;

/// Not a test of its own: this program is started again as a server, and then this is all that it does.
#[test]
fn this_program_is_a_server_where_it_is_started_as_one() {
    testkit::mcp_server::serve_if_asked();
}

/// A world for the program whose tests these are.
fn world(scenes: &[String]) -> World {
    World::new(env!("CARGO_BIN_EXE_majordomo"), scenes)
}

/// The program and the arguments of the server.
fn server() -> Vec<String> {
    command("this_program_is_a_server_where_it_is_started_as_one")
}

/// Adds rules to the user's configuration.
fn configure_rules(world: &World, rules: &str) {
    let file = world.path("../home/.config/majordomo/config.toml");
    let before = fs::read_to_string(&file).unwrap_or_default();
    fs::write(&file, format!("{before}\n{rules}")).expect("a file");
}

/// Puts a server that behaves by these words into the user's configuration, with further lines.
fn configure(world: &World, name: &str, words: &str, more: &str) {
    let server = server();
    let quoted: Vec<String> = server.iter().map(|word| format!("{word:?}")).collect();
    let table = format!(
        "[mcp.servers.{name}]\ncommand = {}\nargs = [{}]\nenv = {{ {WORDS} = {words:?} }}\n{more}\n",
        quoted[0],
        quoted[1..].join(", ")
    );
    let file = world.path("../home/.config/majordomo/config.toml");
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    let before = fs::read_to_string(&file).unwrap_or_default();
    fs::write(&file, format!("{table}{before}")).expect("a file");
}
