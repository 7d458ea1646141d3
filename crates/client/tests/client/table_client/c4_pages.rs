//! Streams that follow continuation tokens, segments with tokens that can be stored, and page sizes.

use tablerock_client::{ContinuationToken, Entity, ErrorCode, TableClient, TableOperation, TryStreamExt as _};

use crate::support::{self, Account};

const ENTITIES: usize = 2_345;

async fn filled(account: &Account) -> TableClient {
    let table = account.table().await;
    let entities = (0..ENTITIES).map(|number| Entity::new(format!("p{}", number % 3), format!("{number:05}")));
    let writes: Vec<TableOperation> = entities.map(|entity| TableOperation::insert(&entity)).collect();
    table.bulk(writes).await.into_result().unwrap();
    table
}

fn keys(entities: &[Entity]) -> Vec<(String, String)> {
    entities.iter().map(|entity| (entity.partition_key.clone(), entity.row_key.clone())).collect()
}

#[tokio::test]
async fn a_stream_follows_every_page_in_order() {
    let account = Account::open().await;
    let table = filled(&account).await;
    let all: Vec<Entity> = table.query().stream().try_collect().await.unwrap();
    let keys = keys(&all);
    assert_eq!(keys.len(), ENTITIES);
    assert!(keys.is_sorted());
    let some: Vec<Entity> = table.query().page_size(100).limit(250).stream().try_collect().await.unwrap();
    assert_eq!(some, all[..250]);
    let pages: Vec<_> = table.query::<Entity>().page_size(1000).limit(1_500).pages().try_collect().await.unwrap();
    assert_eq!(pages.iter().map(|page| page.items.len()).sum::<usize>(), 1_500);
    assert!(pages.len() >= 2);
}

#[tokio::test]
async fn a_stored_token_goes_on_where_it_stopped() {
    let account = Account::open().await;
    let table = filled(&account).await;
    let expected: Vec<Entity> = table.query().partition("p1").all().await.unwrap();
    let mut collected = Vec::new();
    let mut stored: Option<String> = None;
    loop {
        // Everything is new but the text: a client after a restart.
        let table = account.tables().table(table.name());
        let token: Option<ContinuationToken> = stored.take().map(|text| text.parse().unwrap());
        let page = table.query::<Entity>().partition("p1").page_size(100).page(token.as_ref()).await.unwrap();
        assert!(page.items.len() <= 100);
        collected.extend(page.items);
        match page.continuation_token {
            Some(next) => stored = Some(next.to_string()),
            None => break,
        }
    }
    assert_eq!(collected, expected);
}

#[tokio::test]
async fn keys_that_are_hard_to_write_survive_in_a_token() {
    let account = Account::open().await;
    let table = account.table().await;
    let rows = ["", " ", "'", "+", "é", "日", "\u{1f600}"];
    for row in rows {
        table.insert(&Entity::new("a&b=é", row)).await.unwrap();
    }
    let pages: Vec<_> = table.query::<Entity>().page_size(1).pages().try_collect().await.unwrap();
    let found: Vec<_> = pages.into_iter().flat_map(|page| page.items).map(|entity| entity.row_key).collect();
    assert_eq!(found.len(), rows.len());
    assert!(rows.iter().all(|row| found.iter().any(|found| found == row)));
}

#[tokio::test]
async fn an_error_ends_the_stream() {
    let account = Account::open().await;
    let nowhere = account.tables().table(support::unique_name());
    let mut stream = nowhere.query::<Entity>().stream();
    let error = stream.try_next().await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::TableNotFound));
    assert!(stream.try_next().await.unwrap().is_none());
    let wrong: ContinuationToken = "bm90IGEgdG9rZW4".parse().unwrap();
    let table = account.table().await;
    let refused = table.query::<Entity>().page(Some(&wrong)).await;
    assert!(refused.is_err_and(|error| error.status() == Some(400)));
}
