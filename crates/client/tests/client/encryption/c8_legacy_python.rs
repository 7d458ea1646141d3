//! An entity that Microsoft's legacy library for Python has written reads here, and the other way round.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rsa::pkcs8::{EncodePrivateKey as _, LineEnding};
use serde_json::{Value, json};
use tablerock_client::Entity;
use tablerock_client::encryption::{AesKey, EncryptionPolicy, RsaKey};

use super::python;
use crate::support::Account;

const KEY: [u8; 32] = [0x5a; 32];

/// A key in both worlds.
fn aes() -> (EncryptionPolicy, Value) {
    let encryption = EncryptionPolicy::new(AesKey::new("local:aes", &KEY).unwrap());
    (encryption, json!({ "kind": "aes", "id": "local:aes", "secret": STANDARD.encode(KEY) }))
}

fn rsa() -> (EncryptionPolicy, Value) {
    let mut random = rsa::rand_core::UnwrapErr(getrandom::SysRng);
    let private = rsa::RsaPrivateKey::new(&mut random, 2048).unwrap();
    let pem = private.to_pkcs8_pem(LineEnding::LF).unwrap();
    let encryption = EncryptionPolicy::new(RsaKey::from_private_pem("local:rsa", &pem).unwrap());
    (encryption, json!({ "kind": "rsa", "id": "local:rsa", "secret": pem.as_str() }))
}

async fn run(task: Value) -> Value {
    tokio::task::spawn_blocking(move || python::run(&task)).await.unwrap()
}

async fn both_ways((encryption, key): (EncryptionPolicy, Value)) {
    let account = Account::open().await;
    let stored = account.table().await;
    let table =
        stored.with_encryption(encryption.encryption_resolver(|_, _, name| name != "Plain").require_encryption());
    let task = |action: &str, row: &str| {
        json!({
            "connection_string": account.connection_string(),
            "table": table.name(),
            "action": action,
            "partition_key": "Sälés",
            "row_key": row,
            "key": key,
            "secrets": { "Salary": "93,000 €", "Empty": "", "Long": "x".repeat(1000) },
        })
    };

    run(task("write", "theirs")).await;
    let theirs: Entity = table.get("Sälés", "theirs").await.unwrap();
    assert_eq!(theirs.property::<String>("Salary").unwrap(), "93,000 €");
    assert_eq!(theirs.property::<String>("Empty").unwrap(), "");
    assert_eq!(theirs.property::<String>("Long").unwrap(), "x".repeat(1000));
    assert_eq!(theirs.property::<i64>("Plain").unwrap(), 41);
    let raw: Entity = stored.get("Sälés", "theirs").await.unwrap();
    assert!(raw.property::<Vec<u8>>("Salary").is_ok());

    let ours = Entity::new("Sälés", "ours").with("Salary", "94,000 €").with("Empty", "").with("Plain", 42_i64);
    table.insert(&ours).await.unwrap();
    let read = run(task("read", "ours")).await;
    assert_eq!(read, json!({ "Salary": "94,000 €", "Empty": "", "Plain": 42 }));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "cargo xtask conform --suite legacy-python"]
async fn the_legacy_python_library_and_we_read_each_other_with_a_key_of_aes() {
    both_ways(aes()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "cargo xtask conform --suite legacy-python"]
async fn the_legacy_python_library_and_we_read_each_other_with_a_key_of_rsa() {
    both_ways(rsa()).await;
}
