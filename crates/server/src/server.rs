//! The server of one data folder: bound to an address, opened, closed.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use agent::ThreadId;
use async_recursion::async_recursion as boxed;
use majordomo::Staff;
use majordomo::kept;
use majordomo::threads::is_left;
use rustix::fs::OFlags;
use store::{Current, InstallationEvent, LastServer, ProcessId, Store, ThreadQuery, ThreadRow};
use tokio::net::TcpListener;

use crate::access::{Access, of_earlier_file};
use crate::live::{AllThreads, Live};
use crate::page::Page;
use crate::{connection, routes};

/// The file in the folder for state that holds the token of the server that runs, and nothing else.
pub const TOKEN_FILE: &str = "server.token";

/// The file there that leads a browser to the link: a command line can be read by everybody on the machine, and it cannot.
const LINK_FILE: &str = "enter.html";
/// The file there in which earlier versions kept the browsers that had signed in.
const EARLIER_GUESTS_FILE: &str = "server.guests";
/// The file there that is locked while a server runs on the folder; the lock ends with its process.
const LOCK_FILE: &str = "server.lock";

/// How a server is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it listens. Anything but this machine needs a password.
    pub addr: SocketAddr,
    /// Further names under which it is known, as a browser has them in its address line.
    pub names: Vec<String>,
    /// Lets people in who do not have the link.
    pub password: Option<String>,
    /// The folder for state.
    pub data: PathBuf,
    /// A folder from which the page's files are read at each request, in the place of those in the binary: for work on the page.
    pub page: Option<PathBuf>,
}

