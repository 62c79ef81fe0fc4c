//! The tools against real servers on loopback, and names that lead to other addresses than they did before.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::tools::{Reach, ToolResult};
use agent::{CallId, Json, ThreadId};
use futures_util::future::BoxFuture;
use majordomo_web::{self as web, FETCH, Resolve, SEARCH, Search, Service, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tool::{Registry, ToolContext, Workspace};

/// A server that answers each path with fixed bytes, and keeps what it was asked.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn new(pages: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let pages: HashMap<String, String> = pages
            .iter()
            .map(|(path, answer)| ((*path).to_owned(), answer.replace("PORT", &port.to_string())))
            .collect();
        let kept = asked.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (pages, kept) = (pages.clone(), kept.clone());
                tokio::spawn(async move {
                    let mut request = vec![0; 16 * 1024];
                    let read = stream.read(&mut request).await.unwrap_or(0);
                    let request = String::from_utf8_lossy(&request[..read]).into_owned();
                    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                    kept.lock().expect("kept").push(request);
                    let Some(answer) = pages.get(path.split('?').next().unwrap_or_default()) else { return };
                    if answer == "silence" {
                        return std::future::pending().await;
                    }
                    let _ = stream.write_all(answer.as_bytes()).await;
                });
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("kept").clone()
    }

    fn at(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

fn page(kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn redirect(to: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

fn local() -> Settings {
    Settings { private_hosts: vec!["127.0.0.1".to_owned()], ..Settings::default() }
}

fn context() -> (tempfile::TempDir, ToolContext) {
    let folder = tempfile::tempdir().expect("a folder");
    let workspace = Workspace::open(folder.path()).expect("a workspace");
    let context = ToolContext::new(Arc::new(workspace), ThreadId::new("20260115-k3f9"), CallId::new("tu_1"));
    (folder, context)
}

async fn call(tools: &Registry, name: &str, input: &str) -> ToolResult {
    let (_folder, context) = context();
    tools.get(name).expect("a tool").run(&Json::parse(input).expect("JSON"), &context).await
}

async fn fetch(settings: &Settings, url: &str) -> ToolResult {
    call(&web::tools(settings), FETCH, &format!(r#"{{"url": "{url}"}}"#)).await
}

/// Gives other addresses at each call.
struct Rebinding {
    addresses: Vec<IpAddr>,
    asked: AtomicUsize,
}

impl Resolve for Rebinding {
    fn resolve(&self, _name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let at = self.asked.fetch_add(1, Ordering::SeqCst).min(self.addresses.len() - 1);
        let address = self.addresses[at];
        Box::pin(async move { Ok(vec![address]) })
    }
}

#[tokio::test]
async fn a_page_is_read_as_markdown_and_is_untrusted_text() {
    let server = Server::new(&[("/", &page("text/html; charset=utf-8", "<h1>Hi</h1><p>there</p>"))]).await;
    let result = fetch(&local(), &server.at("/")).await;
    assert!(!result.is_error, "{}", result.content);
    assert_eq!(&*result.content, "# Hi\n\nthere");
    assert_eq!(result.foreign.as_deref(), Some(format!("127.0.0.1:{}", server.port).as_str()));
}

#[tokio::test]
async fn text_is_kept_as_it_is_and_what_is_no_text_is_refused() {
    let json = page("application/json", "{\"a\": \"<b>\"}");
    let latin = page("text/plain; charset=iso-8859-1", "plain");
    let server = Server::new(&[("/j", &json), ("/l", &latin), ("/i", &page("image/png", "x"))]).await;
    assert_eq!(&*fetch(&local(), &server.at("/j")).await.content, "{\"a\": \"<b>\"}");
    assert_eq!(&*fetch(&local(), &server.at("/l")).await.content, "plain");
    let image = fetch(&local(), &server.at("/i")).await;
    assert!(image.is_error && image.content.contains("which is no text"), "{}", image.content);
    let missing = fetch(&local(), &server.at("/none")).await;
    assert!(missing.is_error, "{}", missing.content);
}

#[tokio::test]
async fn a_page_is_bounded_in_bytes_and_time_and_its_rest_can_be_read() {
    let long = page("text/plain", &"0123456789".repeat(5_000));
    let server = Server::new(&[("/long", &long), ("/never", "silence")]).await;
    let result = fetch(&local(), &server.at("/long")).await;
    assert!(
        result.content.ends_with("[26000 more characters: call again with start 24000]"),
        "{}",
        result.content.len()
    );
    let input = format!(r#"{{"url": "{}", "start": 49990}}"#, server.at("/long"));
    assert_eq!(&*call(&web::tools(&local()), FETCH, &input).await.content, "0123456789");
    let short = Settings { max_bytes: 1_000, ..local() };
    let cut = fetch(&short, &server.at("/long")).await;
    assert!(cut.content.ends_with("[the page is longer than what is read of one]") && cut.content.len() < 1_100);
    let hasty = Settings { timeout: Duration::from_millis(50), ..local() };
    let never = fetch(&hasty, &server.at("/never")).await;
    assert!(never.is_error && never.content.contains("did not answer within"), "{}", never.content);
}

// T36
#[tokio::test]
async fn a_redirect_is_followed_on_the_same_host_and_told_for_any_other() {
    let pages = [
        ("/a", &*redirect("/b")),
        ("/b", &*page("text/plain", "arrived")),
        ("/away", &*redirect("https://evil.example/x?secret=1")),
        ("/port", &*redirect("http://127.0.0.1:1/")),
        ("/file", &*redirect("file:///etc/passwd")),
        ("/circle", &*redirect("/circle")),
    ];
    let server = Server::new(&pages).await;
    assert_eq!(&*fetch(&local(), &server.at("/a")).await.content, "arrived");
    let away = fetch(&local(), &server.at("/away")).await;
    assert!(away.content.contains("call web_fetch with https://evil.example/x?secret=1"), "{}", away.content);
    assert!(away.foreign.is_some());
    assert!(fetch(&local(), &server.at("/port")).await.content.contains("redirects to another host"));
    assert!(fetch(&local(), &server.at("/file")).await.is_error);
    assert!(fetch(&local(), &server.at("/circle")).await.content.contains("in a circle"));
}

// T36
#[tokio::test]
async fn private_addresses_are_not_asked_in_any_spelling() {
    let server = Server::new(&[("/", &page("text/plain", "secret"))]).await;
    let port = server.port;
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "localhost",
        "localhost.",
        "169.254.169.254",
    ] {
        let result = fetch(&Settings::default(), &format!("http://{host}:{port}/")).await;
        assert!(result.is_error && !result.content.contains("secret"), "{host}: {}", result.content);
    }
    assert!(server.asked().is_empty());
    let named = Settings { private_hosts: vec![format!("localhost:{port}")], ..Settings::default() };
    assert_eq!(&*fetch(&named, &format!("http://localhost:{port}/")).await.content, "secret");
    assert!(fetch(&named, &server.at("/")).await.is_error, "another host of the same machine");
}

// T36: a name that leads to a public address when it is looked at and to a private one when it is used.
#[tokio::test]
async fn a_name_is_resolved_once_and_the_checked_address_is_the_one_that_is_used() {
    let server = Server::new(&[("/", &page("text/plain", "secret"))]).await;
    let addresses = vec!["127.0.0.1".parse().expect("an address")];
    let rebinding = Arc::new(Rebinding { addresses, asked: AtomicUsize::new(0) });
    let settings = Settings { resolver: Some(rebinding.clone()), ..Settings::default() };
    let url = format!("http://rebind.example:{}/", server.port);
    let result = fetch(&settings, &url).await;
    assert!(result.is_error && result.content.contains("a private address: not asked"), "{}", result.content);
    assert_eq!(rebinding.asked.load(Ordering::SeqCst), 1);
    assert!(server.asked().is_empty());

    // A redirect to the same name resolves it anew, and checks it anew.
    let addresses = ["127.0.0.1", "10.0.0.1"].map(|text| text.parse().expect("an address")).to_vec();
    let turning = Arc::new(Rebinding { addresses, asked: AtomicUsize::new(1) });
    let settings = Settings { resolver: Some(turning), ..Settings::default() };
    assert!(fetch(&settings, &url).await.content.contains("10.0.0.1, a private address"));
}

#[tokio::test]
async fn a_call_is_judged_by_its_host_and_a_wrong_address_needs_no_approval() {
    let tools = web::tools(&local());
    let info = tools.get(FETCH).expect("a tool").info().clone();
    let assess = |url: &str| tools.assess("/", &info, &Json::parse(&format!(r#"{{"url": "{url}"}}"#)).expect("JSON"));
    let assessment = assess("https://Docs.rs./tokio?q=1#x");
    assert_eq!((assessment.reach, &*assessment.subjects[0]), (Reach::Network, "docs.rs"));
    assert_eq!(assessment.standing.as_deref(), Some("docs.rs"));
    assert_eq!(&*assessment.also[0], "https://docs.rs/tokio?q=1");
    assert_ne!(assess("https://docs.rs/a").digest, assess("https://docs.rs/b").digest);
    assert_eq!(assess("https://docs.rs@evil.example/").reach, Reach::ReadOnly, "it fails before it does anything");
}

#[tokio::test]
async fn each_service_is_asked_as_its_documentation_says_and_only_where_one_is_configured() {
    assert!(web::tools(&Settings::default()).get(SEARCH).is_none());
    assert!(web::tools(&Settings { fetch: false, ..Settings::default() }).infos().is_empty());
    let found =
        r#"[{"title": "Tokio", "url": "https://tokio.rs", "content": "a runtime", "description": "a runtime"}]"#;
    let brave = page("application/json", &format!(r#"{{"web": {{"results": {found}}}}}"#));
    let others = page("application/json", &format!(r#"{{"results": {found}}}"#));
    let server = Server::new(&[("/search", &others), ("/brave", &brave), ("/tavily", &others)]).await;
    for (service, path, key, sent) in [
        (Service::Searxng, "", None, "GET /search?q=async+rust&format=json "),
        (Service::Brave, "/brave", Some("k3y"), "x-subscription-token: k3y"),
        (Service::Tavily, "/tavily", Some("k3y"), "authorization: Bearer k3y"),
    ] {
        let search = Search { service, url: Some(server.at(path)), key: key.map(str::to_owned) };
        let tools = web::tools(&Settings { search: Some(search), ..Settings::default() });
        let result = call(&tools, SEARCH, r#"{"query": "async rust"}"#).await;
        assert_eq!(&*result.content, "- Tokio\n  https://tokio.rs\n  a runtime", "{service:?}");
        assert!(result.foreign.is_some());
        let asked = server.asked();
        assert!(asked.last().expect("a request").contains(sent), "{service:?}: {asked:?}");
    }
    let keyless = Search { service: Service::Brave, url: Some(server.at("/brave")), key: None };
    let tools = web::tools(&Settings { search: Some(keyless), ..Settings::default() });
    assert!(call(&tools, SEARCH, r#"{"query": "x"}"#).await.content.contains("set BRAVE_API_KEY"));
}
