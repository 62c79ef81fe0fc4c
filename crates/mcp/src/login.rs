//! Logins at servers behind an address, by OAuth: the person agrees in a browser, and the tokens are kept in a file of their own.
//!
//! What a server says about where to log in is a stranger's word. Requests go to the server's own address, or to public addresses over
//! HTTPS: neither metadata nor a name can lead them to this machine, to a private network, or to another port of it ([`Careful`]). A token
//! is bound to the server's address, by the name of its file, and is sent to no other. The address for the browser is handed out as
//! text; a caller that opens it does so without a shell.
//!
//! Left to `rmcp`: discovery, registration, PKCE, the exchange and the refreshing of tokens. Left to others: the folder of the tokens.

use std::fs;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_recursion::async_recursion as boxed;
use reqwest::dns::{Addrs, Name, Resolving};
use reqwest::{Client, Url};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadataSource, AuthorizationRequest, AuthorizationSession,
    CredentialRefreshGuard, CredentialStore, OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest,
    StoredCredentials,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::error::Error;
use crate::settings::{Connection, ServerSettings};

/// The most bytes of an answer about logins.
const LONGEST_ANSWER: usize = 256 * 1024;
/// How long one request about logins may take.
const REQUEST_TIME: Duration = Duration::from_secs(15);
/// How long a browser may take to send its request, and the longest that it is read.
const BROWSER_TIME: Duration = Duration::from_secs(5);
const LONGEST_REQUEST: usize = 16 * 1024;
/// The path to which the browser is sent back.
const CALLBACK: &str = "/callback";

/// A login that waits for the person.
pub struct Login {
    settings: ServerSettings,
    session: AuthorizationSession,
    listener: TcpListener,
    /// What the browser must bring back, so that no other page can end this login.
    state: String,
}

impl Login {
    /// Asks a server where to log in. `folder` is where tokens are kept.
    #[boxed]
    pub async fn begin(settings: &ServerSettings, folder: &Path) -> Result<Self, Error> {
        let Connection::Http { url, .. } = &settings.connection else {
            return Err(Error::Start("it is a program, which needs no login".to_owned()));
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| Error::Start(error.to_string()))?;
        let port = listener.local_addr().map_err(|error| Error::Start(error.to_string()))?.port();
        let mut manager = manager(url, folder, settings).await.map_err(|error| said(settings, &error))?;
        let found = manager.resolve_metadata().await.map_err(|error| said(settings, &error))?;
        if found.source == AuthorizationMetadataSource::LegacyEndpointFallback {
            return Err(Error::Start(
                "it does not say where to log in; set a token that you have from it in its headers".to_owned(),
            ));
        }
        manager.set_metadata(found.metadata);
        let request = AuthorizationRequest::new(format!("http://127.0.0.1:{port}{CALLBACK}"))
            .with_client_name("Majordomo")
            .with_initial_scope_selection();
        let session = AuthorizationSession::new(manager, request).await.map_err(|(_, error)| said(settings, &error))?;
        let address = Url::parse(session.get_authorization_url()).map_err(|_| wrong_address())?;
        if !is_fit_for_browser(&address, url) {
            return Err(wrong_address());
        }
        let state = address.query_pairs().find(|(name, _)| name == "state").map(|(_, value)| value.into_owned());
        Ok(Self { settings: settings.clone(), session, listener, state: state.ok_or_else(wrong_address)? })
    }

    /// The address that the person opens in a browser.
    pub fn address(&self) -> &str {
        self.session.get_authorization_url()
    }

    /// Waits until the browser comes back, and keeps the tokens.
    #[boxed]
    pub async fn finish(self, time: Duration) -> Result<(), Error> {
        let waiting = async {
            loop {
                let (stream, _) = self.listener.accept().await.map_err(|error| Error::Start(error.to_string()))?;
                // Anything else is another page, a port scan, or a browser that asks for an icon.
                if let Ok(Some(done)) = tokio::time::timeout(BROWSER_TIME, self.heard(stream)).await {
                    return done;
                }
            }
        };
        match tokio::time::timeout(time, waiting).await {
            Ok(done) => done,
            Err(_) => Err(Error::Start(format!("nobody logged in within {} s", time.as_secs()))),
        }
    }

