//! The cases of `rename_all`: those of serde, for fields and for variants.

use syn::{LitStr, Result};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Case {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

const CASES: [(&str, Case); 8] = [
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
    ("PascalCase", Case::Pascal),
    ("camelCase", Case::Camel),
    ("snake_case", Case::Snake),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("kebab-case", Case::Kebab),
    ("SCREAMING-KEBAB-CASE", Case::ScreamingKebab),
];

impl Case {
    pub(crate) fn parse(text: &LitStr) -> Result<Self> {
        let value = text.value();
        CASES.iter().find(|(name, _)| *name == value).map(|(_, case)| *case).ok_or_else(|| {
            let names: Vec<String> = CASES.iter().map(|(name, _)| format!("{name:?}")).collect();
            syn::Error::new(text.span(), format!("unknown case: expected one of {}", names.join(", ")))
        })
    }

    /// Whether the case has hyphens, which the names of properties cannot have.
    pub(crate) fn has_hyphens(self) -> bool {
        matches!(self, Self::Kebab | Self::ScreamingKebab)
    }

    /// Returns the name of a field, which is written in snake case: `FirstName` for `first_name`.
    pub(crate) fn of_field(self, field: &str) -> String {
        match self {
            // As in serde, these keep the underscores.
            Self::Lower | Self::Snake => field.to_owned(),
            Self::Upper | Self::ScreamingSnake => field.to_uppercase(),
            _ => self.join(field.split('_').filter(|word| !word.is_empty())),
        }
    }

    /// Returns the name of a variant, which is written in Pascal case: `on-leave` for `OnLeave`.
    pub(crate) fn of_variant(self, variant: &str) -> String {
        match self {
            Self::Lower => variant.to_lowercase(),
            Self::Upper => variant.to_uppercase(),
            Self::Pascal => variant.to_owned(),
            _ => self.join(words(variant)),
        }
    }

    fn join<'a>(self, words: impl Iterator<Item = &'a str>) -> String {
        let words: Vec<String> = words
            .enumerate()
            .map(|(index, word)| match self {
                Self::Camel if index == 0 => word.to_lowercase(),
                Self::Pascal | Self::Camel => capitalized(word),
                Self::ScreamingSnake | Self::ScreamingKebab | Self::Upper => word.to_uppercase(),
                Self::Snake | Self::Kebab | Self::Lower => word.to_lowercase(),
            })
            .collect();
        words.join(match self {
            Self::Snake | Self::ScreamingSnake => "_",
            Self::Kebab | Self::ScreamingKebab => "-",
            _ => "",
        })
    }
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Splits a name in Pascal case before each capital.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let capitals = name.char_indices().filter(|(place, char)| *place > 0 && char.is_uppercase());
    let starts: Vec<usize> = std::iter::once(0).chain(capitals.map(|(place, _)| place)).collect();
    let ends: Vec<usize> = starts.iter().copied().skip(1).chain([name.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| &name[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As serde names them.
    #[test]
    fn names_change_their_case() {
        for (case, field, variant) in [
            (Case::Lower, "first_name", "onleave"),
            (Case::Upper, "FIRST_NAME", "ONLEAVE"),
            (Case::Pascal, "FirstName", "OnLeave"),
            (Case::Camel, "firstName", "onLeave"),
            (Case::Snake, "first_name", "on_leave"),
            (Case::ScreamingSnake, "FIRST_NAME", "ON_LEAVE"),
            (Case::Kebab, "first-name", "on-leave"),
            (Case::ScreamingKebab, "FIRST-NAME", "ON-LEAVE"),
        ] {
            assert_eq!((case.of_field("first_name").as_str(), case.of_variant("OnLeave").as_str()), (field, variant));
        }
        assert_eq!(Case::Pascal.of_field("_x2_y"), "X2Y");
        assert_eq!(Case::Camel.of_field("id"), "id");
    }
}
