//! The parts of a run, and their requirements.

pub mod archive;
pub mod clock;
pub mod concurrency;
pub mod exposure;
pub mod faults;
pub mod hostile;
pub mod kill;
pub mod many_servers;
pub mod power;
pub mod prove;

use clap::ValueEnum;

use crate::run::Run;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Planted losses, all of which must be found
    Prove,
    /// kill -9 under load, during a start and right after one
    Kill,
    /// A worker that moves entities on request of messages, killed at each of its steps
    Archive,
    /// Power cuts that lose everything that was not synced
    Power,
    /// Failing disks and damaged files
    Faults,
    /// Steps of the time of day, forward and back
    Clock,
    /// Many clients on few entities, checked for linearizability
    Concurrency,
    /// Hostile clients
    Hostile,
    /// Requests and starts that an exposed server has to reject or survive, one check each
    Exposure,
    /// Three servers on one database; servers and database are killed
    ManyServers,
}

impl Part {
    /// Whether the part needs the shim.
    pub fn needs_shim(self) -> bool {
        matches!(self, Part::Prove | Part::Power | Part::Faults | Part::Clock)
    }

    /// Whether the part needs PostgreSQL on this machine.
    pub fn needs_database(self) -> bool {
        self == Part::ManyServers
    }

    /// Runs the part. Returns a summary, or the violation.
    pub async fn run(self, run: &Run, kills: usize) -> Result<String, String> {
        match self {
            Part::Prove => prove::run(run).await,
            Part::Kill => kill::run(run, kills).await,
            Part::Archive => archive::run(run).await,
            Part::Power => power::run(run).await,
            Part::Faults => faults::run(run).await,
            Part::Clock => clock::run(run).await,
            Part::Concurrency => concurrency::run(run).await,
            Part::Hostile => hostile::run(run).await,
            Part::Exposure => exposure::run(run).await,
            Part::ManyServers => many_servers::run(run).await,
        }
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = self.to_possible_value().expect("no part is hidden");
        f.write_str(value.get_name())
    }
}
