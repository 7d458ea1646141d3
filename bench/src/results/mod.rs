//! What a whole run has shown, and what that says about the targets.

pub mod explained;
pub mod series;

use std::time::Duration;

use crate::contest::rows::Row;
use crate::report::{megabytes, thousands};
use crate::results::explained::why_missed;
use crate::results::series::{Series, Who};

/// The most characters of a mishap's description.
const MISHAP_CHARS_MAX: usize = 300;

/// Something that is measured once, or not as a rate.
#[derive(Debug, Clone)]
pub struct Fact {
    pub row: Row,
    pub what: String,
    pub value: String,
}

/// The measured value for a target, and whether that is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    pub shown: String,
    pub is_met: bool,
}

/// A target held against what was measured; `None` if it could not be.
#[derive(Debug, Clone)]
pub struct Verdict {
    pub row: Row,
    pub target: String,
    pub measured: Option<Measured>,
    /// Where the target is about Azurite, the same with an Azurite that keeps everything in memory. It is shown, and does
    /// not decide.
    pub in_memory: Option<Measured>,
}

/// A rival that failed under a load. What it did until then still counts.
#[derive(Debug, Clone)]
pub struct Mishap {
    pub who: Who,
    pub doing: String,
    pub why: String,
}

#[derive(Debug, Default)]
pub struct Results {
    pub series: Vec<Series>,
    pub facts: Vec<Fact>,
    pub verdicts: Vec<Verdict>,
    pub mishaps: Vec<Mishap>,
}

impl Results {
    pub fn fact(&mut self, row: Row, what: impl Into<String>, value: impl Into<String>) {
        self.facts.push(Fact { row, what: what.into(), value: value.into() });
    }

    pub fn judge(&mut self, row: Row, target: String, measured: Option<Measured>) {
        self.verdicts.push(Verdict { row, target, measured, in_memory: None });
    }

    /// Records that a rival failed, in one line, with the end of its process if that was the reason.
    pub fn mishap(&mut self, who: Who, doing: String, why: String, end: Option<String>) {
        let why = end.map_or(why, |end| format!("its process ended with {end}"));
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MISHAP_CHARS_MAX).collect();
        println!("{} failed, {doing}: {why}", who.name());
        self.mishaps.push(Mishap { who, doing, why });
    }

    /// Holds a size in bytes against the one that it must stay under; `what` stands before that, if there are several.
    pub fn judge_size(&mut self, row: Row, what: &str, limit: u64, bytes: Option<u64>) {
        let target = format!("{what}under {}", megabytes(limit));
        self.judge(row, target, bytes.map(|bytes| Measured { shown: megabytes(bytes), is_met: bytes < limit }));
    }

    fn judged(&self, row: Row, who: Who) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(move |series| series.is_judged && series.row == row && series.who == who)
    }

    /// One's rate in relation to another's, in the case where that is lowest.
    pub fn lowest_ratio(&self, row: Row, ours: Who, rival: Who) -> Option<(f64, &str)> {
        let ratios = self.judged(row, ours).filter_map(|ours| {
            let theirs = self.judged(row, rival).find(|theirs| theirs.case == ours.case && !theirs.runs.is_empty())?;
            Some((ours.ratio_to(theirs), ours.case.as_str()))
        });
        ratios.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Requires Tablerock to be so many times as fast as a rival in every case of the row.
    pub fn require_ratio(&mut self, row: Row, rival: Who, least: f64, shown: impl Fn(f64) -> String) {
        let measured = |rival| {
            let lowest = self.lowest_ratio(row, Who::Tablerock, rival);
            lowest.map(|(ratio, case)| Measured { shown: in_case(&shown(ratio), case), is_met: ratio >= least })
        };
        let of = if least < 1.0 { " of" } else { "" };
        let target = format!("at least {}{of} {}", shown(least), rival.name());
        let in_memory = if rival == Who::Azurite { measured(Who::AzuriteInMemory) } else { None };
        self.verdicts.push(Verdict { row, target, measured: measured(rival), in_memory });
    }

    /// Requires so many entities per second in every case of the row.
    pub fn require_rate(&mut self, row: Row, least: f64) {
        let rates = self.judged(row, Who::Tablerock).map(|series| (series.rate(), series.case.as_str()));
        let lowest = rates.min_by(|a, b| a.0.total_cmp(&b.0));
        let shown = |rate: f64| format!("{} entities/s", thousands(rate));
        let measured =
            lowest.map(|(rate, case)| Measured { shown: in_case(&shown(rate), case), is_met: rate >= least });
        self.judge(row, format!("at least {}", shown(least)), measured);
    }

    /// The share of the processors that other programs took while the servers were measured: on the whole, and in the
    /// run where it was largest.
    pub fn disturbance(&self, cores: usize) -> (f64, f64) {
        let runs = self.series.iter().filter(|series| series.who != Who::FjallAlone).flat_map(|series| &series.runs);
        let share = |others: Duration, time: Duration| others.as_secs_f64() / (time.as_secs_f64() * cores as f64);
        let (mut others, mut time, mut largest) = (Duration::ZERO, Duration::ZERO, 0.0_f64);
        for run in runs {
            others += run.others_cpu;
            time += run.time;
            largest = largest.max(share(run.others_cpu, run.time));
        }
        if time.is_zero() { (0.0, 0.0) } else { (share(others, time), largest) }
    }

    /// Whether all targets are met, but for those of which it is known why not.
    pub fn is_success(&self) -> bool {
        self.verdicts.iter().all(|verdict| {
            verdict.measured.as_ref().is_some_and(|measured| measured.is_met || why_missed(verdict).is_some())
        })
    }
}

