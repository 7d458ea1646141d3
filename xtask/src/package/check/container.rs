//! A container without an engine: a root and namespaces of its own, made with `unshare` and `chroot`.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Miss;
use crate::Result;
use crate::archive::gzip;

const START_TIME: Duration = Duration::from_secs(30);
const STOP_TIME: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(10);

/// Prepares the namespaces and becomes the command. `$0` is the root, `$1` the user, `$2` the working directory. The volume is empty.
const ENTER: &str = r#"
mount -t proc proc "$0/proc"
mount -t tmpfs tmpfs "$0/data"
mount --rbind /dev "$0/dev"
"$0/bin/busybox" ip link set lo up
root=$0 user=$1 folder=$2
shift 2
exec chroot --userspec="$user" "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
"#;

/// An unpacked image.
pub(super) struct Root {
    folder: PathBuf,
    config: Value,
    /// The configurations of all variants, which have the same files.
    variants: Vec<Value>,
}

impl Root {
    /// Unpacks the tar of an image as `docker load` reads it: `manifest.json` names the configuration and the layers.
    pub(super) fn unpack(tar: &[u8], folder: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let _ = fs::remove_dir_all(folder);
        let (layout, root) = (folder.join("layout"), folder.join("root"));
        fs::create_dir_all(&root).map_err(failed)?;
        tar::Archive::new(tar).unpack(&layout).map_err(failed)?;
        let read = |name: &str| fs::read(layout.join(name)).map_err(failed);
        let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).map_err(|error| error.to_string());
        let manifest = json(&read("manifest.json")?)?;
        let named = |value: &Value| value.as_str().map(str::to_owned).ok_or("manifest.json lacks a path");
        for layer in manifest[0]["Layers"].as_array().ok_or("manifest.json lists no layers")? {
            let bytes = gzip::decompress(&read(&named(layer)?)?)?;
            let mut layer = tar::Archive::new(&bytes[..]);
            layer.set_preserve_permissions(true);
            layer.unpack(&root).map_err(failed)?;
        }
        // Engines write this file for each container.
        fs::write(root.join("etc/hosts"), "127.0.0.1 localhost\n").map_err(failed)?;
        let mut variants = Vec::new();
        for variant in manifest.as_array().into_iter().flatten() {
            variants.push(json(&read(&named(&variant["Config"])?)?)?["config"].clone());
        }
        let config = variants.first().cloned().ok_or("manifest.json is empty")?;
        Ok(Self { folder: root, config, variants })
    }

    /// The variant of another user than root.
    pub(super) fn nonroot(&self) -> Option<Self> {
        let config =
            self.variants.iter().find(|config| config["User"].as_str().is_some_and(|user| !user.is_empty()))?;
        Some(Self { folder: self.folder.clone(), config: config.clone(), variants: Vec::new() })
    }

    /// The folder that becomes the root.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The command of the image.
    pub(super) fn default_command(&self) -> Vec<String> {
        let words = self.config["Cmd"].as_array().into_iter().flatten();
        words.filter_map(|word| word.as_str().map(str::to_owned)).collect()
    }

    /// The command of the image's health check.
    pub(super) fn health_check(&self) -> Vec<String> {
        let words = self.config["Healthcheck"]["Test"].as_array().into_iter().flatten().skip(1);
        words.filter_map(|word| word.as_str().map(str::to_owned)).collect()
    }

    /// Runs a command in the root, as `docker run` does, with further variables.
    pub(super) fn run(&self, command: &[String], variables: &[(&str, &str)]) -> std::result::Result<Container, Miss> {
        let mut unshare = namespaces()?;
        unshare.env_clear().envs(variables.iter().copied());
        for variable in self.config["Env"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if let Some((name, value)) = variable.split_once('=') {
                // The programs that enter the container are the machine's.
                let more = if name == "PATH" { ":/usr/sbin:/usr/bin:/sbin" } else { "" };
                unshare.env(name, format!("{value}{more}"));
            }
        }
        let folder = self.config["WorkingDir"].as_str().unwrap_or("/");
        let user = self.config["User"].as_str().filter(|user| !user.is_empty()).unwrap_or("0:0");
        unshare.args(["--fork", "--kill-child", "/bin/sh", "-ec", ENTER]).arg(&self.folder).args([user, folder]);
        unshare.args(command);
        let child = unshare.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| Miss::CannotRun(format!("unshare: {error}")))?;
        let lines = Arc::new(Mutex::new(Vec::new()));
        collect(child.stdout.take(), &lines);
        collect(child.stderr.take(), &lines);
        Ok(Container { child, lines })
    }
}

