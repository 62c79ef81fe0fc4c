//! Servers that work and servers that do not, as real processes: what agents get of their tools, and what becomes of calls.

mod rig;

mod calling;
mod changing;
mod hostile;
mod http;
mod killed;
mod login;
mod many;
mod polite;
mod published;

/// Not a test of its own: this program is started again as a server, and then this is all that it does.
#[test]
fn this_program_is_a_server_where_it_is_started_as_one() {
    testkit::mcp_server::serve_if_asked();
}
