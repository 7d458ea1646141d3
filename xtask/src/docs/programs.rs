//! How the jobs of known programs went. A result line of the suite has the program's name where others have the operation's.

use std::collections::BTreeMap;

use super::Results;
use super::matrix::Score;
use crate::suite::Suite;

pub(super) fn markdown(tablerock: &Results, azurite: &Results) -> String {
    let azurite = scores(azurite);
    let mut text = "| program | Tablerock | Azurite |\n| --- | ---: | ---: |\n".to_owned();
    for (program, score) in scores(tablerock) {
        let azurite = azurite.get(program).copied().unwrap_or_default();
        text += &format!("{} {} |\n", beginning(program, score), azurite.shown());
    }
    text
}

/// The rows that a run shows and the document does not; programs that did not run are not held against it.
pub(super) fn stale_rows(document: &str, tablerock: &Results) -> Vec<String> {
    let ran = scores(tablerock).into_iter().filter(|(_, score)| *score != Score::default());
    let rows = ran.map(|(program, score)| beginning(program, score));
    let stale = rows.filter(|row| !document.lines().any(|line| line.starts_with(row)));
    stale.map(|row| format!("programs: {row} is not written")).collect()
}

fn beginning(program: &str, score: Score) -> String {
    format!("| {program} | {} |", score.shown())
}

fn scores(results: &Results) -> BTreeMap<&str, Score> {
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    for result in results.get(&Suite::Programs).into_iter().flatten() {
        scores.entry(&result.operation).or_default().add(Score::of(std::slice::from_ref(result)));
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::results::{Outcome, result_of};

    #[test]
    fn a_program_that_went_otherwise_is_stale_and_one_that_did_not_run_is_not() {
        let results = |outcome| {
            let cases = vec![result_of("restic", "a", outcome), result_of("pyarrow", "b", Outcome::Passed)];
            Results::from([(Suite::Programs, cases)])
        };
        let (passed, failed) = (results(Outcome::Passed), results(Outcome::Failed));
        let document = markdown(&passed, &failed);
        assert!(document.contains("| restic | 1/1 | 0/1 |\n"), "{document}");
        assert_eq!(stale_rows(&document, &passed), [""; 0]);
        assert_eq!(stale_rows(&document, &results(Outcome::Skipped)), [""; 0]);
        assert_eq!(stale_rows(&document, &failed), ["programs: | restic | 0/1 | is not written"]);
    }
}
