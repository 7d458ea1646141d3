//! Storage Analytics with a clock that moves by hand: logs, metrics, their settings and their end.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::support::*;
use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Bytes, Error as KvError, FaultEngine, ManualClock, MemoryEngine, Rng, Store};
use tablerock_protocol::analytics::{Authentication, RequestKind, RequestStatus};
use tablerock_protocol::xml::{AnalyticsVersion, ServicePropertiesUpdate};
use tablerock_protocol::{DateTime, Metadata, Service, ServiceVersion, Value};
use tablerock_services::analytics::{LogLine, Measured};
use tablerock_services::blob::{
    BlobAddress, BlobKind, BlobQuery, DeleteSnapshots, ListedBlob, PublicAccess, ReadTerms, WriteTerms,
};
use tablerock_services::table::{EntityQuery, FoundEntity, TableQuery};
use tablerock_services::{AccountService, Analytics, BlobService, TableService};
use tablerock_testkit::blob_model::new_blob;

const HOURS: &str = "$MetricsHourPrimaryTransactionsTable";
const MINUTES: &str = "$MetricsMinutePrimaryTransactionsTable";
const HOUR: Duration = Duration::from_secs(3600);
const OPERATIONS: [&str; 2] = ["QueryEntities", "InsertEntity"];

const LOGGING: &str = "<Logging><Version>1.0</Version><Read>true</Read><Write>true</Write><Delete>false</Delete>\
    <RetentionPolicy><Enabled>true</Enabled><Days>2</Days></RetentionPolicy></Logging>";

fn metrics(section: &str, apis: bool) -> String {
    format!(
        "<{section}><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>{apis}</IncludeAPIs>\
         <RetentionPolicy><Enabled>true</Enabled><Days>3</Days></RetentionPolicy></{section}>"
    )
}

/// A server's services on one store, as one process has them.
struct World {
    store: Store,
    clock: Arc<ManualClock>,
    tables: TableService,
    blobs: BlobService,
    settings: AccountService,
    analytics: Analytics,
}

impl World {
    async fn new() -> Self {
        let start = DateTime::parse("2026-07-31T17:58:30").unwrap();
        Self::on(Store::in_memory(), Arc::new(ManualClock::at(start.ticks()))).await
    }

    async fn on(store: Store, clock: Arc<ManualClock>) -> Self {
        let tables = service_on(&store, clock.clone()).await;
        let blobs = BlobService::open(store.clone(), clock.clone(), Rng::seeded(1)).await.unwrap();
        let settings = AccountService::new(store.clone());
        let analytics =
            Analytics::open(&settings, &blobs, clock.clone(), [ACCOUNT], |_| OPERATIONS.to_vec()).await.unwrap();
        Self { store, clock, tables, blobs, settings, analytics }
    }

    /// A new process on the same store.
    async fn restart(self) -> Self {
        self.analytics.close(&self.tables, &self.blobs).await;
        Self::on(self.store, self.clock).await
    }

    async fn set(&self, sections: &str) {
        let xml = format!("<StorageServiceProperties>{sections}</StorageServiceProperties>");
        let update = ServicePropertiesUpdate::parse(xml.as_bytes(), Service::Table, ServiceVersion::LATEST).unwrap();
        self.settings.set_service_properties(ACCOUNT, Service::Table, &update).await.unwrap();
        self.analytics.refresh(&self.settings, &self.blobs, ACCOUNT, Service::Table).await.unwrap();
    }

    fn count(&self, operation: usize, status: RequestStatus, milliseconds: u64) {
        let watched = self.analytics.watched(ACCOUNT, Service::Table).expect("something is on");
        watched.count(&Measured {
            operation: Some(operation),
            status,
            authentication: Authentication::Authenticated,
            ingress_bytes: 100,
            egress_bytes: 200,
            duration: Duration::from_millis(milliseconds),
        });
    }

    fn log(&self, text: &str, kind: RequestKind) {
        let now = DateTime::from_ticks(tablerock_kv::Clock::ticks(&*self.clock));
        let watched = self.analytics.watched(ACCOUNT, Service::Table).expect("something is on");
        let Some(version) = watched.logging(kind) else { return };
        assert!(watched.log(&LogLine { text, version, kind, started: now, ended: now }));
    }

