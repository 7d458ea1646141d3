//! A list in an entity, as long as it can be.

use tablerock_patterns::{EntityList, IndexList, ListStore as _};

use crate::support::Account;

#[tokio::test]
async fn a_list_in_an_entity_outgrows_a_property_and_ends_with_a_clear_error() {
    let account = Account::open().await;
    let list = EntityList::new(account.table().await, "p", "r");
    let ids = |count: usize| (0..count).map(|id| format!("{id:06}")).collect::<Vec<_>>();
    list.write(&ids(40_000), None).await.unwrap().unwrap();
    let lists = IndexList::new(list.clone());
    assert_eq!(lists.ids().await.unwrap(), ids(40_000));
    assert!(lists.add("x").await.unwrap() && lists.remove("000007").await.unwrap());
    assert_eq!(lists.ids().await.unwrap().len(), 40_000);
    let (_, etag) = list.read().await.unwrap().unwrap();
    let error = list.write(&ids(60_000), Some(&etag)).await.unwrap_err().to_string();
    assert!(error.contains("60000 ids") && error.contains("BlobList"), "{error}");
}
