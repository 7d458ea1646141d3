//! The counters of the server, in the form that Prometheus reads.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tablerock_protocol::{ErrorCode, Service};
use tablerock_services::{LoadReport, LoadedHolding, Rate};

use crate::admin::escape;
use crate::operation::Operation;
use crate::request_context::RequestContext;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    operation: &'static str,
    status: u16,
    error: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabel {
    operation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TableLabels {
    account: String,
    table: String,
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QueueLabels {
    account: String,
    queue: String,
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ContainerLabels {
    account: String,
    container: String,
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PartitionLabels {
    account: String,
    table: String,
    partition: String,
    kind: &'static str,
}

/// Partitions in the metrics. Each of them is a time series in Prometheus from then on.
const PARTITIONS_SHOWN_MAX: usize = 10;

/// Upper bounds in seconds: a point read takes some ten microseconds, a synced write a millisecond, a query at
/// most five seconds.
const DURATION_BUCKETS: [f64; 14] =
    [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 5.0, 30.0];

/// The metrics of one operation, so that requests look them up by index and not by labels. They come into being with the
/// first request, as only operations that were used are shown.
#[derive(Debug, Default)]
struct OperationMetrics {
    /// The count of the first status without an error, which is the status of nearly all successes.
    succeeded: OnceLock<(StatusCode, Counter)>,
    duration: OnceLock<Histogram>,
    entities_read: OnceLock<Counter>,
    entities_returned: OnceLock<Counter>,
}

/// Counters of the server, in the form that Prometheus reads.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<OperationLabel, Histogram, fn() -> Histogram>,
    entities_read: Family<OperationLabel, Counter>,
    entities_returned: Family<OperationLabel, Counter>,
    group_operations: Counter,
    log_entries_dropped: Counter,
    connections: Gauge<i64, AtomicI64>,
    table_load: Family<TableLabels, Gauge<f64, AtomicU64>>,
    queue_load: Family<QueueLabels, Gauge<f64, AtomicU64>>,
    container_load: Family<ContainerLabels, Gauge<f64, AtomicU64>>,
    partition_load: Family<PartitionLabels, Gauge<f64, AtomicU64>>,
    /// The last one is for requests whose operation is not known.
    by_operation: [OperationMetrics; Operation::ALL.len() + 1],
    /// Held while the gauges of the load are set and rendered.
    rendering: Mutex<()>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    pub fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("tablerock"),
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(DURATION_BUCKETS)),
            entities_read: Family::default(),
            entities_returned: Family::default(),
            group_operations: Counter::default(),
            log_entries_dropped: Counter::default(),
            connections: Gauge::default(),
            table_load: Family::default(),
            queue_load: Family::default(),
            container_load: Family::default(),
            partition_load: Family::default(),
            by_operation: std::array::from_fn(|_| OperationMetrics::default()),
            rendering: Mutex::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("requests", "Requests by operation, status and error code", self.requests.clone());
        let durations = self.durations.clone();
        registry.register("request_duration_seconds", "From the request's head to its response", durations);
        let read = self.entities_read.clone();
        registry.register("entities_read", "Stored entities that queries looked at", read);
        let returned = self.entities_returned.clone();
        registry.register("entities_returned", "Entities that queries returned", returned);
        let group = self.group_operations.clone();
        registry.register("group_operations", "Operations inside group transactions", group);
        let dropped = self.log_entries_dropped.clone();
        registry.register(
            "analytics_log_entries_dropped",
            "Entries of $logs dropped because the buffer was full",
            dropped,
        );
        registry.register("connections", "Open connections", self.connections.clone());
        let load = self.table_load.clone();
        registry.register("table_load", "Entities per second of the busiest tables", load);
        let load = self.queue_load.clone();
        registry.register("queue_load", "Messages per second of the busiest queues", load);
        let load = self.container_load.clone();
        registry.register("container_load", "Requests for blobs per second of the busiest containers", load);
        let load = self.partition_load.clone();
        registry.register("partition_load", "Entities per second of the hottest partitions of tables", load);
    }

    /// Counts a request that has its response.
    pub(crate) fn record(&self, cx: &RequestContext<'_>, status: StatusCode, duration: Duration) {
        let operation = cx.operation_name();
        let index = cx.operation.map_or(Operation::ALL.len(), |operation| operation as usize);
        let metrics = &self.by_operation[index];
        self.count_request(metrics, operation, status, cx.error);
        let label = OperationLabel { operation };
        let durations = metrics.duration.get_or_init(|| self.durations.get_or_create(&label).clone());
        durations.observe(duration.as_secs_f64());
        let (read, returned) = (cx.counts.entities_read(), cx.counts.entities_returned());
        if read > 0 {
            metrics.entities_read.get_or_init(|| self.entities_read.get_or_create(&label).clone()).inc_by(read);
        }
        if returned > 0 {
            let counter =
                metrics.entities_returned.get_or_init(|| self.entities_returned.get_or_create(&label).clone());
            counter.inc_by(returned);
        }
        self.group_operations.inc_by(cx.counts.group_operations());
    }

    fn count_request(
        &self,
        metrics: &OperationMetrics,
        operation: &'static str,
        status: StatusCode,
        error: Option<ErrorCode>,
    ) {
        let counter = |error| {
            let labels = RequestLabels { operation, status: status.as_u16(), error };
            self.requests.get_or_create(&labels).clone()
        };
        match error {
            Some(error) => counter(error.name()).inc(),
            None => match metrics.succeeded.get_or_init(|| (status, counter(""))) {
                (known, counter) if *known == status => counter.inc(),
                _ => counter("").inc(),
            },
        };
    }

    /// Counts a log entry that Storage Analytics dropped because its buffer was full.
    pub(crate) fn count_dropped_log_entry(&self) {
        self.log_entries_dropped.inc();
    }

    /// Counts a connection as open for as long as the returned value lives.
    pub(crate) fn count_connection(&self) -> OpenConnection {
        self.connections.inc();
        OpenConnection(self.connections.clone())
    }

    /// The text that Prometheus scrapes.
    pub fn render(&self, load: &LoadReport) -> String {
        let _rendering = self.rendering.lock().unwrap_or_else(PoisonError::into_inner);
        self.set_load(load);
        let mut text = String::new();
        if encode(&mut text, &self.registry).is_err() {
            let _ = writeln!(text, "# rendering the metrics failed");
        }
        text
    }
}

impl Metrics {
    /// Sets the gauges of the hottest entries, and removes all others.
    fn set_load(&self, load: &LoadReport) {
        self.table_load.clear();
        self.queue_load.clear();
        self.container_load.clear();
        for (LoadedHolding { service, account, name }, rate) in &load.holdings {
            for (kind, value) in kinds(rate) {
                let (account, name) = (escape::label(account), escape::label(name));
                match service {
                    Service::Table => {
                        self.table_load.get_or_create(&TableLabels { account, table: name, kind }).set(value);
                    }
                    Service::Queue => {
                        self.queue_load.get_or_create(&QueueLabels { account, queue: name, kind }).set(value);
                    }
                    Service::Blob => {
                        self.container_load
                            .get_or_create(&ContainerLabels { account, container: name, kind })
                            .set(value);
                    }
                }
            }
        }
        self.partition_load.clear();
        let of_tables = load.partitions.iter().filter(|(loaded, _)| loaded.service == Service::Table);
        for (loaded, rate) in of_tables.take(PARTITIONS_SHOWN_MAX) {
            for (kind, value) in kinds(rate) {
                let (account, table) = (escape::label(&loaded.account), escape::label(&loaded.name));
                let labels = PartitionLabels { account, table, partition: escape::label(&loaded.partition), kind };
                self.partition_load.get_or_create(&labels).set(value);
            }
        }
    }
}

fn kinds(rate: &Rate) -> [(&'static str, f64); 2] {
    [("read", rate.reads), ("write", rate.writes)]
}

/// A connection that is counted as open.
pub(crate) struct OpenConnection(Gauge<i64, AtomicI64>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use tablerock_services::LoadedPartition;

    use super::*;

    type Line<'a> = (&'a str, Vec<(&'a str, String)>, f64);

    /// A line of the exposition as its name, its labels and its value, read as Prometheus does.
    fn parse_line(line: &str) -> Option<Line<'_>> {
        let Some((name, mut rest)) = line.split_once('{') else {
            let (name, value) = line.split_once(' ')?;
            return Some((name, Vec::new(), value.parse().ok()?));
        };
        let mut labels = Vec::new();
        while !rest.starts_with('}') {
            let (label, quoted) = rest.trim_start_matches(',').split_once("=\"")?;
            let (mut value, mut characters) = (String::new(), quoted.char_indices());
            let end = loop {
                match characters.next()? {
                    (at, '"') => break at,
                    (_, '\\') => value.push(match characters.next()?.1 {
                        'n' => '\n',
                        character @ ('"' | '\\') => character,
                        _ => return None,
                    }),
                    (_, character) => value.push(character),
                }
            };
            labels.push((label, value));
            rest = &quoted[end + 1..];
        }
        Some((name, labels, rest[1..].trim().parse().ok()?))
    }

    #[test]
    fn a_key_cannot_break_the_exposition() {
        let metrics = Metrics::new();
        let mut load = LoadReport::default();
        for partition_key in ["a\"b\n}", "\\", "\r\u{7}"] {
            let name = LoadedPartition {
                service: Service::Table,
                account: "acct".to_owned(),
                name: "People".to_owned(),
                partition: partition_key.to_owned(),
            };
            load.partitions.push((name, Rate { reads: 2.5, ..Rate::default() }));
        }
        let text = metrics.render(&load);
        let mut seen = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, labels, value) = parse_line(line).unwrap_or_else(|| panic!("cannot be read: {line}\n{text}"));
            let partition = labels.iter().find(|(label, _)| *label == "partition");
            if let Some((_, partition)) = partition.filter(|_| value > 0.0) {
                assert_eq!((name, value), ("tablerock_partition_load", 2.5));
                seen.push(partition.clone());
            }
        }
        seen.sort();
        assert_eq!(seen, ["\\", "\\u{d}\\u{7}", "a\"b\n}"]);
    }
}
