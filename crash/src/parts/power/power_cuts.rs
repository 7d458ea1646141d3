//! The times and losses of the power cuts.

use std::ops::Range;

use fastrand::Rng;

use super::recording::Recording;
use crate::disk::Loss;
use crate::run::Run;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PowerCut {
    /// The number of lines of the record before the cut.
    pub(super) lines: usize,
    pub(super) loss: Loss,
}

impl PowerCut {
    /// Cuts at each sync: right after it with everything unsynced lost, and at random times before the next sync with a part
    /// of it lost. With a limit, a random choice of them.
    pub(super) fn at_syncs(recording: &Recording, cuts_max: Option<usize>, run: &Run) -> Vec<PowerCut> {
        let mut rng = run.rng(&format!("{} cuts", recording.name));
        let mut cuts = vec![PowerCut { lines: 0, loss: Loss::Everything }];
        let syncs = recording.record.syncs();
        let ends = syncs.iter().skip(1).copied().chain([recording.record.lines.len()]);
        for (&sync, next) in syncs.iter().zip(ends) {
            cuts.extend(around(sync + 1..next + 1, &mut rng));
        }
        in_order(choose(cuts, cuts_max, &mut rng))
    }

    /// Cuts at random times.
    pub(super) fn at_random(recording: &Recording, count: usize, run: &Run) -> Vec<PowerCut> {
        let mut rng = run.rng(&format!("{} cuts", recording.name));
        let last = recording.record.lines.len();
        let cut = |_| PowerCut { lines: rng.usize(0..=last), loss: Loss::CUTS[rng.usize(0..Loss::CUTS.len())] };
        in_order((0..count).map(cut).collect())
    }
}

fn around(times: Range<usize>, rng: &mut Rng) -> [PowerCut; 3] {
    let first = times.start;
    let mut time = || rng.usize(times.clone());
    [
        PowerCut { lines: first, loss: Loss::Everything },
        PowerCut { lines: time(), loss: Loss::Tail },
        PowerCut { lines: time(), loss: Loss::Sectors },
    ]
}

fn choose(cuts: Vec<PowerCut>, cuts_max: Option<usize>, rng: &mut Rng) -> Vec<PowerCut> {
    match cuts_max {
        Some(most) if cuts.len() > most => rng.choose_multiple(cuts, most),
        _ => cuts,
    }
}

fn in_order(mut cuts: Vec<PowerCut>) -> Vec<PowerCut> {
    cuts.sort_by_key(|cut| cut.lines);
    cuts
}
