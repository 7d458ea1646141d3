//! Microsoft's legacy table library for Python, in an environment of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/encryption/legacy_python");
/// Package registries fail now and then, and are slow now and then.
const PIP: [&str; 6] = ["-m", "pip", "install", "--quiet", "--retries=2", "--timeout=60"];

/// Runs a task with the library; `None` where there is no Python or no way to the packages, which on CI is a failure.
pub(crate) fn run(task: &Value) -> Option<Value> {
    static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match PYTHON.get_or_init(environment) {
        Ok(python) => Some(run_with(python, task)),
        Err(why) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "the legacy library cannot be had: {why}");
            eprintln!("SKIPPED: the legacy library cannot be had: {why}");
            None
        }
    }
}

/// The interpreter of an environment with the library, made once for as long as the requirements stay the same.
fn environment() -> Result<PathBuf, String> {
    let requirements = Path::new(SOURCE).join("requirements.txt");
    let wanted = std::fs::read_to_string(&requirements).map_err(|error| error.to_string())?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("legacy-python");
    let (python, stamp) = (folder.join("bin/python"), folder.join("requirements.txt"));
    if std::fs::read_to_string(&stamp).is_ok_and(|made| made == wanted) {
        return Ok(python);
    }
    succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    succeed(Command::new(&python).args(PIP).arg("-r").arg(&requirements))?;
    std::fs::write(&stamp, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    let told = || String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(format!("{command:?}: {}", told())) }
}

fn run_with(python: &Path, task: &Value) -> Value {
    let mut command = Command::new(python);
    command.arg(Path::new(SOURCE).join("entity.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(task.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the legacy library failed; see above");
    serde_json::from_slice(&output.stdout).unwrap()
}
