//! Many points at once, whether an entity is there, and keys that are not strings.

use tablerock_client::{ClientOptions, Entity, EntityKey, Error, TableEntity, Uuid};

use crate::support::{Account, Script, unique_name};

#[tokio::test]
async fn many_points_come_in_the_order_of_their_keys_in_few_requests() {
    let account = Account::open().await;
    let script = Script::new([]);
    let table = account.tables_with(ClientOptions::new().transport(script.clone())).table(unique_name());
    table.create().await.unwrap();
    let rows: Vec<String> = (0..30).map(|row| format!("{row:02}' é")).collect();
    for partition in ["p", "q"] {
        let entities: Vec<Entity> = rows.iter().map(|row| Entity::new(partition, row).with("Row", row)).collect();
        let group = entities.iter().fold(table.transaction(), |group, entity| group.insert(entity));
        group.commit().await.unwrap();
    }
    let sent = script.requests().len();
    let mut keys: Vec<(&str, &str)> = rows.iter().rev().map(|row| ("p", row.as_str())).collect();
    keys.extend([("q", "none"), ("q", &rows[3]), ("none", "none"), ("p", &rows[0])]);
    let found: Vec<Option<Entity>> = table.get_many(keys).concurrency(2).await.unwrap();
    assert_eq!(script.requests().len() - sent, 5);
    let found: Vec<Option<&str>> =
        found.iter().map(|found| found.as_ref().map(|found| found.row_key.as_str())).collect();
    let mut wanted: Vec<Option<&str>> = rows.iter().rev().map(|row| Some(row.as_str())).collect();
    wanted.extend([None, Some(rows[3].as_str()), None, Some(rows[0].as_str())]);
    assert_eq!(found, wanted);
    assert!(table.get_many::<Entity>([("", ""); 0]).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_is_there_is_known_without_reading_it() {
    let account = Account::open().await;
    let table = account.table().await;
    table.insert(&Entity::new("p", "r").with("A", 1)).await.unwrap();
    assert!(table.exists("p", "r").await.unwrap());
    assert!(!table.exists("p", "s").await.unwrap());
    assert!(table.table_exists().await.unwrap());
    let nowhere = account.tables().table(unique_name());
    assert!(!nowhere.table_exists().await.unwrap());
    assert!(nowhere.exists("p", "r").await.is_err_and(|error| error.is_not_found()));
}

#[tokio::test]
async fn entities_are_counted_over_pages() {
    let account = Account::open().await;
    let table = account.table().await;
    let rows = (0..25).map(|row| Entity::new("p", format!("{row:02}")).with("Even", row % 2 == 0));
    table.bulk(rows.map(|row| tablerock_client::TableOperation::insert(&row))).await.into_result().unwrap();
    let query = || table.query::<Entity>().partition("p").page_size(10);
    assert_eq!(query().count().await.unwrap(), 25);
    assert_eq!(query().limit(12).count().await.unwrap(), 12);
    assert_eq!(query().filter(tablerock_client::column("Even").eq(true)).count().await.unwrap(), 13);
}

#[derive(EntityKey, Debug, Clone, Copy, PartialEq)]
#[entity(rename_all = "kebab-case")]
enum Region {
    NorthSea,
    Baltic,
}

#[derive(EntityKey, Debug, Clone, Copy, PartialEq)]
struct ShipId(Uuid);

#[derive(TableEntity, Debug, PartialEq)]
struct Ship {
    #[entity(partition_key)]
    region: Region,
    #[entity(row_key)]
    id: ShipId,
    name: String,
}

#[tokio::test]
async fn keys_have_the_types_of_the_fields() {
    let account = Account::open().await;
    let table = account.table().await;
    let id = ShipId(Uuid::from_u128(7));
    let ship = Ship { region: Region::NorthSea, id, name: "Anna".to_owned() };
    table.insert(&ship).await.unwrap();
    assert_eq!(table.get::<Ship>(Region::NorthSea, id).await.unwrap(), ship);
    assert_eq!(table.get::<Ship>(ship.region, ship.id.0).await.unwrap(), ship);
    assert_eq!(table.get_if_exists::<Ship>(Region::Baltic, &id).await.unwrap(), None);
    assert!(table.exists("north-sea".to_owned(), id).await.unwrap());
    let query = table.query::<Ship>().partition(Region::NorthSea).row(id);
    assert_eq!(query.all().await.unwrap(), [ship]);
    table.insert(&Entity::new("atlantic", id.0.to_string()).with("name", "Bea")).await.unwrap();
    let Err(Error::Entity(error)) = table.get::<Ship>("atlantic", id).await else { panic!("atlantic is not a region") };
    assert!(error.to_string().contains("is not one of north-sea, baltic: \"atlantic\""), "{error}");
}
