//! JSON strings as the service writes them: ASCII, everything else escaped.

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Appends a quoted string. Characters outside ASCII become `\uxxxx`, as the live service does.
pub fn append_json_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    append_escaped(out, text);
    out.push(b'"');
}

/// Appends the inside of a string.
pub(super) fn append_escaped(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let mut plain_from = 0;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii() && byte >= 0x20 && byte != b'"' && byte != b'\\' {
            at += 1;
            continue;
        }
        out.extend_from_slice(&bytes[plain_from..at]);
        let char = text[at..].chars().next().expect("the index is on a character");
        append_escape(out, char);
        at += char.len_utf8();
        plain_from = at;
    }
    out.extend_from_slice(&bytes[plain_from..]);
}

fn append_escape(out: &mut Vec<u8>, char: char) {
    let short = match char {
        '"' => b'"',
        '\\' => b'\\',
        '\n' => b'n',
        '\r' => b'r',
        '\t' => b't',
        '\u{8}' => b'b',
        '\u{c}' => b'f',
        _ => {
            for unit in char.encode_utf16(&mut [0; 2]) {
                out.extend_from_slice(b"\\u");
                out.extend([12, 8, 4, 0].map(|shift| HEX[usize::from(*unit >> shift & 15)]));
            }
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_back_from_any_json_reader() {
        let text = "plain \"quoted\" \\ \n\r\t\u{8}\u{c}\u{1} é 日 😀 end";
        let mut out = Vec::new();
        append_json_string(&mut out, text);
        assert!(out.is_ascii());
        assert!(String::from_utf8_lossy(&out).contains("\\u00e9 \\u65e5 \\ud83d\\ude00"));
        assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
    }
}
