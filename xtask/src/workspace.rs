//! Where things are: the repository, cargo's target directory, and what the house work keeps in either.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::Result;
use crate::suite::{Suite, Target};

/// The repository and the directory for everything that can be made again.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Workspace {
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    #[serde(rename = "target_directory")]
    pub(crate) target: PathBuf,
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

    /// What a child wrote: `target/conformance/logs/{name}.log`.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.target.join("conformance/logs").join(format!("{name}.log"))
    }

    /// The result lines of a suite's last run.
    pub(crate) fn results(&self, target: Target, suite: Suite) -> PathBuf {
        self.target.join("conformance").join(target.name()).join(format!("{}.jsonl", suite.name()))
    }

    /// The data directory of a server under test; emptied before each run and left behind for a look.
    pub(crate) fn data(&self, target: Target) -> PathBuf {
        self.target.join("conformance").join(target.name()).join("data")
    }

    /// The checked-in list of what a target is known to do differently.
    pub(crate) fn known(&self, target: Target, suite: Suite) -> PathBuf {
        self.root.join("conformance/known").join(target.name()).join(format!("{}.toml", suite.name()))
    }

    /// The folder of a suite that drives an SDK.
    pub(crate) fn sdk(&self, name: &str) -> PathBuf {
        self.root.join("conformance/sdk").join(name)
    }

    /// What is installed for the suites: `target/sdk/{name}`.
    pub(crate) fn installed(&self, name: &str) -> PathBuf {
        self.target.join("sdk").join(name)
    }

    /// A binary of ours, by the folder of its profile (`debug` or `release`) and its name.
    pub(crate) fn binary(&self, profile: &str, name: &str) -> PathBuf {
        self.target.join(profile).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// A path as people read it: relative to the repository if it is inside.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}

/// The cargo that runs us, so that a toolchain chosen on the command line holds for the whole run. What it told us
/// about our own package is taken away: some build scripts look at it, and would be built again at every change from
/// this cargo to one started by hand.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    if is_ci() {
        // Who builds once has no use for what would make the next build quicker.
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Whether nothing may be left out: then what cannot run is a failure.
pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}
