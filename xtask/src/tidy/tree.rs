//! The files of the repository: paths with forward slashes, and text.

use std::fs;
use std::path::Path;

use crate::Result;

/// Folders made by tools, which git ignores too.
const SKIPPED: [&str; 6] = [".git", "target", "dist", "node_modules", "__pycache__", ".pytest_cache"];

#[derive(Debug)]
pub(super) struct File {
    /// Relative to the repository.
    pub(super) path: String,
    /// Empty if the file is not text.
    pub(super) text: String,
}

/// All files, in the order of their paths.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) files: Vec<File>,
}

impl Tree {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut files = Vec::new();
        read_folder(root, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files })
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Returns the files whose path has this suffix.
    pub(super) fn ending(&self, suffix: &str) -> impl Iterator<Item = &File> {
        self.files.iter().filter(move |file| file.path.ends_with(suffix))
    }

    /// Returns whether there is a file or a folder of this path.
    pub(super) fn contains(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty() || self.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File { path: (*path).to_owned(), text: (*text).to_owned() };
        Self { files: files.iter().map(file).collect() }
    }
}

fn read_folder(folder: &Path, path: &str, files: &mut Vec<File>) -> Result<()> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_private = name.starts_with("__") && name.ends_with("__");
        if SKIPPED.contains(&name.as_str()) || is_private {
            continue;
        }
        let path = if path.is_empty() { name } else { format!("{path}/{name}") };
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            read_folder(&entry.path(), &path, files)?;
        } else if kind.is_file() {
            let bytes = fs::read(entry.path()).map_err(|error| format!("{path}: {error}"))?;
            files.push(File { path, text: String::from_utf8(bytes).unwrap_or_default() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_exist_as_far_as_they_hold_files() {
        let tree = Tree::of(&[("docs/decisions/0001-a.md", ""), ("README.md", "")]);
        assert!(tree.contains("docs/decisions") && tree.contains("README.md") && tree.contains(""));
        assert!(!tree.contains("docs/dec") && !tree.contains("README"));
    }

    #[test]
    fn the_tree_of_this_repository_holds_this_file() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let tree = Tree::read(root).unwrap();
        assert!(tree.file("xtask/src/tidy/tree.rs").is_some());
        assert!(!tree.files.iter().any(|file| file.path.contains("node_modules/")));
    }
}
