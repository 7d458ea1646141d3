//! Values that are one of a few words. On the wire they have no case: libraries write `All`, `ALL` and `all`.

/// A value of a header or a parameter that is one of a few words.
pub trait Keyword: Copy + PartialEq + 'static {
    /// Each value by its word, as the service writes it.
    const WORDS: &'static [(&'static str, Self)];

    /// Parses a word, whatever its case; `None` for one that is not in the list.
    fn parse_keyword(text: &str) -> Option<Self> {
        let text = text.trim();
        Self::WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, value)| *value)
    }
}

impl Keyword for bool {
    const WORDS: &'static [(&'static str, Self)] = &[("true", true), ("false", false)];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_no_case() {
        for (text, expected) in [("true", Some(true)), (" FALSE", Some(false)), ("True", Some(true)), ("1", None)] {
            assert_eq!(bool::parse_keyword(text), expected, "{text}");
        }
    }
}
