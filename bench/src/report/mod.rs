//! Numbers as people read them: lines while the work goes on, a table at its end, and the document.

mod document;
pub mod machine;
pub mod sync_time;
pub mod versions;

use std::time::Duration;

use crate::results::explained::why_missed;
use crate::results::series::Series;
use crate::results::{Measured, Results, Verdict};

pub use document::{Circumstances, document};

/// One series in one line.
pub fn line(series: &Series) -> String {
    let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|share| latency(series.percentile(share)));
    format!(
        "{:37} {:32} {:17} {:>9}/s  p50 {p50:>9}  p90 {p90:>9}  p99 {p99:>9}  cpu {:>9} + {:>9}",
        series.row.title(),
        series.case,
        series.who.name(),
        thousands(series.rate()),
        micros(series.server_cpu()),
        micros(series.generator_cpu()),
    )
}

/// The table of targets, with what became of them.
pub fn verdicts(results: &Results) -> String {
    let lines = results.verdicts.iter().map(|verdict| {
        let (work, (measured, outcome)) = (verdict.row.title(), judgement(verdict));
        let aside = aside(verdict).map(|aside| format!("; in memory: {aside}")).unwrap_or_default();
        format!("{work:43} {:47} {measured:37} {outcome}{aside}\n", verdict.target)
    });
    lines.collect()
}

/// The measured value of a target, and its verdict.
fn judgement(verdict: &Verdict) -> (&str, String) {
    match (&verdict.measured, why_missed(verdict)) {
        (Some(Measured { shown, is_met: true }), _) => (shown, "met".to_owned()),
        (Some(Measured { shown, is_met: false }), None) => (shown, "**missed**".to_owned()),
        (Some(Measured { shown, is_met: false }), Some(why)) => (shown, format!("**missed**, [why]({why})")),
        (None, _) => ("not measured", "open".to_owned()),
    }
}

/// How the same target stands with Azurite in memory, where it is about Azurite.
fn aside(verdict: &Verdict) -> Option<String> {
    let in_memory = verdict.in_memory.as_ref()?;
    Some(format!("{}, {}", in_memory.shown, if in_memory.is_met { "met" } else { "missed" }))
}

fn latency(time: Option<Duration>) -> String {
    time.map_or_else(String::new, micros)
}

/// `85 µs`, `1.24 ms` or `2.1 s`, with the digits that matter.
pub fn micros(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.2} s"),
        seconds if seconds >= 1e-3 => format!("{:.2} ms", seconds * 1e3),
        seconds if seconds >= 1e-5 => format!("{:.0} µs", seconds * 1e6),
        seconds => format!("{:.1} µs", seconds * 1e6),
    }
}

/// `85 µs, 1.24 ms`
pub fn micros_of_all(times: &[Duration]) -> String {
    times.iter().map(|&time| micros(time)).collect::<Vec<_>>().join(", ")
}

/// `1 connection`, `16 connections`
pub fn connections_name(connections: usize) -> String {
    format!("{connections} connection{}", if connections == 1 { "" } else { "s" })
}

/// `18.2 MB`
pub fn megabytes(bytes: u64) -> String {
    let megabytes = bytes as f64 / 1e6;
    if megabytes.fract() == 0.0 { format!("{megabytes} MB") } else { format!("{megabytes:.1} MB") }
}

/// `12,345`; small numbers with their fraction.
pub fn thousands(number: f64) -> String {
    if number.is_nan() || number < 100.0 {
        return format!("{number:.1}");
    }
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_in_thousands() {
        let shown = [0.0, 3.46, 99.94, 100.0, 999.6, 1234.0, 1_234_567.0].map(thousands);
        assert_eq!(shown, ["0.0", "3.5", "99.9", "100", "1,000", "1,234", "1,234,567"]);
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        let shown = [1_234, 85_400, 1_240_000, 2_100_000_000].map(|nanos| micros(Duration::from_nanos(nanos)));
        assert_eq!(shown, ["1.2 µs", "85 µs", "1.24 ms", "2.10 s"]);
    }
}
