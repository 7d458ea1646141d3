//! `instructions`: counts the instructions of single requests; `cargo xtask bench --instructions` runs it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Parser;
use tablerock_bench::Result;
use tablerock_bench::instructions::callgrind::{CountedServer, Ports};
use tablerock_bench::instructions::figures::{Figure, Figures};
use tablerock_bench::instructions::operations::{Counted, count_all};

/// Counts the instructions that Tablerock retires in user space for one request, under valgrind.
#[derive(Parser, Debug)]
struct Options {
    /// The binary of the server, optimised and with symbols
    #[arg(long)]
    tablerock: PathBuf,
    /// A directory for data
    #[arg(long)]
    work: PathBuf,
    /// The first of four ports in a row
    #[arg(long, default_value_t = 10180)]
    port: u16,
    /// The commit of the binary, to be kept with the figures
    #[arg(long)]
    commit: Option<String>,
    /// Write the figures to this file, as JSON
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Compare with the figures in this file, and fail if an operation takes over 2 % more instructions
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether no operation has become slower.
fn run(options: &Options) -> Result<bool> {
    // An unreadable file is reported before minutes of counting.
    let earlier = options.compare.as_ref().map(|file| {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Figures::parse(&text).map_err(|error| format!("{}: {error}", file.display()))
    });
    let earlier = earlier.transpose()?;
    let version = version(options)?;
    let ports = Ports::starting_at(options.port);
    let start = || CountedServer::start(&options.tablerock, &options.work, ports);
    let counted = count_all(&start, ports, &print_rounds)?;
    let figures = Figures { version, operations: counted.iter().map(Figure::of).collect() };
    println!("{}", figures.table());
    if let Some(file) = &options.save {
        fs::write(file, figures.to_json()).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let Some(earlier) = earlier else { return Ok(true) };
    let (table, grown) = figures.compare(&earlier);
    println!("{table}");
    grown.iter().for_each(|operation| println!("FAILED: {operation}"));
    Ok(grown.is_empty())
}

/// Reports progress: an operation when it is done, with the own path of each round.
fn print_rounds(counted: &Counted) {
    let rounds = counted.rounds.iter().map(|round| (round.own / counted.requests).to_string());
    eprintln!("{}: {}", counted.operation, rounds.collect::<Vec<_>>().join(" "));
}

fn version(options: &Options) -> Result<String> {
    let output = Command::new(&options.tablerock).arg("--version").output();
    let output = output.map_err(|error| format!("{}: {error}", options.tablerock.display()))?;
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(match &options.commit {
        Some(commit) => format!("{printed} (commit {commit})"),
        None => printed,
    })
}
