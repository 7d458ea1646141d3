//! One service of one account: the record of its requests, and the state of its writer.

use std::sync::Arc;

use parking_lot::Mutex;
use tablerock_protocol::analytics::RequestKind;
use tablerock_protocol::xml::{AnalyticsVersion, Metrics, ServiceProperties};
use tablerock_protocol::{DateTime, MetricsPeriod, Service};

use super::capacity_writer::CapacityWriter;
use super::counters::{Counters, Measured};
use super::log_buffer::{LogBuffer, LogLine, LogRoom, hour_of};
use super::log_writer::LogWriter;
use super::metrics_writer::MetricsWriter;
use super::switches::Switches;
use super::{Analytics, OfAccount};
use crate::work_lease::WorkLease;
use crate::{BlobService, TableService};

/// The record of requests to one service of one account.
#[derive(Debug)]
pub struct Watched {
    account: String,
    service: Service,
    switches: Switches,
    settings: Mutex<Settings>,
    counters: Counters,
    log: LogBuffer,
    writer: tokio::sync::Mutex<Writer>,
}

/// The settings that only the writer reads. The default holds until the properties have been read.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) log_retention_days: Option<u16>,
    pub(super) hour_metrics: Metrics,
    pub(super) minute_metrics: Metrics,
}

impl Settings {
    pub(super) fn metrics(&self, period: MetricsPeriod) -> &Metrics {
        match period {
            MetricsPeriod::Hour => &self.hour_metrics,
            MetricsPeriod::Minute => &self.minute_metrics,
        }
    }
}

/// The state of the background work.
#[derive(Debug)]
struct Writer {
    log: LogWriter,
    metrics: MetricsWriter,
    /// Of the Blob service only.
    capacity: Option<CapacityWriter>,
    /// The hour of the last search for old data.
    retention_hour: Option<DateTime>,
}

/// One round of the background work on one account.
pub(super) struct Round<'a> {
    pub(super) analytics: &'a Analytics,
    pub(super) tables: &'a TableService,
    pub(super) blobs: &'a BlobService,
    pub(super) now: DateTime,
    /// The server stops: what waits does so no longer.
    pub(super) is_last: bool,
    pub(super) services: &'a OfAccount,
}

impl Round<'_> {
    /// Counts a write of our own to one of the account's services.
    pub(super) fn count_own(&self, service: Service, bytes: u64) {
        self.services[service as usize].counters.add_system(bytes);
    }
}

impl Watched {
    pub(super) fn new(
        account: &str,
        service: Service,
        operations: Vec<&'static str>,
        log_room: Arc<LogRoom>,
        server: u64,
        now: DateTime,
        metrics_lease: WorkLease,
    ) -> Self {
        let writer = Writer {
            log: LogWriter::new(server),
            metrics: MetricsWriter::new(now, metrics_lease),
            capacity: (service == Service::Blob).then(CapacityWriter::default),
            retention_hour: None,
        };
        Self {
            account: account.to_owned(),
            service,
            switches: Switches::default(),
            settings: Mutex::default(),
            counters: Counters::new(operations),
            log: LogBuffer::new(log_room),
            writer: tokio::sync::Mutex::new(writer),
        }
    }

    pub(super) fn account(&self) -> &str {
        &self.account
    }

    pub(super) fn service(&self) -> Service {
        self.service
    }

    pub(super) fn apply(&self, properties: &ServiceProperties) {
        let logging = &properties.logging;
        *self.settings.lock() = Settings {
            log_retention_days: logging.retention_days,
            hour_metrics: properties.hour_metrics.clone(),
            minute_metrics: properties.minute_metrics.clone(),
        };
        self.switches.set(self.service, properties);
    }

    pub(super) fn is_on(&self) -> bool {
        self.switches.any()
    }

    /// Whether requests are counted.
    pub fn is_counting(&self) -> bool {
        self.switches.metrics()
    }

    /// Counts a request.
    pub fn count(&self, measured: &Measured) {
        self.counters.add(measured);
    }

    /// The version of the entries, if requests of this kind are logged.
    pub fn logging(&self, kind: RequestKind) -> Option<AnalyticsVersion> {
        self.switches.logging(kind)
    }

    /// Logs a request. `false` means that too many lines wait already, and this one is dropped.
    #[must_use]
    pub fn log(&self, line: &LogLine<'_>) -> bool {
        self.log.add(line)
    }

    /// Ends the periods that are over.
    pub(super) async fn roll(&self, round: &Round<'_>) {
        let settings = self.settings.lock().clone();
        self.writer.lock().await.metrics.roll(self, &self.counters, &settings, round);
    }

    /// Writes what is due. A failure is logged, and the next round retries.
    pub(super) async fn write(&self, round: &Round<'_>) {
        let settings = self.settings.lock().clone();
        let mut writer = self.writer.lock().await;
        let Writer { log, metrics, capacity, retention_hour } = &mut *writer;
        let counted = metrics.write(self, round).await;
        let measured = match capacity {
            Some(capacity) => capacity.write(self, &settings, round).await,
            None => Ok(()),
        };
        let logged = log.write(self, &self.log, round).await;
        let hour = hour_of(round.now);
        let is_due = !round.is_last && retention_hour.replace(hour) != Some(hour);
        let dropped =
            if !is_due || !round.analytics.drops_old().await { Ok(()) } else { self.drop_old(&settings, round).await };
        for (what, outcome) in [("metrics", counted), ("capacity", measured), ("logs", logged), ("retention", dropped)]
        {
            if let Err(error) = outcome {
                let (account, service) = (&self.account, self.service.name());
                tracing::warn!(account, service, what, %error, "writing Storage Analytics failed, will retry");
            }
        }
    }
}