    async fn pass(&self, time: Duration) {
        self.clock.advance(time);
        self.analytics.write(&self.tables, &self.blobs).await;
    }

    /// The logs: names, metadata and content.
    async fn logs(&self) -> Vec<(String, String, String)> {
        let query = BlobQuery { prefix: "table/".to_owned(), items_max: 5000, ..BlobQuery::default() };
        let page = self.blobs.list_blobs(ACCOUNT, "$logs", &query).await.unwrap();
        let mut logs = Vec::new();
        for entry in page.entries {
            let ListedBlob::Blob { name, blob, .. } = entry else { panic!("{entry:?}") };
            let metadata: Vec<_> =
                blob.metadata.pairs().iter().map(|(name, value)| format!("{name}={value}")).collect();
            let whole = |blob: &tablerock_services::blob::Blob| {
                Ok(tablerock_protocol::blob::ByteRange { offset: 0, length: blob.length })
            };
            let read = self.blobs.download(at(&name), None, &ReadTerms::default(), whole).await.unwrap();
            let content = read.2.read_to_end().await.unwrap();
            logs.push((name, metadata.join(" "), String::from_utf8(content.to_vec()).unwrap()));
        }
        logs
    }

    async fn rows(&self, table: &str) -> Vec<FoundEntity> {
        self.tables.query_entities(ACCOUNT, table, &EntityQuery::default()).await.unwrap().entities
    }
}

fn at(name: &str) -> BlobAddress<'_> {
    BlobAddress { account: ACCOUNT, container: "$logs", name }
}

fn keys(rows: &[FoundEntity]) -> Vec<String> {
    rows.iter().map(|row| format!("{} {}", row.partition_key, row.row_key)).collect()
}

fn number(row: &FoundEntity, column: &str) -> f64 {
    let columns = row.entity.read(|all| all.collect());
    let columns: HashMap<&str, Value<'_>> = columns.unwrap();
    match columns[column] {
        Value::Int64(number) => number as f64,
        Value::Double(number) => number,
        ref other => panic!("{column}: {other:?}"),
    }
}

#[tokio::test]
async fn a_log_grows_by_blocks_and_tells_what_it_holds() {
    let world = World::new().await;
    world.set(LOGGING).await;
    world.log("one\n", RequestKind::Read);
    world.log("not logged\n", RequestKind::Delete);
    world.pass(Duration::from_secs(1)).await;
    assert_eq!(world.logs().await, [], "lines wait for others");
    world.pass(Duration::from_secs(4)).await;
    world.log("two\n", RequestKind::Write);
    world.pass(Duration::from_secs(5)).await;
    let logs = world.logs().await;
    let metadata = "LogType=read,write StartTime=2026-07-31T17:58:30Z EndTime=2026-07-31T17:58:35Z LogVersion=1.0";
    assert_eq!(logs, [("table/2026/07/31/1700/000000.log".into(), metadata.into(), "one\ntwo\n".into())]);

    world.clock.advance(Duration::from_secs(60));
    world.log("three\n", RequestKind::Read);
    world.pass(HOUR).await;
    let world = world.restart().await;
    world.log("four\n", RequestKind::Read);
    let world = world.restart().await;
    world.log("five\n", RequestKind::Read);
    let world = world.restart().await;
    let logs: Vec<_> = world.logs().await.into_iter().map(|(name, _, content)| (name, content)).collect();
    let expected = [
        ("table/2026/07/31/1700/000000.log", "one\ntwo\nthree\n"),
        ("table/2026/07/31/1800/000000.log", "four\n"),
        ("table/2026/07/31/1800/000001.log", "five\n"),
    ];
    assert_eq!(logs, expected.map(|(name, content)| (name.to_owned(), content.to_owned())));
}

#[tokio::test]
async fn a_log_that_its_owner_deletes_is_followed_by_another() {
    let world = World::new().await;
    world.set(LOGGING).await;
    for line in ["one\n", "two\n"] {
        world.log(line, RequestKind::Read);
        world.pass(Duration::from_secs(5)).await;
        let name = &world.logs().await[0].0;
        assert_eq!(world.logs().await[0].2, line);
        world.blobs.delete_blob(at(name), &WriteTerms::default(), DeleteSnapshots::Refuse).await.unwrap();
    }
}

