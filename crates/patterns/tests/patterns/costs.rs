//! What each pattern costs in requests and in entities, counted by the server and written in the guide: a row of the
//! guide that is not true any more fails here, with the row that is.

use std::collections::BTreeMap;
use std::time::Duration;

use tablerock_client::{
    BlobServiceClient, DateTime, Entity, QueueClient, Result, TableClient, TableOperation, column, row_key,
};
use tablerock_patterns::keys::{compound, compound_prefix, inverted_ticks};
use tablerock_patterns::{
    Archive, BlobList, BlobLists, CopiesAcrossPartitions, CopiesInPartition, EntityList, IndexList, LargeEntities,
    ListedEntities, Period, PeriodTables, Series, WideEntities,
};

use crate::killed::email;
use crate::mortal::Process;
use crate::support::{Account, unique_name};

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide.md");
const TITLES: &str = "| call | requests | entities read | written |";

#[tokio::test]
async fn the_guide_tells_what_each_pattern_costs() {
    let account = Account::open().await;
    if account.metrics().is_none() {
        eprintln!("SKIPPED: another server counts for itself");
        return;
    }
    let mut meter = Meter { process: Process::healthy(&account), account: &account, rows: Vec::new() };
    queries(&mut meter).await;
    indexes(&mut meter).await;
    archive(&mut meter).await;
    index_lists(&mut meter).await;
    keys(&mut meter).await;
    periods(&mut meter).await;
    shapes(&mut meter).await;
    relationships(&mut meter).await;

    let guide = std::fs::read_to_string(GUIDE).unwrap();
    let written: Vec<&str> = guide
        .split(TITLES)
        .skip(1)
        .flat_map(|rest| rest.lines().skip(2).take_while(|line| line.starts_with("| ")))
        .collect();
    assert!(written == meter.rows, "docs/guide.md has other rows than these:\n{}\n", meter.rows.join("\n"));
}

async fn queries(meter: &mut Meter<'_>) {
    let table = meter.account.table().await;
    let entity = |number: i32| {
        let department = if number < 50 { "Sales" } else { "Marketing" };
        Entity::new(department, format!("{number:06}")).with("Age", number)
    };
    table.bulk((0..100).map(|number| TableOperation::insert(&entity(number)))).await.into_result().unwrap();
    let age = || column("Age");
    let (query, sales) = (|| table.query::<Entity>(), || table.query::<Entity>().partition("Sales"));
    meter.measure("`get(\"Sales\", \"000012\")`", table.get::<Entity>("Sales", "000012")).await;
    meter.measure("`partition(\"Sales\").row_prefix(\"00001\")`", sales().row_prefix("00001").all()).await;
    let either = row_key().eq("000012").or(row_key().eq("000030"));
    meter
        .measure(
            "`partition(\"Sales\").filter(row.eq(\"000012\").or(row.eq(\"000030\")))`",
            sales().filter(either).all(),
        )
        .await;
    meter.measure("`partition(\"Sales\").filter(age.eq(12))`", sales().filter(age().eq(12)).all()).await;
    meter.measure("`filter(age.eq(12))`", query().filter(age().eq(12)).all()).await;
}

async fn indexes(meter: &mut Meter<'_>) {
    let (table, (queue, poison)) = (meter.account.table().await, meter.queues().await);
    let within = CopiesInPartition::new(table).index("email", email);
    meter.measure("`CopiesInPartition::insert`, one copy", within.insert(&jones("a"))).await;
    meter.measure("`CopiesInPartition::find_by`", within.find_by("Sales", "email", "a")).await;
    let read = within.find_by("Sales", "email", "a").await.unwrap().unwrap();
    let changed = read.with("Email", "b");
    meter.measure("`CopiesInPartition::replace`, a copy that moves", within.replace(&changed)).await;
    let read = within.find_by("Sales", "email", "b").await.unwrap().unwrap();
    meter.measure("`CopiesInPartition::delete`", within.delete(&read)).await;

    let across = CopiesAcrossPartitions::new(meter.account.table().await, queue, poison).index("email", email);
    meter.measure("`CopiesAcrossPartitions::insert`", across.insert(&jones("a"))).await;
    meter.measure("`CopiesAcrossPartitions::find_by`", across.find_by("email", "a").first()).await;
    let read = across.find_by("email", "a").first().await.unwrap().unwrap();
    let changed = read.with("Email", "b");
    meter.measure("`CopiesAcrossPartitions::replace`, a copy that moves", across.replace(&changed)).await;
    let read = across.find_by("email", "b").first().await.unwrap().unwrap();
    meter.measure("`CopiesAcrossPartitions::delete`", across.delete(&read)).await;
}

async fn archive(meter: &mut Meter<'_>) {
    let (current, archived) = (meter.account.table().await, meter.account.table().await);
    let (queue, poison) = meter.queues().await;
    current.insert(&jones("a")).await.unwrap();
    let archive = Archive::new(current, archived, queue, poison);
    meter.measure("`Archive::request`", archive.request("Sales", "000123")).await;
    meter.measure("`Archive::work_once`", archive.work_once()).await;
}

