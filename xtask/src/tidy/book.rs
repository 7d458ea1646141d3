//! Every page of `docs/` is in the contents of the book, `docs/SUMMARY.md`.

use super::Finding;
use super::tree::Tree;

const SUMMARY: &str = "docs/SUMMARY.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let contents = tree.file(SUMMARY).map_or("", |file| &file.text);
    let pages = tree.ending(".md").filter(|file| file.path != SUMMARY);
    let missing = pages
        .filter(|file| file.path.strip_prefix("docs/").is_some_and(|page| !contents.contains(&format!("]({page})"))));
    missing.map(|file| Finding::new(&file.path, 0, format!("is not in {SUMMARY}; add a line for it"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_the_contents_leave_out_is_found() {
        let tree = Tree::of(&[(SUMMARY, "- [A](a.md)"), ("docs/a.md", ""), ("docs/x/b.md", ""), ("README.md", "")]);
        let found: Vec<String> = check(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(found, ["docs/x/b.md"]);
    }
}
