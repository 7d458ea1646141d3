//! An account that moves to another store is the same there, whatever else is in that store and however often the move was
//! cut off.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::sync::Arc;

use crate::support::{self, ACCOUNT, TABLE, apply_one, create, delete, insert, manual_clock, upsert};
use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Error as StoreError, ErrorKind, FaultEngine, MemoryEngine, Range, Result, ScanLimits, Store};
use tablerock_protocol::TableName;
use tablerock_protocol::xml::BlockSource;
use tablerock_services::blob::WriteTerms;
use tablerock_services::namespace::Namespace;
use tablerock_services::transfer::{CopyTerms, Progress, accounts_of, export_account, forget_copy, needs_start_over};
use tablerock_services::{TableService, ThrottleTargets};
use tablerock_testkit::{blob_model, page_model, queue_model};

async fn export(store: &Store, account: &str) -> String {
    let mut text = Vec::new();
    export_account(store, account, &mut text).await.unwrap();
    String::from_utf8(text).unwrap()
}

/// Notes how far it is so often that a copy as small as these goes on from somewhere.
const TERMS: CopyTerms<'static> = CopyTerms { source: "the old store", note_records: 100, note_bytes: 100_000 };

async fn copy_account(from: &Store, to: &Store) -> Result<Progress> {
    tablerock_services::transfer::copy_account(from, to, ACCOUNT, &TERMS, &|_| {}).await
}

fn bytes(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|at| (at as u8).wrapping_mul(31).wrapping_add(seed)).collect()
}

/// Something of everything.
async fn fill(store: &Store) {
    let clock = manual_clock();
    let tables = support::service_on(store, clock.clone()).await;
    for number in 0..2_500 {
        apply_one(&tables, insert(&format!("p{:02}", number % 40), &format!("r{number:05}"), number)).await.unwrap();
    }
    create(&tables, "Empty").await;
    tables.close().await.unwrap();

    let queues = queue_model::service_with_queue(store, clock.clone()).await;
    for number in 0..300 {
        let message = queue_model::message(&format!("text {number} <&>"));
        queues.put_message(ACCOUNT, &queue_model::jobs(), message).await.unwrap();
    }
    assert_eq!(queues.get_messages(ACCOUNT, &queue_model::jobs(), 32, 60).await.unwrap().len(), 32);
    queues.close().await.unwrap();

    let blobs = blob_model::service_with_container(store, clock).await;
    for (name, length) in [("empty", 0), ("small", 100), ("chunks", 700_001)] {
        blob_model::put(&blobs, name, &bytes(length, 1)).await.unwrap();
    }
    for number in 0..6 {
        blob_model::put_block(&blobs, "blocks", number, &bytes(20_000 + usize::from(number), number)).await.unwrap();
    }
    page_model::create_pages(&blobs, "pages", 1 << 40).await.unwrap();
    page_model::put_pages(&blobs, "pages", 1 << 39, &bytes(300 << 10, 9)).await.unwrap();
    blobs.snapshot_blob(blob_model::at("pages"), &WriteTerms::default(), None).await.unwrap();
    page_model::put_pages(&blobs, "pages", (1 << 39) + 512, &bytes(512, 10)).await.unwrap();
    page_model::clear_pages(&blobs, "pages", 0, 1 << 39).await.unwrap();
    let list: Vec<_> = (0..6).map(|number| (BlockSource::Latest, number)).collect();
    blob_model::put_list(&blobs, "blocks", &list).await.unwrap();
    blob_model::put_block(&blobs, "blocks", 9, &bytes(50_000, 9)).await.unwrap();
    blob_model::create_append(&blobs, "log").await.unwrap();
    for number in 0..5 {
        blob_model::append(&blobs, "log", &bytes(30_000, number)).await.unwrap();
    }
    blobs.rest().await;
    blobs.close().await.unwrap();
}

/// A store that has given out numbers of its own.
async fn with_another_account(store: Store) -> Store {
    let tables = TableService::open(store.clone(), manual_clock(), ThrottleTargets::default()).await.unwrap();
    tables.create_table("other", &TableName::parse(TABLE).unwrap()).await.unwrap();
    fill_other(&store).await;
    store
}

