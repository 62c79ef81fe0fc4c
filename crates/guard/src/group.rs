//! The control group of a guard and of everything that its command starts.
//!
//! The runtime makes it and removes it. The guard enters it before it takes an order: the kernel lets all processors go
//! through a quiet moment for that, which takes ten milliseconds and more on an idle machine, and nobody waits for a guard that has no order yet.
//! A guard whose runtime is gone removes the group itself.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

/// Folders of control groups, each with that of the group that the runtime is in.
pub(crate) struct Group(Vec<(PathBuf, PathBuf)>);

impl Group {
    /// The groups that are named in pairs.
    pub fn named(names: &[OsString]) -> Self {
        Self(names.as_chunks::<2>().0.iter().map(|[folder, home]| (folder.into(), home.into())).collect())
    }

    /// Puts this process in, with everything that it will start.
    pub fn enter(&self) -> Result<(), String> {
        self.0.iter().try_for_each(|(folder, _)| {
            fs::write(folder.join("cgroup.procs"), "0")
                .map_err(|error| format!("the control group does not take the command: {error}"))
        })
    }

    /// Goes back to where this process was started, and removes the group.
    pub fn remove(&self) {
        for (folder, home) in &self.0 {
            // What cannot be removed now is removed by the next runtime.
            let _ = fs::write(home.join("cgroup.procs"), "0").and_then(|()| fs::remove_dir(folder));
        }
    }
}
