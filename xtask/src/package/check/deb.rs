//! The Debian package, installed by dpkg into a root of its own. systemd's own check reads the unit, and its command runs with a
//! notify socket, as systemd runs it.

use std::fs;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::container::Root;
use super::{Context, Miss, Outcome};
use crate::Result;
use crate::package::deb::{self, UNIT};
use crate::package::image::Image;

const NOTIFY_TIME: Duration = Duration::from_secs(30);

/// The root that the package is installed into: the image has a shell for its scripts and the libraries that it depends on.
struct Installation {
    root: Root,
    folder: PathBuf,
}

/// Makes the package twice, installs it, runs the service, and removes the package.
pub(super) fn check(context: &Context<'_>) -> Outcome {
    let Context { workspace, version, binary, .. } = context;
    let package = context.package(&deb::file_name(version), || deb::make(workspace, version, binary))?;
    let folder = workspace.target.join("packages/check");
    let path = folder.join(deb::file_name(version));
    let image = Image::of(workspace, version, binary)?.to_tar()?;
    let root = Root::unpack(&image, &folder.join("deb"))?;
    let installation = Installation { folder: root.folder().to_owned(), root };
    fs::write(&path, package).map_err(|error| format!("{}: {error}", path.display()))?;

    installation.prepare_dpkg()?;
    installation.dpkg(&["--install", &path.to_string_lossy()])?;
    installation.check_unit(&folder)?;
    installation.run_service()?;
    installation.dpkg(&["--remove", "tablerock"])?;
    installation.check_files(&[("usr/bin/tablerock", false), (UNIT, false), ("etc/tablerock/tablerock.toml", true)])?;
    installation.dpkg(&["--purge", "tablerock"])?;
    installation.check_files(&[("etc/tablerock/tablerock.toml", false)])?;
    Ok(4)
}

impl Installation {
    /// Writes dpkg's database, in which the libraries of the image are installed packages.
    fn prepare_dpkg(&self) -> Result<()> {
        let folder = self.folder.join("var/lib/dpkg");
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        for name in ["info", "updates", "triggers"] {
            fs::create_dir_all(folder.join(name)).map_err(failed)?;
        }
        let package = |name: &str| {
            format!(
                "Package: {name}\nStatus: install ok installed\nVersion: 99\nArchitecture: {}\nMaintainer: test\n\
                 Description: test\n\n",
                crate::package::image::architecture()
            )
        };
        fs::write(folder.join("status"), package("libc6") + &package("libgcc-s1")).map_err(failed)
    }

    fn dpkg(&self, arguments: &[&str]) -> std::result::Result<(), Miss> {
        let mut command = Command::new("dpkg");
        command.arg(format!("--root={}", self.folder.display())).args(arguments).env("LC_ALL", "C");
        let output = command.output().map_err(|error| Miss::CannotRun(format!("dpkg: {error}")))?;
        if output.status.success() {
            return Ok(());
        }
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        if why.contains("superuser") {
            return Err(Miss::CannotRun("dpkg needs root to install into a root of its own".to_owned()));
        }
        Err(format!("dpkg {}: {why}", arguments.join(" ")).into())
    }

    /// Runs `systemd-analyze verify` on the unit, with the path of its program outside of the root.
    fn check_unit(&self, folder: &Path) -> std::result::Result<(), Miss> {
        let program = self.folder.join("usr/bin/tablerock");
        let unit = self.unit()?.replace("ExecStart=/usr/bin/tablerock", &format!("ExecStart={}", program.display()));
        let unit = unit.replace("file:///usr/share", &format!("file://{}/usr/share", self.folder.display()));
        let path = folder.join("tablerock.service");
        fs::write(&path, unit).map_err(|error| format!("{}: {error}", path.display()))?;
        let output = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&path).output();
        let output = output.map_err(|error| Miss::CannotRun(format!("systemd-analyze: {error}")))?;
        let findings = String::from_utf8_lossy(&output.stderr).into_owned();
        // Units of the machine have findings of their own.
        let about_ours: Vec<&str> = findings.lines().filter(|line| line.contains("tablerock")).collect();
        if about_ours.is_empty() {
            Ok(())
        } else {
            Err(format!("systemd-analyze verify: {}", about_ours.join("; ")).into())
        }
    }

    fn unit(&self) -> Result<String> {
        fs::read_to_string(self.folder.join(UNIT)).map_err(|error| format!("{UNIT}: {error}"))
    }

    /// Runs the command of the unit with the environment that systemd gives it, until it notifies and stops.
    fn run_service(&self) -> std::result::Result<(), Miss> {
        let unit = self.unit()?;
        let command =
            unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).ok_or("the unit has no ExecStart")?;
        let command = command.replace("${CREDENTIALS_DIRECTORY}", "/etc/tablerock");
        let command: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        for folder in ["var/lib/tablerock", "run/tablerock"] {
            let path = self.folder.join(folder);
            fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        let socket = self.folder.join("run/notify");
        let supervisor = UnixDatagram::bind(&socket).map_err(|error| format!("{}: {error}", socket.display()))?;
        supervisor.set_read_timeout(Some(NOTIFY_TIME)).map_err(|error| error.to_string())?;
        let receive = || -> Result<String> {
            let mut message = [0; 256];
            let length = supervisor.recv(&mut message).map_err(|error| format!("no notification: {error}"))?;
            Ok(String::from_utf8_lossy(&message[..length]).into_owned())
        };
        let container = self.root.run(&command, &[("NOTIFY_SOCKET", "/run/notify")])?;
        let first = receive().map_err(|why| format!("{why}; it printed:\n{}", container.lines().join("\n")))?;
        if first != "READY=1" {
            return Err(format!("the first notification is {first}").into());
        }
        let health = ["tablerock", "health", "--admin-file", "/run/tablerock/admin.json"];
        if !container.exec(&health)?.status.success() {
            return Err("the service notified and is not healthy".into());
        }
        let code = container.stop()?;
        let last = receive()?;
        if code == 0 && last == "STOPPING=1" { Ok(()) } else { Err(format!("exit code {code} after {last}").into()) }
    }

    fn check_files(&self, files: &[(&str, bool)]) -> Result<()> {
        for (path, is_expected) in files {
            if self.folder.join(path).exists() != *is_expected {
                return Err(format!("/{path} {}", if *is_expected { "is missing" } else { "is still there" }));
            }
        }
        Ok(())
    }
}
