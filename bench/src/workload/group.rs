//! Group transactions of a hundred inserts, measured for their own sake and used to fill tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memmem;

use super::{Client, Step, Workload, expect_status};
use crate::Result;
use crate::data::dataset::Dataset;
use crate::data::entity::{Text, append_entity};
use crate::http::answer::Answer;
use crate::http::caller::{ACCOUNT, Call, Caller, Credential};

/// As many as the service allows.
const GROUP_ENTITIES: u64 = 100;

const CONTENT_TYPE: &str = "multipart/mixed; boundary=batch_1";
const BEGINNING: &[u8] = b"--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n";
const END: &[u8] = b"--changeset_1--\r\n--batch_1--\r\n";

#[derive(Debug)]
pub struct Group {
    port: u16,
    dataset: Dataset,
    text: Arc<Text>,
    next: Arc<AtomicU64>,
}

struct Sender {
    caller: Caller,
    dataset: Dataset,
    text: Arc<Text>,
    next: Arc<AtomicU64>,
    /// The lines before each entity.
    part: Vec<u8>,
    body: Vec<u8>,
}

impl Group {
    /// Groups until a table is full.
    pub fn filling(port: u16, dataset: Dataset) -> Self {
        Self { port, dataset, text: Arc::default(), next: Arc::default() }
    }

    /// Groups without end, each of which makes a partition of its own.
    pub fn endless(port: u16, table: &'static str) -> Self {
        Self::filling(port, Dataset { table, entities: u64::MAX, partition_size: GROUP_ENTITIES })
    }

    /// How many entities have been sent.
    pub fn sent(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.next)
    }
}

impl Workload for Group {
    fn client(&self, _seed: u64) -> Result<Box<dyn Client>> {
        let part = format!(
            "--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
             POST http://127.0.0.1:{}/{ACCOUNT}/{} HTTP/1.1\r\nAccept: application/json;odata=minimalmetadata\r\n\
             Content-Type: application/json\r\nPrefer: return-no-content\r\nDataServiceVersion: 3.0\r\n\r\n",
            self.port, self.dataset.table
        );
        Ok(Box::new(Sender {
            caller: Caller::new(self.port, self.dataset.table, Credential::SharedKey)?,
            dataset: self.dataset,
            text: Arc::clone(&self.text),
            next: Arc::clone(&self.next),
            part: part.into_bytes(),
            body: Vec::new(),
        }))
    }

    fn entities_per_request(&self) -> u64 {
        GROUP_ENTITIES
    }
}

impl Client for Sender {
    fn next(&mut self, out: &mut Vec<u8>) -> bool {
        let first = self.next.fetch_add(GROUP_ENTITIES, Ordering::Relaxed);
        if first >= self.dataset.entities {
            return false;
        }
        self.body.clear();
        self.body.extend_from_slice(BEGINNING);
        for number in first..first + GROUP_ENTITIES {
            self.body.extend_from_slice(&self.part);
            append_entity(&mut self.body, self.dataset.keys(number), number, &self.text);
            self.body.extend_from_slice(b"\r\n");
        }
        self.body.extend_from_slice(END);
        let (resource, content_type) = ("/$batch", CONTENT_TYPE);
        let call = Call { method: "POST", resource, query: "", headers: "", content_type, body: &self.body };
        self.caller.write(&call, out);
        true
    }

    fn check(&mut self, answer: &Answer<'_>) -> Result<Step> {
        expect_status(answer, 202)?;
        match memmem::find(answer.body, b"odata.error") {
            Some(_) => Err(format!("a group was refused\n{}", answer.text())),
            None => Ok(Step::Done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_a_hundred_inserts_and_the_last_one_ends_the_work() {
        let dataset = Dataset { table: "People", entities: 200, partition_size: 100 };
        let mut client = Group::filling(1, dataset).client(0).unwrap();
        let mut out = Vec::new();
        for partition in ["p0000000", "p0000001"] {
            assert!(client.next(&mut out));
            let text = String::from_utf8(out.clone()).unwrap();
            assert_eq!(text.matches("POST http://127.0.0.1:1/devstoreaccount1/People HTTP/1.1").count(), 100);
            assert_eq!(text.matches(&format!("\"PartitionKey\":\"{partition}\"")).count(), 100);
        }
        assert!(!client.next(&mut out));
    }

    #[test]
    fn an_error_inside_a_group_is_found() {
        let mut client = Group::endless(1, "People").client(0).unwrap();
        let body = b"HTTP/1.1 409 Conflict\r\n\r\n{\"odata.error\":{}}";
        let head = b"HTTP/1.1 202 Accepted\r\n\r\n";
        assert!(client.check(&Answer { status: 202, head, body, body_bytes: body.len() }).is_err());
    }
}
