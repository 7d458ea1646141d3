//! Writing XML as the service does: one line, `<Empty />` with a space.

use super::reading::is_xml_char;

/// The byte order mark with which the live service begins every XML body. Clients take a body with or without
/// it; nothing here writes it.
pub const BOM: &str = "\u{feff}";

pub(crate) const DECLARATION: &str = r#"<?xml version="1.0" encoding="utf-8"?>"#;

/// Appends an element whose content a closure writes.
pub(crate) fn push_element(out: &mut String, name: &str, write_content: impl FnOnce(&mut String)) {
    push_tag(out, "<", name);
    let content = out.len();
    write_content(out);
    if out.len() == content {
        out.truncate(content - 1);
        out.push_str(" />");
    } else {
        push_tag(out, "</", name);
    }
}

/// Appends an element with text in it.
pub(crate) fn push_text(out: &mut String, name: &str, text: &str) {
    push_element(out, name, |out| push_escaped(out, text));
}

/// Appends a name, or the part of one that a client asks for. A name with characters that XML has no way to write is
/// percent-encoded and marked.
pub(crate) fn push_name(out: &mut String, element: &str, name: &str) {
    if name.chars().all(is_xml_char) {
        return push_text(out, element, name);
    }
    let encoded = percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC);
    out.push_str(&format!("<{element} Encoded=\"true\">{encoded}</{element}>"));
}

fn push_tag(out: &mut String, opening: &str, name: &str) {
    out.push_str(opening);
    out.push_str(name);
    out.push('>');
}

/// A carriage return has to be a reference, for a reader turns a plain one into a line feed. A character that XML cannot
/// hold is replaced: one in an echoed parameter would make the whole document unreadable.
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    let mut rest = text;
    // Such a byte is a whole character or the first one of it, so text between two of them is copied as it is.
    while let Some(at) = rest.bytes().position(|byte| IS_SPECIAL[usize::from(byte)]) {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let mut characters = special.chars();
        match characters.next() {
            Some('&') => out.push_str("&amp;"),
            Some('<') => out.push_str("&lt;"),
            Some('>') => out.push_str("&gt;"),
            Some('\r') => out.push_str("&#xD;"),
            Some(c) => out.push(if is_xml_char(c) { c } else { char::REPLACEMENT_CHARACTER }),
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
}

/// The bytes with which a character begins that may need more than a copy. `U+FFFE` and `U+FFFF` begin with 0xEF.
const IS_SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        special[byte] = byte != b'\t' as usize && byte != b'\n' as usize;
        byte += 1;
    }
    special[b'&' as usize] = true;
    special[b'<' as usize] = true;
    special[b'>' as usize] = true;
    special[0xef] = true;
    special
};

/// Appends a boolean element.
pub(crate) fn push_boolean(out: &mut String, name: &str, value: bool) {
    push_text(out, name, if value { "true" } else { "false" });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_emptiness_has_its_own_form() {
        let mut out = String::new();
        push_element(&mut out, "A", |out| {
            push_text(out, "B", "1 < 2 & 3 > 2\r\n\"'");
            push_text(out, "C", "");
            push_element(out, "D", |_| {});
        });
        assert_eq!(out, "<A><B>1 &lt; 2 &amp; 3 &gt; 2&#xD;\n\"'</B><C /><D /></A>");
    }

    #[test]
    fn what_xml_cannot_hold_is_replaced() {
        let mut out = String::new();
        push_escaped(&mut out, "a\u{1}\0\u{fffe}\u{ffff}\t\n\u{85}\u{10ffff}\u{ff21}b");
        assert_eq!(out, "a\u{fffd}\u{fffd}\u{fffd}\u{fffd}\t\n\u{85}\u{10ffff}\u{ff21}b");
    }
}
