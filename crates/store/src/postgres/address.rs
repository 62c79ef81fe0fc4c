//! Where a PostgreSQL database is: `postgres://user@host/database`, with the parameters that `libpq` knows too.
//!
//! A password is never shown: neither by `Display` nor by `Debug` nor in an error. It comes from the address or from a password file.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use crate::error::Error;
use crate::open::Machine;

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// After so long without an answer to what was sent, a connection is taken for lost.
const LOST: Duration = Duration::from_secs(10);
/// How long a silent connection is left alone before the kernel asks whether it is there.
const ALIVE: Duration = Duration::from_secs(5);
/// How often it asks, and how often in vain until the connection is taken for lost.
const ASKS: (Duration, u32) = (Duration::from_secs(2), 3);

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
const PORT: u16 = 5432;

/// The address of a PostgreSQL database.
#[derive(Clone)]
pub struct Address {
    text: Arc<str>,
    config: Box<Config>,
    passfile: Option<PathBuf>,
    trust: Trust,
    machine: Machine,
}

/// Which server is trusted, where the connection is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Any.
    Any,
    /// One whose certificate was issued for its name, by an authority that this machine trusts.
    System,
    /// One whose certificate was issued for its name, by an authority whose certificate is in this file.
    File(PathBuf),
}

impl Address {
    /// Whether a text is meant as the address of a PostgreSQL database.
    pub fn is_one(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// Reads an address.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if !Self::is_one(text) {
            return Err(Error::Address("it begins with postgres://, as in postgres://user@host/database".into()));
        }
        let (place, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut mode, mut root, mut passfile, mut others) = ("prefer", None, None, Vec::new());
        let decoded = |value: &str| PathBuf::from(decode(value));
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("sslmode", value)) => mode = value,
                Some(("sslrootcert", value)) => root = Some(decoded(value)),
                Some(("passfile", value)) => passfile = Some(decoded(value)),
                _ => others.push(parameter),
            }
        }
        let rest = if others.is_empty() { place.to_owned() } else { format!("{place}?{}", others.join("&")) };
        // What the parser says may quote a part of the address, and so a password.
        let mut config: Config = rest.parse().map_err(|_| {
            Error::Address(
                "its parts are postgres://user@host:port/database?parameter=value, each percent-encoded".into(),
            )
        })?;
        if config.get_hosts().is_empty() {
            return Err(Error::Address("it names no host, as in postgres://user@host/database".into()));
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            return Err(Error::Address("it names no database, as in postgres://user@host/database".into()));
        }
        let (ssl, is_verified) = match mode {
            "disable" => (SslMode::Disable, false),
            "allow" | "prefer" => (SslMode::Prefer, false),
            "require" => (SslMode::Require, false),
            "verify-ca" | "verify-full" => (SslMode::Require, true),
            other => {
                return Err(Error::Address(
                    format!("sslmode is disable, prefer, require or verify-full, not '{}'", other.escape_debug())
                        .into(),
                ));
            }
        };
        let trust = match root {
            Some(root) if root.as_os_str() == "system" => Trust::System,
            Some(root) => Trust::File(root),
            None if is_verified => Trust::System,
            None => Trust::Any,
        };
        config
            .ssl_mode(ssl)
            .connect_timeout(CONNECT)
            .tcp_user_timeout(LOST)
            .keepalives_idle(ALIVE)
            .keepalives_interval(ASKS.0)
            .keepalives_retries(ASKS.1)
            .application_name("majordomo")
            // Of several hosts the one that can be written, which is another one after a failover.
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        let machine = Machine::named(None, false);
        Ok(Self { text: text.into(), config: Box::new(config), passfile, trust, machine })
    }

    /// The same as it is used on this machine, which is known by its host name otherwise.
    pub fn on_machine(self, machine: Machine) -> Self {
        Self { machine, ..self }
    }

    /// This machine among those that use the database.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The same with a password, unless it has one.
    pub fn or_password(mut self, password: &str) -> Self {
        if self.config.get_password().is_none() {
            self.config.password(password);
        }
        self
    }

    /// The same with the password that a file has for it, unless it has one or names a file of its own.
    pub fn or_passfile(mut self, file: &Path) -> Self {
        self.passfile.get_or_insert_with(|| file.to_owned());
        self
    }

    /// The name of the role that connects; none where it is that of the user.
    pub fn role(&self) -> Option<&str> {
        self.config.get_user()
    }

    /// The name of the database.
    pub fn database(&self) -> &str {
        self.config.get_dbname().unwrap_or_default()
    }

    /// How a connection is made.
    pub(super) fn config(&self) -> Config {
        let mut config = (*self.config).clone();
        if config.get_password().is_none()
            && let Some(password) = self.passfile.as_deref().and_then(|file| self.password_in(file))
        {
            config.password(password);
        }
        config
    }

    pub(super) fn trust(&self) -> &Trust {
        &self.trust
    }

    /// The password for this address in a file whose lines are `host:port:database:user:password`. A file that others can read is ignored,
    /// as `libpq` does.
    fn password_in(&self, file: &Path) -> Option<String> {
        let mode = fs::metadata(file).ok()?.permissions().mode();
        if mode & 0o077 != 0 {
            return None;
        }
        let user = self.config.get_user().unwrap_or_default().to_owned();
        let (host, port) = self.places().into_iter().next()?;
        let wanted = [host, port.to_string(), self.database().to_owned(), user];
        fs::read_to_string(file).ok()?.lines().find_map(|line| {
            let mut fields = fields(line).into_iter();
            let fits = wanted.iter().all(|wanted| fields.next().is_some_and(|field| field == "*" || field == *wanted));
            fields.next().filter(|_| fits)
        })
    }

    /// Hosts and ports.
    fn places(&self) -> Vec<(String, u16)> {
        let ports = self.config.get_ports();
        let hosts = self.config.get_hosts().iter().enumerate();
        let host = |host: &Host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(folder) => folder.display().to_string(),
        };
        hosts.map(|(at, one)| (host(one), ports.get(at).or(ports.first()).copied().unwrap_or(PORT))).collect()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        let place = |(host, port): (String, u16)| if port == PORT { host } else { format!("{host}:{port}") };
        let places: Vec<String> = self.places().into_iter().map(place).collect();
        write!(f, "{}/{}", places.join(","), self.database())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Address {}

