//! The result lines that every suite writes, one per case.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Result;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct CaseResult {
    pub(crate) suite: String,
    pub(crate) operation: String,
    pub(crate) case: String,
    pub(crate) outcome: Outcome,
    pub(crate) detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// The lines of a file; none if the suite never wrote one.
pub(crate) fn read(path: &Path) -> Result<Vec<CaseResult>> {
    match fs::read_to_string(path) {
        Ok(text) => parse(&text).map_err(|error| format!("{}: {error}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

pub(crate) fn write(path: &Path, results: &[CaseResult]) -> Result<()> {
    let mut text = String::new();
    for result in results {
        text += &serde_json::to_string(result).map_err(|error| error.to_string())?;
        text.push('\n');
    }
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn parse(text: &str) -> Result<Vec<CaseResult>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 1)))
        .collect()
}

/// Puts together the runs of one suite against several addresses of the same server: a case counts where it ran.
/// Case names stay in the order of the first run.
pub(crate) fn merged(runs: Vec<Vec<CaseResult>>) -> Vec<CaseResult> {
    let mut kept: Vec<CaseResult> = Vec::new();
    let mut index_of: BTreeMap<String, usize> = BTreeMap::new();
    for (run_index, run) in runs.into_iter().enumerate() {
        for result in run {
            match index_of.get(&result.case) {
                Some(&index) if run_index > 0 => {
                    if kept[index].outcome == Outcome::Skipped {
                        kept[index] = result;
                    }
                }
                _ => {
                    index_of.insert(result.case.clone(), kept.len());
                    kept.push(result);
                }
            }
        }
    }
    kept
}

#[cfg(test)]
pub(crate) fn result_of(operation: &str, case: &str, outcome: Outcome) -> CaseResult {
    CaseResult {
        suite: "python".to_owned(),
        operation: operation.to_owned(),
        case: case.to_owned(),
        outcome,
        detail: format!("detail of {case}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read() {
        let line = r#"{"suite":"go","operation":"InsertEntity","case":"a_case","outcome":"skipped","detail":"why"}"#;
        let results = parse(&format!("{line}\n\n")).unwrap();
        assert_eq!(results.len(), 1);
        assert_eq!((results[0].case.as_str(), results[0].outcome), ("a_case", Outcome::Skipped));
    }

    #[test]
    fn a_line_cut_short_is_an_error_with_its_number() {
        let error = parse("\n{\"suite\":\"go\",").unwrap_err();
        assert!(error.starts_with("line 2:"), "{error}");
    }

    #[test]
    fn a_case_skipped_at_one_address_counts_where_it_ran() {
        let first = vec![
            result_of("InsertEntity", "a", Outcome::Passed),
            result_of("MergeEntity", "b", Outcome::Skipped),
            result_of("MergeEntity", "c", Outcome::Skipped),
        ];
        let second =
            vec![result_of("InsertEntity", "a", Outcome::Skipped), result_of("MergeEntity", "b", Outcome::Failed)];
        let outcomes: Vec<_> =
            merged(vec![first, second]).into_iter().map(|result| (result.case, result.outcome)).collect();
        let expected = [("a", Outcome::Passed), ("b", Outcome::Failed), ("c", Outcome::Skipped)];
        assert_eq!(outcomes, expected.map(|(case, outcome)| (case.to_owned(), outcome)));
    }

    #[test]
    fn a_case_told_twice_in_one_run_stays_visible() {
        let run =
            vec![result_of("InsertEntity", "a", Outcome::Passed), result_of("InsertEntity", "a", Outcome::Passed)];
        assert_eq!(merged(vec![run]).len(), 2);
    }
}
