//! Putting filters together.

use std::ops::Not;

use super::Filter;

impl Filter {
    /// Holds when both do.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::And(mut parts), Self::And(more)) => {
                parts.extend(more);
                Self::And(parts)
            }
            (Self::And(mut parts), other) => {
                parts.push(other);
                Self::And(parts)
            }
            (first, Self::And(mut parts)) => {
                parts.insert(0, first);
                Self::And(parts)
            }
            (first, second) => Self::And(vec![first, second]),
        }
    }

    /// Holds when at least one does.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Or(mut parts), Self::Or(more)) => {
                parts.extend(more);
                Self::Or(parts)
            }
            (Self::Or(mut parts), other) => {
                parts.push(other);
                Self::Or(parts)
            }
            (first, Self::Or(mut parts)) => {
                parts.insert(0, first);
                Self::Or(parts)
            }
            (first, second) => Self::Or(vec![first, second]),
        }
    }

    /// Holds when all of them do; of none, for every entity.
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::And(parts.into_iter().collect())
    }

    /// Holds when any of them does; of none, for no entity.
    pub fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::Or(parts.into_iter().collect())
    }
}

/// Holds when the filter does not. An entity without the property meets `!column.eq(value)` but not
/// `column.ne(value)`.
impl Not for Filter {
    type Output = Self;

    fn not(self) -> Self {
        Self::Not(Box::new(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(name: &str) -> Filter {
        Filter::IsTrue(name.to_owned())
    }

    #[test]
    fn chains_stay_flat_and_in_order() {
        let chained = leaf("a").and(leaf("b")).and(leaf("c").and(leaf("d")));
        assert_eq!(chained, Filter::And(["a", "b", "c", "d"].map(leaf).to_vec()));
        let chained = leaf("a").or(leaf("b").or(leaf("c")));
        assert_eq!(chained, Filter::Or(["a", "b", "c"].map(leaf).to_vec()));
        assert_eq!((!leaf("a").and(leaf("b"))).to_string(), "not (a and b)");
    }
}
