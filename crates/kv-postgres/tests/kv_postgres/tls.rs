//! Connections to a database that speaks TLS and nothing else.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::time::Duration;

use tablerock_kv::{Engine as _, Health};
use tablerock_kv_postgres::{PostgresEngine, PostgresOptions, Target};
use tablerock_testkit::postgres::DatabaseServer;

use crate::version_1_certificate;

const HASTY: PostgresOptions = PostgresOptions {
    connections_max: 2,
    create_if_missing: true,
    connection_wait: Duration::from_secs(5),
    statement_wait: Duration::from_secs(5),
    opening_wait: Duration::ZERO,
    sweep_delay: Duration::from_secs(60),
    second_sweep_delay: Duration::from_secs(60),
    sweep_pause: Duration::from_secs(60),
    health_pause: Duration::from_secs(60),
};

async fn open(database: &DatabaseServer, host: &str, terms: &str) -> Result<(), String> {
    let port = database.port();
    let target = Target::parse(&format!("postgres://tablerock@{host}:{port}/postgres?{terms}"));
    let engine = PostgresEngine::open(target.map_err(|error| error.to_string())?, HASTY).await;
    let engine = engine.map_err(|error| error.to_string())?;
    assert_eq!(engine.health(), Health::Healthy);
    assert_eq!(engine.get(b"p", b"k").await.unwrap(), None);
    engine.close().await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn encryption_is_used_and_an_authority_is_asked_where_one_is_named() {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let foreign = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let database = DatabaseServer::start_encrypted(&own.cert.pem(), &own.signing_key.serialize_pem());
    let folder = tempfile::tempdir().unwrap();
    let [own, foreign] = [("own", own), ("foreign", foreign)].map(|(name, certified)| {
        let path = folder.path().join(name);
        std::fs::write(&path, certified.cert.pem()).unwrap();
        path.display().to_string()
    });

    for terms in ["", "sslmode=prefer", "sslmode=require"] {
        open(&database, "127.0.0.1", terms).await.unwrap_or_else(|error| panic!("{terms}: {error}"));
    }
    open(&database, "localhost", &format!("sslmode=verify-full&sslrootcert={own}")).await.unwrap();

    let refused = [
        ("127.0.0.1", "sslmode=disable".to_owned()),
        ("localhost", format!("sslmode=verify-full&sslrootcert={foreign}")),
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={own}")),
    ];
    for (host, terms) in refused {
        let error = open(&database, host, &terms).await.expect_err(&terms);
        assert!(error.contains("cannot be reached"), "{terms}: {error}");
    }
}

/// Citus creates such a certificate when its extension is created.
#[tokio::test]
async fn a_certificate_of_version_1_is_accepted_where_none_is_verified() {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = version_1_certificate::pem(&key);
    let database = DatabaseServer::start_encrypted(&certificate, &key.serialize_pem());
    for terms in ["", "sslmode=prefer", "sslmode=require"] {
        open(&database, "127.0.0.1", terms).await.unwrap_or_else(|error| panic!("{terms}: {error}"));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("authority");
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&path, own.cert.pem()).unwrap();
    let terms = format!("sslmode=verify-full&sslrootcert={}", path.display());
    let error = open(&database, "localhost", &terms).await.expect_err("an authority verifies");
    assert!(error.contains("cannot be reached"), "{error}");
}

#[tokio::test]
async fn a_socket_in_the_file_system_and_an_address_without_a_name_need_no_certificate() {
    let (database, directory) = DatabaseServer::start_with_socket();
    let directory = directory.display().to_string().replace('/', "%2F");
    let port = database.port();
    for terms in ["", "sslmode=disable", "sslmode=prefer"] {
        open(&database, &directory, terms).await.unwrap_or_else(|error| panic!("{terms}: {error}"));
        let url = format!("postgres://tablerock@/postgres?hostaddr=127.0.0.1&port={port}&{terms}");
        let engine = PostgresEngine::open(Target::parse(&url).unwrap(), HASTY).await.unwrap();
        assert_eq!(engine.get(b"p", b"k").await.unwrap(), None);
    }
    let error = open(&database, &directory, "sslmode=require").await.expect_err("it is not encrypted");
    assert!(error.contains("cannot be reached"), "{error}");
}
