//! A folder tree: read from disk, written to disk, compared.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::Image;

#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    File(Arc<Image>),
    Folder(BTreeMap<String, Tree>),
}

impl Tree {
    /// Reads a folder with everything in it.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let tree = if entry.file_type()?.is_dir() {
                Self::read(&entry.path())?
            } else {
                Tree::File(Arc::new(Image::new(fs::read(entry.path())?)))
            };
            entries.insert(name, tree);
        }
        Ok(Tree::Folder(entries))
    }

    /// Writes the folder or file, which must not exist yet.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        match self {
            Tree::File(image) => image.save(path),
            Tree::Folder(entries) => {
                fs::create_dir(path)?;
                entries.iter().try_for_each(|(name, tree)| tree.save(&path.join(name)))
            }
        }
    }

    /// The first place where two trees differ.
    pub fn difference(&self, other: &Tree) -> Option<String> {
        match (self, other) {
            (Tree::Folder(ours), Tree::Folder(theirs)) => {
                let names = ours.keys().chain(theirs.keys());
                names.into_iter().find_map(|name| match (ours.get(name), theirs.get(name)) {
                    (Some(ours), Some(theirs)) => ours.difference(theirs).map(|inside| format!("{name}/{inside}")),
                    (ours, _) => Some(format!(
                        "{name} exists only in the {} tree",
                        if ours.is_some() { "first" } else { "second" }
                    )),
                })
            }
            (Tree::File(ours), Tree::File(theirs)) if ours == theirs => None,
            (Tree::File(ours), Tree::File(theirs)) => {
                Some(format!("files differ, of {} and {} bytes", ours.length(), theirs.length()))
            }
            _ => Some("a file on one side, a folder on the other".to_owned()),
        }
    }
}
