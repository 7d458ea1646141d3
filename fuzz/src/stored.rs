//! What a disk may hold: every kind of stored value and key, as arbitrary bytes.
//!
//! Input: a byte that chooses the kind, and the stored bytes. They are read, or they are corrupt; nothing else. What
//! is read and stored again reads the same.

mod blob;
mod entity;
mod keys;
mod queue;
mod settings;
mod system;
mod table_record;

use std::thread_local;

use bytes::Bytes;
use tablerock_kv::{Error, ErrorKind, Range, ScanLimits, Store};
use tokio::runtime::Runtime;

thread_local! {
    static RUNTIME: Runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
}

pub fn check(data: &[u8]) {
    let Some((kind, stored)) = data.split_first() else { return };
    let stored = Bytes::copy_from_slice(stored);
    match kind % 14 {
        0 => entity::check(&stored),
        1 => run(entity::check_in_table(&stored)),
        2 => run(table_record::check(&stored)),
        3 => settings::check_policies(&stored),
        4 => run(settings::check_service_properties(&stored)),
        5 => run(system::check_timestamp_ceiling(&stored)),
        6 => run(system::check_next_table_id(&stored)),
        7 => keys::check(&stored),
        8 => run(queue::check_record(&stored)),
        9 => run(queue::check_message(&stored)),
        10 => run(queue::check_count(&stored)),
        11 => run(blob::check_container(&stored)),
        12 => run(blob::check_blob(&stored)),
        _ => run(blob::check_note(&stored)),
    }
}

fn run(check: impl Future<Output = ()>) {
    RUNTIME.with(|runtime| runtime.block_on(check));
}

/// A store that holds one record.
async fn store_with(partition: &[u8], key: &[u8], value: &Bytes) -> Store {
    let store = Store::in_memory();
    let (key, value) = (Bytes::copy_from_slice(key), value.clone());
    let put = |tx: &mut tablerock_kv::Transaction| {
        tx.put(key.clone(), value.clone());
        Ok::<_, Error>(())
    };
    store.transact(partition, vec![], put).await.expect("a memory engine takes anything");
    store
}

/// Puts other bytes into the first record of a partition whose key begins so.
async fn replace(store: &Store, partition: &[u8], prefix: &[u8], value: &Bytes) {
    let limits = ScanLimits { records_max: 10, bytes_max: 1 << 20, deadline: None };
    let page = store.scan(&Range::partition(partition), limits).await.expect("a memory engine");
    let record = page.records.iter().find(|record| record.key.starts_with(prefix)).expect("the record is there");
    let put = |tx: &mut tablerock_kv::Transaction| {
        tx.put(record.key.clone(), value.clone());
        Ok::<_, Error>(())
    };
    store.transact(partition, vec![], put).await.expect("a memory engine takes anything");
}

/// The same as [`unless_corrupt`], where a rule of the service may also refuse.
fn unless_refused<T>(result: tablerock_services::Result<T>) -> Option<T> {
    match result {
        Err(tablerock_services::Error::Refused(_)) => None,
        other => unless_corrupt(other),
    }
}

/// Returns what was read, or nothing if it is corrupt. Any other failure is a defect of the server.
fn unless_corrupt<T>(result: tablerock_services::Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(tablerock_services::Error::Store(error)) => {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            None
        }
        Err(other) => panic!("{other}"),
    }
}
