//! How the tests of our own client went: they are about the client, so the table of operations has no rows for them.

use super::Results;
use super::matrix::Score;
use crate::suite::Suite;

pub(super) fn markdown(tablerock: &Results, azurite: &Results) -> String {
    let mut text = "| suite | Tablerock | Azurite |\n| --- | ---: | ---: |\n".to_owned();
    for suite in suites() {
        text += &format!("{} {} |\n", beginning(suite, tablerock), score(suite, azurite).shown());
    }
    text
}

/// The rows that a run shows and the document does not; suites that did not run are not held against it.
pub(super) fn stale_rows(document: &str, tablerock: &Results) -> Vec<String> {
    let rows = suites().filter(|suite| tablerock.contains_key(suite)).map(|suite| beginning(suite, tablerock));
    let stale = rows.filter(|row| !document.lines().any(|line| line.starts_with(row)));
    stale.map(|row| format!("our own client: {row} is not written")).collect()
}

fn suites() -> impl Iterator<Item = Suite> {
    Suite::ALL.into_iter().filter(|suite| suite.is_of_our_client())
}

fn beginning(suite: Suite, tablerock: &Results) -> String {
    format!("| `{}` | {} |", suite.name(), score(suite, tablerock).shown())
}

fn score(suite: Suite, results: &Results) -> Score {
    results.get(&suite).map(|results| Score::of(results)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::results::{Outcome, result_of};

    #[test]
    fn a_run_that_went_otherwise_makes_its_row_stale() {
        let results = |outcome| Results::from([(Suite::Client, vec![result_of("Client", "a", outcome)])]);
        let (passed, failed) = (results(Outcome::Passed), results(Outcome::Failed));
        let document = markdown(&passed, &failed);
        assert!(document.contains("| `client` | 1/1 | 0/1 |\n"), "{document}");
        assert_eq!(stale_rows(&document, &passed), [""; 0]);
        assert_eq!(stale_rows(&document, &failed), ["our own client: | `client` | 0/1 | is not written"]);
    }
}
