//! The results of tests that `cargo test` runs, read from what it prints.

use crate::process::child::End;
use crate::suite::results::{CaseResult, Outcome};

/// The exit code of `cargo test` after failed tests; other runners return 1.
const TESTS_FAILED: i32 = 101;

/// The cases in a log. The name of a case is that of its function, without the modules.
pub(crate) fn results(suite: &str, log: &str) -> Vec<CaseResult> {
    let lines = log.lines().filter_map(|line| line.strip_prefix("test ")?.split_once(" ... "));
    let cases = lines.filter_map(|(path, end)| {
        let outcome = match end.split([',', ' ']).next()? {
            "ok" => Outcome::Passed,
            "FAILED" => Outcome::Failed,
            "ignored" => Outcome::Skipped,
            _ => return None,
        };
        let case = path.rsplit("::").next()?.trim().to_owned();
        let detail = match outcome {
            Outcome::Failed => report(log, path),
            _ => end.split_once(", ").map(|(_, why)| why.to_owned()).unwrap_or_default(),
        };
        Some(CaseResult { suite: suite.to_owned(), operation: "Client".to_owned(), case, outcome, detail })
    });
    cases.collect()
}

/// The end of a run as other runners report it.
pub(crate) fn end(end: End) -> End {
    if end == End::Code(TESTS_FAILED) { End::Code(1) } else { end }
}

/// The message of a failed test, from its panic on, in one line.
fn report(log: &str, path: &str) -> String {
    let block = log.split(&format!("---- {path} stdout ----\n")).nth(1).unwrap_or_default();
    let lines = block.lines().skip_while(|line| !line.contains(" panicked at ")).skip(1);
    let message: Vec<&str> = lines.take_while(|line| !line.starts_with("note: ") && !line.is_empty()).collect();
    message.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "running 3 tests\n\
        test c1::c1_a ... ok\n\
        test c2::c2_b ... FAILED\n\
        test c2::c2_c ... ignored, why\n\
        \n\
        failures:\n\
        \n\
        ---- c2::c2_b stdout ----\n\
        \n\
        thread 'c2::c2_b' (5904) panicked at a.rs:1:1:\n\
        assertion failed\n\
        left: 1\n\
        note: run with more\n\
        \n\
        test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out\n";

    #[test]
    fn cases_come_with_their_outcome_and_report() {
        let results = results("client", LOG);
        let told: Vec<_> =
            results.iter().map(|result| (result.case.as_str(), result.outcome, result.detail.as_str())).collect();
        let expected = [
            ("c1_a", Outcome::Passed, ""),
            ("c2_b", Outcome::Failed, "assertion failed left: 1"),
            ("c2_c", Outcome::Skipped, "why"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn failed_tests_end_as_with_other_runners() {
        assert_eq!(end(End::Code(101)), End::Code(1));
        assert_eq!(end(End::Code(0)), End::Code(0));
        assert_eq!(end(End::Signal), End::Signal);
    }
}
