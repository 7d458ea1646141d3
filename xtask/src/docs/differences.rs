//! Known differences, put together by their reasons.

use std::collections::BTreeMap;

use crate::suite::Suite;
use crate::suite::known_differences::Known;

/// The cases of a reason, by suite.
type Cases<'k> = BTreeMap<Suite, Vec<&'k str>>;

/// Reasons with the most cases first, equals in the order of the alphabet.
pub(super) fn by_reason(known: &BTreeMap<Suite, Known>) -> Vec<(&str, Cases<'_>)> {
    let mut reasons: BTreeMap<&str, Cases<'_>> = BTreeMap::new();
    for (&suite, known) in known {
        for (case, reason) in known.all() {
            reasons.entry(reason).or_default().entry(suite).or_default().push(case);
        }
    }
    let mut sorted: Vec<_> = reasons.into_iter().collect();
    sorted.sort_by_key(|(_, cases)| std::cmp::Reverse(count(cases)));
    sorted
}

pub(super) fn markdown(known: &BTreeMap<Suite, Known>) -> String {
    let mut text = String::new();
    for (reason, cases) in by_reason(known) {
        text += &format!("- {reason} ({})\n", count(&cases));
        for (suite, cases) in cases {
            let names: Vec<String> = cases.iter().map(|case| format!("`{case}`")).collect();
            text += &format!("  - {}: {}\n", suite.name(), names.join(", "));
        }
    }
    text
}

fn count(cases: &Cases<'_>) -> usize {
    cases.values().map(Vec::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_over_the_suites() {
        let known = |cases: &[(&str, &str)]| Known {
            cases: cases.iter().map(|(case, reason)| ((*case).to_owned(), (*reason).to_owned())).collect(),
            ..Known::default()
        };
        let lists = BTreeMap::from([
            (Suite::Go, known(&[("a", "It does not count"), ("b", "It answers late")])),
            (Suite::Python, known(&[("c", "It answers late")])),
        ]);
        let expected = "\
            - It answers late (2)\n  - python: `c`\n  - go: `b`\n\
            - It does not count (1)\n  - go: `a`\n";
        assert_eq!(markdown(&lists), expected);
    }
}
