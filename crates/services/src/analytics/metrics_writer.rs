//! Counts of requests as rows of the metrics tables.
//!
//! A period ends when the clock shows another one; its rows are then written, `…;All` even if nothing was asked. A
//! server that stops writes what it has of the period, and the next one adds to that; so do servers that share a store.

use std::collections::{HashMap, VecDeque};

use tablerock_kv::TICKS_PER_SECOND;
use tablerock_protocol::xml::MetricsLevel;
use tablerock_protocol::{DateTime, ErrorCode, EtagCondition, Filter, MetricsPeriod, MetricsTable, Service};

use super::counters::{Counters, Tally};
use super::counts::Counts;
use super::watched::{Round, Settings, Watched};
use crate::table::{Change, EntityGroup, EntityOperation, EntityQuery};
use crate::{Error, Result, TableService};

/// Periods that wait because the store does not take them. An hour of minutes, beside the hour.
const WAITING_MAX: usize = 61;

/// How often rows are added to before another server's additions make this wait for the next round.
const ATTEMPTS_MAX: usize = 8;

/// The writer of one service's metrics.
#[derive(Debug)]
pub(super) struct MetricsWriter {
    hour: Running,
    minute: Running,
    waiting: VecDeque<Ended>,
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
struct Ended {
    period: MetricsPeriod,
    start: DateTime,
    rows: Vec<(String, Counts)>,
}

impl Running {
    fn new(period: MetricsPeriod, now: DateTime) -> Self {
        Self { period, start: start_of(period, now), tally: Tally::default() }
    }

    /// The rows of the period, if it is to be written now.
    fn end(&mut self, settings: &Settings, round: &Round<'_>) -> Option<Ended> {
        let is_over = start_of(self.period, round.now) != self.start;
        let is_cut_short = round.is_last && self.tally.user.requests() > 0;
        if !is_over && !is_cut_short {
            return None;
        }
        let next = Self::new(self.period, round.now);
        let Self { period, start, tally } = std::mem::replace(self, next);
        let level = settings.metrics(period).level;
        let mut rows = vec![("user;All".to_owned(), tally.user), ("system;All".to_owned(), tally.system)];
        if level == MetricsLevel::ServiceAndApis {
            rows.extend(tally.operations.into_iter().map(|(name, counts)| (format!("user;{name}"), counts)));
        }
        (level != MetricsLevel::Off).then_some(Ended { period, start, rows })
    }
}

fn start_of(period: MetricsPeriod, time: DateTime) -> DateTime {
    DateTime::from_ticks(time.ticks() - time.ticks() % (period.seconds() * TICKS_PER_SECOND))
}

impl MetricsWriter {
    pub(super) fn new(now: DateTime) -> Self {
        let [hour, minute] = MetricsPeriod::ALL.map(|period| Running::new(period, now));
        Self { hour, minute, waiting: VecDeque::new() }
    }

    /// Takes what was counted since the last round, and ends the periods that are over.
    pub(super) fn roll(&mut self, counters: &Counters, settings: &Settings, round: &Round<'_>) {
        let counted = counters.take();
        for running in [&mut self.hour, &mut self.minute] {
            running.tally.add(&counted);
            self.waiting.extend(running.end(settings, round));
        }
        while self.waiting.len() > WAITING_MAX {
            self.waiting.pop_front();
            tracing::warn!("metrics of a period are dropped, because the store does not take them");
        }
    }

    pub(super) async fn write(&mut self, of: &Watched, round: &Round<'_>) -> Result<()> {
        while let Some(ended) = self.waiting.front() {
            let table = MetricsTable { period: ended.period, service: of.service() };
            add_rows(round.tables, of.account(), table, ended).await?;
            round.count_own(Service::Table, 0);
            self.waiting.pop_front();
        }
        Ok(())
    }
}

/// Adds to the rows that a period has. Another server may do the same, and then both read again.
async fn add_rows(tables: &TableService, account: &str, table: MetricsTable, ended: &Ended) -> Result<()> {
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

async fn write_rows(tables: &TableService, account: &str, table: MetricsTable, ended: &Ended) -> Result<()> {
    let partition_key = MetricsPeriod::partition_key(ended.start);
    let name = table.name();
    let mut before = match rows_of(tables, account, name.as_str(), &partition_key).await {
        Err(Error::Refused(error)) if error.code == ErrorCode::TableNotFound => {
            create_table(tables, account, table).await?;
            HashMap::new()
        }
        rows => rows?,
    };
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
    tables.apply(account, &group).await?;
    Ok(())
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

async fn create_table(tables: &TableService, account: &str, table: MetricsTable) -> Result<()> {
    match tables.create_table(account, &table.name()).await {
        Err(Error::Refused(error)) if error.code == ErrorCode::TableAlreadyExists => Ok(()),
        created => created,
    }
}
