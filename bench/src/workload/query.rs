//! Queries with a filter, followed through their continuations until the service says that there is no more.

use memchr::memmem;

use super::{Client, Step, Workload, expect_status};
use crate::Result;
use crate::data::dataset::Dataset;
use crate::data::entity::{NUMBER_FIRST, append_partition_key, append_row_key};
use crate::http::answer::Answer;
use crate::http::caller::{Call, Caller, Credential};

/// The entities that a query looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All entities of one partition.
    Partition,
    /// So many neighbours within the one partition of the table.
    RowRange(u64),
    /// The one entity with a property of some value, by looking at all of them.
    ByNumber,
}

#[derive(Debug)]
pub struct Query {
    pub port: u16,
    pub dataset: Dataset,
    pub wanted: Wanted,
}

struct Asker {
    caller: Caller,
    dataset: Dataset,
    wanted: Wanted,
    random: fastrand::Rng,
    resource: String,
    filter: String,
    /// The query of the page that follows, if one does.
    page: Option<String>,
    found: u64,
}

impl Wanted {
    fn count(self, dataset: &Dataset) -> u64 {
        match self {
            Wanted::Partition => dataset.partition_size,
            Wanted::RowRange(count) => count,
            Wanted::ByNumber => 1,
        }
    }
}

impl Workload for Query {
    fn client(&self, seed: u64) -> Result<Box<dyn Client>> {
        Ok(Box::new(Asker {
            caller: Caller::new(self.port, self.dataset.table, Credential::SharedKey)?,
            dataset: self.dataset,
            wanted: self.wanted,
            random: fastrand::Rng::with_seed(seed),
            resource: format!("/{}()", self.dataset.table),
            filter: String::new(),
            page: None,
            found: 0,
        }))
    }
}

impl Asker {
    fn choose(&mut self) {
        self.found = 0;
        let key = |append: fn(&mut Vec<u8>, u64), number| {
            let mut out = Vec::new();
            append(&mut out, number);
            String::from_utf8(out).expect("keys are ASCII")
        };
        self.filter = match self.wanted {
            Wanted::Partition => {
                let partition = key(append_partition_key, self.random.u64(..self.dataset.partitions()));
                format!("$filter=PartitionKey%20eq%20%27{partition}%27")
            }
            Wanted::RowRange(count) => {
                let from = self.random.u64(..self.dataset.partition_size - count);
                let (partition, first) = (key(append_partition_key, 0), key(append_row_key, from));
                let end = key(append_row_key, from + count);
                format!(
                    "$filter=PartitionKey%20eq%20%27{partition}%27%20and%20RowKey%20ge%20%27{first}%27\
                     %20and%20RowKey%20lt%20%27{end}%27"
                )
            }
            Wanted::ByNumber => {
                format!("$filter=Number%20eq%20{}", NUMBER_FIRST + self.random.u64(..self.dataset.entities))
            }
        };
    }
}

impl Client for Asker {
    fn next(&mut self, out: &mut Vec<u8>) -> bool {
        let page = self.page.take();
        if page.is_none() {
            self.choose();
        }
        let query = page.as_deref().unwrap_or(&self.filter);
        self.caller.write(&Call::get(&self.resource, query), out);
        true
    }

    fn check(&mut self, answer: &Answer<'_>) -> Result<Step> {
        expect_status(answer, 200)?;
        self.found += memmem::find_iter(answer.body, b"\"RowKey\":").count() as u64;
        if let Some(partition) = answer.header("x-ms-continuation-nextpartitionkey") {
            let row = answer.header("x-ms-continuation-nextrowkey").unwrap_or_default();
            self.page = Some(format!("{}&NextPartitionKey={partition}&NextRowKey={row}", self.filter));
            return Ok(Step::Continue);
        }
        match self.wanted.count(&self.dataset) {
            wanted if wanted == self.found => Ok(Step::Done),
            wanted => Err(format!("{wanted} entities expected, but {} came\n{}", self.found, answer.text())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";
    const CONTINUED: &[u8] = b"HTTP/1.1 200 OK\r\nx-ms-continuation-NextPartitionKey: 1!p\r\n\
        x-ms-continuation-NextRowKey: 1!r\r\n\r\n";

    fn client(wanted: Wanted) -> Box<dyn Client> {
        let dataset = Dataset { table: "People", entities: 100, partition_size: 100 };
        Query { port: 1, dataset, wanted }.client(7).unwrap()
    }

    fn requested(client: &mut dyn Client) -> String {
        let mut out = Vec::new();
        assert!(client.next(&mut out));
        String::from_utf8(out).unwrap()
    }

    fn answer<'a>(head: &'a [u8], body: &'a [u8]) -> Answer<'a> {
        Answer { status: 200, head, body, body_bytes: body.len() }
    }

    fn rows(count: usize) -> Vec<u8> {
        b"{\"RowKey\":\"r\"}".repeat(count)
    }

    #[test]
    fn pages_are_followed_and_their_entities_counted_together() {
        let mut client = client(Wanted::RowRange(10));
        let first = requested(client.as_mut());
        assert_eq!(client.check(&answer(CONTINUED, &rows(4))).unwrap(), Step::Continue);
        let second = requested(client.as_mut());
        let filter = first.split("$filter=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        assert!(
            second.contains(&format!("?$filter={filter}&NextPartitionKey=1!p&NextRowKey=1!r HTTP/1.1")),
            "{second}"
        );
        assert_eq!(client.check(&answer(LAST, &rows(6))).unwrap(), Step::Done);
    }

    #[test]
    fn a_wrong_number_of_entities_is_an_error() {
        let mut client = client(Wanted::ByNumber);
        assert!(requested(client.as_mut()).contains("?$filter=Number%20eq%2010000000"));
        assert!(client.check(&answer(LAST, &rows(0))).is_err());
    }
}
