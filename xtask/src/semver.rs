//! `cargo xtask semver`: compares the public API of the published libraries with that of the last release.
//!
//! The comparison is by cargo-semver-checks, which is installed under `target/tools` if it is not there. It needs minutes
//! and is not a part of `cargo xtask test`.

use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use crate::Result;
use crate::workspace::{Workspace, cargo};

const TOOL: &str = "cargo-semver-checks";

/// The published libraries. The tool cannot compare procedural macros; the tests of the client cover them.
const LIBRARIES: [&str; 3] = ["tablerock-protocol", "tablerock-client", "tablerock-patterns"];

#[derive(Debug, Args)]
pub(crate) struct SemverOptions {
    /// Compare with this tag, branch or commit instead of the last tag of a version
    #[arg(long, value_name = "REVISION")]
    baseline: Option<String>,
}

/// Returns whether the API is compatible, or there is no release to compare it with.
pub(crate) fn run(workspace: &Workspace, options: &SemverOptions) -> Result<bool> {
    let Some(baseline) = options.baseline.clone().map_or_else(|| last_tag(workspace), |given| Ok(Some(given)))? else {
        println!(
            "semver: no release to compare with: there is no tag such as v0.1.0. Use --baseline for another commit"
        );
        return Ok(true);
    };
    let tool = installed(workspace)?;
    println!("semver: compares {} with {baseline}", LIBRARIES.join(", "));
    let mut command = Command::new(tool);
    // Without --all-features, the tool enables all features but private ones, whose names begin with an underscore: with
    // `_exhaustive`, every new error code would be a breaking change.
    command.args(["semver-checks", "check-release", "--baseline-rev", &baseline]);
    command.args(LIBRARIES.iter().flat_map(|library| ["--package", library]));
    is_success(command.current_dir(&workspace.root))
}

/// The last tag of a version before this commit.
fn last_tag(workspace: &Workspace) -> Result<Option<String>> {
    let mut git = Command::new("git");
    git.args(["describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"]).current_dir(&workspace.root);
    let output = git.output().map_err(|error| format!("git describe: {error}"))?;
    // It also fails if there is no tag.
    let tag = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(Some(tag).filter(|tag| output.status.success() && !tag.is_empty()))
}

/// The program, which is installed first if it is missing. Its build shows cargo's progress.
fn installed(workspace: &Workspace) -> Result<PathBuf> {
    let root = workspace.target.join("tools");
    let program = root.join("bin").join(format!("{TOOL}{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        println!("semver: installs {TOOL} into {}; it takes some minutes", workspace.shown(&root));
        let mut command = cargo();
        command.args(["install", TOOL, "--locked", "--root"]).arg(&root).current_dir(&workspace.root);
        if !is_success(&mut command)? {
            return Err(format!("{TOOL} cannot be installed: see the report of cargo above"));
        }
    }
    Ok(program)
}

fn is_success(command: &mut Command) -> Result<bool> {
    let status = command.status().map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
    Ok(status.success())
}
