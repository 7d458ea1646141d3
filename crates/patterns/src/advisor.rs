//! Anti-patterns, seen in the keys that are written, and what to do in their place.

use std::cmp::Ordering;
use std::collections::HashMap;

/// Fewer keys than this say nothing.
const KEYS_MIN: usize = 32;
/// Fewer changes of a key than this lead nowhere.
const STEPS_MIN: usize = 8;
/// How much of a sequence has to show a trait for it to be one.
const SHARE: f64 = 0.9;

/// What is wrong with the way keys follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Every write begins a partition behind all others.
    Append,
    /// Every write begins a partition before all others.
    Prepend,
    /// Nearly all writes go to one partition.
    HotPartition,
    /// Keys are times that only go on, and nothing spreads them: entries of a log.
    LogData,
}

/// A finding with its reason and its remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What was found.
    pub finding: Finding,
    /// What it leads to.
    pub why: &'static str,
    /// What to do in its place.
    pub instead: &'static str,
}

/// Looks at keys (PartitionKey and RowKey) in the order in which entities were inserted, and says what the guide would
/// say about them.
///
/// ```
/// # use tablerock_patterns::{Finding, advise};
/// let keys: Vec<(String, String)> = (0..100).map(|second| (format!("20261116_{second:05}"), "x".into())).collect();
/// let advice = advise(keys.iter().map(|(partition, row)| (partition.as_str(), row.as_str())));
/// assert_eq!(advice[0].finding, Finding::Append);
/// println!("{} {}", advice[0].why, advice[0].instead);
/// ```
pub fn advise<'a>(keys: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Advice> {
    let keys: Vec<(&str, &str)> = keys.into_iter().collect();
    if keys.len() < KEYS_MIN {
        return Vec::new();
    }
    let partitions: Vec<&str> = keys.iter().map(|(partition, _)| *partition).collect();
    let rows: Vec<&str> = keys.iter().map(|(_, row)| *row).collect();
    let mut findings = Vec::new();
    if is_going(&partitions, Ordering::Less) {
        findings.push(Finding::Append);
    }
    if is_going(&partitions, Ordering::Greater) {
        findings.push(Finding::Prepend);
    }
    if is_one(&partitions) {
        findings.push(Finding::HotPartition);
    }
    // Times in the RowKey, below PartitionKeys that spread, are what the log tail pattern is made of.
    if is_log(&partitions) || (is_one(&partitions) && is_log(&rows)) {
        findings.push(Finding::LogData);
    }
    findings.into_iter().map(Finding::advice).collect()
}

impl Finding {
    fn advice(self) -> Advice {
        let (why, instead) = match self {
            Self::Append => (
                "PartitionKeys only grow, so every insert goes to the end of the table: however many servers there \
                 are, one of them takes all the load, and splitting its range moves the load to the next one.",
                "Begin the PartitionKey with something that spreads: a hash or a bucket of the rest, or the thing \
                 that the entity belongs to. Keep the time for the RowKey.",
            ),
            Self::Prepend => (
                "PartitionKeys only shrink, so every insert goes to the beginning of the table, and one server takes \
                 all the load.",
                "Keep inverted times for the RowKey, below a PartitionKey that spreads; within a partition the newest \
                 are then first, which is the log tail pattern.",
            ),
            Self::HotPartition => (
                "Nearly all inserts go to one partition, which is served by one server and cannot be split.",
                "Divide the partition: by month, by department, or into a fixed number of buckets that are queried \
                 side by side.",
            ),
            Self::LogData => (
                "Keys are times that only go on, as in a log. Such entities are written once, read rarely and deleted \
                 all together, which is what tables are worst at.",
                "Append to blobs, named by the hour, and delete whole blobs. If entries have to be looked up by key, \
                 use a table for each day and drop it whole.",
            ),
        };
        Advice { finding: self, why, instead }
    }
}

