//! The losses of a power cut: everything that was not synced, or a part of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;

use super::model::{Content, DataChange, File, Folder, NameChange, Node};
use super::{Disk, Image, Tree};

/// Disks write whole sectors, and several in any order.
const SECTOR_BYTES: u64 = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Nothing is lost, as after a kill of the process.
    Nothing,
    /// Everything is lost that was not synced.
    Everything,
    /// Of each file and folder, a prefix of the changes survives, and a part of the next write.
    Tail,
    /// Of each file, any sectors and the length survive; of each folder, a prefix of the changes.
    Sectors,
}

impl Loss {
    /// The losses of a power cut.
    pub const CUTS: [Loss; 3] = [Loss::Everything, Loss::Tail, Loss::Sectors];
}

impl Disk {
    /// The disk after the loss.
    pub fn after(&self, loss: Loss, rng: &mut Rng) -> Tree {
        self.tree(0, loss, rng)
    }

    fn tree(&self, node: Node, loss: Loss, rng: &mut Rng) -> Tree {
        match &self.nodes[node] {
            Content::File(file) => Tree::File(file_after(file, loss, rng)),
            Content::Folder(folder) => {
                let names = names_after(folder, loss, rng);
                Tree::Folder(names.into_iter().map(|(name, node)| (name, self.tree(node, loss, rng))).collect())
            }
        }
    }
}

fn names_after(folder: &Folder, loss: Loss, rng: &mut Rng) -> BTreeMap<String, Node> {
    let kept = match loss {
        Loss::Nothing => folder.pending.len(),
        Loss::Everything => 0,
        Loss::Tail | Loss::Sectors => rng.usize(0..=folder.pending.len()),
    };
    let mut names = folder.durable.clone();
    folder.pending[..kept].iter().for_each(|change: &NameChange| change.apply(&mut names));
    names
}

fn file_after(file: &File, loss: Loss, rng: &mut Rng) -> Arc<Image> {
    let mut image = Arc::clone(&file.durable);
    if file.pending.is_empty() || loss == Loss::Everything {
        return image;
    }
    let bytes = Arc::make_mut(&mut image);
    match loss {
        Loss::Everything | Loss::Nothing => file.pending.iter().for_each(|change| change.apply(bytes)),
        Loss::Tail => {
            let kept = rng.usize(0..=file.pending.len());
            let (whole, rest) = file.pending.split_at(kept);
            whole.iter().for_each(|change| change.apply(bytes));
            if let Some(DataChange::Write(position, torn)) = rest.first() {
                bytes.write(*position, &torn[..rng.usize(0..torn.len())]);
            }
        }
        Loss::Sectors => file.pending.iter().for_each(|change| apply_sectors(change, bytes, rng)),
    }
    image
}

