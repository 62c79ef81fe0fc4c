//! The real program where the world beneath it fails: disks that are full, locked, read-only or damaged, and servers that
//! send what no provider would.
//!
//! The faults are real ones: a small file system of its own, a lock in the database, bytes overwritten. What takes root
//! to bring about is skipped with a line that says so. Processes that die are the business of `life`; what providers do
//! wrong in ordinary ways is that of `it`.

mod data;
mod disk;
mod excess;
mod lock;
mod place;
mod wishes;
