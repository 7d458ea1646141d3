//! The prose of a file: the text of a document, or the doc comments and string literals of Rust code.

use super::tree::File;

/// A line number, counted from one, and the prose of that line. Code in backticks is left out.
pub(super) type ProseLine = (usize, String);

/// Returns the prose of a document or of Rust code, and nothing of any other file.
pub(super) fn of(file: &File) -> Vec<ProseLine> {
    let is = |suffix: &str| file.path.ends_with(suffix);
    let lines = match () {
        () if is(".md") => in_document(&file.text),
        () if is(".rs") => in_rust(&file.text),
        () => Vec::new(),
    };
    lines.into_iter().map(|(line, text)| (line, without_code(&text))).collect()
}

fn in_document(text: &str) -> Vec<ProseLine> {
    let mut is_code = false;
    let lines = text.lines().zip(1..).filter(|(line, _)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.map(|(line, number)| (number, line.to_owned())).collect()
}

/// Leaves out code in backticks, and the targets of links, which may be file names of others.
fn without_code(line: &str) -> String {
    let text: String = line.split('`').step_by(2).collect();
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, rest)| rest))
}

fn in_rust(text: &str) -> Vec<ProseLine> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            let comment = rest.lines().next().unwrap_or_default();
            if comment.starts_with("///") || comment.starts_with("//!") {
                found.push((line, comment.to_owned()));
            }
            comment.len()
        } else if let Some((begin, end)) = string_literal(rest) {
            found.extend(rest[begin..end].lines().zip(line..).map(|(text, line)| (line, text.to_owned())));
            end
        } else {
            char_literal(rest).unwrap_or(first.len_utf8())
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

/// The bounds of the text of a string literal at the beginning; its end is that of the whole literal.
fn string_literal(code: &str) -> Option<(usize, usize)> {
    let prefix = if code.starts_with('b') { 1 } else { 0 };
    if code[prefix..].starts_with('"') {
        let begin = prefix + 1;
        let mut is_escaped = false;
        let end = code[begin..].find(|c| {
            let is_end = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            is_end
        })?;
        return Some((begin, begin + end + 1));
    }
    let hashes = code[prefix..].strip_prefix('r')?;
    let count = hashes.len() - hashes.trim_start_matches('#').len();
    hashes[count..].starts_with('"').then_some(())?;
    let begin = prefix + 1 + count + 1;
    let closing = format!("\"{}", "#".repeat(count));
    let end = code[begin..].find(&closing)?;
    Some((begin, begin + end + closing.len()))
}

/// The length of a character literal at the beginning, so that its quotation mark does not begin a string.
fn char_literal(code: &str) -> Option<usize> {
    let inside = code.strip_prefix('\'')?;
    let mut chars = inside.char_indices();
    let (_, first) = chars.next()?;
    let (closing, _) = match first {
        '\\' => {
            chars.next()?;
            chars.find(|(_, c)| *c == '\'')?
        }
        _ => chars.next().filter(|(_, c)| *c == '\'')?,
    };
    Some(1 + closing + 1)
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    fn prose(path: &str, text: &str) -> Vec<(usize, String)> {
        of(&Tree::of(&[(path, text)]).files[0])
    }

    #[test]
    fn a_document_is_prose_outside_of_code_and_link_targets() {
        let text = "One `two` three\n```sh\nfour\n```\n[five](six.md) seven";
        assert_eq!(prose("a.md", text), [(1, "One  three".to_owned()), (5, "[five seven".to_owned())]);
        assert!(prose("a.toml", text).is_empty());
    }

    #[test]
    fn code_has_prose_in_doc_comments_and_strings() {
        let text = r####"
//! Module `x`.
fn f<'a>(x: &'a str) -> char { // not this
    let y = "one \" two";
    let z = r#"three " four"#;
    let w = b"five
six";
    match x { '"' => '\'', _ => '\u{22}' }
}
/// Item.
"####;
        let found = prose("a.rs", text);
        let texts: Vec<(usize, &str)> = found.iter().map(|(line, text)| (*line, text.trim())).collect();
        let expected = [
            (2, "//! Module ."),
            (4, "one \\\" two\""),
            (5, "three \" four\"#"),
            (6, "five"),
            (7, "six\""),
            (10, "/// Item."),
        ];
        assert_eq!(texts, expected);
    }
}
