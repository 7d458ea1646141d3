//! Counts of requests as rows of the metrics tables.
//!
//! A period ends when the clock shows another one; its rows are then written, `…;All` even if nothing was asked. A
//! server that stops writes what it has of the period, and the next one adds to that; so do servers that share a store,
//! one after the other.
//!
//! Counts must not be added twice after a write of unknown outcome. So a server keeps the lease until it knows: the rows
//! are then either as it read them, or its own write changed them.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tablerock_kv::TICKS_PER_SECOND;
use tablerock_protocol::xml::MetricsLevel;
use tablerock_protocol::{DateTime, ErrorCode, EtagCondition, Filter, MetricsPeriod, MetricsTable, Service, TableName};

use super::counters::{Counters, Tally};
use super::counts::Counts;
use super::watched::{Round, Settings, Watched};
use crate::table::{Change, EntityGroup, EntityOperation, EntityQuery};
use crate::work_lease::WorkLease;
use crate::{Error, Result, TableService};

/// Periods that wait because the store rejects them: an hour of minutes, and the hour.
const WAITING_MAX: usize = 61;

/// How often rows are added to before another server's additions make this wait for the next round.
const ATTEMPTS_MAX: usize = 8;

/// Attempts at the lease before the next round retries, and the pause between them.
const LEASE_ATTEMPTS_MAX: usize = 20;
const LEASE_PAUSE: Duration = Duration::from_millis(50);

/// The row that every period has.
const ALL_ROW: &str = "user;All";

/// The writer of one service's metrics.
#[derive(Debug)]
pub(super) struct MetricsWriter {
    lease: WorkLease,
    hour: Running,
    minute: Running,
    waiting: VecDeque<EndedPeriod>,
}

/// A period that is not over.
#[derive(Debug)]
struct Running {
    period: MetricsPeriod,
    start: DateTime,
    tally: Tally,
}

/// A period to be written.
#[derive(Debug)]
struct EndedPeriod {
    period: MetricsPeriod,
    start: DateTime,
    rows: Vec<(String, Counts)>,
    unconfirmed: Option<UnconfirmedWrite>,
}

/// A write of unknown outcome: the version that its first row had before, if there was one.
#[derive(Debug, Clone, Copy)]
struct UnconfirmedWrite {
    version: Option<DateTime>,
}

impl Running {
    fn new(period: MetricsPeriod, now: DateTime) -> Self {
        Self { period, start: start_of(period, now), tally: Tally::default() }
    }

    /// The rows of the period, if it is to be written now.
    fn end(&mut self, settings: &Settings, round: &Round<'_>) -> Option<EndedPeriod> {
        let is_over = start_of(self.period, round.now) != self.start;
        let is_cut_short = round.is_last && self.tally.user.requests() > 0;
        if !is_over && !is_cut_short {
            return None;
        }
        let next = Self::new(self.period, round.now);
        let Self { period, start, tally } = std::mem::replace(self, next);
        let level = settings.metrics(period).level;
        let mut rows = vec![(ALL_ROW.to_owned(), tally.user), ("system;All".to_owned(), tally.system)];
        if level == MetricsLevel::ServiceAndApis {
            rows.extend(tally.operations.into_iter().map(|(name, counts)| (format!("user;{name}"), counts)));
        }
        (level != MetricsLevel::Off).then_some(EndedPeriod { period, start, rows, unconfirmed: None })
    }
}

fn start_of(period: MetricsPeriod, time: DateTime) -> DateTime {
    DateTime::from_ticks(time.ticks() - time.ticks() % (period.seconds() * TICKS_PER_SECOND))
}

impl MetricsWriter {
    pub(super) fn new(now: DateTime, lease: WorkLease) -> Self {
        let [hour, minute] = MetricsPeriod::ALL.map(|period| Running::new(period, now));
        Self { lease, hour, minute, waiting: VecDeque::new() }
    }

    /// Takes what was counted since the last round, and ends the periods that are over.
    pub(super) fn roll(&mut self, of: &Watched, counters: &Counters, settings: &Settings, round: &Round<'_>) {
        let counted = counters.take();
        for running in [&mut self.hour, &mut self.minute] {
            running.tally.add(&counted);
            self.waiting.extend(running.end(settings, round));
        }
        while self.waiting.len() > WAITING_MAX
            && let Some(EndedPeriod { period, start, .. }) = self.waiting.pop_front()
        {
            let (account, service, start) = (of.account(), of.service().name(), start.to_seven_digits());
            tracing::warn!(account, service, ?period, start, "metrics dropped, too many periods wait for the store");
        }
    }