/// Whether keys that differ from the one before lie on one side of it. Keys that hardly ever differ go nowhere.
fn is_going(keys: &[&str], order: Ordering) -> bool {
    let steps = keys.windows(2).map(|pair| pair[0].cmp(pair[1])).filter(|step| *step != Ordering::Equal);
    let (mut steps_count, mut same) = (0, 0);
    for step in steps {
        steps_count += 1;
        same += usize::from(step == order);
    }
    steps_count >= STEPS_MIN && is_share(same, steps_count)
}

fn is_one(keys: &[&str]) -> bool {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    is_share(counts.into_values().max().unwrap_or_default(), keys.len())
}

/// Times only: they go on, and look like ticks or like dates.
fn is_log(keys: &[&str]) -> bool {
    let times = keys.iter().filter(|key| is_time(key)).count();
    let goes_on = is_going(keys, Ordering::Less) || is_going(keys, Ordering::Greater);
    goes_on && is_share(times, keys.len())
}

/// Nineteen digits, or a date of this or the last century and at least an hour.
fn is_time(key: &str) -> bool {
    let digits: String = key.chars().filter(char::is_ascii_digit).collect();
    let others = key.len() - digits.len();
    let is_date = (10..=17).contains(&digits.len()) && matches!(&digits[..2], "19" | "20");
    others <= 7 && (digits.len() >= 19 || is_date)
}

fn is_share(part: usize, whole: usize) -> bool {
    part as f64 >= whole as f64 * SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(key: impl Fn(usize) -> (String, String)) -> Vec<Finding> {
        let keys: Vec<(String, String)> = (0..200).map(key).collect();
        let keys = keys.iter().map(|(partition, row)| (partition.as_str(), row.as_str()));
        advise(keys).into_iter().map(|advice| advice.finding).collect()
    }

    #[test]
    fn d_anti_patterns_are_detected() {
        let one = || "x".to_owned();
        assert_eq!(found(|n| (format!("{n:06}"), one())), [Finding::Append]);
        assert_eq!(found(|n| (format!("{:06}", 999 - n), one())), [Finding::Prepend]);
        assert_eq!(found(|n| (one(), format!("{}", n * 7919 % 200))), [Finding::HotPartition]);
        let log = |n: usize| (format!("2026-11-16T08:{:02}:{:02}Z", n / 60, n % 60), one());
        assert_eq!(found(log), [Finding::Append, Finding::LogData]);
        let ticks = |n: usize| (one(), format!("{:019}", 638_000_000_000_000_000_u64 + n as u64));
        assert_eq!(found(ticks), [Finding::HotPartition, Finding::LogData]);
    }

    /// Partitions by the minute, with several entities each.
    #[test]
    fn d_append_and_prepend_are_seen_through_runs_of_one_key() {
        assert_eq!(found(|n| (format!("m{:04}", n / 10), format!("{:03}", n * 7 % 10))), [Finding::Append]);
        assert_eq!(found(|n| (format!("m{:04}", 99 - n / 10), format!("{:03}", n * 7 % 10))), [Finding::Prepend]);
    }

    /// What the advice for growing keys recommends must not be the next thing that it warns of.
    #[test]
    fn d_the_log_tail_pattern_is_left_alone() {
        for sign in [1, -1] {
            let ticks = |n: usize| format!("{:019}", 638_000_000_000_000_000_i64 + sign * n as i64);
            assert_eq!(found(|n| (format!("{:06}", n * 7919 % 13), ticks(n))), []);
        }
    }

    #[test]
    fn d_anti_patterns_are_explained_and_good_keys_are_left_alone() {
        for finding in [Finding::Append, Finding::Prepend, Finding::HotPartition, Finding::LogData] {
            let Advice { why, instead, .. } = finding.advice();
            assert!(why.len() > 40 && instead.len() > 40);
        }
        assert_eq!(found(|n| (format!("dept{}", n * 7919 % 13), format!("{:06}", n * 7919 % 200))), []);
        assert!(advise((0..10).map(|_| ("x", "y"))).is_empty());
    }
}
