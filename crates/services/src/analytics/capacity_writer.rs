//! The capacity of an account's blobs as two rows a day: `data`, and `analytics` for `$logs`.
//!
//! The usage of containers is known without looking at blobs. After a crash it is not known for those that were being
//! changed; their blobs are counted first, a page in each round. The row of a day has the state of its first rounds.

use std::borrow::Cow;

use tablerock_kv::TICKS_PER_SECOND;
use tablerock_protocol::xml::MetricsLevel;
use tablerock_protocol::{DateTime, ErrorCode, MetricsPeriod, Property, Service, Value, capacity_table};

use super::watched::{Round, Settings, Watched};
use crate::blob::{ContainerUsage, Recount, Usage};
use crate::table::{Change, EntityGroup, EntityOperation, Properties};
use crate::{Error, Result};

const TICKS_PER_DAY: u64 = 24 * 3600 * TICKS_PER_SECOND;

/// The containers whose usage one round adds up.
const CONTAINERS_PER_ROUND: usize = 200;

/// The writer of one account.
#[derive(Debug, Default)]
pub(super) struct CapacityWriter {
    /// The day whose rows are there.
    written: Option<DateTime>,
    progress: Option<Progress>,
}

/// The sums of a day, as far as they are known.
#[derive(Debug)]
struct Progress {
    day: DateTime,
    rest: Vec<ContainerUsage>,
    recount: Option<Recount>,
    data: Capacity,
    analytics: Capacity,
}

#[derive(Debug, Default)]
struct Capacity {
    usage: Usage,
    containers: i64,
}

impl CapacityWriter {
    /// Does some of the day's work.
    pub(super) async fn write(&mut self, of: &Watched, settings: &Settings, round: &Round<'_>) -> Result<()> {
        let day = DateTime::from_ticks(round.now.ticks() - round.now.ticks() % TICKS_PER_DAY);
        let is_on = settings.metrics(MetricsPeriod::Hour).level != MetricsLevel::Off;
        if round.is_last || !is_on || self.written == Some(day) || !round.analytics.drops_old().await {
            return Ok(());
        }
        let mut progress = match self.progress.take().filter(|progress| progress.day == day) {
            Some(progress) => progress,
            None => Progress::begin(day, round.blobs.containers_in_use(of.account()).await?),
        };
        if progress.go_on(round).await? {
            insert_rows(of, round, &progress).await?;
            self.written = Some(day);
        } else {
            self.progress = Some(progress);
        }
        Ok(())
    }
}

impl Progress {
    fn begin(day: DateTime, rest: Vec<ContainerUsage>) -> Self {
        Self { day, rest, recount: None, data: Capacity::default(), analytics: Capacity::default() }
    }

    /// Adds up some containers, or counts a page of one; returns whether that was the rest.
    async fn go_on(&mut self, round: &Round<'_>) -> Result<bool> {
        if let Some(recount) = &mut self.recount
            && !round.blobs.recount_page(recount).await?
        {
            return Ok(false);
        }
        let mut was_counted = self.recount.take().is_some();
        for _ in 0..CONTAINERS_PER_ROUND {
            let Some(&container) = self.rest.last() else { return Ok(true) };
            match round.blobs.usage_of(container, was_counted).await? {
                Some(usage) => self.add(container, usage),
                // It was deleted while it was counted.
                None if was_counted => {}
                None => {
                    self.recount = Some(round.blobs.begin_recount(container).await?);
                    return Ok(false);
                }
            }
            was_counted = false;
            self.rest.pop();
        }
        Ok(self.rest.is_empty())
    }

    fn add(&mut self, container: ContainerUsage, usage: Usage) {
        let capacity = if container.is_analytics { &mut self.analytics } else { &mut self.data };
        capacity.usage.add(usage);
        capacity.containers += 1;
    }
}

/// Inserts both rows. They may be there from before a restart.
async fn insert_rows(of: &Watched, round: &Round<'_>, progress: &Progress) -> Result<()> {
    let table = capacity_table();
    let partition_key = MetricsPeriod::partition_key(progress.day);
    let operation = |row_key: &str, capacity: &Capacity| EntityOperation {
        table: table.as_str().to_owned(),
        partition_key: partition_key.clone(),
        row_key: row_key.to_owned(),
        change: Change::Insert(capacity.to_properties()),
    };
    let rows = vec![operation("analytics", &progress.analytics), operation("data", &progress.data)];
    let group = EntityGroup::new(rows)?;
    let mut inserted = round.tables.apply(of.account(), &group).await.map(drop);
    if is_error(&inserted, ErrorCode::TableNotFound) {
        super::metrics_writer::create_table(round.tables, of.account(), &table).await?;
        inserted = round.tables.apply(of.account(), &group).await.map(drop);
    }
    round.count_own(Service::Table, 0);
    if is_error(&inserted, ErrorCode::EntityAlreadyExists) { Ok(()) } else { inserted }
}

fn is_error(outcome: &Result<()>, code: ErrorCode) -> bool {
    matches!(outcome, Err(Error::Refused(error)) if error.code == code)
}

impl Capacity {
    fn to_properties(&self) -> Properties {
        let columns =
            [("Capacity", self.usage.bytes), ("ContainerCount", self.containers), ("ObjectCount", self.usage.objects)];
        let row =
            columns.map(|(name, number)| Property { name: Cow::Borrowed(name), value: Value::Int64(number.max(0)) });
        Properties::encode(&row)
    }
}
