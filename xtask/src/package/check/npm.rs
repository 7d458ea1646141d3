//! The npm packages, installed without a network into a fresh project, and their functions with Microsoft's SDK and in the
//! example.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Context, Outcome, fresh_folder, run, write};
use crate::Result;
use crate::package::npm;
use crate::setup::environments::Environment;
use crate::setup::tools;

const EXAMPLE: &str = "examples/javascript/todo.mjs";

/// Makes the packages, installs them, and runs their tests.
pub(super) fn check(context: &Context<'_>) -> Outcome {
    let Context { workspace, version, binary, dist } = context;
    let packages = match dist {
        Some(dist) => dist.npm()?,
        None => npm::make(workspace, version, binary)?.into(),
    };
    super::prepare(workspace, Environment::Js)?;
    let folder = fresh_folder(workspace, "npm")?;
    let mut install = Command::new(tools::NPM);
    // An empty cache, so that nothing comes from anywhere else.
    install.args(["install", "--offline", "--no-audit", "--no-fund", "--cache"]).arg(folder.join("cache"));
    for package in &packages {
        let path = folder.join("index").join(&package.file_name);
        write(&path, &package.bytes)?;
        install.arg(path);
    }
    let project = folder.join("project");
    write(&project.join("package.json"), b"{ \"private\": true }\n")?;
    run(workspace, "package-npm-install", install.current_dir(&project))?;
    let tests = ["start.test.cjs", "todo.test.mjs"];
    let sources = ["packaging/npm/tests/start.test.cjs", "examples/javascript/todo.test.mjs", EXAMPLE];
    for source in sources.map(|source| workspace.root.join(source)) {
        let bytes = fs::read(&source).map_err(|error| format!("{}: {error}", source.display()))?;
        write(&project.join(source.file_name().unwrap_or_default()), &bytes)?;
    }
    // The SDK is that of the conformance suite; only our packages are new. Modules are looked up in the project alone.
    let sdk = workspace.sdk("js").join("node_modules");
    link_folder(&sdk.join("@azure"), &project.join("node_modules/@azure"))?;
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=tap"]).args(tests).env("NODE_PATH", sdk);
    let log = run(workspace, "package-npm", node.current_dir(&project))?;
    // The line `# pass 8`, with its words exchanged.
    let passed = log.lines().find_map(|line| line.strip_prefix("# pass "));
    super::count_passed(&format!("{} passed", passed.unwrap_or("0")), " passed")
}

/// Makes a folder appear at another path.
fn link_folder(folder: &Path, at: &Path) -> Result<()> {
    #[cfg(unix)]
    let linked = std::os::unix::fs::symlink(folder, at);
    #[cfg(windows)]
    let linked = std::os::windows::fs::symlink_dir(folder, at);
    linked.map_err(|error| format!("{}: {error}", at.display()))
}
