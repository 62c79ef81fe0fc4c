//! Damage in the write-ahead log that SQLite would pass over in silence.
//!
//! SQLite reads the log up to the first frame that does not fit its checksum and takes the rest for a commit that a crash
//! cut off. Where more than one commit follows, that is not what happened: each of them was on the disk before the next
//! began. Then something that was acknowledged would be gone without a word, and with a log that was never folded into
//! the database that may be everything. The same holds for a log that was removed.
//!
//! Only looks. A log whose last commit alone is broken is left to SQLite, which is right about it.

use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::file::beside;
use crate::error::Error;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The size of our pages, for a log whose own word on it cannot be trusted.
const PAGE: usize = 4096;
/// Either magic number is this with the last bit for the order of bytes in checksums.
const MAGIC: u32 = 0x377f_0682;
/// What looks like damage may be another process that begins the log anew; that is over when one looks again.
const LOOKS: u32 = 3;
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Refuses a database whose log has lost commits that were kept.
pub(super) fn check(database: &Path) -> Result<(), Error> {
    let mut looks = 1;
    loop {
        match look(database) {
            Ok(None) => return Ok(()),
            Ok(Some(damage)) if looks == LOOKS => return Err(Error::Corrupt(Arc::new(damage))),
            Ok(Some(_)) => looks += 1,
            Err(error) => return Err(super::fault::io(error)),
        }
        thread::sleep(LOOK_AGAIN);
    }
}

#[derive(Debug, thiserror::Error)]
enum Damage {
    /// SQLite makes the log before the index and removes it after, so that there is never an index without a log.
    #[error("{} is gone, and whatever was written last with it; put it back, or remove {} too and go on without", log.display(), index.display())]
    Gone { log: PathBuf, index: PathBuf },
    #[error("{} cannot be read from byte {at} on, although commits follow; cut it there and go on without them", log.display())]
    Broken { log: PathBuf, at: u64 },
}

fn look(database: &Path) -> io::Result<Option<Damage>> {
    let (log, index) = (beside(database, "-wal"), beside(database, "-shm"));
    match File::open(&log) {
        Ok(file) => {
            let at = broken_at(BufReader::with_capacity(1 << 16, file))?;
            Ok(at.map(|at| Damage::Broken { log, at }))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let has_index = fs::symlink_metadata(&index).is_ok();
            Ok(has_index.then_some(Damage::Gone { log, index }))
        }
        Err(error) => Err(error),
    }
}

/// Where the log breaks although more than one commit follows.
fn broken_at(mut log: impl Read) -> io::Result<Option<u64>> {
    let mut header = [0; HEADER];
    if !fill(&mut log, &mut header)? {
        return Ok(None);
    }
    let mut sum = Sum { big_endian: word(&header, 0) & 1 == 1, so_far: (0, 0) };
    sum.add(&header[..24]);
    let is_good = word(&header, 0) & !1 == MAGIC && sum.so_far == (word(&header, 24), word(&header, 28));
    let page = if is_good { word(&header, 8) as usize } else { PAGE };
    let mut salt = is_good.then(|| (word(&header, 16), word(&header, 20)));
    let mut broken = (!is_good).then_some(0);
    let (mut at, mut commits) = (HEADER as u64, 0);
    let mut frame = vec![0; FRAME_HEADER + page];
    while fill(&mut log, &mut frame)? {
        let of = (word(&frame, 8), word(&frame, 12));
        let belongs = *salt.get_or_insert(of) == of;
        if broken.is_none() {
            sum.add(&frame[..8]);
            sum.add(&frame[FRAME_HEADER..]);
            if !belongs || sum.so_far != (word(&frame, 16), word(&frame, 20)) {
                broken = Some(at);
            }
        }
        // Frames of another salt are what is left of the log before this one.
        if broken.is_some() && belongs && word(&frame, 4) != 0 {
            commits += 1;
        }
        at += frame.len() as u64;
    }
    Ok(broken.filter(|_| commits > 1))
}

/// Whether there were bytes for all of it. Part of a frame at the end is no frame.
fn fill(from: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// The checksum of SQLite's log, which each frame carries on from the one before.
struct Sum {
    big_endian: bool,
    so_far: (u32, u32),
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        // Every start reads the whole log: the order of bytes is not asked for again at each number.
        self.so_far = match self.big_endian {
            true => summed(self.so_far, bytes, u32::from_be_bytes),
            false => summed(self.so_far, bytes, u32::from_le_bytes),
        };
    }
}

fn summed(so_far: (u32, u32), bytes: &[u8], read: impl Fn([u8; 4]) -> u32) -> (u32, u32) {
    let (pairs, _) = bytes.as_chunks::<8>();
    pairs.iter().fold(so_far, |(one, two), &[a, b, c, d, e, f, g, h]| {
        let one = one.wrapping_add(read([a, b, c, d])).wrapping_add(two);
        (one, two.wrapping_add(read([e, f, g, h])).wrapping_add(one))
    })
}
