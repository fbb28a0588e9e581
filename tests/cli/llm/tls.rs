//! Tests TLS: rejects a server with an unknown certificate and accepts one whose authority was given.

use super::server::{Server, Wire, json};
use super::{ASKED, HELLO, KEY};
use crate::env::Env;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::net::TcpStream;
use std::sync::Arc;

/// A server for `localhost`, and its self-signed certificate as PEM.
fn secure() -> (Server, String) {
    let built = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let pem = built.cert.pem();
    let key = PrivateKeyDer::try_from(built.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![built.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let wrap = move |stream: TcpStream| -> Option<Box<dyn Wire>> {
        let connection = ServerConnection::new(config.clone()).ok()?;
        Some(Box::new(StreamOwned::new(connection, stream)))
    };
    (Server::wrapped(wrap, |_, _| json(HELLO)), pem)
}

#[test]
fn only_a_server_with_a_trusted_certificate_gets_the_key() {
    let env = Env::new();
    let (server, pem) = secure();
    env.write("own.pem", pem);
    let run = |host: &str, arguments: &[&str], file: Option<&str>| {
        let url = format!("https://{host}:{}/v1", server.port);
        let mut command = env.command(&[&["llm", "-m", "m", "-b", &url], arguments].concat());
        command.env("CONVO_LLM_KEY", KEY);
        if let Some(file) = file {
            command.env("SSL_CERT_FILE", file);
        }
        env.feed(command, ASKED.as_bytes())
    };
    let refused = run("localhost", &[], None).status(69).gives("");
    assert!(
        refused.stderr.contains("no secure connection to localhost"),
        "{refused}"
    );
    assert!(!refused.stderr.contains("retrying in"), "{refused}");
    assert!(server.requests().is_empty());
    run("localhost", &["--ca-file", "own.pem"], None).fine();
    run("localhost", &[], Some("own.pem")).fine();
    assert_eq!(server.requests().len(), 2);
    // The host name is checked too.
    run("127.0.0.1", &["--ca-file", "own.pem"], None)
        .status(69)
        .says("no secure connection to 127.0.0.1");
    assert_eq!(server.requests().len(), 2);
}
