//! Every disabled lint and every ignored test has its reason next to it.

use super::Finding;
use super::tree::{File, Tree};

const SWITCHES: [&str; 4] = ["#[allow(", "#![allow(", "#[expect(", "#![expect("];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.ending(".rs").flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let mut findings = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let message = if SWITCHES.iter().any(|switch| line.starts_with(switch)) && !is_explained(&lines, index) {
            "a lint is disabled without a reason"
        } else if line.starts_with("#[ignore]") {
            "a test is ignored without a reason; write #[ignore = \"why\"]"
        } else {
            continue;
        };
        findings.push(Finding::new(&file.path, index + 1, message));
    }
    findings
}

/// Returns whether the attribute, which may take several lines, or a comment on its line or the line above has a reason.
fn is_explained(lines: &[&str], index: usize) -> bool {
    let length = lines[index..].iter().position(|line| line.contains(")]")).unwrap_or(0) + 1;
    let attribute = &lines[index..index + length];
    let is_commented_above = index > 0 && lines[index - 1].starts_with("//");
    is_commented_above || attribute.iter().any(|line| line.contains("reason = \"") || line.contains("//"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_found(text: &str) -> Vec<usize> {
        check(&Tree::of(&[("a.rs", text)])).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn an_unexplained_allowance_is_found() {
        assert_eq!(lines_found("fn a() {}\n\n#[allow(dead_code)]\nfn b() {}\n"), [3]);
        assert_eq!(lines_found("#![expect(missing_docs)]\n"), [1]);
    }

    #[test]
    fn a_reason_may_stand_in_the_attribute_or_beside_it() {
        assert_eq!(lines_found("#[expect(dead_code, reason = \"why\")]\n"), [0; 0]);
        assert_eq!(lines_found("#[expect(\n    dead_code,\n    reason = \"why\"\n)]\n"), [0; 0]);
        assert_eq!(lines_found("// Why.\n#[allow(dead_code)]\n"), [0; 0]);
        assert_eq!(lines_found("#[allow(dead_code)] // Why.\n"), [0; 0]);
    }

    #[test]
    fn an_ignored_test_needs_a_reason() {
        assert_eq!(lines_found("#[test]\n#[ignore]\nfn a() {}\n"), [2]);
        assert_eq!(lines_found("#[test]\n#[ignore = \"needs an hour\"]\nfn a() {}\n"), [0; 0]);
    }
}