    pub(super) async fn write(&mut self, of: &Watched, round: &Round<'_>) -> Result<()> {
        if self.waiting.is_empty() || !self.acquire_lease().await? {
            return Ok(());
        }
        while let Some(ended) = self.waiting.front_mut() {
            let table = MetricsTable { period: ended.period, service: of.service() };
            // If that fails, the lease is kept.
            add_rows(round.tables, of.account(), table, ended).await?;
            round.count_own(Service::Table, 0);
            self.waiting.pop_front();
        }
        Ok(self.lease.release().await?)
    }

    /// Waits for a while until no other server writes.
    async fn acquire_lease(&self) -> Result<bool> {
        for _ in 0..LEASE_ATTEMPTS_MAX {
            if self.lease.try_acquire().await? {
                return Ok(true);
            }
            tokio::time::sleep(LEASE_PAUSE).await;
        }
        Ok(false)
    }
}

/// Adds to the rows that a period has. Their owner may change them meanwhile, and then they are read again.
async fn add_rows(tables: &TableService, account: &str, table: MetricsTable, ended: &mut EndedPeriod) -> Result<()> {
    let mut attempts = 1;
    loop {
        match write_rows(tables, account, table, ended).await {
            Err(Error::Refused(error)) if has_moved(error.code) && attempts < ATTEMPTS_MAX => attempts += 1,
            outcome => return outcome,
        }
    }
}

fn has_moved(code: ErrorCode) -> bool {
    use ErrorCode::{EntityAlreadyExists, ResourceNotFound, UpdateConditionNotSatisfied};
    matches!(code, EntityAlreadyExists | ResourceNotFound | UpdateConditionNotSatisfied)
}

async fn write_rows(tables: &TableService, account: &str, table: MetricsTable, ended: &mut EndedPeriod) -> Result<()> {
    let partition_key = MetricsPeriod::partition_key(ended.start);
    let name = table.name();
    let mut before = match rows_of(tables, account, name.as_str(), &partition_key).await {
        Err(Error::Refused(error)) if error.code == ErrorCode::TableNotFound => {
            create_table(tables, account, &name).await?;
            HashMap::new()
        }
        rows => rows?,
    };
    let version = before.get(ALL_ROW).map(|(_, version)| *version);
    if ended.unconfirmed.is_some_and(|unconfirmed| unconfirmed.version != version) {
        // It was made after all.
        return Ok(());
    }
    let operations = ended.rows.iter().map(|(row_key, counts)| {
        let mut counts = *counts;
        let change = match before.remove(row_key) {
            None => Change::Insert(counts.to_properties()),
            Some((before, version)) => {
                counts.add(&before);
                let condition = Some(EtagCondition::Version(version));
                Change::Replace { properties: counts.to_properties(), condition }
            }
        };
        EntityOperation {
            table: name.as_str().to_owned(),
            partition_key: partition_key.clone(),
            row_key: row_key.clone(),
            change,
        }
    });
    let group = EntityGroup::new(operations.collect())?;
    let applied = tables.apply(account, &group).await;
    // One that still arrives finds other versions than it expects, as soon as this is unconfirmed again.
    ended.unconfirmed = matches!(applied, Err(Error::Store(_))).then_some(UnconfirmedWrite { version });
    applied.map(drop)
}

/// The rows that a period has already, each with its version: this server or one before it stopped, another one was
/// quicker, or the clock was set back.
async fn rows_of(
    tables: &TableService,
    account: &str,
    table: &str,
    partition_key: &str,
) -> Result<HashMap<String, (Counts, DateTime)>> {
    let filter = Filter::parse(&format!("PartitionKey eq '{partition_key}'"))?;
    let page = tables.query_entities(account, table, &EntityQuery { filter, ..EntityQuery::default() }).await?;
    let rows = page.entities.into_iter().map(|found| {
        let (counts, version) = (Counts::from_entity(&found.entity)?, found.entity.timestamp());
        Ok((found.row_key, (counts, version)))
    });
    rows.collect()
}

pub(super) async fn create_table(tables: &TableService, account: &str, table: &TableName) -> Result<()> {
    match tables.create_table(account, table).await {
        Err(Error::Refused(error)) if error.code == ErrorCode::TableAlreadyExists => Ok(()),
        created => created,
    }
}
