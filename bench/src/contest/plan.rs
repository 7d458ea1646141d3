//! How much is measured: all of it for the record, or a few seconds of it for a developer.

use std::time::Duration;

use crate::data::dataset::Dataset;
use crate::load::Load;
use crate::results::series::Who;

#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// How often each contestant has its turn. Odd, so that one round is in the middle.
    pub read_rounds: usize,
    pub write_rounds: usize,
    warm_up: Duration,
    measured: Duration,
    writes_measured: Duration,
    azurite_writes_measured: Duration,
    /// After which Azurite has written what it was given to its file.
    pub azurite_rest: Duration,
    /// For point reads and partition queries.
    pub read: Dataset,
    /// One large partition, for ranges and scans.
    pub range: Dataset,
    /// The messages in a queue before the measurement, in the case that shows the cost of its length.
    pub queued_messages: u64,
    /// How many blobs of 100 MiB go through in one turn.
    pub large_blobs: u64,
    pub small: Dataset,
    pub big: Dataset,
    /// How often a start is measured.
    pub starts: usize,
}

/// After a pause of more than five seconds, be it for its file or for its memory, Azurite closes connections that it
/// thinks idle, although their requests have come meanwhile. Clients handle that and reconnect.
const LOSSES_MAX: u64 = 1_000;

/// Within which it has to.
const WHOLE_LIMIT: Duration = Duration::from_secs(5 * 60);

const READ: &str = "Read";
const RANGE: &str = "Range";
const SIZED: &str = "Sized";

impl Plan {
    /// The plan of `docs/benchmarks.md`.
    pub fn full() -> Self {
        Self {
            read_rounds: 7,
            write_rounds: 3,
            warm_up: Duration::from_millis(500),
            measured: Duration::from_millis(1_500),
            writes_measured: Duration::from_secs(5),
            // Azurite writes its file every five seconds while things change. Two of those fall into each turn, and
            // the last is waited for.
            azurite_writes_measured: Duration::from_secs(12),
            azurite_rest: Duration::from_millis(5_500),
            read: Dataset { table: READ, entities: 10_000, partition_size: 100 },
            range: Dataset { table: RANGE, entities: 100_000, partition_size: 100_000 },
            queued_messages: 100_000,
            large_blobs: 6,
            small: Dataset { table: SIZED, entities: 10_000, partition_size: 100 },
            big: Dataset { table: SIZED, entities: 10_000_000, partition_size: 100 },
            starts: 9,
        }
    }

    /// Small and short: the ratios are rough, and what depends on size shows little. That Azurite writes its file hardly
    /// shows at all.
    pub fn quick() -> Self {
        let measured = Duration::from_secs(1);
        Self {
            read_rounds: 3,
            write_rounds: 1,
            warm_up: Duration::from_millis(300),
            measured,
            writes_measured: measured,
            azurite_writes_measured: measured,
            azurite_rest: Duration::ZERO,
            read: Dataset { table: READ, entities: 2_000, partition_size: 100 },
            range: Dataset { table: RANGE, entities: 5_000, partition_size: 5_000 },
            queued_messages: 2_000,
            large_blobs: 2,
            small: Dataset { table: SIZED, entities: 2_000, partition_size: 100 },
            big: Dataset { table: SIZED, entities: 100_000, partition_size: 100 },
            starts: 3,
        }
    }

    pub fn load(&self, connections: usize) -> Load {
        let (warm_up, measured) = (self.warm_up, self.measured);
        Load { connections, warm_up, measured, rest: Duration::ZERO, losses_max: 0 }
    }

    /// For work that takes a rival a good part of a second per request: enough must end within the time.
    pub fn patient_load(&self, connections: usize) -> Load {
        Load { measured: self.measured * 2, ..self.load(connections) }
    }

    /// For work that changes what the server holds.
    pub fn write_load(&self, connections: usize, who: Who) -> Load {
        let load = Load { measured: self.writes_measured, ..self.load(connections) };
        match who {
            Who::Azurite => {
                let (measured, rest) = (self.azurite_writes_measured, self.azurite_rest);
                Load { measured, rest, losses_max: LOSSES_MAX, ..load }
            }
            Who::AzuriteInMemory => Load { losses_max: LOSSES_MAX, ..load },
            _ => load,
        }
    }

    /// For work that comes to an end by itself: it is measured as a whole.
    pub fn whole_load(&self, connections: usize, who: Who) -> Load {
        Load { warm_up: Duration::ZERO, measured: WHOLE_LIMIT, ..self.write_load(connections, who) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_full_run_azurite_writes_its_file_twice_in_each_turn_of_writes() {
        let [azurite, in_memory] = [Who::Azurite, Who::AzuriteInMemory].map(|who| Plan::full().write_load(64, who));
        let period = Duration::from_secs(5);
        assert!(azurite.measured >= 2 * period && azurite.rest > period);
        assert!(in_memory.rest.is_zero());
    }

    #[test]
    fn of_tablerock_no_request_may_be_lost() {
        assert_eq!(Plan::full().write_load(64, Who::Tablerock).losses_max, 0);
    }
}
