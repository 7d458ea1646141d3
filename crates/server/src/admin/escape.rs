//! Escapes for keys and names that clients chose, on the load page and in metrics.

use std::fmt::Write as _;

/// Escapes text for HTML.
pub(crate) fn html(text: &str) -> String {
    escaped(text, "\\u", |character| match character {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        _ => None,
    })
}

/// Escapes text for the value of a metric's label, which the library writes as it is.
pub(crate) fn label(text: &str) -> String {
    escaped(text, "\\\\u", |character| match character {
        '\\' => Some("\\\\"),
        '"' => Some("\\\""),
        '\n' => Some("\\n"),
        _ => None,
    })
}

/// Replaces special characters, and shows other control characters as numbers.
fn escaped(text: &str, number_prefix: &str, replacement: impl Fn(char) -> Option<&'static str>) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match replacement(character) {
            Some(replacement) => escaped.push_str(replacement),
            None if character.is_control() => {
                let _ = write!(escaped, "{number_prefix}{{{:x}}}", u32::from(character));
            }
            None => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_meaning_loses_it() {
        assert_eq!(html("<a href=\"&\">\u{7}\n"), "&lt;a href=&quot;&amp;&quot;&gt;\\u{7}\\u{a}");
        assert_eq!(label("a\"b\\\r\n}"), "a\\\"b\\\\\\\\u{d}\\n}");
        assert_eq!(label("plain, ключ {1}"), "plain, ключ {1}");
    }
}
