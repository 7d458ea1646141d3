//! What a disk may hold: every kind of stored value and key, as arbitrary bytes.
//!
//! Input: a byte that chooses the kind, and the stored bytes. They are read, or they are corrupt; nothing else. What
//! is read and stored again reads the same.

mod entity;
mod keys;
mod settings;
mod system;
mod table_record;

use std::thread_local;

use bytes::Bytes;
use tablerock_kv::{Error, ErrorKind, Store};
use tokio::runtime::Runtime;

thread_local! {
    static RUNTIME: Runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
}

pub fn check(data: &[u8]) {
    let Some((kind, stored)) = data.split_first() else { return };
    let stored = Bytes::copy_from_slice(stored);
    match kind % 8 {
        0 => entity::check(&stored),
        1 => run(entity::check_in_table(&stored)),
        2 => run(table_record::check(&stored)),
        3 => settings::check_policies(&stored),
        4 => run(settings::check_service_properties(&stored)),
        5 => run(system::check_timestamp_ceiling(&stored)),
        6 => run(system::check_next_table_id(&stored)),
        _ => keys::check(&stored),
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

/// What was read, or nothing if it is corrupt. Any other failure is one of ours.
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