/// Whether users other than root exist in the namespaces: a user that is mapped to root is alone there.
pub(super) fn has_users() -> bool {
    Command::new("unshare").args(["--mount", "--fork", "true"]).output().is_ok_and(|output| output.status.success())
}

/// The command that makes namespaces, which needs root or the right to map a user to it.
fn namespaces() -> std::result::Result<Command, Miss> {
    let base = ["--mount", "--pid", "--net", "--uts", "--ipc"];
    for more in [&[][..], &["--user", "--map-root-user"]] {
        let probe = Command::new("unshare").args(base).args(more).args(["--fork", "true"]).output();
        if probe.is_ok_and(|output| output.status.success()) {
            let mut command = Command::new("unshare");
            command.args(base).args(more);
            return Ok(command);
        }
    }
    Err(Miss::CannotRun("namespaces need Linux, and root or unprivileged user namespaces".to_owned()))
}

/// Gathers the lines of a stream, as a container's log does.
fn collect(stream: Option<impl std::io::Read + Send + 'static>, lines: &Arc<Mutex<Vec<String>>>) {
    let (Some(stream), lines) = (stream, lines.clone()) else { return };
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(std::result::Result::ok) {
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    });
}

/// A running command, killed when dropped.
pub(super) struct Container {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Container {
    /// The lines of stdout and stderr so far.
    pub(super) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until a condition holds.
    pub(super) fn wait_until(&mut self, what: &str, mut is_ready: impl FnMut(&Self) -> bool) -> Result<()> {
        let end = Instant::now() + START_TIME;
        while !is_ready(self) {
            let ended = self.child.try_wait().map_err(|error| error.to_string())?;
            if ended.is_some() || Instant::now() >= end {
                return Err(format!(
                    "{what}: not within {} s; it printed:\n{}",
                    START_TIME.as_secs(),
                    self.lines().join("\n")
                ));
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// Runs a command inside, as `docker exec` does.
    pub(super) fn exec<A: AsRef<OsStr>>(&self, command: &[A]) -> Result<Output> {
        let pid = self.first_process().ok_or("the container has ended")?;
        let mut nsenter = Command::new("nsenter");
        nsenter.env_clear().env("PATH", "/usr/local/bin:/bin:/usr/bin:/usr/sbin");
        nsenter.args(["--target", &pid, "--mount", "--net", "--pid", "--ipc", "--uts", "--root", "--"]).args(command);
        nsenter.output().map_err(|error| format!("nsenter: {error}"))
    }

    /// Whether a line of a shell succeeds inside.
    pub(super) fn succeeds(&self, line: &str) -> bool {
        self.exec(&["/bin/sh", "-c", line]).is_ok_and(|output| output.status.success())
    }

    /// The process that is number 1 inside, by its number outside.
    fn first_process(&self) -> Option<String> {
        let pid = self.child.id();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
        children.split_whitespace().next().map(str::to_owned)
    }

    /// Stops it as `docker stop` does, and returns the exit code.
    pub(super) fn stop(mut self) -> Result<i32> {
        let pid = self.first_process().ok_or("the container has ended before its stop")?;
        let killed = Command::new("kill").args(["-TERM", &pid]).status().map_err(|error| format!("kill: {error}"))?;
        let end = Instant::now() + STOP_TIME;
        while killed.success() && Instant::now() < end {
            if let Some(status) = self.child.try_wait().map_err(|error| error.to_string())? {
                return status.code().ok_or_else(|| "the container ended by a signal".to_owned());
            }
            thread::sleep(POLL);
        }
        Err(format!("the container did not stop within {} s", STOP_TIME.as_secs()))
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // `--kill-child` ends the command with its parent.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
