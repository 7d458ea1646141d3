//! `cargo xtask docs`: the pictures of the README, and `docs/compatibility.md`, written from the results of the last conformance
//! runs.
//!
//! The same results give the same document, byte for byte: it holds neither dates nor times.

mod differences;
mod front_page;
mod matrix;
mod our_client;
mod pictures;
mod programs;
mod versions;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;

use self::matrix::Matrix;
use crate::Result;
use crate::suite::known_differences::Known;
use crate::suite::results::{self, CaseResult, Outcome};
use crate::suite::{Suite, Target};
use crate::tidy;
use crate::workspace::Workspace;

const DOCUMENT: &str = "docs/compatibility.md";
const NOTES: &str = "docs/compatibility-notes.md";

/// One target's results, suite by suite.
type Results = BTreeMap<Suite, Vec<CaseResult>>;

/// Writes the pictures and the figures of the README.
pub(crate) fn write_figures(workspace: &Workspace) -> Result<()> {
    pictures::write(workspace)?;
    front_page::write(workspace)
}

pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    // First, because they need no run of the suites.
    write_figures(workspace)?;
    let tablerock = complete(workspace, Target::Tablerock)?;
    let azurite = complete(workspace, Target::Azurite)?;
    let matrix = Matrix::new(&operations(workspace)?, &tablerock, &azurite);
    let sections = [
        INTRODUCTION.to_owned(),
        format!("## Operations and clients\n\n{LEGEND}\n\n{}", matrix.markdown()),
        format!("## Programs\n\n{PROGRAMS}\n\n{}", programs::markdown(&tablerock, &azurite)),
        format!("## The Rust client\n\n{OUR_CLIENT}\n\n{}", our_client::markdown(&tablerock, &azurite)),
        format!("## Where Tablerock differs from Azure\n\n{}", tablerock_differences(workspace, &tablerock)?),
        format!("## Where Azurite differs from Azure\n\n{}", azurite_differences(workspace)?),
        format!("## Clients\n\n{}", versions::markdown(workspace)?),
        REGENERATE.to_owned(),
    ];
    let text = sections.map(|section| format!("{}\n", section.trim_end())).join("\n");
    fs::write(workspace.root.join(DOCUMENT), text).map_err(|error| format!("{DOCUMENT}: {error}"))?;
    println!("docs: wrote {DOCUMENT}");
    write_figures(workspace)
}

/// Fails if the document's numbers for Tablerock are not those of the last run. Suites that did not run are not held
/// against it.
pub(crate) fn check_fresh(workspace: &Workspace) -> Result<()> {
    let hint = "run `cargo xtask conform --azurite` and `cargo xtask docs`";
    let written = read_if_there(workspace, DOCUMENT)?.ok_or_else(|| format!("there is no {DOCUMENT}; {hint}"))?;
    let results = read(workspace, Target::Tablerock)?;
    let run = Matrix::new(&operations(workspace)?, &results, &Results::new());
    let stale = [
        run.stale_cells(&written),
        programs::stale_rows(&written, &results),
        our_client::stale_rows(&written, &results),
    ];
    match stale.concat() {
        stale if stale.is_empty() => Ok(()),
        stale => Err(format!("{DOCUMENT} is not what this run shows; {hint}\n    {}", stale.join("\n    "))),
    }
}

fn operations(workspace: &Workspace) -> Result<Vec<String>> {
    let path = "conformance/README.md";
    let readme = read_if_there(workspace, path)?.ok_or_else(|| format!("there is no {path}"))?;
    Ok(tidy::operations(&readme))
}

fn read(workspace: &Workspace, target: Target) -> Result<Results> {
    let read_suite = |suite: Suite| Ok((suite, results::read(&workspace.results(target, suite))?));
    let all: Result<Results> = Suite::ALL.into_iter().map(read_suite).collect();
    all.map(|results| results.into_iter().filter(|(_, results)| !results.is_empty()).collect())
}

/// The results of every suite; a document with gaps would not be true.
fn complete(workspace: &Workspace, target: Target) -> Result<Results> {
    let results = read(workspace, target)?;
    match Suite::ALL.into_iter().find(|suite| !results.contains_key(suite)) {
        None => Ok(results),
        Some(suite) => {
            let (suite, target) = (suite.name(), target.name());
            Err(format!("no results of the suite {suite} against {target}; run `cargo xtask conform --azurite` first"))
        }
    }
}

fn tablerock_differences(workspace: &Workspace, results: &Results) -> Result<String> {
    let known = known(workspace, Target::Tablerock)?;
    let listed = match differences::markdown(&known) {
        text if text.is_empty() => "No conformance case is known to differ.\n".to_owned(),
        text => format!("These cases fail, and are known to:\n\n{text}"),
    };
    let notes = read_if_there(workspace, NOTES)?.unwrap_or_default();
    Ok([listed, notes, skipped(results)].map(|part| part.trim().to_owned()).join("\n\n"))
}

fn azurite_differences(workspace: &Workspace) -> Result<String> {
    let known = known(workspace, Target::Azurite)?;
    let cases: usize = known.values().map(|known| known.all().count()).sum();
    let reasons = differences::by_reason(&known).len();
    Ok(format!("{cases} cases fail against Azurite, for {reasons} reasons.\n\n{}", differences::markdown(&known)))
}

fn known(workspace: &Workspace, target: Target) -> Result<BTreeMap<Suite, Known>> {
    Suite::ALL.into_iter().map(|suite| Ok((suite, Known::read(&workspace.known(target, suite))?))).collect()
}

/// Lists the cases that could not run, so that they are not taken for passed.
fn skipped(results: &Results) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (suite, results) in results {
        let skipped = results.iter().filter(|result| result.outcome == Outcome::Skipped);
        lines.extend(skipped.map(|result| format!("- {}: `{}`: {}", suite.name(), result.case, result.detail)));
    }
    lines.sort();
    if lines.is_empty() { String::new() } else { format!("Cases that could not run:\n\n{}\n", lines.join("\n")) }
}

fn read_if_there(workspace: &Workspace, path: &str) -> Result<Option<String>> {
    match fs::read_to_string(workspace.root.join(path)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{path}: {error}")),
    }
}

const INTRODUCTION: &str = "\
# Compatibility

The results of the conformance suites: raw requests, Microsoft's clients and known programs, each against Tablerock and against Azurite. A case
asserts Azure's behaviour. This page is generated; do not edit it.
";

const LEGEND: &str = "\
Each cell has the cases passed of the cases run: Tablerock · Azurite. A dash means that the client has no case for the operation, in
most cases because it does not support it. `Authentication` covers credentials of every kind.";

const PROGRAMS: &str = "\
Programs that people use, each through a few short jobs, as cases passed of cases run. rclone is among the clients above.";

const OUR_CLIENT: &str = "\
The tests of `tablerock-client` and `tablerock-patterns`, as cases passed of cases run. `legacy-python`
and `legacy-java` are those in which the client and Microsoft's last libraries with encryption read each other's entities.";

const REGENERATE: &str = "\
## Regenerating this page

```sh
cargo xtask conform --azurite
cargo xtask docs
```

The cases and the lists of known differences are in [conformance](../conformance/README.md). The handwritten text above is in
`docs/compatibility-notes.md`.
";