/// A number and the case that it comes from: `27.3 × (16 connections)`.
pub fn in_case(number: &str, case: &str) -> String {
    format!("{number} ({case})")
}

/// How ratios are written: `27.3 ×`, and `30 ×` where there is nothing behind the point.
pub fn times(ratio: f64) -> String {
    if ratio.fract() == 0.0 { format!("{ratio} ×") } else { format!("{ratio:.1} ×") }
}

/// How shares are written: `58 %`.
pub fn percent(ratio: f64) -> String {
    format!("{:.0} %", ratio * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::series::tests::series;

    #[test]
    fn the_worst_case_is_held_against_the_target() {
        let series = vec![
            series("a", Who::Tablerock, &[3000]),
            series("a", Who::Azurite, &[100]),
            series("b", Who::Tablerock, &[2000]),
            series("b", Who::Azurite, &[100]),
        ];
        let mut results = Results { series, ..Results::default() };
        results.require_ratio(Row::PointRead, Who::Azurite, 25.0, times);
        let verdict = &results.verdicts[0];
        assert_eq!(verdict.measured, Some(Measured { shown: "20 × (b)".to_owned(), is_met: false }));
        assert_eq!(verdict.target, "at least 25 × Azurite");
        assert_eq!(verdict.in_memory, None);
    }

    #[test]
    fn azurite_in_memory_is_told_but_does_not_decide() {
        let series = vec![
            series("a", Who::Tablerock, &[3000]),
            series("a", Who::Azurite, &[100]),
            series("a", Who::AzuriteInMemory, &[200]),
        ];
        let mut results = Results { series, ..Results::default() };
        results.require_ratio(Row::PointRead, Who::Azurite, 25.0, times);
        assert_eq!(results.verdicts[0].in_memory, Some(Measured { shown: "15 × (a)".to_owned(), is_met: false }));
        assert!(results.is_success());
    }

    #[test]
    fn a_target_that_is_missed_fails_the_run_unless_it_is_known_why() {
        let of_row = |row, rate| crate::results::series::Series { row, ..series("a", Who::Tablerock, &[rate]) };
        let azurite = |row| crate::results::series::Series { row, ..series("a", Who::Azurite, &[100]) };
        let judge = |row, least| {
            let mut results = Results { series: vec![of_row(row, 2000), azurite(row)], ..Results::default() };
            results.require_ratio(row, Who::Azurite, least, times);
            results.is_success()
        };
        assert!(judge(Row::Group, 30.0));
        assert!(!judge(Row::PartitionQuery, 25.0));
    }

    #[test]
    fn a_rival_that_failed_in_every_run_is_not_compared_with() {
        let series = vec![series("a", Who::Tablerock, &[3000]), series("a", Who::Azurite, &[])];
        let mut results = Results { series, ..Results::default() };
        results.require_ratio(Row::PointRead, Who::Azurite, 25.0, times);
        assert_eq!(results.verdicts[0].measured, None);
    }

    #[test]
    fn a_mishap_is_one_short_line_and_the_end_of_a_process_explains_it() {
        let mut results = Results::default();
        let end = Some(format!("signal: 6, and said\nFATAL ERROR\n{}", "x".repeat(1000)));
        results.mishap(Who::Azurite, "reading".to_owned(), "the server closed the connection".to_owned(), end);
        let told = &results.mishaps[0].why;
        assert!(told.starts_with("its process ended with signal: 6, and said FATAL ERROR xxx"), "{told}");
        assert_eq!(told.chars().count(), MISHAP_CHARS_MAX);
    }

    #[test]
    fn what_others_take_is_a_share_of_all_processors() {
        let mut busy = series("a", Who::Tablerock, &[1000, 1000]);
        busy.runs[0].others_cpu = Duration::from_millis(400);
        let results = Results { series: vec![busy], ..Results::default() };
        assert_eq!(results.disturbance(2), (0.1, 0.2));
        assert_eq!(Results::default().disturbance(2), (0.0, 0.0));
    }

    #[test]
    fn without_the_rival_nothing_is_judged_and_nothing_passes() {
        let mut results = Results { series: vec![series("a", Who::Tablerock, &[3000])], ..Results::default() };
        results.require_ratio(Row::PointRead, Who::BareHyper, 0.5, percent);
        assert_eq!(results.verdicts[0].target, "at least 50 % of bare hyper");
        assert_eq!(results.verdicts[0].measured, None);
        assert!(!results.is_success());
    }
}
