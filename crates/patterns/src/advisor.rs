//! Detection of anti-patterns in the keys of inserted entities.

use std::cmp::Ordering;
use std::collections::HashMap;

/// The smallest number of keys to judge.
const KEYS_MIN: usize = 32;
/// The smallest number of key changes that form a direction.
const STEPS_MIN: usize = 8;
/// The share of a sequence that has to show a trait.
const SHARE: f64 = 0.9;

/// An anti-pattern in a sequence of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Each insert has a PartitionKey after all earlier ones.
    Append,
    /// Each insert has a PartitionKey before all earlier ones.
    Prepend,
    /// Nearly all inserts are in one partition.
    HotPartition,
    /// Keys are increasing times without a prefix that distributes them: entries of a log.
    LogData,
}

/// A finding with its consequence and its remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The anti-pattern.
    pub finding: Finding,
    /// The consequence of the anti-pattern.
    pub reason: &'static str,
    /// The better design.
    pub remedy: &'static str,
}

/// Examines PartitionKeys and RowKeys in the order of their inserts, and returns the anti-patterns that they form.
///
/// ```
/// # use tablerock_patterns::{Finding, advise};
/// let keys: Vec<(String, String)> = (0..100).map(|second| (format!("20261116_{second:05}"), "x".into())).collect();
/// let advice = advise(keys.iter().map(|(partition, row)| (partition.as_str(), row.as_str())));
/// assert_eq!(advice[0].finding, Finding::Append);
/// println!("{} {}", advice[0].reason, advice[0].remedy);
/// ```
pub fn advise<'a>(keys: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Advice> {
    let keys: Vec<(&str, &str)> = keys.into_iter().collect();
    if keys.len() < KEYS_MIN {
        return Vec::new();
    }
    let partitions: Vec<&str> = keys.iter().map(|(partition, _)| *partition).collect();
    let rows: Vec<&str> = keys.iter().map(|(_, row)| *row).collect();
    let mut findings = Vec::new();
    if is_monotonic(&partitions, Ordering::Less) {
        findings.push(Finding::Append);
    }
    if is_monotonic(&partitions, Ordering::Greater) {
        findings.push(Finding::Prepend);
    }
    if is_single(&partitions) {
        findings.push(Finding::HotPartition);
    }
    // Times in the RowKey of distributed partitions are the log tail pattern.
    if is_log(&partitions) || (is_single(&partitions) && is_log(&rows)) {
        findings.push(Finding::LogData);
    }
    findings.into_iter().map(Finding::advice).collect()
}

impl Finding {
    fn advice(self) -> Advice {
        let (reason, remedy) = match self {
            Self::Append => (
                "PartitionKeys only increase, so every insert is at the end of the table. One server has all the load, \
                 and a split of its range moves the load to the next server.",
                "Begin the PartitionKey with a part that distributes entities: a hash, a bucket or the owner of the \
                 entity. Use the time in the RowKey.",
            ),
            Self::Prepend => (
                "PartitionKeys only decrease, so every insert is at the beginning of the table. One server has all the \
                 load.",
                "Use inverted times in the RowKey, with a PartitionKey that distributes entities. The newest entity of \
                 a partition is then the first: this is the log tail pattern.",
            ),
            Self::HotPartition => (
                "Nearly all inserts are in one partition, which one server holds and which cannot be split.",
                "Divide the partition by month, by department, or into a fixed number of buckets that are queried \
                 concurrently.",
            ),
            Self::LogData => (
                "Keys are increasing times, as in a log. Log entries are written once, read rarely and deleted together, \
                 which is inefficient in a table.",
                "Append to a blob for each hour, and delete whole blobs. If entries are looked up by key, use a table \
                 for each day and delete whole tables.",
            ),
        };
        Advice { finding: self, reason, remedy }
    }
}

/// Whether most keys that differ from their predecessor are on one side of it. Keys with few changes have no direction.
fn is_monotonic(keys: &[&str], order: Ordering) -> bool {
    let steps = keys.windows(2).map(|pair| pair[0].cmp(pair[1])).filter(|step| *step != Ordering::Equal);
    let (mut steps_count, mut same) = (0, 0);
    for step in steps {
        steps_count += 1;
        same += usize::from(step == order);
    }
    steps_count >= STEPS_MIN && is_share(same, steps_count)
}

fn is_single(keys: &[&str]) -> bool {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    is_share(counts.into_values().max().unwrap_or_default(), keys.len())
}

/// Whether keys are times in one direction.
fn is_log(keys: &[&str]) -> bool {
    let times = keys.iter().filter(|key| is_time(key)).count();
    let is_one_way = is_monotonic(keys, Ordering::Less) || is_monotonic(keys, Ordering::Greater);
    is_one_way && is_share(times, keys.len())
}

/// Whether a key has 19 digits, or is a date of this or the last century with an hour.
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
    fn anti_patterns_are_detected() {
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
    fn append_and_prepend_are_seen_through_runs_of_one_key() {
        assert_eq!(found(|n| (format!("m{:04}", n / 10), format!("{:03}", n * 7 % 10))), [Finding::Append]);
        assert_eq!(found(|n| (format!("m{:04}", 99 - n / 10), format!("{:03}", n * 7 % 10))), [Finding::Prepend]);
    }

    /// The keys that the advice for growing keys recommends must not cause a warning themselves.
    #[test]
    fn the_log_tail_pattern_is_left_alone() {
        for sign in [1, -1] {
            let ticks = |n: usize| format!("{:019}", 638_000_000_000_000_000_i64 + sign * n as i64);
            assert_eq!(found(|n| (format!("{:06}", n * 7919 % 13), ticks(n))), []);
        }
    }

    #[test]
    fn anti_patterns_are_explained_and_good_keys_are_left_alone() {
        for finding in [Finding::Append, Finding::Prepend, Finding::HotPartition, Finding::LogData] {
            let Advice { reason, remedy, .. } = finding.advice();
            assert!(reason.len() > 40 && remedy.len() > 40);
        }
        assert_eq!(found(|n| (format!("dept{}", n * 7919 % 13), format!("{:06}", n * 7919 % 200))), []);
        assert!(advise((0..10).map(|_| ("x", "y"))).is_empty());
    }
}
