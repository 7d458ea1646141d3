//! Sets that the wire writes as letters: permissions, services, resource types.

/// Defines a set of lower-case letters, each with a name. Members print in the order of the definition, which is
/// the order in which the service documents them; they are read in any order.
macro_rules! letter_set {
    ($(#[$meta:meta])* $set:ident { $($(#[$member_meta:meta])* $member:ident = $letter:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $set(u32);

        impl $set {
            /// Every letter, in the order in which the set is written.
            pub const LETTERS: &str = concat!($($letter),*);
            $($(#[$member_meta])* pub const $member: Self = Self(super::letter_set::letter_bit($letter));)*

            /// Reads letters in any order; `None` when one of them means nothing here.
            pub fn parse(letters: &str) -> Option<Self> {
                letters.chars().try_fold(Self::default(), |set, letter| match letter {
                    $($letter => Some(set | Self::$member),)*
                    _ => None,
                })
            }

            /// Whether all of the other set is in this one.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }
        }

        impl std::ops::BitOr for $set {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl std::fmt::Display for $set {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                use std::fmt::Write;
                Self::LETTERS
                    .chars()
                    .filter(|&letter| self.contains(Self(super::letter_set::letter_bit(letter))))
                    .try_for_each(|letter| f.write_char(letter))
            }
        }

        impl std::fmt::Debug for $set {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({self})", stringify!($set))
            }
        }
    };
}

pub(super) use letter_set;

/// The bit that stands for a letter: its place in the alphabet.
pub(super) const fn letter_bit(letter: char) -> u32 {
    assert!(letter.is_ascii_lowercase());
    1 << (letter as u32 - 'a' as u32)
}
