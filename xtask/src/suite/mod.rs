//! The conformance suites: their names, their requirements and their commands.

pub(crate) mod known_differences;
mod libtest;
pub(crate) mod results;
pub(crate) mod run;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::ValueEnum;

use crate::checks::RUST_CLIENT;
use crate::setup::environments::{self, Environment};
use crate::setup::tools;
use crate::workspace::{Workspace, cargo};

/// A server that the suites run against. A result of one is compared with the same result of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Tablerock,
    /// Tablerock with its data in a PostgreSQL.
    TablerockOnPostgres,
    Azurite,
}

impl Target {
    pub(crate) const fn is_ours(self) -> bool {
        matches!(self, Target::Tablerock | Target::TablerockOnPostgres)
    }

    /// The target that the suites get as a parameter, and whose known differences apply: the engine must not matter.
    pub(crate) const fn kind(self) -> Self {
        if self.is_ours() { Target::Tablerock } else { self }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Target::Tablerock => "tablerock",
            Target::TablerockOnPostgres => "tablerock-postgres",
            Target::Azurite => "azurite",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Suite {
    Raw,
    Client,
    Python,
    Js,
    LegacyNode,
    LegacyPython,
    LegacyJava,
    Go,
    Java,
    Az,
    Rclone,
    Programs,
}

impl Suite {
    pub(crate) const ALL: [Suite; 12] = [
        Suite::Raw,
        Suite::Client,
        Suite::Python,
        Suite::Js,
        Suite::LegacyNode,
        Suite::LegacyPython,
        Suite::LegacyJava,
        Suite::Go,
        Suite::Java,
        Suite::Az,
        Suite::Rclone,
        Suite::Programs,
    ];

    /// Whether cargo runs the suite. These tests are about our client, not about the operations of the service.
    pub(crate) const fn is_of_our_client(self) -> bool {
        matches!(self, Suite::Client | Suite::LegacyPython | Suite::LegacyJava)
    }

    /// Whether its cases are about operations of the service. Those of a program are about the program.
    pub(crate) const fn is_about_operations(self) -> bool {
        !self.is_of_our_client() && !matches!(self, Suite::Programs)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Suite::Raw => "raw",
            Suite::Client => "client",
            Suite::Python => "python",
            Suite::Js => "js",
            Suite::LegacyNode => "legacy-node",
            Suite::LegacyPython => "legacy-python",
            Suite::LegacyJava => "legacy-java",
            Suite::Go => "go",
            Suite::Java => "java",
            Suite::Az => "az",
            Suite::Rclone => "rclone",
            Suite::Programs => "programs",
        }
    }

    /// Whether the suite mostly waits for programs to start. Such a suite runs against both engines at the same time.
    pub(crate) const fn waits_for_programs(self) -> bool {
        matches!(self, Suite::Az | Suite::Rclone | Suite::Programs)
    }

    /// Whether its cases have our client as a program, to continue each other's work.
    pub(crate) const fn uses_rust_client(self) -> bool {
        matches!(self, Suite::Python | Suite::Js | Suite::Go | Suite::Java)
    }

    /// Whether an environment is one program of several, without which the suite can do the other jobs.
    pub(crate) fn can_do_without(self, environment: Environment) -> bool {
        matches!(self, Suite::Programs) && environment.is_one_program()
    }

    /// The environments that are installed first.
    pub(crate) const fn environments(self) -> &'static [Environment] {
        match self {
            Suite::Raw | Suite::Client => &[],
            Suite::Python => &[Environment::Python],
            Suite::Js => &[Environment::Js],
            Suite::LegacyNode => &[Environment::LegacyNode],
            Suite::LegacyPython => &[Environment::LegacyPython],
            Suite::LegacyJava => &[Environment::LegacyJava],
            Suite::Go => &[Environment::Go],
            Suite::Java => &[Environment::Java],
            Suite::Az => &[Environment::Az],
            Suite::Rclone => &[Environment::Rclone],
            Suite::Programs => {
                &[Environment::Programs, Environment::AzCopy, Environment::Restic, Environment::LegacyJava]
            }
        }
    }

