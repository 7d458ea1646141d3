//! The environments of the suites: each is installed once, and again when its lock file changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::Result;
use crate::process::cancel::Cancel;
use crate::process::child::{self, TAIL_LINES};
use crate::setup::tools::{self, Tool};
use crate::workspace::Workspace;

pub(crate) const AZURITE_VERSION: &str = "3.37.0";

const STEP_LIMIT: Duration = Duration::from_secs(10 * 60);

/// Package registries fail now and then.
const ATTEMPTS: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Environment {
    Python,
    LegacyPython,
    Az,
    Rclone,
    /// The runner of the programs, and those that are Python packages.
    Programs,
    AzCopy,
    Restic,
    LegacyJava,
    Js,
    LegacyNode,
    Go,
    Java,
    Azurite,
}

impl Environment {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Environment::Python => "python",
            Environment::LegacyPython => "legacy-python",
            Environment::Az => "az",
            Environment::Rclone => "rclone",
            Environment::Programs => "programs",
            Environment::AzCopy => "azcopy",
            Environment::Restic => "restic",
            Environment::LegacyJava => "legacy-java",
            Environment::Js => "js",
            Environment::LegacyNode => "legacy-node",
            Environment::Go => "go",
            Environment::Java => "java",
            Environment::Azurite => "azurite",
        }
    }

    pub(crate) fn tool(self) -> Tool {
        match self {
            Environment::Python
            | Environment::LegacyPython
            | Environment::Az
            | Environment::Rclone
            | Environment::Programs => Tool::Python,
            Environment::Js | Environment::LegacyNode | Environment::Azurite => Tool::Node,
            Environment::AzCopy => Tool::NodeWithSecrets,
            Environment::Go | Environment::Restic => Tool::Go,
            Environment::Java | Environment::LegacyJava => Tool::Java,
        }
    }

    /// Whether it is one of the programs that a suite of several gets by their paths.
    pub(crate) fn is_one_program(self) -> bool {
        matches!(self, Environment::AzCopy | Environment::Restic | Environment::LegacyJava)
    }

    /// The name of a variable in which the runner finds something about the program.
    pub(crate) fn variable(self, beginning: &str) -> String {
        format!("{beginning}{}", self.name().to_uppercase().replace('-', "_"))
    }

    /// The folder of its lock file.
    fn sources(self, workspace: &Workspace) -> PathBuf {
        match self {
            Environment::Programs => workspace.programs(),
            program if program.is_one_program() => workspace.programs().join(program.name()),
            suite => workspace.sdk(suite.name()),
        }
    }

    /// The path that the jobs of a program get: of the program itself, or the folder of its classes.
    pub(crate) fn program(self, workspace: &Workspace) -> PathBuf {
        let installed = workspace.installed(self.name());
        match self {
            Environment::AzCopy => {
                self.sources(workspace).join("node_modules/@azure-tools/azcopy-linux/dist/bin/azcopy_linux_amd64")
            }
            Environment::Restic => installed.join(format!("restic{}", std::env::consts::EXE_SUFFIX)),
            _ => installed,
        }
    }

    /// Everything that, when it changes, makes an installation stale.
    fn recipe(self, workspace: &Workspace, tool_version: &str) -> Result<String> {
        let lock = match self {
            Environment::Python
            | Environment::LegacyPython
            | Environment::Az
            | Environment::Rclone
            | Environment::Programs => "requirements.txt",
            Environment::Js | Environment::LegacyNode | Environment::AzCopy => "package-lock.json",
            Environment::Go | Environment::Restic => "go.sum",
            Environment::Java => "pom.xml",
            // Its setup compiles the jobs as well.
            Environment::LegacyJava => return self.whole_folder(workspace, tool_version),
            Environment::Azurite => return Ok(format!("{tool_version}\nazurite {AZURITE_VERSION}\n")),
        };
        let path = self.sources(workspace).join(lock);
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", workspace.shown(&path)))?;
        Ok(format!("{tool_version}\n{text}"))
    }

    fn whole_folder(self, workspace: &Workspace, tool_version: &str) -> Result<String> {
        let mut recipe = format!("{tool_version}\n");
        for path in files_below(&self.sources(workspace))? {
            recipe += &fs::read_to_string(&path).map_err(|error| format!("{}: {error}", workspace.shown(&path)))?;
        }
        Ok(recipe)
    }

    /// Where it puts things, if that is a place of ours.
    fn folder(self, workspace: &Workspace) -> Option<PathBuf> {
        match self {
            Environment::Python
            | Environment::LegacyPython
            | Environment::Az
            | Environment::Rclone
            | Environment::Programs
            | Environment::Restic
            | Environment::LegacyJava
            | Environment::Azurite => Some(workspace.installed(self.name())),
            Environment::Js | Environment::LegacyNode | Environment::AzCopy => {
                Some(self.sources(workspace).join("node_modules"))
            }
            Environment::Go | Environment::Java => None,
        }
    }

    /// The commands that make it, from nothing.
    fn steps(self, workspace: &Workspace) -> Vec<Command> {
        let installed = workspace.installed(self.name());
        let folder = self.sources(workspace);
        match self {
            Environment::Python
            | Environment::LegacyPython
            | Environment::Az
            | Environment::Rclone
            | Environment::Programs => {
                let mut venv = Command::new(tools::PYTHON);
                venv.args(["-m", "venv"]).arg(&installed);
                let mut pip = Command::new(venv_python(workspace, self.name()));
                pip.args(["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", "-r"]);
                pip.arg(folder.join("requirements.txt"));
                vec![venv, pip]
            }
            Environment::Js | Environment::LegacyNode | Environment::AzCopy => {
                let mut npm = Command::new(tools::NPM);
                npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(folder);
                vec![npm]
            }
            Environment::Restic => {
                let mut go = Command::new("go");
                // It is compiled once and run for seconds: without C and without what debuggers want, that is quicker.
                go.args(["build", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", "-o"]).arg(self.program(workspace));
                go.arg("github.com/restic/restic/cmd/restic").env("CGO_ENABLED", "0").current_dir(folder);
                vec![go]
            }
            Environment::LegacyJava => {
                let mut mvn = Command::new(tools::MVN);
                mvn.args(["-q", "-B", "process-classes"]).current_dir(folder);
                vec![mvn]
            }
            Environment::Azurite => {
                let mut npm = Command::new(tools::NPM);
                npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&installed);
                npm.arg(format!("azurite@{AZURITE_VERSION}"));
                vec![npm]
            }
            // Both keep what they fetch in caches of their own; building without running fills those.
            Environment::Go => {
                let mut go = Command::new("go");
                go.args(["test", "-run", "^$", "./..."]).current_dir(folder);
                vec![go]
            }
            Environment::Java => {
                let mut mvn = Command::new(tools::MVN);
                // No test has this name, but to find that out Maven has to fetch its test runner.
                mvn.args(["-q", "-B", "test", "-Dtest=NoSuchTest", "-Dsurefire.failIfNoSpecifiedTests=false"]);
                mvn.current_dir(folder);
                vec![mvn]
            }
        }
    }

    /// Installs it, unless it is there and its lock file has not changed.
    pub(crate) fn prepare(self, workspace: &Workspace, tool_version: &str, cancel: &Cancel) -> Result<()> {
        let stamp = workspace.installed("stamps").join(self.name());
        let recipe = self.recipe(workspace, tool_version)?;
        let folder = self.folder(workspace);
        let is_there = folder.as_ref().is_none_or(|folder| folder.exists());
        if is_there && fs::read_to_string(&stamp).is_ok_and(|made| made == recipe) {
            return Ok(());
        }
        let started = Instant::now();
        println!("setup {}: begins", self.name());
        let mut made = Ok(());
        for _ in 0..ATTEMPTS {
            made = self.make(workspace, folder.as_deref(), cancel);
            if made.is_ok() || cancel.is_set() {
                break;
            }
        }
        made?;
        write_stamp(&stamp, &recipe)?;
        println!("setup {}: ok, {} s", self.name(), started.elapsed().as_secs());
        Ok(())
    }

    fn make(self, workspace: &Workspace, folder: Option<&Path>, cancel: &Cancel) -> Result<()> {
        if let Some(folder) = folder.filter(|folder| folder.exists()) {
            fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", workspace.shown(folder)))?;
        }
        for (index, mut step) in self.steps(workspace).into_iter().enumerate() {
            let log = workspace.log(&format!("setup-{}-{}", self.name(), index + 1));
            let end = child::run_unless(&mut step, &log, STEP_LIMIT, cancel)?;
            if !end.is_success() {
                let tail = child::tail(&log, TAIL_LINES / 3);
                return Err(format!("its setup failed: {end}; see {}\n{tail}", workspace.shown(&log)));
            }
        }
        Ok(())
    }
}

fn write_stamp(stamp: &Path, recipe: &str) -> Result<()> {
    let folder = stamp.parent().expect("a stamp is a file in a folder");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(stamp, recipe))
        .map_err(|error| format!("{}: {error}", stamp.display()))
}

/// The files of a folder and of those in it, in the order of their paths.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() { files.extend(files_below(&path)?) } else { files.push(path) }
    }
    files.sort();
    Ok(files)
}

/// The interpreter of a virtual environment of ours.
pub(crate) fn venv_python(workspace: &Workspace, name: &str) -> PathBuf {
    let inside = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    workspace.installed(name).join(inside)
}
