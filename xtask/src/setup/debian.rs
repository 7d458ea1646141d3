//! Installs missing languages on a CI machine that runs Debian as root. Other machines are left alone.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::process::child::{self, End};
use crate::setup::tools::Tool;
use crate::workspace::Workspace;

const INSTALL_LIMIT: Duration = Duration::from_secs(8 * 60);

/// Installs the missing tools at once.
pub(crate) fn install(workspace: &Workspace, missing: &[Tool]) -> Result<()> {
    let packages: Vec<&str> = missing.iter().flat_map(|tool| tool.debian_packages()).copied().collect();
    install_named(workspace, &packages)
}

/// The same, by the names of packages.
pub(crate) fn install_named(workspace: &Workspace, packages: &[&str]) -> Result<()> {
    if !Path::new("/etc/debian_version").exists() || !is_root() {
        return Err("packages are installed only by root on Debian".to_owned());
    }
    println!("setup: apt-get install {}", packages.join(" "));
    apt(workspace, "apt-update", &["update", "--quiet"])?;
    let mut arguments = vec!["install", "--yes", "--quiet", "--no-install-recommends"];
    arguments.extend_from_slice(packages);
    apt(workspace, "apt-install", &arguments)
}

fn apt(workspace: &Workspace, name: &str, arguments: &[&str]) -> Result<()> {
    let log = workspace.log(name);
    let mut command = Command::new("apt-get");
    match child::run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"), &log, INSTALL_LIMIT)? {
        End::Code(0) => Ok(()),
        end => Err(format!("apt-get {}: {end}; see {}", arguments[0], workspace.shown(&log))),
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
