//! The parts of a run, and what each needs.

use clap::ValueEnum;

use crate::run::Run;
use crate::{archive, clock, contention, faults, hostile, kill, many, power, prove};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Losses that are planted on purpose are found
    Prove,
    /// kill -9 under load, at the start and right after it
    Kill,
    /// A worker that moves entities by messages, killed at each of its steps
    Archive,
    /// What was not synced is gone
    Power,
    /// Disks that fail, and damaged files
    Faults,
    /// The time of day is set forward and back
    Clock,
    /// Many clients on few entities
    Concurrency,
    /// Clients that mean no good
    Hostile,
    /// Three servers on one database, all of which are killed
    ManyServers,
}

impl Part {
    /// Whether it needs the layer under the data directory.
    pub fn needs_layer(self) -> bool {
        matches!(self, Part::Prove | Part::Power | Part::Faults | Part::Clock)
    }

    /// Whether it needs a PostgreSQL on this machine.
    pub fn needs_database(self) -> bool {
        self == Part::ManyServers
    }

    /// Runs it. Tells what was done, or what is wrong.
    pub async fn run(self, run: &Run, kills: usize) -> Result<String, String> {
        match self {
            Part::Prove => prove::run(run).await,
            Part::Kill => kill::run(run, kills).await,
            Part::Archive => archive::run(run).await,
            Part::Power => power::run(run).await,
            Part::Faults => faults::run(run).await,
            Part::Clock => clock::run(run).await,
            Part::Concurrency => contention::run(run).await,
            Part::Hostile => hostile::run(run).await,
            Part::ManyServers => many::run(run).await,
        }
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = self.to_possible_value().expect("no part is hidden");
        f.write_str(value.get_name())
    }
}
