//! The section of a version in the changelog, for the page of its release.

use std::fs;

use crate::Result;
use crate::workspace::Workspace;

/// Returns the section of a version, without its heading.
pub(crate) fn section(workspace: &Workspace, number: &str) -> Result<String> {
    let text =
        fs::read_to_string(workspace.root.join("CHANGELOG.md")).map_err(|error| format!("CHANGELOG.md: {error}"))?;
    find(&text, number).ok_or_else(|| format!("CHANGELOG.md has no section with {number} in its heading"))
}

fn find(changelog: &str, number: &str) -> Option<String> {
    let is_heading = |line: &&str| line.starts_with("## ");
    let of_version = |line: &&str| is_heading(line) && line.contains(number);
    let lines: Vec<&str> =
        changelog.lines().skip_while(|line| !of_version(line)).skip(1).take_while(|line| !is_heading(line)).collect();
    let section = lines.join("\n").trim().to_owned();
    (!section.is_empty()).then(|| section + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_ends_at_the_next_version() {
        let text = "# Changelog\n\n## Unreleased (0.2.0)\n\nNew.\n\n### More\n\nx\n\n## 0.1.0\n\nFirst.\n";
        assert_eq!(find(text, "0.2.0").unwrap(), "New.\n\n### More\n\nx\n");
        assert_eq!(find(text, "0.1.0").unwrap(), "First.\n");
        assert_eq!(find(text, "0.3.0"), None);
    }
}