    /// The least number of cases of a complete run. It is a little below the real number, so that it needs raising only now
    /// and then.
    pub(crate) const fn cases_min(self) -> usize {
        match self {
            Suite::Raw => 550,
            Suite::Client => 120,
            Suite::Python => 1600,
            Suite::Js => 900,
            Suite::LegacyNode => 20,
            Suite::LegacyPython | Suite::LegacyJava => 4,
            Suite::Go => 960,
            Suite::Java => 660,
            Suite::Az => 45,
            Suite::Rclone => 20,
            // Those that are Python packages; each of the others may be missing.
            Suite::Programs => 12,
        }
    }

    pub(crate) const fn limit(self) -> Duration {
        match self {
            // Its tests may have to be built.
            Suite::Client | Suite::LegacyPython | Suite::LegacyJava => Duration::from_secs(20 * 60),
            _ => Duration::from_secs(8 * 60),
        }
    }

    /// Runs every case.
    pub(crate) fn command(self, workspace: &Workspace) -> Command {
        let mut command = match self {
            Suite::Raw => Command::new(workspace.binary("debug", "tablerock-conformance")),
            Suite::Client => all_client_tests(),
            Suite::LegacyPython => {
                legacy_tests("c8_legacy_python", "LEGACY_PYTHON", &environments::venv_python(workspace, self.name()))
            }
            Suite::LegacyJava => {
                legacy_tests("c8_legacy_java", "LEGACY_JAVA", &Environment::LegacyJava.program(workspace))
            }
            Suite::Python | Suite::Az | Suite::Rclone => pytest(environments::venv_python(workspace, self.name())),
            Suite::Programs => programs(workspace),
            Suite::Js | Suite::LegacyNode => with_arguments("node", &["--test"]),
            Suite::Go => with_arguments("go", &["test", "-count=1", "./..."]),
            Suite::Java => with_arguments(tools::MVN, &["-q", "-B", "test"]),
        };
        if self.uses_rust_client() {
            command.env("CONFORMANCE_RUST_CLIENT", workspace.binary("debug", RUST_CLIENT));
        }
        command.current_dir(self.folder(workspace));
        command
    }

    /// Runs the cases that skip themselves on the port of the development account.
    pub(crate) fn command_on_second_port(self, workspace: &Workspace) -> Option<Command> {
        match self {
            Suite::Python => {
                let mut command = self.command(workspace);
                command.arg("tables/test_cosmos_route.py");
                Some(command)
            }
            _ => None,
        }
    }

    fn folder(self, workspace: &Workspace) -> PathBuf {
        match self {
            Suite::Raw | Suite::Client | Suite::LegacyPython | Suite::LegacyJava => workspace.root.clone(),
            Suite::Programs => workspace.programs(),
            _ => workspace.sdk(self.name()),
        }
    }
}

/// The runner of the programs, which learns where each of them is.
fn programs(workspace: &Workspace) -> Command {
    let mut command = pytest(environments::venv_python(workspace, Suite::Programs.name()));
    for program in Suite::Programs.environments().iter().filter(|environment| environment.is_one_program()) {
        command.env(program.variable("CONFORMANCE_"), program.program(workspace));
    }
    command
}

/// In the paths of the tests that need Microsoft's legacy libraries.
const LEGACY: &str = "c8_legacy";

fn all_client_tests() -> Command {
    let mut command = client_tests(&["client", "patterns"]);
    // Suites of their own, because not every machine has Python and Java.
    command.args(["--skip", LEGACY]);
    command
}

/// Tests of the client and of the patterns, which by default start a server of their own. They are built with the features of
/// the whole workspace, as the unit tests are, so nothing is built again.
fn client_tests(tests: &[&str]) -> Command {
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]).args(tests.iter().flat_map(|test| ["--test", test]));
    command.arg("--");
    command
}

/// The tests of the client that need one of Microsoft's legacy libraries, and learn where it is.
fn legacy_tests(path: &str, variable: &str, library: &Path) -> Command {
    let mut command = client_tests(&["client"]);
    command.args(["--ignored", path]).env(variable, library);
    command
}

fn with_arguments(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn pytest(python: PathBuf) -> Command {
    let mut command = Command::new(python);
    // Packages are installed uncompiled; each is compiled once, when a case first needs it.
    command.args(["-m", "pytest", "-q"]).env_remove("PYTHONDONTWRITEBYTECODE");
    command
}
