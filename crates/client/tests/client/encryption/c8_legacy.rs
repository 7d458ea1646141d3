//! What one of Microsoft's legacy libraries has encrypted reads here, and the other way round.

use serde_json::{Value as Json, json};
use tablerock_client::encryption::{AesKey, KeyRing};
use tablerock_client::{DateTime, Entity, TableClient, Uuid};

use super::legacy::{Library, SharedKey, described};
use crate::support::Account;

const PARTITION: &str = "Sälés";

/// The properties that a row has encrypted: the choice depends on the row.
const ENCRYPTED: [(&str, &[&str]); 3] = [
    ("o'hara", &["Salary", "Empty", "Long"]),
    ("group 1", &["Salary", "Empty", "Long", "Note"]),
    ("group 2", &["Salary"]),
];

fn is_encrypted(row: &str, name: &str) -> bool {
    ENCRYPTED.iter().any(|(encrypted, names)| *encrypted == row && names.contains(&name))
}

/// An entity with encrypted text and, unencrypted, properties of every type.
fn person(row: &str) -> Entity {
    Entity::new(PARTITION, row)
        .with("Salary", format!("93,000 € for {row}"))
        .with("Empty", "")
        .with("Long", "x".repeat(1000))
        .with("Note", "naïve 😀")
        .with("Small", 41)
        .with("Large", -5_000_000_000_i64)
        .with("Real", 2.5)
        .with("Truth", true)
        // The library for Python writes whole seconds.
        .with("Moment", "2026-01-02T03:04:05Z".parse::<DateTime>().unwrap())
        .with("Id", Uuid::from_u128(0x0123_4567_89ab_cdef))
        .with("Bytes", [0_u8, 255, 10].as_slice())
}

/// An account with a table that we and a library use with the same key.
struct Shared {
    account: Account,
    stored: TableClient,
    table: TableClient,
    library: Library,
    key: SharedKey,
}

impl Shared {
    async fn open(library: Library, key: SharedKey) -> Self {
        let account = Account::open().await;
        let stored = account.table().await;
        let policy = key.policy.clone().encryption_resolver(|_, row, name| is_encrypted(row, name));
        let table = stored.with_encryption(policy.require_encryption());
        Self { account, stored, table, library, key }
    }

    /// Returns the entities that the library reads in the course of some steps.
    async fn theirs(&self, steps: Json) -> Json {
        let encrypted: Json = ENCRYPTED.iter().map(|(row, names)| ((*row).to_owned(), json!(names))).collect();
        let task = json!({
            "table": self.stored.name(),
            "key": self.key.theirs,
            "encrypted": encrypted,
            "steps": steps,
        });
        self.library.run(self.account.connection_string(), task).await
    }

    /// Asserts that the entity of a row is here what was written, and that its secrets are none in the table.
    async fn assert_ours(&self, row: &str) {
        let read: Entity = self.table.get(PARTITION, row).await.unwrap();
        assert_eq!(described(&read), described(&person(row)));
        let raw: Entity = self.stored.get(PARTITION, row).await.unwrap();
        for property in person(row).properties() {
            let is_hidden = raw.get(&property.name) != Some(&property.value);
            assert_eq!(is_hidden, is_encrypted(row, &property.name), "{row} {}", property.name);
        }
    }
}

fn get(row: &str) -> Json {
    json!({ "action": "get", "PartitionKey": PARTITION, "RowKey": row })
}

/// An entity of every type, one by one.
async fn entities(library: Library, key: SharedKey) {
    let shared = Shared::open(library, key).await;
    let row = "o'hara";
    shared.theirs(json!([{ "action": "insert", "entities": [described(&person(row))] }])).await;
    shared.assert_ours(row).await;
    shared.stored.delete_by_keys(PARTITION, row).any_version().await.unwrap();
    shared.table.insert(&person(row)).await.unwrap();
    assert_eq!(shared.theirs(json!([get(row)])).await, json!([described(&person(row))]));
}

