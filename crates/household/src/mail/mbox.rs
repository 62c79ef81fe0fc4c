//! `mbox` files: where each mail in the file begins and ends, and its bytes.
//!
//! A mail begins after a line `From …` with a time in it that is the first line or follows an empty line; in the text of a mail such lines
//! are escaped with `>`, which is removed on reading. Files are read in one pass and never loaded whole. Absent: writing,
//! because other programs lock and rewrite these files, each in its own way.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::folder::{HEAD, MailFile};

/// The longest piece of a line that is looked at; what is longer is no header and no separator.
const LINE: u64 = 64 * 1024;
const FROM: &[u8] = b"From ";

/// Whether a file is one, by its ending, or by how it begins where it has none.
pub(crate) fn is_mbox(file: &Path) -> bool {
    match file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()) {
        Some(ending) => matches!(&*ending, "mbox" | "mbx"),
        None => {
            // Files that are called by numbers are mails of their own, and there may be many of them.
            let is_number = file.file_name().is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit));
            let mut first = [0; FROM.len()];
            !is_number && File::open(file).and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == FROM
        }
    }
}

/// The mails of a file, as long as they are not marked as deleted.
pub(crate) fn messages(file: &Path) -> io::Result<Vec<MailFile>> {
    let mut file = BufReader::with_capacity(LINE as usize, File::open(file)?);
    let (mut found, mut message) = (Vec::new(), None::<RawMessage>);
    let (mut at, mut line) = (0, Vec::new());
    let (mut is_start, mut is_after_blank) = (true, true);
    loop {
        line.clear();
        let read = file.by_ref().take(LINE).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            break;
        }
        let is_blank = is_start && matches!(&*line, b"\n" | b"\r\n");
        if is_start && is_after_blank && is_separator(&line) {
            found.extend(message.take().and_then(|message| message.ended(at)));
            message = Some(RawMessage::from(at + read));
        } else if let Some(message) = &mut message {
            message.add(&line, is_start, is_blank);
        }
        at += read;
        (is_after_blank, is_start) = (is_blank, line.ends_with(b"\n"));
    }
    found.extend(message.and_then(|message| message.ended(at)));
    let mut same: HashMap<String, usize> = HashMap::new();
    for entry in &mut found {
        let count = same.entry(entry.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            entry.id = format!("{}_{count}", entry.id);
        }
    }
    Ok(found)
}

/// The part of a file that a mail's name says; none where it says none.
pub(crate) fn part(name: &str) -> Option<(u64, u64)> {
    let (start, length) = name.split_once('+')?;
    Some((start.parse().ok()?, length.parse().ok()?))
}

