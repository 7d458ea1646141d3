//! `fuzz-wire SERVER CORPUS FIRST_PORT MINUTES REQUESTS_MAX SEED`: see `tablerock_fuzz::wire`. `cargo xtask fuzz --binary` calls it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use tablerock_fuzz::wire::{self, WireOptions};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [server, corpus, first_port, minutes, requests_max, seed] = arguments.as_slice() else {
        eprintln!("usage: fuzz-wire SERVER CORPUS FIRST_PORT MINUTES REQUESTS_MAX SEED");
        return ExitCode::from(2);
    };
    let (Ok(first_port), Ok(minutes), Ok(requests_max), Ok(seed)) =
        (first_port.parse(), minutes.parse::<u64>(), requests_max.parse(), seed.parse())
    else {
        eprintln!("the last four arguments are numbers");
        return ExitCode::from(2);
    };
    let (server, corpus) = (PathBuf::from(server), PathBuf::from(corpus));
    let time = Duration::from_secs(60 * minutes);
    match wire::run(&WireOptions { server: &server, corpus: &corpus, first_port, time, requests_max, seed }) {
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        Ok(report) => {
            println!("{} requests, {} findings", report.requests, report.findings.len());
            report.statuses.iter().for_each(|(status, count)| println!("{status:>5}  {count}"));
            report.findings.iter().for_each(|finding| println!("{finding}"));
            if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
    }
}
