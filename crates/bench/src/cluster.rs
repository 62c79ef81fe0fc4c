//! The store of many machines: what its appends cost beside bare inserts, workers on it, long lists in it, and clients of one server that
//! follow what another process writes.
//!
//! The server is the PostgreSQL of this machine in a temporary folder, with its defaults but for the memory of its buffers: a commit is
//! answered once it is on the disk.

pub mod append;
pub mod workers;

use std::path::Path;
use std::sync::Arc;

use majordomo::store::{self, Address, Location, PostgresStore, Store};

pub use majordomo::store::conformance::postgres_server::Server;

/// Whether there is a server to measure with.
pub fn is_installed() -> bool {
    Path::new("/usr/lib/postgresql").exists()
}

/// A server for measurements.
pub fn server() -> Server {
    let settings = ["shared_buffers=512MB", "shared_preload_libraries=pg_stat_statements"];
    Server::start(&settings.map(|setting| ["-c", setting]).concat())
}

/// A database of a server, with empty tables.
pub struct Database<'a> {
    server: &'a Server,
    name: String,
    pub address: String,
}

impl<'a> Database<'a> {
    pub fn new(server: &'a Server) -> anyhow::Result<Self> {
        let address = server.database();
        PostgresStore::initialize(&Address::parse(&address)?)?;
        let name = address.rsplit('/').next().unwrap_or_default().to_owned();
        server.sql(&name, "CREATE EXTENSION pg_stat_statements");
        Ok(Self { server, name, address })
    }

    /// What a statement gives.
    pub fn sql(&self, sql: &str) -> String {
        self.server.sql(&self.name, sql)
    }

    /// Counts statements from here on.
    pub fn forget_statements(&self) {
        self.sql("SELECT pg_stat_statements_reset()");
    }

    /// Statements that were sent to this database.
    pub fn statements(&self) -> u64 {
        let of_this = "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid \
                       WHERE d.datname = current_database()";
        self.sql(of_this).parse().unwrap_or(0)
    }
}

/// The store in a database.
pub fn store(address: &str) -> anyhow::Result<Arc<dyn Store>> {
    Ok(store::open(&location(address)?, &store::Options::default())?)
}

fn location(address: &str) -> anyhow::Result<Location> {
    Ok(Location::Postgres(Address::parse(address)?))
}