async fn fill_other(store: &Store) {
    let scratch = Store::in_memory();
    fill(&scratch).await;
    copy_account(&scratch, store).await.unwrap();
    // The account that is to come must not be there: this one only used up numbers.
    for directory in Namespace::ALL.map(|namespace| namespace.directory(ACCOUNT)) {
        store.drop_range(tablerock_kv::Range::partition(&directory)).await.unwrap();
    }
}

#[tokio::test]
async fn an_account_is_the_same_text_wherever_it_is() {
    let from = Store::in_memory();
    fill(&from).await;
    let text = export(&from, ACCOUNT).await;
    assert_eq!(text.matches("{\"entity\":").count(), 2_500);
    assert_eq!(text.matches("{\"message\":").count(), 300);
    assert_eq!(text.matches("{\"blob\":{").count(), 7);
    assert_eq!(text.matches("{\"block\":").count(), 1);
    let committed = text.lines().filter(|line| line.starts_with("{\"committed\":"));
    let lengths: Vec<&str> = committed.map(|line| line.rsplit("\"length\":").next().unwrap()).collect();
    assert_eq!(lengths, ["20000}}", "20001}}", "20002}}", "20003}}", "20004}}", "20005}}"]);

    for target in [Store::in_memory(), Store::new(Arc::new(MemoryEngine::shared()))] {
        let target = with_another_account(target).await;
        let done = copy_account(&from, &target).await.unwrap();
        assert_eq!(done.holdings, done.holdings_done);
        assert!(done.records > 2_800, "{done:?}");
        assert!(export(&target, ACCOUNT).await == text, "the text differs");
        assert_eq!(accounts_of(&target).await.unwrap(), [ACCOUNT, "other"]);
    }
    assert!(export(&from, ACCOUNT).await == text, "the old store has changed");
}

#[tokio::test]
async fn services_go_on_in_the_new_store() {
    let (from, to) = (Store::in_memory(), with_another_account(Store::new(Arc::new(MemoryEngine::shared()))).await);
    fill(&from).await;
    copy_account(&from, &to).await.unwrap();
    let clock = manual_clock();

    let tables = TableService::open(to.clone(), clock.clone(), ThrottleTargets::default()).await.unwrap();
    let old = tables.query_entity(ACCOUNT, TABLE, "p07", "r00007").await.unwrap().timestamp();
    let newest = tables.query_entity(ACCOUNT, TABLE, "p19", "r02499").await.unwrap().timestamp();
    apply_one(&tables, upsert("p07", "r00007", 1)).await.unwrap();
    let new = tables.query_entity(ACCOUNT, TABLE, "p07", "r00007").await.unwrap().timestamp();
    assert!(new > old && new > newest, "no ETag comes twice: {old:?}, {newest:?}, {new:?}");
    apply_one(&tables, delete("p07", "r00007")).await.unwrap();

    let queues = queue_model::service_on(&to, clock.clone()).await;
    let state = queues.queue_metadata(ACCOUNT, &queue_model::jobs()).await.unwrap();
    assert_eq!(state.messages, 300);
    let got = queues.get_messages(ACCOUNT, &queue_model::jobs(), 1, 30).await.unwrap();
    assert_eq!(got[0].text, "text 32 <&>", "those that were given out are still invisible");
    queues.delete_message(ACCOUNT, &queue_model::jobs(), got[0].id, got[0].receipt).await.unwrap();

    let blobs = blob_model::service_on(&to, clock).await;
    assert_eq!(blob_model::read(&blobs, "chunks", None).await.unwrap(), bytes(700_001, 1));
    let blocks: Vec<u8> = (0..6).flat_map(|number| bytes(20_000 + usize::from(number), number)).collect();
    assert_eq!(blob_model::read(&blobs, "blocks", None).await.unwrap(), blocks);
    blob_model::put_list(&blobs, "blocks", &[(BlockSource::Uncommitted, 9)]).await.unwrap();
    assert_eq!(blob_model::read(&blobs, "blocks", None).await.unwrap(), bytes(50_000, 9));
    // New contents do not fall on those that came.
    blob_model::put(&blobs, "more", &bytes(300_000, 4)).await.unwrap();
    assert_eq!(blob_model::read(&blobs, "chunks", None).await.unwrap(), bytes(700_001, 1));
    let log: Vec<u8> = (0..5).flat_map(|number| bytes(30_000, number)).collect();
    assert_eq!(blob_model::read(&blobs, "log", None).await.unwrap(), log);
}

