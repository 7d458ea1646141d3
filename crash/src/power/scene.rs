//! One recording: what happened to the disk, and what the clients knew meanwhile.

use crate::disk::{Disk, Loss, Record, Tree};
use crate::history::History;
use crate::layer::Layer;
use crate::ledger::Ledger;
use crate::run::Place;

use fastrand::Rng;

/// What had to be there, for every moment of a recording.
#[derive(Debug)]
pub(super) enum Knowledge {
    /// From what each client did.
    Histories(Vec<History>),
    /// From an earlier cut: nobody writes any more, but at some moment somebody looks, and then it must stay so.
    Ledgers { before: Vec<Ledger>, seen_at: u64, after: Vec<Ledger> },
}

#[derive(Debug)]
pub(super) struct Scene {
    pub(super) name: String,
    /// The disk before the recording; all of it safe.
    pub(super) base: Tree,
    pub(super) record: Record,
    pub(super) knowledge: Knowledge,
    place: Place,
    layer: Layer,
}

impl Scene {
    /// Takes a recording whose servers have ended, and checks that it is complete: without any loss, the disk made from
    /// it must be the one that is there.
    pub(super) fn new(
        name: &str,
        base: Tree,
        knowledge: Knowledge,
        place: Place,
        layer: Layer,
    ) -> Result<Self, String> {
        let record = Record::read(&layer.record)?;
        let scene = Self { name: name.to_owned(), base, record, knowledge, place, layer };
        let mut disk = Disk::new(&scene.base);
        scene.record.lines.iter().try_for_each(|line| disk.apply(line))?;
        match disk.after(Loss::Nothing, &mut Rng::with_seed(0)).difference(&scene.place.tree()?) {
            None => Ok(scene),
            Some(difference) => Err(format!("{name}: the record is not what happened: {difference}")),
        }
    }

    /// What had to be there when the record was this long.
    pub(super) fn ledgers_at(&self, position: u64) -> Result<Vec<Ledger>, String> {
        match &self.knowledge {
            Knowledge::Histories(histories) => histories.iter().map(|history| history.ledger_at(position)).collect(),
            Knowledge::Ledgers { before, seen_at, after } => {
                Ok(if position < *seen_at { before.clone() } else { after.clone() })
            }
        }
    }

    pub(super) fn clean_up(self) {
        self.layer.clean_up();
        self.place.clean_up();
    }
}
