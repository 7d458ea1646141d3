//! Many point reads in few requests.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tablerock_protocol::{Filter, compare_utf16};

use super::TableClient;
use super::projection::Projection;
use super::resolver::{Typed, resolve};
use crate::entity::AsKey;
use crate::request::{Exchange, Operation};
use crate::{Entity, FromEntity, Request, Result, partition_key, row_key};

/// The service accepts 15 comparisons in a filter: three for the partition and the range of rows, one for each row.
const ROWS_MAX: usize = 12;

/// The bytes of the keys of one request, which become up to nine times as many in its address.
const KEY_BYTES_MAX: usize = 2048;

/// The default number of concurrent requests.
const CONCURRENCY_DEFAULT: usize = 8;

/// Many point reads, which are sent as few requests when they are awaited.
pub struct GetMany<T> {
    table: TableClient,
    keys: Vec<Key>,
    concurrency: usize,
    entity: PhantomData<fn() -> T>,
}

/// PartitionKey and RowKey.
type Key = (String, String);

impl TableClient {
    /// Reads many entities by their keys. Returns them in the order of the keys, with `None` for those that do not exist.
    ///
    /// Up to twelve keys of one partition are one request, whose filter is their range and an `or` of the keys. The
    /// service scans that range. If the keys are few and far apart in a large partition, [`get`](Self::get) for each of
    /// them is faster.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::Entity;
    /// let keys = [("Sales", "00002"), ("Sales", "99999"), ("Sales", "00001")];
    /// let found: Vec<Option<Entity>> = people.get_many(keys).await?;
    /// # assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "batch_get")]
    #[doc(alias = "multi_get")]
    pub fn get_many<T: FromEntity>(
        &self,
        keys: impl IntoIterator<Item = (impl AsKey, impl AsKey)>,
    ) -> Request<Vec<Option<T>>, GetMany<T>> {
        let own = |(partition_key, row_key): (_, _)| (own(partition_key), own(row_key));
        let keys = keys.into_iter().map(own).collect();
        Request::new(GetMany { table: self.clone(), keys, concurrency: CONCURRENCY_DEFAULT, entity: PhantomData })
    }
}

fn own(key: impl AsKey) -> String {
    key.as_key().into_owned()
}

impl<T: FromEntity> Request<Vec<Option<T>>, GetMany<T>> {
    /// Sets the number of concurrent requests; 8 by default.
    #[doc(alias = "parallel")]
    #[doc(alias = "parallelism")]
    pub fn concurrency(mut self, requests: usize) -> Self {
        self.kind.concurrency = requests.max(1);
        self
    }
}

impl<T: FromEntity> Operation<Vec<Option<T>>> for GetMany<T> {
    async fn perform(self, exchange: &mut Exchange) -> Result<Vec<Option<T>>> {
        let Self { table, keys, concurrency, .. } = self;
        let filters: Vec<Filter> = groups(&keys).iter().map(|group| filter(group)).collect();
        let group = exchange.another();
        let read = stream::iter(filters).map(|filter| read::<T>(&table, filter, group.another()));
        let read: Vec<(Vec<Entity>, Exchange)> = read.buffer_unordered(concurrency).try_collect().await?;
        let mut places: HashMap<&Key, Vec<usize>> = HashMap::with_capacity(keys.len());
        for (place, key) in keys.iter().enumerate() {
            places.entry(key).or_default().push(place);
        }
        let mut found: Vec<Option<T>> = keys.iter().map(|_| None).collect();
        let (read, sent): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        exchange.head = sent.into_iter().next_back().and_then(|sent| sent.head);
        for entity in read.into_iter().flatten() {
            let key = (entity.partition_key.clone(), entity.row_key.clone());
            for &place in places.get(&key).into_iter().flatten() {
                found[place] = Some(resolve(&Typed::NEW, entity.clone())?);
            }
        }
        Ok(found)
    }
}

impl<T> fmt::Debug for GetMany<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, keys, concurrency, .. } = self;
        let mut shown = f.debug_struct("GetMany");
        shown.field("table", &table.name()).field("keys", &keys.len()).field("concurrency", concurrency).finish()
    }
}

async fn read<T: FromEntity>(
    table: &TableClient,
    filter: Filter,
    mut exchange: Exchange,
) -> Result<(Vec<Entity>, Exchange)> {
    let mut query = table.query::<Entity>().filter(filter);
    query.projection = Projection::of_type(T::SELECT);
    let entities = query.all().kind.perform(&mut exchange).await?;
    Ok((entities, exchange))
}

/// Splits keys into groups of one partition with neighbouring rows, in the service's order.
fn groups(keys: &[Key]) -> Vec<Vec<&Key>> {
    let mut sorted: Vec<&Key> = keys.iter().collect();
    sorted.sort_by(|one, other| order(one, other));
    sorted.dedup();
    let mut groups: Vec<Vec<&Key>> = Vec::new();
    let mut bytes = 0;
    for key in sorted {
        let size = key.1.len();
        match groups.last_mut() {
            Some(group) if group[0].0 == key.0 && group.len() < ROWS_MAX && bytes + size <= KEY_BYTES_MAX => {
                group.push(key);
                bytes += size;
            }
            _ => {
                bytes = key.0.len() + size;
                groups.push(vec![key]);
            }
        }
    }
    groups
}

fn order(one: &Key, other: &Key) -> Ordering {
    compare_utf16(&one.0, &other.0).then_with(|| compare_utf16(&one.1, &other.1))
}

fn filter(group: &[&Key]) -> Filter {
    let rows = group.iter().map(|key| key.1.as_str());
    let partition = partition_key().eq(group[0].0.as_str());
    match group {
        [only] => partition.and(row_key().eq(only.1.as_str())),
        [first, .., last] => {
            partition.and(row_key().ge(first.1.as_str())).and(row_key().le(last.1.as_str())).and(row_key().one_of(rows))
        }
        [] => partition,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(keys: &[(&str, &str)]) -> Vec<Key> {
        keys.iter().map(|(partition, row)| ((*partition).to_owned(), (*row).to_owned())).collect()
    }

    #[test]
    fn neighbours_of_one_partition_are_one_request() {
        let keys = keys(&[("b", "2"), ("a", "9"), ("b", "1"), ("b", "2")]);
        let filters: Vec<String> = groups(&keys).iter().map(|group| filter(group).to_string()).collect();
        assert_eq!(
            filters,
            [
                "PartitionKey eq 'a' and RowKey eq '9'",
                "PartitionKey eq 'b' and RowKey ge '1' and RowKey le '2' and (RowKey eq '1' or RowKey eq '2')",
            ]
        );
    }

    #[test]
    fn a_request_has_at_most_fifteen_comparisons_and_a_bounded_length() {
        let many: Vec<Key> = (0..30).map(|row| ("p".to_owned(), format!("{row:02}"))).collect();
        assert_eq!(groups(&many).iter().map(Vec::len).collect::<Vec<_>>(), [12, 12, 6]);
        let long: Vec<Key> = (0..5).map(|row| ("p".to_owned(), row.to_string().repeat(1000))).collect();
        assert_eq!(groups(&long).iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
    }
}
