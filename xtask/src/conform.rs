//! The suites against a server, one after the other, from the server's start to its stop.

use std::thread;
use std::time::{Duration, Instant};

use crate::Result;
use crate::checks;
use crate::server::ServerUnderTest;
use crate::server::ports::Ports;
use crate::setup::environments::Environment;
use crate::setup::postgres;
use crate::setup::preparation::Preparation;
use crate::suite::run::{self, SuiteRun};
use crate::suite::{Suite, Target};
use crate::summary::{Row, Summary};
use crate::workspace::{Workspace, is_ci};

/// The targets of the suites in addition to Tablerock on a disk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Others {
    pub(crate) azurite: bool,
    pub(crate) postgres: bool,
}

/// `cargo xtask conform`.
pub(crate) fn run(workspace: &Workspace, chosen: &[Suite], others: Others, table_port: u16) -> Result<bool> {
    let Others { azurite, postgres } = others;
    let ports = Ports::up_to(table_port)?;
    let suites = if chosen.is_empty() { Suite::ALL.to_vec() } else { chosen.to_vec() };
    let mut environments: Vec<Environment> = suites.iter().flat_map(|suite| suite.environments()).copied().collect();
    environments.extend(azurite.then_some(Environment::Azurite));
    let mut preparation = Preparation::begin(workspace, &environments);
    let mut summary = Summary::default();
    match postgres {
        true => against_both(workspace, &suites, ports, &mut preparation, &mut summary),
        false => against(workspace, Target::Tablerock, &suites, ports, &mut preparation, &mut summary),
    };
    if azurite {
        against(workspace, Target::Azurite, &suites, ports, &mut preparation, &mut summary);
    }
    println!("\n{summary}");
    Ok(summary.is_success())
}

/// `cargo xtask conform --store URL`: the engine suite, and the suites against one server on that database.
pub(crate) fn run_on_store(workspace: &Workspace, chosen: &[Suite], table_port: u16) -> Result<bool> {
    let ports = Ports::up_to(table_port)?;
    let suites = if chosen.is_empty() { Suite::ALL.to_vec() } else { chosen.to_vec() };
    let environments: Vec<Environment> = suites.iter().flat_map(|suite| suite.environments()).copied().collect();
    let mut preparation = Preparation::begin(workspace, &environments);
    let mut summary = Summary::default();
    summary.push(checks::engine_suite(workspace));
    against(workspace, Target::TablerockOnPostgres, &suites, ports, &mut preparation, &mut summary);
    println!("\n{summary}");
    Ok(summary.is_success())
}

/// Runs the suites against Tablerock on a disk and on PostgreSQL. Suites that leave the servers idle run against the second,
/// on other ports, at the same time as those against the first. Returns the ports of the first, if it started.
pub(crate) fn against_both(
    workspace: &Workspace,
    suites: &[Suite],
    ports: Ports,
    preparation: &mut Preparation,
    summary: &mut Summary,
) -> Option<Ports> {
    let (beside, after): (Vec<Suite>, Vec<Suite>) = suites.iter().partition(|suite| suite.waits_for_programs());
    let environments: Vec<Environment> = beside.iter().flat_map(|suite| suite.environments()).copied().collect();
    let mut prepared = preparation.wait_for_all(&environments);
    let mut summary_beside = Summary::default();
    let used = thread::scope(|scope| {
        let beside = scope.spawn(|| run_beside(workspace, &beside, &mut prepared, &mut summary_beside));
        let used = against(workspace, Target::Tablerock, suites, ports, preparation, summary);
        if beside.join().is_err() {
            summary.push(failed(Target::TablerockOnPostgres.name(), "its run panicked"));
        }
        used
    });
    summary.append(summary_beside);
    if !after.is_empty() {
        match summary.is_success() {
            true => drop(against(workspace, Target::TablerockOnPostgres, &after, ports, preparation, summary)),
            false => leave_out(Target::TablerockOnPostgres, &after, summary),
        }
    }
    used
}

