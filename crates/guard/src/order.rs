//! What the runtime tells a guard and what the guard tells at the end: plain data and a few open files, over one socket.
//!
//! An order is a length and a list of fields, each with its own length. Names and values are bytes, not text: a path of the
//! workspace may hold anything. The open files come with the first bytes: the command's folder and the pipe for its output, and for a
//! program that is talked to while it runs, also the pipes for its input and its errors.

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

/// An order is not longer than this; one that says it is was not sent by us.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// What a guard runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The command's whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// What is around it.
    pub sandbox: Sandbox,
}

/// How a command is confined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// Not at all.
    #[default]
    None,
    /// In namespaces, built by bubblewrap.
    Bubblewrap(Bubblewrap),
    /// By Landlock and a filter of system calls.
    Landlock(Landlock),
}

/// What bubblewrap is told, and what is checked before the command begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bubblewrap {
    /// Bubblewrap itself.
    pub program: PathBuf,
    /// Its arguments, without those that name open files.
    pub arguments: Vec<OsString>,
    /// The filter of system calls, as the kernel reads it.
    pub filter: Vec<u8>,
    /// The folder that is mounted as the workspace.
    pub workspace: PathBuf,
    /// Paths in it that are mounts of their own and must lead to themselves.
    pub mounted: Vec<PathBuf>,
    /// Folders that are made as mount points, and removed when they are empty.
    pub mount_points: Vec<PathBuf>,
}

/// What is allowed to a command that Landlock confines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Landlock {
    /// What may be read.
    pub read: Vec<PathBuf>,
    /// What may be written, beside a folder of its own for temporary files.
    pub write: Vec<PathBuf>,
    /// Devices that may be used.
    pub devices: Vec<PathBuf>,
    /// The filter of system calls, as the kernel reads it.
    pub filter: Vec<u8>,
    /// Where that folder is made.
    pub temporary: PathBuf,
}

/// An order as a guard gets it.
#[derive(Debug)]
pub struct Received {
    /// What to run.
    pub order: Order,
    /// The folder to run it in.
    pub cwd: OwnedFd,
    /// Where what it prints goes, and where its input comes from.
    pub streams: Streams,
}

/// The pipes of a command.
#[derive(Debug)]
pub struct Streams {
    /// Where its output goes.
    pub output: OwnedFd,
    /// Where its input comes from, and where its errors go. Without them the input is empty and errors go where output goes.
    pub talk: Option<(OwnedFd, OwnedFd)>,
}

/// What a guard tells at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The command's exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it was not started.
    pub problem: Option<String>,
    /// Processes that were ended with it.
    pub swept: usize,
    /// Processes that could not be ended.
    pub left: usize,
}

/// The most files that come with an order.
const MAX_FILES: usize = 4;

/// Sends the beginning of an order, with the open files: the command's folder, its output, and for a program that is talked to its
/// input and its errors. The rest is to be written after it.
pub fn send_files(line: impl AsFd, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
    let mut sent = SendAncillaryBuffer::new(&mut space);
    assert!(
        files.len() <= MAX_FILES && sent.push(SendAncillaryMessage::ScmRights(files)),
        "there is space for the files"
    );
    Ok(rustix::net::sendmsg(line, &[IoSlice::new(bytes)], &mut sent, SendFlags::NOSIGNAL)?)
}

/// Waits for an order; none if the socket is closed before it is complete.
pub fn receive(line: &UnixStream) -> io::Result<Option<Received>> {
    let Some((order, files)) = receive_with_files(line)? else { return Ok(None) };
    let mut files = files.into_iter();
    let (Some(cwd), Some(output)) = (files.next(), files.next()) else {
        return Err(io::Error::other("it came without the command's folder and output"));
    };
    Ok(Some(Received { order, cwd, streams: Streams { output, talk: files.next().zip(files.next()) } }))
}

