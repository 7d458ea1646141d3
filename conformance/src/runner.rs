//! Running cases side by side, within bounds, and telling how they went.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::case::Case;
use crate::expect::{Failure, Outcome};
use crate::known::Known;
use crate::session::{Session, Shared};

const CONCURRENT_CASES_MAX: usize = 8;
const CASE_SECONDS_MAX: u64 = 30;

/// How a case went.
#[derive(Debug)]
pub struct Verdict {
    pub case: Case,
    pub outcome: Outcome,
}

/// The line a case appends to the results file.
#[derive(Serialize)]
struct Line<'a> {
    suite: &'static str,
    operation: String,
    case: &'a str,
    outcome: &'static str,
    detail: &'a str,
}

impl Verdict {
    fn word(&self) -> &'static str {
        match &self.outcome {
            Ok(()) => "passed",
            Err(failure) if failure.skipped => "skipped",
            Err(_) => "failed",
        }
    }

    fn detail(&self) -> &str {
        self.outcome.as_ref().err().map_or("", |failure| &failure.message)
    }

    pub fn append_to(&self, mut file: &File) -> io::Result<()> {
        let line = Line {
            suite: "raw",
            operation: self.case.operation.to_string(),
            case: self.case.name,
            outcome: self.word(),
            detail: self.detail(),
        };
        let text = serde_json::to_string(&line).map_err(io::Error::other)?;
        writeln!(file, "{text}")
    }
}

/// Runs the cases, at most `CONCURRENT_CASES_MAX` at once; the verdicts come in the order of the cases.
pub async fn run(shared: Arc<Shared>, cases: &[Case]) -> Vec<Verdict> {
    let permits = Arc::new(Semaphore::new(CONCURRENT_CASES_MAX));
    let mut running = JoinSet::new();
    for (index, case) in cases.iter().copied().enumerate() {
        let (shared, permits) = (shared.clone(), permits.clone());
        running.spawn(async move {
            let _permit = permits.acquire().await.expect("the semaphore is never closed");
            (index, run_one(shared, case).await)
        });
    }
    let mut outcomes: Vec<Option<Outcome>> = cases.iter().map(|_| None).collect();
    while let Some(joined) = running.join_next().await {
        let (index, outcome) = joined.expect("run_one contains the panics of its case");
        outcomes[index] = Some(outcome);
    }
    let finished = outcomes.into_iter().map(|outcome| outcome.expect("every case was joined"));
    cases.iter().zip(finished).map(|(case, outcome)| Verdict { case: *case, outcome }).collect()
}

async fn run_one(shared: Arc<Shared>, case: Case) -> Outcome {
    let session = Arc::new(Session::new(shared));
    let limit = Duration::from_secs(CASE_SECONDS_MAX);
    // A task of its own, so that a panic in one case is that case's failure and not the end of the run.
    let mut task = tokio::spawn({
        let session = session.clone();
        async move { (case.run)(&session).await }
    });
    let outcome = match tokio::time::timeout(limit, &mut task).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(panic)) => Err(Failure::new(format!("the case panicked: {panic}"))),
        Err(_) => {
            task.abort();
            Err(Failure::new(format!("no end after {CASE_SECONDS_MAX} s")))
        }
    };
    let _ = tokio::time::timeout(limit, session.clean_up()).await;
    outcome
}

/// Prints a line for every case that did not go as the list of known differences says, then the totals.
/// Returns whether all went as expected.
pub fn report(verdicts: &[Verdict], known: &Known, out: &mut impl Write) -> io::Result<bool> {
    let (mut passed, mut failed, mut skipped, mut surprises) = (0, 0, 0, 0);
    for verdict in verdicts {
        let (operation, name) = (verdict.case.operation, verdict.case.name);
        let reason = known.reason(name);
        match (verdict.word(), reason) {
            ("passed", None) => passed += 1,
            ("passed", Some(reason)) => {
                passed += 1;
                surprises += 1;
                writeln!(out, "PASSED UNEXPECTEDLY {operation} {name}: listed as known to differ: {reason}")?;
            }
            ("skipped", _) => {
                skipped += 1;
                writeln!(out, "skipped {operation} {name}: {}", verdict.detail())?;
            }
            (_, Some(_)) => failed += 1,
            (_, None) => {
                failed += 1;
                surprises += 1;
                writeln!(out, "FAILED {operation} {name}: {}", verdict.detail())?;
            }
        }
    }
    writeln!(out, "{passed} passed, {failed} failed, {skipped} skipped")?;
    Ok(surprises == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(index: usize, outcome: Outcome) -> Verdict {
        Verdict { case: crate::cases::all()[index], outcome }
    }

    fn report_of(verdicts: &[Verdict], known: &Known) -> (bool, String) {
        let mut out = Vec::new();
        let as_expected = report(verdicts, known, &mut out).unwrap();
        (as_expected, String::from_utf8(out).unwrap())
    }

    fn listing(index: usize) -> Known {
        let name = crate::cases::all()[index].name;
        Known { cases: [(name.to_owned(), "a reason".to_owned())].into() }
    }

    #[test]
    fn an_unlisted_failure_is_a_surprise() {
        let verdicts = [verdict(0, Ok(())), verdict(1, Err(Failure::new("expected 1, got 2")))];
        let (as_expected, text) = report_of(&verdicts, &Known::default());
        assert!(!as_expected);
        assert!(text.contains("expected 1, got 2"));
        assert!(text.ends_with("1 passed, 1 failed, 0 skipped\n"));
        assert!(report_of(&verdicts, &listing(1)).0);
    }

    #[test]
    fn a_listed_case_that_passes_is_a_surprise() {
        assert!(!report_of(&[verdict(0, Ok(()))], &listing(0)).0);
    }

    #[test]
    fn a_skipped_case_is_no_surprise() {
        assert!(report_of(&[verdict(0, Err(Failure::skipped("no secondary")))], &listing(0)).0);
    }
}
