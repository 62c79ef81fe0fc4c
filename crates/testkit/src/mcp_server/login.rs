//! A server of tools that wants a login, and the authorisation server beside it at the same address: metadata, registration, a page that agrees at
//! once, and tokens that end and are refreshed. It holds clients to PKCE, to the redirect that was registered, and to refresh tokens that are
//! good for one use.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Form, Json, Router};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Such a server; it ends with the runtime.
#[derive(Clone)]
pub struct LoginServer {
    /// Its address.
    pub url: String,
    state: Arc<Shared>,
}

struct Shared {
    origin: String,
    /// What the metadata names in the place of its own token endpoint.
    elsewhere: Option<String>,
    /// What stands behind the address of the page that agrees.
    behind: String,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    redirects: Vec<String>,
    /// The challenge of each code that was given out.
    codes: HashMap<String, String>,
    /// Tokens that count.
    access: Vec<String>,
    refresh: Vec<String>,
    given: u32,
    refreshed: u32,
    refusals: Vec<String>,
}

impl LoginServer {
    /// Starts one.
    pub async fn start() -> Self {
        Self::naming(None).await
    }

    /// Starts one whose metadata names another token endpoint.
    pub async fn naming(elsewhere: Option<String>) -> Self {
        Self::made(elsewhere, String::new()).await
    }

    /// Starts one that has a browser sent to an address with these characters at its end.
    pub async fn sending_to(behind: &str) -> Self {
        Self::made(None, behind.to_owned()).await
    }

    async fn made(elsewhere: Option<String>, behind: String) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(Shared { origin: origin.clone(), elsewhere, behind, inner: Mutex::default() });
        let app = Router::new()
            .route("/mcp", any(serve))
            .route("/.well-known/oauth-protected-resource", get(resource))
            .route("/.well-known/oauth-protected-resource/mcp", get(resource))
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url: format!("{origin}/mcp"), state }
    }

    /// From now on no token counts that was given out for a while; refresh tokens still do.
    pub fn end_tokens(&self) {
        self.state.lock().access.clear();
    }

    /// From now on nothing counts that was given out.
    pub fn revoke(&self) {
        let mut inner = self.state.lock();
        inner.access.clear();
        inner.refresh.clear();
    }

    /// How often tokens were refreshed.
    pub fn refreshed(&self) -> u32 {
        self.state.lock().refreshed
    }

    /// What a client did that it must not.
    pub fn refusals(&self) -> Vec<String> {
        self.state.lock().refusals.clone()
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refuse(&self, why: &str) -> Response {
        self.lock().refusals.push(why.to_owned());
        (StatusCode::BAD_REQUEST, Json(json!({"error": "invalid_grant", "error_description": why}))).into_response()
    }
}

async fn serve(State(state): State<Arc<Shared>>, headers: HeaderMap, body: String) -> Response {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let counts =
        given.strip_prefix("Bearer ").is_some_and(|token| state.lock().access.iter().any(|known| known == token));
    if !counts {
        let at = format!("{}/.well-known/oauth-protected-resource/mcp", state.origin);
        let challenge = format!("Bearer resource_metadata=\"{at}\"");
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)]).into_response();
    }
    super::http::answered(&body)
}

async fn resource(State(state): State<Arc<Shared>>) -> Json<Value> {
    let origin = &state.origin;
    Json(json!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]}))
}

async fn metadata(State(state): State<Arc<Shared>>) -> Json<Value> {
    let origin = &state.origin;
    let token = state.elsewhere.clone().unwrap_or_else(|| format!("{origin}/token"));
    Json(json!({
        "issuer": origin,
        "authorization_endpoint": format!("{origin}/authorize{}", state.behind),
        "token_endpoint": token,
        "registration_endpoint": format!("{origin}/register"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
    }))
}

async fn register(State(state): State<Arc<Shared>>, Json(wanted): Json<Value>) -> Response {
    let redirects: Vec<String> =
        wanted["redirect_uris"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    state.lock().redirects.extend(redirects.iter().cloned());
    let answer = json!({"client_id": "client-1", "redirect_uris": redirects, "token_endpoint_auth_method": "none"});
    (StatusCode::CREATED, Json(answer)).into_response()
}

/// The person agrees at once: the browser is sent back with a code.
async fn authorize(State(state): State<Arc<Shared>>, Query(asked): Query<BTreeMap<String, String>>) -> Response {
    let of = |name: &str| asked.get(name).cloned().unwrap_or_default();
    if of("code_challenge_method") != "S256" || of("code_challenge").is_empty() {
        return state.refuse("no PKCE");
    }
    if !state.lock().redirects.contains(&of("redirect_uri")) {
        return state.refuse("a redirect that was not registered");
    }
    let mut inner = state.lock();
    inner.given += 1;
    let code = format!("code-{}", inner.given);
    inner.codes.insert(code.clone(), of("code_challenge"));
    let back = format!("{}?code={code}&state={}", of("redirect_uri"), of("state"));
    (StatusCode::FOUND, [(header::LOCATION, back)]).into_response()
}

async fn token(State(state): State<Arc<Shared>>, Form(asked): Form<BTreeMap<String, String>>) -> Response {
    let of = |name: &str| asked.get(name).cloned().unwrap_or_default();
    let is_good = match &*of("grant_type") {
        "authorization_code" => {
            let challenge = state.lock().codes.remove(&of("code"));
            let proof = URL_SAFE_NO_PAD.encode(Sha256::digest(of("code_verifier").as_bytes()));
            challenge.is_some_and(|challenge| challenge == proof)
        }
        "refresh_token" => {
            let mut inner = state.lock();
            let known = inner.refresh.iter().position(|known| *known == of("refresh_token"));
            if let Some(at) = known {
                // Good for one use.
                inner.refresh.remove(at);
                inner.refreshed += 1;
            }
            known.is_some()
        }
        _ => false,
    };
    if !is_good {
        return state.refuse("neither a code with its proof nor a refresh token that counts");
    }
    let mut inner = state.lock();
    inner.given += 1;
    let (access, refresh) = (format!("access-{}", inner.given), format!("refresh-{}", inner.given));
    inner.access.push(access.clone());
    inner.refresh.push(refresh.clone());
    let answer = json!({"access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": refresh});
    Json(answer).into_response()
}

/// What a browser does: it asks for an address on this machine, goes where it is sent, and shows what it gets.
pub async fn browse(address: &str) -> String {
    let mut address = address.to_owned();
    for _ in 0..3 {
        let rest = address.strip_prefix("http://").expect("an address of this machine");
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut stream = tokio::net::TcpStream::connect(host).await.expect("it listens");
        let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it takes a request");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.expect("an answer");
        let answer = String::from_utf8_lossy(&bytes).into_owned();
        let sent_on = answer.lines().take_while(|line| !line.is_empty()).find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
        });
        match sent_on {
            Some(next) => address = next,
            None => return answer,
        }
    }
    panic!("the browser is sent in a circle")
}
