//! One request to one host: names are resolved here, the addresses are checked, and the connection is made to a checked address.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolving};
use reqwest::{Client, Method, Response};

use crate::Settings;
use crate::address::{Address, is_private};

/// Resolves the names of hosts.
pub trait Resolve: Send + Sync {
    /// The addresses of a name.
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// Asks the system.
struct System;

impl Resolve for System {
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Sends requests. Its connections are kept for later calls to the same host.
pub(crate) struct Sender {
    resolver: Arc<dyn Resolve>,
    private_hosts: Arc<[String]>,
    /// For hosts that may lead to private addresses, and for all others. Made when first needed.
    clients: [OnceLock<Result<Client, String>>; 2],
}

impl Sender {
    pub(crate) fn new(settings: &Settings) -> Self {
        let resolver = settings.resolver.clone().unwrap_or_else(|| Arc::new(System));
        Self { resolver, private_hosts: settings.private_hosts.clone().into(), clients: [const { OnceLock::new() }; 2] }
    }

    /// The same with one more host that may lead to a private address: the person configured it.
    pub(crate) fn with_private_host(mut self, host: String) -> Self {
        self.private_hosts = self.private_hosts.iter().cloned().chain([host]).collect();
        self
    }

    /// Sends a request, and follows no redirect.
    pub(crate) async fn send(
        &self,
        method: Method,
        address: &Address,
        with: impl FnOnce(reqwest::RequestBuilder) -> reqwest::RequestBuilder,
    ) -> Result<Response, String> {
        let may_be_private = address.is_one_of(&self.private_hosts);
        // The client asks no resolver about a host that is an address.
        if let Some(literal) = address.literal().filter(|literal| !may_be_private && is_private(*literal)) {
            return Err(refused(&address.host, literal));
        }
        let client = self.client(may_be_private)?;
        with(client.request(method, address.url.clone())).send().await.map_err(|error| told(&error))
    }

    fn client(&self, may_be_private: bool) -> Result<&Client, String> {
        let made = self.clients[usize::from(may_be_private)].get_or_init(|| {
            // Installed already, by a provider or by the program that embeds this library: either serves.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let resolver = Checked { resolver: self.resolver.clone(), may_be_private };
            Client::builder()
                .user_agent(concat!("majordomo/", env!("CARGO_PKG_VERSION")))
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                // A proxy would resolve the name itself, unchecked.
                .no_proxy()
                .dns_resolver(Arc::new(resolver))
                .build()
                .map_err(|error| format!("no request can be made: {error}"))
        });
        made.as_ref().map_err(Clone::clone)
    }
}

/// Resolves names for the client, which connects to just these addresses.
struct Checked {
    resolver: Arc<dyn Resolve>,
    may_be_private: bool,
}

impl reqwest::dns::Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let (name, may_be_private) = (name.as_str().to_owned(), self.may_be_private);
        let found = self.resolver.resolve(&name);
        Box::pin(async move {
            let found = found.await?;
            // One private address among public ones is no mistake of an honest server.
            if let Some(private) = found.iter().find(|address| !may_be_private && is_private(**address)) {
                return Err(refused(&name, *private).into());
            }
            let addresses: Vec<SocketAddr> = found.into_iter().map(|address| SocketAddr::new(address, 0)).collect();
            let addresses: Addrs = Box::new(addresses.into_iter());
            Ok(addresses)
        })
    }
}

fn refused(host: &str, address: IpAddr) -> String {
    format!("{host} leads to {address}, a private address: not asked (web.private_hosts names hosts that may)")
}

/// An error with its causes, and without the address, which the caller knows.
fn told(error: &reqwest::Error) -> String {
    let mut text = if error.is_timeout() { "no answer in time".to_owned() } else { "the request failed".to_owned() };
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(&format!(": {said}"));
        }
        cause = error.source();
    }
    text
}
