//! No file names paths of the machine it was written on.

use super::Finding;
use super::tree::{File, Tree};

/// First folders of paths that belong to one machine or one person.
const HOMES: [&str; 4] = ["work", "root", "home", "Users"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files.iter().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let lines = file.text.lines().enumerate();
    let found = lines.filter_map(|(index, line)| HOMES.iter().find(|home| names(line, home)).map(|home| (index, home)));
    found
        .map(|(index, home)| Finding::new(&file.path, index + 1, format!("a path under /{home} of some machine")))
        .collect()
}

/// Whether the line names something under that folder at the root, rather than in the middle of another path or address.
fn names(line: &str, home: &str) -> bool {
    let path = format!("/{home}/");
    line.match_indices(&path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"_-./~}>)$%*".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_found(text: &str) -> Vec<usize> {
        check(&Tree::of(&[("notes.md", text)])).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_path_of_a_machine_is_found() {
        for home in HOMES {
            assert_eq!(lines_found(&format!("one\nsee `/{home}/me/x`")), [2], "{home}");
            assert_eq!(lines_found(&format!("/{home}/me")), [1], "{home}");
        }
    }

    #[test]
    fn the_same_word_inside_another_path_is_fine() {
        assert_eq!(lines_found("target/work/x https://a.b/work/x ${HOME}/work/x ./root/x"), [0; 0]);
    }
}
