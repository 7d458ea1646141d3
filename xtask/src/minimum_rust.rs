//! `cargo xtask minimum-rust`: the published crates build with the version of Rust that their manifests promise.

use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::package::{crates, version::Version};
use crate::process::child::{self, TAIL_LINES};
use crate::workspace::Workspace;

const LIMIT: Duration = Duration::from_secs(40 * 60);

/// Installs that toolchain with rustup, unless it is there, and checks the crates with it.
pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    let rust = Version::of(workspace)?.rust;
    println!("minimum-rust: {rust}");
    let mut install = Command::new("rustup");
    install.args(["toolchain", "install", &rust, "--profile", "minimal", "--no-self-update"]);
    let mut check = Command::new("rustup");
    check.args(["run", &rust, "cargo", "check", "--locked"]).current_dir(&workspace.root);
    check.args(crates::in_order(workspace)?.iter().flat_map(|name| ["--package", name]));
    // The cargo that runs this program is another one.
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN"] {
        check.env_remove(name);
    }
    for (name, command) in [("minimum-rust-install", &mut install), ("minimum-rust", &mut check)] {
        let log = workspace.log(name);
        let end = child::run(command, &log, LIMIT)?;
        if !end.is_success() {
            println!("{name}: FAILED: {end}; see {}\n{}", workspace.shown(&log), child::tail(&log, TAIL_LINES));
            return Ok(false);
        }
    }
    println!("minimum-rust: ok");
    Ok(true)
}
