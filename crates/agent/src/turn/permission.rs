//! Whether a call may be made: by the tools that the thread has, and by its mode.

use crate::event::VerdictKind;
use crate::machine::Moment;
use crate::mode::Mode;
use crate::policy::VERBS;
use crate::tools::{Reach, ToolInfo};

/// What becomes of a call of `name`.
pub fn judge(moment: &Moment<'_>, name: &str) -> VerdictKind {
    let created = &moment.thread.created;
    let refused = |reason: String| VerdictKind::Refused { reason: reason.into(), rule: None };
    if !created.role.tools.iter().any(|tool| &**tool == name) {
        if VERBS.contains(&name) && created.grant.depth == 0 && created.policy.enabled {
            return refused(format!(
                "Maximum sub-agent depth ({}) exceeded (policy.max_depth): do the task yourself",
                created.policy.max_depth
            ));
        }
        let known = moment.house.tools.contains_key(name) || VERBS.contains(&name);
        let what = if known { "is not permitted to you" } else { "is no tool" };
        let tools = created.role.tools.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
        return refused(format!("{name} {what}. Your tools: {tools}"));
    }
    match moment.house.tools.get(name) {
        None if VERBS.contains(&name) => VerdictKind::Verb,
        None => refused(format!("{name} is not available in this process")),
        Some(tool) => by_mode(created.mode, tool),
    }
}

fn by_mode(mode: Mode, tool: &ToolInfo) -> VerdictKind {
    let name = &tool.name;
    let allowed = VerdictKind::Run { reach: tool.reach, idempotent: tool.idempotent };
    let asked = |free: Mode| VerdictKind::Refused {
        reason: format!(
            "{name} was refused: in mode {mode} it needs a person's consent, and nobody can give it here. \
             Go on without it, or say what you would have done"
        )
        .into(),
        rule: Some(format!("{name}: allowed by --mode {free}").into()),
    };
    match (mode, tool.reach) {
        (Mode::Dangerous, _) | (_, Reach::ReadOnly) => allowed,
        (Mode::Plan, Reach::Own | Reach::Workspace | Reach::World) => {
            VerdictKind::Refused { reason: format!("{name} is not permitted: mode plan only reads").into(), rule: None }
        }
        (Mode::Ask | Mode::Auto, Reach::Own) | (Mode::Auto, Reach::Workspace) => allowed,
        (Mode::Ask, Reach::Workspace) => asked(Mode::Auto),
        (Mode::Ask | Mode::Auto, Reach::World) => asked(Mode::Dangerous),
    }
}
