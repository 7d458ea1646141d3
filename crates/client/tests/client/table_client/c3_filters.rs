//! A typed query builder over keys and properties, for all eight types, that nothing can be injected into.

use tablerock_client::{
    DateTime, Entity, Filter, TableClient, TableEntity, Uuid, Value, column, partition_key, row_key, timestamp,
};

use crate::support::Account;

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Sample {
    #[entity(partition_key)]
    group: String,
    #[entity(row_key)]
    row: String,
    text: String,
    small: i32,
    large: i64,
    real: f64,
    truth: bool,
    moment: DateTime,
    id: Uuid,
    bytes: Vec<u8>,
    maybe: Option<i32>,
}

fn sample(number: i32) -> Sample {
    Sample {
        group: if number < 5 { "low" } else { "high" }.into(),
        row: format!("{number:03}"),
        text: format!("it's {number}"),
        small: number,
        large: 5_000_000_000 + i64::from(number),
        real: f64::from(number) / 2.0,
        truth: number % 2 == 0,
        moment: DateTime::from_ticks(638_000_000_000_000_000 + number as u64),
        id: Uuid::from_u128(number as u128),
        bytes: vec![0, number as u8],
        maybe: (number >= 8).then_some(number),
    }
}

async fn samples(account: &Account) -> TableClient {
    let table = account.table().await;
    for number in 0..10 {
        table.insert(&sample(number)).await.unwrap();
    }
    table
}

/// The numbers of the samples that a filter finds, in the order of the numbers.
async fn found(table: &TableClient, filter: Filter) -> Vec<i32> {
    let mut found: Vec<i32> =
        table.query::<Sample>().filter(filter).all().await.unwrap().iter().map(|sample| sample.small).collect();
    found.sort_unstable();
    found
}

#[tokio::test]
async fn all_eight_types_compare_by_their_own_columns() {
    let account = Account::open().await;
    let table = samples(&account).await;
    let seven = sample(7);
    for (filter, expected) in [
        (Sample::text().eq(&seven.text), vec![7]),
        (Sample::text().lt("it's 2"), vec![0, 1]),
        (Sample::small().ge(8), vec![8, 9]),
        (Sample::small().ne(0), (1..10).collect()),
        (Sample::large().le(5_000_000_001_i64), vec![0, 1]),
        (Sample::large().eq(seven.large), vec![7]),
        (Sample::real().gt(3.5), vec![8, 9]),
        (Sample::real().eq(3.5), vec![7]),
        (Sample::truth().eq(true), vec![0, 2, 4, 6, 8]),
        (Sample::moment().eq(seven.moment), vec![7]),
        (Sample::moment().lt(seven.moment), (0..7).collect()),
        (Sample::id().eq(seven.id), vec![7]),
        (Sample::bytes().eq(&seven.bytes[..]), vec![7]),
        (Sample::maybe().gt(0), vec![8, 9]),
        (Sample::small().in_range(3..5), vec![3, 4]),
        (Sample::small().one_of([1, 9]), vec![1, 9]),
    ] {
        assert_eq!(found(&table, filter.clone()).await, expected, "{filter}");
    }
}

#[tokio::test]
async fn and_or_not_combine_as_written() {
    let account = Account::open().await;
    let table = samples(&account).await;
    let (small, even) = (Sample::small().lt(4), Sample::truth().eq(true));
    for (filter, expected) in [
        (small.clone().and(even.clone()), vec![0, 2]),
        (small.clone().or(even.clone()), vec![0, 1, 2, 3, 4, 6, 8]),
        (!small.clone(), (4..10).collect()),
        ((!small.clone()).and(!even.clone()), vec![5, 7, 9]),
        (small.clone().or(Sample::small().eq(9)).and(!even.clone()), vec![1, 3, 9]),
        (small.and(even).or(Sample::small().eq(7)), vec![0, 2, 7]),
        // A property that is not there is not unequal, yet it is not equal either.
        (Sample::maybe().ne(8), vec![9]),
        (!Sample::maybe().eq(8), vec![0, 1, 2, 3, 4, 5, 6, 7, 9]),
        (Filter::any([]), vec![]),
        (Filter::all([]), (0..10).collect()),
    ] {
        assert_eq!(found(&table, filter.clone()).await, expected, "{filter}");
    }
}

#[tokio::test]
async fn keys_have_words_of_their_own() {
    let account = Account::open().await;
    let table = samples(&account).await;
    let rows = |entities: Vec<Entity>| entities.into_iter().map(|entity| entity.row_key).collect::<Vec<_>>();
    let query = || table.query::<Entity>();
    assert_eq!(rows(query().partition("high").row("007").all().await.unwrap()), ["007"]);
    assert_eq!(rows(query().partition("low").row_range("001".."003").all().await.unwrap()), ["001", "002"]);
    assert_eq!(rows(query().partition_prefix("hi").limit(2).all().await.unwrap()), ["005", "006"]);
    assert_eq!(rows(query().partition_range("a".."i").row_prefix("008").all().await.unwrap()), ["008"]);
    let any = partition_key().eq("low").and(row_key().one_of(["000", "004", "009"]));
    assert_eq!(rows(query().filter(any).all().await.unwrap()), ["000", "004"]);
    assert_eq!(query().filter(timestamp().gt(DateTime::MIN_STORED)).all().await.unwrap().len(), 10);
    assert!(query().partition("none").first().await.unwrap().is_none());
}

#[tokio::test]
async fn prefixes_end_where_the_service_sorts() {
    let account = Account::open().await;
    let table = account.table().await;
    let inside = ["ab", "ab\u{1f600}", "ab\u{ffee}", "abc"];
    for row in ["a", "aa~", "ac", "b"].iter().chain(&inside) {
        table.insert(&Entity::new("p", *row)).await.unwrap();
    }
    let found = table.query::<Entity>().partition("p").row_prefix("ab").all().await.unwrap();
    let mut rows: Vec<_> = found.iter().map(|entity| entity.row_key.as_str()).collect();
    rows.sort_unstable();
    let mut expected = inside;
    expected.sort_unstable();
    assert_eq!(rows, expected);
}

#[tokio::test]
async fn nothing_in_a_value_or_a_name_can_change_the_filter() {
    let account = Account::open().await;
    let table = samples(&account).await;
    for hostile in ["' or Small ge 0 or '' eq '", "''", "'", "%27 or 1 eq 1", "\\' or true", "&$top=1", "+", "#"] {
        assert!(found(&table, Sample::text().eq(hostile)).await.is_empty(), "{hostile}");
        table.insert(&Entity::new("hostile", "x").with("Text", hostile)).await.unwrap();
        let again = table.query::<Entity>().filter(Sample::text().eq(hostile)).all().await.unwrap();
        assert_eq!(again[0].get("Text"), Some(&Value::from(hostile)));
        table.delete(&again[0]).await.unwrap();
    }
    let error = table.query::<Entity>().filter(column("Small ge 0 or Small").eq(1)).all().await.unwrap_err();
    assert!(matches!(error, tablerock_client::Error::Invalid(_)), "{error}");
}

#[tokio::test]
async fn columns_without_a_type_take_any_value() {
    let account = Account::open().await;
    let table = samples(&account).await;
    assert_eq!(found(&table, column("Small").lt(2)).await, [0, 1]);
    assert_eq!(found(&table, column("Large").eq(5_000_000_003_i64)).await, [3]);
    assert_eq!(found(&table, column("Id").eq(Uuid::from_u128(4))).await, [4]);
    assert_eq!(found(&table, column("Text").eq("it's 6".to_owned())).await, [6]);
}
