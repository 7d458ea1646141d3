//! The table at the end of a run, and its last line.

use std::fmt;
use std::time::Duration;

/// The outcome of a step or suite.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) passed: usize,
    /// Cases that fail as listed. The totals count them as skipped, because they prove nothing.
    pub(crate) known: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    pub(crate) time: Duration,
}

impl Row {
    pub(crate) fn passed(name: &str, time: Duration) -> Self {
        Self { name: name.to_owned(), passed: 1, time, ..Self::default() }
    }

    pub(crate) fn failed(name: &str, time: Duration) -> Self {
        Self { name: name.to_owned(), failed: 1, time, ..Self::default() }
    }

    /// A step or suite that did not run.
    pub(crate) fn skipped(name: &str) -> Self {
        Self { name: name.to_owned(), skipped: 1, ..Self::default() }
    }
}

/// Rows in the order of the run.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    rows: Vec<Row>,
}

impl Summary {
    pub(crate) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.rows.append(&mut other.rows);
    }

    pub(crate) fn is_success(&self) -> bool {
        self.rows.iter().all(|row| row.failed == 0)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max("suite".len());
        writeln!(f, "{:width$}  passed   known  failed  skipped  seconds", "suite")?;
        for Row { name, passed, known, failed, skipped, time } in &self.rows {
            let seconds = time.as_secs();
            writeln!(f, "{name:width$}  {passed:>6}  {known:>6}  {failed:>6}  {skipped:>7}  {seconds:>7}")?;
        }
        let passed: usize = self.rows.iter().map(|row| row.passed).sum();
        let failed: usize = self.rows.iter().map(|row| row.failed).sum();
        let skipped: usize = self.rows.iter().map(|row| row.skipped + row.known).sum();
        write!(f, "\n{passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_the_totals_alone() {
        let mut summary = Summary::default();
        summary.push(Row::passed("fmt", Duration::from_secs(2)));
        summary.push(Row { name: "python".to_owned(), passed: 40, known: 2, skipped: 1, ..Row::default() });
        summary.push(Row::skipped("go"));
        assert!(summary.is_success());
        assert_eq!(summary.to_string().lines().last(), Some("41 passed, 0 failed, 4 skipped"));
    }

    #[test]
    fn one_failure_fails_the_run() {
        let mut summary = Summary::default();
        summary.push(Row::failed("lint", Duration::ZERO));
        assert!(!summary.is_success());
        assert!(summary.to_string().contains("lint        0       0       1        0        0"));
    }
}