#[tokio::test]
async fn an_hour_has_rows_for_all_requests_and_for_each_operation() {
    let world = World::new().await;
    world.set(&metrics("HourMetrics", true)).await;
    for _ in 0..3 {
        world.count(1, RequestStatus::Success, 20);
    }
    world.pass(Duration::from_secs(30)).await;
    world.count(1, RequestStatus::ClientOtherError, 500);
    world.pass(Duration::from_secs(90)).await;
    let rows = world.rows(HOURS).await;
    let expected = ["20260731T1700 system;All", "20260731T1700 user;All", "20260731T1700 user;InsertEntity"];
    assert_eq!(keys(&rows), expected);
    for row in &rows[1..] {
        assert_eq!(number(row, "TotalRequests"), 4.0);
        assert_eq!(number(row, "Success"), 3.0);
        assert_eq!(number(row, "ClientOtherError"), 1.0);
        assert_eq!(number(row, "AverageE2ELatency"), 20.0);
        assert_eq!((number(row, "TotalIngress"), number(row, "TotalEgress")), (400.0, 800.0));
        assert_eq!((number(row, "Availability"), number(row, "PercentSuccess")), (100.0, 75.0));
    }
    world.pass(HOUR).await;
    let rows = world.rows(HOURS).await;
    assert_eq!(keys(&rows[3..]), ["20260731T1800 system;All", "20260731T1800 user;All"], "an hour without requests");
    assert_eq!(number(&rows[3], "TotalRequests"), 3.0, "the rows of the hour before, of three services");
}

#[tokio::test]
async fn an_hour_that_a_restart_cut_in_two_is_one_row() {
    let world = World::new().await;
    world.set(&metrics("HourMetrics", false)).await;
    world.count(0, RequestStatus::Success, 10);
    let world = world.restart().await;
    assert_eq!(number(&world.rows(HOURS).await[1], "TotalRequests"), 1.0);
    world.count(0, RequestStatus::Success, 30);
    world.pass(HOUR).await;
    let rows = world.rows(HOURS).await;
    assert_eq!(keys(&rows), ["20260731T1700 system;All", "20260731T1700 user;All"]);
    assert_eq!((number(&rows[1], "TotalRequests"), number(&rows[1], "AverageServerLatency")), (2.0, 20.0));
    let world = world.restart().await;
    assert_eq!(world.rows(HOURS).await.len(), 2, "a stop without requests has nothing to tell");
}

#[tokio::test]
async fn settings_decide_what_is_kept() {
    let world = World::new().await;
    let off = metrics("HourMetrics", false)
        .replace("<Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs>", "<Enabled>false</Enabled>");
    world.set(&off).await;
    assert!(world.analytics.watched(ACCOUNT, Service::Table).is_none());
    assert!(world.analytics.watched(ACCOUNT, Service::Queue).is_some(), "a new account counts by the hour");
    assert!(world.analytics.watched("unknown", Service::Queue).is_none());
    world.set(&metrics("MinuteMetrics", false)).await;
    let world = world.restart().await;
    world.count(0, RequestStatus::Success, 10);
    world.pass(Duration::from_secs(60)).await;
    world.pass(Duration::from_secs(60)).await;
    let expected =
        ["20260731T1758 system;All", "20260731T1758 user;All", "20260731T1759 system;All", "20260731T1759 user;All"];
    assert_eq!(keys(&world.rows(MINUTES).await), expected);
    assert_eq!(
        code(world.tables.query_entities(ACCOUNT, HOURS, &EntityQuery::default()).await),
        tablerock_protocol::ErrorCode::TableNotFound
    );
}

#[tokio::test]
async fn tables_of_metrics_are_found_by_name_and_not_listed() {
    let world = World::new().await;
    world.pass(HOUR).await;
    let listed = world.tables.query_tables(ACCOUNT, &TableQuery::default()).await.unwrap();
    assert_eq!(listed.names, [TABLE]);
    assert_eq!(world.rows("$metricshourPRIMARYtransactionstable").await.len(), 2);
    assert_eq!(world.rows("$MetricsTransactionsTable").await.len(), 2, "the name that old versions know");
    assert_eq!(world.rows("$MetricsTransactionsQueue").await.len(), 2);
}

