//! Tools that read the web: `web_fetch` reads a page as Markdown, `web_search` asks a configured search service.
//!
//! An address can carry text out, and a page can hold text that tells a model what to do. So every call names its host to the permission
//! rules ([`Reach::Network`](agent::tools::Reach::Network)), a redirect to another host is a new call, addresses of private networks are
//! refused after the name was resolved, and what comes back is untrusted text.
//!
//! Left to others: whether a call is allowed (the rules). Deliberately absent: scripts of pages, cookies, forms, proxies, caches.

mod address;
mod client;
mod fetch;
mod markdown;
mod search;

use std::sync::Arc;
use std::time::Duration;

use tool::{Origin, Registry};

pub use address::is_private;
pub use client::Resolve;
pub use search::{Search, Service};

/// The tool that reads a page.
pub const FETCH: &str = "web_fetch";
/// The tool that searches.
pub const SEARCH: &str = "web_search";

/// What the tools may do.
#[derive(Clone)]
pub struct Settings {
    /// Whether pages can be read.
    pub fetch: bool,
    /// Hosts that may lead to private addresses, as `host` or `host:port`.
    pub private_hosts: Vec<String>,
    /// How long one call may take.
    pub timeout: Duration,
    /// The most bytes of a page that are read.
    pub max_bytes: usize,
    /// The service that searches; none means that there is no such tool.
    pub search: Option<Search>,
    /// How names are resolved; none for the system's way.
    pub resolver: Option<Arc<dyn Resolve>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            fetch: true,
            private_hosts: Vec::new(),
            timeout: Duration::from_secs(30),
            max_bytes: 4 << 20,
            search: None,
            resolver: None,
        }
    }
}

/// The tools that these settings offer.
pub fn tools(settings: &Settings) -> Registry {
    let mut registry = Registry::from_origin(Origin::BuiltIn);
    if settings.fetch {
        registry = registry.with(fetch::WebFetch::new(settings));
    }
    if let Some(search) = &settings.search {
        registry = registry.with(search::WebSearch::new(settings, search.clone()));
    }
    registry
}
