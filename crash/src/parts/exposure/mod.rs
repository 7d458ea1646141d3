//! An exposed server: requests of strangers, careless settings and missing files that it has to reject or survive.
//!
//! Each check runs on its own, so that one failure does not hide another. `cargo xtask crash --only exposure --binary PATH`
//! runs them against any binary.

mod admin_address;
mod analytics_log;
mod clean_stop;
mod control_characters;
mod copy_source;
mod development_account;
mod fair_share;
mod fixture;
mod kept_contents;
mod log_levels;
mod missing_parts;
mod new_data;
mod parameter_case;
mod process;
mod stored_blobs;
mod strangers;
mod two_accounts;

use std::pin::Pin;

use crate::run::Run;

type Checked<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// One property of an exposed server.
struct Check {
    name: &'static str,
    run: fn(&Run) -> Checked<'_>,
}

const CHECKS: &[Check] = &[
    Check { name: "streams that are not read", run: |run| Box::pin(fair_share::unread_streams(run)) },
    Check { name: "slow readers", run: |run| Box::pin(fair_share::slow_readers(run)) },
    Check { name: "announced bodies", run: |run| Box::pin(fair_share::announced_bodies(run)) },
    Check { name: "memory of HTTP/2 streams", run: |run| Box::pin(strangers::http2_memory(run)) },
    Check { name: "rejections over HTTP/2", run: |run| Box::pin(strangers::http2_rejection(run)) },
    Check { name: "idle HTTP/2 connections", run: |run| Box::pin(strangers::http2_idle(run)) },
    Check { name: "half-sent heads", run: |run| Box::pin(strangers::half_heads(run)) },
    Check { name: "rejected bodies that wait for 100 Continue", run: |run| Box::pin(strangers::expect_continue(run)) },
    Check { name: "development account off loopback", run: |run| Box::pin(development_account::is_refused(run)) },
    Check {
        name: "development account on request",
        run: |run| Box::pin(development_account::is_served_on_request(run)),
    },
    Check { name: "short keys", run: |run| Box::pin(development_account::short_keys_are_reported(run)) },
    Check {
        name: "memory with a location",
        run: |run| Box::pin(development_account::memory_with_a_location_is_refused(run)),
    },
    Check { name: "admin Host", run: |run| Box::pin(admin_address::checks_host(run)) },
    Check { name: "admin names", run: |run| Box::pin(admin_address::hides_names_off_loopback(run)) },
    Check { name: "admin under idle connections", run: |run| Box::pin(admin_address::cannot_be_starved(run)) },
    Check { name: "starting and ready", run: |run| Box::pin(admin_address::tells_starting_from_ready(run)) },
    Check { name: "copy source", run: |run| Box::pin(copy_source::shown(run)) },
    Check { name: "copy source over plain HTTP", run: |run| Box::pin(copy_source::over_plain_http(run)) },
    Check { name: "case of parameters", run: |run| Box::pin(parameter_case::run(run)) },
    Check { name: "signatures in $logs", run: |run| Box::pin(analytics_log::run(run)) },
    Check { name: "control characters in a batch", run: |run| Box::pin(control_characters::in_content_id(run)) },
    Check { name: "control characters in a SAS", run: |run| Box::pin(control_characters::in_sas_headers(run)) },
    Check { name: "log levels", run: |run| Box::pin(log_levels::run(run)) },
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
