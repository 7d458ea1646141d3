//! Power cuts: what was not synced is gone, at every sync of a few scripted scenes and at random moments under load.
//!
//! The server runs once with the layer under it, and the layer records everything that happens to its files. Each cut is
//! then made from the record: the disk as it was at that moment, without what was not synced, or with some of it. A
//! server is started on the result and held against what had been acknowledged by then. So one recording gives as many
//! cuts as wanted, each of them repeatable.

mod aftermath;
mod coverage;
mod cuts;
mod proof;
mod scene;
mod scenes;
mod scripts;

pub use self::proof::prove;
use crate::run::Run;

use self::cuts::Cut;

/// How much of each scene is cut.
struct Effort {
    /// Cuts of a scene; with none given every sync is cut, in all ways.
    cuts_max: Option<usize>,
    /// Cuts at random moments beside them.
    random_cuts: usize,
    /// Recoveries from a cut that are cut themselves.
    recoveries: usize,
}

impl Effort {
    fn of(run: &Run) -> Self {
        if run.is_long {
            Self { cuts_max: None, random_cuts: 600, recoveries: 4 }
        } else {
            Self { cuts_max: Some(24), random_cuts: 24, recoveries: 1 }
        }
    }
}

pub async fn run(run: &Run) -> Result<String, String> {
    let effort = Effort::of(run);
    let mut cuts = 0;
    for play in &scenes::SCRIPTED {
        let scene = scenes::record(run, play).await?;
        cuts += aftermath::check(run, &scene, &Cut::at_syncs(&scene, effort.cuts_max, run)).await?;
        scene.clean_up();
    }
    for play in &scenes::LOADS {
        let scene = scenes::record(run, play).await?;
        cuts += aftermath::check(run, &scene, &Cut::at_random(&scene, effort.random_cuts, run)).await?;
        for number in 0..effort.recoveries {
            let recovery = scenes::recovery(run, &scene, number).await?;
            cuts += aftermath::check(run, &recovery, &Cut::at_syncs(&recovery, effort.cuts_max, run)).await?;
            recovery.clean_up();
        }
        scene.clean_up();
    }
    Ok(format!("{cuts} cuts"))
}
