//! The table of operations and clients, with the numbers of both servers in each cell.

use std::collections::BTreeMap;

use super::Results;
use crate::suite::Suite;
use crate::suite::results::{CaseResult, Outcome};

const BETWEEN_SERVERS: &str = " · ";
const NOTHING: &str = "–";
const ALL: &str = "**all**";

/// Cases passed, of cases that ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Score {
    passed: usize,
    ran: usize,
}

impl Score {
    pub(super) fn of(results: &[CaseResult]) -> Self {
        let ran = || results.iter().filter(|result| result.outcome != Outcome::Skipped);
        Self { passed: ran().filter(|result| result.outcome == Outcome::Passed).count(), ran: ran().count() }
    }

    pub(super) fn add(&mut self, other: Score) {
        self.passed += other.passed;
        self.ran += other.ran;
    }

    pub(super) fn shown(self) -> String {
        if self.ran == 0 { NOTHING.to_owned() } else { format!("{}/{}", self.passed, self.ran) }
    }
}

type Scores = BTreeMap<(String, Suite), Score>;

/// Scores of Tablerock and of Azurite for every operation and client.
#[derive(Debug)]
pub(super) struct Matrix {
    operations: Vec<String>,
    tablerock: Scores,
    azurite: Scores,
    suites: Vec<Suite>,
}

impl Matrix {
    /// `operations` gives the order of the rows; the columns are the suites of Tablerock's results that are about them.
    pub(super) fn new(operations: &[String], tablerock: &Results, azurite: &Results) -> Self {
        Self {
            operations: operations.to_vec(),
            tablerock: scores(tablerock),
            azurite: scores(azurite),
            suites: tablerock.keys().copied().filter(|suite| suite.is_about_operations()).collect(),
        }
    }

    pub(super) fn markdown(&self) -> String {
        let mut text = row("operation", &self.columns(|suite| title(suite).to_owned()));
        text += &row("---", &self.columns(|_| "---:".to_owned()));
        for operation in &self.operations {
            text += &row(&format!("`{operation}`"), &self.columns(|suite| self.cell(operation, suite)));
        }
        text + &row(ALL, &self.columns(|suite| pair(total(&self.tablerock, suite), total(&self.azurite, suite))))
    }

    fn columns(&self, cell: impl Fn(Suite) -> String) -> Vec<String> {
        self.suites.iter().map(|&suite| cell(suite)).collect()
    }

    fn cell(&self, operation: &str, suite: Suite) -> String {
        pair(score(&self.tablerock, operation, suite), score(&self.azurite, operation, suite))
    }

    /// Cells of a written document whose numbers for Tablerock are not ours, each with both numbers.
    pub(super) fn stale_cells(&self, document: &str) -> Vec<String> {
        let written = written_cells(document);
        let cells =
            self.operations.iter().flat_map(|operation| self.suites.iter().map(move |&suite| (operation, suite)));
        cells
            .filter_map(|(operation, suite)| {
                let ours = score(&self.tablerock, operation, suite).shown();
                let theirs = written.get(&(format!("`{operation}`"), title(suite).to_owned()));
                let theirs = theirs.map_or("nothing", String::as_str);
                (ours != theirs).then(|| format!("{operation}, {}: {ours}, but written is {theirs}", title(suite)))
            })
            .collect()
    }
}

fn title(suite: Suite) -> &'static str {
    match suite {
        Suite::Raw => "raw",
        Suite::Python => "Python",
        Suite::Js => "JavaScript",
        Suite::LegacyNode => "azure-storage",
        Suite::Go => "Go",
        Suite::Java => "Java",
        Suite::Az => "az",
        Suite::Rclone => "rclone",
        Suite::Client | Suite::LegacyPython | Suite::LegacyJava | Suite::Programs => suite.name(),
    }
}

fn scores(results: &Results) -> Scores {
    let mut scores = Scores::new();
    for (&suite, results) in results {
        for result in results {
            let score = Score::of(std::slice::from_ref(result));
            scores.entry((result.operation.clone(), suite)).or_default().add(score);
        }
    }
    scores
}

fn score(scores: &Scores, operation: &str, suite: Suite) -> Score {
    scores.get(&(operation.to_owned(), suite)).copied().unwrap_or_default()
}

