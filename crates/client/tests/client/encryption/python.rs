//! Microsoft's legacy table library for Python, run by an interpreter that `LEGACY_PYTHON` names.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

const VARIABLE: &str = "LEGACY_PYTHON";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/sdk/legacy-python/entity.py");

/// Runs a task with the library and returns its result.
pub(crate) fn run(task: &Value) -> Value {
    let python = std::env::var_os(VARIABLE).expect("LEGACY_PYTHON names an interpreter that has the legacy library");
    let mut command = Command::new(python);
    command.arg(SCRIPT).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(task.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the legacy library failed: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