/// Why a server cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Others could reach it, and nothing would keep them out.
    #[error("{0} can be reached from elsewhere: set a password (MAJORDOMO_PASSWORD), or listen on 127.0.0.1")]
    Open(SocketAddr),
    /// Another server runs on the same folder.
    #[error(
        "`majordomo serve` is already running for {}{place}: stop it first, or choose another folder (MAJORDOMO_DATA)",
        folder.display()
    )]
    Taken {
        /// Which folder.
        folder: PathBuf,
        /// The address of that server, for people.
        place: String,
    },
    /// The address cannot be used.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// Which.
        addr: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The store cannot be read or written.
    #[error(transparent)]
    Store {
        /// Why.
        source: store::Error,
    },
    /// A file with a secret cannot be written.
    #[error("{}: {source}", path.display())]
    Token {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// A server that is bound and not yet open.
pub struct Server {
    staff: Staff,
    listener: TcpListener,
    addr: SocketAddr,
    access: Arc<Access>,
    token_file: PathBuf,
    page: Arc<Page>,
    /// Where it runs, for a store of several machines.
    place: Option<Arc<str>>,
    /// The server before this one at its place.
    before: Option<LastServer>,
    /// Keeps another server from the same folder.
    lock: DataLock,
}

/// What every request may use.
#[derive(Clone)]
pub(crate) struct Shared {
    pub staff: Staff,
    pub access: Arc<Access>,
    pub live: Arc<Live>,
    pub everything: Arc<AllThreads>,
    pub page: Arc<Page>,
}

impl Shared {
    pub fn store(&self) -> &Arc<dyn Store> {
        self.staff.runtime().store()
    }
}

impl Server {
    /// Binds a server for a staff.
    #[boxed]
    pub async fn bind(staff: Staff, options: Options) -> Result<Self, Error> {
        if !options.addr.ip().is_loopback() && options.password.is_none() {
            return Err(Error::Open(options.addr));
        }
        let store = staff.runtime().store().clone();
        let cannot_keep = |source| Error::Store { source };
        let installation = Current::open(&store).await.map_err(cannot_keep)?;
        let place = place(&*store, &options.data);
        let lock = lock(&options.data, installation.state().server_at(place.as_ref()))?;
        let listen = |source| Error::Listen { addr: options.addr, source };
        let listener = TcpListener::bind(options.addr).await.map_err(listen)?;
        let addr = listener.local_addr().map_err(listen)?;
        let token_file = options.data.join(TOKEN_FILE);
        take_over(&installation, &options.data).await.map_err(cannot_keep)?;
        let before = installation.state().server_at(place.as_ref()).cloned();
        let access = Arc::new(Access::new(addr, &options.names, options.password, installation.clone()));
        let started = InstallationEvent::ServerStarted {
            process: staff.runtime().process().clone(),
            address: addr.to_string().into(),
            place: place.clone(),
        };
        installation.record(started, staff.runtime().clock().now()).await.map_err(cannot_keep)?;
        write_private(&token_file, &format!("{}\n", access.token()))
            .map_err(|source| Error::Token { path: token_file.clone(), source })?;
        let page = Arc::new(Page::new(options.page));
        Ok(Self { staff, listener, addr, access, token_file, page, place, before, lock })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The link by which one browser signs in, once.
    pub fn link(&self) -> String {
        let code = self.access.code().unwrap_or_default();
        format!("http://{}/enter?code={code}", self.addr)
    }

    /// Writes a file that leads a browser to the link, and that only its owner can read. It is there until the server is closed.
    pub fn link_file(&self) -> Result<PathBuf, Error> {
        let path = self.token_file.with_file_name(LINK_FILE);
        let text = format!(
            "<!doctype html><meta charset=\"utf-8\"><title>Majordomo</title>\
             <meta http-equiv=\"refresh\" content=\"0;url={0}\"><p><a href=\"{0}\">Go on</a></p>\n",
            self.link()
        );
        write_private(&path, &text).map_err(|source| Error::Token { path: path.clone(), source })?;
        Ok(path)
    }

    /// Serves until `closed`; then requests that are under way end. Runs are left to be resumed. The caller keeps the lock of the
    /// folder until the staff has left.
    pub async fn open(self, closed: impl Future<Output = ()> + Send) -> DataLock {
        self.serve_until(std::pin::pin!(closed)).await
    }

    #[boxed]
    async fn serve_until(self, closed: Pin<&mut (dyn Future<Output = ()> + Send)>) -> DataLock {
        let Self { staff, listener, addr: _, access, token_file, page, place, before, lock } = self;
        if let Err(error) = staff.runtime().store().prepare().await {
            tracing::warn!(%error, "the database is opened when it is first read");
        }
        let live = Live::new(staff.runtime().clone());
        let closing = live.closing.clone();
        // Where several machines share the store, whatever is left is claimed (`majordomo::worker`).
        if let Some(before) = before
            && place.is_none()
        {
            go_on(&staff, &before).await;
        }
        let everything = AllThreads::new(staff.runtime().store().clone(), closing.clone());
        let router = routes::all(Shared { staff: staff.clone(), access, live, everything, page });
        let serving = connection::serve(listener, router, closing.clone());
        tokio::pin!(serving);
        tokio::select! {
            () = &mut serving => {}
            () = closed => {
                closing.cancel();
                serving.await;
            }
        }
        // Another server may have been opened since.
        let (own, store) = (staff.runtime().process().clone(), staff.store());
        let state = store.installation().await.ok();
        let last = state.as_ref().and_then(|state| state.server_at(place.as_ref()));
        if last.is_some_and(|last| last.process == own) {
            // Most were opened without a link file; the token is of no use any more.
            let _ = std::fs::remove_file(token_file.with_file_name(LINK_FILE));
            let _ = std::fs::remove_file(&token_file);
            let left = live_roots(&staff).await.into_iter().filter(|row| is_owned_by(row, &own));
            let left = left.map(|row| row.id).collect();
            let stopped = InstallationEvent::ServerStopped { process: own, left, place };
            if let Err(error) = store.record(stopped, staff.runtime().clock().now()).await {
                tracing::warn!(%error, "what is left in the middle is not kept for the next start");
            }
        }
        lock
    }
}

/// The lock of the folder for state: no other server runs on it until this is dropped.
#[derive(Debug)]
pub struct DataLock {
    _lock: File,
}

/// Locks the folder. Where files cannot be locked, no other server is kept from it.
fn lock(folder: &Path, last: Option<&LastServer>) -> Result<DataLock, Error> {
    let path = folder.join(LOCK_FILE);
    let broken = |source| Error::Token { path: path.clone(), source };
    // A link that another program planted is not followed: it would make a file elsewhere.
    let mut options = File::options();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits() as i32);
    let file = options.open(&path).map_err(broken)?;
    match file.try_lock() {
        Ok(()) => Ok(DataLock { _lock: file }),
        Err(TryLockError::WouldBlock) => {
            let addr = last.and_then(|last| last.address.as_ref());
            let place = addr.map_or_else(String::new, |addr| format!(", at http://{addr}"));
            Err(Error::Taken { folder: folder.to_owned(), place })
        }
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => Ok(DataLock { _lock: file }),
        Err(TryLockError::Error(error)) => Err(broken(error)),
    }
}

/// Resumes the runs that the server before this one left in the middle. Those that were begun at a terminal are left as they are.
async fn go_on(staff: &Staff, before: &LastServer) {
    let rows = live_roots(staff).await;
    let living = match staff.runtime().store().living(staff.runtime().clock().now()).await {
        Ok(living) => living,
        Err(error) => return tracing::error!(%error, "what is left in the middle cannot be looked for"),
    };
    for row in rows {
        let was_killed = is_owned_by(&row, &before.process) && is_left(&row, &living);
        let was_left = row.owner.is_none() && before.left.contains(&row.id);
        if (was_killed || was_left)
            && let Err(error) = staff.session_of(&row.id).resume().await
        {
            tracing::warn!(thread = %row.id, %error, "the run stays as it was left");
        }
    }
}

/// Where a server runs: on a store of several machines each folder for state of each has its own.
fn place(store: &dyn Store, data: &Path) -> Option<Arc<str>> {
    Some(format!("{}:{}", store.machine()?.name, data.display()).into())
}

async fn live_roots(staff: &Staff) -> Vec<ThreadRow> {
    let query = ThreadQuery { live_only: true, root_only: true, limit: usize::MAX, ..ThreadQuery::default() };
    staff.runtime().store().threads(query).await.unwrap_or_else(|error| {
        tracing::error!(%error, "what is left in the middle cannot be looked for");
        Vec::new()
    })
}

fn is_owned_by(row: &ThreadRow, process: &ProcessId) -> bool {
    row.owner.as_ref().is_some_and(|owner| owner.process.id == *process)
}

/// Has the store take over, once, what earlier versions kept in files: the browsers that were let in, and which runs the server
/// before this one left.
async fn take_over(installation: &Current, data: &Path) -> Result<(), store::Error> {
    let (guests, token) = (data.join(EARLIER_GUESTS_FILE), data.join(TOKEN_FILE));
    let browsers = of_earlier_file(&guests).into_iter().map(InstallationEvent::BrowserAdmitted);
    let server = earlier_server(&token).filter(|_| installation.state().server.is_none());
    let now = runtime::Clock::default().now();
    for event in browsers.chain(server) {
        installation.record(event, now).await?;
    }
    if let Err(error) = kept::put_aside(&guests) {
        tracing::warn!(%error, "{} is read again at the next start", guests.display());
    }
    Ok(())
}

/// What the file of the token tells of the server before, where an earlier version wrote it: below the token and the address its
/// process, and the runs that it left.
fn earlier_server(token: &Path) -> Option<InstallationEvent> {
    let text = std::fs::read_to_string(token).ok()?;
    let mut lines = text.lines().skip(2);
    let process = ProcessId::new(lines.next()?);
    Some(InstallationEvent::ServerStopped { process, left: lines.map(ThreadId::new).collect(), place: None })
}

/// Writes a file that only its owner can read, in the place of whatever was there.
pub(crate) fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    // A name for this file and this process alone: several files are written at the same time, by several servers.
    let passing = path.with_added_extension(format!("{}.new", std::process::id()));
    // A file that a killed process left, or a link that another program planted: neither is written through.
    let _ = std::fs::remove_file(&passing);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&passing)?;
    file.write_all(text.as_bytes())?;
    std::fs::rename(&passing, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_written_side_by_side_do_not_take_each_others_place() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for name in [TOKEN_FILE, "another", LINK_FILE] {
                let path = folder.path().join(name);
                scope.spawn(move || {
                    for n in 0..200 {
                        write_private(&path, &format!("{name} {n}")).unwrap();
                        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{name} {n}"));
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left over");
    }

    #[tokio::test]
    async fn what_earlier_versions_kept_in_files_is_taken_over_once() {
        let folder = tempfile::tempdir().unwrap();
        let (token, guests) = (folder.path().join(TOKEN_FILE), folder.path().join(EARLIER_GUESTS_FILE));
        let (cookie, page) = (blake3::hash(b"cookie"), blake3::hash(b"page"));
        let since = runtime::Clock::default().now().0 / 1000;
        std::fs::write(&guests, format!("-\n{cookie} {page} {since}\n")).unwrap();
        std::fs::write(&token, "\n\nhost-7-abc\n20260115-k3f9\n20260115-zzzz\n").unwrap();
        let store: Arc<dyn Store> = Arc::new(store::MemoryStore::new());
        let installation = Current::open(&store).await.unwrap();
        take_over(&installation, folder.path()).await.unwrap();
        let state = installation.state();
        assert_eq!(state.browsers.len(), 1);
        let left = ["20260115-k3f9", "20260115-zzzz"].map(ThreadId::new).to_vec();
        assert_eq!(
            state.server,
            Some(LastServer { process: ProcessId::new("host-7-abc"), address: None, left, place: None })
        );
        assert!(!guests.exists());

        let process = ProcessId::new("another");
        let started =
            InstallationEvent::ServerStarted { process: process.clone(), address: "here".into(), place: None };
        installation.record(started, runtime::Clock::default().now()).await.unwrap();
        take_over(&installation, folder.path()).await.unwrap();
        assert_eq!(installation.state().server.as_ref().map(|server| &server.process), Some(&process), "once");
    }
}