#[tokio::test]
async fn what_is_too_old_goes_even_when_nothing_new_is_written() {
    let world = World::new().await;
    world.set(&format!("{LOGGING}{}", metrics("HourMetrics", false))).await;
    for hour in 0..4 * 24 {
        world.log(&format!("{hour}\n"), RequestKind::Read);
        world.pass(HOUR).await;
    }
    let logs = world.logs().await;
    assert_eq!(logs.first().unwrap().0, "table/2026/08/02/1700/000000.log");
    assert_eq!(logs.last().unwrap().0, "table/2026/08/04/1600/000000.log");
    let rows = world.rows(HOURS).await;
    assert_eq!(rows[0].partition_key, "20260801T1800");
    assert_eq!(rows.last().unwrap().partition_key, "20260804T1600");

    let silent = LOGGING.replace("<Read>true</Read><Write>true</Write>", "<Read>false</Read><Write>false</Write>");
    let off = metrics("HourMetrics", false)
        .replace("<Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs>", "<Enabled>false</Enabled>");
    world.set(&(silent + &off)).await;
    world.pass(5 * 24 * HOUR).await;
    assert_eq!(world.logs().await, []);
    assert_eq!(world.rows(HOURS).await.len(), 0);
}

#[tokio::test]
async fn version_2_is_for_queues_and_blobs() {
    let world = World::new().await;
    let update = format!("<StorageServiceProperties>{}</StorageServiceProperties>", LOGGING.replace("1.0", "2.0"));
    for (service, version) in [
        (Service::Table, AnalyticsVersion::V1_0),
        (Service::Queue, AnalyticsVersion::V2_0),
        (Service::Blob, AnalyticsVersion::V2_0),
    ] {
        let update = ServicePropertiesUpdate::parse(update.as_bytes(), service, ServiceVersion::LATEST).unwrap();
        world.settings.set_service_properties(ACCOUNT, service, &update).await.unwrap();
        world.analytics.refresh(&world.settings, &world.blobs, ACCOUNT, service).await.unwrap();
        let watched = world.analytics.watched(ACCOUNT, service).unwrap();
        assert_eq!(watched.logging(RequestKind::Write), Some(version));
        assert_eq!(watched.logging(RequestKind::Delete), None);
    }
}

/// Two servers on one store.
async fn two_servers() -> [World; 2] {
    let start = DateTime::parse("2026-07-31T17:58:30").unwrap();
    let clock = Arc::new(ManualClock::at(start.ticks()));
    let store = Store::new(Arc::new(MemoryEngine::shared()));
    [World::on(store.clone(), clock.clone()).await, World::on(store, clock).await]
}

/// A connection that breaks during a commit leaves open whether it was made. Each commit of a round has that in turn.
#[tokio::test(start_paused = true)]
async fn counts_whose_write_has_no_known_outcome_are_there_once() {
    let lost = || KvError::unavailable("the connection broke");
    for fault in [Fault::FailAfter(lost()), Fault::Fail(lost()), Fault::Strand(lost())] {
        for is_shared in [false, true] {
            for passes in 0..24 {
                let requests = requests_after_fault(is_shared, passes, fault.clone()).await;
                let expected = if is_shared { 2.0 } else { 1.0 };
                assert_eq!(requests, expected, "{fault:?} after {passes} commits, shared: {is_shared}");
            }
        }
    }
}

/// How many requests an hour shows in which each server had one, and the first met a fault when it wrote that.
async fn requests_after_fault(is_shared: bool, passes: usize, fault: Fault) -> f64 {
    let memory = if is_shared { MemoryEngine::shared() } else { MemoryEngine::new() };
    let engine = Arc::new(FaultEngine::new(Arc::new(memory)));
    let store = Store::new(engine.clone());
    let start = DateTime::parse("2026-07-31T17:58:30").unwrap();
    let clock = Arc::new(ManualClock::at(start.ticks()));
    let mut worlds = vec![World::on(store.clone(), clock.clone()).await];
    if is_shared {
        worlds.push(World::on(store, clock.clone()).await);
    }
    worlds[0].set(&metrics("HourMetrics", false)).await;
    for world in &worlds {
        world.pass(Duration::from_secs(10)).await;
        world.count(0, RequestStatus::Success, 10);
    }
    clock.advance(HOUR);
    engine.script(Call::Commit, std::iter::repeat_n(Fault::Pass, passes).chain([fault]));
    for _ in 0..5 {
        for world in &worlds {
            world.analytics.write(&world.tables, &world.blobs).await;
        }
        // A work lease that could not be released expires.
        clock.advance(Duration::from_secs(100));
    }
    engine.deliver().await;
    let rows = worlds[0].rows(HOURS).await;
    let row = rows.iter().find(|row| row.partition_key == "20260731T1700" && row.row_key == "user;All");
    number(row.expect("the hour is written"), "TotalRequests")
}

