//! An HTTP client with the settings of the providers' own, for everything else in the benchmarks that uses HTTP.

use std::time::Duration;

use reqwest::Client;

/// A client for addresses of this machine.
pub fn client() -> reqwest::Result<Client> {
    // Only the first to install one succeeds, and any serves.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent("majordomo-bench")
        .connect_timeout(Duration::from_secs(10))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .tcp_nodelay(true)
        .tls_certs_only([])
        .no_proxy()
        .build()
}
