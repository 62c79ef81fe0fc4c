//! The real program where the world beneath it fails: disks that are full, failing, locked, read-only or damaged,
//! clocks that are set, and servers that send what no provider would.
//!
//! The faults are real ones: a small file system of its own, a lock in the database, bytes overwritten. Where the
//! system cannot be made to fail on demand, what stands between the program and libc fails for it (`device`). What
//! takes root to bring about is skipped with a line that says so. Processes that die are the business of `life`; what
//! providers do wrong in ordinary ways is that of `it`.

mod again;
mod clock;
mod data;
mod device;
mod disk;
mod excess;
mod files;
mod lock;
mod place;
mod wishes;