fn total(scores: &Scores, suite: Suite) -> Score {
    let mut total = Score::default();
    scores.iter().filter(|((_, of), _)| *of == suite).for_each(|(_, score)| total.add(*score));
    total
}

fn pair(tablerock: Score, azurite: Score) -> String {
    if tablerock.ran + azurite.ran == 0 {
        return NOTHING.to_owned();
    }
    [tablerock.shown(), azurite.shown()].join(BETWEEN_SERVERS)
}

fn row(first: &str, rest: &[String]) -> String {
    format!("| {first} | {} |\n", rest.join(" | "))
}

/// Tablerock's part of every cell of the document's first table, by row and column.
fn written_cells(document: &str) -> BTreeMap<(String, String), String> {
    let mut lines = document.lines().skip_while(|line| !line.starts_with("| operation |")).map_while(cells_of);
    let titles = lines.next().unwrap_or_default();
    let mut cells = BTreeMap::new();
    for line in lines {
        for (title, cell) in titles.iter().zip(&line).skip(1) {
            let tablerock = cell.split(BETWEEN_SERVERS).next().unwrap_or_default();
            cells.insert((line[0].clone(), title.clone()), tablerock.to_owned());
        }
    }
    cells
}

fn cells_of(line: &str) -> Option<Vec<String>> {
    let inside = line.strip_prefix("| ")?.strip_suffix(" |")?;
    Some(inside.split(" | ").map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::results::result_of;

    fn results(suite: Suite, cases: &[(&str, Outcome)]) -> (Suite, Vec<CaseResult>) {
        let case = |(index, (operation, outcome)): (usize, &(&str, Outcome))| {
            result_of(operation, &index.to_string(), *outcome)
        };
        (suite, cases.iter().enumerate().map(case).collect())
    }

    fn operations() -> Vec<String> {
        ["InsertEntity", "DeleteEntity"].map(str::to_owned).to_vec()
    }

    fn example() -> (Results, Results) {
        use Outcome::{Failed, Passed, Skipped};
        let inserts = [("InsertEntity", Passed), ("InsertEntity", Passed), ("InsertEntity", Skipped)];
        let tablerock = Results::from([
            results(Suite::Python, &inserts),
            results(Suite::Go, &[("InsertEntity", Passed), ("DeleteEntity", Passed)]),
        ]);
        let azurite = Results::from([results(Suite::Python, &[("InsertEntity", Passed), ("InsertEntity", Failed)])]);
        (tablerock, azurite)
    }

    #[test]
    fn a_cell_shows_both_servers_and_leaves_out_skipped_cases() {
        let (tablerock, azurite) = example();
        let expected = "\
            | operation | Python | Go |\n\
            | --- | ---: | ---: |\n\
            | `InsertEntity` | 2/2 · 1/2 | 1/1 · – |\n\
            | `DeleteEntity` | – | 1/1 · – |\n\
            | **all** | 2/2 · 1/2 | 2/2 · – |\n";
        assert_eq!(Matrix::new(&operations(), &tablerock, &azurite).markdown(), expected);
    }

    #[test]
    fn only_tablerocks_numbers_make_a_document_stale() {
        let (tablerock, azurite) = example();
        let document = format!("# Title\n\n{}\nmore", Matrix::new(&operations(), &tablerock, &azurite).markdown());
        assert_eq!(Matrix::new(&operations(), &tablerock, &Results::new()).stale_cells(&document), [""; 0]);

        let mut fewer = tablerock.clone();
        fewer.insert(Suite::Go, results(Suite::Go, &[("InsertEntity", Outcome::Failed)]).1);
        let stale = Matrix::new(&operations(), &fewer, &Results::new()).stale_cells(&document);
        assert_eq!(stale, ["InsertEntity, Go: 0/1, but written is 1/1", "DeleteEntity, Go: –, but written is 1/1"]);
    }

    #[test]
    fn a_row_that_the_document_lacks_is_stale() {
        let (tablerock, _) = example();
        let stale = Matrix::new(&operations(), &tablerock, &Results::new()).stale_cells("");
        assert_eq!(stale.len(), 4);
    }
}
