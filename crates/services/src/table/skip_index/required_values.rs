//! The values that must occur in a block for a filter to match one of its entities.

use tablerock_protocol::filter::Operator;
use tablerock_protocol::{Filter, TIMESTAMP, Value};

use super::hash::PropertyHasher;

/// The values that a filter requires. It never requires more than the filter does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequiredValues {
    /// An entity may match whatever occurs.
    Anything,
    /// A property with this hash.
    Value(u32),
    All(Vec<RequiredValues>),
    Any(Vec<RequiredValues>),
}

impl RequiredValues {
    pub(super) fn of(filter: &Filter, hasher: &PropertyHasher) -> Self {
        match filter {
            Filter::And(parts) => {
                let mut parts: Vec<RequiredValues> = parts.iter().map(|part| Self::of(part, hasher)).collect();
                parts.retain(|part| *part != RequiredValues::Anything);
                if parts.is_empty() { RequiredValues::Anything } else { RequiredValues::All(parts) }
            }
            Filter::Or(parts) => {
                let parts: Vec<RequiredValues> = parts.iter().map(|part| Self::of(part, hasher)).collect();
                if parts.contains(&RequiredValues::Anything) {
                    RequiredValues::Anything
                } else {
                    RequiredValues::Any(parts)
                }
            }
            // Each write has a Timestamp of its own, so they would take room, and hardly anyone asks for one.
            Filter::Compare(comparison) if comparison.operator == Operator::Eq && comparison.property != TIMESTAMP => {
                RequiredValues::Value(hasher.hash(&comparison.property, &comparison.literal))
            }
            Filter::IsTrue(property) => RequiredValues::Value(hasher.hash(property, &Value::Boolean(true))),
            // An entity without the property can match a negation, and order says nothing about hashes.
            Filter::Compare(_) | Filter::Not(_) => RequiredValues::Anything,
        }
    }

    /// Whether entities with properties of these hashes, in order, can have a match among them.
    pub(super) fn are_met_by(&self, hashes: &[u32]) -> bool {
        match self {
            RequiredValues::Anything => true,
            RequiredValues::Value(hash) => contains(hashes, *hash),
            RequiredValues::All(parts) => parts.iter().all(|part| part.are_met_by(hashes)),
            RequiredValues::Any(parts) => parts.iter().any(|part| part.are_met_by(hashes)),
        }
    }
}

/// Looks where the hash is to be expected, since hashes are spread evenly, and goes on from there: most often within
/// one cache line, which a binary search leaves several times.
fn contains(hashes: &[u32], wanted: u32) -> bool {
    let expected = (u64::from(wanted) * hashes.len() as u64) >> 32;
    let (before, after) = hashes.split_at(expected as usize);
    match after.iter().find(|hash| **hash >= wanted) {
        Some(hash) if *hash == wanted => true,
        first if first == after.first() => before.iter().rev().find(|hash| **hash <= wanted) == Some(&wanted),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required(filter: &str, hasher: &PropertyHasher) -> RequiredValues {
        RequiredValues::of(&Filter::parse(filter).unwrap().unwrap(), hasher)
    }

    fn met(filter: &str, present: &[&str]) -> bool {
        let hasher = PropertyHasher::default();
        let mut hashes: Vec<u32> =
            present.iter().map(|name| hasher.hash(name, &Value::Int32(1))).chain([0, u32::MAX]).collect();
        hashes.sort_unstable();
        required(filter, &hasher).are_met_by(&hashes)
    }

    #[test]
    fn and_needs_all_and_or_needs_one() {
        assert!(met("a eq 1", &["a"]));
        assert!(!met("a eq 2", &["a"]));
        assert!(met("a eq 1 and b eq 1", &["a", "b"]));
        assert!(!met("a eq 1 and b eq 1", &["a"]));
        assert!(met("a eq 1 or b eq 1", &["b"]));
        assert!(!met("a eq 1 or b eq 1", &["c"]));
        assert!(met("a eq 1 and b gt 1", &["a"]));
        assert!(!met("(a eq 1 or b eq 1) and c eq 1", &["a", "b"]));
        assert!(!met("a", &["a"]), "one is not true");
    }

    #[test]
    fn what_is_not_an_equality_needs_nothing() {
        let hasher = PropertyHasher::default();
        let timestamp = "Timestamp eq datetime'2020-01-01T00:00:00Z'";
        for filter in ["a ne 1", "a gt 1", "not (a eq 1)", "not a", "a eq 1 or b lt 1", "a ge 1 and a le 1", timestamp]
        {
            assert_eq!(required(filter, &hasher), RequiredValues::Anything, "{filter}");
        }
    }

    #[test]
    fn a_hash_is_found_wherever_it_is() {
        let mut rng = fastrand::Rng::with_seed(5);
        for length in [0, 1, 2, 3, 10, 200] {
            let spread = |rng: &mut fastrand::Rng| rng.u32(..);
            let crowded = |rng: &mut fastrand::Rng| u32::MAX - rng.u32(..300);
            for draw in [spread, crowded] {
                let mut hashes: Vec<u32> = (0..length).map(|_| draw(&mut rng)).collect();
                hashes.sort_unstable();
                hashes.dedup();
                assert!(hashes.iter().all(|hash| contains(&hashes, *hash)));
                for _ in 0..100 {
                    let wanted = draw(&mut rng);
                    assert_eq!(contains(&hashes, wanted), hashes.binary_search(&wanted).is_ok());
                }
            }
        }
    }
}