async fn index_lists(meter: &mut Meter<'_>) {
    let table = meter.account.table().await;
    let container = meter.blobs().container(unique_name());
    container.create().await.unwrap();
    let here = IndexList::new(EntityList::new(table, "Sales", "lastname_Jones"));
    let in_blob = IndexList::new(BlobList::new(container.blob("Jones")));
    let writes = [TableOperation::insert(&jones("c"))];
    meter.measure("`IndexList::add_with`, in the partition", here.add_with("000123", &writes)).await;
    meter.measure("`IndexList::add`, in an entity", here.add("000152")).await;
    meter.measure("`IndexList::add`, in a blob", in_blob.add("000123")).await;
    meter.measure("`IndexList::ids`, in an entity", here.ids()).await;

    let (table, (queue, poison)) = (meter.account.table().await, meter.queues().await);
    let listed = ListedEntities::new(table, BlobLists::new(container), queue, poison).index("email", email);
    meter.measure("`ListedEntities::insert`, one list in a blob", listed.insert(&jones("d"))).await;
    meter.measure("`ListedEntities::find_by`, one entity", listed.find_by("email", "d").all()).await;
    let read = listed.find_by("email", "d").first().await.unwrap().unwrap();
    meter.measure("`ListedEntities::delete`", listed.delete(&read)).await;
}

/// A department with ten employees in three ways, and what else belongs together.
async fn relationships(meter: &mut Meter<'_>) {
    let (departments, employees) = (meter.account.table().await, meter.account.table().await);
    let together = meter.account.table().await;
    let department = Entity::new("Sales", "department").with("EmployeeCount", 10).with("Manager", "Ash");
    let employee = |number: i32| Entity::new("Sales", format!("{number:06}")).with("Manager", "Ash");
    let hire = |table: &TableClient, writes: Vec<TableOperation>| table.transaction().operations(writes).commit();
    let staff = || (0..10).map(employee).map(|entity| TableOperation::insert(&entity)).collect::<Vec<_>>();
    departments.insert(&department).await.unwrap();
    together.insert(&department).await.unwrap();
    hire(&employees, staff()).await.unwrap();
    hire(&together, staff()).await.unwrap();

    let all = |table: &TableClient| table.query::<Entity>().partition("Sales").all();
    let both = async { departments.get::<Entity>("Sales", "department").await.and(all(&employees).await) };
    meter.measure("separate: show a department and its 10 employees", both).await;
    meter.measure("together: the same", all(&together)).await;
    meter.measure("denormalised: show an employee and the manager", employees.get::<Entity>("Sales", "000003")).await;
    let new = [TableOperation::insert(&employee(10)), TableOperation::merge(&department).any_version()];
    meter.measure("together: hire, and count", hire(&together, new.to_vec())).await;
    let renamed = (0..10).map(|number| TableOperation::merge(&employee(number).with("Manager", "Jun")).any_version());
    meter.measure("denormalised: another manager", hire(&employees, renamed.collect())).await;

    let pair =
        [TableOperation::insert(&Entity::new("Legal", "1")), TableOperation::insert(&Entity::new("Legal", "salary_1"))];
    meter.measure("one to one: an employee and the salary", hire(&employees, pair.to_vec())).await;
    let join = async { all(&departments).await.and(employees.query::<Entity>().all().await) };
    meter.measure("join of 1 department and 12 employees in the client", join).await;
    let kinds = employees.query::<Entity>().partition("Sales").filter(column("Manager").eq("Jun"));
    meter.measure("inheritance: 10 of a kind, by a property", kinds.all()).await;
}

async fn keys(meter: &mut Meter<'_>) {
    let table = meter.account.table().await;
    let department = Entity::new("Sales", "department").with("Manager", "Jones");
    table.insert(&department).await.unwrap();
    table.insert(&jones("a")).await.unwrap();
    let renamed =
        [jones("a"), department].map(|entity| TableOperation::merge(&entity.with("Manager", "Ash")).any_version());
    meter.measure("show the department", table.get::<Entity>("Sales", "department")).await;
    meter.measure("rename its manager", table.transaction().operations(renamed).commit()).await;

    for (employee, year) in (0..30).map(|number| (format!("{:06}", number / 5), format!("{}", 2010 + number % 5))) {
        table.insert(&Entity::new("reviews", compound([&employee, &year]))).await.unwrap();
    }
    let reviews = table.query::<Entity>().partition("reviews").row_prefix(compound_prefix(["000003"]));
    meter.measure("the 5 reviews of one employee, among 30", reviews.all()).await;

    for number in 1..=30 {
        table.insert(&Entity::new("claims", inverted_ticks(day(number)))).await.unwrap();
    }
    let latest = table.query::<Entity>().partition("claims").limit(10);
    meter.measure("the latest 10 claims, among 30", latest.all()).await;
}

