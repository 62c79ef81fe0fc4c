//! A proxy between processes and a PostgreSQL server that cuts their connections: all of them, one whose commit was just made before its
//! answer comes, or now and then one whose request was just carried out.
//!
//! It understands nothing of what passes but the tag of a commit. A connection is cut for both sides, as by a network that fails.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use store::Address;

use crate::dice::Dice;

/// What the server says once a transaction is committed.
const COMMITTED: &[u8] = b"C\0\0\0\x0bCOMMIT\0";

/// A proxy to one server. Gone with the test, together with its connections.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    /// The socket of the server.
    server: PathBuf,
    connections: Mutex<Vec<(TcpStream, UnixStream)>>,
    is_open: AtomicBool,
    is_over: AtomicBool,
    /// Of so many commits one has its answer cut off; none where it is 0.
    one_commit_in: AtomicU64,
    /// Of so many answers one is cut off; none where it is 0.
    one_answer_in: AtomicU64,
    dice: Mutex<Dice>,
    cut: AtomicU64,
}

impl Proxy {
    /// A proxy to the server whose socket is in this folder. What it cuts comes from the dice.
    pub fn to(folder: &Path, dice: Dice) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared {
            server: folder.join(".s.PGSQL.5432"),
            connections: Mutex::default(),
            is_open: AtomicBool::new(true),
            is_over: AtomicBool::new(false),
            one_commit_in: AtomicU64::new(0),
            one_answer_in: AtomicU64::new(0),
            dice: Mutex::new(dice),
            cut: AtomicU64::new(0),
        });
        let serving = shared.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if serving.is_over.load(Ordering::SeqCst) {
                    return;
                }
                // A client that is not served finds its connection closed.
                serving.serve(&client);
            }
        });
        Self { port, shared }
    }

    /// The address of a database of the server, through the proxy.
    pub fn address(&self, address: &str) -> String {
        let database = Address::parse(address).expect("an address").database().to_owned();
        format!("postgres://postgres@{}/{database}", self.place())
    }

    /// Where it listens.
    pub fn place(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Cuts all connections.
    pub fn cut(&self) {
        self.shared.cut_all();
    }

    /// Cuts all connections, and lets none through until [`Proxy::open`].
    pub fn close(&self) {
        self.shared.is_open.store(false, Ordering::SeqCst);
        self.shared.cut_all();
    }

    /// Lets connections through again.
    pub fn open(&self) {
        self.shared.is_open.store(true, Ordering::SeqCst);
    }

    /// From here on cuts the connection of one commit in so many, after it is made and before its answer comes; none for 0.
    pub fn cut_one_commit_in(&self, many: u64) {
        self.shared.one_commit_in.store(many, Ordering::SeqCst);
    }

    /// From here on cuts the connection of one request in so many, after it was carried out and before its answer comes; none for 0.
    pub fn cut_one_answer_in(&self, many: u64) {
        self.shared.one_answer_in.store(many, Ordering::SeqCst);
    }

    /// How many answers it has cut off.
    pub fn answers_cut(&self) -> u64 {
        self.shared.cut.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.close();
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(self.place());
    }
}

impl Shared {
    fn serve(self: &Arc<Self>, client: &TcpStream) {
        let Ok(server) = UnixStream::connect(&self.server) else { return };
        let copies = || Some((client.try_clone().ok()?, server.try_clone().ok()?));
        let (Some(kept), Some((mut from_client, mut to_server)), Some((to_client, from_server))) =
            (copies(), copies(), copies())
        else {
            return;
        };
        {
            let mut connections = self.connections();
            if !self.is_open.load(Ordering::SeqCst) {
                return;
            }
            connections.push(kept);
        }
        let _ = client.set_nodelay(true);
        thread::spawn(move || {
            // Either side may be gone; then the other one is told.
            let _ = std::io::copy(&mut from_client, &mut to_server);
            close(&from_client, &to_server);
        });
        let shared = self.clone();
        thread::spawn(move || shared.answer(from_server, to_client));
    }

    /// Passes answers on, until one is to be cut off.
    fn answer(&self, mut server: UnixStream, mut client: TcpStream) {
        let mut bytes = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = server.read(&mut bytes) {
            let answer = &bytes[..count];
            if self.is_to_be_cut(answer) {
                self.cut.fetch_add(1, Ordering::SeqCst);
                break;
            }
            if client.write_all(answer).is_err() {
                break;
            }
        }
        close(&client, &server);
    }

    fn is_to_be_cut(&self, answer: &[u8]) -> bool {
        let is_commit = answer.windows(COMMITTED.len()).any(|part| part == COMMITTED);
        self.has_bad_luck(&self.one_answer_in) || is_commit && self.has_bad_luck(&self.one_commit_in)
    }

    fn has_bad_luck(&self, one_in: &AtomicU64) -> bool {
        let many = one_in.load(Ordering::SeqCst);
        many > 0 && self.dice.lock().unwrap_or_else(PoisonError::into_inner).below(many) == 0
    }

    fn cut_all(&self) {
        for (client, server) in self.connections().drain(..) {
            close(&client, &server);
        }
    }

    fn connections(&self) -> MutexGuard<'_, Vec<(TcpStream, UnixStream)>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes both sides; one that is closed already stays so.
fn close(client: &TcpStream, server: &UnixStream) {
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}
