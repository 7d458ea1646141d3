//! The one-file helpers for Go and JUnit, copied into a fresh project and into the example, which use Microsoft's SDK from the
//! caches of the suites.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Context, Miss, Outcome, fresh_folder, run, write};
use crate::Result;
use crate::setup::environments::Environment;
use crate::setup::tools;

/// Runs the tests of the helper for Go.
pub(super) fn check_go(context: &Context<'_>) -> Outcome {
    let workspace = context.workspace;
    super::prepare(workspace, Environment::Go)?;
    let folder = fresh_folder(workspace, "go")?;
    let sdk = workspace.sdk("go");
    let manifest =
        read(&sdk.join("go.mod"))?.replace("module tablerock/conformance/sdk/go", "module example.com/project");
    write(&folder.join("go.mod"), manifest.as_bytes())?;
    copy(&sdk.join("go.sum"), &folder.join("go.sum"))?;
    let helper = context.file("tablerocktest.go", "packaging/go/tablerocktest.go")?;
    write(&folder.join("tablerocktest/tablerocktest.go"), &helper)?;
    let tests = workspace.root.join("packaging/go/tests");
    copy(&tests.join("tablerocktest_test.go"), &folder.join("tablerocktest/tablerocktest_test.go"))?;
    let example = fresh_folder(workspace, "go-example")?;
    for file in ["go.mod", "go.sum", "main.go", "main_test.go"] {
        copy(&workspace.root.join("examples/go").join(file), &example.join(file))?;
    }
    write(&example.join("tablerocktest/tablerocktest.go"), &helper)?;
    Ok(go_test(context, "package-go", &folder)? + go_test(context, "package-go-example", &example)?)
}

fn go_test(context: &Context<'_>, name: &str, folder: &Path) -> Outcome {
    let mut go = Command::new("go");
    go.args(["test", "-v", "./..."]).env("GOPROXY", "off").env("GOFLAGS", "-mod=mod");
    let log = run(context.workspace, name, go.env("TABLEROCK_BINARY", &context.binary.path).current_dir(folder))?;
    match log.matches("--- PASS: ").count() {
        0 => Err(Miss::Failed(format!("no test ran:\n{log}"))),
        passed => Ok(passed),
    }
}

/// Runs the tests of the extension for JUnit.
pub(super) fn check_java(context: &Context<'_>) -> Outcome {
    let workspace = context.workspace;
    super::prepare(workspace, Environment::Java)?;
    let folder = fresh_folder(workspace, "java")?;
    let manifest = read(&workspace.sdk("java").join("pom.xml"))?;
    let manifest = manifest.replace("${project.basedir}/../../../target/sdk-java", "${project.basedir}/target");
    write(&folder.join("pom.xml"), manifest.as_bytes())?;
    let helper = context.file("TablerockExtension.java", "packaging/java/TablerockExtension.java")?;
    let (sources, tests) = (workspace.root.join("packaging/java/tests"), folder.join("src/test/java"));
    write(&tests.join("TablerockExtension.java"), &helper)?;
    copy(&sources.join("TablerockExtensionTest.java"), &tests.join("TablerockExtensionTest.java"))?;
    let example = fresh_folder(workspace, "java-example")?;
    for file in ["pom.xml", "src/main/java/Todo.java", "src/test/java/TodoTest.java"] {
        copy(&workspace.root.join("examples/java").join(file), &example.join(file))?;
    }
    write(&example.join("src/test/java/TablerockExtension.java"), &helper)?;
    Ok(maven_test(context, "package-java", &folder)? + maven_test(context, "package-java-example", &example)?)
}

fn maven_test(context: &Context<'_>, name: &str, folder: &Path) -> Outcome {
    let mut mvn = Command::new(tools::MVN);
    mvn.args(["--offline", "--batch-mode", "test"]).env("TABLEROCK_BINARY", &context.binary.path);
    let log = run(context.workspace, name, mvn.current_dir(folder))?;
    let counted = log.lines().rev().find_map(|line| line.split_once("Tests run: ")).map(|(_, rest)| rest);
    let passed = counted.and_then(|rest| rest.split(',').next()).unwrap_or("0");
    super::count_passed(&format!("{passed} passed"), " passed")
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    write(to, read(from)?.as_bytes())
}
