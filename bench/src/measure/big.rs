//! What size costs: point reads in ten million entities against ten thousand, and starts on them.
//!
//! The big directory takes minutes to fill, so it is kept for runs of single rows. What is for the record fills its own.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::start;
use crate::Result;
use crate::contest::rows::Row;
use crate::contest::server::{Server, wait_until_quiet};
use crate::contest::stage::{Place, Stage};
use crate::contest::{self, Case, Contestant};
use crate::data::dataset::{Dataset, create_table, drop_table};
use crate::http::caller::Credential;
use crate::load;
use crate::report::{megabytes, micros_of_all, thousands};
use crate::results::series::Who;
use crate::results::{Measured, in_case, times};
use crate::workload::{Insert, PointRead, Workload as _};

const CONNECTIONS: [usize; 2] = [16, 64];
const TIME_RATIO_MAX: f64 = 1.5;
const START_TIME_MAX: Duration = Duration::from_secs(2);
const RESTART_TABLE: &str = "Restart";
/// Each comes after seconds of inserts.
const CRASHES: usize = 3;

pub(super) fn measure(stage: &mut Stage, wants: &dyn Fn(Row) -> bool) -> Result<()> {
    if !wants(Row::BigRead) && !wants(Row::BigStart) {
        return Ok(());
    }
    let big = filled(stage, Place::Big, stage.plan.big)?;
    read_files(&big).map_err(|error| format!("{}: {error}", big.display()))?;
    if wants(Row::BigRead) {
        let small = filled(stage, Place::Small, stage.plan.small)?;
        point_reads(stage, &small, &big)?;
    }
    if wants(Row::BigStart) {
        starts(stage, &big)?;
    }
    Ok(())
}

/// A directory with all entities of a dataset, from an earlier run if it is whole.
fn filled(stage: &mut Stage, place: Place, dataset: Dataset) -> Result<PathBuf> {
    let name = format!("data-{}", dataset.entities);
    let (directory, stamp) = (stage.directory(&name), stage.directory(&format!("{name}.filled")));
    if stamp.exists() && stage.may_reuse {
        println!("using {} from an earlier run", directory.display());
        return Ok(directory);
    }
    if stamp.exists() {
        fs::remove_file(&stamp).map_err(|error| format!("{}: {error}", stamp.display()))?;
    }
    stage.emptied(&name)?;
    println!("filling a table with {} entities", thousands(dataset.entities as f64));
    let server = stage.tablerock(place, &directory)?;
    let rate = dataset.load(server.at())?;
    let what = format!("filling a table with {} entities by group transactions", thousands(dataset.entities as f64));
    stage.results.fact(Row::BigRead, what, format!("{} entities/s", thousands(rate)));
    wait_until_quiet(&[&server]);
    stage.retire(server, "filling a big table")?;
    File::create(&stamp).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(directory)
}

/// Brings files into the system's memory, where those of a directory that was just filled are too.
fn read_files(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            read_files(&path)?;
        } else {
            io::copy(&mut File::open(&path)?, &mut io::sink())?;
        }
    }
    Ok(())
}

fn point_reads(stage: &mut Stage, small: &Path, big: &Path) -> Result<()> {
    let servers = [stage.tablerock(Place::Small, small)?, stage.tablerock(Place::Big, big)?];
    let datasets = [stage.plan.small, stage.plan.big];
    for connections in CONNECTIONS {
        let name = format!("{connections} connections");
        let case = Case { row: Row::BigRead, name, is_judged: true };
        let load = stage.plan.load(connections);
        let contestants: Vec<_> = [Who::Small, Who::Big]
            .into_iter()
            .zip(servers.iter().zip(datasets))
            .map(|(who, (server, dataset))| {
                let work = PointRead { port: server.at().port, dataset, credential: Credential::SharedKey };
                Contestant::Server { who, server, work: Box::new(work), load }
            })
            .collect();
        contest::hold(&case, stage.plan.read_rounds, &contestants, &mut stage.results)?;
    }
    for server in servers {
        stage.retire(server, Row::BigRead.title())?;
    }
    let slowest = stage.results.lowest_ratio(Row::BigRead, Who::Big, Who::Small);
    let measured = slowest.map(|(ratio, case)| (ratio.recip(), case)).map(|(slowness, case)| Measured {
        shown: in_case(&times(slowness), case),
        is_met: slowness <= TIME_RATIO_MAX,
    });
    let [few, many] = datasets.map(|dataset| thousands(dataset.entities as f64));
    let target = format!("{many} entities against {few}: at most {} the time", times(TIME_RATIO_MAX));
    stage.results.judge(Row::BigRead, target, measured);
    Ok(())
}

/// Starts whose first response is an entity, after an orderly end and after a crash that leaves journals full of inserts.
fn starts(stage: &mut Stage, big: &Path) -> Result<()> {
    let (dataset, port) = (stage.plan.big, stage.port(Place::Big));
    let start = |_| {
        let mut request = Vec::new();
        PointRead { port, dataset, credential: Credential::SharedKey }.client(0)?.next(&mut request);
        stage.tablerock_asked(Place::Big, big, &request)
    };
    let after_stop = start::start_times(stage.plan.starts, start, Server::stop)?;
    let load = stage.plan.write_load(64, Who::Tablerock);
    let crash = |server: Server| {
        let work = Insert::new(port, RESTART_TABLE, 10_000);
        drop_table(port, RESTART_TABLE)?;
        create_table(port, RESTART_TABLE)?;
        load::drive(server.at(), &work, &load)?;
        stage.note_memory(&server, "inserts into a big table");
        server.kill();
        Ok(())
    };
    crash(start(0)?)?;
    let after_crash = start::start_times(stage.plan.starts.min(CRASHES), start, crash)?;
    let last = start(0)?;
    drop_table(port, RESTART_TABLE)?;
    let memory = last.memory_now();
    last.stop()?;
    let entities = thousands(dataset.entities as f64);
    stage.results.fact(Row::Memory, format!("right after a start on {entities} entities"), megabytes(memory));
    for (when, times) in [("", after_stop), (" after a crash", after_crash)] {
        let target = format!("{entities} entities{when}: under 2 s");
        start::judge(stage, Row::BigStart, &target, START_TIME_MAX, start::median(&times));
        stage.results.fact(Row::BigStart, format!("each of them{when}, in order"), micros_of_all(&times));
    }
    Ok(())
}
