//! The sessions of browsers that have signed in.
//!
//! A session consists of a cookie and a secret that only the page knows. It survives a restart of the server. The store keeps only hashes of both.
//! A changed password ends all sessions.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agent::Time;
use blake3::Hash;
use store::{BrowserSession, Current, InstallationEvent};

use super::{COOKIE, secret};

/// The longest time that a session lasts.
const STAY: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// What the name of the password is derived for.
const CONTEXT: &str = "majordomo window: the password under which browsers were let in";

/// The sessions that are valid.
pub(super) struct BrowserSessions {
    installation: Current,
    /// A hash that names the password under which they signed in.
    password: String,
    /// Sessions that the store could not keep: they end with this process.
    unkept: Mutex<Vec<BrowserSession>>,
}

/// What a browser gets when it signs in.
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

impl BrowserSessions {
    /// The sessions that the store holds.
    pub fn of(installation: Current, password: Option<&str>) -> Self {
        let password = match password {
            Some(password) => Hash::from_bytes(blake3::derive_key(CONTEXT, password.as_bytes())).to_hex().to_string(),
            None => "-".to_owned(),
        };
        Self { installation, password, unkept: Mutex::default() }
    }

    /// Begins a session, even if the store cannot keep it.
    pub async fn welcome(&self) -> Entered {
        let entered = Entered { session: secret(), page: secret() };
        let session = BrowserSession {
            cookie: hash(&entered.session).to_hex().as_str().into(),
            page: hash(&entered.page).to_hex().as_str().into(),
            password: self.password.as_str().into(),
            since: now().0.unsigned_abs() / 1000,
        };
        let admitted = InstallationEvent::BrowserAdmitted(session.clone());
        if let Err(error) = self.installation.record(admitted, now()).await {
            tracing::warn!(%error, "a browser is let in for this start alone");
            self.unkept().push(session);
        }
        entered
    }

    /// Whether one of these cookies is known; with a page's secret, whether both are of one browser.
    pub fn know<'a>(&self, mut cookies: impl Iterator<Item = &'a str>, page: Option<&str>) -> bool {
        let (state, unkept, page) = (self.installation.state(), self.unkept(), page.map(hash));
        cookies.any(|cookie| {
            let cookie = hash(cookie);
            let is_known = |guest: &BrowserSession| {
                is(&guest.cookie, &cookie) && page.as_ref().is_none_or(|page| is(&guest.page, page))
            };
            let all = state.browsers.iter().chain(&*unkept);
            all.filter(|guest| *guest.password == *self.password && stays(guest)).any(is_known)
        })
    }

    fn unkept(&self) -> std::sync::MutexGuard<'_, Vec<BrowserSession>> {
        self.unkept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whom the file tells of that earlier versions kept.
pub(crate) fn of_earlier_file(file: &Path) -> Vec<BrowserSession> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut lines = text.lines();
    let Some(password) = lines.next() else { return Vec::new() };
    let guest = |line: &str| {
        let mut words = line.split(' ');
        let mut hash = || Some(Hash::from_hex(words.next()?).ok()?.to_hex().as_str().into());
        let (cookie, page) = (hash()?, hash()?);
        Some(BrowserSession { cookie, page, password: password.into(), since: words.next()?.parse().ok()? })
    };
    lines.filter_map(guest).filter(stays).collect()
}

fn stays(guest: &BrowserSession) -> bool {
    (now().0.unsigned_abs() / 1000).saturating_sub(guest.since) < STAY.as_secs()
}

/// Compares in a time that tells nothing of how far they agree.
fn is(kept: &str, shown: &Hash) -> bool {
    Hash::from_hex(kept).is_ok_and(|kept| kept == *shown)
}

fn hash(secret: &str) -> Hash {
    blake3::hash(secret.as_bytes())
}

fn now() -> Time {
    runtime::Clock::default().now()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use store::{MemoryStore, Store};

    use super::*;

    async fn sessions(store: &Arc<dyn Store>, password: Option<&str>) -> BrowserSessions {
        BrowserSessions::of(Current::open(store).await.unwrap(), password)
    }

    #[tokio::test]
    async fn a_browser_that_signed_in_is_known_to_the_next_start_and_the_store_keeps_no_secret() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let entered = sessions(&store, None).await.welcome().await;
        let other = sessions(&store, None).await.welcome().await;
        let next = sessions(&store, None).await;
        let cookies = || ["bogus", &entered.session].into_iter();
        assert!(next.know(cookies(), None) && next.know(cookies(), Some(&entered.page)));
        assert!(!next.know(cookies(), Some(&other.page)), "both are of one browser");
        assert!(!next.know(["bogus"].into_iter(), None) && !next.know([].into_iter(), Some(&entered.page)));
        assert!(next.know([&*other.session].into_iter(), Some(&other.page)), "who came first is not forgotten");
        let kept = format!("{:?}", store.installation_events(0, 100).await.unwrap());
        for secret in [&entered.session, &entered.page, &other.session, &other.page] {
            assert!(!kept.contains(secret.as_str()));
        }
        assert!(!sessions(&store, Some("another")).await.know(cookies(), None), "the password was changed");
    }

    #[tokio::test]
    async fn no_session_lasts_for_ever_and_there_are_only_so_many() {
        const MOST: usize = 64;
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let sessions = sessions(&store, None).await;
        let first = sessions.welcome().await;
        let long_ago = BrowserSession { since: 7, ..sessions.installation.state().browsers[0].clone() };
        sessions.installation.record(InstallationEvent::BrowserAdmitted(long_ago), Time(7)).await.unwrap();
        assert!(!sessions.know([&*first.session].into_iter(), None));
        let mut all = Vec::new();
        for _ in 0..=MOST {
            all.push(sessions.welcome().await);
        }
        assert!(
            !sessions.know([&*all[0].session].into_iter(), None) && sessions.know([&*all[1].session].into_iter(), None)
        );
    }

    #[test]
    fn a_file_of_an_earlier_version_names_its_browsers_and_one_that_is_not_ours_names_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("server.guests");
        assert!(of_earlier_file(&file).is_empty());
        let (cookie, page, since) = (hash("c"), hash("p"), now().0 / 1000);
        std::fs::write(&file, format!("-\n{cookie} {page} {since}\n{cookie} {page} 7\nx y z\n\n")).unwrap();
        let found = of_earlier_file(&file);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(is(&found[0].cookie, &hash("c")) && is(&found[0].page, &hash("p")) && *found[0].password == *"-");
    }
}
