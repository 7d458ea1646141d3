//! D: what each pattern costs in requests, counted by the server and written in the guide: a line of the guide that is
//! not true any more fails here.

use std::collections::BTreeMap;
use std::time::Duration;

use tablerock_client::{DateTime, Entity, Write};
use tablerock_patterns::keys::inverted_ticks;
use tablerock_patterns::{
    Archive, BlobList, CopiesAcrossPartitions, CopiesInPartition, DaySeries, EntityList, IndexList, LargeEntities,
    Period, PeriodTables, WideEntities,
};

use crate::mortal::Process;
use crate::support::{Account, unique_name};

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide.md");

type Counters = BTreeMap<String, u64>;

/// Requests by operation, and the entities that queries looked at.
fn counters(account: &Account) -> Option<Counters> {
    let text = account.metrics()?;
    let mut counters = Counters::new();
    for line in text.lines() {
        let Some((name, value)) = line.rsplit_once(' ') else { continue };
        let label = |label: &str| Some(name.split_once(&format!("{label}=\""))?.1.split('"').next()?.to_owned());
        let counter = match name.split('{').next() {
            Some("tablerock_requests_total") => label("operation"),
            Some("tablerock_entities_read_total") => label("operation").map(|_| "entities looked at".to_owned()),
            _ => None,
        };
        if let (Some(counter), Ok(value)) = (counter, value.parse::<u64>()) {
            *counters.entry(counter).or_default() += value;
        }
    }
    Some(counters)
}

/// What a call costs, as the guide writes it: `2 GetEntity, 1 UpdateEntity`.
async fn cost(account: &Account, call: impl Future<Output = ()>) -> Option<String> {
    let before = counters(account)?;
    call.await;
    // A request is counted when its answer has been sent, which may be a moment after it arrived.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let after = counters(account)?;
    let grown = after.iter().map(|(name, count)| (name, count - before.get(name).copied().unwrap_or_default()));
    let grown = grown.filter(|(_, count)| *count > 0).map(|(name, count)| format!("{count} {name}"));
    Some(grown.collect::<Vec<_>>().join(", "))
}

fn day(day: u32) -> DateTime {
    DateTime::parse(&format!("2026-11-{day:02}T08:30:00Z")).unwrap()
}

fn jones(email: &str) -> Entity {
    Entity::new("Sales", "000123").with("Id", "000123").with("Email", email)
}

#[tokio::test]
async fn d_the_guide_tells_what_each_pattern_costs() {
    let account = Account::open().await;
    let process = Process::healthy(&account);
    let name = unique_name();
    let (table, other) = (account.table().await, account.table().await);
    let (queue, poison) = (process.queues.queue(&name), process.queues.queue(format!("{name}-poison")));
    let container = process.blobs.container(&name);
    container.create().await.unwrap();
    queue.create().await.unwrap();
    poison.create().await.unwrap();
    let mut lines = Vec::new();
    macro_rules! measure {
        ($what:literal, $call:expr) => {
            match cost(&account, async {
                let _ = $call.await.unwrap();
            })
            .await
            {
                Some(cost) => lines.push(format!("| {} | {cost} |", $what)),
                // Another server counts for itself.
                None => return,
            }
        };
    }

    let row_keys = |entity: &Entity| {
        let text = |name| entity.property::<String>(name).unwrap_or_default();
        vec![format!("empid_{}", text("Id")), format!("email_{}", text("Email"))]
    };
    let within = CopiesInPartition::new(table.clone(), row_keys);
    measure!("`CopiesInPartition::insert`, one copy", within.insert(&jones("a")));
    let read: Entity = table.get("Sales", "empid_000123").await.unwrap();
    measure!("`CopiesInPartition::replace`, one copy", within.replace(&read, &read.clone().with("Email", "b")));
    measure!("look up by email, within the partition", table.get::<Entity>("Sales", "email_b"));

    let copy_keys = |entity: &Entity| vec![("email".to_owned(), entity.property("Email").unwrap_or_default())];
    let across = CopiesAcrossPartitions::new(table.clone(), queue.clone(), poison.clone(), copy_keys);
    measure!("`CopiesAcrossPartitions::put`, a new entity", across.put(&jones("a")));
    measure!("`CopiesAcrossPartitions::put`, a copy that moves", across.put(&jones("b")));

    let archive = Archive::new(table.clone(), other.clone(), queue.clone(), poison.clone());
    measure!("`Archive::request`", archive.request("Sales", "000123"));
    measure!("`Archive::work_once`", archive.work_once());

    let here = IndexList::new(EntityList::new(table.clone(), "Sales", "lastname_Jones"));
    let in_blob = IndexList::new(BlobList::new(container.blob("Jones")));
    measure!("`IndexList::add_together`, in the partition", here.add_together("000123", &[Write::insert(&jones("c"))]));
    measure!("`IndexList::add`, in an entity", here.add("000152"));
    measure!("`IndexList::add`, in a blob", in_blob.add("000123"));
    measure!("`IndexList::ids`, in an entity", here.ids());

    for number in 1..=30 {
        other.insert(&Entity::new("claims", inverted_ticks(day(number)))).await.unwrap();
    }
    measure!("the latest 10 of a log tail of 30", other.query::<Entity>().partition("claims").limit(10).all());

    let logins = PeriodTables::new(process.tables.clone(), &name, Period::Day);
    measure!("`PeriodTables::insert`, the first of a day", logins.insert(day(1), &jones("x")));
    measure!("`PeriodTables::insert`, any other", logins.insert(day(1), &Entity::new("Sales", "2")));
    measure!("`PeriodTables::drop_before`, one day of any size", logins.drop_before(day(2)));

    let series = DaySeries::new(other.clone());
    measure!("`DaySeries::record`", series.record("000123", day(1), 1));
    measure!("`DaySeries::day`", series.day("000123", day(1)));

    let wide = WideEntities::new(other.clone());
    let survey = (0..1000).fold(Entity::new("Sales", "1"), |survey, question| survey.with(format!("Q{question}"), 1));
    measure!("`WideEntities::put`, 1,000 properties", wide.put(&survey));
    measure!("`WideEntities::get`, 1,000 properties", wide.get("Sales", "1"));

    let large = LargeEntities::new(other.clone(), container, queue, poison);
    let photo = |byte: u8| Entity::new("large", "1").with("Photo", vec![byte; 100_000]);
    measure!("`LargeEntities::put`, a new entity with one large value", large.put(&photo(1)));
    measure!("`LargeEntities::put`, another value", large.put(&photo(2)));
    measure!("`LargeEntities::get`, one large value", large.get("large", "1"));

    let guide = std::fs::read_to_string(GUIDE).unwrap();
    let missing: Vec<&String> = lines.iter().filter(|line| !guide.contains(line.as_str())).collect();
    assert!(
        missing.is_empty(),
        "docs/guide.md lacks:\n{}",
        missing.iter().map(|line| format!("{line}\n")).collect::<String>()
    );
}
