//! Planted losses: a disk that only pretends to sync loses acknowledged writes, and the check must find that.

use super::power_cuts::PowerCut;
use super::recording::Recording;
use super::recovery_check;
use super::scenarios::Scenario;
use crate::run::Run;
use crate::shim::Setting;

/// The syncs that do nothing, and the scenario that must show it.
const LIES: [(&str, i64, Scenario); 2] = [("files", 1, Scenario::Load), ("folders", 2, Scenario::FirstStart)];
const CUTS: usize = 40;

/// Fails if the loss on one of these disks is not found. Returns the number of disks.
pub async fn prove(run: &Run) -> Result<usize, String> {
    for (of, lie, scenario) in LIES {
        let recording = Recording::of_scenario(run, scenario, &[(Setting::SyncsLie, lie)]).await?;
        let cuts = PowerCut::at_random(&recording, CUTS, run);
        match recovery_check::check(run, &recording, &cuts).await {
            Ok(_) => return Err(format!("syncs of {of} did nothing, and {CUTS} cuts did not find it")),
            Err(why) => run.print_step(&format!("syncs of {of} that do nothing found: {why}")),
        }
        recovery_check::remove_kept_disk(run);
        recording.clean_up();
    }
    Ok(LIES.len())
}
