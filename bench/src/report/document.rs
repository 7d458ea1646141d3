//! `docs/benchmarks.md`: the command, the machine, the targets with what became of them, and every number behind.

use std::fmt::Write as _;

use super::{aside, judgement, latency, micros, thousands};
use crate::contest::rows::Row;
use crate::instructions::figures::Figures;
use crate::report::machine::Machine;
use crate::results::series::{Series, Who};
use crate::results::{Measured, Mishap, Results, Verdict, percent};

const READING: &str = include_str!("reading.md");
const INSTRUCTIONS: &str = include_str!("../instructions/section.md");
/// Figures of an earlier version, which later ones are compared with.
const INSTRUCTIONS_BASELINE: &str = include_str!("../../instructions/0.1.json");

/// Everything about a run that is not a number.
#[derive(Debug, Clone)]
pub struct Circumstances {
    pub command: String,
    /// `2026-01-31`
    pub date: String,
    pub minutes: u64,
    pub versions: String,
    pub machine: Machine,
}

pub fn document(results: &Results, circumstances: &Circumstances) -> String {
    let mut text = "# Benchmarks\n\n".to_owned();
    text.push_str("Tablerock next to its rivals, by one load generator, in one run, on one machine.\n\n");
    text.push_str(&told(circumstances));
    text.push_str("\n## Targets\n\n");
    text.push_str(&summary(results));
    text.push_str(&targets(results));
    text.push_str("\n## Everything that was measured\n\n");
    text.push_str(&series(results));
    text.push_str(&mishaps(results));
    text.push_str(&facts(results));
    text.push_str(&generator(results));
    text.push_str(&disturbance(results, circumstances.machine.cores));
    text.push('\n');
    text.push_str(&instructions());
    text.push('\n');
    text.push_str(READING);
    text
}

/// Instructions are counted by a command of their own; the document shows the figures that are kept in the repository.
fn instructions() -> String {
    let baseline = Figures::parse(INSTRUCTIONS_BASELINE).expect("the file is one that was saved");
    format!("{INSTRUCTIONS}{}", baseline.table())
}

fn told(circumstances: &Circumstances) -> String {
    let Circumstances { command, date, minutes, versions, machine } = circumstances;
    let Machine { processor, cores, memory, kernel, disk, sync } = machine;
    format!(
        "- command: `{command}`\n- date: {date}; it took {minutes} minutes\n- machine: {processor}, {cores} cores, {memory} \
         memory, {kernel}, {disk}\n- the disk makes a write of 1 KB durable (`fdatasync`) in {sync}, at the beginning \
         of the run\n- versions: {versions}\n"
    )
}

fn targets(results: &Results) -> String {
    let mut text =
        "| work | target | measured | | with Azurite in memory |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for verdict in &results.verdicts {
        let (work, (measured, outcome)) = (verdict.row.title(), judgement(verdict));
        let aside = aside(verdict).unwrap_or_default();
        let _ = writeln!(text, "| {work} | {} | {measured} | {outcome} | {aside} |", verdict.target);
    }
    text
}

/// Says in a sentence how many targets are met, against either form of Azurite.
fn summary(results: &Results) -> String {
    let met = |measured: &Option<Measured>| measured.as_ref().is_some_and(|measured| measured.is_met);
    let all = results.verdicts.len();
    let count = results.verdicts.iter().filter(|verdict| met(&verdict.measured)).count();
    let about_azurite: Vec<&Verdict> = results.verdicts.iter().filter(|verdict| verdict.in_memory.is_some()).collect();
    let in_memory = about_azurite.iter().filter(|verdict| met(&verdict.in_memory)).count();
    let mut text = format!("{count} of {all} targets are met.");
    if !about_azurite.is_empty() {
        let _ = write!(
            text,
            " Azurite runs as it does by default, with a file on the same disk. Held against one that keeps everything in \
             memory, {in_memory} of the {} targets about Azurite are met; the last column shows which.",
            about_azurite.len()
        );
    }
    text.push_str("\n\n");
    text
}

fn series(results: &Results) -> String {
    let mut text =
        "| work | load | who | per second | slowest to fastest run | p50 | p90 | p99 | server | generator |\n\
        | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
            .to_owned();
    for series in results.series.iter().filter(|series| !series.runs.is_empty()) {
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|share| latency(series.percentile(share)));
        let generator = if series.who == Who::FjallAlone { String::new() } else { micros(series.generator_cpu()) };
        let (work, rate, server) = (series.row.title(), thousands(series.rate()), micros(series.server_cpu()));
        let (load, who, (least, most)) = (&series.case, series.who.name(), series.spread());
        let spread = format!("{} to {}", thousands(least), thousands(most));
        let _ = writeln!(
            text,
            "| {work} | {load} | {who} | {rate} | {spread} | {p50} | {p90} | {p99} | {server} | {generator} |"
        );
    }
    text
}

