//! An exposed server: requests of strangers, careless settings and missing files that it has to reject or survive.
//!
//! Each check runs on its own, so that one failure does not hide another. `cargo xtask crash --only exposure --binary PATH`
//! runs them against any binary.

mod clean_stop;
mod kept_contents;
mod missing_parts;
mod new_data;
mod stored_blobs;

use std::pin::Pin;

use crate::run::Run;

type Checked<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// One property of an exposed server.
struct Check {
    name: &'static str,
    run: fn(&Run) -> Checked<'_>,
}

const CHECKS: &[Check] = &[
    Check { name: "missing store", run: |run| Box::pin(missing_parts::store(run)) },
    Check { name: "missing contents", run: |run| Box::pin(missing_parts::contents(run)) },
    Check { name: "contents of another store", run: |run| Box::pin(missing_parts::swapped_contents(run)) },
    Check { name: "journal cut after a clean stop", run: |run| Box::pin(clean_stop::cut_journal(run)) },
    Check { name: "journal emptied after a clean stop", run: |run| Box::pin(clean_stop::emptied_journal(run)) },
    Check { name: "contents newer than the store", run: |run| Box::pin(kept_contents::run(run)) },
    Check { name: "private files", run: |run| Box::pin(new_data::private(run)) },
    Check { name: "no data with --existing", run: |run| Box::pin(new_data::existing(run)) },
];

/// Runs all checks. Returns their number, or the names and reasons of those that failed.
pub async fn run(run: &Run) -> Result<String, String> {
    let mut failed = Vec::new();
    for check in CHECKS {
        match (check.run)(run).await {
            Ok(()) => run.print_step(&format!("{}: ok", check.name)),
            Err(why) => {
                run.print_step(&format!("{}: FAILED: {why}", check.name));
                failed.push(format!("{}: {why}", check.name));
            }
        }
    }
    if failed.is_empty() {
        Ok(format!("{} checks", CHECKS.len()))
    } else {
        Err(format!("{} of {} checks failed: {}", failed.len(), CHECKS.len(), failed.join("; ")))
    }
}
