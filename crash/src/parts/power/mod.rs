//! Power cuts: everything that was not synced is lost, at every sync of scripted scenarios and at random times under load.
//!
//! The server runs once with the shim, which records every change to its files. Each power cut is then simulated from the
//! record: the disk at that time, without the unsynced changes, or with some of them. A server is started on the result
//! and compared with the state that had been acknowledged by then. One recording gives any number of cuts, each of
//! them repeatable.

mod coverage;
mod planted;
mod power_cuts;
mod recording;
mod recovery_check;
mod scenarios;

pub use self::planted::prove;
use self::power_cuts::PowerCut;
use self::recording::Recording;
use self::scenarios::Scenario;
use crate::run::Run;

struct Effort {
    /// The most cuts of a scenario; without a limit, every sync is cut in all ways.
    cuts_max: Option<usize>,
    /// Cuts at random times under load.
    random_cuts: usize,
    /// Recoveries from a cut that are cut in turn.
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
    for scenario in Scenario::SEQUENTIAL {
        let recording = Recording::of_scenario(run, scenario, &[]).await?;
        let at_syncs = PowerCut::at_syncs(&recording, effort.cuts_max, run);
        cuts += recovery_check::check(run, &recording, &at_syncs).await?;
        recording.clean_up();
    }
    for scenario in Scenario::CONCURRENT {
        let recording = Recording::of_scenario(run, scenario, &[]).await?;
        let at_random = PowerCut::at_random(&recording, effort.random_cuts, run);
        cuts += recovery_check::check(run, &recording, &at_random).await?;
        for number in 0..effort.recoveries {
            let recovery = Recording::of_recovery(run, &recording, number).await?;
            let at_syncs = PowerCut::at_syncs(&recovery, effort.cuts_max, run);
            cuts += recovery_check::check(run, &recovery, &at_syncs).await?;
            recovery.clean_up();
        }
        recording.clean_up();
    }
    Ok(format!("{cuts} cuts"))
}
