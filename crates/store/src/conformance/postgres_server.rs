//! A PostgreSQL server for tests: the one that is installed, in a temporary folder, gone with the process that started it.
//!
//! A shell looks after it, whose input is held by the process of the test: when that ends, in whatever way, the server is stopped and
//! its folder removed. The first server on a machine makes an empty cluster in the temporary folder, of which the others take a copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::open::Store;
use crate::postgres::{Address, PostgresStore};

/// How long a server may take to start on a busy machine.
const STARTS: Duration = Duration::from_secs(60);

/// Looks after a server. `$1` is where its programs are, `$2` its folder, `$3` the empty cluster; the rest are its options. `STANDBY_OF` is the
/// folder of the server of which it is a standby.
const LOOK_AFTER: &str = r#"
bin=$1 folder=$2 template=$3; shift 3
as_postgres() {
    if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; else "$@"; fi
}
if [ "$(id -u)" = 0 ]; then chown postgres "$folder"; fi
if [ -n "$STANDBY_OF" ]; then
    as_postgres "$bin/pg_basebackup" -h "$STANDBY_OF" -U postgres -D "$folder/data" -R -X stream -c fast --no-sync >"$folder/log" 2>&1
elif ! [ -f "$template/PG_VERSION" ]; then
    as_postgres "$bin/initdb" -D "$folder/template" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$folder/log" 2>&1
    mv -T "$folder/template" "$template" 2>/dev/null
fi
if [ -z "$STANDBY_OF" ]; then cp -a "$template" "$folder/data"; fi
printf 'local all locked scram-sha-256\nlocal all all trust\nlocal replication all trust\nhost all all 127.0.0.1/32 trust\n' >"$folder/hba.conf"
chmod 644 "$folder/hba.conf"
# Not by a function, so that the number is that of the server itself.
start() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/postgres" -D "$folder/data" -k "$folder" \
            -c hba_file="$folder/hba.conf" "$@" >>"$folder/log" 2>&1 &
    else
        "$bin/postgres" -D "$folder/data" -k "$folder" -c hba_file="$folder/hba.conf" "$@" >>"$folder/log" 2>&1 &
    fi
    server=$!
}
start "$@"
while read -r word; do
    case $word in
        restart) kill -INT "$server"; wait "$server"; start "$@" ;;
        # All its processes at once, as when a machine is lost: one that outlived the others would show what was not replicated yet.
        kill)
            kill -STOP "$server"
            kill -KILL $(cat "/proc/$server/task/$server/children") "$server"; wait "$server"
            ;;
        # After a kill it does not start before all its processes have noticed.
        start)
            start "$@"
            for _ in 1 2 3 4 5 6 7 8 9 10; do
                sleep 0.3
                if kill -0 "$server" 2>/dev/null; then break; fi
                start "$@"
            done
            ;;
    esac
done
kill -QUIT "$server" 2>/dev/null; wait "$server"
rm -rf "$folder"
"#;

/// Options of a server that need not survive a loss of power.
pub const UNSAFE: &[&str] = &["-c", "fsync=off", "-c", "full_page_writes=off"];

/// A server.
pub struct Server {
    folder: PathBuf,
    programs: PathBuf,
    orders: Mutex<ChildStdin>,
    /// Kept, so that it can be waited for.
    _keeper: Child,
    made: AtomicU32,
}

