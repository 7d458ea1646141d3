//! The figures of the chart, read from the table of everything that was measured.

use crate::Result;

pub(in crate::docs) const DOCUMENT: &str = "docs/benchmarks.md";

/// One work, in requests or entities a second.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::docs) struct Figure {
    pub(in crate::docs) label: &'static str,
    pub(in crate::docs) tablerock: f64,
    pub(in crate::docs) azurite: f64,
}

/// The works of the chart: the label, and the first two columns of the row.
const WORKS: [(&str, &str, &str); 9] = [
    ("point reads, 64 connections", "point read", "64 connections, Shared Key"),
    ("inserts, 64 connections", "insert, many partitions", "64 connections"),
    ("inserts, one connection", "insert, one connection", "1 connection"),
    ("entities in groups of 100", "group transaction of 100 inserts", "64 connections"),
    ("10 neighbours of 100,000", "row-range query returning 10", "16 connections, 100,000 entities"),
    ("filter: 1 of 100,000", "filter scan that returns 1", "16 connections, 100,000 entities"),
    ("messages put, got, deleted", "put, get and delete a message", "16 connections"),
    ("blobs of 4 KiB put", "put blob of 4 KiB", "16 connections"),
    ("blobs of 4 KiB got", "get blob of 4 KiB", "16 connections"),
];

/// Returns the figures; an error names a work that the document lacks.
pub(in crate::docs) fn of(document: &str) -> Result<Vec<Figure>> {
    let figure = |(label, work, load)| {
        let rate = |who| {
            rate(document, work, load, who)
                .ok_or_else(|| format!("the document has no row for {work}, {load}, {who}: run `cargo xtask bench`"))
        };
        Ok(Figure { label, tablerock: rate("Tablerock")?, azurite: rate("Azurite")? })
    };
    WORKS.into_iter().map(figure).collect()
}

/// Three digits that count, with commas.
pub(in crate::docs) fn number(rate: f64) -> String {
    let unit = 10_f64.powf((rate.log10().floor() - 2.0).max(0.0));
    with_commas(&format!("{:.0}", (rate / unit).round() * unit))
}

/// Puts a comma before every third digit.
pub(in crate::docs) fn with_commas(digits: &str) -> String {
    let mut grouped = String::new();
    for (digit, left) in digits.chars().zip((0..digits.len()).rev()) {
        grouped.push(digit);
        if left > 0 && left.is_multiple_of(3) {
            grouped.push(',');
        }
    }
    grouped
}

fn rate(document: &str, work: &str, load: &str, who: &str) -> Option<f64> {
    let row = format!("| {work} | {load} | {who} | ");
    let number = document.lines().find_map(|line| line.strip_prefix(&row))?.split(" |").next()?;
    number.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_count() {
        assert_eq!([30_121.0, 1_478.0, 339.0, 62.3].map(number), ["30,100", "1,480", "339", "62"]);
    }

    #[test]
    fn a_rate_is_the_number_after_the_name() {
        let document = "| a | b | Azurite | 62.3 | 1 to 2 |\n| a | b | Tablerock | 15,638 | 1 to 2 |\n";
        assert_eq!(rate(document, "a", "b", "Tablerock"), Some(15_638.0));
        assert_eq!(rate(document, "a", "b", "Azurite"), Some(62.3));
        assert!(of(document).unwrap_err().contains("point read"));
    }
}
