//! Other tools were published while the thread lives, or came with a notice: before its next turn it gets those that it may have, loses those
//! that are gone, and its log says so. Requests before that turn stay as they were.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::event::Event;
use crate::machine::Moment;
use crate::thread::Thread;
use crate::tools::ASK_USER;
use crate::verb::Verb;

/// Brings the tools of the thread up to the catalogue in force.
pub fn renew(moment: &mut Moment<'_>) {
    let (thread, catalog) = (&*moment.thread, &*moment.facts.catalog);
    let is_wanting = |tool: &Arc<str>| !thread.tools.has(tool) && catalog.tools.contains_key(tool);
    if *thread.tools.version() == catalog.version && !thread.tools.lent().iter().any(is_wanting) {
        return;
    }
    let may_have = allowed(thread, catalog);
    let removed = thread.tools.names().iter().filter(|tool| !may_have.contains(tool)).cloned().collect();
    let version = catalog.version.clone();
    let added: Vec<Arc<str>> = may_have.into_iter().filter(|tool| !thread.tools.has(tool)).collect();
    let foreign = added.iter().any(|tool| catalog.foreign.contains(tool));
    moment.emit(Event::ToolsChanged { version, added, removed, foreign });
}

/// The tools that the thread may have, of those that there are: its role's, those that came with a notice, and every other one where neither
/// its agent nor its parent chose its tools by name.
fn allowed(thread: &Thread, catalog: &Catalog) -> Vec<Arc<str>> {
    let role = &thread.created.role;
    let is_there = |tool: &&Arc<str>| catalog.tools.contains_key(*tool) || Verb::of(tool).is_some();
    let may_ask = thread.created.brief.is_none() || thread.created.policy.children_may_ask;
    let is_new = |tool: &&Arc<str>| {
        role.gets_new_tools
            && !role.tools.contains(tool)
            && !catalog.reserved.contains(*tool)
            && catalog.is_chosen(role.servers.as_deref(), tool)
            && Verb::of(tool).is_none()
            && (may_ask || &***tool != ASK_USER)
    };
    let lent = thread.tools.lent().iter().filter(|tool| !role.tools.contains(tool) && !is_new(tool));
    let own = role.tools.iter().chain(lent).filter(is_there);
    own.chain(catalog.tools.keys().filter(is_new)).cloned().collect()
}
