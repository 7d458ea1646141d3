//! The paths of the repository and of cargo's target directory.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::Result;
use crate::suite::{Suite, Target};

/// The repository and the directory of everything that can be built again.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Workspace {
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    #[serde(rename = "target_directory")]
    pub(crate) target: PathBuf,
    /// The database that is already there, which suites use instead of one that they start.
    #[serde(skip)]
    pub(crate) store: Option<String>,
    /// The server that suites run instead of building one.
    #[serde(skip)]
    pub(crate) server: Option<PathBuf>,
}

impl Workspace {
    /// Asks cargo, which also knows about `CARGO_TARGET_DIR`.
    pub(crate) fn find() -> Result<Self> {
        let output = cargo()
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .output()
            .map_err(|error| format!("cargo metadata: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
    }

    /// The output of a child process: `target/conformance/logs/{name}.log`.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.target.join("conformance/logs").join(format!("{name}.log"))
    }

    /// The result lines of a suite's last run.
    pub(crate) fn results(&self, target: Target, suite: Suite) -> PathBuf {
        self.target.join("conformance").join(target.name()).join(format!("{}.jsonl", suite.name()))
    }

    /// The data directory of a server under test, emptied before each run and kept after it.
    pub(crate) fn data(&self, target: Target) -> PathBuf {
        self.target.join("conformance").join(target.name()).join("data")
    }

    /// The checked-in list of a target's known differences.
    pub(crate) fn known(&self, target: Target, suite: Suite) -> PathBuf {
        self.root.join("conformance/known").join(target.name()).join(format!("{}.toml", suite.name()))
    }

    /// The folder of a suite that drives an SDK.
    pub(crate) fn sdk(&self, name: &str) -> PathBuf {
        self.root.join("conformance/sdk").join(name)
    }

    /// The folder of the suite that drives programs.
    pub(crate) fn programs(&self) -> PathBuf {
        self.root.join("conformance/programs")
    }

    /// An installed environment of the suites: `target/sdk/{name}`.
    pub(crate) fn installed(&self, name: &str) -> PathBuf {
        self.target.join("sdk").join(name)
    }

    /// A binary of ours, by the folder of its profile (`debug` or `release`) and its name.
    pub(crate) fn binary(&self, profile: &str, name: &str) -> PathBuf {
        self.target.join(profile).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// The server under test: the release build, unless another binary was given.
    pub(crate) fn server(&self) -> PathBuf {
        self.server.clone().unwrap_or_else(|| self.binary("release", "tablerock"))
    }

    /// A path for messages: relative to the repository if it is inside.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}

/// The cargo that runs this program, so that a toolchain chosen on the command line is used for the whole run. Its
/// variables about this package are removed: build scripts that read them would be built again whenever cargo is
/// started by hand in between.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    if is_ci() {
        // A machine that builds once has no use for incremental compilation.
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Whether this is CI, where a suite that cannot run is a failure.
pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}
