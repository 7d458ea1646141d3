//! Busybox for the image: the tools that health checks in compose files use. It is the static one of Debian.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::process::child::{self, End};
use crate::workspace::Workspace;

const STEP_LIMIT: Duration = Duration::from_secs(5 * 60);
const PACKAGE: &str = "busybox-static";

/// The links in `/bin`. `grep` and `awk` are in the health checks of Testcontainers and compose files; the others are what people
/// expect when they look into a container. The shell is not busybox's, which would prefer its own nc to ours.
pub(super) const LINKS: [&str; 51] = [
    "awk", "base64", "basename", "cat", "chmod", "chown", "cp", "cut", "date", "dd", "df", "dirname", "du", "echo",
    "env", "expr", "false", "find", "free", "grep", "head", "hostname", "id", "kill", "ln", "ls", "mkdir", "mv",
    "nslookup", "ping", "printf", "ps", "pwd", "readlink", "rm", "rmdir", "sed", "seq", "sleep", "sort", "stat",
    "tail", "tar", "test", "timeout", "top", "touch", "tr", "true", "wc", "wget",
];

/// Returns the program: the installed one if it is static, or else that of the package, which is downloaded and not installed.
pub(super) fn find(workspace: &Workspace) -> Result<Vec<u8>> {
    for installed in ["/bin/busybox", "/usr/bin/busybox"] {
        let path = Path::new(installed);
        if path.exists() && super::binary::Binary::of(path).is_ok_and(|busybox| busybox.libraries.is_empty()) {
            return fs::read(path).map_err(|error| format!("{installed}: {error}"));
        }
    }
    let path = download(workspace)
        .map_err(|why| format!("{why}; the image needs a static busybox: install Debian's package {PACKAGE}"))?;
    fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Unpacks the package below `target/`, once.
fn download(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target.join("packages/busybox");
    let program = folder.join("root/bin/busybox");
    if program.exists() {
        return Ok(program);
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut command = Command::new("apt-get");
    run(workspace, command.args(["download", PACKAGE]).current_dir(&folder))?;
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut packages = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let package = packages.find(|path| path.extension().is_some_and(|extension| extension == "deb"));
    let package = package.ok_or_else(|| format!("apt-get download {PACKAGE} wrote no package"))?;
    run(workspace, Command::new("dpkg-deb").arg("-x").arg(&package).arg(folder.join("root")))?;
    Ok(program)
}

fn run(workspace: &Workspace, command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let log = workspace.log(&format!("busybox-{name}"));
    match child::run(command, &log, STEP_LIMIT)? {
        End::Code(0) => Ok(()),
        end => Err(format!("{name}: {end}; see {}", workspace.shown(&log))),
    }
}
