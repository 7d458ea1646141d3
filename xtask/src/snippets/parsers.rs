//! The parsers: libraries for formats, and the tools of each language for code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::block::Block;
use crate::Result;
use crate::setup::environments::{Environment, venv_python};
use crate::setup::tools;
use crate::workspace::Workspace;

/// Why a language cannot be checked on this machine.
#[derive(Debug)]
pub(super) struct Missing(pub(super) String);

/// Reads the files of its arguments, and prints `FILE: MESSAGE` for each that is not Python.
const PYTHON: &str = "import ast, sys
for path in sys.argv[1:]:
    try: ast.parse(open(path, encoding='utf-8').read())
    except SyntaxError as error: print(f'{path}: line {error.lineno}: {error.msg}')
";

const YAML: &str = "import sys, yaml
for path in sys.argv[1:]:
    try: list(yaml.safe_load_all(open(path, encoding='utf-8')))
    except yaml.YAMLError as error: print(f'{path}: {\" \".join(str(error).split())}')
";

/// The same for Java, by the parser of its compiler.
const JAVA: &str = include_str!("Parse.java");

/// Returns the problems of blocks in a language.
pub(super) fn parse(
    workspace: &Workspace,
    language: &str,
    blocks: &[Block],
) -> std::result::Result<Vec<String>, Missing> {
    match language {
        "json" => Ok(each(blocks, |text| serde_json::from_str::<serde_json::Value>(text).err().map(|e| e.to_string()))),
        "toml" => Ok(each(blocks, |text| toml::from_str::<toml::Table>(text).err().map(|e| e.message().to_owned()))),
        "sh" => one_by_one(workspace, blocks, "sh", str::to_owned, || command("bash", &["-n"])),
        "js" => one_by_one(workspace, blocks, "mjs", str::to_owned, || command("node", &["--check"])),
        "go" => one_by_one(workspace, blocks, "go", in_package, || command("gofmt", &["-e"])),
        "rust" => one_by_one(workspace, blocks, "rs", in_function, || {
            command("rustfmt", &["--edition=2024", "--emit=stdout"])
        }),
        "python" => at_once(workspace, blocks, "py", str::to_owned, &mut command(tools::PYTHON, &["-c", PYTHON])),
        "yaml" => at_once(workspace, blocks, "yaml", str::to_owned, &mut with_yaml(workspace)?),
        "java" => {
            let parser = write(workspace, "Parse.java", JAVA).map_err(Missing)?;
            at_once(workspace, blocks, "java", in_class, command("java", &[]).arg(parser))
        }
        _ => {
            let why = "has no parser in xtask/src/snippets: use another language, or add one";
            Ok(blocks.iter().map(|block| block.problem(&format!("{language} {why}"))).collect())
        }
    }
}

fn each(blocks: &[Block], parse: impl Fn(&str) -> Option<String>) -> Vec<String> {
    blocks.iter().filter_map(|block| parse(&block.text).map(|why| block.problem(&why))).collect()
}

/// Runs a program for each block.
fn one_by_one(
    workspace: &Workspace,
    blocks: &[Block],
    extension: &str,
    whole: impl Fn(&str) -> String,
    command: impl Fn() -> Command,
) -> std::result::Result<Vec<String>, Missing> {
    let mut problems = Vec::new();
    for (block, number) in blocks.iter().zip(1..) {
        let path = write(workspace, &format!("{number}.{extension}"), &whole(&block.text)).map_err(Missing)?;
        let output = run(command().arg(&path))?;
        if !output.status.success() {
            problems.push(block.problem(&String::from_utf8_lossy(&output.stderr)));
        }
    }
    Ok(problems)
}

