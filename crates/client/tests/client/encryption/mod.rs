//! Client-side encryption against a server, and against the data of Microsoft's own libraries.

#![cfg(feature = "encryption-rsa")]
#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod c8_legacy;
mod c8_merges;
mod c8_reading;
mod c8_rotation;
mod c8_slow_keys;
mod c8_writing;
mod legacy;

use tablerock_client::TableEntity;
use tablerock_client::encryption::{AesKey, EncryptionPolicy};

/// The employee of these tests, with a salary that is encrypted.
#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Employee {
    #[entity(partition_key)]
    department: String,
    #[entity(row_key)]
    id: String,
    name: String,
    #[entity(encrypt)]
    salary: String,
    #[entity(encrypt)]
    notes: Option<String>,
}

fn ann() -> Employee {
    Employee {
        department: "Sales".into(),
        id: "00001".into(),
        name: "Ann".into(),
        salary: "93,000 €".into(),
        notes: None,
    }
}

fn key(id: &str) -> AesKey {
    let byte = id.bytes().fold(0, u8::wrapping_add);
    AesKey::new(id, &[byte; 32]).unwrap()
}

fn encryption() -> EncryptionPolicy {
    EncryptionPolicy::new(key("2026"))
}
