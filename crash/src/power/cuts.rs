//! Which moments are cut, and how.

use std::ops::Range;

use fastrand::Rng;

use super::scene::Scene;
use crate::disk::Loss;
use crate::run::Run;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// How many lines of the record have happened.
    pub(super) lines: usize,
    pub(super) loss: Loss,
}

impl Cut {
    /// Cuts at each sync in turn: right after it with everything else lost, and at some moment before the next one with
    /// a part of what is not synced. If there are more than wanted, some of them.
    pub(super) fn at_syncs(scene: &Scene, cuts_max: Option<usize>, run: &Run) -> Vec<Cut> {
        let mut rng = run.rng(&format!("{} cuts", scene.name));
        let mut cuts = vec![Cut { lines: 0, loss: Loss::Everything }];
        let syncs = scene.record.syncs();
        let ends = syncs.iter().skip(1).copied().chain([scene.record.lines.len()]);
        for (&sync, next) in syncs.iter().zip(ends) {
            cuts.extend(around(sync + 1..next + 1, &mut rng));
        }
        in_order(choose(cuts, cuts_max, &mut rng))
    }

    /// Cuts at moments that have nothing to do with anything.
    pub(super) fn at_random(scene: &Scene, count: usize, run: &Run) -> Vec<Cut> {
        let mut rng = run.rng(&format!("{} cuts", scene.name));
        let last = scene.record.lines.len();
        let cut = |_| Cut { lines: rng.usize(0..=last), loss: Loss::CUTS[rng.usize(0..Loss::CUTS.len())] };
        in_order((0..count).map(cut).collect())
    }
}

fn around(moments: Range<usize>, rng: &mut Rng) -> [Cut; 3] {
    let first = moments.start;
    let mut moment = || rng.usize(moments.clone());
    [
        Cut { lines: first, loss: Loss::Everything },
        Cut { lines: moment(), loss: Loss::Tail },
        Cut { lines: moment(), loss: Loss::Sectors },
    ]
}

fn choose(cuts: Vec<Cut>, cuts_max: Option<usize>, rng: &mut Rng) -> Vec<Cut> {
    match cuts_max {
        Some(most) if cuts.len() > most => rng.choose_multiple(cuts, most),
        _ => cuts,
    }
}

fn in_order(mut cuts: Vec<Cut>) -> Vec<Cut> {
    cuts.sort_by_key(|cut| cut.lines);
    cuts
}
