//! The house rules that the compiler does not check. Each rule is a file here and reads the whole tree.

mod allowances;
mod anchors;
mod book;
mod crate_edges;
mod file_length;
mod limits;
mod links;
mod machine_paths;
mod operation_names;
mod prose;
mod registries;
mod tree;
mod words;

use std::fmt;

use crate::Result;
use crate::workspace::Workspace;

pub(crate) use self::operation_names::in_conformance_readme as operations;
use self::tree::Tree;
pub(crate) use self::words::{bless as bless_words, list as list_words};

/// A violation of a rule, or a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    /// Counted from one; zero for the file as a whole.
    line: usize,
    message: String,
    pub(crate) is_warning: bool,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into(), is_warning: false }
    }

    fn warning(path: &str, message: impl Into<String>) -> Self {
        Self { is_warning: true, ..Self::new(path, 0, message) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_warning { "warning: " } else { "" };
        match self.line {
            0 => write!(f, "{kind}{}: {}", self.path, self.message),
            line => write!(f, "{kind}{}:{line}: {}", self.path, self.message),
        }
    }
}

type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: [Rule; 10] = [
    crate_edges::check,
    file_length::check,
    allowances::check,
    links::check,
    book::check,
    operation_names::check,
    machine_paths::check,
    registries::check,
    words::check,
    limits::check,
];

/// Returns the paths and texts of all documents.
pub(crate) fn documents(workspace: &Workspace) -> Result<Vec<(String, String)>> {
    files_ending(workspace, ".md")
}

/// Returns the paths and texts of all files whose name has this end.
pub(crate) fn files_ending(workspace: &Workspace, suffix: &str) -> Result<Vec<(String, String)>> {
    let tree = Tree::read(&workspace.root)?;
    Ok(tree.files.into_iter().filter(|file| file.path.ends_with(suffix)).map(|file| (file.path, file.text)).collect())
}

/// Checks every rule on the repository.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let tree = Tree::read(&workspace.root)?;
    Ok(RULES.iter().flat_map(|rule| rule(&tree)).collect())
}
