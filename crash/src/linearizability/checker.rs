//! The search for a linearization, after Wing and Gong, with the cache of Lowe.
//!
//! A history is linearizable if each operation has a point between its call and its return such that, in the order of these
//! points, every response is correct. The search tries each operation that may come first, then each that may come next. It
//! caches the sets of operations, with their states, that lead to no solution, and does not try them again in another
//! order.
//!
//! An operation without a known return may take effect at any time after its call, or never.

use std::collections::HashSet;
use std::hash::Hash;

/// The sequential specification of an operation.
pub trait SequentialSpec<S> {
    /// The state afterwards; `None` if the response is not possible in this state.
    fn apply(&self, state: &S) -> Option<S>;
}

/// An operation with the times of its call and its return, in any unit. `None` is an unknown return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation<O> {
    pub called: u64,
    pub returned: Option<u64>,
    pub operation: O,
}

/// A set of operations by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Taken(Vec<u64>);

impl Taken {
    /// The numbers below `count` that are not in it.
    fn rest(&self, count: usize) -> impl Iterator<Item = usize> {
        let open = |(index, word): (usize, &u64)| {
            let (mut open, first) = (!*word, index * 64);
            std::iter::from_fn(move || {
                let bit = open.trailing_zeros() as usize;
                open &= open.wrapping_sub(1);
                (bit < 64).then_some(first + bit)
            })
        };
        self.0.iter().enumerate().flat_map(open).take_while(move |number| *number < count)
    }

    fn toggle(&mut self, number: usize) {
        self.0[number / 64] ^= 1 << (number % 64);
    }
}

/// One level of the search.
struct SearchState<S> {
    /// Operations that may come next, with the state after each.
    next: Vec<(usize, S)>,
    tried: Option<usize>,
}

/// Searches for a linearization. The error holds the operations at which the longest attempt ended.
pub fn check<S, O>(initial: &S, mut calls: Vec<Invocation<O>>) -> Result<(), Vec<Invocation<O>>>
where
    S: Clone + Eq + Hash,
    O: SequentialSpec<S> + Clone,
{
    calls.sort_by_key(|call| call.called);
    let is_known = |number: usize| usize::from(calls[number].returned.is_some());
    let known: usize = (0..calls.len()).map(is_known).sum();
    let mut taken = Taken(vec![0; calls.len().div_ceil(64)]);
    let mut visited = HashSet::new();
    let (mut linearized, mut farthest, mut stuck) = (0, 0, candidates(&calls, &taken));

    let mut path = vec![SearchState { next: successors(&calls, &taken, initial), tried: None }];
    while linearized < known {
        let Some(moment) = path.last_mut() else {
            return Err(stuck.into_iter().map(|number| calls[number].clone()).collect());
        };
        if let Some(tried) = moment.tried.take() {
            taken.toggle(tried);
            linearized -= is_known(tried);
        }
        let Some((number, state)) = moment.next.pop() else {
            path.pop();
            continue;
        };
        taken.toggle(number);
        if !visited.insert((taken.clone(), state.clone())) {
            taken.toggle(number);
            continue;
        }
        moment.tried = Some(number);
        linearized += is_known(number);
        if linearized > farthest {
            (farthest, stuck) = (linearized, candidates(&calls, &taken));
        }
        path.push(SearchState { next: successors(&calls, &taken, &state), tried: None });
    }
    Ok(())
}

/// The operations that can come next. A possible operation that changes nothing, such as a read, comes first and alone:
/// any linearization with it later is also valid with it here. An operation without a known return that changes nothing
/// here is deferred, because it may change something later.
fn successors<S, O>(calls: &[Invocation<O>], taken: &Taken, state: &S) -> Vec<(usize, S)>
where
    S: Eq,
    O: SequentialSpec<S>,
{
    let mut next = Vec::new();
    // The last of them is tried first.
    for number in candidates(calls, taken).into_iter().rev() {
        let Some(after) = calls[number].operation.apply(state) else { continue };
        match (after == *state, calls[number].returned) {
            (false, _) => next.push((number, after)),
            (true, Some(_)) => return vec![(number, after)],
            (true, None) => {}
        }
    }
    next
}

