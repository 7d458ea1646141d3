//! One recording: what happened to the disk, and what the clients knew meanwhile.

use crate::books::{Books, Histories};
use crate::disk::{Disk, Loss, Record, Tree};
use crate::layer::Layer;
use crate::run::Place;

use fastrand::Rng;

/// What had to be there, for every moment of a recording.
#[derive(Debug)]
pub(super) enum Knowledge {
    /// From what each client did.
    Histories(Histories),
    /// From an earlier cut: nobody writes any more, but at some moment somebody has looked, and then it must stay so.
    Settled { before: Books, seen_at: u64, after: Books },
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
    pub(super) fn books_at(&self, position: u64) -> Result<Books, String> {
        match &self.knowledge {
            Knowledge::Histories(histories) => histories.books_at(position),
            Knowledge::Settled { before, seen_at, after } => {
                let books = if position < *seen_at { before } else { after };
                // Who looks at messages takes them, one request after the other.
                Ok(Books { messages: after.messages.at(position), ..books.clone() })
            }
        }
    }

    pub(super) fn clean_up(self) {
        self.layer.clean_up();
        self.place.clean_up();
    }
}
