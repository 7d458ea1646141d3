//! One list of operations: those of the server are those of the conformance cases.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::Tree;

const README: &str = "conformance/README.md";
const SERVER: &str = "crates/server/src/operation/rows.rs";

/// The group of cases about credentials, which is not an operation.
const NO_OPERATION: &str = "Authentication";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let names = |path: &str, read: fn(&str) -> Vec<String>| -> BTreeSet<String> {
        tree.file(path).map(|file| read(&file.text)).unwrap_or_default().into_iter().collect()
    };
    let mut tested = names(README, in_conformance_readme);
    let known = names(SERVER, in_server);
    tested.remove(NO_OPERATION);
    let missing = known.difference(&tested).map(|name| Finding::new(README, 0, format!("{name} is not listed")));
    let unknown = tested.difference(&known).map(|name| Finding::new(SERVER, 0, format!("{name} is not listed")));
    let is_empty = known.is_empty().then(|| Finding::new(SERVER, 0, "no operations found"));
    missing.chain(unknown).chain(is_empty).collect()
}

/// The names in backticks in the paragraph that begins with `Operations:`, in its order.
pub(crate) fn in_conformance_readme(text: &str) -> Vec<String> {
    let paragraph = text.split("\nOperations:").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    paragraph.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The operations in `operations! { … }`: a line with facts begins with `Name: `, any other is a list of names. A name with a colon
/// alone is that of a service.
fn in_server(text: &str) -> Vec<String> {
    let list = text.split("\noperations! {").nth(1).and_then(|rest| rest.split("\n}").next()).unwrap_or_default();
    let lines = list.lines().map(str::trim).filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    let lines = lines.filter(|line| !line.ends_with('{'));
    let names = lines.flat_map(|line| match line.split_once(": ") {
        Some((name, _)) => vec![name],
        None => line.split_whitespace().filter(|word| !word.ends_with(':')).collect(),
    });
    names.map(|name| name.trim_end_matches(';').to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(readme: &str, server: &str) -> Vec<String> {
        let tree = Tree::of(&[(README, readme), (SERVER, server)]);
        check(&tree).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn a_name_on_one_side_only_is_found() {
        let readme = "Text\n\nOperations: `QueryTable`,\n`MergeEntity`; and `Authentication` for the rest.\n\n`Other`";
        assert_eq!(found(readme, "mod x;\noperations! {\n    Table:\n    QueryTable\n    MergeEntity;\n}"), [""; 0]);
        let rows = "\noperations! {\n  Table {\n    QueryTable: Reads, sas(never),\n      headers[];\n    MergeEntity: Writes;\n  }\n}\nImpl";
        assert_eq!(found(readme, rows), [""; 0]);
        assert_eq!(
            found(readme, "mod x;\noperations! {\n    QueryTable\n    DeleteTable\n}"),
            [format!("{README}: DeleteTable is not listed"), format!("{SERVER}: MergeEntity is not listed")]
        );
    }

    #[test]
    fn lists_that_cannot_be_found_are_not_taken_for_equal() {
        assert_eq!(found("", ""), [format!("{SERVER}: no operations found")]);
    }
}
