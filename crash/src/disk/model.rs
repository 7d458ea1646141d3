//! The state of the disk: for each file and folder, the durable content and the changes that are only in the page cache.
//!
//! The rules are those of POSIX and not more. The bytes and length of a file are durable after a sync of the file, its name
//! after a sync of the folder. The name of a folder is durable after a sync of its parent. A synced file in an unsynced
//! folder may be lost.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{Event, Image, Line, Tree};

pub(super) type Node = usize;
const ROOT: Node = 0;

/// A change of a file that is not durable yet.
#[derive(Debug, Clone)]
pub(super) enum DataChange {
    Write(u64, Vec<u8>),
    SetLength(u64),
}

/// A change of a folder that is not durable yet.
#[derive(Debug, Clone)]
pub(super) enum NameChange {
    Set(String, Node),
    Remove(String),
    Rename(String, String),
}

#[derive(Debug, Clone, Default)]
pub(super) struct File {
    pub(super) durable: Arc<Image>,
    pub(super) pending: Vec<DataChange>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Folder {
    pub(super) durable: BTreeMap<String, Node>,
    pub(super) pending: Vec<NameChange>,
    /// The names that running processes see.
    current: BTreeMap<String, Node>,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    File(File),
    Folder(Folder),
}

#[derive(Debug, Clone)]
pub struct Disk {
    pub(super) nodes: Vec<Content>,
    /// The running syncs: the file or folder, and the number of changes that each covers.
    syncs: HashMap<u64, (Node, usize)>,
}

impl Disk {
    /// A disk on which all of this is durable.
    pub fn new(tree: &Tree) -> Self {
        let mut disk = Self { nodes: Vec::new(), syncs: HashMap::new() };
        disk.adopt(tree);
        disk
    }

    fn adopt(&mut self, tree: &Tree) -> Node {
        let node = self.nodes.len();
        match tree {
            Tree::File(image) => {
                self.nodes.push(Content::File(File { durable: Arc::clone(image), pending: vec![] }));
            }
            Tree::Folder(entries) => {
                self.nodes.push(Content::Folder(Folder::default()));
                let entries: BTreeMap<String, Node> =
                    entries.iter().map(|(name, tree)| (name.clone(), self.adopt(tree))).collect();
                self.nodes[node] =
                    Content::Folder(Folder { durable: entries.clone(), pending: vec![], current: entries });
            }
        }
        node
    }

    /// Applies the next line of the record.
    pub fn apply(&mut self, line: &Line) -> Result<(), String> {
        self.try_apply(line).map_err(|why| format!("{} of {}: {why}", describe(&line.event), line.path))
    }

    fn try_apply(&mut self, line: &Line) -> Result<(), &'static str> {
        match &line.event {
            Event::Create => self.make(&line.path, Content::File(File::default())),
            Event::MakeDirectory => self.make(&line.path, Content::Folder(Folder::default())),
            Event::Truncate(length) => self.change(&line.path, DataChange::SetLength(*length)),
            Event::Write(position, bytes) => self.change(&line.path, DataChange::Write(*position, bytes.clone())),
            Event::Rename(to) => self.rename(&line.path, to),
            Event::Unlink | Event::RemoveDirectory => {
                let (folder, name) = self.parent(&line.path)?;
                folder.current.remove(name).ok_or("it is not there")?;
                folder.pending.push(NameChange::Remove(name.to_owned()));
                Ok(())
            }
            Event::SyncBegin(sync) => {
                let node = self.find(&line.path)?;
                let covered = match &self.nodes[node] {
                    Content::File(file) => file.pending.len(),
                    Content::Folder(folder) => folder.pending.len(),
                };
                self.syncs.insert(*sync, (node, covered));
                Ok(())
            }
            Event::SyncEnd(sync) => self.end_sync(*sync, true),
            Event::SyncFail(sync) => self.end_sync(*sync, false),
        }
    }

    fn make(&mut self, path: &str, content: Content) -> Result<(), &'static str> {
        let node = self.nodes.len();
        self.nodes.push(content);
        let (folder, name) = self.parent(path)?;
        folder.current.insert(name.to_owned(), node);
        folder.pending.push(NameChange::Set(name.to_owned(), node));
        Ok(())
    }

    fn change(&mut self, path: &str, change: DataChange) -> Result<(), &'static str> {
        let node = self.find(path)?;
        match &mut self.nodes[node] {
            Content::File(file) => file.pending.push(change),
            Content::Folder(_) => return Err("it is a folder"),
        }
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), &'static str> {
        let (above, new_name) = split(to);
        if split(from).0 != above {
            return Err("a rename between folders is not modelled");
        }
        let (folder, old_name) = self.parent(from)?;
        let node = folder.current.remove(old_name).ok_or("it is not there")?;
        folder.current.insert(new_name.to_owned(), node);
        folder.pending.push(NameChange::Rename(old_name.to_owned(), new_name.to_owned()));
        Ok(())
    }

    /// After a failed sync, the changes it covered are no longer pending: the system may have dropped them, and does not
    /// report that a second time.
    fn end_sync(&mut self, sync: u64, is_success: bool) -> Result<(), &'static str> {
        let (node, covered) = self.syncs.remove(&sync).ok_or("it has not begun")?;
        match &mut self.nodes[node] {
            Content::File(file) => {
                let done: Vec<DataChange> = file.pending.drain(..covered).collect();
                if is_success {
                    done.iter().for_each(|change| change.apply(Arc::make_mut(&mut file.durable)));
                }
            }
            Content::Folder(folder) => {
                let done: Vec<NameChange> = folder.pending.drain(..covered).collect();
                if is_success {
                    done.iter().for_each(|change| change.apply(&mut folder.durable));
                }
            }
        }
        // Other running syncs of the same file cover these changes too.
        for (other, rest) in self.syncs.values_mut() {
            if *other == node {
                *rest = rest.saturating_sub(covered);
            }
        }
        Ok(())
    }

    fn parent<'p>(&mut self, path: &'p str) -> Result<(&mut Folder, &'p str), &'static str> {
        let (above, name) = split(path);
        let node = self.find(above)?;
        match &mut self.nodes[node] {
            Content::Folder(folder) => Ok((folder, name)),
            Content::File(_) => Err("a file is not a folder"),
        }
    }

    fn find(&self, path: &str) -> Result<Node, &'static str> {
        path.split('/').filter(|step| !step.is_empty()).try_fold(ROOT, |node, step| match &self.nodes[node] {
            Content::Folder(folder) => folder.current.get(step).copied().ok_or("there is no such file"),
            Content::File(_) => Err("a file is not a folder"),
        })
    }
}

impl DataChange {
    pub(super) fn apply(&self, image: &mut Image) {
        match self {
            DataChange::Write(position, bytes) => image.write(*position, bytes),
            DataChange::SetLength(length) => image.set_length(*length),
        }
    }
}

impl NameChange {
    pub(super) fn apply(&self, names: &mut BTreeMap<String, Node>) {
        match self {
            NameChange::Set(name, node) => drop(names.insert(name.clone(), *node)),
            NameChange::Remove(name) => drop(names.remove(name)),
            NameChange::Rename(from, to) => {
                if let Some(node) = names.remove(from) {
                    names.insert(to.clone(), node);
                }
            }
        }
    }
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn describe(event: &Event) -> String {
    match event {
        Event::Write(position, bytes) => format!("write of {} bytes at {position}", bytes.len()),
        other => format!("{other:?}"),
    }
}
