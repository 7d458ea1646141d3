//! `cargo xtask minimum-rust`: each published crate builds with the version of Rust that its own manifest promises.

use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::package::crates;
use crate::process::child::{self, TAIL_LINES};
use crate::workspace::Workspace;

const LIMIT: Duration = Duration::from_secs(40 * 60);

/// Installs each toolchain with rustup, unless it is there, and checks with it the crates that promise it.
pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    let mut is_success = true;
    for (rust, packages) in crates::by_rust_version(workspace)? {
        println!("minimum-rust: {rust}: {}", packages.join(", "));
        is_success &= check(workspace, &rust, &packages)?;
    }
    if is_success {
        println!("minimum-rust: ok");
    }
    Ok(is_success)
}

fn check(workspace: &Workspace, rust: &str, packages: &[String]) -> Result<bool> {
    let mut install = Command::new("rustup");
    install.args(["toolchain", "install", rust, "--profile", "minimal", "--no-self-update"]);
    let mut check = Command::new("rustup");
    check.args(["run", rust, "cargo", "check", "--locked"]).current_dir(&workspace.root);
    check.args(packages.iter().flat_map(|name| ["--package", name]));
    // The cargo that runs this program is another one.
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN"] {
        check.env_remove(name);
    }
    for (step, command) in [("minimum-rust-install", &mut install), ("minimum-rust", &mut check)] {
        let name = format!("{step}-{rust}");
        let log = workspace.log(&name);
        let end = child::run(command, &log, LIMIT)?;
        if !end.is_success() {
            println!("{name}: FAILED: {end}; see {}\n{}", workspace.shown(&log), child::tail(&log, TAIL_LINES));
            return Ok(false);
        }
    }
    Ok(true)
}