/// The failures of rivals.
fn mishaps(results: &Results) -> String {
    let lines =
        results.mishaps.iter().map(|Mishap { who, doing, why }| format!("- {} at {doing}: {why}\n", who.name()));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\nRivals that failed, and were out from then on:\n\n{lines}") }
}

fn facts(results: &Results) -> String {
    let lines = results.facts.iter().map(|fact| format!("- {}: {}: {}\n", fact.row.title(), fact.what, fact.value));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// The cost of the generator, next to that of the cheapest server there is.
fn generator(results: &Results) -> String {
    let is_bare = |series: &&Series| series.row == Row::PointRead && series.who == Who::BareHyper;
    let Some(bare) = results.series.iter().find(is_bare) else { return String::new() };
    format!(
        "\nThe generator takes its share of the same processors: with bare hyper ({}) {} per request, where hyper itself \
         takes {}.\n",
        bare.case,
        micros(bare.generator_cpu()),
        micros(bare.server_cpu()),
    )
}

fn disturbance(results: &Results, cores: usize) -> String {
    let (whole, largest) = results.disturbance(cores);
    format!(
        "Other programs took {} of the processors while servers were measured, in one run {}.\n",
        percent(whole),
        percent(largest)
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::load::Run;
    use crate::load::histogram::Histogram;
    use crate::results::times;

    fn results() -> Results {
        let mut latencies = Histogram::default();
        latencies.record(Duration::from_micros(100));
        let (generator_cpu, server_cpu) = (Duration::from_millis(10), Duration::from_millis(12));
        let run = |entities| Run {
            latencies: latencies.clone(),
            entities,
            lost: 0,
            time: Duration::from_secs(1),
            generator_cpu,
            server_cpu,
            others_cpu: Duration::from_millis(100),
        };
        let series = |who, entities| Series {
            row: Row::PointRead,
            case: "16 connections, SAS".to_owned(),
            who,
            is_judged: true,
            runs: vec![run(entities)],
        };
        let rivals =
            [(Who::Tablerock, 50_000), (Who::Azurite, 1_000), (Who::AzuriteInMemory, 2_500), (Who::BareHyper, 1_000)];
        let series = rivals.map(|(who, entities)| series(who, entities)).to_vec();
        let mut results = Results { series, ..Results::default() };
        results.require_ratio(Row::PointRead, Who::Azurite, 25.0, times);
        results.require_ratio(Row::PointRead, Who::FjallAlone, 1.0, times);
        results.fact(Row::Memory, "right after a start", "12 MB");
        results.mishap(Who::Azurite, "group transaction".to_owned(), "no answer".to_owned(), None);
        results
    }

    #[test]
    fn the_document_tells_targets_numbers_and_circumstances() {
        let machine = Machine {
            processor: "CPU".to_owned(),
            cores: 2,
            memory: "8.0 GiB".to_owned(),
            kernel: "Linux 6".to_owned(),
            disk: "ext4 on NVMe".to_owned(),
            sync: "200 µs, in one of 100 cases 1.00 ms or more".to_owned(),
        };
        let (command, date, versions) = ("cargo xtask bench".into(), "2026-01-31".into(), "Tablerock 0.1.0".into());
        let text = document(&results(), &Circumstances { command, date, minutes: 25, versions, machine });
        for line in [
            "- command: `cargo xtask bench`",
            "- machine: CPU, 2 cores, 8.0 GiB memory, Linux 6, ext4 on NVMe",
            "- the disk makes a write of 1 KB durable (`fdatasync`) in 200 µs, in one of 100 cases 1.00 ms or more, at the \
             beginning of the run",
            "| point read | at least 25 × Azurite | 50 × (16 connections, SAS) | met | 20 × (16 connections, SAS), missed |",
            "| point read | at least 1 × fjall alone | not measured | open |  |",
            "- Azurite at group transaction: no answer",
            "- memory: right after a start: 12 MB",
            "## How to read it",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(text.contains("\n1 of 2 targets are met. "), "{text}");
        assert!(text.contains("in memory, 0 of the 1 targets about Azurite are met"), "{text}");
        assert!(
            text.contains("| point read | 16 connections, SAS | Tablerock | 50,000 | 50,000 to 50,000 |"),
            "{text}"
        );
        assert!(text.contains("\nOther programs took 5 % of the processors"), "{text}");
        assert!(text.contains("10 µs per request, where hyper itself takes 12 µs"), "{text}");
    }
}
