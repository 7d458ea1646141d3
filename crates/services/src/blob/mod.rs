//! The Blob service: containers, block, append and page blobs, leases, snapshots and copies on one store.
//!
//! A blob is a partition of the store, so every decision about it is atomic. Content that is not small lies elsewhere, in
//! chunks that never change. `docs/keys.md` has the layout.
//!
//! | to follow | read |
//! | --- | --- |
//! | a small upload | `put.rs`, `change.rs` |
//! | a large one | `content.rs`, then the same |
//! | a container | `directory.rs`, `record.rs`, `list.rs`, `acl.rs` |
//! | a tier | `tier.rs` |
//! | blocks | `put_block.rs`, `block_list.rs`, on `blocks.rs` and `pieces.rs` |
//! | pages | `page/` |
//! | a download | `read.rs`, `reader.rs` |
//! | content under a customer's key | `encryption/` |
//! | how space is reclaimed | `reclaim/`, `sweep.rs` |
//! | index tags, and finding blobs by them | `tag_index/` |

mod acl;
mod address;
mod amend;
mod append;
mod attempts;
mod blob_list;
mod block_list;
mod blocks;
mod change;
mod content;
mod copy;
mod delete;
mod directory;
mod encryption;
pub mod keys;
mod lease;
mod lease_blob;
mod list;
mod page;
mod pieces;
mod put;
mod put_block;
mod read;
mod reader;
mod reclaim;
mod record;

mod snapshot;
mod stored_blob;
mod stored_content;
mod sweep;
mod tag_index;
mod tier;
mod transfer;
mod usage;

use std::sync::Arc;

use tablerock_kv::{Clock, Rng, Store};
use tablerock_protocol::{DateTime, Service, Uuid};

use crate::Result;
use crate::ids::Ids;
use crate::load::Load;
use crate::namespace::{Directory, Namespace};
use crate::timestamps::Timestamps;

pub use address::{BlobAddress, ReadTerms, WriteTerms};
pub use append::{AppendTerms, Appended};
pub use blob_list::{BlobPage, BlobQuery, ListedBlob};
pub use block_list::{BlockLists, WhichBlocks};
pub use content::{ContentSource, Received};
pub use copy::{CopySource, CopyTarget};
pub use delete::DeleteSnapshots;
pub use lease::{Lease, LeaseOutcome, LeaseState, state_of};
pub use list::{ContainerPage, ContainerQuery, ListedContainer};
pub use page::{
    IncrementalCopied, NewPages, PageBody, PageProperties, PageRange, PageRangeQuery, PageRanges, PageTerms, PageWrite,
    PagesWritten,
};
pub use put::NewBlob;
pub use read::RangeChoice;
pub use reader::BlobReader;
pub use record::{Container, PublicAccess};
pub use stored_blob::{Blob, BlobKind, CopyState};
pub(crate) use tag_index::restart_build;
pub use tag_index::{FoundBlob, FoundPage, TagSearch};
pub use tier::{Tier, TierChange, TierNow};
pub(crate) use transfer::{
    BlobBytes, Makeup, block_of, block_watch_of, contents_of_record, copy_content, read_blob_pages, read_content,
    renumbered,
};
pub use usage::{ContainerUsage, Recount, Usage};

/// Ids that are taken from the store at a time. A busy server uses thousands in a second.
const CONTENT_IDS_BLOCK: u64 = 4096;

/// Every rule of behaviour of the Blob service, without HTTP and without an engine. A process opens one per store: it
/// allocates ETags.
#[derive(Debug)]
pub struct BlobService {
    store: Store,
    clock: Arc<dyn Clock>,
    rng: Rng,
    timestamps: Timestamps,
    directory: Directory,
    content_ids: Ids,
    inflow: content::Inflow,
    reclaimer: Arc<reclaim::Reclaimer>,
    usages: usage::Usages,
    load: Load,
}

impl BlobService {
    /// Opens the service of a store, and resolves the reclaim intents that the last process left.
    pub async fn open(store: Store, clock: Arc<dyn Clock>, rng: Rng) -> Result<Self> {
        let timestamps = Timestamps::open(store.clone(), clock.clone(), keys::TIMESTAMP_CEILING).await?;
        let directory = Directory::new(&store, &clock, Namespace::Containers, sweep::PERIOD);
        let content_ids = Ids::new(store.clone(), keys::NEXT_CONTENT_ID, CONTENT_IDS_BLOCK);
        let reclaimer = reclaim::Reclaimer::new(store.clone(), clock.clone());
        reclaimer.resolve_at_start().await?;
        let inflow = content::Inflow::default();
        let usages = usage::Usages::new(store.clone(), clock.clone(), &rng);
        let load = Load::new(Service::Blob, clock.clone());
        Ok(Self { store, clock, rng, timestamps, directory, content_ids, inflow, reclaimer, usages, load })
    }

    /// The containers and blobs that are read and written most.
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// Prepares the store for a clean stop. Requests must have ended.
    pub async fn close(&self) -> Result<()> {
        self.reclaimer.rest().await;
        self.usages.store_sums(true).await?;
        Ok(self.timestamps.close().await?)
    }

    /// Waits until reclaim has no more work in the background.
    pub async fn rest(&self) {
        self.reclaimer.rest().await;
    }

    /// The time of a change, later than that of the version it replaces.
    fn next_change(&self, replaced: Option<DateTime>) -> tablerock_kv::Result<DateTime> {
        self.timestamps.next_after(replaced)
    }

    fn fresh_uuid(&self) -> Uuid {
        uuid::Builder::from_random_bytes(self.rng.id()).into_uuid()
    }
}
