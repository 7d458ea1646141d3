//! What is said at the end: what was copied, what was not, and what helps.

use super::failure::Failure;
use super::ledger::{Holding, Ledger};
use super::tally::Tally;

/// What went wrong, and what has to be known.
#[derive(Debug, Default)]
pub(super) struct Report {
    failures: Vec<String>,
    /// Of some failure.
    may_pass: bool,
    notes: Vec<String>,
}

impl Report {
    pub(super) fn outcome(&mut self, what: &str, outcome: Result<(), Failure>) {
        if let Err(failure) = outcome {
            self.fail(what, &failure);
        }
    }

    pub(super) fn fail(&mut self, what: &str, failure: &Failure) {
        let Failure { why, may_pass } = failure;
        self.may_pass |= may_pass;
        super::say(&format!("{what}: {why}"));
        self.failures.push(format!("{what}: {why}"));
    }

    /// Something that is not copied and is nobody's failure.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn has_failures(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Whether another run may get further.
    pub(super) fn may_pass(&self) -> bool {
        self.may_pass
    }

    /// The text, and whether all that was there is there now.
    pub(super) fn render(&self, from: &str, to: &str, ledger: &Ledger) -> (String, bool) {
        let mut lines = vec![
            format!("from {from}\nto   {to}"),
            format!("copied: {}", copied(ledger)),
            "Timestamps and ETags are new; tags, tiers, leases and uncommitted blocks of blobs are not copied."
                .to_owned(),
        ];
        let left: Vec<String> = left(ledger).collect();
        let sections = [
            ("not copied, because an endpoint does not give it out as it is:", &left),
            ("not looked at:", &self.notes),
            ("not copied, because something went wrong; the same command goes on from there:", &self.failures),
        ];
        for (title, entries) in sections.into_iter().filter(|(_, entries)| !entries.is_empty()) {
            lines.push(title.to_owned());
            lines.extend(entries.iter().map(|entry| format!("  {entry}")));
        }
        (lines.join("\n"), left.is_empty() && !self.has_failures())
    }
}

/// How much has arrived, in words.
pub(super) fn copied(ledger: &Ledger) -> String {
    let (mut counts, mut sum) = ([0; 3], Tally::default());
    for (holding, status) in ledger.holdings() {
        sum.add(&status.tally);
        counts[match holding {
            Holding::Table(_) => 0,
            Holding::Container(_) => 1,
            Holding::Queue(_) => 2,
        }] += usize::from(status.is_done);
    }
    let ([tables, containers, queues], Tally { entities, blobs, .. }) = (counts, sum);
    format!(
        "{tables} tables, {entities} entities; {containers} containers, {blobs} blobs, {:.1} MiB; {queues} queues",
        sum.mib()
    )
}

fn left(ledger: &Ledger) -> impl Iterator<Item = String> {
    let left = ledger.holdings().filter(|(_, status)| !status.tally.left.is_nothing());
    left.map(|(holding, status)| {
        let name = match holding {
            Holding::Table(name) => format!("table {name}"),
            Holding::Container(name) => format!("container {name}"),
            Holding::Queue(name) => format!("queue {name}"),
        };
        format!("{name}: {}", status.tally.left.describe())
    })
}
