//! Data series of all periods.

use tablerock_client::{DateTime, Error, TryStreamExt as _};
use tablerock_patterns::{Period, Series};

use crate::support::Account;

#[tokio::test]
async fn a_series_has_the_parts_of_its_period_and_any_type_of_value() {
    let account = Account::open().await;
    let time = |text: &str| DateTime::parse(text).unwrap();
    for (period, parts, part) in
        [(Period::Hour, 60, 30), (Period::Day, 24, 8), (Period::Month, 31, 15), (Period::Year, 12, 10)]
    {
        let series = Series::<String>::new(account.table().await, period);
        series.record("s", time("2026-11-16T08:30:00Z"), "a".to_owned()).await.unwrap();
        series.record("s", time("2025-01-01T00:00:00Z"), "b".to_owned()).await.unwrap();
        let values = series.values("s", time("2026-11-16T08:30:59Z")).await.unwrap();
        assert_eq!((values.len(), values[part].as_deref()), (parts, Some("a")), "{period:?}");
        let all = series.range("s", time("2024-01-01T00:00:00Z")..time("2027-01-01T00:00:00Z"));
        let all: Vec<_> = all.try_collect().await.unwrap();
        assert_eq!((all.len(), all[0].start), (2, time("2025-01-01T00:00:00Z")), "{period:?}");
        let error = Series::<i64>::new(series.table().clone(), period).values("s", time("2025-01-01T00:00:00Z")).await;
        assert!(matches!(error, Err(Error::Entity(error)) if error.property().is_some()));
    }
}
