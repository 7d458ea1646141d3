//! Running the suites against a server, one after the other, and telling how each went.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::Result;
use crate::checks;
use crate::child::{self, End, TAIL_LINES};
use crate::environments::{Environment, Preparation};
use crate::judge::{self, Verdict};
use crate::known::Known;
use crate::port;
use crate::results::{self, CaseResult};
use crate::second_port::SecondPort;
use crate::server_under_test::{ServerUnderTest, connection_string};
use crate::suites::{Suite, Target};
use crate::summary::{Row, Summary};
use crate::workspace::{Workspace, is_ci};

/// `cargo xtask conform`.
pub(crate) fn run(workspace: &Workspace, chosen: &[Suite], azurite: bool, port: u16) -> Result<bool> {
    let suites = if chosen.is_empty() { Suite::ALL.to_vec() } else { chosen.to_vec() };
    let mut environments: Vec<Environment> = suites.iter().filter_map(|suite| suite.environment()).collect();
    environments.extend(azurite.then_some(Environment::Azurite));
    let mut preparation = Preparation::begin(workspace, &environments);
    let mut summary = Summary::default();
    against(workspace, Target::Tablerock, &suites, port, &mut preparation, &mut summary);
    if azurite {
        against(workspace, Target::Azurite, &suites, port, &mut preparation, &mut summary);
    }
    println!("\n{summary}");
    Ok(summary.is_success())
}

/// Runs the suites against one server, from its start to its stop. Returns the port it listened on, if it did.
pub(crate) fn against(
    workspace: &Workspace,
    target: Target,
    suites: &[Suite],
    port: u16,
    preparation: &mut Preparation,
    summary: &mut Summary,
) -> Option<u16> {
    let builds = [
        (target == Target::Tablerock).then(|| checks::build_server(workspace)),
        suites.contains(&Suite::Raw).then(|| checks::build_raw(workspace)),
    ];
    let is_built = builds.iter().flatten().all(|row| row.failed == 0);
    builds.into_iter().flatten().for_each(|row| summary.push(row));
    if !is_built {
        leave_out(suites, summary);
        return None;
    }
    let started = Instant::now();
    let server = match start(workspace, target, port, preparation) {
        Ok(server) => server,
        Err(why) => {
            let name = format!("{} server", target.name());
            summary.push(if target == Target::Tablerock { failed(&name, &why) } else { cannot_run(&name, &why) });
            leave_out(suites, summary);
            return None;
        }
    };
    let port = server.port;
    println!("server: {} on port {port}", target.name());
    for &suite in suites {
        summary.push(run_suite(workspace, &server, target, suite, preparation));
    }
    let name = format!("{} server", target.name());
    summary.push(match server.stop() {
        Ok(()) => Row::passed(&name, started.elapsed()),
        Err(why) => failed(&name, &why),
    });
    Some(port)
}

fn start(workspace: &Workspace, target: Target, port: u16, preparation: &mut Preparation) -> Result<ServerUnderTest> {
    if target == Target::Azurite {
        preparation.wait_for(Environment::Azurite)?;
    }
    ServerUnderTest::start(workspace, target, port::choose(port, is_ci())?)
}

/// Tells of suites that were not even begun, because something before them failed.
pub(crate) fn leave_out(suites: &[Suite], summary: &mut Summary) {
    for suite in suites {
        println!("skipped: {} suite: a step before it failed", suite.name());
        summary.push(Row::skipped(suite.name()));
    }
}

fn failed(name: &str, why: &str) -> Row {
    println!("{name}: FAILED: {why}");
    Row::failed(name, Duration::ZERO)
}

/// A suite that cannot run is a failure where nothing may be left out, and elsewhere a visible gap.
fn cannot_run(name: &str, why: &str) -> Row {
    if is_ci() {
        failed(name, why)
    } else {
        println!("skipped: {name}: {why}");
        Row::skipped(name)
    }
}

