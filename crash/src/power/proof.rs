//! Proof that a cut would show it: a disk that only pretends to sync loses what was acknowledged, and that must be found.

use super::aftermath;
use super::cuts::Cut;
use super::scenes::{self, BIRTH, LOAD, Play};
use crate::layer::Setting;
use crate::run::Run;

/// Syncs that do nothing, of what, and where that must show.
const LIES: [(&str, i64, &Play); 2] = [("files", 1, &LOAD), ("folders", 2, &BIRTH)];
const CUTS: usize = 40;

/// Fails if one of the disks that lie gets away with it. Tells how many there were.
pub async fn prove(run: &Run) -> Result<usize, String> {
    for (of, lie, play) in LIES {
        let scene = scenes::record_on(run, play, &[(Setting::SyncsLie, lie)]).await?;
        let cuts = Cut::at_random(&scene, CUTS, run);
        match aftermath::check(run, &scene, &cuts).await {
            Ok(_) => return Err(format!("syncs of {of} did nothing, and {CUTS} cuts did not show it")),
            Err(why) => run.tell(&format!("syncs of {of} that do nothing were found out: {why}")),
        }
        aftermath::forget(run);
        scene.clean_up();
    }
    Ok(LIES.len())
}
