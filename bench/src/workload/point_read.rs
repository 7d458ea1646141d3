//! Reading single entities by their keys, any of them with the same likelihood.

use super::{Client, Step, Workload, expect_status};
use crate::Result;
use crate::data::dataset::Dataset;
use crate::data::entity::{Keys, append_partition_key, append_row_key};
use crate::http::answer::Answer;
use crate::http::caller::{Call, Caller, Credential};

#[derive(Debug)]
pub struct PointRead {
    pub port: u16,
    pub dataset: Dataset,
    pub credential: Credential,
}

struct Reader {
    caller: Caller,
    dataset: Dataset,
    random: fastrand::Rng,
    resource: Vec<u8>,
}

impl Workload for PointRead {
    fn client(&self, seed: u64) -> Result<Box<dyn Client>> {
        let caller = Caller::new(self.port, self.dataset.table, self.credential)?;
        let random = fastrand::Rng::with_seed(seed);
        Ok(Box::new(Reader { caller, dataset: self.dataset, random, resource: Vec::new() }))
    }
}

impl Client for Reader {
    fn next(&mut self, out: &mut Vec<u8>) -> bool {
        let number = self.random.u64(..self.dataset.entities);
        write_resource(&mut self.resource, self.dataset.table, self.dataset.keys(number));
        let resource = std::str::from_utf8(&self.resource).expect("keys and names are ASCII");
        self.caller.write(&Call::get(resource, ""), out);
        true
    }

    fn check(&mut self, answer: &Answer<'_>) -> Result<Step> {
        expect_status(answer, 200)?;
        Ok(Step::Done)
    }
}

fn write_resource(out: &mut Vec<u8>, table: &str, keys: Keys) {
    out.clear();
    out.push(b'/');
    out.extend_from_slice(table.as_bytes());
    out.extend_from_slice(b"(PartitionKey='");
    append_partition_key(out, keys.partition);
    out.extend_from_slice(b"',RowKey='");
    append_row_key(out, keys.row);
    out.extend_from_slice(b"')");
}