/// Runs a program once for all blocks. It prints the path of a file and what is wrong with it.
fn at_once(
    workspace: &Workspace,
    blocks: &[Block],
    extension: &str,
    whole: impl Fn(&str) -> String,
    command: &mut Command,
) -> std::result::Result<Vec<String>, Missing> {
    let mut paths = Vec::new();
    for (block, number) in blocks.iter().zip(1..) {
        paths.push(write(workspace, &format!("{number}.{extension}"), &whole(&block.text)).map_err(Missing)?);
    }
    let output = run(command.args(&paths))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Ok(vec![String::from_utf8_lossy(&output.stderr).trim().to_owned()]);
    }
    let problem = |line: &str| {
        let at = paths.iter().position(|path| line.starts_with(&format!("{}: ", path.display())));
        at.map_or(line.to_owned(), |at| blocks[at].problem(&line[paths[at].display().to_string().len() + 2..]))
    };
    Ok(printed.lines().map(problem).collect())
}

fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn run(command: &mut Command) -> std::result::Result<std::process::Output, Missing> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.output().map_err(|error| Missing(format!("cannot run {program}: {error}")))
}

/// A Python that has a parser of YAML: that of the machine, or that of the Azure CLI's suite.
fn with_yaml(workspace: &Workspace) -> std::result::Result<Command, Missing> {
    let pythons = [PathBuf::from(tools::PYTHON), venv_python(workspace, Environment::Az.name())];
    let has_yaml = |python: &PathBuf| {
        Command::new(python).args(["-c", "import yaml"]).output().is_ok_and(|output| output.status.success())
    };
    let found = pythons.into_iter().find(has_yaml).ok_or_else(|| {
        Missing("no Python has the module yaml; install it, or run `cargo xtask test --only az` once".to_owned())
    })?;
    let mut command = Command::new(found);
    command.args(["-c", YAML]);
    Ok(command)
}

/// Statements, as most blocks are, are allowed in a function; items are too.
fn in_function(text: &str) -> String {
    format!("async fn snippet() {{\n{text}\n}}\n")
}

/// Declarations are allowed in a package, and statements in a function of one.
fn in_package(text: &str) -> String {
    match text.split_whitespace().next() {
        Some("package" | "//") => text.to_owned(),
        Some("func" | "type" | "import" | "var" | "const") => format!("package snippet\n\n{text}"),
        _ => format!("package snippet\n\nfunc snippet() {{\n{text}\n}}\n"),
    }
}

/// Statements are allowed in a method, and imports before the class.
fn in_class(text: &str) -> String {
    if text.contains("class ") || text.contains("record ") {
        return text.to_owned();
    }
    let (imports, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("import "));
    format!("{}\nclass Snippet {{ void run() throws Exception {{\n{}\n}} }}\n", imports.join("\n"), rest.join("\n"))
}

fn write(workspace: &Workspace, name: &str, text: &str) -> Result<PathBuf> {
    let folder: &Path = &workspace.target.join("snippets");
    let path = folder.join(name);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
    written.map(|()| path.clone()).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(language: &str, text: &str) -> Vec<String> {
        let folder = std::env::temp_dir().join(format!("xtask-snippets-{}-{language}", std::process::id()));
        let workspace = Workspace { root: folder.clone(), target: folder.clone(), store: None, server: None };
        let found = parse(&workspace, language, &[Block::file("a.md".to_owned(), text.to_owned())]);
        let _ = fs::remove_dir_all(folder);
        found.expect("the tools of Rust are here")
    }

    #[test]
    fn code_that_its_parser_takes_has_no_problem() {
        assert_eq!(problems("rust", "let people = service.table(\"People\");\npeople.create().await?;"), [""; 0]);
        assert_eq!(problems("json", "{\"a\": [1]}"), [""; 0]);
        assert_eq!(problems("toml", "a = 1"), [""; 0]);
    }

    #[test]
    fn code_that_its_parser_rejects_is_reported_with_its_place() {
        assert!(problems("rust", "let people = ;")[0].starts_with("a.md:1: "));
        assert!(problems("json", "{a}")[0].starts_with("a.md:1: "));
        assert!(problems("toml", "a = ")[0].starts_with("a.md:1: "));
        assert!(problems("cobol", "")[0].contains("no parser"));
    }

    #[test]
    fn statements_of_java_get_a_class() {
        let whole = in_class("import a.B;\nnew B().run();\n");
        assert!(whole.starts_with("import a.B;\nclass Snippet {") && whole.contains("new B().run();"));
        assert_eq!(in_class("class A {}"), "class A {}");
    }
}
