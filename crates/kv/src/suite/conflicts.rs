//! A commit whose expectations do not hold changes nothing.

use super::Harness;
use super::steps::{bytes, get, put, puts, swap};
use crate::{Commit, ErrorKind, Result};

fn assert_conflict(outcome: Result<()>) {
    assert_eq!(outcome.expect_err("the expectation does not hold").kind(), ErrorKind::Conflict);
}

pub async fn a_changed_value_refuses_the_whole_commit(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    put(&*engine, "p", "k", "1").await;
    swap(&*engine, ["p", "k"], Some("1"), "2").await.expect("the value is as expected");
    assert_conflict(swap(&*engine, ["p", "k"], Some("1"), "3").await);
    assert_conflict(swap(&*engine, ["p", "k"], None, "3").await);

    let mut commit = puts("p", &[("other", "written")]);
    commit.expected = vec![(bytes("k"), Some(bytes("2"))), (bytes("another"), Some(bytes("x")))];
    assert_conflict(engine.commit(commit).await);
    assert_eq!(get(&*engine, "p", "other").await, None);
    assert_eq!(get(&*engine, "p", "k").await, Some(bytes("2")));
}

pub async fn an_absent_record_can_be_expected(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    assert_conflict(swap(&*engine, ["p", "k"], Some("1"), "2").await);
    swap(&*engine, ["p", "k"], None, "1").await.expect("the record is absent");
    assert_conflict(swap(&*engine, ["p", "k"], None, "2").await);

    let delete = Commit { partition: bytes("p"), expected: vec![], writes: vec![(bytes("k"), None)] };
    engine.commit(delete).await.expect("a delete succeeds");
    swap(&*engine, ["p", "k"], None, "3").await.expect("the record is absent again");
    assert_eq!(get(&*engine, "p", "k").await, Some(bytes("3")));
}

pub async fn expectations_alone_are_checked(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    put(&*engine, "p", "k", "1").await;
    let expect = |value: Option<&str>| Commit {
        partition: bytes("p"),
        expected: vec![(bytes("k"), value.map(bytes)), (bytes("absent"), None)],
        writes: vec![],
    };
    engine.commit(expect(Some("1"))).await.expect("all is as expected");
    assert_conflict(engine.commit(expect(Some("2"))).await);
    assert_conflict(engine.commit(expect(None)).await);
    engine.commit(Commit::default()).await.expect("nothing is expected");
}

pub async fn only_one_of_many_inserts_of_a_record_succeeds(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    for round in 0..20 {
        let key = format!("{round}");
        let inserts: Vec<_> = (0..16)
            .map(|writer| {
                let (engine, key) = (engine.clone(), key.clone());
                tokio::spawn(async move {
                    let outcome = swap(&*engine, ["p", &key], None, &format!("{writer}")).await;
                    outcome.is_ok().then_some(writer)
                })
            })
            .collect();
        let mut winners = vec![];
        for insert in inserts {
            winners.extend(insert.await.expect("an insert ends"));
        }
        assert_eq!(winners.len(), 1, "writers {winners:?} all inserted the record");
        assert_eq!(get(&*engine, "p", &key).await, Some(bytes(format!("{}", winners[0]))));
    }
}

pub async fn the_same_key_in_another_partition_is_another_record(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    put(&*engine, "p", "k", "1").await;
    swap(&*engine, ["q", "k"], None, "2").await.expect("the record of the other partition does not count");
    assert_eq!(get(&*engine, "p", "k").await, Some(bytes("1")));
    assert_eq!(get(&*engine, "q", "k").await, Some(bytes("2")));
}