/// The operations that may come next: those called before any other returned. The first to return comes first, because it
/// is the most likely.
fn candidates<O>(calls: &[Invocation<O>], taken: &Taken) -> Vec<usize> {
    let returned = |number: usize| calls[number].returned.unwrap_or(u64::MAX);
    let mut first_return = u64::MAX;
    let mut found = Vec::new();
    for number in taken.rest(calls.len()) {
        if calls[number].called > first_return {
            break;
        }
        first_return = first_return.min(returned(number));
        found.push(number);
    }
    found.retain(|&number| calls[number].called <= first_return);
    found.sort_by_key(|&number| returned(number));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A register with a number in it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    enum Register {
        Write(u8),
        Read(u8),
    }

    impl SequentialSpec<u8> for Register {
        fn apply(&self, state: &u8) -> Option<u8> {
            match self {
                Register::Write(value) => Some(*value),
                Register::Read(value) => (value == state).then_some(*state),
            }
        }
    }

    fn call(called: u64, returned: u64, operation: Register) -> Invocation<Register> {
        Invocation { called, returned: Some(returned), operation }
    }

    use Register::{Read, Write};

    #[test]
    fn one_after_the_other_is_fine_and_a_stale_read_is_not() {
        assert!(check(&0, vec![call(0, 1, Write(1)), call(2, 3, Read(1))]).is_ok());
        assert!(check(&0, vec![call(0, 1, Write(1)), call(2, 3, Read(0))]).is_err());
        assert!(check(&0, Vec::<Invocation<Register>>::new()).is_ok());
    }

    #[test]
    fn a_read_concurrent_with_a_write_may_see_either_value() {
        for seen in [0, 1] {
            assert!(check(&0, vec![call(0, 10, Write(1)), call(2, 3, Read(seen))]).is_ok());
        }
    }

    #[test]
    fn a_value_once_seen_cannot_go_back() {
        let history = |first, second| vec![call(0, 10, Write(1)), call(1, 2, Read(first)), call(3, 4, Read(second))];
        assert!(check(&0, history(0, 1)).is_ok());
        assert!(check(&0, history(1, 0)).is_err());
    }

    #[test]
    fn two_readers_must_agree_on_the_order_of_two_writes() {
        let reads = |a: [u8; 2], b: [u8; 2]| {
            let mut history = vec![call(0, 100, Write(1)), call(0, 100, Write(2))];
            for reader in [a, b] {
                history.extend([call(1, 2, Read(reader[0])), call(3, 4, Read(reader[1]))]);
            }
            history
        };
        assert!(check(&0, reads([1, 2], [1, 2])).is_ok());
        assert!(check(&0, reads([1, 2], [2, 1])).is_err());
    }

    #[test]
    fn a_write_without_a_return_may_happen_late_or_never_but_not_twice() {
        let open = Invocation { called: 0, returned: None, operation: Write(1) };
        assert!(check(&0, vec![open.clone(), call(5, 6, Read(0)), call(7, 8, Read(1))]).is_ok());
        assert!(check(&0, vec![open.clone(), call(5, 6, Read(0))]).is_ok());
        let there_and_back = vec![open, call(5, 6, Read(1)), call(7, 8, Write(2)), call(9, 10, Read(1))];
        assert!(check(&0, there_and_back).is_err());
    }

    #[test]
    fn long_histories_are_decided_in_time() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut history = Vec::new();
        for round in 0..300_u64 {
            // Five writes at once, then a read that must see one of them.
            let writes: Vec<u8> = (0..5).map(|number| number + 5 * (round % 40) as u8).collect();
            history.extend(writes.iter().map(|&value| call(round * 10, round * 10 + 5, Write(value))));
            history.push(call(round * 10 + 6, round * 10 + 7, Read(writes[rng.usize(0..5)])));
        }
        assert!(check(&0, history.clone()).is_ok());
        history.push(call(3_000, 3_001, Read(255)));
        assert_eq!(check(&0, history).unwrap_err().last().map(|call| call.operation.clone()), Some(Read(255)));
    }
}
