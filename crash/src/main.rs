//! The command: runs the selected parts and prints the result of each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use fastrand::Rng;
use tablerock_crash::parts::{Part, many_servers};
use tablerock_crash::run::Run;
use tablerock_crash::server::{Program, check_ports};
use tablerock_crash::shim;

/// A file system in memory, on Linux.
const MEMORY: &str = "/dev/shm";
const KILLS: usize = 16;
const KILLS_LONG: usize = 500;

/// Tests a Tablerock binary with kills, power cuts, faults, clock steps, concurrency and hostile clients.
#[derive(Parser, Debug)]
#[command(version)]
struct Options {
    /// The binary under test
    #[arg(long)]
    server: PathBuf,
    /// The shim library that records and fails system calls; without it, the parts that need it are skipped
    #[arg(long)]
    shim: Option<PathBuf>,
    /// The folder for data directories
    #[arg(long)]
    folder: PathBuf,
    /// Repeat the run with this seed
    #[arg(long)]
    seed: Option<u64>,
    /// Run for hours instead of minutes
    #[arg(long)]
    long: bool,
    /// The number of kills of the part `kill`
    #[arg(long)]
    kills: Option<usize>,
    /// Run only this part; may be repeated
    #[arg(long, value_enum)]
    only: Vec<Part>,
    #[arg(long, default_value_t = 10170)]
    table_port: u16,
    #[arg(long, default_value_t = 10171)]
    admin_port: u16,
    #[arg(long, default_value_t = 10172)]
    queue_port: u16,
    #[arg(long, default_value_t = 10173)]
    blob_port: u16,
    /// The first of twelve consecutive ports for servers that share a database
    #[arg(long, default_value_t = 10174)]
    more_ports: u16,
    /// Use this database, which is already there, for servers that share one; it is not killed
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Fail if a part cannot run on this machine
    #[arg(long)]
    nothing_left_out: bool,
    /// Print every step
    #[arg(long, short)]
    verbose: bool,
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

/// Returns whether all parts passed. An error means that the run did not start.
fn run(options: &Options) -> Result<bool, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let run = prepare(options)?;
    let shim_works = shim::check(run.shim.as_deref(), &run.program, &run.folder);
    println!("crash: seed {}", run.seed);
    let kills = options.kills.unwrap_or(if run.is_long { KILLS_LONG } else { KILLS });
    let mut is_success = true;
    for &part in Part::value_variants() {
        if !options.only.is_empty() && !options.only.contains(&part) {
            continue;
        }
        let started = Instant::now();
        let missing = match part {
            _ if part.needs_shim() => shim_works.clone().err(),
            _ if part.needs_database() => many_servers::check().err(),
            _ => None,
        };
        let outcome = match missing {
            Some(why) if !options.nothing_left_out => {
                println!("skipped: crash {part}: {why}");
                continue;
            }
            Some(why) => Err(why),
            None => runtime.block_on(part.run(&run, kills)),
        };
        let seconds = started.elapsed().as_secs();
        match outcome {
            Ok(summary) => println!("crash: {part}: ok, {summary}, {seconds} s"),
            Err(why) => {
                println!("crash: {part}: FAILED, seed {}, {seconds} s: {why}", run.seed);
                is_success = false;
            }
        }
    }
    if is_success && run.memory != run.folder {
        // Files there would occupy memory until the next reboot.
        let _ = fs::remove_dir_all(&run.memory);
    }
    Ok(is_success)
}

fn prepare(options: &Options) -> Result<Run, String> {
    let program = Program {
        binary: options.server.clone(),
        blob_port: options.blob_port,
        queue_port: options.queue_port,
        table_port: options.table_port,
        admin_port: options.admin_port,
        store: None,
        arguments: Vec::new(),
    };
    check_ports(&program)?;
    fs::create_dir_all(&options.folder).map_err(|error| format!("{}: {error}", options.folder.display()))?;
    let memory = Path::new(MEMORY).join(format!("tablerock-crash-{}", options.table_port));
    let has_memory = fs::create_dir_all(&memory).is_ok();
    Ok(Run {
        seed: options.seed.unwrap_or_else(|| Rng::new().u64(..)),
        program,
        more_ports: options.more_ports,
        store: options.store.clone(),
        shim: options.shim.clone(),
        folder: options.folder.clone(),
        memory: if has_memory { memory } else { options.folder.clone() },
        is_long: options.long,
        is_verbose: options.verbose,
    })
}
