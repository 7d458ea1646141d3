//! The wheel, installed by pip from a folder into a fresh environment, and the pytest fixture with Microsoft's SDK and in the
//! example.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Context, Miss, Outcome, fresh_folder, run, write};
use crate::Result;
use crate::package::wheel;
use crate::setup::environments::{Environment, venv_python};
use crate::setup::tools;

/// Makes the wheel twice, installs it, and runs the tests of the fixture.
pub(super) fn check(context: &Context<'_>) -> Outcome {
    let Context { workspace, version, binary, .. } = context;
    let name = wheel::file_name(version, binary);
    let bytes = context.package(&name, || wheel::make(workspace, version, binary))?;
    super::prepare(workspace, Environment::Python)?;
    let folder = fresh_folder(workspace, "python")?;
    write(&folder.join("index").join(name), &bytes)?;
    let environment = folder.join("environment");
    run(workspace, "package-python-venv", Command::new(tools::PYTHON).args(["-m", "venv"]).arg(&environment))?;
    let python = environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--find-links"]);
    run(workspace, "package-python-pip", pip.arg(folder.join("index")).arg("tablerock"))?;
    // The SDK and pytest are those of the conformance suite; only the wheel is new.
    let packages = packages_of(&venv_python(workspace, Environment::Python.name()))?;
    let mut pytest = Command::new(&python);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    pytest.args(["packaging/python/tests", "examples/python"].map(|tests| workspace.root.join(tests)));
    pytest.env("PYTHONPATH", packages).env("PYTHONDONTWRITEBYTECODE", "1").env("PATH", path_with(&python)?);
    let log = run(workspace, "package-python", pytest.current_dir(&folder))?;
    super::count_passed(&log, " passed")
}

/// The folder of the packages of an environment.
fn packages_of(python: &Path) -> Result<PathBuf> {
    let script = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let output =
        Command::new(python).args(["-c", script]).output().map_err(|error| format!("{}: {error}", python.display()))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

/// The search path with the programs of the environment first, as an activated one has it.
fn path_with(python: &Path) -> std::result::Result<std::ffi::OsString, Miss> {
    let own = python.parent().map(Path::to_owned).into_iter();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let joined = std::env::join_paths(own.chain(std::env::split_paths(&others)));
    joined.map_err(|error| Miss::Failed(error.to_string()))
}