/// The fields of a line of a password file, in which a backslash takes its meaning from the next character.
fn fields(line: &str) -> Vec<String> {
    if line.starts_with('#') {
        return Vec::new();
    }
    let (mut fields, mut chars) = (vec![String::new()], line.chars());
    while let Some(char) = chars.next() {
        match char {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut().expect("there is a field").extend(chars.next()),
            other => fields.last_mut().expect("there is a field").push(other),
        }
    }
    fields
}

/// A part of an address, without its percent-encoding.
fn decode(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, after @ ..] = rest {
        let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        match after.get(..2).filter(|_| *first == b'%').and_then(hex) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        Address::parse(text).unwrap().to_string()
    }

    #[test]
    fn a_password_is_never_shown() {
        let address = Address::parse("postgres://ana:geheim@db:5433/house?sslmode=require").unwrap();
        assert_eq!(address.to_string(), "postgres://ana@db:5433/house");
        assert!(!format!("{address:?}").contains("geheim"));
        for wrong in ["postgres://ana:geheim@db:port/house", "postgres://ana:geheim@db/house?nonsense=geheim"] {
            let error = Address::parse(wrong).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("geheim"), "{error:?}");
        }
    }

    #[test]
    fn an_address_names_its_hosts_and_its_database() {
        assert_eq!(shown("postgresql://ana@one,two:5433/house"), "postgres://ana@one,two:5433/house");
        assert_eq!(shown("postgres://ana@%2Ftmp%2Fsocket/house"), "postgres://ana@/tmp/socket/house");
        for wrong in
            ["", "sqlite://a", "postgres://", "postgres://db", "postgres://db/", "postgres://db/x?sslmode=maybe"]
        {
            assert!(matches!(Address::parse(wrong), Err(Error::Address(_))), "{wrong}");
        }
    }

    #[test]
    fn the_server_is_verified_where_that_is_asked_for() {
        let trust = |parameters: &str| Address::parse(&format!("postgres://db/x{parameters}")).unwrap().trust().clone();
        assert_eq!(trust(""), Trust::Any);
        assert_eq!(trust("?sslmode=require"), Trust::Any);
        assert_eq!(trust("?sslmode=verify-full"), Trust::System);
        assert_eq!(trust("?sslmode=verify-full&sslrootcert=%2Fca.pem"), Trust::File("/ca.pem".into()));
        assert_eq!(trust("?sslmode=require&sslrootcert=system"), Trust::System);
    }

    #[test]
    fn a_password_file_is_read_unless_others_can_read_it() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("pass");
        fs::write(&file, "# a comment\nother:*:*:*:no\ndb:5432:house:ana:a\\:b\\\\c:d\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let password = |text: &str| {
            let config = Address::parse(text).unwrap().or_passfile(&file).config();
            config.get_password().map(|password| String::from_utf8_lossy(password).into_owned())
        };
        assert_eq!(password("postgres://ana@db/house").as_deref(), Some("a:b\\c:d"));
        assert_eq!(password("postgres://ana:own@db/house").as_deref(), Some("own"));
        assert_eq!(password("postgres://bob@db/house"), None);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(password("postgres://ana@db/house"), None);
    }
}
