//! Inserting single entities that have not been there before.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Client, Step, Workload, expect_status};
use crate::Result;
use crate::data::entity::{Keys, Text, append_entity};
use crate::http::answer::Answer;
use crate::http::caller::{Call, Caller, Credential};

/// Inserts into one table go on from run to run, because an entity can be inserted only once.
#[derive(Debug)]
pub struct Insert {
    port: u16,
    table: &'static str,
    partitions: u64,
    text: Arc<Text>,
    next: Arc<AtomicU64>,
}

struct Inserter {
    caller: Caller,
    resource: String,
    partitions: u64,
    text: Arc<Text>,
    next: Arc<AtomicU64>,
    entity: Vec<u8>,
}

impl Insert {
    pub fn new(port: u16, table: &'static str, partitions: u64) -> Self {
        Self { port, table, partitions, text: Arc::default(), next: Arc::default() }
    }
}

impl Workload for Insert {
    fn client(&self, _seed: u64) -> Result<Box<dyn Client>> {
        Ok(Box::new(Inserter {
            caller: Caller::new(self.port, self.table, Credential::SharedKey)?,
            resource: format!("/{}", self.table),
            partitions: self.partitions,
            text: Arc::clone(&self.text),
            next: Arc::clone(&self.next),
            entity: Vec::new(),
        }))
    }
}

impl Client for Inserter {
    fn next(&mut self, out: &mut Vec<u8>) -> bool {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // A large prime step visits partitions in an order that no storage could mistake for a sequence.
        let keys = Keys { partition: number.wrapping_mul(2_654_435_761) % self.partitions, row: number };
        self.entity.clear();
        append_entity(&mut self.entity, keys, number, &self.text);
        self.caller.write(&Call::insert(&self.resource, &self.entity), out);
        true
    }

    fn check(&mut self, answer: &Answer<'_>) -> Result<Step> {
        expect_status(answer, 204)?;
        Ok(Step::Done)
    }
}
