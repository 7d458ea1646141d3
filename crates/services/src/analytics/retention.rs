//! Logs and metrics that are older than their service's policy allows. A policy holds whether or not anything new is
//! written.

use tablerock_kv::TICKS_PER_SECOND;
use tablerock_protocol::analytics::hour_of_log_blob;
use tablerock_protocol::{
    ContainerName, DateTime, ErrorCode, EtagCondition, Filter, MetricsPeriod, MetricsTable, Service, TableName,
    capacity_table, limits,
};

use super::watched::{Round, Settings, Watched};
use crate::blob::{BlobAddress, BlobQuery, DeleteSnapshots, ListedBlob, WriteTerms};
use crate::table::{Change, EntityGroup, EntityOperation, EntityQuery, FoundEntity};
use crate::{Error, Result};

const TICKS_PER_DAY: u64 = 24 * 3600 * TICKS_PER_SECOND;

/// The most pages of each kind that one pass deletes; the rest is left to the next hour.
const PAGES_MAX: usize = 20;
const PAGE_ITEMS: usize = 500;

impl Watched {
    /// Deletes what is too old.
    pub(super) async fn drop_old(&self, settings: &Settings, round: &Round<'_>) -> Result<()> {
        let oldest =
            |days: u16| DateTime::from_ticks(round.now.ticks().saturating_sub(u64::from(days) * TICKS_PER_DAY));
        if let Some(days) = settings.log_retention_days {
            or_absent(self.drop_logs(round, oldest(days)).await)?;
        }
        for period in MetricsPeriod::ALL {
            if let Some(days) = settings.metrics(period).retention_days {
                let table = MetricsTable { period, service: self.service() }.name();
                or_absent(self.drop_metrics(round, &table, oldest(days)).await)?;
            }
        }
        // The capacity goes by the policy of the hours.
        if let (Service::Blob, Some(days)) = (self.service(), settings.metrics(MetricsPeriod::Hour).retention_days) {
            or_absent(self.drop_metrics(round, &capacity_table(), oldest(days)).await)?;
        }
        Ok(())
    }

    /// Names of logs sort by time, so the first that may stay ends the search.
    async fn drop_logs(&self, round: &Round<'_>, oldest: DateTime) -> Result<()> {
        let prefix = format!("{}/", self.service().name());
        let query = BlobQuery { prefix, items_max: PAGE_ITEMS, ..BlobQuery::default() };
        for _ in 0..PAGES_MAX {
            let page = round.blobs.list_blobs(self.account(), ContainerName::LOGS, &query).await?;
            for entry in &page.entries {
                let ListedBlob::Blob { name, .. } = entry else { continue };
                let Some((hour, _)) = hour_of_log_blob(name) else { continue };
                // The hour has to be over for the whole time, and its last request was in its last second.
                if hour.ticks() + MetricsPeriod::Hour.seconds() * TICKS_PER_SECOND > oldest.ticks() {
                    return Ok(());
                }
                let at = BlobAddress { account: self.account(), container: ContainerName::LOGS, name };
                round.blobs.delete_blob(at, &WriteTerms::default(), DeleteSnapshots::Include).await.or_else(gone)?;
            }
            if page.next.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn drop_metrics(&self, round: &Round<'_>, table: &TableName, oldest: DateTime) -> Result<()> {
        let filter = Filter::parse(&format!("PartitionKey lt '{}'", MetricsPeriod::partition_key(oldest)))?;
        let query = EntityQuery { filter, top: Some(PAGE_ITEMS), ..EntityQuery::default() };
        for _ in 0..PAGES_MAX {
            let page = round.tables.query_entities(self.account(), table.as_str(), &query).await?;
            for rows in page.entities.chunk_by(|one, next| one.partition_key == next.partition_key) {
                for rows in rows.chunks(limits::GROUP_OPERATIONS_MAX) {
                    let group = EntityGroup::new(rows.iter().map(|row| deletion(table.as_str(), row)).collect())?;
                    round.tables.apply(self.account(), &group).await.map(|_| ()).or_else(gone)?;
                }
            }
            if page.next.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }
}

fn deletion(table: &str, row: &FoundEntity) -> EntityOperation {
    EntityOperation {
        table: table.to_owned(),
        partition_key: row.partition_key.clone(),
        row_key: row.row_key.clone(),
        change: Change::Delete { condition: EtagCondition::Any },
    }
}

/// The owner may delete the same things at the same time.
fn gone(error: Error) -> Result<()> {
    match error {
        Error::Refused(error) if matches!(error.code, ErrorCode::BlobNotFound | ErrorCode::ResourceNotFound) => Ok(()),
        error => Err(error),
    }
}

/// Where nothing was ever written, there is nothing to delete.
fn or_absent(outcome: Result<()>) -> Result<()> {
    match outcome {
        Err(Error::Refused(error)) if matches!(error.code, ErrorCode::ContainerNotFound | ErrorCode::TableNotFound) => {
            Ok(())
        }
        outcome => outcome,
    }
}
