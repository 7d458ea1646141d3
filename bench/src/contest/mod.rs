//! Several contestants under the same load, in turns: forwards in one round and backwards in the next, so that a
//! machine that slows down or speeds up meanwhile favours no contestant.

pub mod plan;
pub mod progress;
pub mod rows;
pub mod server;
pub mod stage;

use std::thread;

use crate::Result;
use crate::contest::rows::Row;
use crate::contest::server::{Server, wait_until_quiet};
use crate::fjall_alone::FjallAlone;
use crate::load::{self, Load, Run};
use crate::report;
use crate::results::Results;
use crate::results::series::{Series, Who};
use crate::workload::Workload;

/// A participant of a contest.
pub enum Contestant<'a> {
    Server { who: Who, server: &'a Server, work: Box<dyn Workload + 'a>, load: Load },
    Fjall(FjallAlone),
}

impl std::fmt::Debug for Contestant<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Contestant").field(&self.who()).finish()
    }
}

impl Contestant<'_> {
    fn who(&self) -> Who {
        match self {
            Contestant::Server { who, .. } => *who,
            Contestant::Fjall(_) => Who::FjallAlone,
        }
    }

    fn server(&self) -> Option<&Server> {
        match self {
            Contestant::Server { server, .. } => Some(server),
            Contestant::Fjall(_) => None,
        }
    }

    fn run(&self) -> Result<Run> {
        match self {
            Contestant::Server { server, work, load, .. } => {
                let run = load::drive(server.at(), work.as_ref(), load)?;
                thread::sleep(load.rest);
                Ok(run)
            }
            Contestant::Fjall(fjall) => fjall.run(),
        }
    }
}

/// A load, and the row that it stands for.
#[derive(Debug, Clone)]
pub struct Case {
    pub row: Row,
    pub name: String,
    pub is_judged: bool,
}

/// Runs all of them, `rounds` times each, and adds what they showed to the results. Tablerock comes first, because fjall
/// alone repeats what it wrote. A rival that fails is out.
pub fn hold(case: &Case, rounds: usize, contestants: &[Contestant<'_>], results: &mut Results) -> Result<()> {
    let servers: Vec<&Server> = contestants.iter().filter_map(Contestant::server).collect();
    let mut runs: Vec<Vec<Run>> = contestants.iter().map(|_| Vec::new()).collect();
    let mut order: Vec<usize> = (0..contestants.len()).collect();
    for _ in 0..rounds {
        let mut out = Vec::new();
        for &index in &order {
            wait_until_quiet(&servers);
            let contestant = &contestants[index];
            let doing = format!("{}, {}", case.row.title(), case.name);
            match contestant.run() {
                Ok(run) => runs[index].push(run),
                Err(why) if contestant.who().may_fail() => {
                    results.mishap(contestant.who(), doing, why, contestant.server().and_then(Server::end));
                    out.push(index);
                }
                Err(why) => return Err(format!("{doing}: {}: {why}", contestant.who().name())),
            }
        }
        order.retain(|index| !out.contains(index));
        order.reverse();
    }
    for (contestant, runs) in contestants.iter().zip(runs) {
        let (row, case, is_judged, who) = (case.row, case.name.clone(), case.is_judged, contestant.who());
        let series = Series { row, case, who, is_judged, runs };
        if !series.runs.is_empty() {
            println!("{}", report::line(&series));
        }
        if let (lost @ 1.., all) = series.lost() {
            let what = format!("requests that {} left without a response ({})", who.name(), series.case);
            results.fact(row, what, format!("{lost} of {all}"));
        }
        results.series.push(series);
    }
    Ok(())
}
