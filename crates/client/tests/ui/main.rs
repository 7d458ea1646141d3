//! What the compiler says about wrong uses of the derive macros: each case is a file, whose lines name their errors.
//!
//! `//~ ERROR text | more` expects one error at its line, whose report has all of these texts, and a further `~ ERROR` one
//! more. Any other error fails the case. The cases are compiled against the library that the tests are linked with, so no
//! crate is built again.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// An error at a line.
#[derive(Debug)]
struct Report {
    line: u64,
    text: String,
}

#[test]
fn errors_are_at_the_field_and_name_the_remedy() {
    let library = library();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let mut failures = Vec::new();
    let cases = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for case in cases.filter(|path| path.file_name() != Some(OsStr::new("main.rs"))) {
        failures.extend(check(&case, &library));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The client as this test is linked with it: the newest build.
fn library() -> PathBuf {
    let exe = env::current_exe().unwrap();
    let libraries = fs::read_dir(exe.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let is_client = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libtablerock_client-") && name.ends_with(".rlib")
    };
    libraries.filter(is_client).max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap()).unwrap()
}

fn check(case: &Path, library: &Path) -> Vec<String> {
    let name = case.file_name().unwrap().to_string_lossy().into_owned();
    let source = fs::read_to_string(case).unwrap();
    let mut wanted = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let Some((_, marks)) = line.split_once("//~ ERROR ") else { continue };
        wanted.extend(marks.split(" ~ ERROR ").map(|text| Report { line: index as u64 + 1, text: text.to_owned() }));
    }
    let mut found = reports(case, library);
    let mut failures = Vec::new();
    for Report { line, text } in &wanted {
        let fits = |report: &Report| report.line == *line && text.split(" | ").all(|part| report.text.contains(part));
        match found.iter().position(fits) {
            Some(place) => drop(found.remove(place)),
            None => failures.push(format!("{name}:{line}: there is no error {text:?}")),
        }
    }
    failures.extend(found.iter().map(|Report { line, text }| format!("{name}:{line}: unexpected: {text}")));
    failures
}

/// The errors of the compiler.
fn reports(case: &Path, library: &Path) -> Vec<Report> {
    let dependencies = format!("dependency={}", library.parent().unwrap().display());
    let out = env::temp_dir().join(format!("tablerock-ui-{}", std::process::id()));
    let mut command = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.args(["--edition=2024", "--emit=metadata", "--error-format=json", "-Adead_code", "-L", &dependencies]);
    command.arg("--extern").arg(format!("tablerock_client={}", library.display()));
    let output = command.arg("-o").arg(&out).arg(case).output().unwrap();
    fs::remove_file(&out).ok();
    let text = String::from_utf8(output.stderr).unwrap();
    let messages = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let errors = messages.filter(|message| message["level"] == "error" && message["spans"][0].is_object());
    errors
        .map(|message| {
            let spans = message["spans"].as_array().unwrap();
            let primary = spans.iter().find(|span| span["is_primary"] == true).unwrap();
            // A macro's error is at the place where it is written.
            let line = primary["line_start"].as_u64().unwrap();
            // Not the rendered report, which repeats the line with its mark.
            let notes = message["children"].as_array().unwrap().iter().map(|note| &note["message"]);
            let labels = spans.iter().map(|span| &span["label"]);
            let texts = [&message["message"]].into_iter().chain(labels).chain(notes);
            let text: Vec<&str> = texts.filter_map(serde_json::Value::as_str).collect();
            Report { line, text: text.join("\n") }
        })
        .collect()
}
