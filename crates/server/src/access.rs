//! Which requests are accepted: those with the token of this start, or of a browser that opened the printed link; and none that
//! another site makes a browser send.
//!
//! Every request is looked at, whatever it asks for. Where it says it comes from (`Host`, `Origin`, `Sec-Fetch-Site`) must be
//! here, so that no other site can use a person's browser; then it must be authenticated: the token as a
//! bearer, for programs, or a cookie, for browsers, which is given once for the code in the link (or for the password). A secret in
//! an address counts for nothing.
//!
//! Browsers show a cookie to every port of a host, and so to any program that listens on another one. It opens the page and nothing more:
//! what is asked of the API also needs the page's own secret, in a header. That one is handed over together with the cookie, in
//! the fragment of an address, which is sent nowhere, and the page keeps it where no other port can look.

mod sessions;
mod tries;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, Method, Request, StatusCode, Uri, header};
use store::Current;

use self::sessions::BrowserSessions;
pub(crate) use self::sessions::{Entered, of_earlier_file};
use self::tries::{Tried, Tries};
use crate::problem::Problem;

/// The name of the cookie.
pub(crate) const COOKIE: &str = "majordomo";
/// The name of the header in which the page sends its own secret.
pub(crate) const PAGE_HEADER: &str = "x-majordomo-page";
/// A wrong password takes so long.
const WRONG_PASSWORD: Duration = Duration::from_millis(500);

/// Who may come in.
pub(crate) struct Access {
    token: String,
    password: Option<String>,
    /// The names under which this server is known, as in `Host`.
    hosts: BTreeSet<String>,
    /// The code of the link, until it is used.
    code: Mutex<Option<String>>,
    sessions: BrowserSessions,
    tries: Tries,
}

/// Who was let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A program that knows the token.
    Program,
    /// A browser with a cookie.
    Browser,
}

