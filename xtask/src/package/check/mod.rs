//! The step `packages` of `cargo xtask test`: each package is made from the release binary and used as its users do, without a
//! network.

#[cfg(target_os = "linux")]
mod container;
#[cfg(target_os = "linux")]
mod deb;
mod dist;
mod helpers;
#[cfg(target_os = "linux")]
mod image;
mod npm;
mod python;
#[cfg(target_os = "linux")]
mod recipes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use self::dist::Dist;
use crate::Result;
use crate::checks;
use crate::conform;
use crate::package::binary::Binary;
use crate::package::version::Version;
use crate::package::{crates, sbom};
use crate::process::child::{self, TAIL_LINES};
use crate::setup::environments::Environment;
use crate::setup::preparation::Preparation;
use crate::summary::{Row, Summary};
use crate::workspace::Workspace;

/// Why a check did not pass.
pub(super) enum Miss {
    /// This machine lacks something. On CI that is a failure.
    CannotRun(String),
    Failed(String),
}

impl<T: Into<String>> From<T> for Miss {
    fn from(why: T) -> Self {
        Self::Failed(why.into())
    }
}

/// The number of cases that passed.
type Outcome = std::result::Result<usize, Miss>;

/// A package under test.
struct Context<'a> {
    workspace: &'a Workspace,
    version: Version,
    binary: Binary,
    /// Packages come from here, or else are made.
    dist: Option<Dist>,
}

/// Where the binary and the packages come from; without either, from the release build.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Source<'a> {
    pub(crate) binary: Option<&'a Path>,
    pub(crate) dist: Option<&'a Path>,
}

type Check = (&'static str, fn(&Context<'_>) -> Outcome);

/// Images and Debian packages are for Linux.
const CHECKS: &[Check] = &[
    #[cfg(target_os = "linux")]
    ("image", image::check),
    #[cfg(target_os = "linux")]
    ("deb", deb::check),
    ("python", python::check),
    ("npm", npm::check),
    ("go", helpers::check_go),
    ("java", helpers::check_java),
    ("crates", check_crates),
    ("sbom", check_sbom),
];

/// Checks the named packages, or all, with the release binary, which is built already.
pub(crate) fn step(workspace: &Workspace, only: &[String], source: Source<'_>) -> Vec<Row> {
    let context = match Context::of(workspace, source) {
        Ok(context) => context,
        Err(why) => {
            println!("packages: FAILED: {why}");
            return vec![Row::failed("packages", Duration::ZERO)];
        }
    };
    let wanted = CHECKS.iter().filter(|(name, _)| only.is_empty() || only.iter().any(|wanted| wanted == name));
    wanted.map(|check| run_check(&context, check)).collect()
}

impl<'a> Context<'a> {
    fn of(workspace: &'a Workspace, source: Source<'_>) -> Result<Self> {
        let version = Version::of(workspace)?;
        let dist = source.dist.map(Dist::open).transpose()?;
        let binary = match (source.binary, &dist) {
            (Some(binary), _) => binary.to_owned(),
            (None, Some(dist)) => dist.unpack_binary(workspace, &version)?,
            (None, None) => workspace.binary("release", "tablerock"),
        };
        Ok(Self { workspace, version, binary: Binary::of(&binary)?, dist })
    }

    /// A package of the release, or one that is made twice, which has to give the same bytes.
    fn package(&self, name: &str, make: impl Fn() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
        if let Some(dist) = &self.dist {
            return dist.read(name);
        }
        let bytes = make()?;
        if make()? == bytes { Ok(bytes) } else { Err(format!("{name} differs when it is made twice")) }
    }

    /// A file that a release has as the sources have it.
    fn file(&self, name: &str, source: &str) -> Result<Vec<u8>> {
        let path = self.workspace.root.join(source);
        let from_sources = || fs::read(&path).map_err(|error| format!("{source}: {error}"));
        self.dist.as_ref().map_or_else(from_sources, |dist| dist.read(name))
    }
}

