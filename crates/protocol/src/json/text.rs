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
    let mut rest = text;
    loop {
        let plain = plain_length(rest.as_bytes());
        out.extend_from_slice(&rest.as_bytes()[..plain]);
        rest = &rest[plain..];
        let Some(char) = rest.chars().next() else { return };
        append_escape(out, char);
        rest = &rest[char.len_utf8()..];
    }
}

/// How many bytes at the beginning can be copied as they are. Most texts need no escape at all, so whole blocks
/// are looked at first, without a branch per byte: wide ones for long texts, narrow ones for names and keys.
fn plain_length(bytes: &[u8]) -> usize {
    let wide = plain_blocks::<32>(bytes);
    let checked = wide + plain_blocks::<8>(&bytes[wide..]);
    bytes[checked..].iter().position(|&byte| is_special(byte)).map_or(bytes.len(), |offset| checked + offset)
}

/// The length of those blocks at the beginning in which nothing is special.
fn plain_blocks<const BYTES: usize>(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<BYTES>();
    let is_plain = |block: &&[u8; BYTES]| !block.iter().fold(false, |found, &byte| found | is_special(byte));
    BYTES * blocks.iter().take_while(is_plain).count()
}

fn is_special(byte: u8) -> bool {
    // As signed numbers, control characters and everything outside ASCII are less than a space.
    ((byte as i8) < 0x20) | (byte == b'"') | (byte == b'\\')
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

    #[test]
    fn a_character_that_needs_an_escape_is_found_at_every_place() {
        for special in ["\"", "\\", "\n", "\u{1f}", "\u{7f}", "\u{80}", "é", "😀"] {
            for place in 0..100 {
                let text = format!("{}{special}{}", "x".repeat(place), "y".repeat(70));
                let mut out = Vec::new();
                append_json_string(&mut out, &text);
                assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
                assert!(out.is_ascii());
            }
        }
    }
}
