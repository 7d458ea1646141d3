//! Group transactions: all or nothing, and an error that names its operation.

use std::sync::Arc;

use crate::support::*;
use tablerock_protocol::{ErrorCode, EtagCondition};
use tablerock_services::table::{Change, EntityGroup, Outcome};

#[tokio::test]
async fn a_failing_operation_at_any_index_changes_nothing_and_names_its_index() {
    let service = service().await;
    apply_one(&service, insert("p", "taken", 0)).await.unwrap();
    for failing in 0..100 {
        let operations = (0..100).map(|index| match index == failing {
            true => insert("p", "taken", 1),
            false => insert("p", &format!("{index:03}"), 1),
        });
        let error = apply(&service, operations.collect()).await.unwrap_err().into_service_error();
        assert_eq!((error.code, error.index), (ErrorCode::EntityAlreadyExists, Some(failing)));
        assert_eq!(row_keys(&query(&service, "", None).await), ["taken"]);
    }
}

#[tokio::test]
async fn entities_of_a_group_share_a_timestamp_later_than_any_they_had() {
    let service = service().await;
    let Outcome::Written(before) = apply_one(&service, insert("p", "a", 0)).await.unwrap() else { panic!() };
    let outcomes = apply(&service, vec![upsert("p", "a", 1), insert("p", "b", 1)]).await.unwrap();
    let [Outcome::Written(a), Outcome::Written(b)] = outcomes[..] else { panic!("{outcomes:?}") };
    assert_eq!(a, b);
    assert!(a > before);
}

#[tokio::test]
async fn the_rules_of_a_group_are_checked_before_anything_happens() {
    let service = service().await;
    let mut other_table = insert("p", "b", 0);
    other_table.table = "Others".to_owned();
    let cases = [
        (vec![insert("p", "a", 0), insert("q", "b", 0)], ErrorCode::CommandsInBatchActOnDifferentPartitions, Some(1)),
        (vec![insert("p", "a", 0), other_table], ErrorCode::CommandsInBatchActOnDifferentPartitions, Some(1)),
        (vec![insert("p", "a", 0), insert("p", "b", 0), delete("p", "a")], ErrorCode::InvalidDuplicateRow, Some(2)),
        ((0..101).map(|n| insert("p", &n.to_string(), 0)).collect(), ErrorCode::InvalidInput, Some(99)),
        (vec![], ErrorCode::InvalidInput, None),
    ];
    for (operations, code, index) in cases {
        let error = EntityGroup::new(operations).unwrap_err();
        assert_eq!((error.code, error.index), (code, index));
    }
    assert!(query(&service, "", None).await.entities.is_empty());
}

#[tokio::test]
async fn conditions_look_at_existence_before_the_version() {
    let service = service().await;
    let foreign = Some(EtagCondition::Foreign);
    let replace = |row: &str| operation("p", row, Change::Replace { properties: number(1), condition: foreign });
    assert_eq!(code(apply_one(&service, replace("gone")).await), ErrorCode::ResourceNotFound);
    apply_one(&service, insert("p", "there", 0)).await.unwrap();
    assert_eq!(code(apply_one(&service, replace("there")).await), ErrorCode::UpdateConditionNotSatisfied);
    assert_eq!(code(apply_one(&service, delete("p", "gone")).await), ErrorCode::ResourceNotFound);
}

#[tokio::test]
async fn groups_on_the_same_entities_delay_each_other_and_never_break() {
    let service = Arc::new(service().await);
    let rows = ["a", "b", "c"];
    apply(&service, rows.iter().map(|row| insert("p", row, 0)).collect()).await.unwrap();
    let writers = (1..=32).map(|writer| {
        let service = service.clone();
        tokio::spawn(async move {
            for round in 0..20 {
                let n = writer * 1000 + round;
                apply(&service, rows.iter().map(|row| upsert("p", row, n)).collect()).await.unwrap();
                let page = query(&service, &format!("n eq {n}"), None).await;
                assert!(page.entities.is_empty() || page.entities.len() == rows.len(), "half of a group was seen");
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let timestamps: Vec<_> =
        query(&service, "", None).await.entities.iter().map(|found| found.entity.timestamp()).collect();
    assert!(timestamps.iter().all(|timestamp| *timestamp == timestamps[0]), "the last group was not whole");
}
