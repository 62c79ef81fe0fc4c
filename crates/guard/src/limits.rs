//! How much each process of a command may take: memory, file sizes, open files, and processes in a namespace.
//!
//! What all processes of a command may take together is limited by a control group, in which the runtime puts the guard.

use rustix::process::{Pid, Resource, Rlimit};

/// Processes and threads of one command.
pub const PROCESSES: u64 = 2048;
/// What one process may write to in memory. Address space that is only reserved does not count: runtimes reserve much.
pub const PROCESS_MEMORY: u64 = 4 << 30;
/// The size of one file.
pub const FILE_BYTES: u64 = 4 << 30;
/// Open files of one process.
pub const OPEN_FILES: u64 = 8192;

/// Sets the limits that every process has for itself, for this process and those that it starts.
pub(crate) fn set_own() {
    let limits = [
        (Resource::Core, 0),
        (Resource::Data, PROCESS_MEMORY),
        (Resource::Fsize, FILE_BYTES),
        (Resource::Nofile, OPEN_FILES),
    ];
    for (resource, most) in limits {
        // A limit that is lower already stays, and one that cannot be set is one that is there.
        let most = rustix::process::getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
        let _ = rustix::process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

/// Limits the processes of a user namespace by its first one.
pub(crate) fn set_processes(first: Pid) {
    let limit = Rlimit { current: Some(PROCESSES), maximum: Some(PROCESSES) };
    // It may have ended already.
    let _ = rustix::process::prlimit(Some(first), Resource::Nproc, limit);
}
