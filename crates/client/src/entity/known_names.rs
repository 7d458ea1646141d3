//! The names that the properties of a response probably have, so that they need not be allocated.

/// The names of a type's properties. The service returns properties in the order in which they were written, which is
/// mostly that of the type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownNames {
    names: &'static [&'static str],
    /// The place behind the name that was found last.
    next: usize,
}

impl KnownNames {
    pub(crate) const NONE: Self = Self::new(&[]);

    pub(crate) const fn new(names: &'static [&'static str]) -> Self {
        Self { names, next: 0 }
    }

    /// Returns a name that is equal to this one.
    pub(super) fn find(&mut self, name: &str) -> Option<&'static str> {
        let (before, after) = self.names.split_at(self.next);
        let found = match after.iter().position(|known| *known == name) {
            Some(place) => self.next + place,
            None => before.iter().position(|known| *known == name)?,
        };
        self.next = found + 1;
        Some(self.names[found])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_order() {
        let mut names = KnownNames::new(&["a", "b", "c"]);
        for name in ["a", "c", "c", "b", "a", "b"] {
            assert_eq!(names.find(name), Some(name));
        }
        assert_eq!(names.find("d"), None);
        assert_eq!(KnownNames::NONE.clone().find("a"), None);
    }
}
