//! Keys and certificates that change while the server runs. SIGHUP is the trigger, so that no test waits for a minute.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]
#![cfg(unix)]

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use tablerock_protocol::DateTime;
use tablerock_protocol::signing::{
    AccountKey, AccountPermissions, AccountSasTerms, SignedResourceTypes, SignedServices,
};
use tablerock_testkit::process::exchange_text;

use crate::azurite::{Links, Running, write_certificate};

const OLD: &str = "b2xkIGtleSBvZiB0aGUgdGVhbSwgd2l0aCAzMiBieXRlcw==";
const NEW: &str = "bmV3IGtleSBvZiB0aGUgdGVhbSwgd2l0aCAzMiBieXRlcw==";

/// The status of a request for the properties of the Blob service, with a signature of the key.
fn status(address: &str, account: &str, key: &str) -> u16 {
    let terms = AccountSasTerms::new(
        SignedServices::parse("b").unwrap(),
        SignedResourceTypes::parse("s").unwrap(),
        AccountPermissions::parse("r").unwrap(),
        DateTime::parse("2099-01-01T00:00:00Z").unwrap(),
    );
    let sas = terms.sign(account, &AccountKey::parse(key).unwrap()).unwrap().to_query();
    let target = format!("/{account}/?restype=service&comp=properties&{sas}");
    let response = exchange_text(address, &format!("GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    response.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Reads the files again, and waits until that is done.
fn hang_up(running: &mut Running, round: usize) {
    running.signal("-HUP");
    running.wait_for_round("as SIGHUP asks", round);
}

#[test]
fn a_rotated_key_is_accepted_and_the_removed_one_refused() {
    let links = Links::new();
    let (accounts, settings) = (links.path().join("accounts"), links.path().join("settings.toml"));
    let by_flag = "tablerock --in-memory --admin-port 0 --accounts-file accounts";
    let by_settings = "azurite --inMemoryPersistence --admin-port 0 --config settings.toml";
    for line in [by_flag, by_settings] {
        let list = |list: &str| {
            std::fs::write(&accounts, format!("# of the team\n{list}\n")).unwrap();
            std::fs::write(&settings, format!("accounts = \"{list}\"\n")).unwrap();
        };
        list(&format!("team:{OLD}"));
        let mut running = Running::start(links.command(line));
        let address = running.address("Blob");
        assert_eq!((status(&address, "team", OLD), status(&address, "team", NEW)), (200, 403));

        list(&format!("team:{NEW};other:{OLD}"));
        hang_up(&mut running, 1);
        assert_eq!((status(&address, "team", OLD), status(&address, "team", NEW)), (403, 200));
        assert_eq!(status(&address, "other", OLD), 200);

        list("team");
        hang_up(&mut running, 2);
        assert_eq!(status(&address, "team", NEW), 200, "a mistake changes nothing");
        running.wait_for_stderr("the old ones stay in use");

        list(&format!("team:{NEW}"));
        hang_up(&mut running, 3);
        assert_ne!(status(&address, "other", OLD), 200);
        let (_, stderr) = running.stop();
        assert!(
            !stderr.iter().any(|line| line.contains(NEW) || line.contains(OLD)),
            "a key is in the log: {stderr:#?}"
        );
    }
}

/// Whether a new connection to the server shows this certificate.
async fn shows(address: &str, certificate: &CertificateDer<'static>) -> bool {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await.is_ok()
}

#[tokio::test]
async fn new_connections_get_the_new_certificate() {
    let links = Links::new();
    let first = write_certificate(links.path()).cert.der().clone();
    let line = "azurite-blob --inMemoryPersistence --cert cert.pem --key key.pem";
    let mut running = Running::start(links.command(line));
    let address = running.address("Blob");
    assert!(shows(&address, &first).await);

    let second = write_certificate(links.path()).cert.der().clone();
    assert!(shows(&address, &first).await && !shows(&address, &second).await, "nothing has asked for it");
    hang_up(&mut running, 1);
    assert!(shows(&address, &second).await && !shows(&address, &first).await);

    std::fs::write(links.path().join("cert.pem"), "half a certif").unwrap();
    hang_up(&mut running, 2);
    assert!(shows(&address, &second).await, "the old one stays");
    running.wait_for_stderr("the old one stays in use");
    running.stop();
}
