//! The figures of a run: per request, as a table, as JSON to be kept, and next to those of an earlier run.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::instructions::operations::Counted;
use crate::instructions::profile::Profile;
use crate::report::thousands;

/// An operation is slower than before if its own path takes more than this share of additional instructions.
const GROWTH_MAX: f64 = 0.02;

/// Instructions of one operation, per request: the lower quartile of the rounds. Timers and merges in the background only
/// ever add instructions, so low rounds are closer to the path itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    pub operation: String,
    /// Everything but hashing.
    pub own: f64,
    pub hashing: f64,
    /// The distance of the quartiles of `own`, as a share of the lower one.
    pub spread: f64,
}

/// A run, as it is kept in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The version that the binary prints, and the commit if it is known.
    pub version: String,
    pub operations: Vec<Figure>,
}

impl Figure {
    pub fn of(counted: &Counted) -> Self {
        let per_request = |part: fn(&Profile) -> u64| {
            let mut rounds: Vec<u64> = counted.rounds.iter().map(part).collect();
            rounds.sort_unstable();
            rounds.into_iter().map(|round| (round as f64 / counted.requests as f64).round()).collect::<Vec<f64>>()
        };
        let (own, hashing) = (per_request(|round| round.own), per_request(|round| round.hashing));
        let lower = own.len() / 4;
        let spread = (own[own.len() - 1 - lower] - own[lower]) / own[lower];
        Self { operation: counted.operation.to_owned(), own: own[lower], hashing: hashing[lower], spread }
    }
}

impl Figures {
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| format!("not the figures of an earlier run: {error}"))
    }

    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("figures are numbers and strings");
        format!("{text}\n")
    }

    /// A table for the terminal and for documents.
    pub fn table(&self) -> String {
        let mut out = format!("Instructions per request, {}\n\n", self.version);
        out.push_str("| operation | own path | hashing | spread |\n| --- | ---: | ---: | ---: |\n");
        for Figure { operation, own, hashing, spread } in &self.operations {
            let (own, hashing) = (thousands(*own), thousands(*hashing));
            out.push_str(&format!("| {operation} | {own} | {hashing} | {:.2} % |\n", spread * 100.0));
        }
        out
    }

    /// A table of ratios to an earlier run, and the operations whose own path has grown too much.
    pub fn compare(&self, earlier: &Self) -> (String, Vec<String>) {
        let mut out = format!("Own path, compared with {}\n\n", earlier.version);
        out.push_str("| operation | before | now | ratio |\n| --- | ---: | ---: | ---: |\n");
        let mut grown = Vec::new();
        for now in &self.operations {
            let Some(before) = earlier.operations.iter().find(|before| before.operation == now.operation) else {
                out.push_str(&format!("| {} | – | {} | – |\n", now.operation, thousands(now.own)));
                continue;
            };
            let ratio = now.own / before.own;
            let cells = [now.operation.as_str(), &thousands(before.own), &thousands(now.own)].join(" | ");
            out.push_str(&format!("| {cells} | {ratio:.3} |\n"));
            if ratio > 1.0 + GROWTH_MAX {
                grown.push(format!("{} takes {:.1} % more instructions", now.operation, (ratio - 1.0) * 100.0));
            }
        }
        (out, grown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(own: &[(&str, f64)]) -> Figures {
        let figure =
            |&(operation, own): &(&str, f64)| Figure { operation: operation.into(), own, hashing: 5.0, spread: 0.001 };
        Figures { version: "tablerock 0.1.0".into(), operations: own.iter().map(figure).collect() }
    }

    #[test]
    fn a_figure_is_the_lower_quartile_of_the_rounds_per_request() {
        let rounds = [900, 100, 102, 104, 106, 108, 110].map(|own| Profile { own, hashing: 50 }).to_vec();
        let figure = Figure::of(&Counted { operation: "insert", requests: 2, rounds });
        assert_eq!((figure.own, figure.hashing, figure.spread), (51.0, 25.0, 4.0 / 51.0));
    }

    #[test]
    fn two_percent_more_pass_and_what_exceeds_them_is_named() {
        let before = figures(&[("get", 1000.0), ("put", 1000.0)]);
        assert_eq!(figures(&[("get", 1020.0), ("put", 500.0), ("new", 1.0)]).compare(&before).1, Vec::<String>::new());
        let (table, grown) = figures(&[("get", 1021.0), ("put", 1000.0)]).compare(&before);
        assert_eq!(grown, ["get takes 2.1 % more instructions"]);
        assert!(table.contains("| get | 1,000 | 1,021 | 1.021 |"), "{table}");
    }

    #[test]
    fn figures_come_back_from_their_file() {
        let written = figures(&[("get", 1234.0)]);
        assert_eq!(Figures::parse(&written.to_json()), Ok(written));
        assert!(Figures::parse("{}").is_err());
    }
}
