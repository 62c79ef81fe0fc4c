//! What a guard is told to build for a plan.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use guard::order::{Bubblewrap, Landlock, Sandbox};

use super::filter::{self, Metadata, Sockets};
use super::plan::{Access, Kept, MadeOf, Plan};
use super::{bubblewrap, ruleset};

/// The sandbox of a command that runs in this folder, and what is different in its environment there.
pub(crate) fn ordered(plan: &Plan, cwd: &Path, environment: &mut Vec<(OsString, OsString)>) -> Result<Sandbox, String> {
    if !cwd.starts_with(&plan.workspace) {
        return Err(format!("the sandbox is for {}, which is not there any more", plan.workspace.display()));
    }
    let temporary = variable(environment, "TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    settle(environment, plan);
    match &plan.made_of {
        MadeOf::Bubblewrap(program) => {
            let absent = |kept: &Kept| match kept {
                Kept::Absent(path) => Some(path.clone()),
                Kept::AsItIs(_) => None,
            };
            let as_they_are = plan.kept.iter().filter(|kept| matches!(kept, Kept::AsItIs(_)));
            let mounted = plan.pinned.iter().map(PathBuf::as_path).chain(as_they_are.map(Kept::path));
            Ok(Sandbox::Bubblewrap(Bubblewrap {
                program: program.clone(),
                arguments: bubblewrap::arguments(plan, cwd),
                filter: wrapped_filter()?,
                workspace: plan.workspace.clone(),
                mounted: mounted.map(Path::to_owned).collect(),
                mount_points: plan.kept.iter().filter_map(absent).collect(),
            }))
        }
        MadeOf::Landlock => {
            let metadata = match plan.access {
                Access::ReadOnly => Metadata::Kept,
                Access::Workspace => Metadata::Open,
            };
            let filter = filter::bytes(plan.network.into(), metadata)?;
            Ok(Sandbox::Landlock(Landlock { filter, temporary, ..ruleset::allowed(plan)? }))
        }
    }
}

/// The filter behind bubblewrap, which is the same for all commands.
fn wrapped_filter() -> Result<Vec<u8>, String> {
    static MADE: OnceLock<Result<Vec<u8>, String>> = OnceLock::new();
    MADE.get_or_init(|| filter::bytes(Sockets::Internet, Metadata::Open)).clone()
}

/// Git's settings in a sandbox. A command that only reads takes no locks and runs neither hooks nor a monitor of the
/// repository; whatever else a repository makes git run there can change nothing. A command that may write keeps all of
/// them, but does not write the repository's settings on the side.
fn git_settings(access: Access) -> &'static [(&'static str, &'static str)] {
    match access {
        Access::ReadOnly => &[("core.fsmonitor", "false"), ("core.hooksPath", "/dev/null")],
        Access::Workspace => &[("branch.autoSetupMerge", "false")],
    }
}

/// What is different in the environment in a sandbox: places that could not be written there, and settings of git.
fn settle(environment: &mut Vec<(OsString, OsString)>, plan: &Plan) {
    let target = variable(environment, "CARGO_TARGET_DIR");
    let is_outside = target.is_some_and(|target| !Path::new(&target).starts_with(&plan.workspace));
    environment.retain(|(name, _)| {
        name != "TMPDIR" && name != "XDG_RUNTIME_DIR" && !(is_outside && name == "CARGO_TARGET_DIR")
    });
    let mut set = |name: &str, value: &str| environment.push((name.into(), value.into()));
    let settings = git_settings(plan.access);
    set("GIT_CONFIG_COUNT", &settings.len().to_string());
    for (at, (key, value)) in settings.iter().enumerate() {
        set(&format!("GIT_CONFIG_KEY_{at}"), key);
        set(&format!("GIT_CONFIG_VALUE_{at}"), value);
    }
    if plan.access == Access::ReadOnly {
        set("GIT_OPTIONAL_LOCKS", "0");
    }
    // Landlock shows no folder at another place.
    if let (MadeOf::Landlock, Some(cache)) = (&plan.made_of, &plan.cache) {
        set("XDG_CACHE_HOME", &cache.folder.to_string_lossy());
    }
    // Landlock's folder for temporary files is named by the guard that makes it.
    set("TMPDIR", "/tmp");
}

fn variable(environment: &[(OsString, OsString)], name: &str) -> Option<OsString> {
    environment.iter().find(|(its, _)| its == name).map(|(_, value)| value.clone())
}
