//! The tables that reads and queries work on: how their entities are numbered, and how they are filled.

use std::time::Duration;

use crate::Result;
use crate::contest::progress::Progress;
use crate::data::entity::Keys;
use crate::http::caller::{Call, Caller, Credential};
use crate::load::{self, At, Load};
use crate::workload::Group;

const LOADERS: usize = 4;
const LOAD_LIMIT: Duration = Duration::from_secs(60 * 60);

/// A table with so many entities, which fill one partition after the other.
#[derive(Debug, Clone, Copy)]
pub struct Dataset {
    pub table: &'static str,
    pub entities: u64,
    pub partition_size: u64,
}

impl Dataset {
    /// The keys of an entity, by its number.
    pub fn keys(&self, number: u64) -> Keys {
        Keys { partition: number / self.partition_size, row: number % self.partition_size }
    }

    pub fn partitions(&self) -> u64 {
        self.entities.div_ceil(self.partition_size)
    }

    /// Creates the table and fills it; the rate is in entities per second.
    pub fn load(&self, server: At) -> Result<f64> {
        create_table(server.port, self.table)?;
        let work = Group::filling(server.port, *self);
        let load = Load {
            connections: LOADERS,
            warm_up: Duration::ZERO,
            measured: LOAD_LIMIT,
            rest: Duration::ZERO,
            losses_max: 0,
        };
        let progress = Progress::watch(work.sent(), self.entities);
        let run = load::drive(server, &work, &load)?;
        drop(progress);
        if run.entities != self.entities {
            return Err(format!("{} of {} entities of {} were loaded", run.entities, self.entities, self.table));
        }
        Ok(run.entities as f64 / run.time.as_secs_f64())
    }
}

pub fn create_table(port: u16, table: &str) -> Result<()> {
    let body = format!("{{\"TableName\":\"{table}\"}}");
    exchange(port, &Call::insert("/Tables", body.as_bytes()), &[204])
}

/// Drops the table if there is one of that name.
pub fn drop_table(port: u16, table: &str) -> Result<()> {
    let resource = format!("/Tables('{table}')");
    exchange(port, &Call { method: "DELETE", ..Call::get(&resource, "") }, &[204, 404])
}

fn exchange(port: u16, call: &Call<'_>, statuses: &[u16]) -> Result<()> {
    let mut request = Vec::new();
    Caller::new(port, "", Credential::SharedKey)?.write(call, &mut request);
    load::set_up(port, &request, statuses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_fill_one_partition_after_the_other() {
        let dataset = Dataset { table: "T", entities: 250, partition_size: 100 };
        assert_eq!(dataset.keys(99), Keys { partition: 0, row: 99 });
        assert_eq!(dataset.keys(100), Keys { partition: 1, row: 0 });
        assert_eq!(dataset.partitions(), 3);
    }
}