async fn periods(meter: &mut Meter<'_>) {
    let logins = PeriodTables::new(meter.process.tables.clone(), unique_name(), Period::Day);
    meter.measure("`PeriodTables::insert`, the first of a day", logins.insert(day(1), &jones("x"))).await;
    let other = Entity::new("Sales", "2");
    meter.measure("`PeriodTables::insert`, any other", logins.insert(day(1), &other)).await;
    logins.insert(day(2), &other).await.unwrap();
    meter.measure("`PeriodTables::query`, two days", logins.query::<Entity>(day(1)..day(2)).all()).await;
    meter.measure("`PeriodTables::delete_before`, one day of any size", logins.delete_before(day(2))).await;

    let series = Series::<i64>::new(meter.account.table().await, Period::Day);
    meter.measure("`Series::record`", series.record("000123", day(1), 1)).await;
    meter.measure("`Series::update`", series.update("000123", day(1), |value| value.unwrap_or(0) + 1)).await;
    meter.measure("`Series::values`", series.values("000123", day(1))).await;
}

async fn shapes(meter: &mut Meter<'_>) {
    let table = meter.account.table().await;
    let wide = WideEntities::new(table.clone());
    let survey = (0..1000).fold(Entity::new("Sales", "1"), |survey, question| survey.with(format!("Q{question}"), 1));
    meter.measure("`WideEntities::insert`, 1,000 properties", wide.insert(&survey)).await;
    meter.measure("`WideEntities::get_if_exists`, 1,000 properties", wide.get_if_exists("Sales", "1")).await;

    let (queue, poison) = meter.queues().await;
    let large = LargeEntities::new(table, meter.blobs().container(unique_name()), queue, poison);
    large.create_if_not_exists().await.unwrap();
    let photo = |byte: u8| Entity::new("large", "1").with("Photo", vec![byte; 100_000]);
    meter.measure("`LargeEntities::insert`, one large value", large.insert(&photo(1))).await;
    let read = large.get_if_exists("large", "1").await.unwrap().unwrap();
    let changed = photo(2);
    let replace = large.replace(&changed).if_match(read.etag.unwrap());
    meter.measure("`LargeEntities::replace`, another value", replace).await;
    meter.measure("`LargeEntities::get_if_exists`, one large value", large.get_if_exists("large", "1")).await;
}

fn day(day: u32) -> DateTime {
    DateTime::parse(&format!("2026-11-{day:02}T08:30:00Z")).unwrap()
}

fn jones(email: &str) -> Entity {
    Entity::new("Sales", "000123").with("Id", "000123").with("Email", email)
}

/// The counters of the server.
#[derive(Default)]
struct Counters {
    requests: BTreeMap<String, u64>,
    read: u64,
    written: u64,
}

impl Counters {
    fn parse(metrics: &str) -> Self {
        let mut counters = Self::default();
        for line in metrics.lines() {
            let Some((name, value)) = line.rsplit_once(' ') else { continue };
            let Ok(value) = value.parse::<u64>() else { continue };
            let label = |label: &str| name.split_once(&format!("{label}=\""))?.1.split('"').next();
            match name.split('{').next() {
                Some("tablerock_requests_total") => {
                    let operation = label("operation").unwrap_or_default();
                    *counters.requests.entry(operation.to_owned()).or_default() += value;
                    let is_write = operation.ends_with("Entity") && operation != "QueryEntity";
                    if is_write && label("status").is_some_and(|status| status.starts_with('2')) {
                        counters.written += value;
                    }
                }
                Some("tablerock_entities_read_total") => counters.read += value,
                Some("tablerock_group_operations_total") => counters.written += value,
                _ => {}
            }
        }
        counters
    }

    /// A row of the guide, less what had been counted before.
    fn row_since(&self, before: &Self, what: &str) -> String {
        let grown = self
            .requests
            .iter()
            .map(|(operation, count)| (operation, count - before.requests.get(operation).copied().unwrap_or_default()));
        let grown = grown.filter(|(_, count)| *count > 0).map(|(operation, count)| format!("{count} {operation}"));
        let requests = grown.collect::<Vec<_>>().join(", ");
        format!("| {what} | {requests} | {} | {} |", self.read - before.read, self.written - before.written)
    }
}

/// Measures calls, one after the other.
struct Meter<'a> {
    account: &'a Account,
    process: Process,
    rows: Vec<String>,
}

impl Meter<'_> {
    async fn measure<T>(&mut self, what: &str, call: impl IntoFuture<Output = Result<T>>) {
        let before = self.counters().await;
        call.await.unwrap();
        let after = self.counters().await;
        self.rows.push(after.row_since(&before, what));
    }

    async fn counters(&self) -> Counters {
        // A request is counted when its response has been sent, which may be a moment after it arrived.
        tokio::time::sleep(Duration::from_millis(60)).await;
        Counters::parse(&self.account.metrics().unwrap())
    }

    async fn queues(&self) -> (QueueClient, QueueClient) {
        let queues = [unique_name(), unique_name()].map(|name| self.process.queues.queue(name));
        for queue in &queues {
            queue.create().await.unwrap();
        }
        queues.into()
    }

    fn blobs(&self) -> &BlobServiceClient {
        &self.process.blobs
    }
}
