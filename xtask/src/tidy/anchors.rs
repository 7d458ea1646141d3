//! The anchors of a document, as GitHub and mdBook make them from its headings.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the anchors of all headings.
pub(super) fn of(document: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut is_code = false;
    for line in document.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if is_code || !line.starts_with('#') {
            continue;
        }
        let anchor = anchor(line.trim_start_matches('#').trim());
        let seen = times.entry(anchor.clone()).or_default();
        anchors.insert(if *seen == 0 { anchor } else { format!("{anchor}-{seen}") });
        *seen += 1;
    }
    anchors
}

/// Letters, digits, hyphens and underscores in lower case, with a hyphen for each space.
fn anchor(heading: &str) -> String {
    let text = without_targets(heading).to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Leaves out the targets of links.
fn without_targets(heading: &str) -> String {
    let mut parts = heading.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_become_anchors() {
        let document =
            "# First steps\n## `--store`, and [more](a.md)\n```sh\n# no heading\n```\n## Run it\n## Run it\n";
        let expected = ["--store-and-more", "first-steps", "run-it", "run-it-1"].map(str::to_owned);
        assert_eq!(of(document), BTreeSet::from(expected));
    }
}
