//! The browsers that were let in.
//!
//! They are known by a cookie and by what their page alone knows, and are still known when the window is opened again: whoever
//! watches a run should not be shut out because the house was started anew. What is kept of them, in a file that nobody else can
//! read, are hashes, by which nobody gets in. The file holds for one password; without it the next start knows
//! nobody.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use blake3::Hash;

use super::{COOKIE, secret};
use crate::server::write_private;

/// So many browsers stay let in; the first comers are shown out.
const MOST: usize = 64;
/// Nobody stays let in for longer.
const STAY: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// What the line about the password is derived for.
const CONTEXT: &str = "majordomo window: the password under which browsers were let in";

/// Who was let in, in the order of coming.
pub(super) struct Guests {
    file: PathBuf,
    /// The first line of the file.
    password: String,
    known: Vec<Guest>,
}

/// What a browser is given that was let in.
pub(crate) struct Entered {
    /// The secret that it shows with every request, by itself.
    pub session: String,
    /// The one that only its page knows.
    pub page: String,
}

impl Entered {
    /// The first one, as it is set. Without `Max-Age` a browser would forget it when it is closed.
    pub fn cookie(&self) -> String {
        format!("{COOKIE}={}; Max-Age={}; HttpOnly; SameSite=Strict; Path=/", self.session, STAY.as_secs())
    }
}

/// One of them, as hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Guest {
    cookie: Hash,
    page: Hash,
    /// Seconds since 1970.
    since: u64,
}

impl Guests {
    /// Those who are still known.
    pub fn of(file: PathBuf, password: Option<&str>) -> Self {
        let password = match password {
            Some(password) => Hash::from_bytes(blake3::derive_key(CONTEXT, password.as_bytes())).to_hex().to_string(),
            None => "-".to_owned(),
        };
        let known = read(&file, &password);
        Self { file, password, known }
    }

    /// One more. It is let in even if that cannot be kept.
    pub fn welcome(&mut self) -> Entered {
        let entered = Entered { session: secret(), page: secret() };
        let (cookie, page) = (hash(&entered.session), hash(&entered.page));
        // Another window over the same folder may have let somebody in.
        for known in read(&self.file, &self.password) {
            if !self.known.contains(&known) {
                self.known.push(known);
            }
        }
        self.known.push(Guest { cookie, page, since: now() });
        let too_many = self.known.len().saturating_sub(MOST);
        self.known.drain(..too_many);
        let lines = self.known.iter().map(|guest| format!("{} {} {}\n", guest.cookie, guest.page, guest.since));
        let text = format!("{}\n{}", self.password, lines.collect::<String>());
        if let Err(error) = write_private(&self.file, &text) {
            tracing::warn!(file = %self.file.display(), %error, "a browser is let in for this start alone");
        }
        entered
    }

    /// Whether one of these cookies is known; with a page's secret, whether both are of one browser.
    pub fn know<'a>(&self, mut cookies: impl Iterator<Item = &'a str>, page: Option<&str>) -> bool {
        let page = page.map(hash);
        cookies.any(|cookie| {
            let cookie = hash(cookie);
            let is_known = |guest: &Guest| guest.cookie == cookie && page.is_none_or(|page| guest.page == page);
            self.known.iter().any(|guest| guest.stays() && is_known(guest))
        })
    }
}

impl Guest {
    fn stays(&self) -> bool {
        now().saturating_sub(self.since) < STAY.as_secs()
    }
}

/// Whom a file tells of. One that is for another password, or not ours, tells of nobody.
fn read(file: &Path, password: &str) -> Vec<Guest> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut lines = text.lines();
    if lines.next() != Some(password) {
        return Vec::new();
    }
    let guest = |line: &str| {
        let mut words = line.split(' ');
        let mut hash = || Hash::from_hex(words.next()?).ok();
        let (cookie, page) = (hash()?, hash()?);
        Some(Guest { cookie, page, since: words.next()?.parse().ok()? })
    };
    lines.filter_map(guest).filter(Guest::stays).collect()
}

fn hash(secret: &str) -> Hash {
    blake3::hash(secret.as_bytes())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn whoever_was_let_in_is_known_to_the_next_start_and_the_file_tells_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("server.guests");
        let entered = Guests::of(file.clone(), None).welcome();
        let other = Guests::of(file.clone(), None).welcome();
        let next = Guests::of(file.clone(), None);
        let cookies = || ["bogus", &entered.session].into_iter();
        assert!(next.know(cookies(), None) && next.know(cookies(), Some(&entered.page)));
        assert!(!next.know(cookies(), Some(&other.page)), "both are of one browser");
        assert!(!next.know(["bogus"].into_iter(), None) && !next.know([].into_iter(), Some(&entered.page)));
        assert!(next.know([&*other.session].into_iter(), Some(&other.page)), "who came first is not forgotten");
        let text = std::fs::read_to_string(&file).unwrap();
        for secret in [&entered.session, &entered.page, &other.session, &other.page] {
            assert!(!text.contains(secret.as_str()));
        }
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!Guests::of(file, Some("another")).know(cookies(), None), "the password was changed");
    }

    #[test]
    fn nobody_stays_for_ever_and_only_so_many_do() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("server.guests");
        let mut guests = Guests::of(file.clone(), None);
        let first = guests.welcome();
        guests.known[0].since = now() - STAY.as_secs();
        assert!(!guests.know([&*first.session].into_iter(), None));
        let all: Vec<Entered> = (0..=MOST).map(|_| guests.welcome()).collect();
        assert!(
            !guests.know([&*all[0].session].into_iter(), None) && guests.know([&*all[1].session].into_iter(), None)
        );
        std::fs::write(&file, "-\nx y z\n\n").unwrap();
        assert!(Guests::of(file, None).known.is_empty(), "what is not ours is passed over");
    }
}
