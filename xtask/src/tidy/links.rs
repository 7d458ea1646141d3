//! Relative links in documents have a target.

use super::Finding;
use super::tree::{File, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.ending(".md").flat_map(|file| check_file(tree, file)).collect()
}

fn check_file(tree: &Tree, file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut is_code = false;
    for (index, line) in file.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        for target in targets_in(&without_code(line)) {
            if !leads_somewhere(tree, &file.path, target) {
                findings.push(Finding::new(&file.path, index + 1, format!("the link to {target} has no target")));
            }
        }
    }
    findings
}

/// Returns the line without code in backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// The targets of `[text](target "title")`.
fn targets_in(line: &str) -> Vec<&str> {
    let behind = line.split("](").skip(1);
    behind.filter_map(|rest| rest.split([')', ' ']).next()).filter(|target| !target.is_empty()).collect()
}

fn leads_somewhere(tree: &Tree, document: &str, target: &str) -> bool {
    let path = target.split('#').next().unwrap_or_default();
    let is_elsewhere = path.contains(':') || path.starts_with("//");
    path.is_empty() || is_elsewhere || resolved(document, path).is_some_and(|path| tree.contains(&path))
}

/// The path a link means, seen from the folder of its document; `None` if it leaves the repository.
fn resolved(document: &str, path: &str) -> Option<String> {
    let mut steps: Vec<&str> = if path.starts_with('/') { Vec::new() } else { document.split('/').collect() };
    steps.pop();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop()?;
            }
            name => steps.push(name),
        }
    }
    Some(steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let tree = Tree::of(&[("docs/a.md", text), ("docs/b.md", ""), ("README.md", "")]);
        check(&tree).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn a_link_to_a_missing_file_is_found() {
        assert_eq!(found("See\n[b](c.md)."), ["docs/a.md:2: the link to c.md has no target"]);
        assert_eq!(found("[out](../../elsewhere.md)").len(), 1);
    }

    #[test]
    fn links_to_files_folders_anchors_and_the_web_are_fine() {
        let text = "[b](b.md) [c](./b.md#part) [r](../README.md \"title\") [d](../docs/) [e](#here) [f](https://a.b/c)";
        assert_eq!(found(text), [""; 0]);
    }

    #[test]
    fn what_stands_in_code_is_no_link() {
        assert_eq!(found("```\n[a](missing.md)\n```\nand `[a](missing.md)` too"), [""; 0]);
    }
}