fn run_beside(workspace: &Workspace, suites: &[Suite], preparation: &mut Preparation, summary: &mut Summary) {
    if suites.is_empty() {
        return;
    }
    let target = Target::TablerockOnPostgres;
    match Ports::any_free() {
        Ok(ports) => drop(against(workspace, target, suites, ports, preparation, summary)),
        Err(why) => summary.push(failed(target.name(), &why)),
    }
}

/// Builds, starts, runs and stops. Returns the ports of the server, if it started.
pub(crate) fn against(
    workspace: &Workspace,
    target: Target,
    suites: &[Suite],
    ports: Ports,
    preparation: &mut Preparation,
    summary: &mut Summary,
) -> Option<Ports> {
    let builds = [
        (target.is_ours() && workspace.server.is_none()).then(|| checks::build_server(workspace)),
        suites.contains(&Suite::Raw).then(|| checks::build_raw(workspace)),
        suites.iter().any(|suite| suite.uses_rust_client()).then(|| checks::build_rust_client(workspace)),
    ];
    let is_built = builds.iter().flatten().all(|row| row.failed == 0);
    builds.into_iter().flatten().for_each(|row| summary.push(row));
    if !is_built {
        leave_out(target, suites, summary);
        return None;
    }

    let name = target.name();
    if let (Target::TablerockOnPostgres, Err(why)) = (target, postgres::ensure(workspace)) {
        let missing = suites.iter().map(|&suite| cannot_run(&run::name(target, suite), "suite", &why));
        missing.for_each(|row| summary.push(row));
        return None;
    }
    let started = Instant::now();
    let server = match start(workspace, target, ports, preparation) {
        Ok(server) => server,
        Err(why) => {
            summary.push(if target.is_ours() { failed(name, &why) } else { cannot_run(name, "server", &why) });
            leave_out(target, suites, summary);
            return None;
        }
    };
    let ports = server.ports;
    println!("{name}: listens on ports {:?}", ports.all());
    for &suite in suites {
        summary.push(run_suite(workspace, ports, target, suite, preparation));
    }
    summary.push(match server.stop() {
        Ok(()) => Row::passed(name, started.elapsed()),
        Err(why) => failed(name, &why),
    });
    Some(ports)
}

fn start(
    workspace: &Workspace,
    target: Target,
    ports: Ports,
    preparation: &mut Preparation,
) -> Result<ServerUnderTest> {
    if target == Target::Azurite {
        preparation.wait_for(Environment::Azurite)?;
    }
    ServerUnderTest::start(workspace, target, Ports::choose(ports, is_ci())?)
}

fn run_suite(workspace: &Workspace, ports: Ports, target: Target, suite: Suite, preparation: &mut Preparation) -> Row {
    let name = run::name(target, suite);
    let run = match SuiteRun::new(workspace, target, suite) {
        Ok(run) => run,
        Err(why) => return failed(&name, &why),
    };
    let mut missing = Vec::new();
    for &environment in suite.environments() {
        match preparation.wait_for(environment) {
            Err(why) if suite.can_do_without(environment) && !is_ci() => missing.push((environment, why)),
            Err(why) => return cannot_run(&name, "suite", &format!("{}: {why}", environment.name())),
            Ok(()) => {}
        }
    }
    run.run(ports, &missing).unwrap_or_else(|why| failed(&name, &why))
}

/// Reports suites as skipped because an earlier step failed.
pub(crate) fn leave_out(target: Target, suites: &[Suite], summary: &mut Summary) {
    for &suite in suites {
        let name = run::name(target, suite);
        println!("skipped: {name} suite: an earlier step failed");
        summary.push(Row::skipped(&name));
    }
}

fn failed(name: &str, why: &str) -> Row {
    println!("{name}: FAILED: {why}");
    Row::failed(name, Duration::ZERO)
}

/// Reports what cannot run: as failed on CI, as skipped elsewhere.
pub(crate) fn cannot_run(name: &str, kind: &str, why: &str) -> Row {
    if is_ci() {
        return failed(name, why);
    }
    println!("skipped: {name} {kind}: {why}");
    Row::skipped(name)
}
