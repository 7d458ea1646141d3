//! `tablerock-bench`: what `cargo xtask bench` runs once everything is built and installed.

use std::cell::Cell;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum as _};
use tablerock_bench::contest::plan::Plan;
use tablerock_bench::contest::rows::Row;
use tablerock_bench::contest::server::Programs;
use tablerock_bench::contest::stage::{PORTS, Stage};
use tablerock_bench::http::clock::unix_seconds;
use tablerock_bench::report::Circumstances;
use tablerock_bench::report::machine::Machine;
use tablerock_bench::report::versions;
use tablerock_bench::results::{Results, percent};
use tablerock_bench::{Result, measure, report};
use tablerock_protocol::DateTime;

/// The share of the processors that other programs may use; above it, the run prints a warning.
const OTHERS_SHARE_MAX: f64 = 0.05;

/// Measures Tablerock next to its rivals.
///
/// All rows together take about 40 minutes on two cores, most of it for Azurite and for a table of ten million entities,
/// which needs 15 GB on the disk. The exit code is 1 if a target was missed and nothing explains it, 2 if nothing could be measured.
#[derive(Parser, Debug)]
struct Options {
    /// The binary of the server
    #[arg(long)]
    tablerock: PathBuf,
    /// The directory of Azurite's package; without it, comparisons with Azurite are left out
    #[arg(long)]
    azurite: Option<PathBuf>,
    /// A directory for data, on the disk that is to be measured
    #[arg(long)]
    work: PathBuf,
    /// Where the document goes after a full run; any other leaves its own in the work directory
    #[arg(long)]
    report: PathBuf,
    /// Small sizes, a few minutes for all rows; the ratios are rough, and a missed target does not fail the run
    #[arg(long)]
    quick: bool,
    /// Only this row; may be given several times
    #[arg(long, value_enum)]
    only: Vec<Row>,
    /// The first of nine ports in a row
    #[arg(long, default_value_t = 10180)]
    port: u16,
}

impl Options {
    /// Only a run that leaves nothing out is for the record.
    fn is_full(&self) -> bool {
        !self.quick && self.only.is_empty()
    }

    fn circumstances(&self, machine: Machine, minutes: u64) -> Circumstances {
        let mut command = "cargo xtask bench".to_owned();
        if self.quick {
            command.push_str(" --quick");
        }
        for row in self.only.iter().filter_map(Row::to_possible_value) {
            command.push_str(&format!(" --only {}", row.get_name()));
        }
        let today = DateTime::from_unix_seconds(unix_seconds()).to_seven_digits();
        Circumstances {
            command,
            date: today.chars().take("2026-01-31".len()).collect(),
            minutes,
            versions: versions::all(self.azurite.as_deref()),
            machine,
        }
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(is_success) if is_success || options.quick => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<bool> {
    fs::create_dir_all(&options.work).map_err(|error| format!("{}: {error}", options.work.display()))?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let bare_hyper = own.with_file_name(format!("bare-hyper{}", std::env::consts::EXE_SUFFIX));
    let programs = Programs { tablerock: options.tablerock.clone(), bare_hyper, azurite: options.azurite.clone() };
    let plan = if options.quick { Plan::quick() } else { Plan::full() };
    check_ports(options.port)?;
    let begin = Instant::now();
    let machine = Machine::look(&options.work)?;
    let mut stage = Stage {
        programs,
        plan,
        may_reuse: !options.only.is_empty(),
        work: options.work.clone(),
        first_port: options.port,
        results: Results::default(),
        memory_peak: Cell::default(),
    };
    let rows = if options.only.is_empty() { Row::ALL.to_vec() } else { options.only.clone() };
    measure::all(&mut stage, &rows)?;
    println!("\n{}", report::verdicts(&stage.results));
    let (others, _) = stage.results.disturbance(machine.cores);
    if others > OTHERS_SHARE_MAX {
        println!("warning: other programs took {} of the processors; measure again without them", percent(others));
    }
    let file = if options.is_full() { options.report.clone() } else { options.work.join("benchmarks.md") };
    let minutes = begin.elapsed().as_secs().div_ceil(60);
    let text = report::document(&stage.results, &options.circumstances(machine, minutes));
    fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    println!("written to {} after {minutes} min", file.display());
    Ok(stage.results.is_success())
}

/// Finds out before the first measurement, and not half an hour later, whether a port is taken.
fn check_ports(first: u16) -> Result<()> {
    let last = first.checked_add(PORTS - 1).ok_or_else(|| format!("there are not {PORTS} ports from {first} on"))?;
    for port in first..=last {
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
            format!(
                "port {port} cannot be had ({error}); the ports {first} to {last} are needed, choose others with --port"
            )
        })?;
    }
    Ok(())
}