fn apply_sectors(change: &DataChange, image: &mut Image, rng: &mut Rng) {
    let DataChange::Write(position, bytes) = change else { return change.apply(image) };
    let end = position + bytes.len() as u64;
    if image.length() < end {
        image.set_length(end);
    }
    let mut start = *position;
    while start < end {
        let stop = end.min((start / SECTOR_BYTES + 1) * SECTOR_BYTES);
        if rng.bool() {
            image.write(start, &bytes[(start - position) as usize..(stop - position) as usize]);
        }
        start = stop;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Event, Line};
    use super::*;

    fn disk(lines: &[(&str, Event)]) -> Disk {
        let mut disk = Disk::new(&Tree::Folder(BTreeMap::new()));
        for (path, event) in lines {
            disk.apply(&Line { path: (*path).to_owned(), event: event.clone(), end: 0 }).unwrap();
        }
        disk
    }

    fn names(tree: &Tree) -> Vec<String> {
        match tree {
            Tree::File(_) => vec![],
            Tree::Folder(entries) => {
                let below = |(name, tree): (&String, &Tree)| {
                    let inside = names(tree).into_iter().map(|inside| format!("{name}/{inside}")).collect::<Vec<_>>();
                    if inside.is_empty() { vec![name.clone()] } else { inside }
                };
                entries.iter().flat_map(below).collect()
            }
        }
    }

    fn after(disk: &Disk, loss: Loss) -> Tree {
        disk.after(loss, &mut Rng::with_seed(7))
    }

    fn file(tree: &Tree, name: &str) -> Image {
        match tree {
            Tree::Folder(entries) => match &entries[name] {
                Tree::File(image) => Image::clone(image),
                Tree::Folder(_) => panic!("{name} is a folder"),
            },
            Tree::File(_) => panic!("a file"),
        }
    }

    fn sync(number: u64, path: &'static str) -> [(&'static str, Event); 2] {
        [(path, Event::SyncBegin(number)), (path, Event::SyncEnd(number))]
    }

    #[test]
    fn a_synced_file_in_a_folder_that_is_not_synced_is_gone() {
        let mut lines = vec![("d", Event::MakeDirectory), ("d/f", Event::Create)];
        lines.extend(sync(0, "d/f"));
        lines.extend(sync(1, "d"));
        assert_eq!(names(&after(&disk(&lines), Loss::Everything)), [""; 0]);
        lines.extend(sync(2, ""));
        assert_eq!(names(&after(&disk(&lines), Loss::Everything)), ["d/f"]);
    }

    #[test]
    fn a_rename_is_durable_when_its_folder_is_synced() {
        let mut lines = vec![("a", Event::Create), ("a", Event::Write(0, b"new".to_vec()))];
        lines.extend(sync(0, "a"));
        lines.extend(sync(1, ""));
        lines.push(("a", Event::Rename("b".to_owned())));
        assert_eq!(names(&after(&disk(&lines), Loss::Everything)), ["a"]);
        assert_eq!(names(&after(&disk(&lines), Loss::Nothing)), ["b"]);
        lines.extend(sync(2, ""));
        let tree = after(&disk(&lines), Loss::Everything);
        assert_eq!((names(&tree), file(&tree, "b")), (vec!["b".to_owned()], Image::new(b"new".to_vec())));
    }

    #[test]
    fn a_sync_covers_what_was_written_before_it_began() {
        let mut lines = vec![("a", Event::Create)];
        lines.extend(sync(0, ""));
        lines.push(("a", Event::Write(0, b"one".to_vec())));
        lines.push(("a", Event::SyncBegin(1)));
        lines.push(("a", Event::Write(3, b"two".to_vec())));
        assert_eq!(file(&after(&disk(&lines), Loss::Everything), "a").length(), 0);
        lines.push(("a", Event::SyncEnd(1)));
        let disk = disk(&lines);
        assert_eq!(file(&after(&disk, Loss::Everything), "a"), Image::new(b"one".to_vec()));
        assert_eq!(file(&after(&disk, Loss::Nothing), "a"), Image::new(b"onetwo".to_vec()));
    }

    #[test]
    fn a_failed_sync_loses_what_it_covered_for_good() {
        let mut lines = vec![("a", Event::Create)];
        lines.extend(sync(0, ""));
        lines.push(("a", Event::Write(0, b"one".to_vec())));
        lines.extend([("a", Event::SyncBegin(1)), ("a", Event::SyncFail(1))]);
        lines.extend(sync(2, "a"));
        assert_eq!(file(&after(&disk(&lines), Loss::Everything), "a").length(), 0);
    }

    #[test]
    fn a_removed_file_comes_back_if_the_folder_was_not_synced() {
        let mut lines = vec![("a", Event::Create)];
        lines.extend(sync(0, ""));
        lines.push(("a", Event::Unlink));
        assert_eq!(names(&after(&disk(&lines), Loss::Everything)), ["a"]);
        assert_eq!(names(&after(&disk(&lines), Loss::Nothing)), [""; 0]);
    }

    #[test]
    fn torn_writes_keep_old_bytes_or_zeros() {
        let mut lines = vec![("a", Event::Create)];
        lines.extend(sync(0, ""));
        lines.push(("a", Event::Write(0, vec![1; 5_000])));
        let disk = disk(&lines);
        for seed in 0..50 {
            let rng = &mut Rng::with_seed(seed);
            let torn = file(&disk.after(Loss::Tail, rng), "a");
            assert_eq!(torn, Image::new(vec![1; torn.length() as usize]));
            assert_eq!(file(&disk.after(Loss::Sectors, rng), "a").length(), 5_000);
        }
    }

    #[test]
    fn a_file_that_takes_anothers_name_is_old_or_new() {
        let mut lines = vec![("current", Event::Create), ("current", Event::Write(0, b"old".to_vec()))];
        lines.extend(sync(0, "current"));
        lines.extend(sync(1, ""));
        lines.extend([("new", Event::Create), ("new", Event::Write(0, b"new".to_vec()))]);
        lines.extend(sync(2, "new"));
        lines.push(("new", Event::Rename("current".to_owned())));
        let disk = disk(&lines);
        let found: Vec<Image> =
            (0..50).map(|seed| file(&disk.after(Loss::Tail, &mut Rng::with_seed(seed)), "current")).collect();
        let [old, new] = [b"old", b"new"].map(|bytes| Image::new(bytes.to_vec()));
        assert!(found.contains(&old) && found.contains(&new));
        assert!(found.iter().all(|image| *image == old || *image == new));
    }

    #[test]
    fn a_replacement_that_was_not_synced_may_be_empty() {
        let mut lines = vec![("current", Event::Create), ("current", Event::Write(0, b"old".to_vec()))];
        lines.extend(sync(0, "current"));
        lines.extend([("new", Event::Create), ("new", Event::Write(0, b"new".to_vec()))]);
        lines.push(("new", Event::Rename("current".to_owned())));
        lines.extend(sync(1, ""));
        assert_eq!(file(&after(&disk(&lines), Loss::Everything), "current").length(), 0);
    }

    #[test]
    fn two_syncs_at_once_cover_what_each_of_them_found() {
        let mut lines = vec![("a", Event::Create)];
        lines.extend(sync(0, ""));
        lines.extend([("a", Event::Write(0, b"one".to_vec())), ("a", Event::SyncBegin(1))]);
        lines.extend([("a", Event::Write(3, b"two".to_vec())), ("a", Event::SyncBegin(2))]);
        lines.extend([("a", Event::Write(6, b"three".to_vec())), ("a", Event::SyncEnd(2))]);
        assert_eq!(file(&after(&disk(&lines), Loss::Everything), "a"), Image::new(b"onetwo".to_vec()));
        lines.push(("a", Event::SyncEnd(1)));
        assert_eq!(file(&after(&disk(&lines), Loss::Everything), "a"), Image::new(b"onetwo".to_vec()));
    }

    #[test]
    fn a_length_that_was_not_synced_is_the_old_one() {
        let mut lines = vec![("a", Event::Create), ("a", Event::Write(0, b"abcdef".to_vec()))];
        lines.extend(sync(0, "a"));
        lines.extend(sync(1, ""));
        lines.push(("a", Event::Truncate(2)));
        assert_eq!(file(&after(&disk(&lines), Loss::Everything), "a"), Image::new(b"abcdef".to_vec()));
        lines.extend(sync(2, "a"));
        assert_eq!(file(&after(&disk(&lines), Loss::Everything), "a"), Image::new(b"ab".to_vec()));
    }
}
