//! The Table service: tables, entities, queries and group transactions on one store.

mod acl;
mod directory;
mod entities;
mod group;
mod guessed_tables;
mod known_tables;
mod plan;
mod query;
mod record;
mod sketch;
mod stored_entity;
mod table_query;

use std::sync::Arc;

use tablerock_kv::{Bytes, Clock, Store};
use tablerock_protocol::Service;

use guessed_tables::GuessedTables;
use known_tables::KnownTables;
use sketch::Sketches;

use crate::duty::Duty;
use crate::ids::Ids;
use crate::load::Load;
use crate::throttle::{Throttle, ThrottleTargets};
use crate::timestamps::Timestamps;
use crate::{Result, keys};

pub use directory::Table;
pub use entities::Outcome;
pub use group::{Change, EntityGroup, EntityOperation};
pub use query::{EntityPage, EntityQuery, FoundEntity};
pub use stored_entity::{Properties, StoredEntity};
pub use table_query::{TablePage, TableQuery};

/// A table's name and its stored access policies, from its row in the directory.
pub(crate) fn described(row: &Bytes) -> tablerock_kv::Result<(String, String)> {
    let record = record::TableRecord::decode(row)?;
    Ok((record.name, String::from_utf8_lossy(&record.policies).into_owned()))
}

/// Table ids that are taken from the store at a time.
const TABLE_IDS_BLOCK: u64 = 32;

/// Every rule of behaviour of the Table service. No HTTP above it, no engine below it. A store has one of these at a
/// time: it remembers which Timestamps it gave out, and what it has read.
#[derive(Debug)]
pub struct TableService {
    store: Store,
    clock: Arc<dyn Clock>,
    timestamps: Timestamps,
    table_ids: Ids,
    throttle: Throttle,
    load: Load,
    known: Option<KnownTables>,
    guessed: GuessedTables,
    sketches: Option<Sketches>,
    sweep_duty: Duty,
}

impl TableService {
    pub async fn open(store: Store, clock: Arc<dyn Clock>, targets: ThrottleTargets) -> Result<Self> {
        let timestamps = Timestamps::open(store.clone(), clock.clone(), keys::TIMESTAMP_CEILING).await?;
        let table_ids = Ids::new(store.clone(), keys::NEXT_TABLE_ID, TABLE_IDS_BLOCK);
        let throttle = Throttle::new(clock.clone(), targets);
        let load = Load::new(Service::Table, clock.clone());
        let known = KnownTables::of(&store);
        let sketches = Sketches::of(&store, &clock);
        let sweep_duty = Duty::new(store.clone(), clock.clone(), keys::TABLE_SWEEP_DUTY, directory::SWEEP_TIME);
        Ok(Self {
            store,
            clock,
            timestamps,
            table_ids,
            throttle,
            load,
            known,
            guessed: GuessedTables::default(),
            sketches,
            sweep_duty,
        })
    }

    /// Which tables and partitions are read and written most.
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// Leaves the store as a clean stop should. Requests must have ended.
    pub async fn close(&self) -> Result<()> {
        Ok(self.timestamps.close().await?)
    }
}
