//! The suites against a server, one after the other, from the server's start to its stop.

use std::thread;
use std::time::{Duration, Instant};

use crate::Result;
use crate::checks;
use crate::environments::Environment;
use crate::port::Ports;
use crate::preparation::Preparation;
use crate::server_under_test::ServerUnderTest;
use crate::suite_run::{self, SuiteRun};
use crate::suites::{Suite, Target};
use crate::summary::{Row, Summary};
use crate::workspace::{Workspace, is_ci};

/// What the suites run against beside Tablerock on a disk.
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
    let mut environments: Vec<Environment> = suites.iter().filter_map(|suite| suite.environment()).collect();
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

/// The suites against Tablerock on a disk and on a PostgreSQL. Those in which the servers have little to do run against both
/// at the same time, the second on ports of its own. Returns the ports that the first listened on, if it ever did.
pub(crate) fn against_both(
    workspace: &Workspace,
    suites: &[Suite],
    ports: Ports,
    preparation: &mut Preparation,
    summary: &mut Summary,
) -> Option<Ports> {
    let (together, apart): (Vec<Suite>, Vec<Suite>) = suites.iter().partition(|suite| suite.is_unhurried());
    let mut used = Some(ports);
    if !apart.is_empty() {
        used = against(workspace, Target::Tablerock, &apart, ports, preparation, summary);
        match summary.is_success() {
            true => drop(against(workspace, Target::TablerockOnPostgres, &apart, ports, preparation, summary)),
            false => leave_out(Target::TablerockOnPostgres, &apart, summary),
        }
    }
    if together.is_empty() {
        return used;
    }
    if !summary.is_success() {
        leave_out(Target::Tablerock, &together, summary);
        leave_out(Target::TablerockOnPostgres, &together, summary);
        return used;
    }
    let environments: Vec<Environment> = together.iter().filter_map(|suite| suite.environment()).collect();
    let [mut one, mut other] = [(); 2].map(|()| preparation.wait_for_all(&environments));
    let mut others_summary = Summary::default();
    let ports_there = thread::scope(|scope| {
        let beside = scope.spawn(|| {
            let ports = Ports::any_free();
            let target = Target::TablerockOnPostgres;
            match ports {
                Ok(ports) => drop(against(workspace, target, &together, ports, &mut other, &mut others_summary)),
                Err(why) => others_summary.push(failed(target.name(), &why)),
            }
        });
        let ports = against(workspace, Target::Tablerock, &together, ports, &mut one, summary);
        if beside.join().is_err() {
            summary.push(failed(Target::TablerockOnPostgres.name(), "its run panicked"));
        }
        ports
    });
    summary.append(others_summary);
    used.filter(|_| ports_there == used)
}

/// Builds, starts, runs and stops. Returns the ports that the server listened on, if it ever did.
pub(crate) fn against(
    workspace: &Workspace,
    target: Target,
    suites: &[Suite],
    ports: Ports,
    preparation: &mut Preparation,
    summary: &mut Summary,
) -> Option<Ports> {
    let builds = [
        target.is_ours().then(|| checks::build_server(workspace)),
        suites.contains(&Suite::Raw).then(|| checks::build_raw(workspace)),
    ];
    let is_built = builds.iter().flatten().all(|row| row.failed == 0);
    builds.into_iter().flatten().for_each(|row| summary.push(row));
    if !is_built {
        leave_out(target, suites, summary);
        return None;
    }

    let name = target.name();
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
    let name = suite_run::name(target, suite);
    let run = match SuiteRun::new(workspace, target, suite) {
        Ok(run) => run,
        Err(why) => return failed(&name, &why),
    };
    if let Some(Err(why)) = suite.environment().map(|environment| preparation.wait_for(environment)) {
        return cannot_run(&name, "suite", &why);
    }
    run.run(ports).unwrap_or_else(|why| failed(&name, &why))
}

/// Tells of suites that were not even begun, because something before them failed.
pub(crate) fn leave_out(target: Target, suites: &[Suite], summary: &mut Summary) {
    for &suite in suites {
        let name = suite_run::name(target, suite);
        println!("skipped: {name} suite: a step before it failed");
        summary.push(Row::skipped(&name));
    }
}

fn failed(name: &str, why: &str) -> Row {
    println!("{name}: FAILED: {why}");
    Row::failed(name, Duration::ZERO)
}

/// What cannot run is a failure where nothing may be left out, and elsewhere a visible gap.
fn cannot_run(name: &str, kind: &str, why: &str) -> Row {
    if is_ci() {
        return failed(name, why);
    }
    println!("skipped: {name} {kind}: {why}");
    Row::skipped(name)
}