/// The same with whatever files come with it.
pub(crate) fn receive_with_files(line: &UnixStream) -> io::Result<Option<(Order, Vec<OwnedFd>)>> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
    let mut files = RecvAncillaryBuffer::new(&mut space);
    let got = loop {
        match rustix::net::recvmsg(line, &mut [IoSliceMut::new(&mut length)], &mut files, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            got => break got?.bytes,
        }
    };
    let files: Vec<OwnedFd> = (files.drain())
        .flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => files.collect::<Vec<_>>(),
            _ => Vec::new(),
        })
        .collect();
    Ok(body(line, length, got)?.map(|order| (order, files)))
}

fn body(mut line: &UnixStream, mut length: [u8; 4], got: usize) -> io::Result<Option<Order>> {
    let whole = |result: io::Result<()>| match result {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        result => result.map(|()| true),
    };
    if !whole(line.read_exact(&mut length[got..]))? {
        return Ok(None);
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_BYTES {
        return Err(io::Error::other("it is too long"));
    }
    let mut bytes = vec![0; length];
    if !whole(line.read_exact(&mut bytes))? {
        return Ok(None);
    }
    Order::read(&bytes).map(Some).ok_or_else(|| io::Error::other("it is damaged"))
}

impl Order {
    /// The order as it is sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Fields(vec![0; 4]);
        out.number(self.environment.len());
        for (name, value) in &self.environment {
            out.field(name).field(value);
        }
        out.list(&self.command);
        match &self.sandbox {
            Sandbox::None => out.number(0),
            Sandbox::Bubblewrap(with) => {
                out.number(1).field(&with.program).list(&with.arguments).bytes(&with.filter);
                out.field(&with.workspace).list(&with.mounted).list(&with.mount_points)
            }
            Sandbox::Landlock(with) => {
                out.number(2).list(&with.read).list(&with.write).list(&with.devices);
                out.bytes(&with.filter).field(&with.temporary)
            }
        };
        let Fields(mut bytes) = out;
        let length = u32::try_from(bytes.len() - 4).expect("an order is far shorter than 4 GiB");
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = Rest(bytes);
        let mut environment = Vec::new();
        for _ in 0..rest.number()? {
            environment.push((rest.field()?, rest.field()?));
        }
        let command = rest.list()?;
        let sandbox = match rest.number()? {
            0 => Sandbox::None,
            1 => Sandbox::Bubblewrap(Bubblewrap {
                program: rest.field()?.into(),
                arguments: rest.list()?,
                filter: rest.bytes()?.to_vec(),
                workspace: rest.field()?.into(),
                mounted: rest.list()?,
                mount_points: rest.list()?,
            }),
            2 => Sandbox::Landlock(Landlock {
                read: rest.list()?,
                write: rest.list()?,
                devices: rest.list()?,
                filter: rest.bytes()?.to_vec(),
                temporary: rest.field()?.into(),
            }),
            _ => return None,
        };
        rest.0.is_empty().then_some(Self { environment, command, sandbox })
    }
}

impl Outcome {
    /// The outcome as it is sent: four numbers, of which an absent one is `-`, and why nothing was run.
    pub fn to_bytes(&self) -> Vec<u8> {
        let number = |number: Option<i32>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let Self { code, signal, problem, swept, left } = self;
        let problem = problem.as_deref().unwrap_or_default();
        format!("{} {} {swept} {left} {problem}\n", number(*code), number(*signal)).into_bytes()
    }

    /// What a guard has sent; none if it died before it had sent all.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let mut parts = text.splitn(5, ' ');
        let mut number = || match parts.next()? {
            "-" => Some(None),
            number => Some(Some(number.parse::<i32>().ok()?)),
        };
        let (code, signal, swept, left) = (number()?, number()?, number()??, number()??);
        let problem = parts.next().filter(|problem| !problem.is_empty()).map(str::to_owned);
        Some(Self { code, signal, problem, swept: swept.try_into().ok()?, left: left.try_into().ok()? })
    }
}

struct Fields(Vec<u8>);

