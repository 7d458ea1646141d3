//! Sets that the wire writes as letters: permissions, services, resource types.

/// Defines a set of lower-case letters, each with a name. Sets print their members in the order of the definition, which
/// is the order in which the service documents them, and parse them in any order.
macro_rules! letter_set {
    ($(#[$meta:meta])* $set:ident { $($(#[$($member_meta:tt)*])* $member:ident = $letter:literal,)* }) => {
        bitflags::bitflags! {
            $(#[$meta])*
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
            pub struct $set: u32 {
                $($(#[$($member_meta)*])* const $member = 1 << ($letter as u32 - 'a' as u32);)*
            }
        }

        impl $set {
            /// Every letter, in the order in which the set is written.
            pub const LETTERS: &str = concat!($($letter),*);

            /// Parses letters in any order; returns `None` if the set has no member for one of them.
            pub fn parse(letters: &str) -> Option<Self> {
                letters.chars().try_fold(Self::empty(), |set, letter| match letter {
                    $($letter => Some(set | Self::$member),)*
                    _ => None,
                })
            }
        }

        impl std::fmt::Display for $set {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                use std::fmt::Write;
                self.iter().try_for_each(|member| f.write_char((b'a' + member.bits().trailing_zeros() as u8) as char))
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
