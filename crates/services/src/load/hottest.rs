//! The heaviest of many things in little memory: the space-saving sketch of Metwally, Agrawal and El Abbadi, with weights
//! that fade.
//!
//! There is a fixed number of counters. A thing without one takes over the lightest, and with it that one's weight as what it
//! may have had unseen. So everything heavier than a counter's share of the whole is there, and no weight is too low
//! once the unseen part is added.
//!
//! An event weighs twice as much as one a half-life before it. New events are weighted more instead of old ones less,
//! which leaves all counters alone; before numbers become too large, all are scaled at once.

use std::collections::HashMap;

/// After so many seconds an event counts for half.
pub(super) const HALF_LIFE_SECONDS: f64 = 30.0;
/// How many half-lives new events may be ahead of the scale.
const HALF_LIVES_MAX: f64 = 200.0;

/// The rate of a thing, in events per second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rate {
    pub reads: f64,
    pub writes: f64,
    /// The rate it may have had in addition, while it had no counter.
    pub unseen: f64,
}

impl Rate {
    pub fn total(&self) -> f64 {
        self.reads + self.writes
    }
}

#[derive(Debug)]
struct Counter<N> {
    id: u64,
    name: N,
    weight: Rate,
}

impl<N> Counter<N> {
    fn rank(&self) -> f64 {
        self.weight.total() + self.weight.unseen
    }
}

#[derive(Debug)]
pub(super) struct Hottest<N> {
    counters: Vec<Counter<N>>,
    places: HashMap<u64, usize>,
    capacity: usize,
    /// The time at which an event weighs 1.
    scale_seconds: f64,
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Read,
    Write,
}

impl<N: Clone> Hottest<N> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { counters: Vec::new(), places: HashMap::new(), capacity, scale_seconds: 0.0 }
    }

    /// Counts some events of one thing. Its name is asked for only if it gets a counter.
    pub(super) fn count(&mut self, id: u64, event: Event, amount: u64, seconds: f64, name: impl FnOnce() -> N) {
        self.rescale(seconds);
        let weight = amount as f64 * ((seconds - self.scale_seconds) / HALF_LIFE_SECONDS).exp2();
        let place = match self.places.get(&id) {
            Some(place) => *place,
            None => self.make_room(id, name()),
        };
        let known = &mut self.counters[place].weight;
        match event {
            Event::Read => known.reads += weight,
            Event::Write => known.writes += weight,
        }
    }

    /// A counter for something new, at the lightest one's expense if there are enough.
    fn make_room(&mut self, id: u64, name: N) -> usize {
        let mut counter = Counter { id, name, weight: Rate::default() };
        if self.counters.len() < self.capacity {
            self.counters.push(counter);
            self.places.insert(id, self.counters.len() - 1);
            return self.counters.len() - 1;
        }
        let ranks = self.counters.iter().map(Counter::rank).enumerate();
        let (place, unseen) =
            ranks.min_by(|one, other| one.1.total_cmp(&other.1)).expect("there is room for one at least");
        counter.weight.unseen = unseen;
        self.places.remove(&self.counters[place].id);
        self.places.insert(id, place);
        self.counters[place] = counter;
        place
    }

    fn rescale(&mut self, seconds: f64) {
        let half_lives = (seconds - self.scale_seconds) / HALF_LIFE_SECONDS;
        if half_lives < HALF_LIVES_MAX {
            return;
        }
        self.scale_seconds = seconds;
        for counter in &mut self.counters {
            counter.weight = scaled(counter.weight, (-half_lives).exp2());
        }
    }

    /// All that have counters, with their present rates.
    pub(super) fn rates(&self, seconds: f64) -> Vec<(N, Rate)> {
        // A steady rate gathers the weight of so many seconds.
        let gathered = HALF_LIFE_SECONDS / std::f64::consts::LN_2;
        let factor = ((self.scale_seconds - seconds) / HALF_LIFE_SECONDS).exp2() / gathered;
        self.counters.iter().map(|counter| (counter.name.clone(), scaled(counter.weight, factor))).collect()
    }
}

fn scaled(weight: Rate, factor: f64) -> Rate {
    Rate { reads: weight.reads * factor, writes: weight.writes * factor, unseen: weight.unseen * factor }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate_of(hottest: &Hottest<u64>, id: u64, seconds: f64) -> Option<Rate> {
        hottest.rates(seconds).into_iter().find(|(name, _)| *name == id).map(|(_, rate)| rate)
    }

    #[test]
    fn a_steady_rate_is_told_as_it_is_and_fades_when_it_ends() {
        let mut hottest = Hottest::new(4);
        for tick in 0..60_000 {
            hottest.count(1, Event::Read, 2, f64::from(tick) / 100.0, || 1);
            hottest.count(1, Event::Write, 1, f64::from(tick) / 100.0, || 1);
        }
        let rate = rate_of(&hottest, 1, 600.0).unwrap();
        assert!((rate.reads - 200.0).abs() < 2.0 && (rate.writes - 100.0).abs() < 1.0, "{rate:?}");
        let later = rate_of(&hottest, 1, 630.0).unwrap();
        assert!((later.reads - 100.0).abs() < 2.0, "{later:?}");
        let much_later = rate_of(&hottest, 1, 100_000.0).unwrap();
        assert!(much_later.total() < 1e-6, "{much_later:?}");
    }

    #[test]
    fn what_is_hot_is_found_among_many_that_are_not() {
        let mut hottest = Hottest::new(16);
        for number in 0..50_000_u64 {
            let seconds = number as f64 / 1000.0;
            hottest.count(1_000_000 + number, Event::Read, 1, seconds, || 1_000_000 + number);
            if number % 4 == 0 {
                hottest.count(7, Event::Write, 1, seconds, || 7);
            }
        }
        let mut rates = hottest.rates(50.0);
        assert_eq!(rates.len(), 16, "memory is bounded");
        rates.sort_by(|one, other| other.1.total().total_cmp(&one.1.total()));
        let (name, rate) = rates[0];
        assert_eq!(name, 7);
        assert!(rate.writes <= 250.0 && rate.writes + rate.unseen >= 165.0, "{rate:?}");
        assert!(rates[1].1.total() < 5.0, "a name that appears once is not hot: {:?}", rates[1]);
    }

    #[test]
    fn days_of_events_do_not_overflow() {
        let mut hottest = Hottest::new(2);
        for day in 0..400 {
            hottest.count(1, Event::Read, 1_000, f64::from(day) * 86_400.0, || 1);
        }
        let rate = rate_of(&hottest, 1, 399.0 * 86_400.0).unwrap();
        assert!(rate.reads.is_finite() && rate.reads > 1.0, "{rate:?}");
    }
}