    /// One request of a browser; none where it does not end this login.
    async fn heard(&self, mut stream: TcpStream) -> Option<Result<(), Error>> {
        let mut head = Vec::new();
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            let mut part = [0; 2048];
            let read = stream.read(&mut part).await.ok()?;
            head.extend_from_slice(&part[..read]);
            if read == 0 || head.len() > LONGEST_REQUEST {
                return None;
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let path = head.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        let address = Url::parse(&format!("http://127.0.0.1{path}")).ok();
        let value = |name: &str| {
            let address = address.as_ref().filter(|address| address.path() == CALLBACK)?;
            address.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
        };
        if value("state").as_deref() != Some(&*self.state) {
            answer(&mut stream, "404 Not Found", "Nothing is here.").await;
            return None;
        }
        if let Some(error) = value("error") {
            answer(&mut stream, "200 OK", "The login was refused. You can close this window.").await;
            let why: String = value("error_description").unwrap_or(error).chars().take(200).collect();
            return Some(Err(Error::Start(format!("the login was refused: {}", plain(&why)))));
        }
        let done = self.session.handle_callback_url(address.as_ref()?.as_str()).await;
        let words = match &done {
            Ok(_) => "You are logged in. You can close this window.",
            Err(_) => "The login failed; the terminal says why. You can close this window.",
        };
        answer(&mut stream, "200 OK", words).await;
        Some(done.map(drop).map_err(|error| said(&self.settings, &error)))
    }
}

/// Forgets the tokens of a server; whether there were any.
pub fn log_out(settings: &ServerSettings, folder: &Path) -> io::Result<bool> {
    match fs::remove_file(file(folder, settings)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether there are tokens of a server.
pub fn is_logged_in(settings: &ServerSettings, folder: &Path) -> bool {
    file(folder, settings).is_file()
}

/// What adds tokens to requests, and refreshes them; none where there are no tokens of the server.
pub(crate) async fn tokens(
    settings: &ServerSettings,
    url: &str,
    folder: &Path,
) -> Result<Option<AuthorizationManager>, Error> {
    if !is_logged_in(settings, folder) {
        return Ok(None);
    }
    let mut manager = manager(url, folder, settings).await.map_err(|error| said(settings, &error))?;
    match manager.initialize_from_store().await {
        Ok(true) => Ok(Some(manager)),
        Ok(false) => Ok(None),
        Err(error) => Err(said(settings, &error)),
    }
}

async fn manager(url: &str, folder: &Path, settings: &ServerSettings) -> Result<AuthorizationManager, AuthError> {
    let base = Url::parse(url)?;
    let careful = Careful::new(&base).map_err(AuthError::InternalError)?;
    let mut manager = AuthorizationManager::new_with_oauth_http_client(base, Arc::new(careful)).await?;
    manager.set_credential_store(TokenFile(file(folder, settings)));
    Ok(manager)
}

/// The file of a server's tokens: another address is another file.
fn file(folder: &Path, settings: &ServerSettings) -> PathBuf {
    folder.join(format!("{}-{}.json", settings.name, settings.connection.identity()))
}

/// An address for a browser: over HTTPS, or the server's own.
fn is_fit_for_browser(address: &Url, server: &str) -> bool {
    let is_own = Url::parse(server).is_ok_and(|server| server.origin() == address.origin());
    address.scheme() == "https" || address.scheme() == "http" && is_own
}

fn wrong_address() -> Error {
    Error::Start("it names an address for the login that is neither HTTPS nor its own".to_owned())
}

/// An error without what a server says at length.
fn said(settings: &ServerSettings, error: &AuthError) -> Error {
    match error {
        AuthError::AuthorizationRequired | AuthError::TokenExpired | AuthError::TokenRefreshRejected(_) => {
            Error::Login(settings.name.clone())
        }
        other => {
            let mut text = other.to_string();
            let mut cause = std::error::Error::source(other);
            while let Some(error) = cause {
                text = format!("{text}: {error}");
                cause = error.source();
            }
            Error::Start(plain(&text.chars().take(300).collect::<String>()))
        }
    }
}

fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

async fn answer(stream: &mut TcpStream, status: &str, words: &str) {
    let page = format!("<!doctype html><title>Majordomo</title><p>{words}</p>");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        page.len()
    );
    // The browser may be gone.
    let _ = stream.write_all(format!("{head}{page}").as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// Tokens in a file that only its owner reads. It is replaced as a whole, and never written through a link.
struct TokenFile(PathBuf);

type Kept<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

impl CredentialStore for TokenFile {
    fn load<'a, 'b>(&'a self) -> Kept<'b, Option<StoredCredentials>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            match fs::read(&self.0) {
                Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| unkept(&error)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(unkept(&error)),
            }
        })
    }

    fn save<'a, 'b>(&'a self, credentials: StoredCredentials) -> Kept<'b, ()>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let bytes = serde_json::to_vec(&credentials).map_err(|error| unkept(&error))?;
            write(&self.0, &bytes).map_err(|error| unkept(&error))
        })
    }

    /// A refresh token is good for one use where servers replace it: processes refresh one after the other.
    fn acquire_refresh_guard<'a, 'b>(&'a self) -> Kept<'b, Option<CredentialRefreshGuard>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let path = self.0.with_extension("lock");
            let locked = tokio::task::spawn_blocking(move || {
                let lock = fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
                lock.lock()?;
                Ok::<_, io::Error>(lock)
            });
            let lock = locked.await.map_err(|error| unkept(&error))?.map_err(|error| unkept(&error))?;
            Ok(Some(CredentialRefreshGuard::new(lock)))
        })
    }

    fn clear<'a, 'b>(&'a self) -> Kept<'b, ()>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            match fs::remove_file(&self.0) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unkept(&error)),
                Ok(()) | Err(_) => Ok(()),
            }
        })
    }
}