fn run_check(context: &Context<'_>, (name, check): &Check) -> Row {
    let name = &format!("package {name}");
    let started = Instant::now();
    let outcome = check(context);
    let time = started.elapsed();
    match outcome {
        Ok(passed) => {
            println!("{name}: ok, {passed} cases, {:.1} s", time.as_secs_f64());
            Row { passed, ..Row::passed(name, time) }
        }
        Err(Miss::CannotRun(why)) => conform::cannot_run(name, "cases", &why),
        Err(Miss::Failed(why)) => {
            println!("{name}: FAILED: {why}");
            Row::failed(name, time)
        }
    }
}

/// Packages every crate that is published. Building them from their packages is left to `cargo xtask release --verify`.
fn check_crates(context: &Context<'_>) -> Outcome {
    if let Some(dist) = &context.dist {
        let names = crates::in_order(context.workspace)?;
        let found = dist.names("crates")?;
        let expected =
            names.iter().zip(1..).map(|(name, place)| format!("{place:02}-{name}-{}.crate", context.version.number));
        return if found.iter().cloned().eq(expected) {
            Ok(found.len())
        } else {
            Err(format!("crates/ has {found:?}").into())
        };
    }
    let files = crates::package(context.workspace, &context.version.number, false)?;
    match files.iter().find(|file| !file.exists()) {
        Some(missing) => Err(format!("cargo package did not write {}", missing.display()).into()),
        None => Ok(files.len()),
    }
}

/// Makes the bill of materials, and finds crates in it that every build links.
fn check_sbom(context: &Context<'_>) -> Outcome {
    let name = format!("tablerock-{}.cdx.json", context.version.number);
    let make = || Ok(sbom::make(context.workspace, &context.version)?.into_bytes());
    let document = String::from_utf8_lossy(&context.package(&name, make)?).into_owned();
    let found = ["tokio", "hyper", "rustls", "fjall"].map(|name| document.contains(&format!("\"pkg:cargo/{name}@")));
    if found.contains(&false) || document.contains("\"pkg:cargo/rcgen@") {
        return Err("the bill of materials does not list the crates of the binary".into());
    }
    Ok(1)
}

const STEP_LIMIT: Duration = Duration::from_secs(5 * 60);

/// Runs a command to its end and returns what it printed.
fn run(workspace: &Workspace, name: &str, command: &mut Command) -> Result<String> {
    let log = workspace.log(name);
    let end = child::run(command, &log, STEP_LIMIT)?;
    if end.is_success() {
        return fs::read_to_string(&log).map_err(|error| format!("{}: {error}", log.display()));
    }
    Err(format!("{name}: {end}; see {}\n{}", workspace.shown(&log), child::tail(&log, TAIL_LINES)))
}

/// `cargo xtask packages`: the step alone.
pub(crate) fn run_alone(workspace: &Workspace, only: &[String], source: Source<'_>) -> Result<bool> {
    if let Some(unknown) = only.iter().find(|name| CHECKS.iter().all(|(known, _)| known != name)) {
        let known: Vec<&str> = CHECKS.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no package {unknown}; choose from {}", known.join(", ")));
    }
    if source.binary.is_none() && source.dist.is_none() && checks::build_server(workspace).failed > 0 {
        return Ok(false);
    }
    let mut summary = Summary::default();
    step(workspace, only, source).into_iter().for_each(|row| summary.push(row));
    println!("\n{summary}");
    Ok(summary.is_success())
}

/// Waits for the packages of other suites that a check uses.
fn prepare(workspace: &Workspace, environment: Environment) -> std::result::Result<(), Miss> {
    Preparation::begin(workspace, &[environment]).wait_for(environment).map_err(Miss::CannotRun)
}

/// An empty folder for a check.
fn fresh_folder(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    let folder = workspace.target.join("packages/check").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Writes a file and the folders above it.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// The number before a word in the report of a test runner.
fn count_passed(log: &str, word: &str) -> Outcome {
    let mut numbers = log.lines().filter_map(|line| line.split_once(word)).filter_map(|(before, _)| {
        let digits = before.rsplit(|character: char| !character.is_ascii_digit()).next()?;
        digits.parse().ok()
    });
    numbers.next_back().filter(|passed| *passed > 0).ok_or_else(|| Miss::Failed(format!("no test ran:\n{log}")))
}
