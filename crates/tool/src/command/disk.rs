//! Free space on the workspace's disk: a command that is about to fill it is ended before others run out of it.
//!
//! A limit on the size of a file bounds no number of files, and a quota is not ours to set. What is left free is looked at
//! instead, whichever process takes it: a full disk stops the log, and with it every agent.

use cap_std::fs::Dir;

/// This much is left to others, or a sixteenth of a small disk.
const FLOOR_BYTES: u64 = 1 << 30;

/// The least that a command must leave free; none where less was free when it began, which is not its doing.
pub(super) struct Disk {
    floor: Option<u64>,
}

impl Disk {
    pub fn of(folder: &Dir) -> Self {
        Self { floor: room(folder).and_then(|room| floor(&room)) }
    }

    /// Whether less than that is left.
    pub fn is_nearly_full(&self, folder: &Dir) -> bool {
        self.floor.zip(room(folder)).is_some_and(|(floor, room)| room.free < floor)
    }
}

struct TestWorkspace {
    total: u64,
    free: u64,
}

fn room(folder: &Dir) -> Option<TestWorkspace> {
    let found = rustix::fs::fstatvfs(folder).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Some(TestWorkspace { total: bytes(found.f_blocks), free: bytes(found.f_bavail) })
}

fn floor(room: &TestWorkspace) -> Option<u64> {
    let floor = FLOOR_BYTES.min(room.total / 16);
    (room.free >= floor).then_some(floor)
}

#[cfg(test)]
mod tests {
    use super::*;

    // T39
    #[test]
    fn a_disk_that_was_nearly_full_before_is_not_blamed_on_a_command() {
        let gib = 1 << 30;
        assert_eq!(floor(&TestWorkspace { total: 100 * gib, free: 50 * gib }), Some(gib));
        assert_eq!(floor(&TestWorkspace { total: 16, free: 8 }), Some(1), "a small disk");
        assert_eq!(floor(&TestWorkspace { total: 100 * gib, free: gib - 1 }), None);
    }
}
