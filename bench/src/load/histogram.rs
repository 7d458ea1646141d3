//! Latencies, in a histogram: a run of any length needs the same memory, and percentiles of several runs can be taken
//! together.

use std::time::Duration;

/// Percentiles are right within a hundredth.
const SIGNIFICANT_DIGITS: u8 = 2;

#[derive(Debug, Clone)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

impl Default for Histogram {
    fn default() -> Self {
        Self(hdrhistogram::Histogram::new(SIGNIFICANT_DIGITS).expect("up to five digits are possible"))
    }
}

impl Histogram {
    pub fn record(&mut self, latency: Duration) {
        // A latency of more than 584 years does not fit, and does not happen.
        self.0.record(latency.as_nanos() as u64).expect("the histogram grows as it needs to");
    }

    pub fn add(&mut self, other: &Histogram) {
        self.0.add(&other.0).expect("the histogram grows as it needs to");
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency that this share of all requests (0.99 for the 99th percentile) did not exceed, rounded up; `None` if
    /// there were no requests.
    pub fn percentile(&self, share: f64) -> Option<Duration> {
        (!self.0.is_empty()).then(|| Duration::from_nanos(self.0.value_at_quantile(share)))
    }
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
    fn percentiles_lie_within_a_hundredth_of_the_latency() {
        for nanos in (1..4096).chain((0..53).map(|bit| (1 << bit) + 12_345 % (1 << bit))) {
            let found = of([nanos]).percentile(1.0).unwrap().as_nanos() as u64;
            assert!(found >= nanos && found - nanos <= nanos / 100, "{nanos} became {found}");
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
