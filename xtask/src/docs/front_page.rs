//! The rows of the README that are figures of other documents.

use std::fs;

use super::pictures::figures;
use crate::Result;
use crate::workspace::Workspace;

const PAGE: &str = "README.md";

/// The columns of the SDKs in the matrix of `docs/compatibility.md`, counted from the first client.
const RAW: [usize; 1] = [0];
const SDKS: [usize; 4] = [1, 2, 4, 5];

/// Writes the rows into the README.
pub(super) fn write(workspace: &Workspace) -> Result<()> {
    let read = |path: &str| fs::read_to_string(workspace.root.join(path)).map_err(|error| format!("{path}: {error}"));
    let page = updated(&read(PAGE)?, &read(super::DOCUMENT)?, &read(figures::DOCUMENT)?)?;
    fs::write(workspace.root.join(PAGE), page).map_err(|error| format!("{PAGE}: {error}"))?;
    println!("docs: wrote the figures of {PAGE}");
    Ok(())
}

/// Returns the page with the figures of the other two documents. A row is found by its label; a row that the page lacks stays so.
fn updated(page: &str, compatibility: &str, benchmarks: &str) -> Result<String> {
    let mut rows = Vec::new();
    for (label, columns) in [
        ("raw requests that behave as Azure's", &RAW[..]),
        ("cases with Microsoft's SDKs for Python, JavaScript, Go and Java", &SDKS),
    ] {
        let [ours, theirs, cases] = cases(compatibility, columns)
            .ok_or_else(|| format!("{} has no row **all** that can be read", super::DOCUMENT))?;
        let of = |passed| format!("{} of {}", grouped(passed), grouped(cases));
        rows.push((label.to_owned(), of(ours), of(theirs)));
    }
    for figure in figures::of(benchmarks)? {
        let rate = |rate| format!("{}/s", figures::number(rate));
        rows.push((figure.label.to_owned(), rate(figure.tablerock), rate(figure.azurite)));
    }
    let line = |line: &str| {
        let row = rows.iter().find(|(label, ..)| line.starts_with(&format!("| {label} |")));
        row.map_or(line.to_owned(), |(label, ours, theirs)| format!("| {label} | {ours} | {theirs} |")) + "\n"
    };
    Ok(page.lines().map(line).collect())
}

/// The cases that passed with Tablerock and with Azurite, and those that ran, of cells such as `22/22 · 19/22`.
fn cases(compatibility: &str, columns: &[usize]) -> Option<[usize; 3]> {
    let row = compatibility.lines().find_map(|line| line.strip_prefix("| **all** | "))?;
    let cells: Vec<&str> = row.trim_end_matches(" |").split(" | ").collect();
    let mut sums = [0; 3];
    for column in columns {
        let (ours, theirs) = cells.get(*column)?.split_once(" · ")?;
        let (passed, cases) = ours.split_once('/')?;
        for (sum, text) in sums.iter_mut().zip([passed, theirs.split_once('/')?.0, cases]) {
            *sum += text.parse::<usize>().ok()?;
        }
    }
    Some(sums)
}

fn grouped(number: usize) -> String {
    figures::with_commas(&number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_added_up_over_columns() {
        let page = "| **all** | 10/11 · 5/11 | 1000/1000 · 900/1000 | 1/1 · 1/1 |\n";
        assert_eq!(cases(page, &[0]), Some([10, 5, 11]));
        assert_eq!(
            cases(page, &[1, 2]).map(|sums| sums.map(grouped)),
            Some(["1,001", "901", "1,001"].map(str::to_owned))
        );
    }

    #[test]
    fn the_figures_of_the_readme_are_those_of_the_documents() {
        let workspace = Workspace::find().unwrap();
        let read = |path: &str| fs::read_to_string(workspace.root.join(path)).unwrap();
        let page = read(PAGE);
        let expected = updated(&page, &read(super::super::DOCUMENT), &read(figures::DOCUMENT)).unwrap();
        assert!(page == expected, "{PAGE} has other figures than the documents: run `cargo xtask docs`");
    }
}
