//! The final report: what was copied, what was not, and what to do about it.

use super::copy_error::CopyError;
use super::counts::Counts;
use super::resume_file::{CopyItem, ResumeFile};

/// The errors and notes of a copy.
#[derive(Debug, Default)]
pub(super) struct Report {
    errors: Vec<String>,
    /// At least one error is transient.
    is_transient: bool,
    notes: Vec<String>,
}

impl Report {
    pub(super) fn outcome(&mut self, what: &str, outcome: Result<(), CopyError>) {
        if let Err(error) = outcome {
            self.fail(what, &error);
        }
    }

    pub(super) fn fail(&mut self, what: &str, error: &CopyError) {
        let CopyError { message, is_transient } = error;
        self.is_transient |= is_transient;
        super::print_status(&format!("{what}: {message}"));
        self.errors.push(format!("{what}: {message}"));
    }

    /// Adds something that is not copied, although nothing failed.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Returns whether a retry can succeed.
    pub(super) fn is_transient(&self) -> bool {
        self.is_transient
    }

    /// Returns the text, and whether everything was copied.
    pub(super) fn render(&self, from: &str, to: &str, resume_file: &ResumeFile) -> (String, bool) {
        let mut lines = vec![
            format!("from {from}\nto   {to}"),
            format!("copied: {}", copied(resume_file)),
            "Timestamps, ETags and times of snapshots are new; leases and uncommitted blocks of blobs are not copied."
                .to_owned(),
        ];
        let skipped: Vec<String> = skipped(resume_file).collect();
        let sections = [
            ("not copied, because an endpoint does not return it unchanged:", &skipped),
            ("not copied, because it is not accessible:", &self.notes),
            ("not copied, because of an error; run the same command again to resume:", &self.errors),
        ];
        for (title, entries) in sections.into_iter().filter(|(_, entries)| !entries.is_empty()) {
            lines.push(title.to_owned());
            lines.extend(entries.iter().map(|entry| format!("  {entry}")));
        }
        (lines.join("\n"), skipped.is_empty() && !self.has_errors())
    }
}

/// Returns the counts of everything copied so far, as text.
pub(super) fn copied(resume_file: &ResumeFile) -> String {
    let (mut counts, mut sum) = ([0; 3], Counts::default());
    for (item, status) in resume_file.items() {
        sum.add(status.all_counts());
        counts[match item {
            CopyItem::Table(_) => 0,
            CopyItem::Container(_) => 1,
            CopyItem::Queue(_) => 2,
        }] += usize::from(status.is_done);
    }
    let ([tables, containers, queues], Counts { entities, blobs, .. }) = (counts, sum);
    format!(
        "{tables} tables, {entities} entities; {containers} containers, {blobs} blobs, {:.1} MiB; {queues} queues",
        sum.mib()
    )
}

fn skipped(resume_file: &ResumeFile) -> impl Iterator<Item = String> {
    let skipped = resume_file.items().filter(|(_, status)| !status.all_counts().skipped.is_empty());
    skipped.map(|(item, status)| {
        let name = match item {
            CopyItem::Table(name) => format!("table {name}"),
            CopyItem::Container(name) => format!("container {name}"),
            CopyItem::Queue(name) => format!("queue {name}"),
        };
        format!("{name}: {}", status.all_counts().skipped.describe())
    })
}
