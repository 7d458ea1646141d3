//! Latencies, counted in buckets whose width is below one hundredth of what they hold, so that a run of any length
//! needs the same memory and percentiles of several runs can be taken together.

use std::time::Duration;

/// Each power of two is divided into this many buckets, as a power of two itself.
const BITS: u32 = 7;
const BUCKETS: usize = ((64 - BITS) as usize + 1) << BITS;

#[derive(Debug, Clone)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS], count: 0 }
    }
}

impl Histogram {
    pub fn record(&mut self, latency: Duration) {
        // A latency of more than 584 years does not fit, and does not happen.
        self.buckets[bucket_of(latency.as_nanos() as u64)] += 1;
        self.count += 1;
    }

    pub fn add(&mut self, other: &Histogram) {
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.count += other.count;
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The latency that this share of all requests (0.99 for the 99th percentile) did not exceed, rounded up to its
    /// bucket's end; `None` if there were no requests.
    pub fn percentile(&self, share: f64) -> Option<Duration> {
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let bucket = self.buckets.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(Duration::from_nanos(end_of(bucket)))
    }
}

fn bucket_of(nanos: u64) -> usize {
    let Some(shift) = (64 - nanos.leading_zeros()).checked_sub(BITS + 1) else { return nanos as usize };
    ((shift as usize) << BITS) + (nanos >> shift) as usize
}

/// The largest value that falls into a bucket.
fn end_of(bucket: usize) -> u64 {
    let shift = (bucket >> BITS).saturating_sub(1) as u32;
    let first = (bucket - ((shift as usize) << BITS)) as u64;
    (first << shift) + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(nanos: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        nanos.into_iter().for_each(|nanos| histogram.record(Duration::from_nanos(nanos)));
        histogram
    }

    #[test]
    fn every_value_lies_within_a_hundredth_of_its_buckets_end() {
        for nanos in (0..4096).chain((0..63).map(|bit| (1 << bit) + 12_345 % (1 << bit))).chain([u64::MAX]) {
            let end = end_of(bucket_of(nanos));
            assert!(end >= nanos && end - nanos <= nanos / 100, "{nanos} in a bucket that ends at {end}");
            assert_eq!(bucket_of(end), bucket_of(nanos));
        }
    }

    #[test]
    fn percentiles_are_ranks() {
        let histogram = of(1..=100);
        let nanos = |share| histogram.percentile(share).unwrap().as_nanos();
        assert_eq!((nanos(0.0), nanos(0.5), nanos(0.9), nanos(0.99), nanos(1.0)), (1, 50, 90, 99, 100));
    }

    #[test]
    fn one_slow_request_in_a_thousand_shows_only_above_the_999th_permille() {
        let histogram = of(std::iter::repeat_n(100, 999).chain([1_000_000]));
        assert_eq!(histogram.percentile(0.99).unwrap().as_nanos(), 100);
        assert!(histogram.percentile(0.9999).unwrap().as_nanos() >= 1_000_000);
    }

    #[test]
    fn histograms_add_up() {
        let mut sum = of(1..=50);
        sum.add(&of(51..=100));
        assert_eq!((sum.count(), sum.percentile(0.75).unwrap().as_nanos()), (100, 75));
    }

    #[test]
    fn without_requests_there_is_no_percentile() {
        assert_eq!(Histogram::default().percentile(0.5), None);
    }
}
