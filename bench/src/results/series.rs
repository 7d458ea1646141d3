//! The runs of one contestant under one load, and the numbers that stand for them.

use std::time::Duration;

use crate::contest::rows::Row;
use crate::load::Run;
use crate::load::histogram::Histogram;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Tablerock,
    /// With its default settings: a file that it rewrites every five seconds.
    Azurite,
    AzuriteInMemory,
    BareHyper,
    FjallAlone,
    /// Tablerock with few entities, and with many.
    Small,
    Big,
}

impl Who {
    pub fn name(self) -> &'static str {
        match self {
            Who::Tablerock => "Tablerock",
            Who::Azurite => "Azurite",
            Who::AzuriteInMemory => "Azurite in memory",
            Who::BareHyper => "bare hyper",
            Who::FjallAlone => "fjall alone",
            Who::Small => "small table",
            Who::Big => "big table",
        }
    }

    /// Whether it may fail under a load: of a rival that is a result, of anyone else the end of the run.
    pub fn may_fail(self) -> bool {
        matches!(self, Who::Azurite | Who::AzuriteInMemory)
    }
}

/// The runs of one contestant under one load.
#[derive(Debug, Clone)]
pub struct Series {
    pub row: Row,
    /// The name of the load among those of its row: `64 connections, Shared Key`.
    pub case: String,
    pub who: Who,
    /// Whether the row's targets are held against it; others are shown for completeness.
    pub is_judged: bool,
    pub runs: Vec<Run>,
}

impl Series {
    /// Entities per second, or requests where one is about one: the middle one of the runs, so that a run that was
    /// disturbed does not count.
    pub fn rate(&self) -> f64 {
        median(self.rates().collect())
    }

    /// The rates of the slowest and of the fastest run.
    pub fn spread(&self) -> (f64, f64) {
        self.rates().fold((f64::INFINITY, 0.0), |(least, most), rate| (least.min(rate), most.max(rate)))
    }

    /// The rate divided by another's, round by round: the middle one. Turns of one round lie together in time, so a machine
    /// that is slower for a minute slows both of them.
    pub fn ratio_to(&self, other: &Series) -> f64 {
        median(self.rates().zip(other.rates()).map(|(own, other)| own / other).collect())
    }

    fn rates(&self) -> impl Iterator<Item = f64> {
        self.runs.iter().map(|run| run.entities as f64 / run.time.as_secs_f64())
    }

    /// Requests without a response, and all that were sent.
    pub fn lost(&self) -> (u64, u64) {
        let lost = self.runs.iter().map(|run| run.lost).sum();
        (lost, lost + self.runs.iter().map(Run::requests).sum::<u64>())
    }

    pub fn percentile(&self, share: f64) -> Option<Duration> {
        let mut all = Histogram::default();
        self.runs.iter().for_each(|run| all.add(&run.latencies));
        all.percentile(share)
    }

    /// The time that the server computed for one unit of the rate.
    pub fn server_cpu(&self) -> Duration {
        self.per_entity(|run| run.server_cpu)
    }

    pub fn generator_cpu(&self) -> Duration {
        self.per_entity(|run| run.generator_cpu)
    }

    fn per_entity(&self, time: impl Fn(&Run) -> Duration) -> Duration {
        let entities: u64 = self.runs.iter().map(|run| run.entities).sum();
        self.runs.iter().map(time).sum::<Duration>().div_f64(entities.max(1) as f64)
    }
}

/// The middle value; of an even number the mean of the two in the middle.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count if count.is_multiple_of(2) => (values[count / 2 - 1] + values[count / 2]) / 2.0,
        count => values[count / 2],
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A series of runs of one second with these rates; each computed for half a second, its server for one.
    pub(crate) fn series(case: &str, who: Who, rates: &[u64]) -> Series {
        let run = |&entities| {
            let mut latencies = Histogram::default();
            latencies.record(Duration::from_millis(1));
            let cpu = Duration::from_millis(500);
            let (time, server_cpu) = (Duration::from_secs(1), cpu * 2);
            Run { latencies, entities, lost: 0, time, generator_cpu: cpu, server_cpu, others_cpu: Duration::ZERO }
        };
        let (row, case, runs) = (Row::PointRead, case.to_owned(), rates.iter().map(run).collect());
        Series { row, case, who, is_judged: true, runs }
    }

    #[test]
    fn the_middle_run_counts() {
        let series = series("a", Who::Tablerock, &[1000, 10, 900]);
        assert_eq!(series.rate(), 900.0);
        assert_eq!(series.spread(), (10.0, 1000.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn a_slow_minute_of_the_machine_does_not_decide_a_ratio() {
        let ours = series("a", Who::Tablerock, &[1000, 500, 900]);
        let theirs = series("a", Who::Azurite, &[100, 50, 10]);
        assert_eq!(ours.ratio_to(&theirs), 10.0);
    }

    #[test]
    fn computing_time_is_told_per_entity() {
        let series = series("a", Who::Tablerock, &[1000, 1000]);
        assert_eq!((series.generator_cpu().as_micros(), series.server_cpu().as_micros()), (500, 1000));
    }
}
