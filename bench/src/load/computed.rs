//! The time that servers and their database compute for an operation, which does not depend on what else the machine does.

use std::fmt;
use std::time::Duration;

use super::process::{cpu_time, cpu_time_of_children};

/// Reads how long processes have computed.
#[derive(Debug)]
pub struct Meter {
    /// The first process of the database, if it is on this machine.
    pub postmaster: Option<u32>,
}

/// The time that servers have computed, and the database.
pub type Computed = (Duration, Duration);

impl Meter {
    /// Reads the time of servers, by their process ids, and of the database.
    pub fn read(&self, servers: &[u32]) -> Computed {
        let servers = servers.iter().filter_map(|pid| cpu_time(*pid)).sum();
        (servers, self.postmaster.map(cpu_time_of_children).unwrap_or_default())
    }
}

/// The sums of some turns.
#[derive(Debug, Clone, Copy, Default)]
pub struct Total {
    /// The sum of the rates.
    pub rate: f64,
    done: f64,
    servers: Duration,
    database: Duration,
}

impl Total {
    /// Adds a turn of so many seconds.
    pub fn add(&mut self, rate: f64, seconds: u64, before: Computed, after: Computed) {
        self.rate += rate;
        self.done += rate * seconds as f64;
        self.servers += after.0.saturating_sub(before.0);
        self.database += after.1.saturating_sub(before.1);
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = |time: Duration| time.as_secs_f64() * 1e6 / self.done.max(1.0);
        write!(f, "({:.0} + {:.0} us)", each(self.servers), each(self.database))
    }
}
