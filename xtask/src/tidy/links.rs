//! Relative links in documents have a target, and anchors have a heading.

use super::Finding;
use super::anchors;
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
            let why = match leads_somewhere(tree, &file.path, target) {
                Ok(()) => continue,
                Err(why) => why,
            };
            findings.push(Finding::new(&file.path, index + 1, format!("the link to {target} has {why}")));
        }
    }
    findings
}

/// Returns the line without code in backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// The targets of `[text](target "title")`, of `[name]: target`, and of pictures in HTML.
fn targets_in(line: &str) -> Vec<&str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let named = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target.trim());
    let quoted = ["src=\"", "srcset=\"", "href=\""].into_iter().flat_map(|attribute| line.split(attribute).skip(1));
    let quoted = quoted.filter_map(|rest| rest.split('"').next());
    inline.chain(named).chain(quoted).filter(|target| !target.is_empty()).collect()
}

/// Returns what is missing, if something is.
fn leads_somewhere(tree: &Tree, document: &str, target: &str) -> Result<(), &'static str> {
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    if path.contains(':') || path.starts_with("//") {
        return Ok(());
    }
    let path = match path {
        "" => Some(document.to_owned()),
        path => resolved(document, path).filter(|path| tree.contains(path)),
    };
    let path = path.ok_or("no target")?;
    match (anchor, tree.file(&path)) {
        (Some(anchor), Some(file)) if path.ends_with(".md") && !anchors::of(&file.text).contains(anchor) => {
            Err("no heading for its anchor")
        }
        _ => Ok(()),
    }
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
        let tree = Tree::of(&[("docs/a.md", text), ("docs/b.md", "# A part"), ("README.md", "")]);
        check(&tree).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn a_link_to_a_missing_file_is_found() {
        assert_eq!(found("See\n[b](c.md)."), ["docs/a.md:2: the link to c.md has no target"]);
        assert_eq!(found("[out](../../elsewhere.md)").len(), 1);
    }

    #[test]
    fn links_to_files_folders_anchors_and_the_web_are_fine() {
        let text = "[b](b.md) [c](./b.md#a-part) [r](../README.md \"title\") [d](../docs/) [f](https://a.b/c#d)";
        assert_eq!(found(text), [""; 0]);
        assert_eq!(found("## Here\n[e](#here)"), [""; 0]);
    }

    #[test]
    fn an_anchor_without_a_heading_and_a_missing_picture_are_found() {
        assert_eq!(found("[c](b.md#part)"), ["docs/a.md:1: the link to b.md#part has no heading for its anchor"]);
        assert_eq!(found("[e](#here)").len(), 1);
        assert_eq!(found("<img src=\"missing.svg\">\n[name]: missing.md").len(), 2);
    }

    #[test]
    fn what_stands_in_code_is_no_link() {
        assert_eq!(found("```\n[a](missing.md)\n```\nand `[a](missing.md)` too"), [""; 0]);
    }
}