impl Access {
    /// A new token and a new link. Browsers that were let in before are known to the installation.
    pub fn new(addr: SocketAddr, names: &[String], password: Option<String>, installation: Current) -> Self {
        let port = addr.port();
        let mut hosts: BTreeSet<String> = names.iter().map(|name| format!("{}:{port}", name.to_lowercase())).collect();
        hosts.insert(addr.to_string());
        if addr.ip().is_loopback() {
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        let sessions = BrowserSessions::of(installation, password.as_deref());
        let code = Mutex::new(Some(secret()));
        Self { token: secret(), password, hosts, code, sessions, tries: Tries::new(WRONG_PASSWORD) }
    }

    /// The secret of programs.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The code by which a browser is let in once.
    pub fn code(&self) -> Option<String> {
        self.locked_code().clone()
    }

    /// Lets a browser in by the code, which is used up by it.
    pub async fn enter_by_code(&self, code: &str) -> Option<Entered> {
        self.locked_code().take_if(|wanted| same(wanted, code))?;
        Some(self.sessions.welcome().await)
    }

    /// Lets a browser in by the password, or says why not.
    pub async fn enter_by_password(&self, password: &str) -> Result<Entered, StatusCode> {
        let Some(wanted) = &self.password else { return Err(StatusCode::UNAUTHORIZED) };
        match self.tries.make(|| same(wanted, password)).await {
            Tried::Right => Ok(self.sessions.welcome().await),
            Tried::Wrong => Err(StatusCode::UNAUTHORIZED),
            Tried::NotNow => Err(StatusCode::TOO_MANY_REQUESTS),
        }
    }

    /// Whether a browser was let in before.
    pub fn is_inside(&self, headers: &HeaderMap) -> bool {
        self.sessions.know(cookies(headers), None)
    }

    /// Whether a password lets people in.
    pub fn asks_for_password(&self) -> bool {
        self.password.is_some()
    }

    /// Looks where a request comes from. A request for nothing but a page may come from anywhere.
    pub fn come_from_here<B>(&self, request: &Request<B>) -> Result<(), Problem> {
        let headers = request.headers();
        let elsewhere = |status, what: &str| {
            Err(Problem::new(status, format!("{what}: this server answers only at its own address")))
        };
        if !self.is_here(headers, request.uri()) {
            return elsewhere(StatusCode::MISDIRECTED_REQUEST, "the request is for another host");
        }
        let visits = request.method() == Method::GET && says(headers, "sec-fetch-mode") == Some("navigate");
        match says(headers, "sec-fetch-site") {
            None | Some("same-origin" | "none") => {}
            Some(_) if visits => {}
            Some(_) => return elsewhere(StatusCode::FORBIDDEN, "another site asks"),
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        match (origins.next().map(|origin| origin.to_str().unwrap_or("")), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None) if origin.strip_prefix("http://").is_some_and(|host| self.is_name(host)) => Ok(()),
            _ => elsewhere(StatusCode::FORBIDDEN, "another site asks"),
        }
    }

    /// Looks whether a request knows a secret, and which. A browser that changes something must also say that it is at our own
    /// page.
    pub fn authenticate<B>(&self, request: &Request<B>) -> Result<Caller, Problem> {
        let (method, headers) = (request.method(), request.headers());
        if says(headers, header::AUTHORIZATION.as_str())
            .and_then(|value| value.strip_prefix("Bearer "))
            .is_some_and(|token| same(&self.token, token.trim()))
        {
            return Ok(Caller::Program);
        }
        let page = match says(headers, PAGE_HEADER) {
            _ if takes_a_cookie_alone(request.uri().path()) => None,
            page => Some(page.unwrap_or_default()),
        };
        if !self.sessions.know(cookies(headers), page) {
            return Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "not let in: open the link that `majordomo serve` prints, or send the token of server.token as a bearer",
            ));
        }
        let looks = matches!(*method, Method::GET | Method::HEAD);
        if !looks && !is_same_origin(headers) {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "a browser that changes something must say that it is at our own page",
            ));
        }
        Ok(Caller::Browser)
    }

    fn is_here(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        let named = host.to_str().is_ok_and(|host| self.is_name(host));
        named && uri.authority().is_none_or(|authority| self.is_name(authority.as_str()))
    }

    fn is_name(&self, host: &str) -> bool {
        self.hosts.contains(&host.to_lowercase())
    }

    fn locked_code(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.code.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the cookie is enough at an address. It is for the page, which tells nothing by itself, and for what is the same in
/// every installation. `/api/stream/` is for `EventSource`, which can send no header of its own: there is no second secret to be had
/// from it, and what it may do without is decided there.
fn takes_a_cookie_alone(path: &str) -> bool {
    matches!(path, "/" | "/chat" | "/api/v1/openapi.json")
        || ["/t/", "/page/", "/api/stream/"].iter().any(|place| path.starts_with(place))
}

/// Whether a browser goes to an address, or shows what is there, where our own page would only read it.
pub(crate) fn is_visit(headers: &HeaderMap) -> bool {
    says(headers, "sec-fetch-mode") == Some("navigate")
        || says(headers, "sec-fetch-dest").is_some_and(|shown_as| shown_as != "empty")
}

/// Whether a request proves that it comes from our own page.
pub(crate) fn is_same_origin(headers: &HeaderMap) -> bool {
    // The origin was compared already; it is only asked whether there is one.
    says(headers, "sec-fetch-site") == Some("same-origin") || headers.contains_key(header::ORIGIN)
}

fn says<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Every cookie of our name: a program that listens on another port may have set one, too.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let each = all.flat_map(|cookies| cookies.split(';'));
    each.filter_map(|cookie| cookie.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// 256 random bits.
fn secret() -> String {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    blake3::Hash::from_bytes(bytes).to_hex().to_string()
}

/// Compares secrets in a time that tells nothing of how far they agree.
fn same(one: &str, other: &str) -> bool {
    blake3::hash(one.as_bytes()) == blake3::hash(other.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use store::{MemoryStore, Store};

    use super::*;

    async fn access() -> Access {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let installation = Current::open(&store).await.unwrap();
        Access::new("127.0.0.1:4870".parse().unwrap(), &[], None, installation)
    }

    fn asks(uri: &str, headers: &[(&str, &str)]) -> Request<()> {
        let builder = headers.iter().fold(Request::builder().uri(uri), |all, (name, value)| all.header(*name, *value));
        builder.body(()).unwrap()
    }

    // T2
    #[tokio::test]
    async fn only_our_own_names_are_answered() {
        let access = access().await;
        for host in ["127.0.0.1:4870", "localhost:4870", "LOCALHOST:4870", "[::1]:4870"] {
            assert!(access.come_from_here(&asks("/", &[("host", host)])).is_ok(), "{host}");
        }
        for host in
            ["evil.example", "evil.example:4870", "127.0.0.1", "127.0.0.1:80", "", "localhost:4870.evil.example"]
        {
            assert!(access.come_from_here(&asks("/", &[("host", host)])).is_err(), "{host}");
        }
        assert!(access.come_from_here(&asks("/", &[])).is_err());
        assert!(access.come_from_here(&asks("/", &[("host", "localhost:4870"), ("host", "localhost:4870")])).is_err());
        let absolute = asks("http://evil.example/", &[("host", "localhost:4870")]);
        assert!(access.come_from_here(&absolute).is_err());
    }

    // T1, T4
    #[tokio::test]
    async fn another_site_is_refused_and_may_only_link_to_a_page() {
        let access = access().await;
        let from = |more: &[(&str, &str)]| {
            let mut headers = vec![("host", "localhost:4870")];
            headers.extend(more);
            access.come_from_here(&asks("/", &headers)).is_ok()
        };
        assert!(from(&[("origin", "http://localhost:4870"), ("sec-fetch-site", "same-origin")]));
        for origin in ["null", "http://evil.example", "https://localhost:4870", "http://localhost", ""] {
            assert!(!from(&[("origin", origin)]), "{origin}");
        }
        assert!(!from(&[("origin", "http://localhost:4870"), ("origin", "http://evil.example")]));
        assert!(!from(&[("sec-fetch-site", "cross-site")]) && !from(&[("sec-fetch-site", "same-site")]));
        assert!(from(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]));
    }

    // T3
    #[tokio::test]
    async fn a_link_lets_one_browser_in_once() {
        let access = access().await;
        let code = access.code().unwrap();
        assert!(access.enter_by_code("x").await.is_none() && access.enter_by_code("").await.is_none());
        let entered = access.enter_by_code(&code).await.unwrap();
        assert!(entered.cookie().contains("HttpOnly; SameSite=Strict"));
        assert!(access.enter_by_code(&code).await.is_none(), "it is used up");
        let knows = |method: Method, path: &str, headers: &[(&str, &str)]| {
            let mut request = asks(path, headers);
            *request.method_mut() = method;
            access.authenticate(&request).is_ok()
        };
        let session = entered.cookie();
        let session = session.split(';').next().unwrap();
        let cookie = ("cookie", &*format!("a=b; {COOKIE}=bogus; {session}"));
        assert!(knows(Method::GET, "/", &[cookie]), "whatever else goes by that name");
        assert!(!knows(Method::GET, "/", &[("cookie", "majordomo=")]));
        let page = (PAGE_HEADER, &*entered.page);
        let api = "/api/v1/threads";
        assert!(knows(Method::GET, api, &[cookie, page]));
        assert!(!knows(Method::POST, api, &[cookie, page]), "it does not say where it is");
        assert!(knows(Method::POST, api, &[cookie, page, ("sec-fetch-site", "same-origin")]));
        let token = format!("Bearer {}", access.token());
        assert!(knows(Method::POST, api, &[("authorization", &token)]));
        let other = format!("Bearer {}", self::access().await.token());
        assert!(!knows(Method::GET, api, &[("authorization", &other)]), "of another start");
        assert!(!knows(Method::GET, api, &[("x", "y")]));
    }

    // T3, T23
    #[tokio::test]
    async fn a_cookie_opens_the_page_and_nothing_that_is_told_or_done() {
        let access = access().await;
        let entered = access.enter_by_code(&access.code().unwrap()).await.unwrap();
        let set = entered.cookie();
        let cookie = ("cookie", set.split(';').next().unwrap());
        let here = ("sec-fetch-site", "same-origin");
        let knows = |path: &str, more: &[(&str, &str)]| {
            access.authenticate(&asks(path, &[&[cookie, here], more].concat())).is_ok()
        };
        for path in ["/", "/chat", "/t/x", "/page/main.js", "/api/v1/openapi.json", "/api/stream/x"] {
            assert!(knows(path, &[]), "{path}");
        }
        let other = self::access().await;
        let other = other.enter_by_code(&other.code().unwrap()).await.unwrap();
        for path in
            ["/api/v1/threads", "/api/v1/events", "/api/chat", "/api/v1/openapi.json/x", "/nothing", "//", "/api"]
        {
            assert!(!knows(path, &[]), "{path}");
            assert!(!knows(path, &[(PAGE_HEADER, "")]) && !knows(path, &[(PAGE_HEADER, &other.page)]), "{path}");
            assert!(knows(path, &[(PAGE_HEADER, &entered.page)]), "{path}");
        }
        assert_ne!(entered.page, access.token());
        assert!(
            access.authenticate(&asks("/api/v1/threads", &[(PAGE_HEADER, &entered.page)])).is_err(),
            "alone it is nothing"
        );
    }
}
