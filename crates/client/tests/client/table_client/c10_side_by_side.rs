//! Many requests side by side, over connections that are shared.

use tablerock_client::{Entity, StreamExt as _, TryStreamExt as _};

use crate::support::Account;

#[tokio::test(flavor = "multi_thread")]
async fn clones_work_side_by_side() {
    let account = Account::open().await;
    let table = account.table().await;
    let tasks: Vec<_> = (0..64)
        .map(|number| {
            let table = table.clone();
            tokio::spawn(async move {
                let row = number.to_string();
                table.insert(&Entity::new("p", &row).with("Number", number)).await?;
                table.get::<Entity>("p", &row).await
            })
        })
        .collect();
    for (number, task) in tasks.into_iter().enumerate() {
        let entity = task.await.unwrap().unwrap();
        assert_eq!(entity.property::<i32>("Number").unwrap(), number as i32);
    }
}

#[tokio::test]
async fn calls_are_futures_that_can_be_put_together() {
    let account = Account::open().await;
    let table = account.table().await;
    let (one, two) = tokio::join!(
        table.insert(&Entity::new("p", "1")).into_future(),
        table.insert(&Entity::new("p", "2")).into_future()
    );
    assert!(one.is_ok() && two.is_ok());
    let reads =
        futures_util::stream::iter(["1", "2"]).map(|row| table.get::<Entity>("p", row).into_future()).buffered(2);
    let read: Vec<Entity> = reads.try_collect().await.unwrap();
    assert_eq!(read.len(), 2);
}

#[tokio::test]
async fn an_increment_under_contention_loses_nothing() {
    let account = Account::open().await;
    let table = account.table().await;
    table.insert(&Entity::new("p", "counter").with("Count", 0_i64)).await.unwrap();
    let add_one = async || loop {
        let mut counter: Entity = table.get("p", "counter").await.unwrap();
        counter.set("Count", counter.property::<i64>("Count").unwrap() + 1);
        match table.replace(&counter).await {
            Ok(_) => return,
            Err(error) => assert!(error.is_precondition_failed(), "{error}"),
        }
    };
    futures_util::future::join_all((0..10).map(|_| add_one())).await;
    let counter: Entity = table.get("p", "counter").await.unwrap();
    assert_eq!(counter.property::<i64>("Count").unwrap(), 10);
}
