//! The command: runs the parts that are asked for, and says what came of each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use fastrand::Rng;
use tablerock_crash::part::Part;
use tablerock_crash::run::Run;
use tablerock_crash::server::{Program, check_ports};
use tablerock_crash::{layer, many};

/// Files here are in memory, on Linux.
const MEMORY: &str = "/dev/shm";
const KILLS: usize = 16;
const KILLS_LONG: usize = 500;

/// Kills, power cuts, faults, clock steps, contention and hostile load against a Tablerock binary.
#[derive(Parser, Debug)]
#[command(version)]
struct Options {
    /// The binary under test
    #[arg(long)]
    server: PathBuf,
    /// The library that goes under its data directory; parts that need it are skipped without
    #[arg(long)]
    shim: Option<PathBuf>,
    /// Where data directories are made
    #[arg(long)]
    folder: PathBuf,
    /// Repeats the run of this seed
    #[arg(long)]
    seed: Option<u64>,
    /// Takes hours instead of minutes
    #[arg(long)]
    long: bool,
    /// How many times the server is killed
    #[arg(long)]
    kills: Option<usize>,
    /// Only this part; may be given several times
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
    /// The first of twelve ports in a row, for servers that share a database
    #[arg(long, default_value_t = 10174)]
    more_ports: u16,
    /// A part that cannot run here is a failure
    #[arg(long)]
    nothing_left_out: bool,
    /// Tells of every step
    #[arg(long, short)]
    verbose: bool,
}

fn main() -> ExitCode {
    match begin(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Whether all went well; an error means that it did not even begin.
fn begin(options: &Options) -> Result<bool, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let run = prepare(options)?;
    let layer_works = layer::check(run.shim.as_deref(), &run.program, &run.folder);
    println!("crash: seed {}", run.seed);
    let kills = options.kills.unwrap_or(if run.is_long { KILLS_LONG } else { KILLS });
    let mut is_success = true;
    for &part in Part::value_variants() {
        if !options.only.is_empty() && !options.only.contains(&part) {
            continue;
        }
        let started = Instant::now();
        let lacking = match part {
            _ if part.needs_layer() => layer_works.clone().err(),
            _ if part.needs_database() => many::check().err(),
            _ => None,
        };
        let outcome = match lacking {
            Some(why) if !options.nothing_left_out => {
                println!("skipped: crash {part}: {why}");
                continue;
            }
            Some(why) => Err(why),
            None => runtime.block_on(part.run(&run, kills)),
        };
        let seconds = started.elapsed().as_secs();
        match outcome {
            Ok(told) => println!("crash: {part}: ok, {told}, {seconds} s"),
            Err(why) => {
                println!("crash: {part}: FAILED, seed {}, {seconds} s: {why}", run.seed);
                is_success = false;
            }
        }
    }
    if is_success && run.memory != run.folder {
        // What is left there would take up memory until the next start of the machine.
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
    };
    check_ports(&program)?;
    fs::create_dir_all(&options.folder).map_err(|error| format!("{}: {error}", options.folder.display()))?;
    let memory = Path::new(MEMORY).join(format!("tablerock-crash-{}", options.table_port));
    let has_memory = fs::create_dir_all(&memory).is_ok();
    Ok(Run {
        seed: options.seed.unwrap_or_else(|| Rng::new().u64(..)),
        program,
        more_ports: options.more_ports,
        shim: options.shim.clone(),
        folder: options.folder.clone(),
        memory: if has_memory { memory } else { options.folder.clone() },
        is_long: options.long,
        is_verbose: options.verbose,
    })
}
