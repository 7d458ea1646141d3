//! Templates for bodies whose exact bytes matter but which hold an instant or an identifier.
//!
//! `⟨time⟩` stands for an instant of up to seven fractional digits, `⟨etag⟩` for the same with its colons encoded,
//! `⟨time7⟩` for the seven digits of error bodies, `⟨guid⟩` for a GUID and `⟨…⟩` for any text up to what follows.
//! Everything else is literal.

use crate::Outcome;
use crate::expect::{Failure, shorten};

/// Fails unless `text` is exactly what `template` describes.
pub fn expect_matches(what: &str, text: &str, template: &str) -> Outcome {
    match matches(text, template) {
        Ok(()) => Ok(()),
        Err(at) => Err(Failure::new(format!(
            "{what}: expected {}, got {} (they part at byte {at}: {})",
            shorten(template),
            shorten(text),
            shorten(text.get(at..).unwrap_or_default()),
        ))),
    }
}

/// Matches, or the byte offset in `text` up to which the template was followed.
fn matches(text: &str, template: &str) -> Result<(), usize> {
    let mut rest = text;
    let mut template = template;
    let offset = |rest: &str| text.len() - rest.len();
    while let Some(open) = template.find('⟨') {
        rest = strip_literal(rest, &template[..open]).map_err(|agreed| offset(rest) + agreed)?;
        let after = &template[open + '⟨'.len_utf8()..];
        let close = after.find('⟩').expect("a placeholder is closed");
        let (placeholder, following) = (&after[..close], &after[close + '⟩'.len_utf8()..]);
        let end = extent(placeholder, rest, following).ok_or_else(|| offset(rest))?;
        if !is_instance(placeholder, &rest[..end]) {
            return Err(offset(rest));
        }
        rest = &rest[end..];
        template = following;
    }
    match strip_literal(rest, template) {
        Ok("") => Ok(()),
        Ok(surplus) => Err(offset(surplus)),
        Err(agreed) => Err(offset(rest) + agreed),
    }
}

/// How much of the text a placeholder covers. Only free text needs to look at what follows, so that a difference
/// behind any other placeholder is reported where it is.
fn extent(placeholder: &str, text: &str, following: &str) -> Option<usize> {
    let literal = &following[..following.find('⟨').unwrap_or(following.len())];
    let run = |covered: &str| Some(text.find(|c: char| !covered.contains(c)).unwrap_or(text.len()));
    match placeholder {
        // A closing boundary adds hyphens of its own, so a GUID ends at its length.
        "guid" => run("0123456789abcdefABCDEF-").map(|end| end.min("00000000-0000-0000-0000-000000000000".len())),
        "…" if literal.is_empty() => Some(text.len()),
        "…" => text.find(literal),
        _ => run("0123456789-:.TZ%A"),
    }
}

/// The rest of the text after a literal, or how many bytes of the two agree.
fn strip_literal<'t>(text: &'t str, literal: &str) -> Result<&'t str, usize> {
    text.strip_prefix(literal)
        .ok_or_else(|| text.char_indices().zip(literal.chars()).find(|((_, t), l)| t != l).map_or(0, |((at, _), _)| at))
}

fn is_instance(placeholder: &str, text: &str) -> bool {
    match placeholder {
        "guid" => is_guid(text),
        "time" => is_instant(text),
        "etag" => text.contains("%3A") && is_instant(&text.replace("%3A", ":")),
        "time7" => is_instant(text) && text.len() == "2020-09-15T23:02:11.9673908Z".len(),
        "…" => true,
        other => panic!("⟨{other}⟩ is not a placeholder"),
    }
}

/// Hyphenated, any case.
pub fn is_guid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// `2020-09-15T23:02:09.1767714Z` with no zero at the end of its fraction, or no fraction.
pub fn is_timestamp(text: &str) -> bool {
    is_instant(text) && !(text.contains('.') && text.ends_with("0Z"))
}

fn is_instant(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let Some(fraction) = shape.strip_prefix("0000-00-00T00:00:00").and_then(|rest| rest.strip_suffix('Z')) else {
        return false;
    };
    match fraction.strip_prefix('.') {
        Some(digits) => (1..=7).contains(&digits.len()) && digits.bytes().all(|byte| byte == b'0'),
        None => fraction.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_stand_for_their_kind_only() {
        assert_eq!(matches("a 2020-09-15T23:02:09.17Z b", "a ⟨time⟩ b"), Ok(()));
        assert_eq!(matches("a 2020-09-15 b", "a ⟨time⟩ b"), Err(2));
        assert_eq!(matches("2020-09-15T23%3A02%3A09Z", "⟨etag⟩"), Ok(()));
        assert_eq!(matches("x=00000000-0000-0000-0000-000000000000!", "x=⟨guid⟩!"), Ok(()));
        assert_eq!(matches("00000000-0000-0000-0000-000000000000--", "⟨guid⟩--"), Ok(()));
    }

    #[test]
    fn a_difference_is_located() {
        assert_eq!(matches("abcd", "abXd"), Err(2));
        assert_eq!(matches("abcd", "ab"), Err(2));
        assert_eq!(matches("2020-09-15T23:02:09Z, b", "⟨time⟩, c"), Err(22));
    }

    #[test]
    fn timestamps_have_at_most_seven_digits() {
        assert!(is_timestamp("2020-09-15T23:02:09Z"));
        assert!(is_timestamp("2020-09-15T23:02:09.1767714Z"));
        assert!(!is_timestamp("2020-09-15T23:02:09.1767710Z"));
        assert!(!is_timestamp("2020-09-15T23:02:09.17677141Z"));
        assert!(!is_timestamp("2020-09-15T23:02:09.Z"));
    }
}
