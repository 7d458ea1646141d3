//! The command: picks cases, runs them against one account, reports.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use tablerock_conformance::known::Known;
use tablerock_conformance::session::Shared;
use tablerock_conformance::{Case, Target, cases, runner};

/// Checks the responses of a server of the Azure Table protocol, request by request.
#[derive(Parser, Debug)]
#[command(version)]
struct Options {
    /// The account to talk to.
    #[arg(long, env = "CONFORMANCE_CONNECTION_STRING", default_value = "UseDevelopmentStorage=true")]
    connection_string: String,
    /// The name of the server under test: tablerock, azurite or azure. Only a label.
    #[arg(long, env = "CONFORMANCE_TARGET", default_value = "tablerock")]
    target: String,
    /// A file to which each case appends one JSON line.
    #[arg(long, env = "CONFORMANCE_RESULTS")]
    results: Option<PathBuf>,
    /// Only the cases whose name or operation contains this.
    #[arg(long, value_name = "SUBSTRING")]
    case: Option<String>,
    /// Name the cases instead of running them.
    #[arg(long)]
    list: bool,
    /// The target's known differences; a listed case that passes fails the run too.
    #[arg(long)]
    known: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<bool, String> {
    let cases = selected(options.case.as_deref());
    if options.list {
        cases.iter().for_each(|case| println!("{} {}", case.operation, case.name));
        return Ok(true);
    }
    let target = Target::parse(&options.connection_string)?;
    let known = options.known.as_deref().map(Known::read).transpose()?.unwrap_or_default();
    eprintln!("{} cases against {} ({})", cases.len(), target.primary.base(), options.target);

    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let verdicts = runtime.block_on(runner::run(Arc::new(Shared::new(target)), &cases));

    if let Some(path) = &options.results {
        let opened = OpenOptions::new().create(true).append(true).open(path);
        let file = opened.map_err(|error| format!("{}: {error}", path.display()))?;
        for verdict in &verdicts {
            verdict.append_to(&file).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    runner::report(&verdicts, &known, &mut std::io::stdout()).map_err(|error| error.to_string())
}

fn selected(substring: Option<&str>) -> Vec<Case> {
    let mut cases = cases::all();
    if let Some(substring) = substring {
        cases.retain(|case| case.name.contains(substring) || case.operation.to_string().contains(substring));
    }
    cases
}
