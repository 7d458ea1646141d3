//! Recordings: the changes to the disk, and the expected state at every time.

use fastrand::Rng;

use super::coverage;
use super::power_cuts::PowerCut;
use super::scenarios::{BACKGROUND_TIME, Scenario, options};
use crate::disk::{Disk, Loss, Record, Tree};
use crate::expected_state::{ExpectedState, Histories};
use crate::run::{DataDirectory, Run};
use crate::shim::Setting;
use crate::workload::Workload;

/// The expected state at every time of a recording.
#[derive(Debug)]
enum Expected {
    /// From the histories of the workers.
    Histories(Histories),
    /// From an earlier cut: no worker writes, but the state is observed once, and must not change from then on.
    Resolved { before: ExpectedState, resolved_at: u64, after: ExpectedState },
}

#[derive(Debug)]
pub(super) struct Recording {
    pub(super) name: String,
    /// The disk before the recording, all of it synced.
    pub(super) base: Tree,
    pub(super) record: Record,
    expected: Expected,
    directory: DataDirectory,
}

impl Recording {
    /// Records a scenario on a disk with these settings.
    pub(super) async fn of_scenario(
        run: &Run,
        scenario: Scenario,
        settings: &[(Setting, i64)],
    ) -> Result<Self, String> {
        let name = scenario.name();
        let mut rng = run.rng(name);
        let mut directory = DataDirectory::create_in_memory(run, name)?;
        if scenario.has_small_buffers() {
            directory.prepare_small_buffers().await?;
        }
        let base = directory.tree()?;
        directory.record(run)?;
        settings.iter().try_for_each(|(setting, value)| directory.shim().set(*setting, *value))?;
        let workload = Workload::new(&options(), &mut rng);
        let workload = scenario.run(&directory, workload, rng).await.map_err(|why| format!("{name}: {why}"))?;
        let recording = Self::new(name, base, Expected::Histories(workload.into_histories()), directory)?;
        coverage::check(&recording.record, scenario.covers()).map_err(|why| format!("{name}: {why}"))?;
        Ok(recording)
    }

    /// Records a start after a power cut.
    pub(super) async fn of_recovery(run: &Run, recording: &Recording, number: usize) -> Result<Self, String> {
        let name = format!("{}-recovery{number}", recording.name);
        let mut rng = run.rng(&name);
        let all = &recording.record.lines;
        let lines = &all[..rng.usize(all.len() / 4..all.len())];
        let mut disk = Disk::new(&recording.base);
        lines.iter().try_for_each(|line| disk.apply(line))?;
        let PowerCut { loss, .. } = PowerCut::at_random(recording, 1, run)[0];
        let base = disk.after(loss, &mut rng);

        let mut directory = DataDirectory::restore(run, &name, &base)?;
        directory.record(run)?;
        let mut before = recording.state_at(lines.last().map_or(0, |line| line.end))?;
        before.queues = before.queues.before_record();
        let mut after = before.clone();
        let server = directory.start().await?;
        let mut client = server.client();
        let (_, violations) = after.resolve(&mut client).await?;
        let resolved_at = client.logical_time().unwrap_or(0);
        directory.verify(&name, violations)?;
        tokio::time::sleep(BACKGROUND_TIME).await;
        server.stop().await?;
        Self::new(&name, base, Expected::Resolved { before, resolved_at, after }, directory)
    }

    /// Reads the record of servers that have exited, and checks that it is complete: without any loss, the simulated disk
    /// must equal the real one.
    fn new(name: &str, base: Tree, expected: Expected, directory: DataDirectory) -> Result<Self, String> {
        let record = Record::read(&directory.shim().record)?;
        let mut disk = Disk::new(&base);
        record.lines.iter().try_for_each(|line| disk.apply(line))?;
        match disk.after(Loss::Nothing, &mut Rng::with_seed(0)).difference(&directory.tree()?) {
            None => Ok(Self { name: name.to_owned(), base, record, expected, directory }),
            Some(difference) => Err(format!("{name}: the record differs from the disk: {difference}")),
        }
    }

    /// The expected state when the record had this length.
    pub(super) fn state_at(&self, time: u64) -> Result<ExpectedState, String> {
        match &self.expected {
            Expected::Histories(histories) => histories.state_at(time),
            Expected::Resolved { before, resolved_at, after } => {
                let state = if time < *resolved_at { before } else { after };
                // Observing a queue changes it, one request after the other.
                Ok(ExpectedState { queues: after.queues.at(time), ..state.clone() })
            }
        }
    }

    pub(super) fn clean_up(self) {
        self.directory.clean_up();
    }
}