fn run_suite(
    workspace: &Workspace,
    server: &ServerUnderTest,
    target: Target,
    suite: Suite,
    preparation: &mut Preparation,
) -> Row {
    let name = match target {
        Target::Tablerock => suite.name().to_owned(),
        Target::Azurite => format!("azurite {}", suite.name()),
    };
    if let Err(why) = forget_results(workspace, target, suite) {
        return failed(&name, &why);
    }
    if let Some(Err(why)) = suite.environment().map(|environment| preparation.wait_for(environment)) {
        return cannot_run(&format!("{name} suite"), &why);
    }
    println!("{name}: runs");
    let started = Instant::now();
    let judged = run_and_judge(workspace, server, target, suite);
    let time = started.elapsed();
    match judged {
        Ok(verdict) => {
            let log = workspace.log(&log_name(target, suite));
            tell(&name, &verdict, time, &workspace.shown(&log), &child::tail(&log, TAIL_LINES));
            let Verdict { passed, known, skipped, problems } = verdict;
            Row { name, passed, known, failed: problems.len(), skipped: skipped.len(), time }
        }
        Err(why) => failed(&name, &why),
    }
}

/// Results of an earlier run must not be taken for those of this one, least of all if the suite cannot run.
fn forget_results(workspace: &Workspace, target: Target, suite: Suite) -> Result<()> {
    let file = workspace.results(target, suite);
    for file in [second_results(&file), file] {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(format!("{}: {error}", workspace.shown(&file)));
            }
            _ => {}
        }
    }
    Ok(())
}

fn second_results(file: &Path) -> PathBuf {
    file.with_extension("second-port.jsonl")
}

fn log_name(target: Target, suite: Suite) -> String {
    format!("{}-{}", target.name(), suite.name())
}

fn run_and_judge(workspace: &Workspace, server: &ServerUnderTest, target: Target, suite: Suite) -> Result<Verdict> {
    let file = workspace.results(target, suite);
    let (mut end, mut results) =
        run_once(workspace, suite.command(workspace), server.port, target, suite, &log_name(target, suite), &file)?;
    if let Some(command) = suite.command_on_second_port(workspace).filter(|_| server.port == port::DEVELOPMENT) {
        let second = SecondPort::open(server.port)?;
        let log = format!("{}-second-port", log_name(target, suite));
        let (second_end, second_results) =
            run_once(workspace, command, second.port, target, suite, &log, &second_results(&file))?;
        results = results::merged(vec![results, second_results]);
        end = worse(end, second_end);
        results::write(&file, &results)?;
    }
    let known = Known::read(&workspace.known(target, suite))?;
    Ok(judge::judge(&results, &known, end, suite.cases_min()))
}

fn run_once(
    workspace: &Workspace,
    mut command: Command,
    port: u16,
    target: Target,
    suite: Suite,
    log: &str,
    results_file: &Path,
) -> Result<(End, Vec<CaseResult>)> {
    command
        .env("CONFORMANCE_CONNECTION_STRING", connection_string(port))
        .env("CONFORMANCE_TARGET", target.name())
        .env("CONFORMANCE_RESULTS", results_file)
        // A proxy of the machine must not come between the suite and the server.
        .env("NO_PROXY", "127.0.0.1,localhost")
        .env("no_proxy", "127.0.0.1,localhost");
    let end = child::run(&mut command, &workspace.log(log), suite.limit())?;
    Ok((end, results::read(results_file)?))
}

/// Of two ends the one that tells more about what went wrong.
fn worse(first: End, second: End) -> End {
    let badness = |end: End| match end {
        End::Code(0) => 0,
        End::Code(1) => 1,
        _ => 2,
    };
    if badness(second) > badness(first) { second } else { first }
}

fn tell(name: &str, verdict: &Verdict, time: Duration, log: &str, tail: &str) {
    for case in &verdict.skipped {
        println!("{name}: skipped: {case}");
    }
    let seconds = time.as_secs();
    if verdict.problems.is_empty() {
        println!("{name}: ok, {} passed, {} as known, {seconds} s", verdict.passed, verdict.known);
        return;
    }
    println!("{name}: FAILED, {seconds} s; see {log}");
    for problem in &verdict.problems {
        println!("{name}: {problem}");
    }
    print!("{tail}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_ends_the_worse_counts() {
        assert_eq!(worse(End::Code(0), End::Code(1)), End::Code(1));
        assert_eq!(worse(End::Signal, End::Code(1)), End::Signal);
        assert_eq!(worse(End::Code(1), End::Code(4)), End::Code(4));
        assert_eq!(worse(End::Code(0), End::Code(0)), End::Code(0));
    }
}
