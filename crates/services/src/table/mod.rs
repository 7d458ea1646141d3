//! The Table service: tables, entities, queries and group transactions on one store.

mod acl;
mod blind_write;
mod directory;
mod entities;
mod group;
pub mod keys;
mod list;
mod plan;
mod query;
mod query_page;
mod query_run;
mod record;
mod skip_index;
mod stored_entity;
mod table_id_cache;

use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Clock, Store};
use tablerock_protocol::Service;

use skip_index::SkipIndex;
use table_id_cache::TableIdCache;

use crate::Result;
use crate::load::Load;
use crate::namespace::{Directory, Namespace};
use crate::throttle::{Throttle, ThrottleTargets};
use crate::timestamps::Timestamps;

pub use directory::Table;
pub use entities::Outcome;
pub use group::{Change, EntityGroup, EntityOperation};
pub use list::{TablePage, TableQuery};
pub use query::{EntityPage, EntityQuery, FoundEntity};
pub(crate) use record::TableRecord;
pub use stored_entity::{Properties, StoredEntity};

/// The time between two searches for interrupted deletions.
const SWEEP_PERIOD: Duration = Duration::from_secs(60);

/// Every rule of behaviour of the Table service, without HTTP and without an engine. A process opens one per store: it
/// allocates Timestamps and caches stored data.
#[derive(Debug)]
pub struct TableService {
    store: Store,
    clock: Arc<dyn Clock>,
    timestamps: Timestamps,
    directory: Directory,
    throttle: Throttle,
    load: Load,
    id_cache: Option<TableIdCache>,
    skip_index: Option<SkipIndex>,
}

impl TableService {
    pub async fn open(store: Store, clock: Arc<dyn Clock>, targets: ThrottleTargets) -> Result<Self> {
        Ok(Self {
            timestamps: Timestamps::open(store.clone(), clock.clone(), keys::TIMESTAMP_CEILING).await?,
            directory: Directory::new(&store, &clock, Namespace::Tables, SWEEP_PERIOD),
            throttle: Throttle::new(clock.clone(), targets),
            load: Load::new(Service::Table, clock.clone()),
            id_cache: TableIdCache::of(&store),
            skip_index: SkipIndex::of(&store, &clock),
            store,
            clock,
        })
    }

    /// The tables and partitions that are read and written most.
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// Prepares the store for a clean stop. Requests must have ended.
    pub async fn close(&self) -> Result<()> {
        Ok(self.timestamps.close().await?)
    }
}