#[tokio::test]
async fn a_copy_that_is_cut_off_again_and_again_arrives() {
    let from = Store::in_memory();
    fill(&from).await;
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::shared())));
    let to = Store::new(engine.clone());
    let mut failures = 0;
    loop {
        // Each run gets a little further than the one before it.
        let passing = std::iter::repeat_n(Fault::Pass, 3 + 10 * failures);
        engine.script(Call::Commit, passing.chain([Fault::FailAfter(StoreError::unavailable("cut off"))]));
        match copy_account(&from, &to).await {
            Ok(_) => break,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}"),
        }
        failures += 1;
        assert!(failures < 100);
        assert!(accounts_of(&to).await.unwrap().is_empty() || failures > 1, "nothing is to be seen before the end");
    }
    assert!(failures > 2, "{failures}");
    assert!(export(&to, ACCOUNT).await == export(&from, ACCOUNT).await, "the text differs");
}

/// A copy of which a commit fails, and how many there are.
async fn cut_off(from: &Store, after_commits: usize) -> (Store, Arc<FaultEngine>) {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
    let to = Store::new(engine.clone());
    let passing = std::iter::repeat_n(Fault::Pass, after_commits);
    engine.script(Call::Commit, passing.chain([Fault::Fail(StoreError::unavailable("cut off"))]));
    assert_eq!(copy_account(from, &to).await.unwrap_err().kind(), ErrorKind::Unavailable);
    (to, engine)
}

#[tokio::test]
async fn a_second_run_reads_and_writes_what_the_first_has_not() {
    let source = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
    let from = Store::new(source.clone());
    fill(&from).await;
    let read = || source.records_scanned() + source.calls(Call::Get);
    let (before, whole) = (read(), Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new()))));
    copy_account(&from, &Store::new(whole.clone())).await.unwrap();
    let (all_reads, all_commits) = (read() - before, whole.calls(Call::Commit));
    // What is looked at however little is left.
    let always = 300;
    assert!(all_reads > always + 3_000 && all_commits > 100, "{all_reads} {all_commits}");

    for (done, left_max) in [(all_commits / 3, 0.8), (all_commits * 2 / 3, 0.5), (all_commits - 8, 0.15)] {
        let (to, target) = cut_off(&from, done).await;
        let (reads_before, commits_before) = (read(), target.calls(Call::Commit));
        copy_account(&from, &to).await.unwrap();
        let (reads, commits) = (read() - reads_before, target.calls(Call::Commit) - commits_before);
        let (reads, commits) = (reads.saturating_sub(always) as f64, commits as f64);
        assert!(reads < left_max * (all_reads - always) as f64, "after {done} commits: {reads} of {all_reads} reads");
        assert!(commits < left_max * all_commits as f64, "after {done} commits: {commits} of {all_commits}");
        assert!(export(&to, ACCOUNT).await == export(&from, ACCOUNT).await, "the text differs");
    }
}

#[tokio::test]
async fn progress_is_told_inside_contents() {
    let (from, to) = (Store::in_memory(), Store::in_memory());
    let blobs = blob_model::service_with_container(&from, manual_clock()).await;
    blob_model::put(&blobs, "large", &bytes(3_000_000, 1)).await.unwrap();
    blobs.close().await.unwrap();
    let told = std::sync::Mutex::new(Vec::new());
    let tell = |progress: Progress| told.lock().unwrap().push(progress.bytes);
    tablerock_services::transfer::copy_account(&from, &to, ACCOUNT, &TERMS, &tell).await.unwrap();
    let told = told.into_inner().unwrap();
    assert!(told.windows(2).filter(|pair| pair[0] < pair[1]).count() > 5, "{told:?}");
}

