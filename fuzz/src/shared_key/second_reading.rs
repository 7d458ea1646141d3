//! The string that Shared Key signs, by the book: lines in a list, joined at the end.

use std::collections::BTreeMap;

use tablerock_protocol::signing::{HeaderRequestParts, SharedKeyScheme};

pub(super) fn string_to_sign(parts: &HeaderRequestParts<'_>, scheme: SharedKeyScheme) -> String {
    let headers: BTreeMap<&str, &str> = parts.headers.iter().copied().collect();
    let value = |name: &str| headers.get(name).copied().unwrap_or_default().to_owned();
    let date = if value("x-ms-date").is_empty() { value("date") } else { String::new() };
    let is_full = scheme == SharedKeyScheme::SharedKey;
    let mut lines = vec![parts.method.to_owned()];
    if is_full {
        let length = value("content-length");
        let is_unsigned = length == "0" && parts.version.to_string().as_str() >= "2015-02-21";
        lines.extend([value("content-encoding"), value("content-language")]);
        lines.push(if is_unsigned { String::new() } else { length });
        lines.extend([value("content-md5"), value("content-type"), date]);
        let others = ["if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range"];
        lines.extend(others.map(value));
    } else {
        lines.extend([value("content-md5"), value("content-type"), date]);
    }
    let mut own: Vec<(&str, &str)> = headers.into_iter().filter(|(name, _)| name.starts_with("x-ms-")).collect();
    own.sort_by_key(|(name, _)| dictionary_place(name));
    let signs_empty = parts.version.to_string().as_str() >= "2016-05-31";
    own.retain(|(_, value)| signs_empty || !value.is_empty());
    lines.extend(own.into_iter().map(|(name, value)| format!("{name}:{}", collapsed(value))));

    let path = if parts.path.is_empty() { "/" } else { parts.path };
    let resource = format!("/{}{path}", parts.account);
    if is_full {
        lines.push(resource);
        lines.extend(parameters(parts));
    } else {
        let comp = parts.query.raw_value("comp").map_or(String::new(), |comp| format!("?comp={comp}"));
        lines.push(resource + &comp);
    }
    lines.join("\n")
}

/// Each parameter once, its values in order.
fn parameters(parts: &HeaderRequestParts<'_>) -> Vec<String> {
    let mut named: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, value) in parts.query.pairs() {
        named.entry(name.to_lowercase()).or_default().push(value);
    }
    let line = |(name, mut values): (String, Vec<&str>)| {
        values.sort_unstable();
        format!("{name}:{}", values.join(","))
    };
    named.into_iter().map(line).collect()
}

/// Words first, as in a dictionary; hyphens and apostrophes decide between equal words.
fn dictionary_place(name: &str) -> (Vec<Option<usize>>, Vec<u8>) {
    let rank = |c: char| "!#$%&*.^_`|~+0123456789abcdefghijklmnopqrstuvwxyz".find(c);
    let words = name.chars().filter(|c| !"-'".contains(*c)).map(rank).collect();
    let joints = name.chars().map(|c| "'-".find(c).map_or(0, |place| place as u8 + 1)).collect();
    (words, joints)
}

/// White space outside quotes is one space, however much of it there is.
fn collapsed(value: &str) -> String {
    let mut out = String::new();
    for (place, piece) in value.split('"').enumerate() {
        if place > 0 {
            out.push('"');
        }
        if place % 2 == 1 {
            out.push_str(piece);
            continue;
        }
        for c in piece.chars() {
            match c {
                ' ' | '\t' | '\r' | '\n' if out.ends_with(' ') => {}
                ' ' | '\t' | '\r' | '\n' => out.push(' '),
                _ => out.push(c),
            }
        }
    }
    out
}
