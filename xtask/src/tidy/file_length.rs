//! One idea per file: a long file is a warning, a very long one a finding.

use super::Finding;
use super::tree::Tree;

const LINES_THINK: usize = 400;
const LINES_MAX: usize = 800;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let lengths = tree.ending(".rs").map(|file| (&file.path, file.text.lines().count()));
    lengths
        .filter_map(|(path, lines)| match lines {
            LINES_MAX.. => Some(Finding::new(path, 0, format!("{lines} lines; split it (at most {LINES_MAX})"))),
            LINES_THINK.. => Some(Finding::warning(path, format!("{lines} lines; consider splitting it"))),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_a_warning_and_a_very_long_one_a_finding() {
        let texts = [399, 401, 801].map(|lines| "\n".repeat(lines));
        let tree = Tree::of(&[("a.rs", &texts[0]), ("b.rs", &texts[1]), ("c.rs", &texts[2]), ("d.md", &texts[2])]);
        let found: Vec<_> = check(&tree).into_iter().map(|finding| (finding.path, finding.is_warning)).collect();
        assert_eq!(found, [("b.rs".to_owned(), true), ("c.rs".to_owned(), false)]);
    }
}
