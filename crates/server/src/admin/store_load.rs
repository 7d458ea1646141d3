//! The load that the pages show: of all servers on the store, or of this one.

use std::sync::Arc;
use std::time::Duration;

use tablerock_services::{LoadReport, SharedLoad, StoreLoad};
use tokio::runtime::Handle;

use crate::pipeline::Server;

/// The time for reading the load of the other servers.
const OTHERS_TIMEOUT: Duration = Duration::from_secs(3);

/// The load, and where it is from.
#[derive(Debug, Clone, Default)]
pub(super) struct ShownLoad {
    pub(super) report: LoadReport,
    /// The servers whose load is added up.
    pub(super) servers: usize,
    /// The node of each partition of the report; shorter than the report where nothing is known about nodes.
    pub(super) nodes: Vec<Option<String>>,
    /// Why the other servers are missing.
    pub(super) problem: Option<String>,
}

impl ShownLoad {
    pub(super) fn of_one(report: LoadReport) -> Self {
        Self { report, servers: 1, nodes: vec![], problem: None }
    }

    /// The node of the partition at a place of the report.
    pub(super) fn node(&self, place: usize) -> Option<&str> {
        self.nodes.get(place).and_then(Option::as_deref)
    }

    pub(super) fn has_nodes(&self) -> bool {
        self.nodes.iter().any(Option::is_some)
    }
}

/// Reads the load of the other servers, in the runtime that serves the store: its connections belong to that one.
#[derive(Debug, Clone)]
pub(super) struct LoadSource {
    load: Arc<SharedLoad>,
    runtime: Handle,
}

impl LoadSource {
    pub(super) fn new(load: Arc<SharedLoad>) -> Self {
        Self { load, runtime: Handle::current() }
    }

    /// Adds the load of the others to that of this server. Without a response in time it is that of this server alone.
    pub(super) async fn add_others(self, own: LoadReport, count_max: usize) -> ShownLoad {
        let (load, alone) = (self.load, own.clone());
        let read = self
            .runtime
            .spawn(async move { tokio::time::timeout(OTHERS_TIMEOUT, load.with_others(own, count_max)).await });
        let problem = match read.await {
            Ok(Ok(Ok(StoreLoad { report, servers, nodes, .. }))) => {
                return ShownLoad { report, servers, nodes, problem: None };
            }
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(_)) => format!("no response from the store in {OTHERS_TIMEOUT:?}"),
            Err(_) => "the server is stopping".to_owned(),
        };
        ShownLoad { problem: Some(problem), ..ShownLoad::of_one(alone) }
    }
}

impl Server {
    /// Returns the busiest tables, queues, containers and partitions of this server, hottest first, at most so many of each.
    pub fn load(&self, count_max: usize) -> LoadReport {
        LoadReport::of(&[self.tables.load(), self.queues.load(), self.blobs.load()], count_max)
    }
}
