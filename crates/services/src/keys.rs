//! The keys of the server's own records and of accounts' settings. `docs/keys.md` specifies them, and a test reads its
//! examples.

use tablerock_kv::key::KeyBuilder;
use tablerock_kv::{Bytes, Position, Range};
use tablerock_protocol::Service;

/// The server's own records.
const SYSTEM: u8 = b's';
/// An account's settings.
const ACCOUNT: u8 = b'a';

/// Leases on background work that one of the servers on a store does.
pub const TABLE_SWEEP_LEASE: &[u8] = b"duty/table-sweep";
pub const QUEUE_SWEEP_LEASE: &[u8] = b"duty/queue-sweep";
pub const BLOB_SWEEP_LEASE: &[u8] = b"duty/blob-sweep";
pub const RETENTION_LEASE: &[u8] = b"duty/analytics-retention";

/// The key of the lease on adding to an account's metrics of a service.
pub fn metrics_lease_key(service: Service, account: &str) -> Bytes {
    [b"duty/metrics/", service.name().as_bytes(), b"/", account.as_bytes()].concat().into()
}

/// The key of a lane's ceiling. Only servers that share a store have lanes of timestamps.
pub fn timestamp_lane_key(ceiling_key: &[u8], lane: u8) -> Bytes {
    [ceiling_key, b"/", &[lane]].concat().into()
}

/// Begins the keys of the load of servers.
pub(crate) const LOAD: &[u8] = b"load/";
/// The end of those keys.
pub(crate) const LOAD_END: &[u8] = b"load0";

/// The key of the load of one of the servers on a store.
pub fn load_key(server: u64) -> Bytes {
    [LOAD, &server.to_be_bytes()].concat().into()
}

/// The key of the checkpoint of an account's copy to this store.
pub fn copy_checkpoint_key(account: &str) -> Bytes {
    [b"copy/", account.as_bytes()].concat().into()
}

/// The key of an account's properties of a service.
pub const fn service_properties_key(service: Service) -> &'static [u8] {
    match service {
        Service::Blob => b"blob-service-properties",
        Service::Queue => b"queue-service-properties",
        Service::Table => b"table-service-properties",
    }
}

/// The records of a partition whose keys begin with a tag.
pub(crate) fn records_with_tag(partition: &Bytes, tag: u8) -> Range {
    Range::between(Position::new(partition.clone(), vec![tag]), Position::new(partition.clone(), vec![tag + 1]))
}

pub fn system_partition() -> Bytes {
    KeyBuilder::new().tag(SYSTEM).finish()
}

pub fn account_partition(account: &str) -> Bytes {
    KeyBuilder::new().tag(ACCOUNT).text(account).finish()
}