#[tokio::test]
async fn a_copy_goes_on_from_the_store_that_it_began_with_and_from_no_other() {
    let from = Store::in_memory();
    fill(&from).await;
    let (to, _) = cut_off(&from, 60).await;
    let refusal = |outcome: Result<Progress>| {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(needs_start_over(&error), "{error}");
        error.to_string()
    };
    let terms = CopyTerms { source: "another store", ..TERMS };
    let other = tablerock_services::transfer::copy_account(&from, &to, ACCOUNT, &terms, &|_| {}).await;
    assert!(refusal(other).contains("from the old store was begun there, and this one is from another store"));

    // Another store in the same place.
    let replaced = Store::in_memory();
    fill(&replaced).await;
    let tables = support::service_on(&replaced, manual_clock()).await;
    create(&tables, "One").await;
    tables.close().await.unwrap();
    assert!(refusal(copy_account(&replaced, &to).await).contains("was written to"));

    // Something is written that gives out no id.
    let tables = support::service_on(&from, manual_clock()).await;
    apply_one(&tables, upsert("p00", "r00000", -1)).await.unwrap();
    tables.close().await.unwrap();
    refusal(copy_account(&from, &to).await);

    assert!(forget_copy(&to, ACCOUNT).await.unwrap());
    assert!(!forget_copy(&to, ACCOUNT).await.unwrap());
    copy_account(&from, &to).await.unwrap();
    assert!(export(&to, ACCOUNT).await == export(&from, ACCOUNT).await, "the text differs");
}

/// All records of a store but for the system's own, which say what ids were given out.
async fn records(store: &Store) -> Vec<(Vec<u8>, Vec<u8>)> {
    let all = ScanLimits { records_max: usize::MAX, bytes_max: usize::MAX, deadline: None };
    let records = store.scan(&Range::partitions(b""), all).await.unwrap().records.into_iter();
    let records = records.map(|record| (record.partition.to_vec(), record.key.to_vec()));
    records.filter(|(partition, _)| *partition != tablerock_services::keys::system_partition()).collect()
}

#[tokio::test]
async fn a_copy_that_is_given_up_leaves_nothing_behind() {
    let from = Store::in_memory();
    fill(&from).await;
    for done in [20, 60, 100, usize::MAX] {
        let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
        let to = with_another_account(Store::new(engine.clone())).await;
        let before = records(&to).await;
        if done == usize::MAX {
            // All of it is there, and the note is not gone yet.
            let commits = engine.calls(Call::Commit);
            let scratch = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
            copy_account(&from, &with_another_account(Store::new(scratch.clone())).await).await.unwrap();
            let passing = scratch.calls(Call::Commit) - commits - 1;
            engine.script(Call::Commit, std::iter::repeat_n(Fault::Pass, passing));
        } else {
            engine.script(Call::Commit, std::iter::repeat_n(Fault::Pass, done));
        }
        engine.script(Call::Commit, [Fault::Fail(StoreError::unavailable("cut off"))]);
        copy_account(&from, &to).await.unwrap_err();
        assert!(records(&to).await.len() > before.len());
        assert!(forget_copy(&to, ACCOUNT).await.unwrap());
        assert_eq!(records(&to).await, before, "after {done} commits");
        assert_eq!(accounts_of(&to).await.unwrap(), ["other"]);
    }
}

#[tokio::test]
async fn what_came_into_being_meanwhile_is_not_written_over() {
    let from = Store::in_memory();
    fill(&from).await;
    for done in [60, 100] {
        let (to, engine) = cut_off(&from, done).await;
        let tables = support::service_on(&to, manual_clock()).await;
        apply_one(&tables, insert("theirs", "r", 1)).await.unwrap();
        let refused = copy_account(&from, &to).await.unwrap_err();
        assert!(refused.to_string().contains("delete them"), "{refused}");
        tables.query_entity(ACCOUNT, TABLE, "theirs", "r").await.expect("it is still there");
        tables.delete_table(ACCOUNT, TABLE).await.unwrap();
        tables.close().await.unwrap();
        drop(engine);
        copy_account(&from, &to).await.unwrap();
        assert!(export(&to, ACCOUNT).await == export(&from, ACCOUNT).await, "the text differs");
    }
}

#[tokio::test]
async fn an_account_that_is_there_is_not_written_over() {
    let (from, to) = (Store::in_memory(), Store::in_memory());
    fill(&from).await;
    support::service_on(&to, manual_clock()).await;
    let refused = copy_account(&from, &to).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid, "{refused}");
}
