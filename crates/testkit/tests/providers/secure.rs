//! Connections over TLS to a server whose certificate only a person's own authority vouches for. Certificates and key are in `tls/` and
//! exist for this test alone.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::model::CallErrorKind as Kind;
use majordomo_testkit::model_server::{ModelServer, Turn};
use provider::{ProviderConfig, Wire};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::stage::{ask, config, conversation, heading, providers};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers/tls").join(name)
}

/// A server for TLS that passes what it gets on to `behind`, and its port.
async fn in_front_of(behind: &ModelServer) -> u16 {
    // Another test of this process may have done so before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let certificate = CertificateDer::from_pem_file(file("server.pem")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(file("server.key")).expect("a key");
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
    let acceptor = TlsAcceptor::from(Arc::new(config.expect("a certificate with its key")));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    let port = listener.local_addr().expect("an address").port();
    let behind = behind.host().trim_start_matches("http://").to_owned();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, behind) = (acceptor.clone(), behind.clone());
            tokio::spawn(async move {
                // A client that does not trust the certificate goes away.
                let Ok(mut secure) = acceptor.accept(stream).await else { return };
                let mut plain = TcpStream::connect(behind).await.expect("the server is there");
                let _ = tokio::io::copy_bidirectional(&mut secure, &mut plain).await;
            });
        }
    });
    port
}

fn at(port: u16, ca_file: Option<PathBuf>) -> ProviderConfig {
    ProviderConfig { ca_file, ..config(Wire::OpenAi, format!("https://localhost:{port}/v1")) }
}

#[tokio::test]
async fn a_certificate_of_ones_own_authority_is_trusted_with_ca_file_and_refused_without() {
    let server = ModelServer::start(|_| Turn::text("in secret")).await;
    let port = in_front_of(&server).await;
    let answer = conversation(at(port, Some(file("authority.pem")))).ask(ask()).await.expect("a secure connection");
    assert_eq!((heading(&answer).0.as_str(), server.refusals()), ("in secret", vec![]));

    let error = conversation(at(port, None)).ask(ask()).await.expect_err("no authority vouches for it");
    assert_eq!(error.kind, Kind::Connection, "{error}");
    for word in ["no secure connection to https://localhost", "is its certificate trusted here"] {
        assert!(error.message.contains(word), "{error}");
    }
    assert_eq!(server.requests().len(), 1, "nothing was sent");
}

#[tokio::test]
async fn a_ca_file_that_is_missing_or_holds_no_certificate_is_named_before_anything_is_sent() {
    let empty = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(empty.path(), "-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\n").expect("written");
    for (path, why) in [
        (file("missing.pem"), "No such file"),
        (file("server.key"), "no certificates in PEM"),
        (PathBuf::from("/"), "directory"),
        (empty.path().to_owned(), ""),
    ] {
        let error = providers(at(1, Some(path.clone()))).open("test/a-model").expect_err("unusable").to_string();
        assert!(error.contains(why) && (why.is_empty() || error.contains("ca_file")), "{}: {error}", path.display());
    }
}
