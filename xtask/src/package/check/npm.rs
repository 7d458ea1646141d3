//! The npm packages, installed without a network into a fresh project, and their functions with Microsoft's SDK.

use std::fs;
use std::process::Command;

use super::{Context, Outcome, fresh_folder, run, write};
use crate::package::npm;
use crate::setup::environments::Environment;
use crate::setup::tools;

/// Makes the packages, installs them, and runs their tests.
pub(super) fn check(context: &Context<'_>) -> Outcome {
    let Context { workspace, version, binary } = context;
    let packages = npm::make(workspace, version, binary)?;
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
    let test = project.join("start.test.cjs");
    let source = workspace.root.join("packaging/npm/tests/start.test.cjs");
    fs::copy(&source, &test).map_err(|error| format!("{}: {error}", source.display()))?;
    // The SDK is that of the conformance suite; only our packages are new.
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=tap"]).arg(&test).env("NODE_PATH", workspace.sdk("js").join("node_modules"));
    let log = run(workspace, "package-npm", node.current_dir(&project))?;
    // The line `# pass 8`, with its words exchanged.
    let passed = log.lines().find_map(|line| line.strip_prefix("# pass "));
    super::count_passed(&format!("{} passed", passed.unwrap_or("0")), " passed")
}
