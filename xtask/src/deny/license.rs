//! SPDX license expressions, such as `(MIT OR Apache-2.0) AND Unicode-3.0`.

/// A parsed expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum License {
    /// A license, with its exception if it has one: `Apache-2.0 WITH LLVM-exception`.
    One(String),
    All(Vec<License>),
    Any(Vec<License>),
}

impl License {
    /// Parses an expression. Older crates write `/` for `OR`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let spaced = text.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut words = words.as_slice();
        let license = any(&mut words)?;
        words.is_empty().then_some(license)
    }

    /// Whether the licenses that `is_allowed` accepts are enough.
    pub(super) fn is_satisfied(&self, is_allowed: &impl Fn(&str) -> bool) -> bool {
        match self {
            Self::One(name) => is_allowed(name),
            Self::All(parts) => parts.iter().all(|part| part.is_satisfied(is_allowed)),
            Self::Any(parts) => parts.iter().any(|part| part.is_satisfied(is_allowed)),
        }
    }

    /// Whether the expression names a license.
    pub(super) fn names(&self, license: &str) -> bool {
        match self {
            Self::One(name) => name == license,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.names(license)),
        }
    }
}

fn any(words: &mut &[&str]) -> Option<License> {
    let mut parts = vec![all(words)?];
    while take(words, "OR") {
        parts.push(all(words)?);
    }
    Some(if parts.len() == 1 { parts.remove(0) } else { License::Any(parts) })
}

/// `AND` binds more strongly than `OR`.
fn all(words: &mut &[&str]) -> Option<License> {
    let mut parts = vec![one(words)?];
    while take(words, "AND") {
        parts.push(one(words)?);
    }
    Some(if parts.len() == 1 { parts.remove(0) } else { License::All(parts) })
}

fn one(words: &mut &[&str]) -> Option<License> {
    if take(words, "(") {
        let inner = any(words)?;
        return take(words, ")").then_some(inner);
    }
    let name = identifier(words)?;
    if !take(words, "WITH") {
        return Some(License::One(name.to_owned()));
    }
    Some(License::One(format!("{name} WITH {}", identifier(words)?)))
}

fn identifier<'a>(words: &mut &[&'a str]) -> Option<&'a str> {
    let (word, rest) = words.split_first()?;
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-.+:".contains(character);
    if ["AND", "OR", "WITH"].contains(word) || !word.chars().all(is_plain) {
        return None;
    }
    *words = rest;
    Some(word)
}

fn take(words: &mut &[&str], expected: &str) -> bool {
    match words.split_first() {
        Some((word, rest)) if *word == expected => {
            *words = rest;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_satisfied_by_the_allowed_licenses() {
        let allowed = |name: &str| ["MIT", "ISC", "Unicode-3.0"].contains(&name);
        for text in
            ["MIT", "GPL-2.0-only OR MIT", "Apache-2.0/MIT", "Apache-2.0 / MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"]
                .into_iter()
                .chain(["MIT OR Apache-2.0 AND GPL-3.0-or-later", "((MIT))"])
        {
            assert!(License::parse(text).unwrap().is_satisfied(&allowed), "{text}");
        }
        for text in ["GPL-3.0+", "MIT AND NCSA", "(MIT OR ISC) AND NCSA", "MIT WITH Font-exception-2.0", "mit"] {
            assert!(!License::parse(text).unwrap().is_satisfied(&allowed), "{text}");
        }
    }

    #[test]
    fn a_malformed_expression_is_not_a_license() {
        for text in ["", "MIT OR", "OR MIT", "(MIT", "MIT)", "MIT Apache-2.0", "MIT WITH", "see LICENSE!"] {
            assert_eq!(License::parse(text), None, "{text}");
        }
    }
}
