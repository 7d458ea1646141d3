//! The samples of the pages "Coming from …" in `docs`: they run here, and a page has the same lines.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod azure_data_tables;
mod csharp;

use std::fs;
use std::path::Path;

/// Compares the Rust blocks of a page with the samples of a source. `<!-- sample: name -->` precedes each block.
fn differences(page: &str, source: &str) -> Vec<String> {
    let mut differences = Vec::new();
    let mut names = Vec::new();
    for part in page.split("<!-- sample: ").skip(1) {
        let (name, rest) = part.split_once(" -->\n").unwrap_or((part, ""));
        let block = rest.strip_prefix("```rust\n").and_then(|rest| rest.split_once("\n```")).map(|(block, _)| block);
        match (sample(source, name), block) {
            (Some(sample), Some(block)) if sample == block => {}
            (Some(sample), _) => differences.push(format!("sample {name} of the page has to be:\n{sample}")),
            (None, _) => differences.push(format!("the page has a sample {name}, which no test has")),
        }
        names.push(name);
    }
    let marks = source.lines().filter_map(|line| line.trim().strip_prefix("// [")?.strip_suffix(']'));
    let missing = marks.filter(|mark| !mark.starts_with('/') && !names.contains(mark));
    differences.extend(missing.map(|name| format!("the page has no sample {name}")));
    differences
}

/// Returns the lines between the marks of a sample, without their common indentation.
fn sample(source: &str, name: &str) -> Option<String> {
    let (start, end) = (format!("// [{name}]"), format!("// [/{name}]"));
    let lines = source.lines().skip_while(|line| line.trim() != start).skip(1);
    let lines: Vec<&str> = lines.take_while(|line| line.trim() != end).collect();
    let indents = lines.iter().filter(|line| !line.is_empty()).map(|line| line.len() - line.trim_start().len());
    let indent = indents.min()?;
    let lines: Vec<&str> = lines.iter().map(|line| line.get(indent..).unwrap_or_default()).collect();
    Some(lines.join("\n"))
}

#[test]
fn the_pages_have_the_samples_that_run() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (page, source) in [
        ("coming-from-csharp.md", include_str!("csharp.rs")),
        ("coming-from-azure-data-tables.md", include_str!("azure_data_tables.rs")),
    ] {
        let differences = differences(&fs::read_to_string(docs.join(page)).unwrap(), source);
        assert!(differences.is_empty(), "docs/{page}:\n{}", differences.join("\n"));
    }
}
