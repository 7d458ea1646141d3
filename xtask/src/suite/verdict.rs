//! Compares the results of a suite with the list of known differences.
//!
//! The exit code of a runner is not enough: the runner does not know the list, and may have ended early.

use std::collections::BTreeSet;

use crate::process::child::End;
use crate::suite::known_differences::Known;
use crate::suite::results::{CaseResult, Outcome};

/// The outcome of a suite.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) passed: usize,
    /// Failed as listed.
    pub(crate) known: usize,
    pub(crate) skipped: Vec<String>,
    /// Everything that makes the run a failure, one message each.
    pub(crate) problems: Vec<String>,
}

/// Judges the result lines of a run whose runner ended with `end`; fewer than `cases_min` cases that really ran
/// mean that it did not get through.
pub(crate) fn judge(results: &[CaseResult], known: &Known, end: End, cases_min: usize) -> Verdict {
    let mut verdict = Verdict::default();
    for result in results {
        let may_differ = known.sometimes.contains_key(&result.case);
        match (result.outcome, known.cases.get(&result.case)) {
            (Outcome::Passed, None) => verdict.passed += 1,
            (Outcome::Failed, None) if may_differ => verdict.known += 1,
            (Outcome::Passed, Some(reason)) => verdict.problems.push(format!(
                "{} passed, but is listed as known to differ: {reason}; take it off the list",
                named(result)
            )),
            (Outcome::Failed, Some(_)) => verdict.known += 1,
            (Outcome::Failed, None) => verdict.problems.push(format!("{}: {}", named(result), result.detail)),
            (Outcome::Skipped, _) => verdict.skipped.push(format!("{}: {}", named(result), result.detail)),
        }
    }
    verdict.problems.extend(list_problems(results, known));
    verdict.problems.extend(runner_problem(results, end, cases_min));
    verdict
}

fn named(result: &CaseResult) -> String {
    format!("{} {}", result.operation, result.case)
}

/// Names must be unique for the list to mean anything, and a listed case that is gone hides a gap.
fn list_problems(results: &[CaseResult], known: &Known) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut problems = Vec::new();
    for result in results {
        if !seen.insert(result.case.as_str()) {
            problems.push(format!("two cases are called {}", result.case));
        }
    }
    if !results.is_empty() {
        let gone = known.all().map(|(case, _)| case).filter(|case| !seen.contains(case.as_str()));
        problems.extend(gone.map(|case| format!("{case} is listed as known to differ, but there is no such case")));
    }
    problems
}

fn runner_problem(results: &[CaseResult], end: End, cases_min: usize) -> Option<String> {
    let ran = results.iter().filter(|result| result.outcome != Outcome::Skipped).count();
    let failed = results.iter().any(|result| result.outcome == Outcome::Failed);
    match end {
        // Every runner returns 1 when cases failed, and another code when it could not run them.
        End::Code(1) if !failed => Some("the runner failed although no case did".to_owned()),
        End::Code(0 | 1) if results.is_empty() => Some("no results at all".to_owned()),
        End::Code(0 | 1) if ran < cases_min => Some(format!("only {ran} cases ran; there are at least {cases_min}")),
        End::Code(0 | 1) => None,
        other => Some(format!("the runner did not get through: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::results::result_of;

    fn passed(case: &str) -> CaseResult {
        result_of("InsertEntity", case, Outcome::Passed)
    }

    fn failed(case: &str) -> CaseResult {
        result_of("InsertEntity", case, Outcome::Failed)
    }

    fn listing(case: &str) -> Known {
        Known { cases: [(case.to_owned(), "a reason".to_owned())].into(), ..Known::default() }
    }

    #[test]
    fn a_run_as_expected_has_no_problems() {
        let results = [passed("a"), failed("b"), result_of("MergeEntity", "c", Outcome::Skipped)];
        let verdict = judge(&results, &listing("b"), End::Code(1), 2);
        assert_eq!((verdict.passed, verdict.known), (1, 1));
        assert_eq!(verdict.skipped, ["MergeEntity c: detail of c"]);
        assert_eq!(verdict.problems, [""; 0]);
    }

    #[test]
    fn an_unlisted_failure_is_a_problem_with_its_detail() {
        let verdict = judge(&[passed("a"), failed("b")], &Known::default(), End::Code(1), 1);
        assert_eq!(verdict.problems, ["InsertEntity b: detail of b"]);
    }

    #[test]
    fn a_listed_case_that_passes_is_a_problem() {
        let verdict = judge(&[passed("a")], &listing("a"), End::Code(0), 1);
        assert_eq!(verdict.passed, 0);
        assert!(verdict.problems[0].contains("take it off the list"), "{:?}", verdict.problems);
    }

    #[test]
    fn a_case_that_differs_sometimes_may_pass_and_may_fail_but_has_to_be_there() {
        let known = Known { sometimes: listing("a").cases, ..Known::default() };
        for (result, counts) in [(passed("a"), (1, 0)), (failed("a"), (0, 1))] {
            let end = End::Code(i32::from(result.outcome == Outcome::Failed));
            let verdict = judge(&[result], &known, end, 1);
            assert_eq!((verdict.passed, verdict.known, verdict.problems.len()), (counts.0, counts.1, 0));
        }
        assert_eq!(judge(&[passed("b")], &known, End::Code(0), 1).problems.len(), 1);
    }

    #[test]
    fn a_listed_case_that_no_longer_exists_is_a_problem() {
        let verdict = judge(&[passed("a")], &listing("b"), End::Code(0), 1);
        assert_eq!(verdict.problems, ["b is listed as known to differ, but there is no such case"]);
    }

    #[test]
    fn two_cases_of_one_name_are_a_problem() {
        let verdict = judge(&[passed("a"), passed("a")], &Known::default(), End::Code(0), 1);
        assert_eq!(verdict.problems, ["two cases are called a"]);
    }

    #[test]
    fn a_run_without_results_is_a_problem() {
        let verdict = judge(&[], &listing("a"), End::Code(0), 1);
        assert_eq!(verdict.problems, ["no results at all"]);
    }

    #[test]
    fn a_run_that_stopped_half_way_is_a_problem() {
        let results = [passed("a"), failed("b"), result_of("InsertEntity", "c", Outcome::Skipped)];
        let verdict = judge(&results, &listing("b"), End::Code(1), 3);
        assert_eq!(verdict.problems, ["only 2 cases ran; there are at least 3"]);
    }

    #[test]
    fn a_runner_that_fails_without_a_failed_case_is_a_problem() {
        let verdict = judge(&[passed("a")], &Known::default(), End::Code(1), 1);
        assert_eq!(verdict.problems, ["the runner failed although no case did"]);
    }

    #[test]
    fn a_runner_that_died_is_a_problem_even_if_the_cases_are_as_listed() {
        for end in [End::Code(3), End::Signal, End::Late(std::time::Duration::from_secs(1))] {
            let verdict = judge(&[failed("a")], &listing("a"), end, 1);
            assert_eq!(verdict.problems.len(), 1, "{end}");
        }
    }
}