fn unkept(error: &dyn std::fmt::Display) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let new = path.with_extension(format!("{}.new", std::process::id()));
    // One that a killed process left.
    let _ = fs::remove_file(&new);
    let written = (|| {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// Sends requests about logins: to the server itself, and else to public addresses over HTTPS. It follows no redirects.
struct Careful {
    own: Url,
    /// For the server's own address, which the person configured.
    to_own: Client,
    /// For all others.
    to_others: Client,
}

impl Careful {
    fn new(own: &Url) -> Result<Self, String> {
        // Set once for the whole process; the provider's requests use the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            let builder = Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(REQUEST_TIME);
            // A proxy would resolve names itself, unchecked.
            builder.no_proxy()
        };
        let to_own = builder().build().map_err(|error| error.to_string())?;
        let to_others = builder().dns_resolver(Arc::new(PublicOnly)).build().map_err(|error| error.to_string())?;
        Ok(Self { own: own.clone(), to_own, to_others })
    }

    /// The client that may ask an address; none where none may.
    fn client_for(&self, url: &Url) -> Option<&Client> {
        if url.origin() == self.own.origin() {
            return Some(&self.to_own);
        }
        let is_private_literal = match url.host()? {
            url::Host::Ipv4(address) => web::is_private(address.into()),
            url::Host::Ipv6(address) => web::is_private(address.into()),
            url::Host::Domain(_) => false,
        };
        (url.scheme() == "https" && !is_private_literal).then_some(&self.to_others)
    }
}

impl OAuthHttpClient for Careful {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let request = reqwest::Request::try_from(request.request)?;
            let Some(client) = self.client_for(request.url()) else {
                let host = request.url().host_str().unwrap_or_default().to_owned();
                return Err(format!(
                    "{host} is not asked: it is named by the server, and is neither its own address nor a public one over HTTPS"
                )
                .into());
            };
            let mut response = client.execute(request).await?;
            let mut built = http::Response::builder().status(response.status());
            for (name, value) in response.headers() {
                built = built.header(name, value);
            }
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await? {
                body.extend_from_slice(&chunk);
                if body.len() > LONGEST_ANSWER {
                    return Err("the answer is too long".into());
                }
            }
            Ok(built.body(body)?)
        })
    }
}

/// Resolves names to public addresses, and no others.
struct PublicOnly;

impl reqwest::dns::Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let name = name.as_str().to_owned();
        Box::pin(async move {
            let found: Vec<IpAddr> =
                tokio::net::lookup_host((name.as_str(), 0)).await?.map(|address| address.ip()).collect();
            if let Some(private) = found.iter().find(|address| web::is_private(**address)) {
                return Err(format!("{name} leads to {private}, a private address: not asked").into());
            }
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T55
    #[test]
    fn what_a_server_names_leads_to_its_own_address_or_to_public_ones_and_nowhere_else() {
        let careful = Careful::new(&Url::parse("http://127.0.0.1:7000/mcp").unwrap()).unwrap();
        let may = |url: &str| careful.client_for(&Url::parse(url).unwrap()).is_some();
        assert!(may("http://127.0.0.1:7000/.well-known/x") && may("https://login.example/token"));
        for url in [
            "http://127.0.0.1:7001/token",
            "http://localhost:7000/token",
            "https://127.0.0.1/token",
            "https://[::1]/token",
            "https://[::ffff:127.0.0.1]/token",
            "https://169.254.169.254/latest/meta-data",
            "https://10.0.0.8/token",
            "http://login.example/token",
            "file:///etc/passwd",
        ] {
            assert!(!may(url), "{url}");
        }
    }

    // T55
    #[tokio::test]
    async fn a_name_that_leads_to_this_machine_is_not_asked() {
        let name: Name = "localhost".parse().unwrap();
        let found = reqwest::dns::Resolve::resolve(&PublicOnly, name).await;
        assert!(found.is_err_and(|error| error.to_string().contains("private address")));
    }

    // T55
    #[test]
    fn only_addresses_of_the_web_are_given_to_a_browser() {
        let fits = |address: &str| is_fit_for_browser(&Url::parse(address).unwrap(), "http://127.0.0.1:7000/mcp");
        assert!(fits("https://login.example/authorize?x=$(id)") && fits("http://127.0.0.1:7000/authorize"));
        for address in ["file:///etc/passwd", "javascript:alert(1)", "http://127.0.0.1:7001/a", "http://a.example/"] {
            assert!(!fits(address), "{address}");
        }
    }

    // T45
    #[test]
    fn tokens_are_for_their_owner_alone_and_are_not_written_through_a_link() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (folder.path().join("tokens/a.json"), folder.path().join("elsewhere"));
        write(&path, b"one").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        fs::write(&elsewhere, "mine").unwrap();
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(
            (fs::read_to_string(&elsewhere).unwrap(), fs::read(&path).unwrap()),
            ("mine".to_owned(), b"two".to_vec())
        );
    }
}