impl Fields {
    fn number(&mut self, number: usize) -> &mut Self {
        let number = u32::try_from(number).expect("a field is far shorter than 4 GiB");
        self.0.extend(number.to_le_bytes());
        self
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len()).0.extend(bytes);
        self
    }

    fn field(&mut self, field: impl AsRef<OsStr>) -> &mut Self {
        self.bytes(field.as_ref().as_bytes())
    }

    fn list(&mut self, list: &[impl AsRef<OsStr>]) -> &mut Self {
        self.number(list.len());
        for field in list {
            self.field(field);
        }
        self
    }
}

struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn number(&mut self) -> Option<usize> {
        let (number, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number) as usize)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn field(&mut self) -> Option<OsString> {
        Some(OsString::from_vec(self.bytes()?.to_vec()))
    }

    fn list<T: From<OsString>>(&mut self) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| self.field().map(T::from)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn words<T: From<OsString>>(words: &[&str]) -> Vec<T> {
        words.iter().map(|word| T::from(OsString::from(word))).collect()
    }

    fn orders() -> Vec<Order> {
        let plain = Order {
            environment: vec![("HOME".into(), "/home/a".into()), ("EMPTY".into(), "".into())],
            command: words(&["/bin/sh", "-c", "echo 'a\nb'"]),
            sandbox: Sandbox::None,
        };
        let odd = OsString::from_vec(vec![b'/', 0xFF, 0xFE]);
        let wrapped = Bubblewrap {
            program: "/usr/bin/bwrap".into(),
            arguments: words(&["--ro-bind", "/", "/"]),
            filter: vec![0, 1, 2, 255],
            workspace: odd.clone().into(),
            mounted: vec![odd.into()],
            mount_points: Vec::new(),
        };
        let confined = Landlock { read: words(&["/usr"]), write: words(&["/work", "/tmp"]), ..Landlock::default() };
        vec![
            Order { sandbox: Sandbox::Bubblewrap(wrapped), ..plain.clone() },
            Order { sandbox: Sandbox::Landlock(confined), ..plain.clone() },
            plain,
            Order::default(),
        ]
    }

    #[test]
    fn an_order_arrives_with_its_files_as_it_was_sent() {
        for order in orders() {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let (folder, file) = (tempfile::tempdir().unwrap(), tempfile::tempfile().unwrap());
            let opened = std::fs::File::open(folder.path()).unwrap();
            let bytes = order.to_bytes();
            let sent = send_files(&ours, &bytes[..3], &[opened.as_fd(), file.as_fd()]).unwrap();
            (&ours).write_all(&bytes[sent..]).unwrap();
            let Received { order: read, cwd, streams: Streams { output, talk } } = receive(&theirs).unwrap().unwrap();
            assert!(read == order && talk.is_none());
            assert!(std::fs::File::from(cwd).metadata().unwrap().is_dir());
            std::fs::File::from(output).write_all(b"printed").unwrap();
            assert_eq!(file.metadata().unwrap().len(), 7);
        }
    }

    #[test]
    fn an_order_that_is_cut_off_or_damaged_is_not_carried_out() {
        for order in orders() {
            let bytes = order.to_bytes();
            for length in 0..bytes.len() {
                let (mut ours, theirs) = UnixStream::pair().unwrap();
                ours.write_all(&bytes[..length]).unwrap();
                drop(ours);
                assert!(receive_with_files(&theirs).unwrap().is_none(), "{length} of {}", bytes.len());
                assert!(length < 4 || Order::read(&bytes[4..length]).is_none(), "{length} of {}", bytes.len());
            }
        }
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        ours.write_all(&u32::MAX.to_le_bytes()).unwrap();
        assert!(receive_with_files(&theirs).is_err());
    }

    #[test]
    fn an_outcome_is_read_whole_or_not_at_all() {
        let problem = Some("the sandbox could not be built: no 'x' here".to_owned());
        for outcome in [
            Outcome::default(),
            Outcome { code: Some(3), swept: 2, left: 1, ..Outcome::default() },
            Outcome { signal: Some(9), problem, ..Outcome::default() },
        ] {
            let bytes = outcome.to_bytes();
            assert_eq!(Outcome::read(&bytes), Some(outcome));
            assert!((0..bytes.len()).all(|length| Outcome::read(&bytes[..length]).is_none()));
        }
    }
}