impl Server {
    /// The one server of this process.
    pub fn shared() -> &'static Server {
        static SHARED: OnceLock<Server> = OnceLock::new();
        SHARED.get_or_init(|| Server::start(UNSAFE))
    }

    /// A server of its own, with these options.
    pub fn start(options: &[&str]) -> Server {
        Self::begin(options, None)
    }

    /// A standby of this server, from here on a synchronous one: what is committed is in both.
    pub fn synchronous_standby(&self) -> Server {
        let standby = Self::begin(UNSAFE, Some(&self.folder));
        // The standby, which was copied before, waits for no other once it is promoted.
        self.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.sql("postgres", "SELECT pg_reload_conf()");
        self.until_replicated();
        standby
    }

    /// Waits until its standby has all that is committed, as it is before a standby may take the place of its server: after a crash a server
    /// shows what was committed and not replicated.
    pub fn until_replicated(&self) {
        let is_replicated = "SELECT state = 'streaming' AND sync_state = 'sync' FROM pg_stat_replication";
        let begun = Instant::now();
        while self.sql("postgres", is_replicated) != "t" {
            assert!(begun.elapsed() < STARTS, "the standby follows");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Has a standby take the place of its server.
    pub fn promote(&self) {
        assert_eq!(self.sql("postgres", "SELECT pg_promote()"), "t", "it is promoted");
    }

    fn begin(options: &[&str], standby_of: Option<&Path>) -> Server {
        let programs = programs();
        let version = programs.parent().and_then(Path::file_name).map_or("x".into(), |name| name.to_string_lossy());
        let user = rustix::process::getuid().as_raw();
        let template = std::env::temp_dir().join(format!("majordomo-postgres-{version}-{user}"));
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        // A socket's path has little room.
        let folder = std::env::temp_dir().join(format!("mdpg-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a temporary folder");
        let mut keeper = Command::new("setsid")
            .env("STANDBY_OF", standby_of.unwrap_or(Path::new("")))
            .args(["sh", "-c", LOOK_AFTER, "sh"])
            .args([&programs, &folder, &template])
            .args(["-c", "max_connections=200", "-c", "shared_buffers=64MB"])
            .args(options)
            // The last one counts.
            .args(if options.iter().any(|option| option.contains("listen_addresses")) {
                &[][..]
            } else {
                &["-c", "listen_addresses="][..]
            })
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("setsid and sh");
        let orders = Mutex::new(keeper.stdin.take().expect("its input was asked for"));
        let server = Server { folder, programs, orders, _keeper: keeper, made: AtomicU32::new(0) };
        server.is_up();
        server
    }

    /// The address of a new database, in which nothing is made yet.
    pub fn database(&self) -> String {
        let name = format!("t{}", self.made.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.address("postgres", &name)
    }

    /// The address of a database for a role.
    pub fn address(&self, role: &str, database: &str) -> String {
        format!("postgres://{role}@{}/{database}", self.folder.display().to_string().replace('/', "%2F"))
    }

    /// The folder of its socket.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where its programs are.
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// Has it carry out a statement in a database.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let output = self.psql(database, sql).output().expect("psql");
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The same; nothing where it cannot.
    pub fn try_sql(&self, database: &str, sql: &str) -> Option<String> {
        let output = self.psql(database, sql).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Stops it in good order, and starts it again.
    pub fn restart(&self) {
        self.order("restart");
        self.is_up();
    }

    /// Kills it as a loss of power would.
    pub fn kill(&self) {
        self.order("kill");
        let begun = Instant::now();
        while self.psql("postgres", "SELECT 1").output().is_ok_and(|output| output.status.success()) {
            assert!(begun.elapsed() < STARTS, "the server is gone");
        }
    }

    /// Starts it after it was killed.
    pub fn start_again(&self) {
        self.order("start");
        self.is_up();
    }

    fn order(&self, word: &str) {
        use std::io::Write;
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(orders, "{word}").expect("the shell that looks after the server");
    }

    fn psql(&self, database: &str, sql: &str) -> Command {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.arg("-XAtq").arg("-h").arg(&self.folder).args(["-U", "postgres", "-d", database, "-c", sql]);
        psql.stdin(Stdio::null());
        psql
    }

    /// Waits until it answers.
    fn is_up(&self) {
        let begun = Instant::now();
        while !self.psql("postgres", "SELECT 1").output().is_ok_and(|output| output.status.success()) {
            let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(begun.elapsed() < STARTS, "the server does not start: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A store in a new database of the shared server that goes by the time that it is told, as simulations need it.
pub fn store_without_clock() -> Arc<dyn Store> {
    let address = Address::parse(&Server::shared().database()).expect("an address");
    PostgresStore::initialize(&address).expect("tables");
    Arc::new(PostgresStore::open_without_clock(&address).expect("a store"))
}

/// Where the programs of the newest server are that is installed.
fn programs() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path().join("bin"))))
        .filter(|(_, programs)| programs.join("postgres").exists())
        .max();
    newest.expect("PostgreSQL is installed: apt-get install postgresql").1
}