#[tokio::test]
async fn counts_of_servers_that_share_a_store_add_up() {
    let [one, other] = two_servers().await;
    one.set(&metrics("HourMetrics", true)).await;
    // The other one learns of it by itself.
    other.pass(Duration::from_secs(10)).await;
    one.count(0, RequestStatus::Success, 10);
    other.count(0, RequestStatus::Success, 30);
    other.count(1, RequestStatus::Success, 30);
    one.clock.advance(HOUR);
    let (one_writes, other_writes) =
        (one.analytics.write(&one.tables, &one.blobs), other.analytics.write(&other.tables, &other.blobs));
    tokio::join!(one_writes, other_writes);
    let rows = one.rows(HOURS).await;
    let hour = "20260731T1700";
    let expected = ["system;All", "user;All", "user;InsertEntity", "user;QueryEntities"];
    assert_eq!(keys(&rows), expected.map(|row| format!("{hour} {row}")));
    let requests: Vec<_> = rows[1..].iter().map(|row| number(row, "TotalRequests")).collect();
    assert_eq!(requests, [3.0, 1.0, 2.0]);
}

#[tokio::test]
async fn no_line_is_lost_when_servers_that_share_a_store_log_at_once() {
    let [one, other] = two_servers().await;
    one.set(LOGGING).await;
    other.pass(Duration::from_secs(10)).await;
    for round in 0..5 {
        one.log(&format!("one {round}\n"), RequestKind::Read);
        other.log(&format!("other {round}\n"), RequestKind::Read);
        one.clock.advance(Duration::from_secs(600));
        let (one_writes, other_writes) =
            (one.analytics.write(&one.tables, &one.blobs), other.analytics.write(&other.tables, &other.blobs));
        tokio::join!(one_writes, other_writes);
    }
    let all: String = one.logs().await.into_iter().map(|(_, _, content)| content).collect();
    for round in 0..5 {
        for line in [format!("one {round}"), format!("other {round}")] {
            assert_eq!(all.matches(&line).count(), 1, "{line} in {all}");
        }
    }
}

#[tokio::test]
async fn the_capacity_of_blobs_is_two_rows_a_day() {
    let world = World::new().await;
    world.set(LOGGING).await;
    let (nothing, private) = (Metadata::default(), PublicAccess::Private);
    world.blobs.create_container(ACCOUNT, "photos", &nothing, private).await.unwrap();
    let photo = BlobAddress { account: ACCOUNT, container: "photos", name: "a" };
    let received = world.blobs.receive_blob(photo, &mut Some(Bytes::from_static(b"12345")), true).await.unwrap();
    world.blobs.put_blob(photo, &WriteTerms::default(), &new_blob(BlobKind::Block), received).await.unwrap();
    world.log("a line\n", RequestKind::Read);
    world.pass(24 * HOUR).await;
    // As after a crash: the usage is not known, and the blobs are counted in the next rounds.
    let world = World::on(world.store, world.clock).await;
    world.pass(24 * HOUR).await;
    for _ in 0..4 {
        world.pass(Duration::from_secs(1)).await;
    }
    let rows = world.rows("$MetricsCapacityBlob").await;
    assert_eq!(keys(&rows)[..2], ["20260801T0000 analytics", "20260801T0000 data"]);
    assert_eq!(keys(&rows)[2..], ["20260802T0000 analytics", "20260802T0000 data"]);
    for data in [&rows[1], &rows[3]] {
        assert_eq!(["Capacity", "ContainerCount", "ObjectCount"].map(|column| number(data, column)), [5.0, 1.0, 1.0]);
    }
    assert_eq!(["ContainerCount", "ObjectCount"].map(|column| number(&rows[2], column)), [1.0, 1.0]);
    // A new account keeps metrics for a week.
    world.pass(9 * 24 * HOUR).await;
    assert!(keys(&world.rows("$MetricsCapacityBlob").await).iter().all(|key| key.as_str() > "20260803"));
}
