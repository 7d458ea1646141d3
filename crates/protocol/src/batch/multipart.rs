//! Multipart bodies as clients really write them: CRLF or bare LF, blank lines in odd places, a last boundary
//! with or without its closing dashes.

/// The `boundary` parameter of a multipart content type.
pub(super) fn boundary(content_type: &str) -> Option<&str> {
    let mut parameters = content_type.split(';').map(str::trim);
    let media_type = parameters.next()?;
    if !media_type.eq_ignore_ascii_case("multipart/mixed") {
        return None;
    }
    let value = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then_some(value.trim())
    })?;
    let value = value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(value);
    (!value.is_empty()).then_some(value)
}

/// The parts between boundaries, at most `parts_max` of them. Text before the first boundary and after
/// the closing one is ignored. `None` if the boundary never appears.
pub(super) fn parts<'a>(body: &'a [u8], boundary: &str, parts_max: usize) -> Option<Vec<&'a [u8]>> {
    let mut found = Vec::new();
    let mut open = None;
    let mut at = 0;
    while at < body.len() {
        let line_end = memchr::memchr(b'\n', &body[at..]).map_or(body.len(), |offset| at + offset + 1);
        if let Some(closing) = delimiter(&body[at..line_end], boundary) {
            if let Some(start) = open.replace(line_end) {
                found.push(without_line_break(&body[start..at]));
            }
            if closing || found.len() == parts_max {
                return Some(found);
            }
        }
        at = line_end;
    }
    // The last part is usually closed by a boundary; if there is none, what follows the last one is only blanks
    // (Microsoft's samples) or a part that was cut off, which its reader will notice.
    let start = open?;
    let rest = without_line_break(&body[start..]);
    if !rest.trim_ascii().is_empty() {
        found.push(rest);
    }
    Some(found)
}

/// Whether a line is a delimiter, and if so whether it is the closing one.
fn delimiter(line: &[u8], boundary: &str) -> Option<bool> {
    let rest = line.strip_prefix(b"--")?.strip_prefix(boundary.as_bytes())?.trim_ascii_end();
    match rest {
        b"" => Some(false),
        b"--" => Some(true),
        _ => None,
    }
}

fn without_line_break(part: &[u8]) -> &[u8] {
    let part = part.strip_suffix(b"\n").unwrap_or(part);
    part.strip_suffix(b"\r").unwrap_or(part)
}

/// Room for the head of most parts.
const LINES_EXPECTED: usize = 8;

/// Lines of a part's head, up to and without the blank line that ends it; and the rest behind that line.
/// Blank lines before the first header are skipped. `None` if a line has a control character: its value may be repeated
/// in a response, where a bare CR would begin another line.
pub(super) fn head(part: &[u8]) -> Option<(Vec<&str>, &[u8])> {
    let mut lines = Vec::with_capacity(LINES_EXPECTED);
    let mut rest = part;
    while !rest.is_empty() {
        let (line, after) = match memchr::memchr(b'\n', rest) {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &rest[rest.len()..]),
        };
        rest = after;
        let line = std::str::from_utf8(line).ok()?.trim_end();
        // Without an early end, so that the compiler looks at many bytes at once: a batch has hundreds of lines.
        if line.bytes().fold(false, |found, byte| found | (byte.is_ascii_control() & (byte != b'\t'))) {
            return None;
        }
        match (line.is_empty(), lines.is_empty()) {
            (true, true) => {}
            (true, false) => break,
            (false, _) => lines.push(line),
        }
    }
    Some((lines, rest))
}

/// The value of a header among lines, its name in any case.
pub(super) fn header<'a>(lines: &[&'a str], name: &str) -> Option<&'a str> {
    lines.iter().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.trim().eq_ignore_ascii_case(name).then_some(value.trim())
    })
}
