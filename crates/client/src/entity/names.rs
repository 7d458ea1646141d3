//! The names of properties that derived types select, joined when the program is compiled.

use tablerock_protocol::limits;

const NAMES_MAX: usize = limits::ENTITY_PROPERTIES_MAX;

/// The names of several types together.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    names: [&'static str; NAMES_MAX],
    /// `None` if one of the types has all properties.
    count: Option<usize>,
}

impl Names {
    /// Joins the names of several types, each once. A type with all properties, or more names than an entity can have,
    /// makes it all properties.
    pub const fn join(lists: &[Option<&[&'static str]>]) -> Self {
        let mut joined = Self { names: [""; NAMES_MAX], count: Some(0) };
        let mut list = 0;
        while list < lists.len() {
            match lists[list] {
                Some(names) => joined = joined.add(names),
                None => joined.count = None,
            }
            list += 1;
        }
        joined
    }

    const fn add(mut self, names: &[&'static str]) -> Self {
        let mut place = 0;
        while place < names.len() {
            let Some(count) = self.count else { return self };
            if !self.has(names[place], count) {
                if count == NAMES_MAX {
                    self.count = None;
                    return self;
                }
                self.names[count] = names[place];
                self.count = Some(count + 1);
            }
            place += 1;
        }
        self
    }

    const fn has(&self, name: &str, count: usize) -> bool {
        let mut place = 0;
        while place < count {
            if is_equal(self.names[place].as_bytes(), name.as_bytes()) {
                return true;
            }
            place += 1;
        }
        false
    }

    /// Returns the names, for `FromEntity::SELECT`.
    pub const fn select(&'static self) -> Option<&'static [&'static str]> {
        match self.count {
            Some(count) => Some(self.names.split_at(count).0),
            None => None,
        }
    }
}

const fn is_equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut place = 0;
    while place < one.len() {
        if one[place] != other[place] {
            return false;
        }
        place += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_joined_once_each() {
        const JOINED: Names = Names::join(&[Some(&["a", "b"]), Some(&[]), Some(&["b", "c"])]);
        assert_eq!(JOINED.select(), Some(["a", "b", "c"].as_slice()));
        const ALL: Names = Names::join(&[Some(&["a"]), None, Some(&["b"])]);
        assert_eq!(ALL.select(), None);
    }
}