/// A mail's bytes, at most so many, as they lie in the file.
pub(crate) fn raw(file: &Path, (start, length): (u64, u64), most: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(file)?;
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(length.min(most)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A mail as it was before it was put into a file.
pub(crate) fn unescaped(raw: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(raw.len());
    for line in raw.split_inclusive(|byte| *byte == b'\n') {
        let marks = line.iter().take_while(|byte| **byte == b'>').count();
        message.extend_from_slice(&line[usize::from(marks > 0 && line[marks..].starts_with(FROM))..]);
    }
    message
}

/// Changes when the first bytes of a mail do.
pub(crate) fn stamp(head: &[u8]) -> i64 {
    number(&blake3::hash(head))
}

/// A mail that is being read.
struct RawMessage {
    start: u64,
    /// Empty lines that are a part of it only if something follows them.
    blank: Vec<u8>,
    /// What its first bytes come to, and how many they are.
    head: blake3::Hasher,
    hashed: u64,
    is_header: bool,
    /// The last header was `Message-ID`, and its value has not come yet.
    is_name_next: bool,
    name: Option<blake3::Hash>,
    is_deleted: bool,
}

impl RawMessage {
    fn from(start: u64) -> Self {
        let head = blake3::Hasher::new();
        Self {
            start,
            blank: Vec::new(),
            head,
            hashed: 0,
            is_header: true,
            is_name_next: false,
            name: None,
            is_deleted: false,
        }
    }

    fn add(&mut self, line: &[u8], is_start: bool, is_blank: bool) {
        if is_blank {
            self.blank.extend_from_slice(line);
            self.is_header = false;
            return;
        }
        let blank = std::mem::take(&mut self.blank);
        self.hash(&blank);
        self.hash(line);
        if self.is_header && is_start {
            self.read_header(line);
        }
    }

    fn hash(&mut self, bytes: &[u8]) {
        let taken = bytes.len().min(usize::try_from(HEAD - self.hashed).unwrap_or(usize::MAX));
        self.head.update(&bytes[..taken]);
        self.hashed += taken as u64;
    }

    fn read_header(&mut self, line: &[u8]) {
        let value = |name: &[u8]| {
            let is_it = line.len() > name.len() && line[..name.len()].eq_ignore_ascii_case(name);
            is_it.then(|| line[name.len()..].trim_ascii())
        };
        let is_more = line.starts_with(b" ") || line.starts_with(b"\t");
        let named = value(b"message-id:").or((self.is_name_next && is_more).then(|| line.trim_ascii()));
        self.is_name_next = named.is_some_and(<[u8]>::is_empty);
        if let Some(name) = named.filter(|name| !name.is_empty()) {
            self.name.get_or_insert_with(|| blake3::hash(name));
        }
        if let Some(status) = value(b"x-mozilla-status:") {
            const EXPUNGED: u32 = 0x8;
            let status = std::str::from_utf8(status).ok().and_then(|status| u32::from_str_radix(status, 16).ok());
            self.is_deleted |= status.is_some_and(|status| status & EXPUNGED != 0);
        }
    }

    /// Its entry. It is known by its own name in the world, so that nothing that happens to its neighbours changes its id.
    fn ended(self, at: u64) -> Option<MailFile> {
        let length = at - self.start - self.blank.len() as u64;
        let stamped = self.head.finalize();
        let id = format!("mbox_{}", &self.name.unwrap_or(stamped).to_hex()[..12]);
        let name = format!("{}+{length}", self.start);
        (!self.is_deleted && length > 0).then(|| MailFile { id, name, flags: String::new(), stamp: number(&stamped) })
    }
}

fn number(hash: &blake3::Hash) -> i64 {
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    i64::from_le_bytes(first)
}

/// Whether a line separates mails: `From a person`, and a time. A sentence that begins with the word has none.
fn is_separator(line: &[u8]) -> bool {
    let is_time =
        |window: &[u8]| window[2] == b':' && [0, 1, 3, 4].iter().all(|at: &usize| window[*at].is_ascii_digit());
    line.starts_with(FROM) && line.windows(5).any(is_time)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    const FIRST: &str = "From ana@a.example Thu Jan 15 09:30:00 2026\nMessage-ID: <1@a>\nSubject: One\n\nHello\n\nFrom here on \
        it is easy.\n>From there too.\n\n";
    const SECOND: &str =
        "From - Thu Jan 15 09:31:00 2026\nMessage-Id:\n <2@a>\nX-Mozilla-Status: 0001\n\n>>From afar\n\n\n";
    const DELETED: &str = "From - Thu Jan 15 09:32:00 2026\nX-Mozilla-Status: 0009\n\nGone\n\n";

    fn all(text: &str) -> (Vec<MailFile>, Vec<String>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("all.mbox");
        std::fs::write(&file, text).expect("written");
        let entries = messages(&file).expect("letters");
        let read = |entry: &MailFile| {
            let raw = raw(&file, part(&entry.name).expect("a part"), HEAD).expect("bytes");
            assert_eq!(stamp(&raw), entry.stamp, "what is read is what was listed");
            String::from_utf8(unescaped(&raw)).expect("text")
        };
        let texts = entries.iter().map(read).collect();
        (entries, texts)
    }

    #[test]
    fn mails_are_told_apart_and_come_out_as_they_went_in() {
        let (entries, texts) = all(&format!("{FIRST}{SECOND}{DELETED}"));
        assert_eq!(entries.len(), 2, "what was deleted is not there: {texts:?}");
        assert!(texts[0].ends_with("Hello\n\nFrom here on it is easy.\nFrom there too.\n"), "{}", texts[0]);
        assert!(texts[1].ends_with("\n\n>From afar\n"), "{}", texts[1]);
    }

    #[test]
    fn a_mail_keeps_its_id_whatever_becomes_of_its_neighbours() {
        let ids = |text: &str| all(text).0.into_iter().map(|entry| entry.id).collect::<Vec<_>>();
        let both = ids(&format!("{FIRST}{SECOND}"));
        assert_eq!(ids(SECOND), both[1..]);
        assert_eq!(ids(&format!("{SECOND}{FIRST}")), [both[1].clone(), both[0].clone()]);
        assert_eq!(ids(&FIRST.replace("Subject", "Status: RO\nSubject")), both[..1], "a mark is not another letter");
        assert_eq!(ids(&format!("{FIRST}{FIRST}"))[1], format!("{}_2", both[0]));
    }

    #[test]
    fn what_is_no_mbox_has_no_mails_and_a_long_one_is_read_in_pieces() {
        assert_eq!(all("").0, []);
        assert_eq!(all("Hello\n\nFrom nobody\n").0, []);
        let mut text = String::new();
        for number in 0..50 {
            let line = "x".repeat(100_000);
            write!(text, "From a Thu Jan 15 09:30:00 2026\r\nMessage-ID: <{number}>\r\n\r\n{line}\r\n\r\n")
                .expect("text");
        }
        let (entries, texts) = all(&text);
        assert_eq!(entries.len(), 50);
        assert!(texts.iter().all(|text| text.len() > 100_000));
    }
}