/// Entities of a group transaction, read by a query with a projection.
async fn groups_and_projections(library: Library) {
    let shared = Shared::open(library, SharedKey::aes("local:aes", [0x5a; 32])).await;
    let rows = ["group 1", "group 2"];
    let people: Vec<Entity> = rows.into_iter().map(person).collect();
    let selected = ["PartitionKey", "RowKey", "Salary", "Note", "Small"];
    let part = |entity: &Entity| {
        let mut part = described(entity);
        let properties = part["properties"].as_object_mut().unwrap();
        properties.retain(|name, _| selected.contains(&name.as_str()));
        part
    };
    let parts: Vec<Json> = people.iter().map(part).collect();

    let entities: Vec<Json> = people.iter().map(described).collect();
    shared.theirs(json!([{ "action": "transaction", "entities": entities }])).await;
    for row in rows {
        shared.assert_ours(row).await;
    }
    let query = shared.table.query::<Entity>().partition(PARTITION).row_prefix("group");
    let filter = query.filter_text().unwrap();
    let read = query.select_properties(&selected).all().await.unwrap();
    assert_eq!(read.iter().map(described).collect::<Vec<_>>(), parts);

    let mut transaction = shared.table.transaction();
    for entity in &people {
        transaction = transaction.insert_or_replace(entity);
    }
    transaction.commit().await.unwrap();
    let query = json!({ "action": "query", "filter": filter, "select": selected });
    let read = shared.theirs(json!([get(rows[0]), get(rows[1]), query])).await;
    assert_eq!(read, json!([described(&people[0]), described(&people[1]), parts[0], parts[1]]));
}

/// A rotation here leaves the library able to read what it has written itself.
async fn rotation(library: Library) {
    let old = SharedKey::aes("local:2025", [0x25; 32]);
    let new = SharedKey::aes("local:2026", [0x26; 32]);
    let mut shared = Shared::open(library, old).await;
    let row = "o'hara";
    shared.theirs(json!([{ "action": "insert", "entities": [described(&person(row))] }])).await;
    let ring = KeyRing::new().with(AesKey::new("local:2025", &[0x25; 32]).unwrap());
    let rotating = shared.stored.with_encryption(new.policy.clone().key_resolver(ring));
    assert!(rotating.rewrap_key(PARTITION, row).await.unwrap());
    shared.key = new;
    assert_eq!(shared.theirs(json!([get(row)])).await, json!([described(&person(row))]));
}

mod c8_legacy_python {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs Microsoft's legacy Python library: cargo xtask conform --suite legacy-python installs it"]
    async fn the_legacy_python_library_and_we_read_each_other_with_a_key_of_aes() {
        entities(Library::Python, SharedKey::aes("local:aes", [0x5a; 32])).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs Microsoft's legacy Python library: cargo xtask conform --suite legacy-python installs it"]
    async fn the_legacy_python_library_and_we_read_each_other_with_a_key_of_rsa() {
        entities(Library::Python, SharedKey::rsa("local:rsa")).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs Microsoft's legacy Python library: cargo xtask conform --suite legacy-python installs it"]
    async fn the_legacy_python_library_and_we_read_each_other_s_groups_and_projections() {
        groups_and_projections(Library::Python).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs Microsoft's legacy Python library: cargo xtask conform --suite legacy-python installs it"]
    async fn the_legacy_python_library_reads_its_own_entity_after_our_rotation() {
        rotation(Library::Python).await;
    }
}

mod c8_legacy_java {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs Microsoft's legacy Java library: cargo xtask conform --suite legacy-java installs it"]
    async fn the_legacy_java_library_and_we_read_each_other_with_a_key_of_aes() {
        entities(Library::Java, SharedKey::aes("local:aes", [0x5a; 32])).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs Microsoft's legacy Java library: cargo xtask conform --suite legacy-java installs it"]
    async fn the_legacy_java_library_and_we_read_each_other_with_a_key_of_rsa() {
        entities(Library::Java, SharedKey::rsa("local:rsa")).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs Microsoft's legacy Java library: cargo xtask conform --suite legacy-java installs it"]
    async fn the_legacy_java_library_and_we_read_each_other_s_groups_and_projections() {
        groups_and_projections(Library::Java).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs Microsoft's legacy Java library: cargo xtask conform --suite legacy-java installs it"]
    async fn the_legacy_java_library_reads_its_own_entity_after_our_rotation() {
        rotation(Library::Java).await;
    }
}
